/* SPDX-License-Identifier: Apache-2.0
 *
 * Roofs by the probes, each measured as any kernel is: cold, over placements. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_internal.h"

typedef struct roof_probe {
    const char *kernel;
    const char *gpu_case, *cpu_case; /* NULL: not there */
    ridge_peak peak;                 /* NONE: bytes a second */
    bool is_mma;
} roof_probe;

/* Where mma.sync is how the tensor cores are fed. On sm_90 wgmma is faster (mma.sync reaches 58 % of
 * an H200's peak), on sm_100 and sm_103 tcgen05: what mma.sync reaches is no roof there. */
static bool is_mma_whole(const ridge_device_info *info)
{
    return info->sm_version < 90 || info->sm_version >= 120;
}

/* One thread of a CPU is no roof for arithmetic: a chain of additions waits for itself, and so does
 * what reads by it. On a GPU each takes long enough, 250 to 600 us on an H200, that starting and
 * ending are about 1 % of it. */
static const roof_probe PROBES[] = {
    {"probe:copy", "bytes=536870912", "bytes=4194304", RIDGE_PEAK_NONE, false},
    {"probe:read", "bytes=536870912", NULL, RIDGE_PEAK_NONE, false},
    {"probe:fma", "iterations=32768,blocks=2112", NULL, RIDGE_PEAK_FP32, false},
    {"probe:mma", "iterations=16384,blocks=264", NULL, RIDGE_PEAK_TENSOR_BF16, true},
};
enum { PROBE_COUNT = sizeof(PROBES) / sizeof(PROBES[0]) };

static ridge_status measure(ridge_device *device, const roof_probe *probe, const char *case_text,
                            ridge_roofs *out, ridge_error *err)
{
    /* Probes are right, and nothing is held against what they measure. */
    const ridge_bench_options options = {.pilot = 2,
                                         .blocks = 2,
                                         .budget_s = 3,
                                         .without = ~((uint64_t)1 << RIDGE_GUARD_SHARE_BUFFERS)};
    const ridge_bench_arm arm = {ridge_family_variant(ridge_probe_family(), probe->kernel),
                                 probe->kernel, ""};
    ridge_case at = ridge_probe_family()->default_case;
    ridge_measurement measured;
    ridge_status status;
    double faster;

    if (arm.kernel == NULL)
        return ridge_fail(err, RIDGE_ERR_INTERNAL, "there is no %s", probe->kernel);
    status = ridge_case_parse(case_text, &at, err);
    if (status == RIDGE_OK)
        status = ridge_bench_measure(device, &arm, &at, &options, NULL, &measured, err);
    if (ridge_status_is_refusal(status))
        return RIDGE_OK; /* not on this device */
    if (status != RIDGE_OK)
        return status;
    /* A roof is above what it holds for: what one launch in ten reaches. */
    faster = measured.arm.median_ns / measured.arm.p10_ns;
    if (!(faster >= 1))
        faster = 1;
    if (probe->peak != RIDGE_PEAK_NONE)
        out->flop_per_s[probe->peak] = faster * measured.arm.flop_per_s;
    /* What only reads is faster than a copy: the larger of the two is the roof. */
    else if (!(out->dram_bytes_per_s >= faster * measured.arm.bytes_per_s))
        out->dram_bytes_per_s = faster * measured.arm.bytes_per_s;
    return RIDGE_OK;
}

ridge_status ridge_bench_roofs(ridge_device *device, ridge_roofs *out, ridge_error *err)
{
    const ridge_device_info *const info = ridge_device_get_info(device);
    const bool is_gpu = info->kind == RIDGE_DEVICE_CUDA;
    ridge_floors floors;
    ridge_status status;
    int i;

    ridge_roofs_init(out);
    snprintf(out->name, sizeof(out->name), is_gpu ? "%.60s" : "%.40s, one thread", info->name);
    status = ridge_bench_floors(device, &floors, err);
    for (i = 0; i < PROBE_COUNT && status == RIDGE_OK; i++) {
        const char *const text = is_gpu ? PROBES[i].gpu_case : PROBES[i].cpu_case;

        if (text != NULL && (!PROBES[i].is_mma || is_mma_whole(info)))
            status = measure(device, &PROBES[i], text, out, err);
    }
    if (status != RIDGE_OK) {
        ridge_roofs_init(out);
        return status;
    }
    out->launch_s = floors.graph_ns * 1e-9;
    out->is_measured = true;
    return RIDGE_OK;
}
