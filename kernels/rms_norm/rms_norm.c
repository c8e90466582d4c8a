/* SPDX-License-Identifier: Apache-2.0
 *
 * RMS normalisation over the last axis: the family, its buffers and the checks that all back ends
 * share. The formula stands in README.md. */
#include "families.h"
#include "rms_norm_internal.h"

/* Best first. Which one a bare "rms_norm" means is decided by who refuses: the plans of the GPU
 * variants are pure functions of the problem. */
static const ridge_kernel *const variants[] = {
    &rms_norm_row_per_warp,
    &rms_norm_row_per_block,
    &rms_norm_cpu,
    &rms_norm_ref,
};

/* 5120 columns: the hidden size of many 13B to 32B models; 4096 tokens make 84 MB of traffic, more
 * than any L2. tile: the columns that a warp of row_per_warp takes at once, of 2-byte types. */
const ridge_family rms_norm_family = {
    .name = "rms_norm",
    .summary = "out = x / sqrt(mean(x^2) + 1e-5) * weight over rows of n elements",
    .variants = variants,
    .variant_count = sizeof(variants) / sizeof(variants[0]),
    .default_case = {.struct_size = sizeof(ridge_case),
                     .axes = {{"m", 4096}, {"n", 5120}},
                     .axis_count = 2,
                     .dtype = RIDGE_DTYPE_BF16,
                     .layout = RIDGE_LAYOUT_CONTIGUOUS,
                     .values = RIDGE_VALUES_NORMAL,
                     .seed = 1},
    .tile = 256,
    .dtypes = rms_norm_dtypes,
    .dtype_count = RMS_NORM_DTYPES,
    .gpu_code = rms_norm_gpu_code,
    .gpu_variant_count = 2,
};

static bool is_legal_dtype(ridge_dtype dtype)
{
    size_t i;

    for (i = 0; i < RMS_NORM_DTYPES; i++)
        if (rms_norm_dtypes[i] == dtype)
            return true;
    return false;
}

ridge_status rms_norm_describe(const ridge_kernel *self, const ridge_case *at,
                               ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 4096), n = ridge_case_axis(at, "n", 5120);

    *count = 0;
    if (!is_legal_dtype(at->dtype))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s takes f32, f16 and bf16, not %s",
                          self->name, ridge_dtype_name(at->dtype));
    buffers[RMS_NORM_X] = (ridge_buffer_desc){
        .name = "x", .role = RIDGE_ROLE_IN, .dtype = at->dtype, .ndim = 2, .shape = {m, n}};
    buffers[RMS_NORM_WEIGHT] = (ridge_buffer_desc){.name = "weight",
                                                   .role = RIDGE_ROLE_IN,
                                                   .dtype = at->dtype,
                                                   .ndim = 1,
                                                   .shape = {n},
                                                   .keeps_layout = true};
    buffers[RMS_NORM_OUT] = (ridge_buffer_desc){.name = "out",
                                                .role = RIDGE_ROLE_OUT,
                                                .dtype = at->dtype,
                                                .ndim = 2,
                                                .shape = {m, n},
                                                .alias_of = 1 + RMS_NORM_X};
    *count = RMS_NORM_BUFFERS;
    return RIDGE_OK;
}

ridge_status rms_norm_problem_of(const ridge_view *view, rms_norm_problem *out, ridge_error *err)
{
    const ridge_buffer_desc *const x = &view->buffers[RMS_NORM_X];
    const ridge_buffer_desc *const y = &view->buffers[RMS_NORM_OUT];

    *out = (rms_norm_problem){.x = view->data[RMS_NORM_X],
                              .weight = view->data[RMS_NORM_WEIGHT],
                              .out = view->data[RMS_NORM_OUT],
                              .rows = x->shape[0],
                              .n = x->shape[1],
                              .x_row = x->stride[0],
                              .x_column = x->stride[1],
                              .weight_column = view->buffers[RMS_NORM_WEIGHT].stride[0],
                              .out_row = y->stride[0],
                              .out_column = y->stride[1],
                              .dtype = x->dtype,
                              .eps = RMS_NORM_EPS};
    if (out->rows == 0 || out->n == 0)
        return RIDGE_OK;
    if ((out->rows > 1 && out->out_row == 0) || (out->n > 1 && out->out_column == 0))
        return ridge_fail(err, RIDGE_ERR_ALIAS, "out: elements share memory (a stride is 0)");
    if (out->x == out->out && (out->x_row != out->out_row || out->x_column != out->out_column))
        return ridge_fail(err, RIDGE_ERR_ALIAS, "out begins where x does, with other strides");
    return RIDGE_OK;
}
