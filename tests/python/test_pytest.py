# SPDX-License-Identifier: Apache-2.0
"""The fixture, in a pytest of its own; skipped without pytest."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MODULE = """
import support

def slow(case):
    return support.spinning(300)

def absent(case):
    raise NotImplementedError("rows of 48")
"""

TESTS = """
import ridge, support

def test_it(ridge_compare):
    found = ridge_compare(support.spinning({us}), support.make, [1], baseline=support.spinning(300),
                          placements=2, blocks=1)
    assert found.verdict
"""


@unittest.skipIf(importlib.util.find_spec("pytest") is None, "no pytest")
class Fixture(unittest.TestCase):
    def run_pytest(self, us, *options):
        here = str(pathlib.Path(__file__).resolve().parent)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "released.py").write_text(MODULE)
            pathlib.Path(folder, "test_it.py").write_text(TESTS.format(us=us))
            path = os.pathsep.join([here, folder, os.environ.get("PYTHONPATH", "")])
            return subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "ridge.pytest_plugin", "-p",
                 "no:cacheprovider", "--ridge-budget=1", *options, "test_it.py"], cwd=folder,
                capture_output=True, text=True, check=False,
                env=dict(os.environ, PYTHONPATH=path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"))

    def test_rows(self):
        for us, options, status, words in (
            (100, [], 0, "1 passed"),
            (900, [], 1, "REGRESSED"),
            (900, ["--ridge-baseline=python:released:slow"], 1, "B/A"),
            (900, ["--ridge-baseline=python:released:absent"], 1, "rows of 48"),
            (900, ["--ridge-baseline=python:nowhere:slow"], 1, "No module named"),
            (900, ["--ridge-baseline=build:1234"], 1, "machine code and has no callable"),
        ):
            with self.subTest(options=options, us=us):
                found = self.run_pytest(us, *options)
                self.assertEqual(found.returncode, status, found.stdout + found.stderr)
                self.assertIn(words, found.stdout + found.stderr)


if __name__ == "__main__":
    unittest.main()
