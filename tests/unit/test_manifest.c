/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include "arm/arm_internal.h"

/* A manifest of few members, one of which a row replaces. */
#define HEAD "{\"schema\": \"ridge-kernel/1\", \"image\": \"a.cubin\", \"entry\": \"k\""
#define LAUNCH ", \"grid\": [1], \"block\": [32]"
#define ARGS ", \"args\": []"

static ridge_status parse(const char *text, ridge_arena *arena, arm_manifest *out, ridge_error *err)
{
    ridge_document document;
    ridge_status status = ridge_document_parse(text, strlen(text), &document, err);

    if (status != RIDGE_OK)
        return status;
    status = arm_manifest_read(document.root, arena, out, err);
    ridge_document_release(&document);
    return status;
}

static struct bad {
    const char *name, *text, *message;
} bads[] = {
    {"no schema", "{}", "schema is absent, expected a text"},
    {"another schema", "{\"schema\": \"ridge-chip/1\"}",
     "schema is \"ridge-chip/1\", expected \"ridge-kernel/1\""},
    {"a misspelled member", HEAD ", \"girt\": [1]}", "\"girt\" is no member, there are: schema"},
    {"no image", "{\"schema\": \"ridge-kernel/1\"}", "image is absent, expected a text"},
    {"an image that is no text", "{\"schema\": \"ridge-kernel/1\", \"image\": 3}",
     "image is 3, expected a text"},
    {"no grid", HEAD "}", "grid is absent, expected an array of 1 to 3 expressions"},
    {"a grid of four", HEAD ", \"grid\": [1, 1, 1, 1]}",
     "grid is an array, expected an array of at most 3 expressions"},
    {"half a block", HEAD ", \"grid\": [1.5]}",
     "grid[0] is neither a whole number nor the text of an expression"},
    {"no args", HEAD LAUNCH "}", "args is absent, expected an array with one object for each"},
    {"an axis that is negative", HEAD ", \"axes\": {\"m\": -1}" LAUNCH ARGS "}",
     "axes.m is a number, expected a whole number from 0 or an array"},
    {"an axis without values", HEAD ", \"axes\": {\"m\": []}" LAUNCH ARGS "}",
     "axes.m is an array, expected a whole number from 0"},
    {"an axis with a dot", HEAD ", \"axes\": {\"x.m\": 1}" LAUNCH ARGS "}",
     "axes.x.m: 'x.m' is no name"},
    {"an axis with a long name",
     HEAD ", \"axes\": {\"abcdefghijklmnopqrstuvwxyz\": 1}" LAUNCH ARGS "}",
     "has 26 characters, expected at most 23"},
    {"axes that are no object", HEAD ", \"axes\": [1]" LAUNCH ARGS "}", "axes is no object"},
    {"a let that is an axis", HEAD ", \"axes\": {\"m\": 1}, \"let\": {\"m\": 2}" LAUNCH ARGS "}",
     "let.m is also the name of an axis"},
    {"a let of a later one", HEAD ", \"let\": {\"a\": \"b\", \"b\": 2}" LAUNCH ARGS "}",
     "let.a: 'b', column 1: unknown name 'b'"},
    {"a let of null", HEAD ", \"let\": {\"a\": null}" LAUNCH ARGS "}",
     "let.a is absent, expected an expression"},
    {"a name that there is not",
     HEAD ", \"axes\": {\"m\": 4, \"n\": 8}, \"grid\": [\"m*q\"], \"block\": [32]" ARGS "}",
     "grid[0]: 'm*q', column 3: unknown name 'q', there are m, n (with the first value of each"},
    {"a block of too many threads", HEAD ", \"grid\": [1], \"block\": [1024, 2]" ARGS "}",
     "block has 2048 threads, expected at most 1024"},
    {"a block of none", HEAD ", \"grid\": [1], \"block\": [0]" ARGS "}",
     "block[0]: '0' is 0, expected 1 to 1024"},
    {"a grid that clusters do not divide",
     HEAD ", \"grid\": [3], \"block\": [32], \"cluster\": [2]" ARGS "}",
     "grid[0] is 3, expected a multiple of the cluster's 2"},
    {"an overflow",
     HEAD ", \"axes\": {\"m\": 9223372036854775807}, \"grid\": [\"m*m\"], \"block\": [1]" ARGS "}",
     "grid[0]: 'm*m', column 2: the value does not fit 64 bits"},
    {"pdl as a number", HEAD LAUNCH ", \"pdl\": 1" ARGS "}", "pdl is 1, expected true or false"},
    {"a dtype", HEAD LAUNCH ", \"dtype\": \"bf61\"" ARGS "}",
     "dtype is \"bf61\", expected one of f64 f32 f16"},
    {"buffers that are no array", HEAD LAUNCH ", \"buffers\": {}" ARGS "}",
     "buffers is an object, expected an array of buffers"},
    {"a buffer that is a scalar",
     HEAD LAUNCH ", \"buffers\": [{\"name\": \"x\", \"role\": \"scalar\"}]" ARGS "}",
     "buffers[0].role is \"scalar\", expected in, out, inout or workspace"},
    {"an argument that is no object", HEAD LAUNCH ", \"args\": [3]}", "args[0] is no object"},
    {"an argument without a role", HEAD LAUNCH ", \"args\": [{\"name\": \"x\"}]}",
     "args[0].role is absent, expected a text"},
    {"an unknown role", HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in|out\"}]}",
     "args[0].role is \"in|out\", expected in, out, inout, workspace, pointer, scalar"},
    {"an argument without a name", HEAD LAUNCH ", \"args\": [{\"role\": \"in\"}]}",
     "args[0].name is absent"},
    {"an unknown member of an argument",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"typ\": 1}]}",
     "args[0]: \"typ\" is no member, there are: name role dtype"},
    {"a buffer without a type", HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\"}]}",
     "args[0].dtype is absent"},
    {"a buffer without a shape",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\"}]}",
     "args[0].shape is absent, expected an array such as"},
    {"a shape to be filled in",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": "
                 "[\"?\"]}]}",
     "args[0].shape[0]: '?', column 1: expected a number, a name or '(', found '?'"},
    {"strides that do not fit the shape",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": "
                 "[3], \"stride\": [1, 1]}]}",
     "args[0].stride has 2 elements, expected one for each of the shape's 1"},
    {"a negative extent",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": "
                 "[\"1-3\"]}]}",
     "args[0].shape[0]: '1-3' is -2, expected 0 to"},
    {"values that there are not",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": "
                 "[3], \"values\": \"ramp\"}]}",
     "args[0].values is \"ramp\", expected one of normal int"},
    {"two buffers of a name",
     HEAD LAUNCH ", \"args\": [{\"name\": \"x\", \"role\": \"in\", \"dtype\": \"f32\", \"shape\": "
                 "[3]}, {\"name\": \"x\", \"role\": \"out\", \"dtype\": \"f32\", \"shape\": [3]}]}",
     "args[1]: there are two buffers 'x'"},
    {"a scalar without a value",
     HEAD LAUNCH ", \"args\": [{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"i32\"}]}",
     "args[0].value is absent, expected a number or an expression"},
    {"half an integer",
     HEAD LAUNCH ", \"args\": [{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"i32\", "
                 "\"value\": 1.5}]}",
     "args[0].value is a number, expected a whole number or an expression"},
    {"a scalar that does not fit",
     HEAD LAUNCH ", \"args\": [{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"u8\", "
                 "\"value\": 256}]}",
     "args[0].value: '256' is 256, expected 0 to 255"},
    {"a size that the role has not",
     HEAD LAUNCH ", \"args\": [{\"name\": \"n\", \"role\": \"scalar\", \"dtype\": \"i32\", "
                 "\"value\": 1, \"bytes\": 8}]}",
     "args[0].bytes is 8, but scalar takes 4"},
    {"hex of odd length",
     HEAD LAUNCH ", \"args\": [{\"name\": \"n\", \"role\": \"raw\", \"hex\": \"abc\"}]}",
     "args[0].hex is \"abc\", expected bytes as pairs of hexadecimal digits"},
    {"a map of no buffer",
     HEAD LAUNCH ", \"args\": [{\"name\": \"t\", \"role\": \"tensor_map\", \"tensor\": \"x\", "
                 "\"box\": [1]}]}",
     "args[0].tensor is \"x\", expected the name of a buffer that stands before it"},
    {"a structure without a size",
     HEAD LAUNCH ", \"args\": [{\"name\": \"p\", \"role\": \"struct\", \"fields\": []}]}",
     "args[0].bytes is absent, expected the size of the structure"},
    {"a field behind the end",
     HEAD LAUNCH ", \"args\": [{\"name\": \"p\", \"role\": \"struct\", \"bytes\": 8, \"fields\": "
                 "[{\"role\": \"pointer\", \"offset\": 4}]}]}",
     "args[0].fields[0] has 8 bytes at 4, behind the end of the structure's 8"},
    {"fields that overlap",
     HEAD LAUNCH
     ", \"args\": [{\"name\": \"p\", \"role\": \"struct\", \"bytes\": 16, \"fields\": "
     "[{\"role\": \"pointer\", \"offset\": 0}, {\"role\": \"pointer\", \"offset\": 4}]}]}",
     "args[0].fields[1].offset is 4, expected at least 8, the end of the field before"},
    {"a structure in a structure",
     HEAD LAUNCH ", \"args\": [{\"name\": \"p\", \"role\": \"struct\", \"bytes\": 8, \"fields\": "
                 "[{\"role\": \"struct\", \"offset\": 0}]}]}",
     "args[0].fields[0].role is \"struct\", expected in, out"},
    {"a requirement that does not hold for the base case",
     HEAD ", \"axes\": {\"n\": 7}, \"requires\": [\"n % 8 == 0\"]" LAUNCH ARGS "}",
     "requires[0]: n % 8 == 0 does not hold (with the first value of each axis)"},
    {"an unknown member of work", HEAD LAUNCH ARGS ", \"work\": {\"flops\": 1}}",
     "work: \"flops\" is no member, there are: bytes_read"},
    {"an unknown peak", HEAD LAUNCH ARGS ", \"work\": {\"peak\": \"bf16\"}}",
     "work.peak is \"bf16\", expected one of 'none' 'fp64' 'fp32'"},
    {"a reference of nothing", HEAD LAUNCH ARGS ", \"reference\": {}}",
     "reference has neither family nor arm"},
    {"a row axis that is none", HEAD LAUNCH ARGS ", \"row_axis\": \"m\"}",
     "row_axis is \"m\", which is no axis"},
};

