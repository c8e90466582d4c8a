/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "common/half.h"
#include "device/device_internal.h"
#include "ridge/kernels/registry.h"
#include "rms_norm/rms_norm_internal.h"

/* -- the family -------------------------------------------------------------------------------- */

static const ridge_family *family(void)
{
    const ridge_family *const *list = ridge_kernels_families();

    while (*list != NULL && strcmp((*list)->name, "rms_norm") != 0)
        list++;
    assert_non_null(*list);
    return *list;
}

static void lists_variants(void **state)
{
    static const char *const names[] = {"row_per_warp", "row_per_block", "cpu", "ref"};
    size_t i;

    (void)state;
    assert_int_equal(family()->variant_count, 4);
    for (i = 0; i < 4; i++) {
        assert_string_equal(family()->variants[i]->name, names[i]);
        assert_int_equal(family()->variants[i]->struct_size, sizeof(ridge_kernel));
    }
}

static ridge_case case_of(int64_t m, int64_t n, ridge_dtype dtype)
{
    ridge_case at = family()->default_case;

    at.axes[0].value = m;
    at.axes[1].value = n;
    at.dtype = dtype;
    return at;
}

static void describes(void **state)
{
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    const ridge_case good = case_of(3, 5, RIDGE_DTYPE_F16), bad = case_of(3, 5, RIDGE_DTYPE_E4M3);
    size_t count;
    ridge_error err;

    (void)state;
    assert_int_equal(rms_norm_cpu.describe(&rms_norm_cpu, &good, buffers, &count, &err), RIDGE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(buffers[2].alias_of, 1);
    assert_true(buffers[1].keeps_layout);
    assert_int_equal(buffers[0].shape[1], 5);
    assert_int_equal(rms_norm_cpu.describe(&rms_norm_cpu, &bad, buffers, &count, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "cpu takes f32, f16 and bf16, not e4m3");
    assert_int_equal(count, 0);
}

static void counts_work(void **state)
{
    const ridge_case at = case_of(4096, 5120, RIDGE_DTYPE_BF16),
                     small = case_of(2, 10, RIDGE_DTYPE_F32),
                     none = case_of(0, 10, RIDGE_DTYPE_F32);
    ridge_kernel_work work;

    (void)state;
    assert_int_equal(rms_norm_work(&rms_norm_cpu, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count == 4.0 * 4096 * 5120);
    assert_true(work.read_bytes == 2.0 * (4096.0 * 5120 + 5120));
    assert_true(work.written_bytes == 2.0 * 4096 * 5120);
    assert_int_equal(work.accumulate_length, 120);
    assert_int_equal(rms_norm_work(&rms_norm_cpu, &small, &work, NULL), RIDGE_OK);
    assert_int_equal(work.accumulate_length, 13);
    assert_int_equal(rms_norm_work(&rms_norm_cpu, &none, &work, NULL), RIDGE_OK);
    assert_true(work.read_bytes == 0 && work.written_bytes == 0);
}

/* -- results ----------------------------------------------------------------------------------- */

enum { STORAGE = 1 << 16 };

/* Strides and first element of x and out. */
static struct result_case {
    const char *name;
    int64_t m, n;
    int64_t x_first, x_row, x_column, out_first, out_row, out_column;
    bool in_place;
} results[] = {
    {"contiguous", 5, 769, 0, 769, 1, 0, 769, 1, false},
    {"one element", 1, 1, 0, 1, 1, 0, 1, 1, false},
    {"one block and one more", 3, 513, 0, 513, 1, 0, 513, 1, false},
    {"rows padded by 8", 7, 128, 0, 136, 1, 0, 136, 1, false},
    {"rows of a wider tensor", 4, 100, 0, 200, 1, 0, 100, 1, false},
    {"one element behind an aligned address", 4, 64, 1, 64, 1, 1, 64, 1, false},
    {"transposed", 6, 50, 0, 1, 6, 0, 1, 6, false},
    {"x transposed, out not", 6, 50, 0, 1, 6, 0, 50, 1, false},
    {"one row again and again", 6, 50, 0, 0, 1, 0, 50, 1, false},
    {"rows in descending order", 5, 40, 160, -40, 1, 160, -40, 1, false},
    {"in place", 9, 700, 0, 700, 1, 0, 700, 1, true},
    {"in place, padded", 9, 700, 0, 708, 1, 0, 708, 1, true},
    {"no rows", 0, 64, 0, 64, 1, 0, 64, 1, false},
    {"empty rows", 4, 0, 0, 0, 1, 0, 0, 1, false},
};

static double value_at(int64_t index)
{
    return sin((double)index * 1.7) * (index % 97 == 3 ? 100 : 2);
}

/* Runs a variant on storage full of a mark, and compares every element of it: results within one
 * rounding of the reference, marks elsewhere. */
static void compare(const ridge_kernel *kernel, const struct result_case *row, ridge_dtype dtype)
{
    const double mark = 7.5;
    const ridge_case at = case_of(row->m, row->n, dtype);
    static unsigned char storage[3][STORAGE * 4];
    static double x[STORAGE], weight[STORAGE], expected[STORAGE];
    static double *is_expected[STORAGE];
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    const double *const in[] = {x, weight, NULL};
    double *const out[] = {NULL, NULL, expected};
    const size_t bytes = ridge_dtype_bytes(dtype);
    unsigned char *const output = row->in_place ? storage[0] : storage[2];
    void *const data[] = {storage[0] + (size_t)row->x_first * bytes, storage[1],
                          output + (size_t)row->out_first * bytes};
    const ridge_view view = {.data = data, .buffers = buffers, .count = 3};
    const ridge_reference_view reference = {.in = in, .out = out, .buffers = buffers, .count = 3};
    const double slack = 120 * 0x1p-24 + ridge_dtype_unit_roundoff(dtype);
    size_t count;
    int64_t i, k;

    assert_int_equal(kernel->describe(kernel, &at, buffers, &count, NULL), RIDGE_OK);
    buffers[0].stride[0] = row->x_row;
    buffers[0].stride[1] = row->x_column;
    buffers[1].stride[0] = 1;
    buffers[2].stride[0] = row->out_row;
    buffers[2].stride[1] = row->out_column;
    memset(is_expected, 0, sizeof(is_expected));
    for (i = 0; i < STORAGE; i++)
        for (k = 0; k < 3; k++)
            ridge_dtype_store(dtype, storage[k], i, mark);
    for (k = 0; k < row->n; k++) {
        ridge_dtype_store(dtype, storage[1], k, 1 + value_at(k) / 256);
        weight[k] = ridge_dtype_load(dtype, storage[1], k);
    }
    for (i = 0; i < row->m; i++)
        for (k = 0; k < row->n; k++) {
            const int64_t from = row->x_first + i * row->x_row + k * row->x_column;

            ridge_dtype_store(dtype, storage[0], from, value_at(from));
            x[i * row->n + k] = ridge_dtype_load(dtype, storage[0], from);
            is_expected[row->out_first + i * row->out_row + k * row->out_column] =
                &expected[i * row->n + k];
        }

    assert_int_equal(kernel->reference(kernel, &at, &reference, NULL), RIDGE_OK);
    assert_int_equal(kernel->launch(kernel, &at, &view, NULL, NULL, NULL), RIDGE_OK);
    for (i = 0; i < STORAGE; i++) {
        const double found = ridge_dtype_load(dtype, output, i);
        const double want = is_expected[i] != NULL ? *is_expected[i] : mark;
        const double most =
            is_expected[i] != NULL ? fabs(want) * slack + ridge_dtype_least_subnormal(dtype) : 0;

        if (!(fabs(found - want) <= most))
            fail_msg("%s %s: element %lld is %.9g, not %.9g", kernel->name, ridge_dtype_name(dtype),
                     (long long)i, found, want);
    }
}

static void normalizes(void **state)
{
    size_t i;

    for (i = 0; i < RMS_NORM_DTYPES; i++) {
        compare(&rms_norm_ref, *state, rms_norm_dtypes[i]);
        compare(&rms_norm_cpu, *state, rms_norm_dtypes[i]);
    }
}

/* One row each of a NaN, an infinity, zeros and the least values, beside a good one. */
static void keeps_rows_apart(void **state)
{
    enum { N = 20, ROWS = 5 };
    const ridge_kernel *const kernels[] = {&rms_norm_cpu, &rms_norm_ref};
    const ridge_case at = case_of(ROWS, N, RIDGE_DTYPE_F32);
    float x[ROWS][N], weight[N], out[ROWS][N];
    void *const data[] = {x, weight, out};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    const ridge_view view = {.data = data, .buffers = buffers, .count = 3};
    size_t count, i, k, row;

    (void)state;
    for (k = 0; k < 2; k++) {
        for (row = 0; row < ROWS; row++)
            for (i = 0; i < N; i++)
                x[row][i] = 1;
        x[0][3] = NAN;
        x[1][4] = INFINITY;
        for (i = 0; i < N; i++) {
            weight[i] = 1;
            x[2][i] = 0;
            x[3][i] = 0x1p-149F;
        }
        assert_int_equal(kernels[k]->describe(kernels[k], &at, buffers, &count, NULL), RIDGE_OK);
        buffers[0].stride[0] = buffers[2].stride[0] = N;
        buffers[0].stride[1] = buffers[1].stride[0] = buffers[2].stride[1] = 1;
        assert_int_equal(kernels[k]->launch(kernels[k], &at, &view, NULL, NULL, NULL), RIDGE_OK);
        for (i = 0; i < N; i++) {
            assert_true(isnan(out[0][i]));
            assert_true(i == 4 ? isnan(out[1][i]) : out[1][i] == 0);
            assert_true(out[2][i] == 0);
            assert_true(out[3][i] > 0 && out[3][i] < 1e-40F);
            assert_true(fabsf(out[4][i] - 1) < 1e-5F);
        }
    }
}

/* -- refusals ---------------------------------------------------------------------------------- */

static struct refusal {
    const char *name;
    const ridge_kernel *kernel;
    int64_t out_row, out_column;
    bool same_memory;
    ridge_status status;
    const char *message;
} refusals[] = {
    {"row_per_warp on the CPU", &rms_norm_row_per_warp, 64, 1, false, RIDGE_ERR_UNSUPPORTED,
     "row_per_warp runs on a CUDA GPU, not on the CPU"},
    {"row_per_block on the CPU", &rms_norm_row_per_block, 64, 1, false, RIDGE_ERR_UNSUPPORTED,
     "row_per_block runs on a CUDA GPU, not on the CPU"},
    {"rows of out on top of each other", &rms_norm_cpu, 0, 1, false, RIDGE_ERR_ALIAS,
     "out: elements share memory"},
    {"columns of out on top of each other", &rms_norm_ref, 64, 0, false, RIDGE_ERR_ALIAS,
     "out: elements share memory"},
    {"the same memory with other strides", &rms_norm_cpu, 1, 2, true, RIDGE_ERR_ALIAS,
     "out begins where x does"},
};

static void refuses(void **state)
{
    const struct refusal *const row = *state;
    const ridge_case at = case_of(2, 64, RIDGE_DTYPE_F32);
    float x[128] = {0}, weight[64] = {0}, out[128];
    void *const data[] = {x, weight, row->same_memory ? x : out};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    const ridge_view view = {.data = data, .buffers = buffers, .count = 3};
    size_t count, i;
    ridge_error err;

    for (i = 0; i < 128; i++)
        out[i] = 7;
    assert_int_equal(row->kernel->describe(row->kernel, &at, buffers, &count, NULL), RIDGE_OK);
    buffers[0].stride[0] = 64;
    buffers[0].stride[1] = buffers[1].stride[0] = 1;
    buffers[2].stride[0] = row->out_row;
    buffers[2].stride[1] = row->out_column;
    assert_int_equal(row->kernel->launch(row->kernel, &at, &view, NULL, NULL, &err), row->status);
    assert_non_null(strstr(err.text, row->message));
    for (i = 0; i < 128; i++)
        assert_true(out[i] == 7 && x[i] == 0);
}

/* -- plans of the GPU variants ----------------------------------------------------------------- */

static char memory[64];

static struct plan_case {
    const char *name;
    int64_t rows, n, x_row, x_column, out_row;
    size_t offset_bytes;
    ridge_dtype dtype;
    unsigned warp_grid; /* 0: row_per_warp refuses */
    ridge_status status;
    const char *message;
} plans[] = {
    {"the default case", 4096, 5120, 5120, 1, 5120, 0, RIDGE_DTYPE_BF16, 1024, RIDGE_OK, NULL},
    {"a block that is not full", 5, 8, 8, 1, 8, 0, RIDGE_DTYPE_F16, 2, RIDGE_OK, NULL},
    {"padded rows", 5, 512, 520, 1, 520, 0, RIDGE_DTYPE_BF16, 2, RIDGE_OK, NULL},
    {"descending rows", 5, 512, -512, 1, -512, 0, RIDGE_DTYPE_BF16, 2, RIDGE_OK, NULL},
    {"one row needs no stride", 1, 512, 3, 1, 5, 0, RIDGE_DTYPE_BF16, 1, RIDGE_OK, NULL},
    {"769 columns", 5, 769, 769, 1, 769, 0, RIDGE_DTYPE_F32, 0, RIDGE_ERR_UNSUPPORTED,
     "rows of 769 elements, 769 and 769 apart, are not whole vectors of 16 bytes"},
    {"4 columns of f32", 5, 4, 4, 1, 4, 0, RIDGE_DTYPE_F32, 2, RIDGE_OK, NULL},
    {"4 columns of f16", 5, 4, 4, 1, 4, 0, RIDGE_DTYPE_F16, 0, RIDGE_ERR_UNSUPPORTED,
     "not whole vectors"},
    {"rows 12 apart", 5, 8, 12, 1, 8, 0, RIDGE_DTYPE_BF16, 0, RIDGE_ERR_UNSUPPORTED,
     "12 and 8 apart"},
    {"transposed", 16, 64, 1, 16, 64, 0, RIDGE_DTYPE_F32, 0, RIDGE_ERR_UNSUPPORTED,
     "elements of a row are 16 and 1 apart"},
    {"offset by an element", 5, 64, 64, 1, 64, 2, RIDGE_DTYPE_BF16, 0, RIDGE_ERR_MISALIGNED,
     "does not begin at a multiple of 16 bytes"},
    {"more rows than 2^32", INT64_C(1) << 33, 8, 8, 1, 8, 0, RIDGE_DTYPE_BF16, 0,
     RIDGE_ERR_UNSUPPORTED, "a grid takes at most 8589934588"},
};

static void plans_a_launch(void **state)
{
    const struct plan_case *const row = *state;
    void *const aligned = memory + (16 - (uintptr_t)memory % 16) % 16;
    const rms_norm_problem problem = {.x = (char *)aligned + row->offset_bytes,
                                      .weight = aligned,
                                      .out = aligned,
                                      .rows = row->rows,
                                      .n = row->n,
                                      .x_row = row->x_row,
                                      .x_column = row->x_column,
                                      .weight_column = 1,
                                      .out_row = row->out_row,
                                      .out_column = 1,
                                      .dtype = row->dtype};
    rms_norm_plan plan;
    ridge_error err;

    assert_int_equal(rms_norm_plan_row_per_warp(&problem, &plan, &err), row->status);
    assert_int_equal(plan.grid, row->warp_grid);
    if (row->message != NULL)
        assert_non_null(strstr(err.text, row->message));
    if (row->rows < INT64_C(1) << 31) {
        assert_int_equal(rms_norm_plan_row_per_block(&problem, &plan, &err), RIDGE_OK);
        assert_int_equal(plan.grid, row->rows);
        assert_int_equal(plan.block, 256);
    } else {
        assert_int_equal(rms_norm_plan_row_per_block(&problem, &plan, &err), RIDGE_ERR_UNSUPPORTED);
    }
}

/* -- launches, on a GPU that notes them -------------------------------------------------------- */

static struct fake_gpu {
    ridge_device device;
    ridge_gpu_module module;
    ridge_gpu_function function;
    int loads, frees, launches;
    char name[80];
    ridge_gpu_launch launch;
    int64_t rows_or_n;
    float eps;
} gpu;

static ridge_status fake_load(ridge_device *device, const void *image, size_t size_bytes, char *log,
                              size_t log_size, ridge_gpu_module **out, ridge_error *err)
{
    (void)device;
    (void)log;
    (void)log_size;
    (void)err;
    assert_non_null(image);
    assert_true(size_bytes > 0);
    gpu.loads++;
    *out = &gpu.module;
    return RIDGE_OK;
}

static void fake_module_free(ridge_gpu_module *module)
{
    assert_ptr_equal(module, &gpu.module);
    gpu.frees++;
}

static ridge_status fake_function(ridge_gpu_module *module, const char *name,
                                  ridge_gpu_function **out, ridge_error *err)
{
    (void)err;
    gpu.function.module = module;
    gpu.function.device = &gpu.device;
    snprintf(gpu.name, sizeof(gpu.name), "%s", name);
    *out = &gpu.function;
    return RIDGE_OK;
}

static ridge_status fake_launch(ridge_gpu_function *function, const ridge_gpu_launch *launch,
                                void *const *parameters, struct CUstream_st *native,
                                ridge_error *err)
{
    const bool is_warp = strstr(gpu.name, "row_per_warp") != NULL;

    (void)native;
    (void)err;
    assert_ptr_equal(function, &gpu.function);
    gpu.launches++;
    gpu.launch = *launch;
    gpu.rows_or_n = *(const int64_t *)parameters[3];
    gpu.eps = *(const float *)parameters[is_warp ? 7 : 9];
    return RIDGE_OK;
}

static void fake_device_free(ridge_device *device)
{
    assert_ptr_equal(device, &gpu.device);
}

static const struct device_ops fake_ops = {.free = fake_device_free,
                                           .module_load = fake_load,
                                           .module_free = fake_module_free,
                                           .module_function = fake_function,
                                           .function_launch = fake_launch};

static struct launch_case {
    const char *name;
    const ridge_kernel *kernel;
    int64_t m, n;
    ridge_dtype dtype;
    const char *entry;
    unsigned grid, block;
    int64_t parameter; /* the fourth */
    int launches;
} launch_cases[] = {
    {"launches row_per_warp", &rms_norm_row_per_warp, 6, 64, RIDGE_DTYPE_BF16,
     "rms_norm_row_per_warp_bf16", 2, 128, 6, 1},
    {"launches row_per_block", &rms_norm_row_per_block, 6, 65, RIDGE_DTYPE_F16,
     "rms_norm_row_per_block_f16", 6, 256, 65, 1},
    {"launches nothing for no rows", &rms_norm_row_per_block, 0, 64, RIDGE_DTYPE_F32,
     "rms_norm_row_per_block_f32", 0, 0, 0, 0},
    {"launches nothing for empty rows", &rms_norm_row_per_warp, 3, 0, RIDGE_DTYPE_F32,
     "rms_norm_row_per_warp_f32", 0, 0, 0, 0},
};

/* Two sets of buffers share one module, which goes with the device. */
static void launches(void **state)
{
    const struct launch_case *const row = *state;
    const ridge_case at = case_of(row->m, row->n, row->dtype);
    static _Alignas(16) float x[1024], weight[128], out[1024];
    void *const data[] = {x, weight, out};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    const ridge_view view = {.data = data, .buffers = buffers, .count = 3, .device = &gpu.device};
    void *states[2];
    size_t count;
    ridge_error err;

    gpu = (struct fake_gpu){.device = {.info = {.kind = RIDGE_DEVICE_CUDA}, .ops = &fake_ops}};
    assert_int_equal(row->kernel->describe(row->kernel, &at, buffers, &count, NULL), RIDGE_OK);
    buffers[0].stride[0] = buffers[2].stride[0] = row->n;
    buffers[0].stride[1] = buffers[1].stride[0] = buffers[2].stride[1] = 1;
    if (ridge_kernels_cuda()[0] == '\0') {
        assert_int_equal(row->kernel->prepare(row->kernel, &at, &view, &states[0], NULL, &err),
                         RIDGE_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "built without nvcc"));
        return;
    }
    assert_int_equal(row->kernel->prepare(row->kernel, &at, &view, &states[0], NULL, NULL),
                     RIDGE_OK);
    assert_int_equal(row->kernel->prepare(row->kernel, &at, &view, &states[1], NULL, NULL),
                     RIDGE_OK);
    assert_int_equal(gpu.loads, 1);
    assert_string_equal(gpu.name, row->entry);
    assert_int_equal(row->kernel->launch(row->kernel, &at, &view, states[1], NULL, NULL), RIDGE_OK);
    assert_int_equal(gpu.launches, row->launches);
    assert_int_equal(gpu.launch.grid[0], row->grid);
    assert_int_equal(gpu.launch.block[0], row->block);
    assert_int_equal(gpu.rows_or_n, row->parameter);
    assert_true(gpu.launches == 0 || gpu.eps == RMS_NORM_EPS);
    ridge_device_free(&gpu.device);
    assert_int_equal(gpu.frees, 1);
}

/* -- conversions ------------------------------------------------------------------------------- */

static void converts_every_half(void **state)
{
    uint32_t bits;

    (void)state;
    for (bits = 0; bits <= 0xFFFF; bits++) {
        const uint16_t half = (uint16_t)bits;
        const double f16 = ridge_dtype_load(RIDGE_DTYPE_F16, &half, 0);
        const double bf16 = ridge_dtype_load(RIDGE_DTYPE_BF16, &half, 0);

        assert_true(isnan(f16) ? isnan(half_from_f16(half)) : half_from_f16(half) == (float)f16);
        assert_true(isnan(bf16) ? isnan(half_from_bf16(half))
                                : half_from_bf16(half) == (float)bf16);
        if (!isnan(f16))
            assert_int_equal(half_to_f16((float)f16), half);
        if (!isnan(bf16))
            assert_int_equal(half_to_bf16((float)bf16), half);
    }
}

/* Every 65488th float, and each with the three that follow. */
static void rounds_floats(void **state)
{
    uint64_t bits;
    uint32_t next;

    (void)state;
    for (bits = 0; bits <= UINT32_MAX - 4; bits += UINT64_C(65488))
        for (next = 0; next < 4; next++) {
            const float value = half_float_of_bits((uint32_t)bits + next);
            uint16_t f16, bf16;

            ridge_dtype_store(RIDGE_DTYPE_F16, &f16, 0, (double)value);
            ridge_dtype_store(RIDGE_DTYPE_BF16, &bf16, 0, (double)value);
            if (isnan(value)) {
                assert_true(isnan(half_from_f16(half_to_f16(value))));
                assert_true(isnan(half_from_bf16(half_to_bf16(value))));
            } else {
                assert_int_equal(half_to_f16(value), f16);
                assert_int_equal(half_to_bf16(value), bf16);
            }
        }
}

/* Halfway between neighbours, where ties go to even. */
static void rounds_ties(void **state)
{
    static const struct tie {
        float value;
        uint16_t f16, bf16;
    } ties[] = {
        {1 + 0x1p-11F, 0x3C00, 0x3F80},  {1 + 3 * 0x1p-11F, 0x3C02, 0x3F80},
        {1 + 0x1p-8F, 0x3C04, 0x3F80},   {1 + 3 * 0x1p-8F, 0x3C0C, 0x3F82},
        {65519.996F, 0x7BFF, 0x4780},    {65520, 0x7C00, 0x4780},
        {0x1p-25F, 0x0000, 0x3300},      {3 * 0x1p-25F, 0x0002, 0x33C0},
        {-0x1.002p-25F, 0x8001, 0xB300}, {0x1.FFFFFEp127F, 0x7C00, 0x7F80},
        {-0.0F, 0x8000, 0x8000},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(ties) / sizeof(ties[0]); i++) {
        assert_int_equal(half_to_f16(ties[i].value), ties[i].f16);
        assert_int_equal(half_to_bf16(ties[i].value), ties[i].bf16);
    }
}

int main(void)
{
    static cases list;

    cases_add(&list, "lists its variants", lists_variants, NULL);
    cases_add(&list, "describes its buffers", describes, NULL);
    cases_add(&list, "counts its work", counts_work, NULL);
    CASES_ADD_ROWS(&list, normalizes, results);
    cases_add(&list, "keeps rows apart", keeps_rows_apart, NULL);
    CASES_ADD_ROWS(&list, refuses, refusals);
    CASES_ADD_ROWS(&list, plans_a_launch, plans);
    CASES_ADD_ROWS(&list, launches, launch_cases);
    cases_add(&list, "converts every half", converts_every_half, NULL);
    cases_add(&list, "rounds floats", rounds_floats, NULL);
    cases_add(&list, "rounds ties", rounds_ties, NULL);
    return cases_run(&list, "rms_norm");
}
