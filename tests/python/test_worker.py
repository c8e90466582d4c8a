# SPDX-License-Identifier: Apache-2.0
"""python:MODULE:FUNCTION arms on the command line; skipped without $RIDGE."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ridge
import support
from ridge import worker
from ridge._library import Handle

MODULE = """
import ridge, support

def old(case):
    print("m is", case.get("m"), case["axes"])
    return ridge.Case(support.spinning(200), support.make, [1], flop=1000)

def new(case):
    return support.spinning(400)

def wrong(case):
    return support.nothing

def off_by_one_element(case):
    def call(x, out):
        support.double(x, out)
        out[7] += 1
    return call

def by_address(case):
    kept = {}
    def call(x, out):
        key = support.ctypes.addressof(x)
        if key not in kept:
            support.double(x, out)
            kept[key] = x, bytes(out)  # x stays, so that no other set comes to lie there
        support.ctypes.memmove(out, kept[key][1], support.ctypes.sizeof(out))
    return call

def referred(case):
    return ridge.Case(support.spinning(200), support.make, [1], reference=support.double)

def wrong_baseline(case):
    return ridge.Case(off_by_one_element(case), support.make, [1], reference=support.double)

def tolerant(case):
    return ridge.Case(support.spinning(200), support.make, [1], tolerance=0.5)

def boom(case):
    raise ValueError("no such case")

def refuses(case):
    raise NotImplementedError("48 columns only")

def typed(case):
    print("typed", case["dtype"], case["axes"])
    return old(case)

def of_two_types(case):
    return ridge.Case(support.spinning(20), lambda i: (
        support.make(i)[0], (support.ctypes.c_double * support.COUNT)()), [1])

def crashes(case):
    import os
    os.abort()
