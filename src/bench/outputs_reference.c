/* SPDX-License-Identifier: Apache-2.0
 *
 * The right answer to set 0's inputs by the baseline's reference, where it has one that is quick.
 * Otherwise a fresh launch of the baseline serves, which the check has found right. */
#include <math.h>

#include "base/memory.h"
#include "bench_internal.h"

/* References are plain loops: about a second in all, a sample at a time. */
static const double FLOP_MOST = 1 << 28, SECONDS_MOST = 1;
enum { ELEMENTS_MOST = 1 << 22 };

void bench_answers_release(bench_answers *answers)
{
    int i;

    for (i = 0; i < RIDGE_KERNEL_BUFFERS; i++) {
        ridge_free(answers->in[i]);
        ridge_free(answers->out[i]);
    }
    *answers = (bench_answers){.is_there = false};
}

static bool is_affordable(const bench_run *run)
{
    const bench_arm_buffers *const own = &run->buffers.arms[0];
    int64_t elements = 0;
    size_t i;

    if (run->arms[0].kernel->reference == NULL || run->buffers.has_inout ||
        run->reference_s > SECONDS_MOST || run->arms[0].work.flop_count > FLOP_MOST)
        return false;
    for (i = 0; i < own->count; i++) {
        const int64_t count = ridge_buffer_elements(&own->descs[i]);

        if (count > ELEMENTS_MOST - elements)
            return false;
        elements += count;
    }
    return true;
}

/* Buffer index of set 0 as doubles in logical order. */
static ridge_status read_input(bench_run *run, size_t index, double **out, ridge_error *err)
{
    const ridge_buffer_desc *const desc = &run->buffers.arms[0].descs[index];
    const int slab = run->buffers.arms[0].slab[index];
    const size_t span_bytes = run->buffers.slabs[slab].span_bytes;
    const int64_t count = ridge_buffer_elements(desc), origin = ridge_buffer_origin(desc);
    unsigned char *const image = ridge_calloc(1, span_bytes + 1);
    ridge_status status = RIDGE_OK;
    int64_t i;

    *out = ridge_calloc((size_t)count + 1, sizeof(**out));
    if (image == NULL || *out == NULL)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for the inputs of %s",
                            desc->name);
    if (status == RIDGE_OK)
        status = ridge_device_download(run->device, image, bench_slab_memory(run, 0, slab),
                                       span_bytes, err);
    for (i = 0; i < count && status == RIDGE_OK; i++)
        (*out)[i] = ridge_dtype_load(desc->dtype, image, origin + ridge_buffer_offset(desc, i));
    ridge_free(image);
    return status;
}

ridge_status bench_answers_make(bench_run *run, bench_answers *out, ridge_error *err)
{
    const ridge_kernel *const kernel = run->arms[0].kernel;
    const bench_arm_buffers *const own = &run->buffers.arms[0];
    const double begin_s = bench_now_s();
    const ridge_reference_view view = {.in = (const double *const *)out->in,
                                       .out = out->out,
                                       .magnitude = out->none,
                                       .buffers = own->descs,
                                       .count = own->count};
    ridge_status status = RIDGE_OK;
    size_t i;

    *out = (bench_answers){.is_there = false};
    if (!is_affordable(run))
        return RIDGE_OK;
    for (i = 0; i < own->count && status == RIDGE_OK; i++) {
        if (own->descs[i].role == RIDGE_ROLE_IN)
            status = read_input(run, i, &out->in[i], err);
        if (own->descs[i].role != RIDGE_ROLE_OUT)
            continue;
        out->out[i] =
            ridge_calloc((size_t)ridge_buffer_elements(&own->descs[i]) + 1, sizeof(double));
        if (out->out[i] == NULL)
            status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for the answer %s",
                                own->descs[i].name);
    }
    if (status == RIDGE_OK)
        status = kernel->reference(kernel, &run->at, &view, err);
    out->is_there = status == RIDGE_OK;
    if (status != RIDGE_OK)
        bench_answers_release(out);
    run->reference_s += bench_now_s() - begin_s;
    /* A reference that refuses the case is none. */
    return ridge_status_is_refusal(status) ? RIDGE_OK : status;
}
