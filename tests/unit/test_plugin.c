/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

#include "arm/arm_internal.h"

static char *plugin(const char *name, char path[512])
{
    snprintf(path, 512, "%s/%s", RIDGE_TEST_PLUGINS, name);
    return path;
}

static ridge_device *cpu(void)
{
    ridge_device *device;

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    return device;
}

static struct bad {
    const char *name, *text, *message;
    ridge_status status;
} bads[] = {
    {"no such file", "none.so", "cannot be opened: No such file", RIDGE_ERR_IO},
    {"no kernel of that name", "right.so:thrice", "no kernel 'thrice', there are: twice, double",
     RIDGE_ERR_INVALID_ARGUMENT},
    {"two kernels and no name", "right.so",
     "2 kernels, expected LIBRARY:NAME with one of twice, double", RIDGE_ERR_INVALID_ARGUMENT},
    {"another ABI", "other_abi.so:twice", "ridge_plugin(1, 0) gives no kernel",
     RIDGE_ERR_UNSUPPORTED},
    {"no entry point", "no_entry.so:twice", "exports no ridge_plugin(): export it",
     RIDGE_ERR_FORMAT},
    {"no entry point, the other way", "no_entry.so:twice", "call a plain function: --call 'NAME(",
     RIDGE_ERR_FORMAT},
    {"NULL at once", "nothing.so:twice", "gives no kernel: it has none, or was built for another",
     RIDGE_ERR_UNSUPPORTED},
    {"a short structure", "short.so:twice", "struct_size of kernel 0 is 72, expected at least",
     RIDGE_ERR_FORMAT},
    {"a kernel without a name", "no_name.so:twice", "kernel 0 has no name", RIDGE_ERR_FORMAT},
    {"an axis that is none", "bad_axis.so:twice", "axis 1 of kernel twice: \"no good\" cannot name",
     RIDGE_ERR_FORMAT},
    {"a kernel without launch", "no_launch.so:twice", "kernel twice has no launch",
     RIDGE_ERR_FORMAT},
};

static void rejects(void **state)
{
    const struct bad *const bad = *state;
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    ridge_arm *arm;
    char path[512];

    assert_int_equal(ridge_arm_open(device, plugin(bad->text, path), NULL, &arm, &err),
                     bad->status);
    assert_null(arm);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    ridge_device_free(device);
}

/* What is no library under the name of one: other bytes, or a library up to a byte. */
static struct no_library {
    const char *name;
    const char *text; /* NULL: of the plug-in */
    size_t size_bytes;
    const char *message;
} no_libraries[] = {
    {"empty", "", 0, "no ELF file"},
    {"text", "no library", 10, "no ELF file"},
    {"cut in the magic", NULL, 3, "no ELF file"},
    {"cut in the header", NULL, 63, "is cut short: 63 bytes"},
    {"cut in the program headers", NULL, 100, "program headers lie beyond its 100 bytes"},
    {"cut in a segment", NULL, 4096, "the file has 4096"},
};

static void refuses_no_library(void **state)
{
    const struct no_library *const test = *state;
    char folder[] = "/tmp/ridge-test-XXXXXX", path[64], whole[512], bytes[4096];
    FILE *file = test->text == NULL ? fopen(plugin("right.so", whole), "rb") : NULL;
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    ridge_arm *arm;

    if (file != NULL) {
        assert_int_equal(fread(bytes, 1, test->size_bytes, file), test->size_bytes);
        fclose(file);
    } else {
        memcpy(bytes, test->text, test->size_bytes);
    }
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.so", folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, test->size_bytes, file), test->size_bytes);
    fclose(file);
    assert_int_equal(ridge_arm_open(device, path, NULL, &arm, &err), RIDGE_ERR_FORMAT);
    unlink(path);
    rmdir(folder);
    if (strstr(err.text, test->message) == NULL || strstr(err.text, ".ridge-") != NULL)
        fail_msg("%s", err.text);
    ridge_device_free(device);
}

/* Runs y = FACTOR * x on three numbers; the first of y. */
static float run(const ridge_arm *arm)
{
    const ridge_kernel *const kernel = ridge_arm_kernel(arm);
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    float y[3] = {0}, x[3] = {1.5F, 2, 3};
    void *const data[] = {y, x};
    ridge_view view = {data, buffers, 0, NULL};
    ridge_case at;
    void *prepared;

    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_set(&at, "n", 3, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_prepare(kernel, &at, &view, &prepared, NULL, NULL), RIDGE_OK);
    assert_int_equal(kernel->launch(kernel, &at, &view, prepared, NULL, NULL), RIDGE_OK);
    ridge_kernel_finish(kernel, prepared);
    assert_float_equal(y[2], 2 * y[0], 1e-6);
    return y[0];
}

static void copy_file(const char *from, const char *to)
{
    file_bytes file = support_read(from);
    FILE *const out = fopen(to, "wb");

    assert_non_null(file.data);
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
    fclose(out);
    support_release(&file);
}

