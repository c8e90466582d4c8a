# SPDX-License-Identifier: Apache-2.0
import unittest

from ridge import _text


class Numbers(unittest.TestCase):
    def test_rows(self):
        for found, expected in (
            (_text.time(20920.4), "20.92 us"), (_text.time(1e6), "1.000 ms"),
            (_text.time(None), "n/a"), (_text.time(1000.0), "1.000 us"),
            (_text.bandwidth(4.18e12), "4.180 TB/s"), (_text.arithmetic(9.9e14), "990.0 TFLOP/s"),
            (_text.effect(0.959), "4.1 % faster"), (_text.effect(3.25), "3.25x slower"),
            (_text.effect(0.25), "4x faster"), (_text.percent(1.6), "160 %"),
            (_text.percent(0.0123), "1.2 %"), (_text.percent(None), "n/a"),
        ):
            with self.subTest(expected):
                self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
