/* SPDX-License-Identifier: Apache-2.0
 *
 * Which source line an instruction comes from: the DWARF line program of .debug_line (version 2 in
 * all files seen, 3 and 4 differ in one byte of the header).
 *
 * A section is a list of units, each a header with a table of files, then a program of sequences,
 * one a kernel. A sequence sets its address to 0 and a relocation on that operand names the kernel:
 * without the relocations all kernels would lie on top of each other. NVIDIA adds one extended
 * opcode, 0x90: for the rows that follow, the row of the call site (1-based, in this sequence) and
 * the name of the inlined function (in .debug_str).
 *
 * The first question about a cubin walks all programs once, to learn which sequences belong to
 * which function and how many rows they have. Rows are made for a function when it is asked for. */
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"

enum {
    UNIT_MIN_VERSION = 2,
    UNIT_MAX_VERSION = 4,
    PATH_MAX_BYTES = 4096,
    PATHS_PER_SECTION = 16, /* joined file names are at most this many times the section */
    PATHS_MIN_BYTES = 1 << 16,
    INLINE_DEPTH_MAX = 1024,
    REL_BYTES = 16,
    RELA_BYTES = 24,
};

static const uint32_t length_64_bit = 0xfffffff0; /* lengths from here on: 64-bit DWARF */

/* Standard and extended opcodes of a line program. */
enum {
    OP_EXTENDED = 0,
    OP_COPY = 1,
    OP_ADVANCE_PC = 2,
    OP_ADVANCE_LINE = 3,
    OP_SET_FILE = 4,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,
    EXTENDED_END_SEQUENCE = 1,
    EXTENDED_SET_ADDRESS = 2,
    EXTENDED_INLINED_CALL = 0x90,
};

typedef struct line_unit {
    size_t end; /* offset in the section */
    uint8_t instruction_bytes, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *operand_counts; /* of opcode 1 on */
    const char **files;            /* joined with their directories; file 1 first */
    size_t file_count;
} line_unit;

struct line_sequence {
    const line_unit *unit;
    size_t begin; /* offset in the section of its first opcode */
    const ridge_function *function;
    size_t row_count;
};

struct line_relocation {
    uint64_t offset; /* of the address operand, in the section */
    uint64_t symbol;
    uint64_t addend;
};

typedef struct line_relocation line_relocation;

/* What a walk over the units needs. */
typedef struct line_index {
    ridge_cubin *cubin;
    line_relocation *relocations; /* by offset */
    size_t relocation_count;
    size_t path_bytes; /* spent on joined names */
    size_t sequence_room;
} line_index;

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading a line table");
}

/* ---- relocations ---- */

static int compare_relocations(const void *a, const void *b)
{
    const line_relocation *const left = a;
    const line_relocation *const right = b;

    return (left->offset > right->offset) - (left->offset < right->offset);
}

static ridge_status read_relocations(line_index *index, ridge_error *err)
{
    ridge_cubin *const cubin = index->cubin;
    const bool have_addend = cubin->line_relocations_have_addend;
    ridge_cursor cursor = ridge_cursor_of(cubin->line_relocations);
    const size_t count = cubin->line_relocations.size / (have_addend ? RELA_BYTES : REL_BYTES);
    size_t i;

    index->relocations = ridge_alloc_array(&cubin->line_arena, count, sizeof(*index->relocations));
    if (index->relocations == NULL)
        return out_of_memory(err);
    for (i = 0; i < count; i++) {
        index->relocations[i].offset = ridge_read_u64(&cursor);
        index->relocations[i].symbol = ridge_read_u64(&cursor) >> 32;
        index->relocations[i].addend = have_addend ? ridge_read_u64(&cursor) : 0;
    }
    index->relocation_count = count;
    qsort(index->relocations, count, sizeof(*index->relocations), compare_relocations);
    return RIDGE_OK;
}

/* ---- unit headers ---- */

static ridge_status cut_header(size_t at, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "header of the line table unit at .debug_line+%zu is cut", at);
}

