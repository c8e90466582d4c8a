/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding against nvdisasm's text: names, widths, registers and branch targets. */
#include "sass_truth.h"

/* ---- what nvdisasm's text says ---- */

typedef struct register_list {
    unsigned at[8];
    size_t count;
} register_list;

static int compare_unsigned(const void *a, const void *b)
{
    const unsigned left = *(const unsigned *)a;
    const unsigned right = *(const unsigned *)b;

    return (left > right) - (left < right);
}

/* General registers in the operands, without RZ, in order of number. */
static register_list named_registers(const char *operands)
{
    register_list list = {{0}, 0};
    const char *at;

    for (at = operands; *at != '\0'; at++) {
        const char before = at > operands ? at[-1] : ' ';

        if (*at != 'R' || (before >= 'A' && before <= 'Z') || before == '_' || at[1] < '0' ||
            at[1] > '9')
            continue;
        assert_true(list.count < 8);
        list.at[list.count++] = (unsigned)strtoul(at + 1, NULL, 10);
    }
    qsort(list.at, list.count, sizeof(list.at[0]), compare_unsigned);
    return list;
}

static void add_range(register_list *list, ridge_registers range)
{
    if (range.count > 0)
        list->at[list->count++] = range.first;
}

static register_list decoded_registers(const ridge_sass *sass)
{
    register_list list = {{0}, 0};
    size_t i;

    add_range(&list, sass->dest);
    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        add_range(&list, sass->source[i]);
    qsort(list.at, list.count, sizeof(list.at[0]), compare_unsigned);
    return list;
}

/* Instructions with more ranges of registers than the structure holds. */
static bool has_more_ranges(const sass_row *row)
{
    return strcmp(row->name, "TEX") == 0 || truth_has_modifier(row, "256") ||
           (strcmp(row->name, "QMMA") == 0 && truth_has_modifier(row, "SF"));
}

static void check_row(const sass_row *row, int sm, ridge_sass *sass)
{
    const unsigned width = truth_width(row);
    register_list named, decoded;

    ridge_sass_decode(row->word, row->offset, sm, sass);
    if (strcmp(sass->name, row->name) != 0)
        fail_msg("sm_%d opcode %03x: %s, nvdisasm says %s%s", sm, sass->opcode, sass->name,
                 row->name, row->modifiers);
    if (width != 0 && sass->width_bytes != width)
        fail_msg("sm_%d %s%s: width %u, expected %u", sm, row->name, row->modifiers,
                 sass->width_bytes, width);
    if (strncmp(sass->text, row->name, strlen(row->name)) != 0)
        fail_msg("text %s of %s", sass->text, row->name);
    named = named_registers(row->operands);
    decoded = decoded_registers(sass);
    if (!has_more_ranges(row) &&
        (named.count != decoded.count ||
         memcmp(named.at, decoded.at, named.count * sizeof(named.at[0])) != 0))
        fail_msg("sm_%d %s%s%s: %zu registers decoded, %zu named", sm, row->name, row->modifiers,
                 row->operands, decoded.count, named.count);
}

/* ---- the sample in the tree: one row for each opcode and modifiers of each chip ---- */

static void sample_rows(void **state)
{
    char *const text = support_text(support_data("sass.tsv.gz"));
    size_t count = 0;
    char *line, *rest;

    (void)state;
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *fields;
        const int sm = atoi(strtok_r(line, "\t", &fields));
        sass_row row = {.offset = (uint32_t)strtoul(strtok_r(NULL, "\t", &fields), NULL, 16)};
        const char *const low = strtok_r(NULL, "\t", &fields);
        ridge_sass sass;

        truth_words(&row, low, strtok_r(NULL, "\t", &fields));
        truth_split(fields, &row);
        check_row(&row, sm, &sass);
        count++;
    }
    assert_int_equal(count, 3183);
    free(text);
}

/* ---- all rows of the shared fixtures ---- */

/* Labels of one function and the offsets that branches to them decode to. */
typedef struct label_list {
    struct {
        char name[64];
        int64_t target;
    } at[512];
    size_t count;
} label_list;

