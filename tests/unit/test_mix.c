/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of instructions against nvdisasm's text, and what an instruction computes. */
#include "sass_truth.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/mix.h"

/* ---- every row of the shared fixtures ---- */

enum { FUNCTION_MOST = 4096, NAMES_MOST = 256 };

typedef struct expected_mix {
    struct {
        char name[32];
        size_t count;
    } names[NAMES_MOST];
    size_t name_count;
    size_t widths[RIDGE_MIX_SPACES][2][RIDGE_MIX_WIDTHS];
} expected_mix;

static void expect_name(expected_mix *mix, const char *name)
{
    size_t i;

    for (i = 0; i < mix->name_count && strcmp(mix->names[i].name, name) != 0; i++)
        ;
    assert_true(i < NAMES_MOST);
    if (i == mix->name_count) {
        snprintf(mix->names[i].name, sizeof(mix->names[i].name), "%s", name);
        mix->names[mix->name_count++].count = 0;
    }
    mix->names[i].count++;
}

static void expect_width(expected_mix *mix, const sass_row *row)
{
    static const struct {
        const char *name;
        ridge_mix_space space;
        bool is_store;
    } accesses[] = {
        {"LDG", RIDGE_MIX_GLOBAL, false}, {"LD", RIDGE_MIX_GLOBAL, false},
        {"STG", RIDGE_MIX_GLOBAL, true},  {"ST", RIDGE_MIX_GLOBAL, true},
        {"LDS", RIDGE_MIX_SHARED, false}, {"STS", RIDGE_MIX_SHARED, true},
        {"LDL", RIDGE_MIX_LOCAL, false},  {"STL", RIDGE_MIX_LOCAL, true},
        {"STAS", RIDGE_MIX_SHARED, true}, {"LDGSTS", RIDGE_MIX_GLOBAL, false},
    };
    unsigned log2 = 0;
    size_t i;

    while (1u << (log2 + 1) <= truth_width(row))
        log2++;
    for (i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
        if (strcmp(accesses[i].name, row->name) == 0)
            mix->widths[accesses[i].space][accesses[i].is_store][log2]++;
    /* LDSM.16.MT88.4: a matrix is 4 bytes a lane. */
    if (strcmp(row->name, "LDSM") == 0 || strcmp(row->name, "STSM") == 0)
        mix->widths[RIDGE_MIX_SHARED][row->name[0] == 'S'][truth_has_modifier(row, "4")   ? 4
                                                           : truth_has_modifier(row, "2") ? 3
                                                                                          : 2]++;
}

static size_t count_named(const ridge_mix *mix, const char *name)
{
    const size_t length = strlen(name);
    size_t count = 0;
    size_t i;

    for (i = 0; i < mix->row_count; i++)
        if (strncmp(mix->rows[i].text, name, length) == 0 &&
            (mix->rows[i].text[length] == '\0' || mix->rows[i].text[length] == '.'))
            count += mix->rows[i].count;
    return count;
}

/* One function: rows of text and their words. Returns the number of rows that were compared. */
static size_t check_function(const char *section, const sass_row *rows, const uint8_t *code,
                             size_t count, int sm)
{
    static expected_mix expected;
    ridge_mix mix;
    size_t classes = 0;
    size_t i;

    assert_int_equal(ridge_mix_count(code, 16 * count, sm, NULL, RIDGE_MIX_WHOLE, &mix, NULL),
                     RIDGE_OK);
    assert_int_equal(mix.instruction_count + mix.padding_count, count);
    memset(&expected, 0, sizeof(expected));
    for (i = 0; i < count; i++) {
        if (i >= mix.instruction_count) {
            assert_true(strcmp(rows[i].name, "NOP") == 0 || strcmp(rows[i].name, "BRA") == 0);
            continue;
        }
        expect_name(&expected, rows[i].name);
        expect_width(&expected, &rows[i]);
    }
    for (i = 0; i < expected.name_count; i++)
        if (count_named(&mix, expected.names[i].name) != expected.names[i].count)
            fail_msg("%s: %zu %s, nvdisasm has %zu", section,
                     count_named(&mix, expected.names[i].name), expected.names[i].name,
                     expected.names[i].count);
    if (memcmp(mix.widths, expected.widths, sizeof(mix.widths)) != 0)
        fail_msg("%s: widths differ", section);
    for (i = 0; i < RIDGE_SASS_CLASS_COUNT; i++)
        classes += mix.classes[i];
    assert_int_equal(classes, mix.instruction_count);
    assert_int_equal(mix.classes[RIDGE_SASS_UNKNOWN], 0);
    ridge_mix_release(&mix);
    return count;
}

static void equals_disassembly(void **state)
{
    const truth_file *const file = *state;
    char *const text = support_text(support_shared(file->path));
    static sass_row rows[FUNCTION_MOST];
    static uint8_t code[16 * FUNCTION_MOST];
    char section[256] = "";
    size_t count = 0;
    size_t checked = 0;
    char *rest = text;
    const char *name;
    sass_row row;

    while (truth_next(&rest, &name, &row)) {
        if (count > 0 && strcmp(name, section) != 0) {
            checked += check_function(section, rows, code, count, file->sm);
            count = 0;
        }
        assert_true(count < FUNCTION_MOST);
        snprintf(section, sizeof(section), "%s", name);
        rows[count] = row;
        memcpy(code + 16 * count++, row.word, 16);
    }
    checked += check_function(section, rows, code, count, file->sm);
    assert_int_equal(checked, file->row_count);
    free(text);
}

/* ---- lines ---- */

/* The number behind "0x" at *at, with its sign; false: none. */
static bool read_hex(const char **at, int64_t *value)
{
    const char *start = *at;
    const bool is_negative = *start == '-';
    char *end;

    start += *start == '-' || *start == '+';
    if (start[0] != '0' || start[1] != 'x')
        return false;
    *value = strtoll(start, &end, 16) * (is_negative ? -1 : 1);
    *at = end;
    return true;
}

/* True when nvdisasm's text has the same 32 bits, as hexadecimal or as a decimal fraction. */
static bool has_number(const char *operands, int64_t value)
{
    const uint32_t bits = (uint32_t)value;
    const char *at;

    for (at = operands; *at != '\0'; at++) {
        const char *here = at;
        int64_t found;

        if ((at == operands || strchr(" -+[", at[-1]) != NULL) && read_hex(&here, &found) &&
            (uint32_t)found == bits)
            return true;
    }
    return false;
}

static bool has_float(const char *operands, double value)
{
    const char *at;

    for (at = operands; (at = strchr(at, ' ')) != NULL; at++) {
        char *end;
        const double found = strtod(at + 1, &end);

        if (end != at + 1 && fabs(found - value) <= 1e-7 * fabs(value))
            return true;
        if (isinf(value) && strstr(at, "INF") != NULL)
            return true;
        if (isnan(value) && strstr(at, "NAN") != NULL)
            return true;
    }
    return false;
}

/* One operand of a line against nvdisasm's text. */
static bool is_in(const char *operand, const sass_row *row)
{
    char text[64];
    char *colon;
    const char *number;
    int64_t value;

    snprintf(text, sizeof(text), "%s", operand);
    colon = strchr(text, ':');
    if (colon != NULL) { /* R4:7, [R4:5+0x10] */
        char *const rest = colon + 1 + strspn(colon + 1, "0123456789");

        memmove(colon, rest, strlen(rest) + 1);
    }
    if (text[0] == '[') {
        char *const at = strpbrk(text, "+-]");
        char *const sign = strpbrk(text + 1, "+-");

        if (strncmp(text, "[RZ", 3) != 0 && strncmp(text, "[R", 2) == 0) {
            char name[16];

            snprintf(name, sizeof(name), "%.*s", (int)(at - text - 1), text + 1);
            if (strstr(row->operands, name) == NULL)
                return false;
        }
        number = sign != NULL && sign[1] == 'U' ? strpbrk(sign + 1, "+-") : sign;
        if (sign != NULL && sign[1] == 'U' && strstr(row->operands, "UR") == NULL)
            return false;
        return number == NULL || (read_hex(&number, &value) && has_number(row->operands, value));
    }
    number = text;
    if (read_hex(&number, &value)) {
        /* Halves are printed as two numbers: not compared. */
        return row->name[0] == 'H' || has_number(row->operands, value);
    }
    if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9') || text[0] == 'i' || text[0] == 'n')
        return has_float(row->operands, strtod(text, NULL));
    return strstr(row->operands, text) != NULL;
}

static void check_line(const sass_row *row, int sm)
{
    char text[160];
    char *operand, *rest, *operands;

    ridge_sass_line(row->word, row->offset, sm, text, sizeof(text));
    assert_true(strlen(text) < sizeof(text) - 1);
    operands = text[0] == '@' ? strchr(text, ' ') + 1 : text;
    if (strncmp(operands, row->name, strlen(row->name)) != 0)
        fail_msg("%s: %s", row->name, text);
    operands = strchr(operands, ' ');
    if (operands == NULL)
        return;
    for (operand = strtok_r(operands, ", ", &rest); operand != NULL;
         operand = strtok_r(NULL, ", ", &rest))
        if (!is_in(operand, row))
            fail_msg("sm_%d %s%s%s: '%s' is not there", sm, row->name, row->modifiers,
                     row->operands, operand);
}

/* The sample in the tree: one row for each opcode and modifiers of each chip. */
static void sample_lines(void **state)
{
    char *const text = support_text(support_data("sass.tsv.gz"));
    size_t count = 0;
    char *at, *rest;

    (void)state;
    for (at = strtok_r(text, "\n", &rest); at != NULL; at = strtok_r(NULL, "\n", &rest)) {
        char *fields;
        const int sm = atoi(strtok_r(at, "\t", &fields));
        sass_row row = {.offset = (uint32_t)strtoul(strtok_r(NULL, "\t", &fields), NULL, 16)};
        const char *const low = strtok_r(NULL, "\t", &fields);

        truth_words(&row, low, strtok_r(NULL, "\t", &fields));
        truth_split(fields, &row);
        check_line(&row, sm);
        count++;
    }
    assert_int_equal(count, 3183);
    free(text);
}

static struct line_case {
    const char *name;
    uint64_t low, high;
    int sm;
    const char *text;
} line_cases[] = {
    {"guard and address", 0x0000000404088981, 0x000ea2000c1e9d00, 90, "@!P0 LDG.128 R8:11, [R4:5]"},
    {"negative offset", 0xfffff00404087981, 0x000ea2000c1e9d00, 90, "LDG.128 R8:11, [R4:5-0x10]"},
    {"constant", 0x00008400ff0a7b82, 0x000e220000000a00, 90, "LDC.64 R10:11, c[0x0][0x210]"},
    {"comparison", 0x727fffff0200780c, 0x000fcc0003f04070, 90, "ISETP.GT P0, R2, 0x727fffff"},
    {"number", 0x3f000000040d7820, 0x040fe20000400000, 90, "FMUL R13, R4, 0.5"},
    {"matrices", 0x000000060808723c, 0x004fde000004180c, 90,
     "HMMA.16816.F32.BF16 R8:11, R8:11, R6:7, R12:15"},
    {"store", 0x0000001004007986, 0x000fe8000c101b04, 90, "STG.64 [R4:5], R16:17"},
    {"unknown", 0x0000000000007000, 0, 90, "?"},
};

static void writes_lines(void **state)
{
    const struct line_case *const row = *state;
    uint8_t word[16];
    char text[160];
    char small[8];

    store_u64(word, row->low);
    store_u64(word + 8, row->high);
    assert_string_equal(ridge_sass_line(word, 0, row->sm, text, sizeof(text)), row->text);
    /* Whatever does not fit is cut. */
    ridge_sass_line(word, 0, row->sm, small, sizeof(small));
    assert_true(strlen(small) < sizeof(small));
}

/* What a line says, nvdisasm says. */
static void lines_agree(void **state)
{
    const truth_file *const file = *state;
    char *const text = support_text(support_shared(file->path));
    size_t checked = 0;
    char *rest = text;
    const char *name;
    sass_row row;

    while (truth_next(&rest, &name, &row)) {
        check_line(&row, file->sm);
        checked++;
    }
    assert_int_equal(checked, file->row_count);
    free(text);
}

/* ---- FLOP of single instructions ---- */

static struct flop_case {
    const char *name;
    ridge_sass_class cls;
    ridge_registers a;
    double flop; /* of a warp */
} flop_cases[] = {
    {"FADD", RIDGE_SASS_FP32, {1, 1}, 32},
    {"FFMA", RIDGE_SASS_FP32, {1, 1}, 64},
    {"FFMA2", RIDGE_SASS_FP32, {2, 2}, 128},
    {"HFMA2", RIDGE_SASS_FP16, {1, 1}, 128},
    {"HFMA2", RIDGE_SASS_FP16, {255, 0}, 0}, /* of constants: a move */
    {"HADD2", RIDGE_SASS_FP16, {1, 1}, 64},
    {"DFMA", RIDGE_SASS_FP64, {2, 2}, 64},
    {"FMNMX", RIDGE_SASS_FP32, {1, 1}, 0},
    {"IMAD", RIDGE_SASS_INT, {1, 1}, 0},
    {"HMMA.16816.F32.BF16", RIDGE_SASS_TENSOR, {1, 4}, 4096},
    {"HMMA.1688.F32", RIDGE_SASS_TENSOR, {1, 2}, 2048},
    {"IMMA.16832.S8.S8", RIDGE_SASS_TENSOR, {1, 4}, 8192},
    {"IMMA.16864.S4.S4", RIDGE_SASS_TENSOR, {1, 4}, 16384},
    {"DMMA.8x8x4", RIDGE_SASS_TENSOR, {1, 2}, 512},
    {"DMMA.16x8x4", RIDGE_SASS_TENSOR, {1, 4}, 1024},
    {"DMMA.16x8x16", RIDGE_SASS_TENSOR, {1, 16}, 4096},
    {"HGMMA.64x128x16.F32.BF16", RIDGE_SASS_TENSOR, {255, 0}, 65536},
    {"QGMMA.64x256x32.F32.E4M3.E4M3", RIDGE_SASS_TENSOR, {255, 0}, 262144},
    {"UTCHMMA", RIDGE_SASS_TENSOR, {255, 0}, NAN},
    {"WARPGROUP", RIDGE_SASS_TENSOR, {255, 0}, 0},
    {"LDTM", RIDGE_SASS_TENSOR, {255, 0}, 0},
};

static void knows_flop(void **state)
{
    const struct flop_case *const row = *state;
    ridge_sass sass = {.cls = row->cls, .source = {row->a}};
    char name[32];
    double flop;

    snprintf(sass.text, sizeof(sass.text), "%s", row->name);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->name, "."), row->name);
    sass.name = name;
    flop = ridge_sass_flop(&sass);
    if (isnan(row->flop))
        assert_true(isnan(flop));
    else
        assert_true(flop == row->flop);
}