"""


@unittest.skipUnless(os.environ.get("RIDGE"), "no command")
class CommandLine(unittest.TestCase):
    def run_ridge(self, *words, **environment):
        here = str(pathlib.Path(__file__).resolve().parent)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.py").write_text(MODULE)
            path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
            return subprocess.run(
                [os.environ["RIDGE"], *words], cwd=folder, capture_output=True, text=True,
                check=False, timeout=120,
                env=dict(os.environ, PYTHONPATH=path, RIDGE_PYTHON=sys.executable, **environment))

    def test_rows(self):
        old = "python:mine:old"
        for arms, status, words in (
            ((old, "python:mine:new"), 1, "REGRESSED"),
            ((old, "python:mine:wrong"), 4, "python:mine:wrong does not compute what "
                                            "python:mine:old does"),
            ((old, "python:mine:off_by_one_element"), 4, "1 of 48 elements wrong"),
            (("python:mine:referred", "python:mine:off_by_one_element"), 4, "the reference does"),
            (("python:mine:wrong_baseline", "python:mine:new"), 4,
             "python:mine:wrong_baseline does not compute what the reference does"),
            (("python:mine:tolerant", "python:mine:off_by_one_element"), 0, "IMPROVED"),
            ((old, "python:mine:by_address"), 4, "those of the inputs that were there before"),
            ((old, "python:mine:boom"), 2, "ValueError: no such case"),
            ((old, "python:mine:refuses"), 3, "48 columns only"),
            ((old, "python:mine:nothing_such"), 2, "AttributeError"),
            ((old, "python:nowhere:f"), 2, "No module named 'nowhere'"),
            ((old, "python:mine:crashes"), 4, "SIGABRT"),
        ):
            with self.subTest(arms[1]):
                found = support.until(
                    lambda found: found.returncode == status and words in found.stdout + found.stderr,
                    lambda: self.run_ridge("compare", *arms, "--device", "cpu", "--budget", "1"))
                self.assertEqual(found.returncode, status, found.stdout + found.stderr)
                self.assertIn(words, found.stdout + found.stderr)

    def test_is_filed_with_its_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder, "rows.jsonl")
            said = self.run_ridge("compare", "python:mine:old", "python:mine:new", "--budget", "1",
                                  "--placements", "2", "--records", str(rows)).stdout
            found = [json.loads(line) for line in rows.read_text().splitlines()]
        verdicts = [row["verdict"] for row in found if row["t"] == "comparison"]
        self.assertEqual(verdicts, [said.split(":")[0]], said)

    def test_axes_and_output(self):
        """Whatever a busy machine makes of the times: 4 is INVALID."""
        found = self.run_ridge("bench", "python:mine:old", "--device", "cpu", "--budget", "0.5",
                               "--sweep", "m=3", "--json")
        self.assertIn(found.returncode, (0, 4), found.stdout + found.stderr)
        self.assertEqual(json.loads(found.stdout)["cases"][0]["axes"], {"m": 3})
        self.assertIn("m is 3 {'m': 3}", found.stderr)

    def test_the_type_is_the_arrays_own(self):
        """support.make() makes f32, whatever the case says; of two types there is no one, but one
        that was asked for. In the case, as JSON and in rows for a ledger."""
        for arm, case, dtype, text in (("old", "m=3", "f32", "m=3,dtype=f32"),
                                       ("old", "m=3,dtype=f16", "f32", "m=3,dtype=f32"),
                                       ("of_two_types", "m=3", None, "m=3"),
                                       ("of_two_types", "m=3,dtype=f16", "f16", "m=3,dtype=f16")):
            with self.subTest((arm, case)), tempfile.TemporaryDirectory() as folder:
                rows = pathlib.Path(folder, "rows.jsonl")
                words = ("bench", "python:mine:" + arm, "--device", "cpu", "--budget", "0.2",
                         "--case", case)
                found = self.run_ridge(*words, "--json", "--records", str(rows))
                self.assertIn(found.returncode, (0, 4), found.stdout + found.stderr)
                at = json.loads(found.stdout)["cases"][0]
                self.assertEqual((at["dtype"], at["case"]), (dtype, text))
                filed = [json.loads(line) for line in rows.read_text().splitlines()]
                self.assertEqual([row.get("dtype") for row in filed if row["t"] == "kase"], [dtype])
                shown = self.run_ridge(*words).stdout
                self.assertNotIn("bf16", shown)
                self.assertNotIn("unknown", shown)

    def test_a_sweep_asks_twice_for_the_same_case(self):
        """Its second run too gets the type that was asked for, not that of the arrays."""
        found = support.until(
            lambda found: found.stderr.count("f16 {'m': 3}") >= 2,
            lambda: self.run_ridge("compare", "python:mine:typed", "python:mine:new", "--device",
                                   "cpu", "--budget", "0.5", "--sweep", "m=3,4,dtype=f16"))
        self.assertIn("f16 {'m': 3}", found.stderr)  # a machine that is too busy has no second run
        self.assertNotIn("f32 {", found.stderr)
        self.assertIn("f32", found.stdout)

    def test_check_is_refused(self):
        found = self.run_ridge("check", "python:mine:old", "--device", "cpu")
        self.assertEqual(found.returncode, 3)
        self.assertIn("ridge.check()", found.stderr)

    def test_no_interpreter(self):
        found = subprocess.run([os.environ["RIDGE"], "bench", "python:m:f", "--device", "cpu"],
                               capture_output=True, text=True, check=False,
                               env=dict(os.environ, RIDGE_PYTHON="/nowhere/python"))
        self.assertIn("$RIDGE_PYTHON names the interpreter", found.stderr)
        self.assertEqual(found.returncode, 3)


class Worker(unittest.TestCase):
    def test_case_of_text(self):
        found = worker.case_of_text("m=3,n=769,dtype=f16,seed=7")
        self.assertEqual((found["m"], found["axes"]), (3, {"m": 3, "n": 769}))
        self.assertEqual((found["dtype"], found["seed"], found["layout"]), ("f16", 7, "contiguous"))
        self.assertEqual(worker.case_of_text("")["dtype"], "bf16")

    def test_dtype_among(self):
        f32, f64, i32, odd = (kind * 2 for kind in (ctypes.c_float, ctypes.c_double, ctypes.c_int32,
                                                    ctypes.c_uint64))
        for values, asked, dtype in (((f32(), f32(), 3), "bf16", "f32"), ((f32(), i32()), "bf16", "f32"),
                                     ((f32(), f64()), "bf16", ""), ((f32(), f64()), "f64", "f64"),
                                     ((i32(), None), "bf16", "i32"), ((3, None), "bf16", ""),
                                     ((odd(),), "bf16", "")):
            with self.subTest((values, asked)):
                self.assertEqual(worker.dtype_among(values, asked), dtype)

    def test_damaged_folder(self):
        with tempfile.TemporaryDirectory() as folder, Handle() as handle:
            for name, contents, words in (("none", None, "No such file"), ("empty", b"", "version"),
                                          ("noise", bytes(range(256)) * 64, "version")):
                with self.subTest(name):
                    if contents is not None:
                        pathlib.Path(folder, "request").write_bytes(contents)
                    with self.assertRaises(ridge.RidgeError) as caught:
                        handle.serve(folder, lambda *_: 0)
                    self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
