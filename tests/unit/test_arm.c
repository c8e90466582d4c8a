/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include <math.h>
#include <unistd.h>

#include "arm/arm_internal.h"
#include "ridge/report.h"

static ridge_device *cpu(void)
{
    ridge_device *device;

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    return device;
}

/* -- names ------------------------------------------------------------------------------------- */

static struct name {
    const char *name;
    ridge_arm_kind kind;
    const char *path, *item;
} names[] = {
    {"rms_norm", RIDGE_ARM_FAMILY, "rms_norm", ""},
    {"rms_norm:row_per_warp", RIDGE_ARM_FAMILY, "rms_norm", "row_per_warp"},
    {"./libmine.so:rms_norm", RIDGE_ARM_PLUGIN, "./libmine.so", "rms_norm"},
    {"libmine.so", RIDGE_ARM_PLUGIN, "libmine.so", ""},
    {"a:b/libmine.so.1.2:k", RIDGE_ARM_PLUGIN, "a:b/libmine.so.1.2", "k"},
    {"x/libmine.dylib:k", RIDGE_ARM_PLUGIN, "x/libmine.dylib", "k"},
    {"kernel.json", RIDGE_ARM_MANIFEST, "kernel.json", ""},
    {"a/b:c.json.gz", RIDGE_ARM_MANIFEST, "a/b:c.json.gz", ""},
    {"python:pkg.mod:f", RIDGE_ARM_PYTHON, "pkg.mod", "f"},
};