/* directory/name, or the name when it is absolute or has no directory. */
static ridge_status join_path(line_index *index, ridge_slice directory, ridge_slice name,
                              const char **out, ridge_error *err)
{
    const bool is_absolute = name.size > 0 && name.data[0] == '/';
    const size_t prefix = directory.size > 0 && !is_absolute ? directory.size + 1 : 0;
    const size_t limit = index->cubin->debug_line.size * PATHS_PER_SECTION + PATHS_MIN_BYTES;
    char *path;

    if (prefix + name.size > PATH_MAX_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "file name of %zu bytes in .debug_line, limit %d",
                          prefix + name.size, PATH_MAX_BYTES);
    index->path_bytes += prefix + name.size + 1;
    if (index->path_bytes > limit)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "file names of .debug_line take more than %zu bytes", limit);
    path = ridge_alloc(&index->cubin->line_arena, prefix + name.size + 1);
    if (path == NULL)
        return out_of_memory(err);
    if (prefix > 0) {
        memcpy(path, directory.data, directory.size);
        path[directory.size] = '/';
    }
    memcpy(path + prefix, name.data, name.size);
    *out = path;
    return RIDGE_OK;
}

/* Entries of a list of NUL-terminated strings that an empty one ends; each is followed by
 * numbers_after LEB128 numbers. Leaves the cursor behind the list. */
static size_t count_entries(ridge_cursor *cursor, int numbers_after)
{
    size_t count = 0;

    while (ridge_read_text(cursor).size > 0) {
        int i;

        for (i = 0; i < numbers_after; i++)
            ridge_read_uleb(cursor);
        count++;
    }
    return count;
}

/* The tables of directories and files at the cursor, which ends behind them. */
static ridge_status read_files(line_index *index, line_unit *unit, ridge_cursor *cursor,
                               ridge_error *err)
{
    enum { FILE_NUMBERS = 3 }; /* directory, time, size */
    ridge_arena *const arena = &index->cubin->line_arena;
    ridge_cursor again = *cursor;
    const size_t directory_count = count_entries(cursor, 0);
    const size_t file_count = count_entries(cursor, FILE_NUMBERS);
    ridge_slice *const directories =
        ridge_alloc_array(arena, directory_count, sizeof(*directories));
    size_t i;

    unit->files = ridge_alloc_array(arena, file_count, sizeof(*unit->files));
    if (directories == NULL || unit->files == NULL)
        return out_of_memory(err);
    for (i = 0; i < directory_count; i++)
        directories[i] = ridge_read_text(&again);
    ridge_read_text(&again); /* the end of the directories */
    for (i = 0; i < file_count; i++) {
        const ridge_slice name = ridge_read_text(&again);
        const uint64_t directory = ridge_read_uleb(&again);
        const ridge_slice none = {NULL, 0};
        ridge_status status;

        ridge_read_uleb(&again);
        ridge_read_uleb(&again);
        /* Directory 0 is that of the compilation, which is not recorded. */
        status = join_path(
            index,
            directory >= 1 && directory <= directory_count ? directories[directory - 1] : none,
            name, &unit->files[i], err);
        if (status != RIDGE_OK)
            return status;
    }
    unit->file_count = file_count;
    return RIDGE_OK;
}

/* Reads the header of the unit at the cursor and leaves the cursor at its first opcode. */
static ridge_status read_unit(line_index *index, ridge_cursor *cursor, line_unit *unit,
                              ridge_error *err)
{
    const size_t at = ridge_cursor_offset(cursor);
    const uint32_t length = ridge_read_u32(cursor);
    ridge_cursor header = *cursor;
    unsigned version;
    uint32_t header_length;
    size_t program;
    ridge_status status;

    if (length >= length_64_bit)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "64-bit DWARF in the line table unit at .debug_line+%zu", at);
    if (length > ridge_cursor_left(cursor))
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "line table unit at .debug_line+%zu has %u bytes, %zu are left", at,
                          length, ridge_cursor_left(cursor));
    unit->end = ridge_cursor_offset(cursor) + length;
    header.end = header.begin + unit->end;
    version = ridge_read_u16(&header);
    header_length = ridge_read_u32(&header);
    if (header.failed)
        return cut_header(at, err);
    if (version < UNIT_MIN_VERSION || version > UNIT_MAX_VERSION)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "line table unit at .debug_line+%zu has version %u, known are 2 to 4", at,
                          version);
    if (header_length > ridge_cursor_left(&header))
        return cut_header(at, err);
    program = ridge_cursor_offset(&header) + header_length;
    header.end = header.begin + program;
    unit->instruction_bytes = ridge_read_u8(&header);
    ridge_skip(&header, version >= 4 ? 2 : 1); /* operations an instruction, default_is_stmt */
    unit->line_base = (int8_t)ridge_read_u8(&header);
    unit->line_range = ridge_read_u8(&header);
    unit->opcode_base = ridge_read_u8(&header);
    unit->operand_counts = header.position;
    if (unit->opcode_base > 0)
        ridge_skip(&header, unit->opcode_base - 1u);
    if (header.failed)
        return cut_header(at, err);
    if (unit->line_range == 0 || unit->opcode_base == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "line table unit at .debug_line+%zu has line range %u, opcode base %u",
                          at, unit->line_range, unit->opcode_base);
    status = read_files(index, unit, &header, err);
    if (status != RIDGE_OK)
        return status;
    if (header.failed)
        return cut_header(at, err);
    cursor->position = cursor->begin + program; /* what follows the files is not ours */
    return RIDGE_OK;
}

