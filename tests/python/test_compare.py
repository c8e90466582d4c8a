# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import signal
import time
import unittest

import ridge

from support import COUNT, Vector, double, make, nothing, raising, spinning, until

QUICK = {"outputs": [1], "budget": 1.5, "placements": 4, "blocks": 2}


class Compare(unittest.TestCase):
    def test_slower_is_regressed(self):
        found = until(lambda found: found.verdict == "REGRESSED" and abs(found.ratio - 1.5) < 0.15,
                      lambda: ridge.compare(spinning(600), spinning(400), make, **QUICK))
        self.assertEqual(found.verdict, "REGRESSED", found)
        self.assertGreater(found.interval[1], 1.3)
        self.assertAlmostEqual(found.ratio, 1.5, delta=0.15)

    def test_faster_is_improved(self):
        found = until(lambda found: found.verdict == "IMPROVED",
                      lambda: ridge.compare(spinning(300), spinning(450), make, **QUICK))
        self.assertEqual(found.verdict, "IMPROVED", found)

    def test_the_same_is_no_change(self):
        found = until(lambda found: found.verdict not in ("IMPROVED", "REGRESSED"),
                      lambda: ridge.compare(spinning(300), spinning(300), make, delta=0.1, **QUICK))
        self.assertNotIn(found.verdict, ("IMPROVED", "REGRESSED"), found)

    def test_result(self):
        found = until(lambda found: found.verdict != "INVALID",
                      lambda: ridge.compare(spinning(200), spinning(200), make, flop=1e6,
                                            names=("old", "new"), reads=4 * COUNT,
                                            writes=4 * COUNT, **QUICK))
        self.assertEqual([arm["name"] for arm in found.arms], ["old", "new"])
        self.assertEqual(found.raw["schema"], "ridge-comparison/1")
        self.assertEqual(found.raw["run"]["footprint_bytes"], 8 * COUNT)
        self.assertEqual(len(found.records), sum(arm["slots"] for arm in found.arms))
        self.assertEqual({record["arm"] for record in found.records}, {0, 1})
        self.assertGreaterEqual(found.arms[0]["median_ns"], 200e3)
        self.assertTrue(found.arms[0]["flop_per_s"] > 0)
        self.assertFalse(found.is_interrupted)
        self.assertIn("B/A", str(found))
        self.assertIn("in L2, not cold (rotation 64, ", str(found))

    def test_sets_are_shared_and_dropped(self):
        alive, most = set(), []

        class Counted:
            def __init__(self, i):
                self.key = (i, time.perf_counter_ns())
                alive.add(self.key)
                most.append(len(alive))

            def __del__(self):
                alive.discard(self.key)

        seen = {0: set(), 1: set()}

        def arm(index):
            def call(counted, x, out):
                seen[index].add(counted.key)
                double(x, out)

            return call

        ridge.compare(arm(1), arm(0), lambda i: (Counted(i), *make(i)), outputs=[2], budget=1,
                      placements=3, blocks=1, without=["outputs"])  # which calls the baseline again
        self.assertEqual(seen[0] - {min(seen[0])}, seen[1] - {min(seen[1])})
        self.assertLessEqual(max(most), 2 * 64 + 1)
        self.assertEqual(alive, set())

    def test_a_callable_that_returns(self):
        found = until(lambda found: found.verdict != "INVALID",
                      lambda: ridge.compare(lambda x: Vector(*(2 * v for v in x)),
                                            lambda x: Vector(*(v + v for v in x)),
                                            lambda i: make(i)[:1], budget=1, placements=2,
                                            blocks=1))
        self.assertNotEqual(found.verdict, "INVALID", found)

    def test_interrupt_keeps_what_was_measured(self):
        def press(phase, done, total):
            if phase == "pilot" and done == 1:
                os.kill(os.getpid(), signal.SIGINT)

        found = ridge.compare(spinning(400), spinning(200), make, outputs=[1], budget=30,
                              progress=press)
        self.assertTrue(found.is_interrupted)
        self.assertIn(found.raw["run"]["placements"], (1, 2))
        self.assertGreaterEqual(len(found.records), 16)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_progress(self):
        phases = []
        ridge.compare(double, double, make, progress=lambda *step: phases.append(step[0]), **QUICK)
        self.assertIn("pilot", phases)
        self.assertIn("warming up", phases)