/* Two branches to one label must have one target, to two labels two. */
static void check_label(label_list *labels, const char *operands, int64_t target)
{
    const char *const begin = strstr(operands, "`(.L");
    char name[64];
    size_t i;

    if (begin == NULL)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, ")"), begin);
    for (i = 0; i < labels->count; i++)
        if ((strcmp(labels->at[i].name, name) == 0) != (labels->at[i].target == target))
            fail_msg("%s at %lld, %s at %lld", labels->at[i].name, (long long)labels->at[i].target,
                     name, (long long)target);
    assert_true(labels->count < 512);
    strcpy(labels->at[labels->count].name, name);
    labels->at[labels->count++].target = target;
}

static void truth_rows(void **state)
{
    const truth_file *const file = *state;
    char *const text = support_text(support_shared(file->path));
    static label_list labels;
    char section[256] = "";
    size_t count = 0;
    size_t branch_count = 0;
    char *rest = text;
    const char *name;
    sass_row row;

    while (truth_next(&rest, &name, &row)) {
        ridge_sass sass;

        if (strcmp(name, section) != 0) {
            snprintf(section, sizeof(section), "%s", name);
            labels.count = 0;
        }
        check_row(&row, file->sm, &sass);
        assert_int_equal(sass.is_branch, strcmp(row.name, "BRA") == 0);
        if (sass.is_branch) {
            check_label(&labels, row.operands, sass.branch_target);
            branch_count++;
        }
        count++;
    }
    assert_int_equal(count, file->row_count);
    assert_int_equal(branch_count, file->branch_count);
    free(text);
}

/* ---- single instructions ---- */