/* ---- line programs ---- */

typedef struct line_machine {
    const line_index *index;
    const line_unit *unit;
    ridge_cursor cursor; /* over the section, ends with the unit */
    const ridge_function *function;
    uint64_t address;
    uint64_t line, file;
    uint64_t context, function_name; /* of an inlined call; context 0: none */
} line_machine;

typedef enum line_event {
    LINE_ROW,
    LINE_END_SEQUENCE,
    LINE_END, /* of the unit, or the cursor failed */
} line_event;

static void start_sequence(line_machine *machine)
{
    machine->function = NULL;
    machine->address = 0;
    machine->line = 1;
    machine->file = 1;
    machine->context = 0;
    machine->function_name = 0;
}

/* Where in its function an address operand points, given what stands in its place. In an image that
 * was taken from a process the symbol is an address, which the driver has added to the operand. */
static uint64_t relocate(const line_index *index, const line_relocation *relocation,
                         const cubin_symbol_row *symbol, uint64_t in_place)
{
    const bool have_addend = index->cubin->line_relocations_have_addend;
    const uint64_t addend = have_addend ? relocation->addend : in_place;

    if (symbol->function == NULL || symbol->value <= symbol->function->code_bytes)
        return symbol->value + addend;
    if (have_addend)
        return addend;
    return in_place >= symbol->value ? in_place - symbol->value : in_place;
}

static void set_address(line_machine *machine)
{
    const line_index *const index = machine->index;
    const line_relocation key = {.offset = ridge_cursor_offset(&machine->cursor)};
    const line_relocation *const relocation = bsearch(
        &key, index->relocations, index->relocation_count, sizeof(key), compare_relocations);
    cubin_symbol_row symbol;

    machine->address = ridge_read_u64(&machine->cursor);
    if (relocation == NULL || !cubin_symbol(index->cubin, relocation->symbol, &symbol))
        return;
    machine->function = symbol.function;
    machine->address = relocate(index, relocation, &symbol, machine->address);
}

/* True at the end of a sequence. */
static bool run_extended(line_machine *machine)
{
    ridge_cursor *const cursor = &machine->cursor;
    const uint64_t size = ridge_read_uleb(cursor);
    size_t next;
    unsigned opcode;

    if (size == 0 || size > ridge_cursor_left(cursor)) {
        cursor->failed = true;
        return false;
    }
    next = ridge_cursor_offset(cursor) + (size_t)size;
    opcode = ridge_read_u8(cursor);
    if (opcode == EXTENDED_SET_ADDRESS) {
        set_address(machine);
    } else if (opcode == EXTENDED_INLINED_CALL) {
        machine->context = ridge_read_uleb(cursor);
        machine->function_name = ridge_read_uleb(cursor);
    }
    if (ridge_cursor_offset(cursor) > next)
        cursor->failed = true; /* the operands are longer than announced */
    if (!cursor->failed)
        cursor->position = cursor->begin + next;
    return opcode == EXTENDED_END_SEQUENCE && !cursor->failed;
}

static void run_special(line_machine *machine, unsigned opcode)
{
    const line_unit *const unit = machine->unit;
    const unsigned adjusted = opcode - unit->opcode_base;

    machine->address += (uint64_t)(adjusted / unit->line_range) * unit->instruction_bytes;
    machine->line += (uint64_t)((int64_t)unit->line_base + adjusted % unit->line_range);
}

