/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel did, from its profile: bytes of device memory and floating-point operations, to be
 * held against what it had to do (ridge/bound.h). */
#ifndef RIDGE_MEASURED_H
#define RIDGE_MEASURED_H

#include "ridge/bound.h"
#include "ridge/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NAN: the report does not say. */
typedef struct ridge_measured_work {
    double duration_s;
    double dram_read_bytes, dram_written_bytes;
    double flop_count[RIDGE_PEAK_COUNT]; /* of each unit; packed fp16 counts as fp32 */
    ridge_peak peak;  /* the unit that did most; NONE: no operation, or one is not known */
    bool is_complete; /* every unit's operations are known */
} ridge_measured_work;

/* Operations come from the profiler's counters of operations (sections SpeedOfLight with roofline
 * charts, ComputeWorkloadAnalysis), else from how often each instruction was executed, where the
 * report holds that and the machine code. RIDGE_ERR_OUT_OF_MEMORY. */
ridge_status ridge_measured_work_of(const ridge_report_kernel *kernel, ridge_measured_work *out,
                                    ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