static struct single {
    const char *name;
    uint64_t low, high;
    int sm;
    const char *text;
    ridge_sass_class cls;
    unsigned width_bytes;
    ridge_registers dest, source[3];
    bool is_load, is_store;
} singles[] = {
#define NONE                                                                                       \
    {                                                                                              \
        RIDGE_SASS_NO_REGISTER, 0                                                                  \
    }
    {"load of 32 bits",
     0x000000040a047981,
     0x000ea2000c1e1900,
     90,
     "LDG",
     RIDGE_SASS_GLOBAL,
     4,
     {4, 1},
     {{10, 2}, NONE, NONE},
     true,
     false},
    {"load of 128 bits",
     0x0000000404087981,
     0x000ea2000c1e9d00,
     90,
     "LDG.128",
     RIDGE_SASS_GLOBAL,
     16,
     {8, 4},
     {{4, 2}, NONE, NONE},
     true,
     false},
    {"load of 256 bits",
     0xfe0000040404797e,
     0x004ea20008121908,
     100,
     "LDG.256",
     RIDGE_SASS_GLOBAL,
     32,
     {4, 8},
     {{4, 2}, NONE, NONE},
     true,
     false},
    {"32-bit offset to a uniform address",
     0x0000000602028981,
     0x000ea200081ee900,
     75,
     "LDG",
     RIDGE_SASS_GLOBAL,
     4,
     {2, 1},
     {{2, 1}, NONE, NONE},
     true,
     false},
    {"uniform address alone",
     0x00000806ff057981,
     0x000ea6000c1ee900,
     75,
     "LDG",
     RIDGE_SASS_GLOBAL,
     4,
     {5, 1},
     {NONE, NONE, NONE},
     true,
     false},
    {"store of 64 bits",
     0x0000001004007986,
     0x000fe8000c101b04,
     90,
     "STG.64",
     RIDGE_SASS_GLOBAL,
     8,
     NONE,
     {{4, 2}, {16, 2}, NONE},
     false,
     true},
    {"signed 16-bit load from shared",
     0x0000000000037984,
     0x000e280000000600,
     90,
     "LDS.S16",
     RIDGE_SASS_SHARED,
     2,
     {3, 1},
     {{0, 1}, NONE, NONE},
     true,
     false},
    {"matrix load",
     0x000000000904783b,
     0x000e680000000200,
     90,
     "LDSM.x4",
     RIDGE_SASS_SHARED,
     16,
     {4, 4},
     {{9, 1}, NONE, NONE},
     true,
     false},
    {"transposed matrix load",
     0x000000000004783b,
     0x000e280000004100,
     90,
     "LDSM.x2.T",
     RIDGE_SASS_SHARED,
     8,
     {4, 2},
     {{0, 1}, NONE, NONE},
     true,
     false},
    {"matrix store",
     0x0002000409007844,
     0x002fe20000000200,
     90,
     "STSM.x4",
     RIDGE_SASS_SHARED,
     16,
     NONE,
     {{9, 1}, {4, 4}, NONE},
     false,
     true},
    {"copy past L1",
     0x0000000002097fae,
     0x0003e8000b901c46,
     90,
     "LDGSTS.BYPASS.128",
     RIDGE_SASS_ASYNC,
     16,
     NONE,
     {{2, 2}, {9, 1}, NONE},
     true,
     true},
    {"multiply of 16-bit matrices",
     0x000000060808723c,
     0x004fde000004180c,
     90,
     "HMMA.16816.F32.BF16",
     RIDGE_SASS_TENSOR,
     0,
     {8, 4},
     {{8, 4}, {6, 2}, {12, 4}},
     false,
     false},
    {"multiply into 16 bits",
     0x000000060806723c,
     0x004fde000000080c,
     90,
     "HMMA.16816.F16",
     RIDGE_SASS_TENSOR,
     0,
     {6, 2},
     {{8, 4}, {6, 2}, {12, 2}},
     false,
     false},
    {"small TF32 multiply",
     0x000000000608723c,
     0x004fde0000085008,
     90,
     "HMMA.1684.F32.TF32",
     RIDGE_SASS_TENSOR,
     0,
     {8, 4},
     {{6, 2}, {0, 1}, {8, 4}},
     false,
     false},
    {"integer multiply",
     0x0000000608087237,
     0x004fde0000401c0c,
     90,
     "IMMA.16832.S8.U8",
     RIDGE_SASS_TENSOR,
     0,
     {8, 4},
     {{8, 4}, {6, 2}, {12, 4}},
     false,
     false},
    {"4-bit integer multiply",
     0x00000008040c7237,
     0x004fee000078540c,
     80,
     "IMMA.16864.S4.S4",
     RIDGE_SASS_TENSOR,
     0,
     {12, 4},
     {{4, 4}, {8, 2}, {12, 4}},
     false,
     false},
    {"double multiply of matrices",
     0x000000081008723f,
     0x004e240000003020,
     90,
     "DMMA.16x8x16",
     RIDGE_SASS_TENSOR,
     0,
     {8, 8},
     {{16, 16}, {8, 8}, {32, 8}},
     false,
     false},
    {"8-bit floating multiply",
     0x000000060c08727a,
     0x004fde0000006c08,
     120,
     "QMMA.16832.F32.E5M2.E4M3",
     RIDGE_SASS_TENSOR,
     0,
     {8, 4},
     {{12, 4}, {6, 2}, {8, 4}},
     false,
     false},
    {"warpgroup multiply",
     0x00000000041879f0,
     0x000fe2000c0008ff,
     90,
     "HGMMA.64x8x16.F32",
     RIDGE_SASS_TENSOR,
     0,
     {24, 4},
     {NONE, NONE, NONE},
     false,
     false},
    {"warpgroup multiply of registers",
     0x000000041c187df0,
     0x000fe60008001818,
     90,
     "HGMMA.64x8x16.F32.BF16",
     RIDGE_SASS_TENSOR,
     0,
     {24, 4},
     {{28, 4}, {24, 4}, NONE},
     false,
     false},
    {"special function",
     0x0000000d000f7308,
     0x000e220000000800,
     90,
     "MUFU.EX2",
     RIDGE_SASS_SPECIAL,
     0,
     {15, 1},
     {{13, 1}, NONE, NONE},
     false,
     false},
    {"barrier",
     0x0000000000007b1d,
     0x000fec0000010000,
     90,
     "BAR.SYNC",
     RIDGE_SASS_SYNC,
     0,
     NONE,
     {NONE, NONE, NONE},
     false,
     false},
    {"barrier that only arrives",
     0x0082000000007b1d,
     0x000ff00000002000,
     90,
     "BAR.ARV",
     RIDGE_SASS_SYNC,
     0,
     NONE,
     {NONE, NONE, NONE},
     false,
     false},
    {"wide multiply-add",
     0x000000040a047825,
     0x001fca00078e0202,
     90,
     "IMAD.WIDE",
     RIDGE_SASS_INT,
     0,
     {4, 2},
     {{10, 1}, {2, 2}, NONE},
     false,
     false},
    {"wide multiply, constant addend",
     0x00005a0002027625,
     0x000fca00078e0203,
     80,
     "IMAD.WIDE",
     RIDGE_SASS_INT,
     0,
     {2, 2},
     {{2, 1}, {3, 1}, NONE},
     false,
     false},
    {"double addition",
     0x0000000002027229,
     0x001fe20000000006,
     90,
     "DADD",
     RIDGE_SASS_FP64,
     0,
     {2, 2},
     {{2, 2}, {6, 2}, NONE},
     false,
     false},
    {"conversion to double",
     0x0000000800067310,
     0x008e2e0000201800,
     90,
     "F2F",
     RIDGE_SASS_CONVERT,
     0,
     {6, 2},
     {{8, 1}, NONE, NONE},
     false,
     false},
    {"uniform move",
     0x0000000000047882,
     0,
     90,
     "UMOV",
     RIDGE_SASS_UNIFORM,
     0,
     NONE,
     {NONE, NONE, NONE},
     false,
     false},
    {"one opcode, two meanings: sm_80",
     0x0000000805047235,
     0,
     80,
     "HFMA2",
     RIDGE_SASS_FP16,
     0,
     {4, 1},
     {{5, 1}, {8, 1}, {0, 1}},
     false,
     false},
    {"one opcode, two meanings: sm_120",
     0x0000000805047235,
     0,
     120,
     "IADD",
     RIDGE_SASS_INT,
     0,
     {4, 1},
     {{5, 1}, {8, 1}, NONE},
     false,
     false},
    {"reduction, sm_89",
     0x000000070400098e,
     0x000fe2000c10e186,
     89,
     "RED",
     RIDGE_SASS_ATOMIC,
     4,
     NONE,
     {{4, 2}, {7, 1}, NONE},
     false,
     false},
    {"reduction, sm_90",
     0x000000070400098e,
     0x000fe2000c10e186,
     90,
     "REDG",
     RIDGE_SASS_ATOMIC,
     4,
     NONE,
     {{4, 2}, {7, 1}, NONE},
     false,
     false},
    {"known by its low 9 bits",
     0x0000000805047c21,
     0,
     90,
     "FADD",
     RIDGE_SASS_FP32,
     0,
     {4, 1},
     {{5, 1}, NONE, NONE},
     false,
     false},
    {"unknown",
     0x0000000000007000,
     0,
     90,
     "?",
     RIDGE_SASS_UNKNOWN,
     0,
     NONE,
     {NONE, NONE, NONE},
     false,
     false},
    {"range past the last register",
     0x00000000fe04723c,
     0x0000000000001800,
     90,
     "HMMA.16816.F32",
     RIDGE_SASS_TENSOR,
     0,
     {4, 4},
     {{254, 1}, {0, 2}, {0, 4}},
     false,
     false},
};

