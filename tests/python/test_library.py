# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import sys
import unittest

import ridge


class Library(unittest.TestCase):
    def run_python(self, code, **environment):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env=dict(os.environ, **environment), check=False)

    def test_version(self):
        self.assertRegex(ridge.version(), r"^\d+\.\d+\.\d+$")

    def test_missing(self):
        found = self.run_python(
            "import ridge\ntry: ridge.version()\nexcept ridge.RidgeError as e: print(e.status, e)",
            RIDGE_LIBRARY="/nowhere/libridge_python.so")
        self.assertIn("RIDGE_ERR_IO no /nowhere/libridge_python.so, the file that $RIDGE_LIBRARY "
                      "names: build it", found.stdout)
        self.assertEqual(found.stdout.count("/nowhere"), 1)

    def test_not_a_library(self):
        found = self.run_python(
            "import ridge\ntry: ridge.version()\nexcept ridge.RidgeError as e: print(e.status, e)",
            RIDGE_LIBRARY=os.path.abspath(__file__))
        self.assertIn("RIDGE_ERR_IO", found.stdout)
        self.assertEqual(found.stdout.count(os.path.abspath(__file__)), 1, found.stdout)

    def test_import_loads_nothing(self):
        found = self.run_python(
            "import sys, ridge; print(sorted({'torch', 'numpy'} & set(sys.modules)))",
            RIDGE_LIBRARY="/nowhere")
        self.assertEqual(found.stdout.strip(), "[]", found.stderr)

    def test_exports(self):
        """Only its own functions, so that two versions can live in one process."""
        try:
            found = subprocess.run(["nm", "-D", "--defined-only", os.environ["RIDGE_LIBRARY"]],
                                   capture_output=True, text=True, check=True)
        except (OSError, KeyError, subprocess.CalledProcessError):
            self.skipTest("no nm")
        names = {line.split()[-1] for line in found.stdout.splitlines()}
        strangers = {n for n in names if not n.startswith(("ridge_python_", "__asan", "__ubsan"))}
        self.assertEqual(strangers - {"__odr_asan.static_options"}, set())

    def test_annotations_parse_everywhere(self):
        """Nothing newer than Python 3.9."""
        import ast

        package = pathlib.Path(ridge.__file__).parent
        for path in package.glob("*.py"):
            with self.subTest(path.name):
                ast.parse(path.read_text(), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