static void rejects(void **state)
{
    static arm_manifest manifest;
    const struct bad *const bad = *state;
    ridge_error err = {RIDGE_OK, ""};
    ridge_arena arena;

    ridge_arena_init(&arena);
    assert_int_equal(parse(bad->text, &arena, &manifest, &err), RIDGE_ERR_FORMAT);
    ridge_arena_release(&arena);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static char *seed(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/manifest/%s", RIDGE_SOURCE_DIR, name);
    return support_text(support_read(path));
}

static void read_seed(const char *name, ridge_arena *arena, arm_manifest *out)
{
    char *const text = seed(name);
    ridge_error err = {RIDGE_OK, ""};

    ridge_arena_init(arena);
    if (parse(text, arena, out, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    free(text);
}

/* From a case to buffers and a launch. */
static void case_to_buffers(void **state)
{
    static arm_manifest manifest;
    ridge_arena arena;
    ridge_case at;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    arm_values values;
    arm_launch launch;
    ridge_error err;
    size_t count;

    (void)state;
    read_seed("rms_norm.json", &arena, &manifest);
    arm_signature_case(&manifest.signature, &at);
    assert_int_equal(at.axis_count, 2);
    assert_int_equal(ridge_case_axis(&at, "m", -1), 1);
    assert_int_equal(ridge_case_axis(&at, "n", -1), 5120);
    assert_int_equal(at.dtype, RIDGE_DTYPE_BF16);
    assert_int_equal(manifest.signature.axes[0].value_count, 3);

    assert_int_equal(ridge_case_set(&at, "m", 128, NULL), RIDGE_OK);
    at.layout = RIDGE_LAYOUT_PADDED;
    assert_int_equal(arm_signature_describe(&manifest.signature, &at, buffers, &count, NULL),
                     RIDGE_OK);
    assert_int_equal(ridge_buffers_lay_out(&at, buffers, count, NULL), RIDGE_OK);
    assert_int_equal(count, 3);
    assert_string_equal(buffers[0].name, "out");
    assert_int_equal(buffers[0].role, RIDGE_ROLE_OUT);
    assert_int_equal(buffers[0].shape[0], 128);
    assert_int_equal(buffers[0].stride[0], 5120); /* nothing tells the kernel its stride */
    assert_int_equal(buffers[1].stride[0], 5128); /* ld is x.stride0 */
    assert_true(buffers[1].has_values && buffers[1].values == RIDGE_VALUES_OUTLIER);
    assert_int_equal(buffers[2].stride[0], 1);

    assert_int_equal(arm_values_of(&manifest.signature, &at, buffers, &values, NULL), RIDGE_OK);
    assert_int_equal(arm_manifest_launch(&manifest, &values, &launch, NULL), RIDGE_OK);
    assert_int_equal(launch.launch.grid[0], 128);
    assert_int_equal(launch.launch.grid[1], 1);
    assert_int_equal(launch.launch.block[0], 640);
    assert_int_equal(launch.launch.cluster[2], 1);
    assert_int_equal(launch.launch.dynamic_shared_bytes, 10240);
    assert_true(launch.launch.programmatic_dependent_launch);
    assert_false(launch.is_empty);

    /* Refusals. */
    assert_int_equal(ridge_case_set(&at, "n", 5121, NULL), RIDGE_OK);
    assert_int_equal(arm_signature_describe(&manifest.signature, &at, buffers, &count, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "requires[0]: n % 8 == 0 does not hold"));
    assert_int_equal(count, 0);
    at.dtype = RIDGE_DTYPE_F16;
    assert_int_equal(arm_signature_describe(&manifest.signature, &at, buffers, &count, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "compiled for bf16, not for f16"));

    /* Nothing is launched for nothing. */
    arm_signature_case(&manifest.signature, &at);
    assert_int_equal(ridge_case_set(&at, "m", 0, NULL), RIDGE_OK);
    assert_int_equal(arm_values_of(&manifest.signature, &at, NULL, &values, NULL), RIDGE_OK);
    assert_int_equal(arm_manifest_launch(&manifest, &values, &launch, NULL), RIDGE_OK);
    assert_true(launch.is_empty);
    ridge_arena_release(&arena);
}

static void layouts_are_refused_without_strides(void **state)
{
    static arm_manifest manifest;
    ridge_arena arena;
    ridge_case at;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_error err;
    size_t count;

    (void)state;
    read_seed("tensor_map.json", &arena, &manifest);
    arm_signature_case(&manifest.signature, &at);
    at.layout = RIDGE_LAYOUT_TRANSPOSED;
    assert_int_equal(arm_signature_describe(&manifest.signature, &at, buffers, &count, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "layout transposed: no parameter is told a stride"));
    ridge_arena_release(&arena);
}

/* The bytes of parameters: the structure's fields at their offsets, pointers, raw bytes. */
static void packs(void **state)
{
    static arm_manifest manifest;
    ridge_arena arena;
    ridge_case at;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    arm_values values;
    arm_packed packed;
    size_t count;
    uint8_t memory[4];
    void *const data[] = {&memory[0], &memory[1], &memory[2]};
    void *pointer;
    uint32_t k;

    (void)state;
    read_seed("tensor_map.json", &arena, &manifest);
    arm_signature_case(&manifest.signature, &at);
    assert_int_equal(arm_signature_describe(&manifest.signature, &at, buffers, &count, NULL),
                     RIDGE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ridge_buffers_lay_out(&at, buffers, count, NULL), RIDGE_OK);
    assert_int_equal(arm_values_of(&manifest.signature, &at, buffers, &values, NULL), RIDGE_OK);
    assert_int_equal(arm_signature_pack(&manifest.signature, &values, NULL, data, &packed, NULL),
                     RIDGE_OK);
    assert_int_equal(manifest.signature.parameter_count, 5);
    assert_int_equal((uintptr_t)packed.parameters[2] % 64, 0);
    memcpy(&pointer, packed.parameters[0], sizeof(pointer));
    assert_ptr_equal(pointer, &memory[0]);
    memcpy(&pointer, packed.parameters[1], sizeof(pointer));
    assert_ptr_equal(pointer, &memory[1]);
    memcpy(&pointer, (uint8_t *)packed.parameters[1] + 8, sizeof(pointer));
    assert_ptr_equal(pointer, &memory[1]);
    memcpy(&pointer, (uint8_t *)packed.parameters[1] + 16, sizeof(pointer));
    assert_null(pointer);
    memcpy(&k, (uint8_t *)packed.parameters[1] + 24, sizeof(k));
    assert_int_equal(k, 64);
    assert_memory_equal((uint8_t *)packed.parameters[1] + 28, "\x00\xff\x00\x00", 4);
    memcpy(&pointer, (uint8_t *)packed.parameters[1] + 32, sizeof(pointer));
    assert_ptr_equal(pointer, &memory[2]);
    assert_memory_equal(packed.parameters[4], "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
    arm_packed_release(&packed);
    ridge_arena_release(&arena);
}

/* -- against a binary -------------------------------------------------------------------------- */

/* sample.cu: block_sum(const float *in, float *out, int n). */
static struct fit {
    const char *name, *entry, *args, *message;
    int sm;
} fits[] = {
    {"a manifest that fits", "block_sum", "POINTER, POINTER, INT", NULL},
    {"a GPU that runs it", "block_sum", "POINTER, POINTER, INT", NULL, 90},
    {"a GPU that does not", "block_sum", "POINTER, POINTER, INT",
     "sample has block_sum for sm_90, which sm_80 does not run", 80},
    {"one too few", "block_sum", "POINTER, POINTER",
     "args has 2 parameters, block_sum takes 3: parameter 2 at offset 16, 4 bytes, is missing"},
    {"one too many", "block_sum", "POINTER, POINTER, INT, INT",
     "args has 4 parameters, block_sum takes 3: args[3] (p3) is too many"},
    {"a pointer for an int", "block_sum", "POINTER, POINTER, POINTER",
     "args[2] (p2) is a pointer of 8 bytes, but parameter 2 of block_sum at offset 16 has 4 bytes"},
    {"an int for a pointer", "block_sum", "POINTER, INT, INT",
     "args[1] (p1) is a scalar of 4 bytes, but parameter 1 of block_sum at offset 8 has 8 bytes"},
    {"an offset of its own", "block_sum", "POINTER, POINTER, INT_AT_20",
     "args[2] (p2) is said to be at offset 20, but parameter 2 of block_sum is at 16"},
    {"another entry", "block_summ", "POINTER", "entry is \"block_summ\", sample has "},
};

static void compares_parameters(void **state)
{
    static arm_manifest manifest;
    const struct fit *const fit = *state;
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_error err = {RIDGE_OK, ""};
    ridge_image_kind kind;
    ridge_status status;

    memset(&manifest, 0, sizeof(manifest));
    manifest.entry = fit->entry;
    for (const char *at = fit->args; *at != '\0'; at += strcspn(at, " ,")) {
        static const char *const names[] = {"p0", "p1", "p2", "p3"};
        static const char *const paths[] = {"args[0]", "args[1]", "args[2]", "args[3]"};
        const size_t index = manifest.signature.parameter_count;
        arm_parameter *parameter;
        arm_piece *piece;

        at += strspn(at, " ,");
        parameter = arm_add_parameter(&manifest.signature, names[index], paths[index], NULL);
        piece = arm_add_piece(&manifest.signature, paths[index], NULL);
        piece->kind = *at == 'P' ? ARM_PIECE_POINTER : ARM_PIECE_SCALAR;
        parameter->size_bytes = *at == 'P' ? 8 : 4;
        if (strncmp(at, "INT_AT_20", 9) == 0)
            parameter->offset_bytes = 20;
    }
    status = arm_image_check(&manifest, file.data, file.size, "sample", fit->sm, &kind, &err);
    support_release(&file);
    if (fit->message == NULL && status != RIDGE_OK)
        fail_msg("%s", err.text);
    if (fit->message != NULL) {
        assert_int_equal(status, fit->sm > 0 ? RIDGE_ERR_ARCH : RIDGE_ERR_INVALID_ARGUMENT);
        if (strstr(err.text, fit->message) == NULL)
            fail_msg("%s", err.text);
    }
}

/* What ridge inspect --manifest writes is refused by its first "?", and read once all are filled
 * in. */
static void reads_a_skeleton(void **state)
{
    static const char *const fills[][2] = {
        {"\"n\": \"?\"", "\"n\":   7 "},
        {"\"?\"", " 1 "}, /* grid, block */
        {"\"?\"", " 32"},
        {"\"in|out|inout|workspace|scalar\"", "\"in\"                           "},
        {"\"?\"", "\"i8\""},
        {"\"?\"", "\"n\""},
        {"\"in|out|inout|workspace|scalar\"", "\"out\"                          "},
        {"\"?\"", "\"u8\""},
        {"\"?\"", "\"n\""},
        {"\"i32|u32|f32\"", "\"i32\"        "},
        {"\"?\"", "\"n\""},
    };
    static arm_manifest manifest;
    const char *const path = RIDGE_SOURCE_DIR "/tests/golden/inspect/manifest.out";
    char *const text = support_text(support_read(path));
    char filled[4096];
    size_t used = 0;
    const char *from = text;
    ridge_error err = {RIDGE_OK, ""};
    ridge_arena arena;

    (void)state;
    ridge_arena_init(&arena);
    assert_int_equal(parse(text, &arena, &manifest, &err), RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "axes.n is \"?\", expected a whole number from 0 or an array of "
                                  "at most 256 of them");
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        const char *const at = strstr(from, fills[i][0]);

        assert_non_null(at);
        used += (size_t)snprintf(filled + used, sizeof(filled) - used, "%.*s%s", (int)(at - from),
                                 from, fills[i][1]);
        from = at + strlen(fills[i][0]);
    }
    snprintf(filled + used, sizeof(filled) - used, "%s", from);
    if (parse(filled, &arena, &manifest, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(manifest.signature.parameter_count, 3);
    assert_int_equal(manifest.signature.parameters[2].offset_bytes, 16);
    ridge_arena_release(&arena);
    free(text);
}

static void memory_runs_out(void **state)
{
    static arm_manifest manifest;
    char *const text = seed("tensor_map.json");
    ridge_document document;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    assert_int_equal(ridge_document_parse(text, strlen(text), &document, NULL), RIDGE_OK);
    for (size_t nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_arena arena;

        ridge_arena_init(&arena);
        ridge_memory_fail_at(nth);
        status = arm_manifest_read(document.root, &arena, &manifest, NULL);
        ridge_memory_fail_at(0);
        ridge_arena_release(&arena);
        assert_true(nth < 1000);
    }
    assert_int_equal(status, RIDGE_OK);
    ridge_document_release(&document);
    free(text);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bads);
    CASES_ADD_ROWS(&list, compares_parameters, fits);
    cases_add(&list, "from a case to buffers and a launch", case_to_buffers, NULL);
    cases_add(&list, "a layout that nothing takes", layouts_are_refused_without_strides, NULL);
    cases_add(&list, "bytes of parameters", packs, NULL);
    cases_add(&list, "the skeleton of ridge inspect", reads_a_skeleton, NULL);
    cases_add(&list, "memory that runs out", memory_runs_out, NULL);
    return cases_run(&list, "manifest");
}
