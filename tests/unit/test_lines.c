/* SPDX-License-Identifier: Apache-2.0
 *
 * Line tables: recorded ones with calls inlined two deep, built ones for the rest of the format. */
#include "binary_support.h"

#include "base/memory.h"

static const ridge_line *read_lines(ridge_cubin *cubin, const char *name, size_t *count)
{
    const ridge_line *rows;
    ridge_error err;

    if (ridge_cubin_lines(cubin, ridge_cubin_function(cubin, name), &rows, count, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return rows;
}

/* ---- recorded ---- */

static struct recorded {
    const char *name;
    const char *cubin;
} recorded[] = {
    {"sample for sm_75 (rel)", "sample_75.cubin.gz"},
    {"sample for sm_90 (rela)", "sample_90.cubin.gz"},
    {"sample for sm_120 (rela)", "sample_120.cubin.gz"},
};

/* The load of in[i] is inlined from twice_scaled(), the first multiply from scaled() in it. */
static void follows_inlining(void **state)
{
    const struct recorded *const row = *state;
    file_bytes file = support_data(row->cubin);
    ridge_cubin *const cubin = support_cubin(file);
    size_t count, i;
    const ridge_line *const rows = read_lines(cubin, "block_sum", &count);
    size_t load = 0;
    size_t deepest = 0;

    assert_true(count > 20);
    for (i = 0; i < count; i++) {
        assert_true(i == 0 || rows[i - 1].offset <= rows[i].offset);
        assert_string_equal(rows[i].file, "/sample/sample.cu");
        assert_true(rows[i].line >= 5 && rows[i].line <= 32);
        assert_int_equal(rows[i].function == NULL, rows[i].inlined_at < 0);
        if (rows[i].function == NULL)
            continue;
        assert_true((size_t)rows[i].inlined_at < i);
        if (strcmp(rows[i].function, "_Z12twice_scaledPKfi") == 0)
            load = i;
        if (strcmp(rows[i].function, "_Z6scaledf") == 0)
            deepest = i;
    }
    assert_true(load > 0 && deepest > 0);
    assert_int_equal(rows[load].line, 12);
    assert_null(rows[rows[load].inlined_at].function);
    assert_int_equal(rows[rows[load].inlined_at].line, 22);
    assert_int_equal(rows[deepest].line, 7);
    assert_string_equal(rows[rows[deepest].inlined_at].function, "_Z12twice_scaledPKfi");

    assert_ptr_equal(read_lines(cubin, "block_sum", &i), rows); /* kept */
    assert_true(read_lines(cubin, "local_array", &i) != rows);
    assert_true(i > 3);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Every instruction that touches memory has a line, and that line is inside its kernel. */
static void covers_code(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const spill = ridge_cubin_function(cubin, "spill");
    size_t count, offset;
    const ridge_line *const rows = read_lines(cubin, "spill", &count);

    (void)state;
    for (offset = 0; offset < spill->code_bytes; offset += 16) {
        const ridge_line *const row = ridge_line_find(rows, count, (uint32_t)offset);
        ridge_sass sass;

        ridge_sass_decode(spill->code + offset, (uint32_t)offset, 90, &sass);
        assert_non_null(row);
        assert_true(row->line >= 35 && row->line <= 46);
        if (sass.cls == RIDGE_SASS_GLOBAL && sass.is_load)
            assert_int_equal(row->line, 41);
        if (sass.cls == RIDGE_SASS_GLOBAL && sass.is_store)
            assert_int_equal(row->line, 45);
    }
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void shared_fixture(void **state)
{
    static const struct {
        uint32_t offset, line;
        int32_t inlined_at;
    } expected[] = {{0x00, 74, -1}, {0x10, 76, -1}, {0xd0, 76, -1}, {0xd0, 331, 2},
                    {0xd0, 489, 3}, {0xd0, 128, 4}, {0xe0, 76, -1}, {0x110, 128, 4}};
    file_bytes file = support_shared("cubin/k_90.cubin");
    ridge_cubin *const cubin = support_cubin(file);
    size_t count, i;
    const ridge_line *const rows = read_lines(cubin, "k_cluster", &count);

    (void)state;
    assert_int_equal(count, 27);
    for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(rows[i].offset, expected[i].offset);
        assert_int_equal(rows[i].line, expected[i].line);
        assert_int_equal(rows[i].inlined_at, expected[i].inlined_at);
    }
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void finds_rows(void **state)
{
    static const ridge_line rows[] = {
        {.offset = 16}, {.offset = 32}, {.offset = 32}, {.offset = 64}};

    (void)state;
    assert_null(ridge_line_find(rows, 4, 0));
    assert_ptr_equal(ridge_line_find(rows, 4, 16), &rows[0]);
    assert_ptr_equal(ridge_line_find(rows, 4, 31), &rows[0]);
    assert_ptr_equal(ridge_line_find(rows, 4, 32), &rows[2]);
    assert_ptr_equal(ridge_line_find(rows, 4, UINT32_MAX), &rows[3]);
    assert_null(ridge_line_find(NULL, 0, 16));
}

/* ---- built ---- */

/* A unit with directories "/a" and "b", files "x.cu" (none), "y.cu" in /a, "/z.cu" in b, and four
 * spare bytes behind the tables. The program follows. */
enum { UNIT_LENGTH_AT = 0, UNIT_VERSION_AT = 4, UNIT_HEADER_LENGTH_AT = 6 };

static const uint8_t unit_tables[] = {
    1,   1,   0xfb, 14,  10,  0, 1, 1, 1,   1,   0,    0,    0,    1,          /* numbers */
    '/', 'a', 0,    'b', 0,   0,                                               /* directories */
    'x', '.', 'c',  'u', 0,   0, 0, 0, 'y', '.', 'c',  'u',  0,    1,    0, 0, /* files */
    '/', 'z', '.',  'c', 'u', 0, 2, 0, 0,   0,   0xde, 0xad, 0xbe, 0xef,       /* and spare bytes */
};

#define SET_ADDRESS 0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0
#define END_SEQUENCE 0, 1, 1
#define INLINED(row, name) 0, 3, 0x90, row, name

enum { PROGRAM_AT = 10 + sizeof(unit_tables), ADDRESS_IN_PROGRAM = 3 };

static const uint8_t code[64];
static const uint8_t symbols[2 * 24] = {
    [24 + 4] = 0x12, [24 + 5] = 0x10, [24 + 6] = 1, [24 + 16] = 64};
static const char strings[] = "\0first\0second";

typedef struct built {
    file_bytes file;
    ridge_cubin *cubin;
} built;

/* A cubin with kernel k of 64 bytes and this line program, whose first opcode is SET_ADDRESS. */
static built build(const uint8_t *program, size_t size, bool with_addend)
{
    static uint8_t unit[512];
    uint8_t relocation[24] = {0};
    const sample_header header = {false, 90, 0};
    const sample_section sections[] = {
        {.name = ".text.k", .type = 1, .data = code, .size = sizeof(code)},
        {.name = ".symtab", .type = 2, .data = symbols, .size = sizeof(symbols)},
        {.name = ".debug_line", .type = 1, .data = unit, .size = PROGRAM_AT + size},
        {.name = with_addend ? ".rela.debug_line" : ".rel.debug_line",
         .type = with_addend ? 4 : 9,
         .data = relocation,
         .size = with_addend ? 24 : 16},
        {.name = ".debug_str", .type = 1, .data = strings, .size = sizeof(strings)},
    };
    built result;

    assert_true(PROGRAM_AT + size <= sizeof(unit));
    store_u32(unit + UNIT_LENGTH_AT, (uint32_t)(PROGRAM_AT - 4 + size));
    store_u16(unit + UNIT_VERSION_AT, 2);
    store_u32(unit + UNIT_HEADER_LENGTH_AT, sizeof(unit_tables));
    memcpy(unit + 10, unit_tables, sizeof(unit_tables));
    memcpy(unit + PROGRAM_AT, program, size);
    store_u64(relocation, PROGRAM_AT + ADDRESS_IN_PROGRAM);
    store_u64(relocation + 8, UINT64_C(1) << 32 | 2);
    result.file = sample_cubin(&header, sections, 5);
    result.cubin = support_cubin(result.file);
    return result;
}

static void release(built *it)
{
    ridge_cubin_free(it->cubin);
    support_release(&it->file);
}

static void runs_every_opcode(void **state)
{
    static const uint8_t program[] = {
        SET_ADDRESS,
        1, /* row 0: offset 0, line 1, file 1 */
        3,
        9,
        4,
        2,
        1, /* row 1: line 10, file 2 */
        2,
        16,
        4,
        3,
        1, /* row 2: offset 16, file 3 */
        8,
        6,
        5,
        7,
        1, /* row 3: const_add_pc 17, negate, column: offset 33 */
        9,
        3,
        0,
        4,
        9,
        1,               /* row 4: fixed advance 3: offset 36; no file 9 */
        10 + 14 + 5 + 3, /* row 5: special: offset 37, line 13 */
        3,
        0x40,
        20, /* row 6: line back by 64: none; special: line + 5 */
        END_SEQUENCE,
    };
    static const struct {
        uint32_t offset, line;
        const char *file;
    } expected[] = {
        {0, 1, "x.cu"}, {0, 10, "/a/y.cu"}, {16, 10, "/z.cu"}, {33, 10, "/z.cu"},
        {36, 10, "?"},  {37, 13, "?"},      {37, 0, "?"},
    };
    built it = build(program, sizeof(program), *state != NULL);
    size_t count, i;
    const ridge_line *const rows = read_lines(it.cubin, "k", &count);

    assert_int_equal(count, 7);
    for (i = 0; i < count; i++) {
        assert_int_equal(rows[i].offset, expected[i].offset);
        assert_int_equal(rows[i].line, expected[i].line);
        assert_string_equal(rows[i].file, expected[i].file);
        assert_null(rows[i].function);
        assert_int_equal(rows[i].inlined_at, -1);
    }
    release(&it);
}

/* Rows that go back are sorted, and a call site is still found. */
static void sorts_rows(void **state)
{
    static const uint8_t program[] = {
        SET_ADDRESS,
        2,
        32,
        3,
        9,
        1, /* offset 32, line 10 */
        INLINED(1, 1),
        3,
        10,
        1, /* offset 32, line 20, in it */
        SET_ADDRESS,
        INLINED(0, 0),
        1, /* offset 0 again, which no relocation moves */
        INLINED(2, 7),
        1, /* offset 0, in the second row */
        INLINED(1, 99),
        1, /* a name outside the table */
        END_SEQUENCE,
    };
    built it = build(program, sizeof(program), false);
    size_t count;
    const ridge_line *const rows = read_lines(it.cubin, "k", &count);

    (void)state;
    assert_int_equal(count, 5);
    assert_int_equal(rows[0].offset, 0);
    assert_null(rows[0].function);
    assert_string_equal(rows[1].function, "second");
    assert_int_equal(rows[1].inlined_at, 4);
    assert_null(rows[2].function);
    assert_int_equal(rows[2].inlined_at, 3);
    assert_int_equal(rows[3].offset, 32);
    assert_int_equal(rows[3].inlined_at, -1);
    assert_int_equal(rows[3].line, 10);
    assert_int_equal(rows[4].inlined_at, 3);
    assert_string_equal(rows[4].function, "first");
    release(&it);
}

/* Two sequences of one kernel are one table; a sequence without relocation is nobody's. */
static void joins_sequences(void **state)
{
    static const uint8_t program[] = {
        SET_ADDRESS, 1, INLINED(1, 1), 2, 4, 1, END_SEQUENCE, /* the kernel's */
        SET_ADDRESS, 1, END_SEQUENCE,                         /* nobody's */
    };
    built it = build(program, sizeof(program), true);
    size_t count;

    (void)state;
    read_lines(it.cubin, "k", &count);
    assert_int_equal(count, 2);
    release(&it);
}

static struct bad_program {
    const char *name;
    uint8_t bytes[40];
    size_t size;
    const char *message;
} bad_programs[] = {
    {"cut operand", {SET_ADDRESS, 1, 2, 0x80}, 14, "line program that ends at .debug_line+"},
    {"extended opcode too long", {SET_ADDRESS, 0, 99, 1}, 14, "line program that ends at"},
    {"extended opcode of no bytes", {SET_ADDRESS, 0, 0, 1}, 14, "line program that ends at"},
    {"row outside the code",
     {SET_ADDRESS, 2, 65, 1, END_SEQUENCE},
     17,
     "line table of k: row at 65, the code has 64 bytes"},
    {"inlined at itself",
     {SET_ADDRESS, INLINED(1, 1), 1, END_SEQUENCE},
     20,
     "row 1 is inlined at row 1, expected an earlier one"},
};

static void rejects_programs(void **state)
{
    const struct bad_program *const row = *state;
    built it = build(row->bytes, row->size, true);
    const ridge_line *rows = (const ridge_line *)&it;
    size_t count = 1;
    ridge_error err;
    int turn;

    for (turn = 0; turn < 2; turn++) { /* the second time it fails in the same way */
        assert_int_equal(
            ridge_cubin_lines(it.cubin, ridge_cubin_function_at(it.cubin, 0), &rows, &count, &err),
            RIDGE_ERR_FORMAT);
        assert_null(rows);
        assert_int_equal(count, 0);
        if (strstr(err.text, row->message) == NULL)
            fail_msg("message: %s", err.text);
    }
    release(&it);
}

static struct bad_header {
    const char *name;
    size_t offset; /* in .debug_line, which is the third section: behind code and symbols */
    unsigned value;
    ridge_status status;
    const char *message;
} bad_headers[] = {
    {"unit longer than the section", 0, 0xfff, RIDGE_ERR_FORMAT, "has 4095 bytes"},
    {"64-bit DWARF", 2, 0xffff, RIDGE_ERR_UNSUPPORTED, "64-bit DWARF"},
    {"version 5", 4, 5, RIDGE_ERR_UNSUPPORTED, "has version 5, known are 2 to 4"},
    {"tables longer than the unit", 6, 0xfff, RIDGE_ERR_FORMAT, "is cut"},
    {"tables cut", 6, 20, RIDGE_ERR_FORMAT, "is cut"},
    {"line range 0", 13, 0x0a00, RIDGE_ERR_FORMAT, "line range 0"},
    {"opcode base 0", 14, 0, RIDGE_ERR_FORMAT, "opcode base 0"},
};

static void rejects_headers(void **state)
{
    static const uint8_t program[] = {SET_ADDRESS, 1, END_SEQUENCE};
    const struct bad_header *const row = *state;
    built it = build(program, sizeof(program), true);
    const ridge_line *rows;
    size_t count;
    ridge_error err;

    /* The bytes are borrowed, and the table is not read before it is asked for. */
    store_u16(it.file.data + 64 + sizeof(code) + sizeof(symbols) + row->offset, row->value);
    if (row->offset == 2)
        store_u16(it.file.data + 64 + sizeof(code) + sizeof(symbols), 0xffff);
    assert_int_equal(
        ridge_cubin_lines(it.cubin, ridge_cubin_function_at(it.cubin, 0), &rows, &count, &err),
        row->status);
    assert_null(rows);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("message: %s", err.text);
    release(&it);
}

static void has_no_lines(void **state)
{
    const sample_header header = {false, 90, 0};
    const sample_section text = {.name = ".text.k", .type = 1, .data = code, .size = sizeof(code)};
    built it;
    size_t count = 1;

    (void)state;
    it.file = sample_cubin(&header, &text, 1);
    it.cubin = support_cubin(it.file);
    assert_null(read_lines(it.cubin, "k", &count));
    assert_int_equal(count, 0);
    release(&it);
}

static void survives_lack_of_memory(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    size_t nth = 0;
    ridge_status status;

    (void)state;
    do {
        ridge_cubin *const cubin = support_cubin(file);
        const ridge_line *rows = (const ridge_line *)&file;
        size_t count = 1;
        ridge_error err;

        ridge_memory_fail_at(++nth);
        status =
            ridge_cubin_lines(cubin, ridge_cubin_function(cubin, "block_sum"), &rows, &count, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(rows);
            assert_int_equal(count, 0);
            read_lines(cubin, "block_sum", &count); /* and works when there is memory again */
        }
        assert_true(count > 20);
        ridge_cubin_free(cubin);
    } while (status != RIDGE_OK);
    assert_true(nth > 3);
    support_release(&file);
}

int main(void)
{
    static cases list;
    static int with_addend;

    CASES_ADD_ROWS(&list, follows_inlining, recorded);
    cases_add(&list, "every instruction has its line", covers_code, NULL);
    cases_add(&list, "three levels, as nvdisasm prints them", shared_fixture, NULL);
    cases_add(&list, "find", finds_rows, NULL);
    cases_add(&list, "every opcode, rel", runs_every_opcode, NULL);
    cases_add(&list, "every opcode, rela", runs_every_opcode, &with_addend);
    cases_add(&list, "rows that go back", sorts_rows, NULL);
    cases_add(&list, "sequences", joins_sequences, NULL);
    CASES_ADD_ROWS(&list, rejects_programs, bad_programs);
    CASES_ADD_ROWS(&list, rejects_headers, bad_headers);
    cases_add(&list, "no line table", has_no_lines, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "lines");
}
