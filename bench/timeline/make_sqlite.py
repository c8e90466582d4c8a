#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an SQLite export of Nsight Systems of any size, for bench/results/timeline_speed.md.

make_sqlite.py OUT [KERNELS]

The schema is 3.24's. A decoder is traced: KERNELS kernels (4,000,000) of 400 names on two devices,
nearly two calls of CUDA for each, every tenth in an NVTX range. Rows lie in the order in which
nsys writes them, nearly but not quite that of time.
"""
import os
import sqlite3
import sys

PID = 281474976710656 + (4242 << 24)
KERNEL = """CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
 deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
 streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
 demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
 launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,
 gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
 blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
 staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
 localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
 gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER,
 sharedMemoryLimitConfig INTEGER, graphId INTEGER)"""
RUNTIME = """CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL,
 end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
 nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER)"""
NVTX = """CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER,
 eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT,
 globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER)"""
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 4_000_000
    if os.path.exists(path):
        sys.exit(f"{path}: exists")
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = OFF")
    base.execute("PRAGMA synchronous = OFF")
    base.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    base.execute("CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)")
    base.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
                     [("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
                      ("EXPORT_PRODUCT_VERSION", "2025.5.2.266"),
                      ("EXPORT_SCHEMA_VERSION", "3.24.0")])
    base.executemany("INSERT INTO StringIds VALUES (?, ?)",
                     [(i, f"void at::native::kernel_{i}<float, {i}>(int, float *)")
                      for i in range(400)] + [(400 + i, f"kernel_{i}") for i in range(400)] +
                     [(800, "cudaLaunchKernel_v7000"), (801, "cudaStreamSynchronize_v3020"),
                      (802, "aten::mm, seq = 1, op_id = 2")])
    for statement in (KERNEL, RUNTIME, NVTX):
        base.execute(statement)
    # Neighbours of four are written in the opposite order.
    base.execute(NUMBERS + f""", k(j) AS (SELECT i + 3 - 2 * (i & 3) FROM n)
 INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT j * 9000 + 20000, j * 9000 + 20000 + 1500 + j % 6000,
 j & 1, 1 + (j & 1), NULL, 7 + 8 * (j & 1), j + 1, {PID}, j % 400, 400 + j % 400, NULL, 1, 0,
 32 + j % 64, 1 + j % 128, 1, 1, 128, 1, 1, 0, (j % 4) * 1024, 0, 0, j, 65536, NULL, 0, NULL
 FROM k""", (count - 1,))
    base.execute(NUMBERS + f""" INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 9000,
 i * 9000 + 4000, 0, {PID} + 4242 + (i & 1), i + 1, 800, 0, NULL FROM n""", (count - 1,))
    base.execute(NUMBERS + f""" INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 10000 + 4500,
 i * 10000 + 5500, 0, {PID} + 4242 + (i & 1), i + {count} + 1, 801, 0, NULL FROM n""",
                 (count * 7 // 8 - 1,))
    base.execute(NUMBERS + f""" INSERT INTO NVTX_EVENTS SELECT i * 90000, i * 90000 + 80000, 59,
 NULL, NULL, NULL, NULL, {PID} + 4242 + (i & 1), NULL, 802, 0 FROM n""", (count // 10 - 1,))
    base.commit()
    base.close()
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
