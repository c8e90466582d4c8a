#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Kineto trace of many devices, each with a thread that launches on it.

What is told of a device must cost its own work: twice the devices of half the work each take the
time of before. More kernels than devices; a tenth of the work are copies."""
import argparse

CALL = ('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":%d,"ts":%.3f,'
        '"dur":2,"args":{"cbid":211,"correlation":%d}}')
OPERATION = ('{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":%d,"ts":%.3f,"dur":3,'
             '"args":{"External id":%d,"Input Dims":[[%d,64],[64,64]],'
             '"Input type":["float","float"]}}')
KERNEL = ('{"ph":"X","cat":"kernel","name":"void kernel_%d<float>(float*)","pid":%d,"tid":7,'
          '"ts":%.3f,"dur":%.2f,"args":{"device":%d,"context":1,"stream":7,"correlation":%d,'
          '"grid":[%d,1,1],"block":[128,1,1]}}')
COPY = ('{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":%d,"tid":7,'
        '"ts":%.3f,"dur":4,"args":{"device":%d,"context":1,"stream":7,"correlation":%d,'
        '"bytes":4096}}')


def events(devices, kernels):
    for i in range(kernels):
        device, time = i % devices, 10.0 * i
        thread = 100 + device
        yield OPERATION % (i % 9, thread, time - 0.25, i + 1, 64 + i % 7)
        yield CALL % (thread, time, i + 1)
        if i % 10 == 0:
            yield COPY % (device, time + 4, device, i + 1)
        else:
            yield KERNEL % (i % 20, device, time + 4, 3 + i % 97 / 100, device, i + 1, 1 + i % 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("--devices", type=int, default=1000)
    parser.add_argument("--kernels", type=int, default=1000000)
    arguments = parser.parse_args()
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for index, event in enumerate(events(arguments.devices, arguments.kernels)):
            file.write((",\n" if index else "") + event)
        file.write("\n]}\n")


if __name__ == "__main__":
    main()
