/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include "base/hash.h"
#include "base/memory.h"
#include "ridge/image.h"

static void hash_of(file_bytes file, const char *entry, char out[RIDGE_HASH_TEXT])
{
    ridge_error err = {RIDGE_OK, ""};
    ridge_code code;

    if (ridge_code_of(file.data, file.size, entry, &code, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    memcpy(out, code.hash, RIDGE_HASH_TEXT);
}

static file_bytes plugin(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", RIDGE_TEST_PLUGINS, name);
    return support_read(path);
}

/* Where the instructions of a function stand in a cubin. */
static size_t code_at(file_bytes file, const char *entry, size_t *code_bytes)
{
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const function = ridge_cubin_function(cubin, entry);
    size_t at;

    assert_non_null(function);
    at = (size_t)(function->code - file.data);
    *code_bytes = function->code_bytes;
    ridge_cubin_free(cubin);
    return at;
}

static void instructions_count(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    char before[RIDGE_HASH_TEXT], after[RIDGE_HASH_TEXT], other[RIDGE_HASH_TEXT];
    size_t code_bytes, at;

    (void)state;
    hash_of(file, "block_sum", before);
    hash_of(file, "spill", other);
    assert_int_equal(strlen(before), 32);
    assert_string_not_equal(before, other);

    at = code_at(file, "spill", &code_bytes);
    file.data[at] ^= 1;
    hash_of(file, "block_sum", after);
    assert_string_equal(before, after); /* another kernel's code is not its */
    hash_of(file, "spill", after);
    assert_string_not_equal(other, after);
    file.data[at] ^= 1;

    at = code_at(file, "block_sum", &code_bytes);
    file.data[at + code_bytes - 1] ^= 1; /* the last byte counts too */
    hash_of(file, "block_sum", after);
    assert_string_not_equal(before, after);
    support_release(&file);
}

/* What the kernel takes, when it is one. */
static void resources(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const function = ridge_cubin_function(cubin, "spill");
    ridge_code code;

    (void)state;
    assert_int_equal(ridge_code_of(file.data, file.size, "spill", &code, NULL), RIDGE_OK);
    assert_string_equal(code.arch, "sm_90");
    assert_int_equal(code.registers_per_thread, function->registers_per_thread);
    assert_int_equal(code.local_bytes, function->local_bytes);
    assert_int_equal(code.static_shared_bytes, function->static_shared_bytes);
    assert_int_equal(code.code_bytes, function->code_bytes);
    assert_int_equal(ridge_code_of(file.data, file.size, NULL, &code, NULL), RIDGE_OK);
    assert_int_equal(code.registers_per_thread, -1); /* of several */
    assert_int_equal(ridge_code_of(file.data, file.size, "no_such", &code, NULL), RIDGE_OK);
    assert_string_equal(code.hash, "");
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void names_that_begin_so(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    char one[RIDGE_HASH_TEXT], next[RIDGE_HASH_TEXT];

    (void)state;
    hash_of(file, "block_sum", one);
    hash_of(file, "block_su*", next);
    assert_string_equal(one, next);
    hash_of(file, "*", one);
    hash_of(file, NULL, next);
    assert_string_equal(one, next);
    support_release(&file);
}

/* A fat binary that is packed otherwise, and one with lines, have the same code. */
static void packing_does_not_count(void **state)
{
    static const char *const names[] = {"tiny_none.fatbin.gz", "tiny_speed.fatbin.gz",
                                        "tiny_default.fatbin.gz", "tiny_size.fatbin.gz",
                                        "tiny.o.gz"};
    char first[RIDGE_HASH_TEXT], next[RIDGE_HASH_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        file_bytes file = support_data(names[i]);

        hash_of(file, NULL, next);
        support_release(&file);
        if (i == 0)
            memcpy(first, next, sizeof(first));
        assert_string_equal(first, next);
    }
}

static void host_code(void **state)
{
    file_bytes right = plugin("right.so"), again = plugin("right_again.so"),
               changed = plugin("changed.so");
    char first[RIDGE_HASH_TEXT], next[RIDGE_HASH_TEXT];

    (void)state;
    hash_of(right, NULL, first);
    hash_of(again, NULL, next);
    assert_string_equal(first, next);
    hash_of(changed, NULL, next);
    assert_string_not_equal(first, next);
    support_release(&right);
    support_release(&again);
    support_release(&changed);
}

#define PTX_HEAD ".version 8.8\n.target sm_90\n.address_size 64\n"
#define PTX_BODY ".visible .entry k(.param .u64 p)\n{\n  ret;\n}\n"

static struct ptx {
    const char *name, *text;
    bool is_same;
} ptxs[] = {
    {"blanks", PTX_HEAD "\n\n" PTX_BODY, true},
    {"tabs", PTX_HEAD ".visible\t.entry k(.param .u64 p)\n{\n\t ret;\n}\n", true},
    {"comments", "// a build\n/* of today */\n" PTX_HEAD PTX_BODY, true},
    {"lines",
     PTX_HEAD ".file 1 \"/home/me/k.cu\"\n"
              ".visible .entry k(.param .u64 p)\n{\n"
              "  .loc 1 3 0\n  ret;\n}\n",
     true},
    {"debug sections", PTX_HEAD PTX_BODY ".section .debug_str\n{\n.b8 1,2\n}\n", true},
    {"another instruction", PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n  exit;\n}\n", false},
    {"another target", ".version 8.8\n.target sm_80\n.address_size 64\n" PTX_BODY, false},
};

static void ptx_text(void **state)
{
    static const char plain[] = PTX_HEAD PTX_BODY;
    const struct ptx *const row = *state;
    ridge_code first, next;

    assert_int_equal(ridge_code_of(plain, strlen(plain), "k", &first, NULL), RIDGE_OK);
    assert_int_equal(ridge_code_of(row->text, strlen(row->text), "k", &next, NULL), RIDGE_OK);
    assert_int_equal(strlen(first.hash), 32);
    assert_string_equal(first.arch, "compute_90");
    assert_true((strcmp(first.hash, next.hash) == 0) == row->is_same);
}

static void no_code(void **state)
{
    ridge_code code;

    (void)state;
    assert_int_equal(ridge_code_of("text", 4, NULL, &code, NULL), RIDGE_OK);
    assert_string_equal(code.hash, "");
    assert_int_equal(ridge_code_of("", 0, NULL, &code, NULL), RIDGE_OK);
    assert_string_equal(code.hash, "");
    assert_int_equal(code.code_bytes, -1);
}

/* With nvcc: the same source in two folders, with and without lines, and a changed one. */
static void builds(void **state)
{
    static const char script[] =
        "NVCC=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || exit 9\n"
        "set -e; cd \"$1\"; mkdir a b\n"
        "printf 'extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= 2; }' > a/k.cu\n"
        "cp a/k.cu b/other.cu\n"
        "sed 's/2/3/' a/k.cu > a/changed.cu\n"
        "$NVCC -cubin -arch sm_90 -o one a/k.cu\n"
        "$NVCC -cubin -arch sm_90 -lineinfo -o two b/other.cu\n"
        "$NVCC -cubin -arch sm_90 -o three a/changed.cu\n";
    char folder[] = "/tmp/ridge-test-XXXXXX", command[1200], path[64];
    char hashes[3][RIDGE_HASH_TEXT];
    static const char *const names[] = {"one", "two", "three"};
    int status;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command), "set -- %s\n%s", folder, script);
    status = system(command);
    for (int i = 0; i < 3 && status == 0; i++) {
        file_bytes file;

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        file = support_read(path);
        hash_of(file, "k", hashes[i]);
        support_release(&file);
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (status != 0) {
        print_message("no nvcc\n");
        skip();
    }
    assert_string_equal(hashes[0], hashes[1]);
    assert_string_not_equal(hashes[0], hashes[2]);
}

static void memory_runs_out(void **state)
{
    file_bytes file = support_data("tiny_none.fatbin.gz");
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_code code;

    (void)state;
    for (size_t nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_code_of(file.data, file.size, NULL, &code, NULL);
        ridge_memory_fail_at(0);
        assert_true(nth < 1000);
        assert_true(status == RIDGE_OK || code.hash[0] == '\0');
    }
    assert_int_equal(status, RIDGE_OK);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, ptx_text, ptxs);
    cases_add(&list, "instructions count", instructions_count, NULL);
    cases_add(&list, "resources", resources, NULL);
    cases_add(&list, "names that begin so", names_that_begin_so, NULL);
    cases_add(&list, "packing does not count", packing_does_not_count, NULL);
    cases_add(&list, "code of the host", host_code, NULL);
    cases_add(&list, "no code", no_code, NULL);
    cases_add(&list, "builds of a source", builds, NULL);
    cases_add(&list, "memory that runs out", memory_runs_out, NULL);
    return cases_run(&list, "code_hash");
}
