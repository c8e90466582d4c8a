/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases as Nsight Systems exports them, made from SQL. Columns and types are those of real
 * exports, less what nothing reads. */
#ifndef RIDGE_TESTS_NSYS_SUPPORT_H
#define RIDGE_TESTS_NSYS_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "ridge/trace.h"

/* The database that the statements make, freed with free(). Fails the test when they are wrong. */
uint8_t *nsys_support_make(const char *sql, size_t *size_bytes);
/* Made and read; NULL with the status in *err. */
ridge_trace *nsys_support_read(const char *sql, ridge_error *err);

/* globalPid and globalTid of a process and thread. */
#define NSYS_PID "281474976710656 + (1000 << 24)"
#define NSYS_TID "281474976710656 + (1000 << 24) + 1001"

#define NSYS_STRINGS                                                                               \
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"               \
    "INSERT INTO StringIds VALUES (0, ''), (1, 'void ns::gemm<float, 128>(float *)'), (2, "        \
    "'gemm'),"                                                                                     \
    " (3, 'cudaLaunchKernel_v7000'), (4, 'cuLaunchKernel'), (5, 'pthread_cond_wait'),"             \
    " (6, 'Buffer flush'), (7, 'step'), (8, 'main thread'), (9, 'cudaLaunchKernel');"

/* Two kernels and their calls, with the columns that every version has. */
#define NSYS_KERNEL_COLUMNS                                                                        \
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"                     \
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,"                \
    "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,"               \
    "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,"                      \
    "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,"                   \
    "registersPerThread INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,"                    \
    "dynamicSharedMemory INTEGER NOT NULL"
#define NSYS_KERNEL "CUPTI_ACTIVITY_KIND_KERNEL"
#define NSYS_KERNEL_ROWS                                                                           \
    "INSERT INTO " NSYS_KERNEL " (start, end, deviceId, contextId, streamId, correlationId,"       \
    " globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ,"           \
    " registersPerThread, staticSharedMemory, dynamicSharedMemory) VALUES"                         \
    " (9000, 9500, 0, 1, 7, 12, " NSYS_PID ", 1, 2, 4, 2, 1, 128, 1, 1, 64, 1024, 0),"             \
    " (6000, 8000, 0, 1, 7, 11, " NSYS_PID ", 1, 2, 4, 2, 1, 128, 1, 1, 64, 1024, 0);"
#define NSYS_KERNELS "CREATE TABLE " NSYS_KERNEL " (" NSYS_KERNEL_COLUMNS ");" NSYS_KERNEL_ROWS

#define NSYS_RUNTIME                                                                               \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"      \
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"                      \
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
#define NSYS_CALLS                                                                                 \
    NSYS_RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"                                  \
                 " (8100, 8300, 1, " NSYS_TID ", 12, 4, 0, NULL),"                                 \
                 " (5000, 5600, 0, " NSYS_TID ", 11, 3, 0, NULL);"

#define NSYS_META                                                                                  \
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"                              \
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'),"        \
    " ('EXPORT_PRODUCT_VERSION', '2025.5.2.266'), ('EXPORT_SCHEMA_VERSION', '3.24.0'),"            \
    " ('EXPORT_SCHEMA_VERSION_MAJOR', '3');"

#define NSYS_ALL NSYS_STRINGS NSYS_KERNELS NSYS_CALLS NSYS_META

#endif
