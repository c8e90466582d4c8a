# SPDX-License-Identifier: Apache-2.0
import time
import unittest
import warnings

import ridge

from support import until


def spin():
    end = time.perf_counter_ns() + 500_000
    while time.perf_counter_ns() < end:
        pass


class DoBench(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", UserWarning)

    def test_known_time(self):
        found = until(lambda found: found < 0.7, lambda: ridge.do_bench(spin, rep=30))
        self.assertAlmostEqual(found, 0.5, delta=0.2)

    def test_modes(self):
        least = ridge.do_bench(spin, rep=20, return_mode="min")
        self.assertGreaterEqual(least, 0.5)
        self.assertGreaterEqual(ridge.do_bench(spin, rep=20, return_mode="mean"), 0.5)
        times = until(lambda found: len(found) > 5,
                      lambda: ridge.do_bench(spin, rep=20, return_mode="all"))
        self.assertGreater(len(times), 5)
        with self.assertRaises(ridge.RidgeError):
            ridge.do_bench(spin, return_mode="best")

    def test_quantiles(self):
        low, middle, high = ridge.do_bench(spin, rep=20, quantiles=[0, 0.5, 1])
        self.assertTrue(0.5 <= low <= middle <= high)
        self.assertIsInstance(ridge.do_bench(spin, rep=20, quantiles=[0.5]), float)

    def test_warns(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ridge.do_bench(spin, rep=5)
        self.assertIn("same buffers", str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)


if __name__ == "__main__":
    unittest.main()
