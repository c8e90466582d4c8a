/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/memory.h"
#include "ridge/arm.h"
#include "ridge/kernels/registry.h"

static int finished;

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)self;
    (void)at;
    (void)err;
    buffers[0] =
        (ridge_buffer_desc){.name = "x", .role = RIDGE_ROLE_INOUT, .dtype = RIDGE_DTYPE_I32};
    *count = 1;
    return RIDGE_OK;
}

/* context: the greatest n that the variant takes. */
static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    const int64_t most = *(const int64_t *)self->context;

    (void)view;
    (void)stream;
    *state = NULL;
    if (most == 13 && at->axes[0].value == 13)
        return ridge_fail(err, RIDGE_ERR_CUDA, "%s broke", self->name);
    if (at->axes[0].value > most)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s takes n up to %d", self->name, (int)most);
    *state = self->context;
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    (void)at;
    (void)stream;
    (void)err;
    assert_ptr_equal(state, self->context);
    *(int32_t *)view->data[0] = (int32_t) * (const int64_t *)state;
    return RIDGE_OK;
}

static void finish(const ridge_kernel *self, void *state)
{
    assert_ptr_equal(state, self->context);
    finished++;
}

static int64_t most[] = {10, 13, 1000};
#define VARIANT(text, index)                                                                       \
    {                                                                                              \
        .struct_size = sizeof(ridge_kernel), .name = (text), .describe = describe,                 \
        .prepare = prepare, .launch = launch, .finish = finish, .context = &most[index]            \
    }
static const ridge_kernel small = VARIANT("small", 0), middle = VARIANT("middle", 1),
                          large = VARIANT("large", 2);
static const ridge_kernel *const variants[] = {&small, &middle, &large};
static const ridge_family family = {
    .name = "sized",
    .variants = variants,
    .variant_count = 3,
    .default_case = {.struct_size = sizeof(ridge_case), .axes = {{"n", 5}}, .axis_count = 1}};
static const ridge_family *const families[] = {&family, NULL};

static struct choice_case {
    const char *name;
    const char *arm;
    int64_t n;
    ridge_status status;
    int launched;        /* most of the variant */
    const char *message; /* of a failure */
} choices[] = {
    {"the first that takes it", "sized", 10, RIDGE_OK, 10, NULL},
    {"the second", "sized", 11, RIDGE_OK, 13, NULL},
    {"the last", "sized", 999, RIDGE_OK, 1000, NULL},
    {"none: the last one's words", "sized", 1001, RIDGE_ERR_UNSUPPORTED, 0,
     "large takes n up to 1000"},
    {"a failure is no refusal", "sized", 13, RIDGE_ERR_CUDA, 0, "middle broke"},
    {"one by name refuses", "sized:small", 11, RIDGE_ERR_UNSUPPORTED, 0, "small takes n up to 10"},
};

static void chooses(void **state)
{
    const struct choice_case *const row = *state;
    const ridge_arm_options options = {.families = families};
    ridge_device *device;
    ridge_arm *arm;
    const ridge_kernel *kernel;
    ridge_case at = family.default_case;
    int32_t value = 0;
    void *const data[] = {&value};
    const ridge_view view = {.data = data, .count = 1};
    void *prepared;
    ridge_error err = {RIDGE_OK, ""};

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    assert_int_equal(ridge_arm_open(device, row->arm, &options, &arm, NULL), RIDGE_OK);
    kernel = ridge_arm_kernel(arm);
    at.axes[0].value = row->n;
    finished = 0;
    assert_int_equal(kernel->prepare(kernel, &at, &view, &prepared, NULL, &err), row->status);
    if (row->status == RIDGE_OK) {
        assert_int_equal(kernel->launch(kernel, &at, &view, prepared, NULL, NULL), RIDGE_OK);
        kernel->finish(kernel, prepared);
        assert_int_equal(finished, 1);
    } else {
        assert_string_equal(err.text, row->message);
        assert_null(prepared);
    }
    assert_int_equal(value, row->launched);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

static void runs_out_of_memory(void **state)
{
    const ridge_arm_options options = {.families = families};
    ridge_device *device;
    ridge_arm *arm;
    void *prepared;
    const ridge_view view = {.count = 1};

    (void)state;
    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    assert_int_equal(ridge_arm_open(device, "sized", &options, &arm, NULL), RIDGE_OK);
    ridge_memory_fail_at(1);
    assert_int_equal(ridge_arm_kernel(arm)->prepare(ridge_arm_kernel(arm), &family.default_case,
                                                    &view, &prepared, NULL, NULL),
                     RIDGE_ERR_OUT_OF_MEMORY);
    ridge_memory_fail_at(0);
    assert_null(prepared);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

/* On the CPU device variants for GPUs refuse. */
static void finds_the_cpu_variant(void **state)
{
    const ridge_arm_options options = {.families = ridge_kernels_families()};
    float x[2][4] = {{1, 1, 1, 1}, {2, 2, 2, 2}}, weight[4] = {1, 2, 3, 4}, out[2][4];
    void *const data[] = {x, weight, out};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_view view = {.data = data, .buffers = buffers};
    const ridge_kernel *kernel;
    ridge_device *device;
    ridge_arm *arm;
    ridge_case at;
    void *prepared;

    (void)state;
    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    assert_int_equal(ridge_arm_open(device, "rms_norm", &options, &arm, NULL), RIDGE_OK);
    kernel = ridge_arm_kernel(arm);
    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_parse("m=2,n=4,dtype=f32", &at, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL), RIDGE_OK);
    view.device = device;
    assert_int_equal(kernel->prepare(kernel, &at, &view, &prepared, NULL, NULL), RIDGE_OK);
    assert_int_equal(kernel->launch(kernel, &at, &view, prepared, NULL, NULL), RIDGE_OK);
    kernel->finish(kernel, prepared);
    assert_true(out[0][0] > 0.9999F && out[0][0] < 1);
    assert_true(out[1][3] > 3.9999F && out[1][3] < 4);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, chooses, choices);
    cases_add(&list, "runs out of memory", runs_out_of_memory, NULL);
    cases_add(&list, "finds the CPU variant of rms_norm", finds_the_cpu_variant, NULL);
    return cases_run(&list, "choice");
}