static void check_registers(ridge_registers got, ridge_registers expected)
{
    assert_int_equal(got.count, expected.count);
    assert_int_equal(got.first, expected.first);
}

static void decodes(void **state)
{
    const struct single *const row = *state;
    uint8_t word[16];
    ridge_sass sass;
    int i;

    store_u64(word, row->low);
    store_u64(word + 8, row->high);
    ridge_sass_decode(word, 0, row->sm, &sass);
    assert_string_equal(sass.text, row->text);
    assert_int_equal(sass.cls, row->cls);
    assert_int_equal(sass.width_bytes, row->width_bytes);
    assert_int_equal(sass.is_load, row->is_load);
    assert_int_equal(sass.is_store, row->is_store);
    check_registers(sass.dest, row->dest);
    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        check_registers(sass.source[i], row->source[i]);
    assert_false(sass.is_branch);
    assert_int_equal(sass.branch_target, -1);
}

static void reads_control_bits(void **state)
{
    uint8_t word[16];
    ridge_sass sass;

    (void)state;
    store_u64(word, 0x0000000805048221); /* @!P0 FADD R4, R5, R8 */
    store_u64(word + 8,
              UINT64_C(0x25) << 52 | UINT64_C(3) << 49 | UINT64_C(2) << 46 | UINT64_C(11) << 41);
    ridge_sass_decode(word, 0, 90, &sass);
    assert_int_equal(sass.guard, 0);
    assert_true(sass.guard_negated);
    assert_int_equal(sass.wait_mask, 0x25);
    assert_int_equal(sass.read_barrier, 3);
    assert_int_equal(sass.write_barrier, 2);
    assert_int_equal(sass.stall_cycles, 11);
    assert_true(sass.yields);
    assert_int_equal(sass.reuse, 0);
    store_u64(word + 8, UINT64_C(5) << 58 | UINT64_C(1) << 45);
    ridge_sass_decode(word, 0, 90, &sass);
    assert_false(sass.yields);
    assert_int_equal(sass.reuse, 5);
}