/* A library that is rebuilt in place is the new one, while the old one is still open. */
static void rebuilt_library(void **state)
{
    char folder[] = "/tmp/ridge-test-XXXXXX", path[64], from[512], name[80];
    ridge_device *const device = cpu();
    ridge_arm *old, *new;
    const void *bytes;
    const char *kind;
    size_t size_bytes;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.so", folder);
    snprintf(name, sizeof(name), "%s:twice", path);
    copy_file(plugin("right.so", from), path);
    assert_int_equal(ridge_arm_open(device, name, NULL, &old, NULL), RIDGE_OK);
    copy_file(plugin("changed.so", from), path); /* the same inode */
    assert_int_equal(ridge_arm_open(device, name, NULL, &new, NULL), RIDGE_OK);
    unlink(path);
    rmdir(folder);
    assert_float_equal(run(old), 3.0, 0);
    assert_float_equal(run(new), 4.5, 0);
    assert_string_not_equal(ridge_arm_code_hash(old), ridge_arm_code_hash(new));
    assert_int_equal(strlen(ridge_arm_code_hash(new)), 32);
    assert_string_equal(ridge_arm_text(old), name);
    ridge_arm_image(old, &bytes, &size_bytes, &kind);
    assert_string_equal(kind, "library");
    assert_memory_equal(bytes,
                        "\x7f"
                        "ELF",
                        4);
    ridge_arm_free(old);
    ridge_arm_free(new);
    ridge_device_free(device);
}

/* Nothing is left in the folder of temporary files. */
static void leaves_nothing(void **state)
{
    char folder[] = "/tmp/ridge-test-XXXXXX", path[512], name[600];
    ridge_device *const device = cpu();
    ridge_arm *arm;
    struct dirent *entry;
    size_t count = 0;
    DIR *listing;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    snprintf(name, sizeof(name), "%s:double", plugin("right.so", path));
    assert_int_equal(ridge_arm_open(device, name, NULL, &arm, NULL), RIDGE_OK);
    listing = opendir(folder);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        count++;
    closedir(listing);
    assert_int_equal(count, 2); /* . and .. */
    assert_float_equal(run(arm), 3.0, 0);
    ridge_arm_free(arm);
    assert_int_equal(rmdir(folder), 0);

    /* The folder is gone: the message says where it was. */
    {
        ridge_error err = {RIDGE_OK, ""};

        assert_int_equal(ridge_arm_open(device, name, NULL, &arm, &err), RIDGE_ERR_IO);
        assert_non_null(strstr(err.text, "no copy to load can be made in /tmp/ridge-test-"));
    }
    unsetenv("TMPDIR");
    ridge_device_free(device);
}

static void memory_runs_out(void **state)
{
    ridge_device *const device = cpu();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_arm *arm = NULL;
    char path[512], name[600];

    (void)state;
    snprintf(name, sizeof(name), "%s:twice", plugin("right.so", path));
    for (size_t nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_arm_open(device, name, NULL, &arm, NULL);
        ridge_memory_fail_at(0);
        assert_true(nth < 1000);
        assert_true((arm == NULL) == (status != RIDGE_OK));
    }
    assert_int_equal(status, RIDGE_OK);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

/* The example of examples/plugin: its reference and its launch agree. */
static void example(void **state)
{
    enum { M = 3, N = 7 };
    ridge_device *const device = cpu();
    ridge_arm *arm;
    const ridge_kernel *kernel;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    float out[M * N], x[M * N], w[N];
    double right[M * N], magnitude[M * N], xs[M * N], ws[N];
    void *const data[] = {out, x, w};
    const double *const in[] = {NULL, xs, ws};
    double *const result[] = {right, NULL, NULL}, *const sums[] = {magnitude, NULL, NULL};
    ridge_view view = {data, buffers, 0, NULL};
    ridge_reference_view reference = {in, result, sums, buffers, 3};
    ridge_case at;
    size_t count;

    (void)state;
    assert_int_equal(ridge_arm_open(device, RIDGE_TEST_EXAMPLE ":rms_norm", NULL, &arm, NULL),
                     RIDGE_OK);
    kernel = ridge_arm_kernel(arm);
    ridge_arm_case(arm, &at);
    assert_int_equal(at.axis_count, 2);
    assert_int_equal(ridge_arm_dtypes(arm, &count)[0], RIDGE_DTYPE_F32);
    assert_int_equal(count, 1);
    assert_int_equal(ridge_case_parse("k=3", &at, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_case_parse("m=3,n=7", &at, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL), RIDGE_OK);
    for (int i = 0; i < M * N; i++)
        xs[i] = (double)(x[i] = (float)(i % 5) - 2);
    for (int i = 0; i < N; i++)
        ws[i] = (double)(w[i] = (float)i);
    assert_int_equal(kernel->launch(kernel, &at, &view, NULL, NULL, NULL), RIDGE_OK);
    assert_int_equal(kernel->reference(kernel, &at, &reference, NULL), RIDGE_OK);
    for (int i = 0; i < M * N; i++)
        assert_true(fabs((double)out[i] - right[i]) <= 1e-6 * magnitude[i]);
    at.dtype = RIDGE_DTYPE_BF16;
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL),
                     RIDGE_ERR_UNSUPPORTED);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

/* What a plug-in of before says is not read behind its end. */
static void takes_an_older_kernel(void **state)
{
    ridge_device *const device = cpu();
    char path[512];
    ridge_arm *arm;
    ridge_case at;

    (void)state;
    assert_int_equal(ridge_arm_open(device, plugin("old.so:twice", path), NULL, &arm, NULL),
                     RIDGE_OK);
    ridge_arm_case(arm, &at);
    assert_int_equal(at.axis_count, 0);
    assert_int_equal(at.dtype, RIDGE_DTYPE_BF16);
    assert_int_equal(ridge_arm_tile(arm), 0);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bads);
    CASES_ADD_ROWS(&list, refuses_no_library, no_libraries);
    cases_add(&list, "a library rebuilt in place", rebuilt_library, NULL);
    cases_add(&list, "no copy is left", leaves_nothing, NULL);
    cases_add(&list, "memory that runs out", memory_runs_out, NULL);
    cases_add(&list, "the example", example, NULL);
    cases_add(&list, "a kernel built before axes", takes_an_older_kernel, NULL);
    return cases_run(&list, "plugin");
}