static void run_standard(line_machine *machine, unsigned opcode)
{
    const line_unit *const unit = machine->unit;
    ridge_cursor *const cursor = &machine->cursor;
    unsigned i;

    switch (opcode) {
    case OP_ADVANCE_PC:
        machine->address += ridge_read_uleb(cursor) * unit->instruction_bytes;
        break;
    case OP_ADVANCE_LINE:
        machine->line += (uint64_t)ridge_read_sleb(cursor);
        break;
    case OP_SET_FILE:
        machine->file = ridge_read_uleb(cursor);
        break;
    case OP_CONST_ADD_PC:
        machine->address +=
            (uint64_t)((255u - unit->opcode_base) / unit->line_range) * unit->instruction_bytes;
        break;
    case OP_FIXED_ADVANCE_PC:
        machine->address += ridge_read_u16(cursor);
        break;
    default: /* columns, statement flags, opcodes of later versions */
        for (i = 0; i < unit->operand_counts[opcode - 1]; i++)
            ridge_read_uleb(cursor);
        break;
    }
}

/* Runs the program up to its next row. */
static line_event run_machine(line_machine *machine)
{
    ridge_cursor *const cursor = &machine->cursor;

    while (ridge_cursor_left(cursor) > 0 && !cursor->failed) {
        const unsigned opcode = ridge_read_u8(cursor);

        if (opcode >= machine->unit->opcode_base) {
            run_special(machine, opcode);
            return LINE_ROW;
        }
        if (opcode == OP_EXTENDED) {
            if (run_extended(machine))
                return LINE_END_SEQUENCE;
        } else if (opcode == OP_COPY) {
            return LINE_ROW;
        } else {
            run_standard(machine, opcode);
        }
    }
    return LINE_END;
}

/* ---- which sequence belongs to which function ---- */

static ridge_status add_sequence(line_index *index, const struct line_sequence *sequence,
                                 ridge_error *err)
{
    ridge_cubin *const cubin = index->cubin;

    if (cubin->sequence_count == index->sequence_room) {
        const size_t room = index->sequence_room > 0 ? 2 * index->sequence_room : 64;
        struct line_sequence *const grown =
            ridge_alloc_array(&cubin->line_arena, room, sizeof(*grown));

        if (grown == NULL)
            return out_of_memory(err);
        if (cubin->sequence_count > 0)
            memcpy(grown, cubin->sequences, cubin->sequence_count * sizeof(*grown));
        cubin->sequences = grown;
        index->sequence_room = room;
    }
    cubin->sequences[cubin->sequence_count++] = *sequence;
    return RIDGE_OK;
}

static line_machine machine_at(const line_index *index, const line_unit *unit, size_t offset)
{
    line_machine machine = {.index = index, .unit = unit};

    machine.cursor = ridge_cursor_of(index->cubin->debug_line);
    machine.cursor.position += offset;
    machine.cursor.end = machine.cursor.begin + unit->end;
    start_sequence(&machine);
    return machine;
}

static ridge_status walk_unit(line_index *index, const line_unit *unit, size_t begin,
                              ridge_error *err)
{
    line_machine machine = machine_at(index, unit, begin);
    struct line_sequence sequence = {.unit = unit, .begin = begin};
    line_event event;

    while ((event = run_machine(&machine)) != LINE_END) {
        if (event == LINE_ROW) {
            sequence.row_count++;
            continue;
        }
        sequence.function = machine.function;
        if (sequence.function != NULL && sequence.row_count > 0) {
            const ridge_status status = add_sequence(index, &sequence, err);

            if (status != RIDGE_OK)
                return status;
        }
        sequence.begin = ridge_cursor_offset(&machine.cursor);
        sequence.row_count = 0;
        start_sequence(&machine);
    }
    if (machine.cursor.failed)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "line program that ends at .debug_line+%zu is cut",
                          unit->end);
    return RIDGE_OK;
}

static ridge_status walk_units(line_index *index, ridge_error *err)
{
    ridge_cursor cursor = ridge_cursor_of(index->cubin->debug_line);

    while (ridge_cursor_left(&cursor) >= sizeof(uint32_t)) {
        line_unit *const unit = ridge_alloc(&index->cubin->line_arena, sizeof(*unit));
        ridge_status status;

        if (unit == NULL)
            return out_of_memory(err);
        status = read_unit(index, &cursor, unit, err);
        if (status == RIDGE_OK)
            status = walk_unit(index, unit, ridge_cursor_offset(&cursor), err);
        if (status != RIDGE_OK)
            return status;
        cursor.position = cursor.begin + unit->end;
    }
    return RIDGE_OK;
}