static void decodes_branches(void **state)
{
    uint8_t word[16];
    ridge_sass sass;

    (void)state;
    store_u64(word, 0x00000000000c8947); /* forward, sm_90 */
    store_u64(word + 8, 0x000fec0003800000);
    ridge_sass_decode(word, 0x1a0, 90, &sass);
    assert_true(sass.is_branch);
    assert_int_equal(sass.branch_target, 0x1e0);
    store_u64(word, 0xfffffffc00fc7947); /* to itself, sm_90 */
    store_u64(word + 8, 0x000fc0000383ffff);
    ridge_sass_decode(word, 0x500, 90, &sass);
    assert_int_equal(sass.branch_target, 0x500);
    store_u64(word, 0xfffffff000007947); /* to itself, sm_80 */
    ridge_sass_decode(word, 0x500, 80, &sass);
    assert_int_equal(sass.branch_target, 0x500);
}

/* Whatever the bits, decoding keeps its promises. */
static void decodes_any_bits(void **state)
{
    static const int sms[] = {75, 80, 90, 100, 120};
    uint64_t random = 1;
    uint8_t word[16];
    ridge_sass sass;
    size_t i, j;

    (void)state;
    for (i = 0; i < (size_t)4096 * 16; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        store_u64(word, (random & ~UINT64_C(0xfff)) | (i & 0xfff));
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        store_u64(word + 8, random);
        for (j = 0; j < sizeof(sms) / sizeof(sms[0]); j++) {
            int k;

            ridge_sass_decode(word, 0, sms[j], &sass);
            assert_true(sass.dest.first + sass.dest.count <= 255);
            for (k = 0; k < RIDGE_SASS_SOURCES; k++)
                assert_true(sass.source[k].first + sass.source[k].count <= 255);
            assert_true(strlen(sass.text) < sizeof(sass.text));
            assert_true((unsigned)sass.cls < RIDGE_SASS_CLASS_COUNT);
        }
    }
}

static void names_classes(void **state)
{
    (void)state;
    assert_string_equal(ridge_sass_class_name(RIDGE_SASS_GLOBAL), "global");
    assert_string_equal(ridge_sass_class_name(RIDGE_SASS_OTHER), "other");
    assert_string_equal(ridge_sass_class_name(RIDGE_SASS_CLASS_COUNT), "unknown");
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, decodes, singles);
    cases_add(&list, "control bits", reads_control_bits, NULL);
    cases_add(&list, "branches", decodes_branches, NULL);
    cases_add(&list, "any bits", decodes_any_bits, NULL);
    cases_add(&list, "class names", names_classes, NULL);
    cases_add(&list, "sample of nvdisasm's text", sample_rows, NULL);
    for (size_t i = 0; i < TRUTH_FILE_COUNT; i++)
        cases_add(&list, truth_files[i].name, truth_rows, &truth_files[i]);
    return cases_run(&list, "sass");
}
