# SPDX-License-Identifier: Apache-2.0
import array
import ctypes
import unittest

import ridge

from support import COUNT, Vector, double, make, nothing, raising


def damaged(index, value):
    def wrong(x, out):
        double(x, out)
        out[index] = value

    return wrong


class Check(unittest.TestCase):
    def outcomes(self, found):
        return {test.name: test.outcome for test in found.tests}

    def test_right(self):
        found = ridge.check(double, lambda x, out: double(x, out), make, outputs=[1])
        self.assertTrue(found, found)
        self.assertEqual(set(self.outcomes(found).values()), {"pass"})

    def test_writes_nothing(self):
        found = ridge.check(nothing, double, make, outputs=[1])
        self.assertFalse(found)
        self.assertEqual(found.cause_id, "unwritten")
        self.assertEqual(self.outcomes(found)["written"], "fail")
        self.assertIn("nothing is written", str(found))

    def test_one_element(self):
        found = ridge.check(damaged(17, 1e6), double, make, outputs=[1])
        self.assertFalse(found)
        self.assertIn("[17] is 1000000", str(found))
        self.assertEqual(found.mismatches[0]["wrong_count"], 1)

    def test_writes_behind(self):
        def beyond(x, out):
            double(x, out)
            (ctypes.c_float * (COUNT + 1)).from_address(ctypes.addressof(out))[COUNT] = 5

        found = ridge.check(beyond, double, make, outputs=[1])
        self.assertEqual(self.outcomes(found)["guards"], "fail", found)
        self.assertIn("0 bytes behind its end", str(found))

    def test_reads_behind(self):
        def beyond(x, out):
            double(x, out)
            out[0] = (ctypes.c_float * (COUNT + 1)).from_address(ctypes.addressof(x))[COUNT]

        found = ridge.check(beyond, None, make, outputs=[1])
        self.assertEqual(self.outcomes(found)["bands"], "fail", found)

    def test_writes_an_input(self):
        def spoils(x, out):
            double(x, out)
            x[3] = -1

        found = ridge.check(spoils, None, make, outputs=[1])
        self.assertEqual(self.outcomes(found)["inputs"], "fail", found)

    def test_differs_from_call_to_call(self):
        calls = []

        def moody(x, out):
            calls.append(1)
            double(x, out)
            out[9] = float(len(calls) > 8)

        found = ridge.check(moody, None, make, outputs=[1])
        self.assertEqual(self.outcomes(found)["repeat"], "fail", found)
        self.assertIn("output 0, element 9", str(found))

    def test_reads_an_output(self):
        def adds(x, out):
            for k in range(COUNT):
                out[k] += x[k]

        self.assertFalse(ridge.check(adds, None, make, outputs=[1]))
        found = ridge.check(adds, adds, make, outputs=[1], inout=[1])
        self.assertTrue(found, found)

    def test_no_reference(self):
        found = ridge.check(double, None, make, outputs=[1])
        self.assertEqual(self.outcomes(found)["values"], "skipped")

    def test_exact(self):
        def near(x, out):
            for k in range(COUNT):
                out[k] = 2 * x[k] * (1 + 2**-23)

        self.assertTrue(ridge.check(near, double, make, outputs=[1]))
        self.assertFalse(ridge.check(near, double, make, outputs=[1], exact=True))

    def test_other_types(self):
        def halve(x, out):
            for k in range(len(out)):
                out[k] = x[k] // 2

        def make_arrays(i):
            return array.array("i", range(10, 20)), array.array("i", [0] * 10)

        def make_views(i):
            return tuple(memoryview(bytearray(a)).cast("i") for a in make_arrays(i))

        for one in (make_arrays, make_views):
            with self.subTest(one.__name__):
                found = ridge.check(halve, halve, one, outputs=[1], exact=True)
                self.assertTrue(found, found)
        self.assertEqual(self.outcomes(ridge.check(halve, halve, make_arrays, outputs=[1]))["guards"],
                         "skipped")

    def test_errors(self):
        for words, function, reference in (
            ("the third axis is missing", raising, double),
            ("reference: ValueError: the third axis is missing", double, raising),
            ("1 outputs, the reference 2", double, lambda x, out: (Vector(), Vector())),
            ("is [48], of the reference [2]", double, lambda x, out: (ctypes.c_float * 2)()),
            ("it returned int", lambda x, out: 3, double),
        ):
            with self.subTest(words), self.assertRaises(ridge.RidgeError) as caught:
                ridge.check(function, reference, make, outputs=[1])
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