class Invalid(unittest.TestCase):
    def test_writes_nothing(self):
        found = ridge.compare(nothing, double, make, **QUICK)
        self.assertEqual(found.verdict, "INVALID")
        self.assertEqual(found.invalid_guard, "check")
        self.assertIn("nothing is written", found.invalid_cause)
        self.assertIsNone(found.ratio)
        self.assertIn("INVALID: ", str(found))

    def test_computes_something_else(self):
        def triple(x, out):
            for k in range(COUNT):
                out[k] = 3 * x[k]

        found = ridge.compare(triple, double, make, **QUICK)
        self.assertEqual(found.verdict, "INVALID")
        self.assertIn("does not compute what", found.invalid_cause)

    def test_each_element_counts(self):
        """By type: one element of many, all by a little, and what rounding explains."""

        def arms(kind, count, changed):
            vector = kind * count

            def right(x, out):
                for k in range(count):
                    out[k] = x[k]

            def other(x, out):
                right(x, out)
                for k in changed:
                    out[k] = x[k] + changed[k]

            values = [1 + k % 7 for k in range(count)]
            return other, right, lambda i: (vector(*values), vector())

        every = range(64)
        for kind, count, changed, is_wrong in (
            (ctypes.c_float, 4096, {77: 1000}, True),
            (ctypes.c_float, 64, dict.fromkeys(every, 0.01), True),
            (ctypes.c_float, 64, dict.fromkeys(every, 4e-6), False),
            (ctypes.c_double, 64, {3: 1e6}, True),
            (ctypes.c_double, 64, dict.fromkeys(every, 1e-9), True),
            (ctypes.c_double, 64, dict.fromkeys(every, 1e-15), False),
            (ctypes.c_int32, 64, {63: 1}, True),
            (ctypes.c_int32, 64, {}, False),
        ):
            with self.subTest(kind.__name__, changed=len(changed)):
                other, right, sets = arms(kind, count, changed)
                found = until(lambda found: (found.verdict == "INVALID") == is_wrong,
                              lambda: ridge.compare(other, right, sets, [1], budget=0.3,
                                                    placements=2, blocks=1))
                self.assertEqual(found.verdict == "INVALID", is_wrong, found)

    def test_reference_decides(self):
        def wrong(x, out):
            double(x, out)
            out[0] += 1

        found = ridge.compare(double, wrong, make, reference=double, names=("A", "B"), **QUICK)
        self.assertEqual(found.verdict, "INVALID")
        self.assertIn("A does not compute what the reference does", found.invalid_cause)
        found = until(lambda found: found.verdict != "INVALID",
                      lambda: ridge.compare(double, wrong, make, tolerance=0.9, **QUICK))
        self.assertNotEqual(found.verdict, "INVALID", found)

    def test_cheats(self):
        """Right before anything is timed, and then not: each guard, and that nothing else sees it."""

        def by_address():
            kept = {}

            def cheat(x, out):
                key = ctypes.addressof(x)
                if key not in kept:
                    double(x, out)
                    # x stays: at the address of one that is gone lies another set, and what was
                    # kept of the old one is no set's inputs "that were there before".
                    kept[key] = x, bytes(out)
                ctypes.memmove(out, kept[key][1], ctypes.sizeof(out))

            return cheat

        def after_a_while():
            calls = [0]

            def cheat(x, out):
                calls[0] += 1
                if calls[0] < 70:
                    double(x, out)

            return cheat

        for guard, cheat, words in (
            ("refill", by_address, "those of the inputs that were there before"),
            ("outputs", after_a_while, "outputs of a timed launch"),
        ):
            with self.subTest(guard):
                found = ridge.compare(cheat(), double, make, names=("A", "B"), **QUICK)
                self.assertEqual((found.verdict, found.invalid_guard), ("INVALID", guard), found)
                self.assertIn(words, found.invalid_cause)
                found = ridge.compare(cheat(), double, make, without=["refill", "outputs", "shared"],
                                      **QUICK)
                self.assertNotEqual(found.verdict, "INVALID", found)
                found = ridge.bench(cheat(), make, [1], budget=1.5, placements=4, blocks=2)
                self.assertEqual(found.invalid_guard, guard, found)

    def test_reads_and_writes(self):
        """An output that is read too is put back before the two are compared."""

        def add(x, out):
            for k in range(COUNT):
                out[k] += x[k]

        found = until(lambda found: found.verdict != "INVALID",
                      lambda: ridge.compare(add, add, make, inout=[1], **QUICK))
        self.assertNotEqual(found.verdict, "INVALID", found)


class Errors(unittest.TestCase):
    def raises(self, status, words, function, *arguments, **named):
        with self.assertRaises(ridge.RidgeError) as caught:
            function(*arguments, **named)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        return caught.exception

    def test_rows(self):
        wrong = "RIDGE_ERR_INVALID_ARGUMENT"
        for words, named in (
            ("outputs=(7,): make() returns 2 values", {"outputs": [7]}),
            ("cache='warm', expected one of cold, hot", {"outputs": [1], "cache": "warm"}),
            ('no device "tpu"', {"outputs": [1], "device": "tpu"}),
            ("'without.gate' is no setting", {"outputs": [1], "without": ["gate"]}),
            ("delta", {"outputs": [1], "candidate": 3}),
        ):
            with self.subTest(words):
                arguments = dict({"candidate": double, "baseline": double, "make": make}, **named)
                words = "has to be callable" if words == "delta" else words
                self.raises(wrong, words, ridge.compare, **arguments)

    def test_a_callable_that_raises(self):
        for named in ({}, {"check": False}):
            with self.subTest(named):
                error = self.raises("RIDGE_ERR_INVALID_ARGUMENT",
                                    "ValueError: the third axis is missing", ridge.compare,
                                    raising, double, make, outputs=[1], **named)
                self.assertIsInstance(error.__cause__, ValueError)

    def test_a_callable_that_raises_later(self):
        calls = []

        def tires(x, out):
            calls.append(1)
            if len(calls) > 200:
                raise OSError("worn out")

        error = self.raises("RIDGE_ERR_INVALID_ARGUMENT", "worn out", ridge.compare, tires, double,
                            make, check=False, **QUICK)
        self.assertIsInstance(error.__cause__, OSError)

    def test_make_raises(self):
        def one(i):
            if i > 2:
                raise KeyError("no set 3")
            return make(i)

        self.raises("RIDGE_ERR_INVALID_ARGUMENT", "no set 3", ridge.compare, double, double, one,
                    **QUICK)

    def test_refusal(self):
        def refuses(x, out):
            raise NotImplementedError("rows of 48")

        self.raises("RIDGE_ERR_UNSUPPORTED", "does not take the case", ridge.compare, refuses,
                    double, make, check=False, **QUICK)


class Bench(unittest.TestCase):
    def test_known_time(self):
        found = until(lambda found: 500e3 <= found.median_ns < 900e3,
                      lambda: ridge.bench(spinning(500), make, outputs=[1], budget=1, flop=1000))
        self.assertGreaterEqual(found.median_ns, 500e3)
        self.assertLess(found.median_ns, 900e3)
        self.assertIn("us", str(found))


if __name__ == "__main__":
    unittest.main()