static int compare_sequences(const void *a, const void *b)
{
    const struct line_sequence *const left = a;
    const struct line_sequence *const right = b;

    if (left->function != right->function)
        return left->function < right->function ? -1 : 1;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* ---- rows of a function ---- */

static const char *inlined_name(const ridge_cubin *cubin, uint64_t offset)
{
    const ridge_slice names = cubin->debug_str;

    if (offset >= names.size || memchr(names.data + offset, 0, names.size - (size_t)offset) == NULL)
        return NULL;
    return (const char *)names.data + offset;
}

static ridge_status fill_row(const line_machine *machine, const ridge_function *function,
                             size_t row_index, ridge_line *row, ridge_error *err)
{
    const line_unit *const unit = machine->unit;

    if (machine->address > function->code_bytes)
        return ridge_fail(
            err, RIDGE_ERR_FORMAT, "line table of %.200s: row at %llu, the code has %zu bytes",
            function->name, (unsigned long long)machine->address, function->code_bytes);
    if (machine->context > row_index)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "line table of %.200s: row %zu is inlined at row %llu, expected an "
                          "earlier one",
                          function->name, row_index + 1, (unsigned long long)machine->context);
    row->offset = (uint32_t)machine->address;
    row->line = machine->line <= UINT32_MAX ? (uint32_t)machine->line : 0;
    row->file = machine->file >= 1 && machine->file <= unit->file_count
                    ? unit->files[machine->file - 1]
                    : "?"; /* a number beyond the table */
    row->function = NULL;
    row->inlined_at = -1;
    if (machine->context > 0) {
        row->inlined_at = (int32_t)(machine->context - 1);
        row->function = inlined_name(machine->index->cubin, machine->function_name);
    }
    return RIDGE_OK;
}

/* Rows of one sequence behind those that are there; depths[i] is how deep row i is inlined. */
static ridge_status fill_sequence(const line_index *index, const struct line_sequence *sequence,
                                  ridge_line *rows, uint16_t *depths, size_t first,
                                  ridge_error *err)
{
    line_machine machine = machine_at(index, sequence->unit, sequence->begin);
    size_t i;

    for (i = 0; i < sequence->row_count && run_machine(&machine) == LINE_ROW; i++) {
        ridge_line *const row = &rows[first + i];
        const ridge_status status = fill_row(&machine, sequence->function, i, row, err);

        if (status != RIDGE_OK)
            return status;
        if (row->inlined_at < 0)
            continue;
        row->inlined_at += (int32_t)first;
        depths[first + i] = (uint16_t)(depths[row->inlined_at] + 1);
        if (depths[first + i] > INLINE_DEPTH_MAX)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "line table of %.200s: calls inlined more than %d deep",
                              sequence->function->name, INLINE_DEPTH_MAX);
    }
    return RIDGE_OK;
}

typedef struct placed_row {
    ridge_line row;
    size_t place; /* before sorting */
} placed_row;

static int compare_rows(const void *a, const void *b)
{
    const placed_row *const left = a;
    const placed_row *const right = b;

    if (left->row.offset != right->row.offset)
        return left->row.offset < right->row.offset ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* Rows of a sequence ascend as a rule; where they do not (or a function has two sequences) they
 * are sorted, and the links to call sites follow. */
static ridge_status sort_rows(ridge_line *rows, size_t count, ridge_error *err)
{
    placed_row *placed = NULL;
    int32_t *moved = NULL;
    ridge_status status = RIDGE_OK;
    size_t i;

    for (i = 1; i < count && rows[i - 1].offset <= rows[i].offset; i++)
        ;
    if (i >= count)
        return RIDGE_OK;
    placed = ridge_calloc(count, sizeof(*placed));
    moved = ridge_calloc(count, sizeof(*moved));
    if (placed == NULL || moved == NULL) {
        status = out_of_memory(err);
        goto out;
    }
    for (i = 0; i < count; i++) {
        placed[i].row = rows[i];
        placed[i].place = i;
    }
    qsort(placed, count, sizeof(*placed), compare_rows);
    for (i = 0; i < count; i++)
        moved[placed[i].place] = (int32_t)i;
    for (i = 0; i < count; i++) {
        rows[i] = placed[i].row;
        if (rows[i].inlined_at >= 0)
            rows[i].inlined_at = moved[rows[i].inlined_at];
    }
out:
    ridge_free(moved);
    ridge_free(placed);
    return status;
}

static ridge_status make_rows(const line_index *index, const struct line_sequence *sequences,
                              size_t sequence_count, cubin_lines *lines, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    ridge_line *rows = NULL;
    uint16_t *depths = NULL;
    size_t count = 0;
    size_t first = 0;
    size_t i;

    for (i = 0; i < sequence_count; i++)
        count += sequences[i].row_count;
    if (count > INT32_MAX) /* more than a section of 2 GiB can hold in practice */
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "line table of %zu rows", count);
    rows = ridge_calloc(count, sizeof(*rows));
    depths = ridge_calloc(count, sizeof(*depths));
    if (rows == NULL || depths == NULL) {
        status = out_of_memory(err);
        goto out;
    }
    for (i = 0; i < sequence_count && status == RIDGE_OK; i++) {
        status = fill_sequence(index, &sequences[i], rows, depths, first, err);
        first += sequences[i].row_count;
    }
    if (status == RIDGE_OK)
        status = sort_rows(rows, count, err);
    if (status != RIDGE_OK)
        goto out;
    lines->rows = rows; /* freed with the cubin */
    lines->count = count;
    rows = NULL;
out:
    ridge_free(depths);
    ridge_free(rows);
    return status;
}