static void parses(void **state)
{
    const struct name *const row = *state;
    ridge_arm_name name;
    ridge_error err = {RIDGE_OK, ""};

    if (ridge_arm_name_parse(row->name, &name, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(name.kind, row->kind);
    assert_string_equal(name.path, row->path);
    assert_string_equal(name.item, row->item);
}

static struct bad {
    const char *name, *message;
} bads[] = {
    {"", "'' names no kernel, expected FAMILY[:VARIANT], LIBRARY.so[:KERNEL], MANIFEST.json"},
    {":x", "names no kernel"},
    {"rms norm", "names no kernel"},
    {"rms_norm:", "names no kernel"},
    {"./kernel", "names no kernel"},
    {"libmine.so:", "expected the name of a kernel behind ':'"},
    {"k.cubin", "does not say how it is launched, expected a manifest: ridge inspect --manifest"},
    {"build:3f21", "is in a ledger, which has to be named by --ledger"},
    {"python:f", "expected python:MODULE:FUNCTION"},
    {"python:m:", "expected python:MODULE:FUNCTION"},
};

static void rejects(void **state)
{
    const struct bad *const bad = *state;
    ridge_arm_name name;
    ridge_error err = {RIDGE_OK, ""};

    assert_int_not_equal(ridge_arm_name_parse(bad->name, &name, &err), RIDGE_OK);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void long_names(void **state)
{
    char text[700];
    ridge_arm_name name;
    ridge_error err;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    strcpy(text + sizeof(text) - 6, ".json");
    assert_int_equal(ridge_arm_name_parse(text, &name, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "is too long: a path has at most 511 characters"));
    assert_string_equal(name.path, "");
}

/* -- families ---------------------------------------------------------------------------------- */

/* y = 2 x, and what it may be called. */
static ridge_status describe_twice(const ridge_kernel *self, const ridge_case *at,
                                   ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)self;
    (void)err;
    memset(buffers, 0, 2 * sizeof(*buffers));
    for (int i = 0; i < 2; i++) {
        strcpy(buffers[i].name, i == 0 ? "x" : "y"); /* the plug-in has them the other way round */
        buffers[i].role = i == 0 ? RIDGE_ROLE_IN : RIDGE_ROLE_OUT;
        buffers[i].dtype = RIDGE_DTYPE_F32;
        buffers[i].ndim = 1;
        buffers[i].shape[0] = ridge_case_axis(at, "n", 4);
    }
    *count = 2;
    return RIDGE_OK;
}

static ridge_status launch_nothing(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_view *view, void *state, struct CUstream_st *stream,
                                   ridge_error *err)
{
    (void)self;
    (void)at;
    (void)view;
    (void)state;
    (void)stream;
    (void)err;
    return RIDGE_OK;
}

static ridge_status refer_twice(const ridge_kernel *self, const ridge_case *at,
                                const ridge_reference_view *view, ridge_error *err)
{
    (void)self;
    (void)at;
    (void)err;
    for (int64_t i = 0; i < view->buffers[1].shape[0]; i++) {
        view->out[1][i] = 2 * view->in[0][i];
        if (view->magnitude != NULL)
            view->magnitude[1][i] = fabs(view->out[1][i]);
    }
    return RIDGE_OK;
}

static ridge_status work_twice(const ridge_kernel *self, const ridge_case *at,
                               ridge_kernel_work *out, ridge_error *err)
{
    (void)self;
    (void)err;
    out->flop_count = (double)ridge_case_axis(at, "n", -1);
    return RIDGE_OK;
}

static ridge_status fill_twice(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                               double *elements, uint64_t seed, ridge_error *err)
{
    (void)self;
    (void)at;
    (void)seed;
    (void)err;
    elements[0] = (double)buffer_index;
    return RIDGE_OK;
}

static const ridge_kernel variant_fast = {.struct_size = sizeof(ridge_kernel),
                                          .name = "fast",
                                          .describe = describe_twice,
                                          .launch = launch_nothing};
static const ridge_kernel variant_plain = {.struct_size = sizeof(ridge_kernel),
                                           .name = "plain",
                                           .describe = describe_twice,
                                           .launch = launch_nothing,
                                           .work = work_twice,
                                           .reference = refer_twice,
                                           .fill = fill_twice,
                                           .row_axis = "n"};
static const ridge_kernel *const variants[] = {&variant_fast, &variant_plain};
static const ridge_dtype dtypes[] = {RIDGE_DTYPE_F32, RIDGE_DTYPE_BF16};
static const ridge_family family = {.name = "twice",
                                    .variants = variants,
                                    .variant_count = 2,
                                    .default_case = {.struct_size = sizeof(ridge_case),
                                                     .axes = {{"n", 6}},
                                                     .axis_count = 1,
                                                     .dtype = RIDGE_DTYPE_F32,
                                                     .seed = 1},
                                    .tile = 32,
                                    .dtypes = dtypes,
                                    .dtype_count = 2};
static const ridge_family *const families[] = {&family, NULL};

#ifdef __linux__
static void take_hash(const char *name, const ridge_arm_options *options, char out[33])
{
    ridge_device *const device = cpu();
    ridge_error err;
    ridge_arm *arm;

    if (ridge_arm_open(device, name, options, &arm, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_true(ridge_arm_code_hash(arm)[0] == '\0' ||
                strcmp(ridge_arm_code(arm)->arch, "cpu") == 0);
    memcpy(out, ridge_arm_code_hash(arm), 33);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

/* A variant for the CPU is the code of its program and its name; one for GPUs has none here. */
static void tells_variants_of_the_cpu(void **state)
{
    const ridge_arm_options options = {.families = families};
    ridge_family for_gpus;
    const ridge_family *const others[] = {&for_gpus, NULL};
    const ridge_arm_options gpus = {.families = others};
    char plain[33], again[33], any[33], fast[33];

    (void)state;
    take_hash("twice:plain", &options, plain);
    take_hash("twice:plain", &options, again);
    take_hash("twice", &options, any);
    take_hash("twice:fast", &options, fast);
    assert_int_equal(strlen(plain), 32);
    assert_string_equal(plain, again);
    assert_int_equal(strlen(any), 32);
    assert_string_not_equal(plain, any);
    assert_string_not_equal(plain, fast);
    for_gpus = family;
    for_gpus.gpu_variant_count = 1;
    take_hash("twice:fast", &gpus, fast);
    assert_string_equal(fast, "");
}
#endif

static void opens_families(void **state)
{
    const ridge_arm_options options = {.families = families};
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    const ridge_dtype *found;
    size_t count;
    ridge_arm *arm;
    ridge_case at;

    (void)state;
    assert_int_equal(ridge_arm_open(device, "twice", &options, &arm, &err), RIDGE_OK);
    assert_string_equal(ridge_arm_kernel(arm)->name, "fast");
    assert_non_null(ridge_arm_kernel(arm)->reference); /* that of plain */
    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_axis(&at, "n", -1), 6);
    found = ridge_arm_dtypes(arm, &count);
    assert_int_equal(count, 2);
    assert_int_equal(found[1], RIDGE_DTYPE_BF16);
    assert_int_equal(ridge_arm_tile(arm), 32);
    assert_null(ridge_arm_axis_values(arm, "n", &count));
    ridge_arm_free(arm);

    assert_int_equal(ridge_arm_open(device, "twice:plain", &options, &arm, &err), RIDGE_OK);
    assert_ptr_equal(ridge_arm_kernel(arm), &variant_plain);
    ridge_arm_free(arm);
    ridge_arm_free(NULL);

    assert_int_equal(ridge_arm_open(device, "probe:copy", NULL, &arm, &err), RIDGE_OK);
    assert_string_equal(ridge_arm_kernel(arm)->name, "probe:copy");
    ridge_arm_free(arm);

    assert_int_equal(ridge_arm_open(device, "twice:slow", &options, &arm, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "family twice has no variant 'slow', there are: fast, plain");
    assert_null(arm);
    assert_int_equal(ridge_arm_open(device, "thrice", &options, &arm, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "'thrice' is no family, there are: twice, probe");
    assert_int_equal(ridge_arm_open(device, "python:m:f", &options, &arm, &err),
                     RIDGE_ERR_UNSUPPORTED);
    ridge_device_free(device);
}

/* A plug-in without a reference, checked against a family that lists its buffers otherwise. */
static void borrows_reference(void **state)
{
    const ridge_arm_options options = {.families = families, .family = "twice"};
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    const double x[3] = {1, -2, 3};
    double y[3] = {0}, magnitude[3] = {0}, filled = -1;
    const double *const in[] = {NULL, x};
    double *const out[] = {y, NULL}, *const sums[] = {magnitude, NULL};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_reference_view view = {in, out, sums, buffers, 2};
    ridge_kernel_work work;
    const ridge_kernel *kernel;
    size_t count;
    ridge_arm *arm;
    ridge_case at;

    (void)state;
    if (ridge_arm_open(device, RIDGE_TEST_PLUGINS "/right.so:twice", &options, &arm, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
    kernel = ridge_arm_kernel(arm);
    assert_string_equal(kernel->name, "twice");
    assert_string_equal(kernel->row_axis, "n");
    assert_int_equal(ridge_arm_tile(arm), 32);
    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_set(&at, "n", 3, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &count, NULL), RIDGE_OK);
    assert_string_equal(buffers[0].name, "y");
    assert_int_equal(kernel->reference(kernel, &at, &view, NULL), RIDGE_OK);
    assert_true(y[0] == 2 && y[1] == -4 && y[2] == 6 && magnitude[1] == 4);
    assert_int_equal(ridge_kernel_work_of(kernel, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count == 3);
    assert_int_equal(kernel->fill(kernel, &at, 1, &filled, 1, NULL), RIDGE_OK);
    assert_true(filled == 0); /* x is the family's first */
    ridge_arm_free(arm);

    /* One that has other buffers. */
    assert_int_equal(ridge_arm_open(device, RIDGE_TEST_PLUGINS "/right.so:twice",
                                    &(ridge_arm_options){.families = families, .family = "probe"},
                                    &arm, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "kernel twice has y, x"));
    ridge_device_free(device);
}

/* A call whose buffers a family describes. */
static void call_by_family(void **state)
{
    const ridge_arm_options options = {
        .families = families,
        .family = "twice",
        .call = "take_scaled(ptr:y, ptr:x, f32:factor=2, i64:n, stream) -> i32"};
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    float y[6] = {0}, x[6] = {1, 2, 3, 4, 5, 6};
    void *const data[] = {y, x};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_view view = {data, buffers, 0, device};
    const ridge_kernel *kernel;
    void *prepared;
    ridge_arm *arm;
    ridge_case at;

    (void)state;
    if (ridge_arm_open(device, RIDGE_TEST_PLUGINS "/functions.so", &options, &arm, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
    kernel = ridge_arm_kernel(arm);
    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_axis(&at, "n", -1), 6);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL), RIDGE_OK);
    assert_int_equal(buffers[0].role, RIDGE_ROLE_OUT);
    assert_int_equal(buffers[1].shape[0], 6);
    assert_int_equal(ridge_kernel_prepare(kernel, &at, &view, &prepared, NULL, NULL), RIDGE_OK);
    assert_int_equal(kernel->launch(kernel, &at, &view, prepared, NULL, NULL), RIDGE_OK);
    ridge_kernel_finish(kernel, prepared);
    assert_float_equal(y[5], 12, 0);
    assert_non_null(kernel->reference);
    ridge_arm_free(arm);
    assert_int_equal(ridge_arm_open(device, "twice", &options, &arm, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "--call says how a function of a library is called"));
    assert_int_equal(
        ridge_arm_open(device, RIDGE_TEST_PLUGINS "/functions.so:f", &options, &arm, &err),
        RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "expected the library alone"));
    ridge_device_free(device);
}

/* -- manifests --------------------------------------------------------------------------------- */

/* A manifest of block_sum beside the cubin, in a folder of its own. */
static void write_folder(const char *folder, const char *reference)
{
    file_bytes cubin = support_data("sample_90.cubin.gz");
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/sample.cubin", folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(cubin.data, 1, cubin.size, file), cubin.size);
    fclose(file);
    support_release(&cubin);
    snprintf(path, sizeof(path), "%s/k.json", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"schema\": \"ridge-kernel/1\", \"image\": \"sample.cubin\", \"entry\": "
            "\"block_sum\", \"axes\": {\"n\": [6, 12]}, \"grid\": [1], \"block\": [32], \"args\": ["
            "{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": [\"n\"]},"
            "{\"name\": \"y\", \"role\": \"out\", \"dtype\": \"f32\", \"shape\": [\"n\"]},"
            "{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"i32\", \"value\": \"n\"}], "
            "\"work\": {\"flop\": \"n\"}%s}\n",
            reference);
    fclose(file);
}

static void remove_folder(const char *folder)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/sample.cubin", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/k.json", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static struct manifest {
    const char *name, *reference;
    bool has_reference;
} manifests[] = {
    {"a manifest without a reference", "", false},
    {"a manifest of a family", ", \"family\": \"twice\"", true},
    {"a manifest with another arm as reference",
     ", \"reference\": {\"arm\": \"" RIDGE_TEST_PLUGINS "/right.so:twice\"}", true},
};

/* All but the launch, which needs a GPU and says so. */
static void opens_manifest(void **state)
{
    const struct manifest *const row = *state;
    const ridge_arm_options options = {.families = families};
    char folder[] = "/tmp/ridge-test-XXXXXX", name[64];
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    const double x[3] = {1, -2, 3};
    double y[3] = {0};
    const double *const in[] = {x, NULL};
    double *const out[] = {NULL, y};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_reference_view view = {in, out, NULL, buffers, 2};
    void *const data[] = {NULL, NULL};
    ridge_view launch = {data, buffers, 2, device};
    ridge_kernel_work work;
    const ridge_kernel *kernel;
    const void *bytes;
    const char *kind;
    size_t count;
    void *prepared;
    ridge_arm *arm;
    ridge_case at;

    assert_non_null(mkdtemp(folder));
    write_folder(folder, row->reference);
    snprintf(name, sizeof(name), "%s/k.json", folder);
    if (ridge_arm_open(device, name, &options, &arm, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    remove_folder(folder);
    kernel = ridge_arm_kernel(arm);
    assert_string_equal(kernel->name, "block_sum");
    assert_int_equal(strlen(ridge_arm_code_hash(arm)), 32);
    ridge_arm_image(arm, &bytes, &count, &kind);
    assert_string_equal(kind, "manifest");
    assert_non_null(bytes);
    assert_int_equal(ridge_arm_axis_values(arm, "n", &count)[1], 12);
    assert_int_equal(count, 2);
    ridge_arm_case(arm, &at);
    assert_int_equal(at.dtype, RIDGE_DTYPE_F32);
    assert_int_equal(ridge_case_set(&at, "n", 3, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &count, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_work_of(kernel, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count == 3 && isnan(work.read_bytes));
    assert_int_equal(ridge_kernel_prepare(kernel, &at, &launch, &prepared, NULL, &err),
                     RIDGE_ERR_NO_DEVICE);
    assert_non_null(strstr(err.text, "machine code runs on a GPU only"));
    assert_true((kernel->reference != NULL) == row->has_reference);
    if (row->has_reference) {
        if (kernel->reference(kernel, &at, &view, &err) != RIDGE_OK)
            fail_msg("%s", err.text);
        assert_true(y[0] == 2 && y[1] == -4 && y[2] == 6);
    }
    ridge_arm_free(arm);
    ridge_device_free(device);
}

static void manifest_memory_runs_out(void **state)
{
    const ridge_arm_options options = {.families = families};
    char folder[] = "/tmp/ridge-test-XXXXXX", name[64];
    ridge_device *const device = cpu();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_arm *arm = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_folder(folder, manifests[2].reference);
    snprintf(name, sizeof(name), "%s/k.json", folder);
    for (size_t nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_arm_open(device, name, &options, &arm, NULL);
        ridge_memory_fail_at(0);
        assert_true(nth < 1000);
        assert_true((arm == NULL) == (status != RIDGE_OK));
    }
    assert_int_equal(status, RIDGE_OK);
    ridge_arm_free(arm);
    remove_folder(folder);
    ridge_device_free(device);
}

/* -- Python ------------------------------------------------------------------------------------ */

static struct interpreter {
    int opened, closed;
    ridge_status answer;
} interpreter;

static ridge_status python_open(void *context, int arm, const char *module, const char *function,
                                ridge_case *base, const ridge_kernel **kernel, ridge_error *err)
{
    static const ridge_kernel callable = {.struct_size = sizeof(ridge_kernel), .name = "callable"};
    struct interpreter *const self = context;

    assert_int_equal(arm, 1);
    assert_string_equal(module, "pkg.mod");
    assert_string_equal(function, "f");
    if (self->answer != RIDGE_OK)
        return ridge_fail(err, self->answer, "no module pkg");
    self->opened++;
    base->dtype = RIDGE_DTYPE_F16;
    *kernel = &callable;
    return RIDGE_OK;
}

static void python_close(void *context, int arm)
{
    assert_int_equal(arm, 1);
    ((struct interpreter *)context)->closed++;
}

static void opens_python(void **state)
{
    const ridge_arm_python python = {python_open, python_close, &interpreter};
    const ridge_arm_options options = {.python = &python, .python_arm = 1};
    ridge_device *const device = cpu();
    ridge_error err = {0};
    ridge_case base;
    ridge_arm *arm;
    size_t count;

    (void)state;
    interpreter = (struct interpreter){0};
    assert_int_equal(ridge_arm_open(device, "python:pkg.mod:f", &options, &arm, &err), RIDGE_OK);
    assert_string_equal(ridge_arm_kernel(arm)->name, "callable");
    assert_string_equal(ridge_arm_code_hash(arm), "");
    ridge_arm_case(arm, &base);
    assert_int_equal(base.axis_count, 0); /* any axis may be set */
    assert_int_equal(ridge_arm_dtypes(arm, &count)[0], RIDGE_DTYPE_F16);
    ridge_arm_free(arm);
    assert_int_equal(interpreter.closed, 1);

    interpreter.answer = RIDGE_ERR_IO;
    assert_int_equal(ridge_arm_open(device, "python:pkg.mod:f", &options, &arm, &err),
                     RIDGE_ERR_IO);
    assert_string_equal(err.text, "no module pkg");
    assert_null(arm);
    assert_int_equal(interpreter.opened, interpreter.closed);
    ridge_device_free(device);
}

/* A profile, and a manifest of the cubin that it carries, are of one code. */
static void code_in_a_profile(void **state)
{
    char folder[] = "/tmp/ridge-test-XXXXXX", path[64];
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    const ridge_report_kernel *kernel;
    const ridge_module *module;
    ridge_report *report;
    const char *name;
    ridge_code code;
    ridge_arm *arm;
    FILE *file;

    (void)state;
    if (ridge_report_open(RIDGE_SOURCE_DIR "/tests/data/ladder/stride_128.ncu-rep.zst", &report,
                          &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    kernel = ridge_report_kernel_at(report, 0);
    module = ridge_report_kernel_module(kernel);
    name = ridge_report_kernel_get_info(kernel)->mangled_name;
    assert_true(module != NULL && name != NULL);
    assert_int_equal(ridge_code_of(module->binary, module->binary_bytes, name, &code, &err),
                     RIDGE_OK);
    assert_int_equal(strlen(code.hash), 32);

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/sample.cubin", folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(module->binary, 1, module->binary_bytes, file), module->binary_bytes);
    fclose(file);
    snprintf(path, sizeof(path), "%s/k.json", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"schema\": \"ridge-kernel/1\", \"image\": \"sample.cubin\", \"entry\": \"%s\","
            " \"grid\": [1], \"block\": [256], \"args\": ["
            "{\"name\": \"in\", \"role\": \"in\", \"dtype\": \"bf16\", \"shape\": [64]},"
            "{\"name\": \"out\", \"role\": \"out\", \"dtype\": \"f32\", \"shape\": [64]},"
            "{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"i32\", \"value\": 1}]}",
            name);
    fclose(file);
    if (ridge_arm_open(device, path, NULL, &arm, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    remove_folder(folder);
    assert_string_equal(ridge_arm_code_hash(arm), code.hash);
    assert_string_equal(ridge_arm_code(arm)->arch, "sm_90");
    ridge_arm_free(arm);
    ridge_report_free(report);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, parses, names);
    CASES_ADD_ROWS(&list, rejects, bads);
    cases_add(&list, "names that are too long", long_names, NULL);
    cases_add(&list, "families and variants", opens_families, NULL);
#ifdef __linux__
    cases_add(&list, "the code of variants for the CPU", tells_variants_of_the_cpu, NULL);
#endif
    cases_add(&list, "a reference of a family", borrows_reference, NULL);
    cases_add(&list, "a call by a family", call_by_family, NULL);
    CASES_ADD_ROWS(&list, opens_manifest, manifests);
    cases_add(&list, "the code in a profile", code_in_a_profile, NULL);
    cases_add(&list, "memory that runs out", manifest_memory_runs_out, NULL);
    cases_add(&list, "a callable of Python", opens_python, NULL);
    return cases_run(&list, "arm");
}
