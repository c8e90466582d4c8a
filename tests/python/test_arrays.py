# SPDX-License-Identifier: Apache-2.0
import array
import ctypes
import unittest

from ridge import RidgeError, _arrays

try:
    import torch
except ImportError:
    torch = None


class Buffers(unittest.TestCase):
    def test_types(self):
        for value, dtype, shape in (
            ((ctypes.c_float * 3)(), "f32", (3,)),
            (((ctypes.c_double * 4) * 2)(), "f64", (2, 4)),
            (array.array("h", [1, 2]), "i16", (2,)),
            (array.array("q", [1]), "i64", (1,)),
            (bytearray(5), "u8", (5,)),
            (memoryview(bytearray(8)).cast("f", (2, 1)), "f32", (2, 1)),
        ):
            with self.subTest(dtype):
                self.assertTrue(_arrays.is_array(value))
                self.assertEqual(_arrays.dtype_of(value), dtype)
                self.assertEqual(_arrays.shape_of(value), shape)
                host = _arrays.to_host(value)
                self.assertEqual(host.bytes(), memoryview(value).tobytes())

    def test_what_is_none(self):
        for value in (3, "text", b"bytes", None, [1.0]):
            with self.subTest(repr(value)):
                self.assertFalse(_arrays.is_array(value))
        with self.assertRaises(RidgeError):
            _arrays.dtype_of(array.array("Q", [1]))

    def test_fill_and_restore(self):
        value = (ctypes.c_float * 2)(1, 2)
        saved = _arrays.clone(value)
        self.assertEqual(_arrays.fill(value, 0xFF), 0xFFFFFFFF)
        self.assertNotEqual(value[0], value[0])
        _arrays.restore(value, saved)
        self.assertEqual(list(value), [1, 2])

    def test_read_only(self):
        with self.assertRaises(RidgeError):
            _arrays.fill(memoryview(b"abcd"), 0)

    def test_guards(self):
        guard = _arrays.Guarded((ctypes.c_int32 * 4)(1, 2, 3, 4))
        self.assertEqual(list(guard.value), [1, 2, 3, 4])
        guard.paint(0xAA)
        self.assertEqual(guard.damage(0xAA), (0, ""))
        ctypes.memset(ctypes.addressof(guard.value) - 3, 0, 2)
        self.assertEqual(guard.damage(0xAA), (2, "2 bytes before it"))
        self.assertIsNone(_arrays.Guarded(array.array("i", [1])).value)


@unittest.skipIf(torch is None, "no torch")
class Tensors(unittest.TestCase):
    def test_types(self):
        for name, dtype in (("bfloat16", "bf16"), ("float16", "f16"), ("int64", "i64"),
                            ("bool", "u8"), ("float8_e4m3fn", "e4m3")):
            with self.subTest(name):
                value = torch.zeros(2, 3).to(getattr(torch, name))
                self.assertEqual(_arrays.dtype_of(value), dtype)
                self.assertEqual(_arrays.to_host(value).elements, 6)

    def test_strides(self):
        value = torch.arange(12.0).reshape(3, 4).t()
        self.assertEqual(_arrays.to_host(value).bytes(), value.contiguous().numpy().tobytes())
        self.assertEqual(_arrays.nbytes(torch.zeros(4).expand(8, 4)), 16)
        _arrays.fill(value, 0xFF)
        self.assertTrue(torch.isnan(value).all())

    def test_guards(self):
        value = torch.arange(12.0).reshape(3, 4).t().to(torch.bfloat16)
        guard = _arrays.Guarded(value)
        self.assertEqual(guard.value.stride(), value.stride())
        self.assertTrue(torch.equal(guard.value, value))
        guard.paint(0xFF)
        self.assertEqual(guard.damage(0xFF)[0], 0)
        guard.value.as_strided((14,), (1,))[12:] = 0
        self.assertEqual(guard.damage(0xFF), (4, "0 bytes behind its end"))


if __name__ == "__main__":
    unittest.main()