/* ---- public ---- */

/* Undoes what a failed build_index() left. */
static void forget_index(ridge_cubin *cubin)
{
    ridge_arena_release(&cubin->line_arena);
    cubin->sequences = NULL;
    cubin->sequence_count = 0;
}

static ridge_status build_index(line_index *index, ridge_error *err)
{
    ridge_cubin *const cubin = index->cubin;
    ridge_status status;

    status = read_relocations(index, err);
    if (status == RIDGE_OK)
        status = walk_units(index, err);
    if (status != RIDGE_OK)
        return status;
    if (cubin->sequence_count > 0)
        qsort(cubin->sequences, cubin->sequence_count, sizeof(*cubin->sequences),
              compare_sequences);
    cubin->relocations = index->relocations;
    cubin->relocation_count = index->relocation_count;
    cubin->is_line_index_built = true;
    return RIDGE_OK;
}

/* A table that is malformed stays so: it is read once, not for every function. */
static ridge_status ensure_index(line_index *index, ridge_error *err)
{
    ridge_cubin *const cubin = index->cubin;
    ridge_error failure = {.status = RIDGE_OK};
    ridge_status status;

    if (cubin->is_line_index_built)
        return RIDGE_OK;
    if (cubin->line_failure != NULL)
        return ridge_fail(err, cubin->line_failure->status, "%s", cubin->line_failure->text);
    status = build_index(index, &failure);
    if (status == RIDGE_OK)
        return RIDGE_OK;
    forget_index(cubin);
    if (status != RIDGE_ERR_OUT_OF_MEMORY) {
        cubin->line_failure = ridge_alloc(&cubin->arena, sizeof(failure));
        if (cubin->line_failure != NULL)
            *cubin->line_failure = failure;
    }
    return ridge_fail(err, status, "%s", failure.text);
}

/* The first sequence of a function, or of one behind it. */
static size_t first_sequence(const ridge_cubin *cubin, const ridge_function *function)
{
    size_t low = 0;
    size_t high = cubin->sequence_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cubin->sequences[middle].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ridge_status ridge_cubin_lines(ridge_cubin *cubin, const ridge_function *function,
                               const ridge_line **rows, size_t *row_count, ridge_error *err)
{
    cubin_lines *const lines = &cubin->lines[function - cubin->functions];
    line_index index = {.cubin = cubin};
    size_t begin, end;
    ridge_status status;

    *rows = NULL;
    *row_count = 0;
    status = ensure_index(&index, err);
    if (status != RIDGE_OK)
        return status;
    if (!lines->is_read) {
        index.relocations = cubin->relocations;
        index.relocation_count = cubin->relocation_count;
        begin = first_sequence(cubin, function);
        for (end = begin; end < cubin->sequence_count; end++)
            if (cubin->sequences[end].function != function)
                break;
        if (end > begin) {
            status = make_rows(&index, &cubin->sequences[begin], end - begin, lines, err);
            if (status != RIDGE_OK)
                return status;
        }
        lines->is_read = true;
    }
    *rows = lines->rows;
    *row_count = lines->count;
    return RIDGE_OK;
}

const ridge_line *ridge_line_find(const ridge_line *rows, size_t row_count, uint32_t offset)
{
    size_t low = 0;
    size_t high = row_count; /* rows[low - 1].offset <= offset < rows[high].offset */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (rows[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &rows[low - 1] : NULL;
}