/* ---- parts of a real kernel ---- */

/* The functions of the cubin in the tree, as their source says. */
static void counts_parts(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const sum = ridge_cubin_function(cubin, "block_sum");
    ridge_loops loops;
    ridge_loop_work *work;
    ridge_mix whole, in_loops, one;
    size_t i, of_loops = 0;

    (void)state;
    assert_int_equal(ridge_loops_find(sum->code, sum->code_bytes, 90, &loops, NULL), RIDGE_OK);
    assert_int_equal(
        ridge_mix_count(sum->code, sum->code_bytes, 90, &loops, RIDGE_MIX_WHOLE, &whole, NULL),
        RIDGE_OK);
    assert_int_equal(
        ridge_mix_count(sum->code, sum->code_bytes, 90, &loops, RIDGE_MIX_LOOPS, &in_loops, NULL),
        RIDGE_OK);
    assert_true(loops.count >= 1);
    assert_true(in_loops.instruction_count < whole.instruction_count);
    assert_true(in_loops.widths[RIDGE_MIX_GLOBAL][0][2] >= 1); /* in[i] */
    assert_int_equal(in_loops.widths[RIDGE_MIX_GLOBAL][1][2], 0);
    assert_int_equal(whole.widths[RIDGE_MIX_GLOBAL][1][2], 1); /* out[blockIdx.x] */
    assert_int_equal(in_loops.padding_count, 0);
    assert_int_equal(ridge_loop_work_count(sum->code, sum->code_bytes, 90, &loops, &work, NULL),
                     RIDGE_OK);
    for (i = 0; i < loops.count; i++) {
        assert_int_equal(
            ridge_mix_count(sum->code, sum->code_bytes, 90, &loops, (int)i, &one, NULL), RIDGE_OK);
        assert_int_equal(one.instruction_count, loops.rows[i].instruction_count);
        of_loops += loops.rows[i].depth == 1 ? one.instruction_count : 0;
        assert_true(work[i].flop == one.flop && work[i].tensor_flop == one.tensor_flop);
        assert_true(work[i].global_bytes == one.global_bytes);
        assert_true(work[i].shared_bytes == one.shared_bytes);
        assert_true(work[i].local_bytes == one.local_bytes);
        ridge_mix_release(&one);
    }
    ridge_loop_work_free(work);
    assert_int_equal(of_loops, in_loops.instruction_count);
    ridge_mix_release(&whole);
    ridge_mix_release(&in_loops);
    ridge_loops_release(&loops);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* The slow paths that the compiler linked into a kernel of reciprocals and a square root. */
static void finds_helpers(void **state)
{
    file_bytes file = support_shared("cubin/k_90.cubin");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const math = ridge_cubin_function(cubin, "k_math");
    ridge_helpers helpers;
    size_t i, found = 0;

    (void)state;
    assert_int_equal(ridge_helpers_find(cubin, &helpers, NULL), RIDGE_OK);
    for (i = 0; i < helpers.count; i++) {
        assert_true(helpers.rows[i].offset + helpers.rows[i].code_bytes <=
                    helpers.rows[i].function->code_bytes);
        found += helpers.rows[i].function == math &&
                 strncmp(helpers.rows[i].name, "$__internal_", 12) == 0;
    }
    assert_int_equal(found, 3); /* reciprocals of double and float, square root */
    ridge_helpers_release(&helpers);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* The spills that ptxas counts are all the local accesses of a kernel without local arrays; a local
 * array has accesses, but no spills. */
static void finds_spills(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const spill = ridge_cubin_function(cubin, "spill");
    const ridge_function *const array = ridge_cubin_function(cubin, "local_array");
    ridge_spills spills;
    ridge_sass sass;
    size_t i, found = 0;
    int bytes = 0;

    (void)state;
    assert_int_equal(ridge_spills_find(cubin, spill, &spills, NULL), RIDGE_OK);
    for (i = 0; i < spills.instruction_count; i++) {
        ridge_sass_decode(spill->code + 16 * i, (uint32_t)(16 * i), 90, &sass);
        assert_int_equal(spills.is_spill[i], sass.cls == RIDGE_SASS_LOCAL);
        bytes += spills.is_spill[i] ? sass.width_bytes : 0;
        found += spills.is_spill[i];
    }
    assert_int_equal(found, spills.count);
    assert_int_equal(bytes, spill->spill_store_bytes + spill->spill_load_bytes);
    ridge_spills_release(&spills);
    assert_int_equal(ridge_spills_find(cubin, array, &spills, NULL), RIDGE_OK);
    assert_int_equal(spills.count, 0);
    ridge_spills_release(&spills);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Loops in loops, as no compiler writes them: the work of all is counted in one pass. Branch i of the
 * second half closes the loop around the i innermost instructions of the first. */
static void counts_nested_loops(void **state)
{
    enum { DEPTH = 20000, BYTES = 16 };
    static const uint8_t add[BYTES] = {0x21, 0x72, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xca, 0x0f};
    static const uint8_t branch[BYTES] = {0x47, 0x89, 0,    0, 0, 0,    0,   0,
                                          0,    0,    0x83, 3, 0, 0xea, 0x0f};
    uint8_t *const code = calloc((size_t)2 * DEPTH, BYTES);
    ridge_loops loops;
    ridge_loop_work *work;
    size_t i;

    (void)state;
    assert_non_null(code);
    for (i = 0; i < DEPTH; i++) {
        uint8_t *const to = code + (DEPTH + i) * (size_t)BYTES;
        const int64_t words = -(int64_t)((size_t)BYTES * (2 * i + 2)) / 4;
        const uint64_t high = (uint64_t)(words >> 8) << 2;
        size_t k;

        memcpy(code + i * BYTES, add, BYTES);
        memcpy(to, branch, BYTES);
        to[2] = (uint8_t)words;
        for (k = 0; k < 6; k++)
            to[4 + k] = (uint8_t)(high >> 8 * k);
    }
    assert_int_equal(ridge_loops_find(code, (size_t)2 * DEPTH * BYTES, 90, &loops, NULL), RIDGE_OK);
    assert_int_equal(loops.count, DEPTH);
    assert_int_equal(
        ridge_loop_work_count(code, (size_t)2 * DEPTH * BYTES, 90, &loops, &work, NULL), RIDGE_OK);
    for (i = 0; i < DEPTH; i++)
        assert_true(work[i].flop == (double)(DEPTH - i) * 32);
    ridge_loop_work_free(work);
    ridge_loops_release(&loops);
    free(code);
}

static void survives_lack_of_memory(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const spill = ridge_cubin_function(cubin, "spill");
    ridge_loops loops;
    ridge_status status;
    size_t nth = 0;

    (void)state;
    assert_int_equal(ridge_loops_find(spill->code, spill->code_bytes, 90, &loops, NULL), RIDGE_OK);
    do {
        ridge_mix mix;
        ridge_helpers helpers = {0};
        ridge_spills spills = {0};
        ridge_loop_work *work = NULL;

        ridge_memory_fail_at(++nth);
        status = ridge_mix_count(spill->code, spill->code_bytes, 90, &loops, 0, &mix, NULL);
        if (status == RIDGE_OK)
            status = ridge_helpers_find(cubin, &helpers, NULL);
        if (status == RIDGE_OK)
            status = ridge_spills_find(cubin, spill, &spills, NULL);
        if (status == RIDGE_OK)
            status = ridge_loop_work_count(spill->code, spill->code_bytes, 90, &loops, &work, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(work);
        }
        ridge_loop_work_free(work);
        ridge_mix_release(&mix);
        ridge_helpers_release(&helpers);
        ridge_spills_release(&spills);
    } while (status != RIDGE_OK);
    assert_true(nth > 3);
    ridge_loops_release(&loops);
    ridge_cubin_free(cubin);
    support_release(&file);
}

int main(void)
{
    static cases list;
    size_t i;

    CASES_ADD_ROWS(&list, knows_flop, flop_cases);
    cases_add(&list, "parts of a kernel", counts_parts, NULL);
    cases_add(&list, "helpers", finds_helpers, NULL);
    cases_add(&list, "spills", finds_spills, NULL);
    cases_add(&list, "sample of nvdisasm's text", sample_lines, NULL);
    CASES_ADD_ROWS(&list, writes_lines, line_cases);
    cases_add(&list, "nested loops", counts_nested_loops, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    for (i = 0; i < TRUTH_FILE_COUNT; i++)
        cases_add(&list, truth_files[i].name, equals_disassembly, &truth_files[i]);
    for (i = 0; i < TRUTH_FILE_COUNT; i++)
        cases_add(&list, truth_files[i].name, lines_agree, &truth_files[i]);
    return cases_run(&list, "mix");
}
