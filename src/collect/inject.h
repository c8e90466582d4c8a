/* SPDX-License-Identifier: Apache-2.0
 *
 * What libridge_collect.so is called by; the names are NVIDIA's. */
#ifndef RIDGE_COLLECT_INJECT_H
#define RIDGE_COLLECT_INJECT_H

#define COLLECT_EXPORT __attribute__((visibility("default")))

/* By the CUDA driver, in cuInit(). */
COLLECT_EXPORT int InitializeInjection(void);
/* By NVTX, at its first call in a process. */
COLLECT_EXPORT int InitializeInjectionNvtx2(void *get_export_table);

#endif
