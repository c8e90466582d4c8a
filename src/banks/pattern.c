/* SPDX-License-Identifier: Apache-2.0
 *
 * Which element each lane of a warp takes: named patterns that walk a tile, and expressions. A
 * named pattern is a row of a table: the block of the tile that its steps cover, and the place of
 * a lane in it. Fragments are those of the PTX manual, "Matrix Fragments for mma.m16n8k16". */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/banks_internal.h"
#include "ridge/banks.h"

enum { LANES = RIDGE_BANKS_LANES, MOST_WARPS = 32 };

/* What a pattern is asked for. */
struct walk {
    int rows, columns;  /* of the tile */
    int vector;         /* elements a lane accesses */
    int register_count; /* elements in 4 bytes: a register of a fragment; 0: elements are larger */
    int lanes;          /* that give addresses: 32, or 8 a matrix */
    int matrix_count;
};

struct place {
    int row, column;
};

/* Rows and columns that a turn of steps covers. */
struct block {
    int rows, columns, steps;
};

struct named {
    const char *name;
    const char *meaning;
    enum { ANY, MATRIX_ONLY, LANES_ONLY } of;
    int width_registers; /* the access is one register: 4 bytes; or as many elements; 0: any */
    int width_elements;  /* the same in elements */
    struct block (*block)(const struct walk *walk);
    struct place (*place)(const struct walk *walk, int lane, int step);
};

static struct block whole_tile(const struct walk *walk)
{
    const int pieces = walk->columns / walk->vector;
    const int per_step = walk->lanes;

    return (struct block){walk->rows, walk->columns,
                          (walk->rows * pieces + per_step - 1) / per_step};
}

static struct place place_row(const struct walk *walk, int lane, int step)
{
    const int pieces = walk->columns / walk->vector;
    const int piece = step * walk->lanes + lane;

    return (struct place){piece / pieces, piece % pieces * walk->vector};
}

static struct place place_transposed(const struct walk *walk, int lane, int step)
{
    const int piece = step * walk->lanes + lane;

    return (struct place){piece % walk->rows, piece / walk->rows * walk->vector};
}

static struct block one_column(const struct walk *walk)
{
    return (struct block){walk->lanes, walk->vector, 1};
}

static struct place place_column(const struct walk *walk, int lane, int step)
{
    (void)walk;
    (void)step;
    return (struct place){lane, 0};
}

static struct block eight_rows(const struct walk *walk)
{
    return (struct block){8, walk->lanes / 8 * walk->vector, 1};
}

static struct place place_quarter_rows(const struct walk *walk, int lane, int step)
{
    (void)step;
    return (struct place){lane % 8, lane / 8 * walk->vector};
}

/* Fragments: lane / 4 is the group, lane % 4 the place in it. */
static struct block fragment_a(const struct walk *walk)
{
    return (struct block){16, 8 * walk->register_count, 4};
}

static struct place place_mma_a(const struct walk *walk, int lane, int step)
{
    return (struct place){lane / 4 + step % 2 * 8,
                          (lane % 4 + step / 2 * 4) * walk->register_count};
}

static struct block fragment_b(const struct walk *walk)
{
    return (struct block){8, 8 * walk->register_count, 2};
}

static struct place place_mma_b(const struct walk *walk, int lane, int step)
{
    return (struct place){lane / 4, (lane % 4 + step * 4) * walk->register_count};
}

static struct block fragment_b_trans(const struct walk *walk)
{
    return (struct block){8 * walk->register_count, 8, 2 * walk->register_count};
}

static struct place place_mma_b_trans(const struct walk *walk, int lane, int step)
{
    const int half = step / walk->register_count;

    return (struct place){
        (lane % 4 + half * 4) * walk->register_count + step % walk->register_count, lane / 4};
}

static struct block fragment_c(const struct walk *walk)
{
    (void)walk;
    return (struct block){16, 8, 2};
}

static struct place place_mma_c(const struct walk *walk, int lane, int step)
{
    (void)walk;
    return (struct place){lane / 4 + step * 8, lane % 4 * 2};
}

static struct block matrices_a(const struct walk *walk)
{
    return (struct block){walk->matrix_count == 1 ? 8 : 16,
                          (walk->matrix_count + 1) / 2 * walk->vector, 1};
}

static struct place place_ldmatrix_a(const struct walk *walk, int lane, int step)
{
    (void)step;
    return (struct place){lane % 16, lane / 16 * walk->vector};
}

static struct block matrices_b(const struct walk *walk)
{
    return (struct block){walk->matrix_count == 4 ? 16 : 8,
                          walk->matrix_count == 1 ? walk->vector : 2 * walk->vector, 1};
}

static struct place place_ldmatrix_b(const struct walk *walk, int lane, int step)
{
    (void)step;
    return (struct place){lane % 8 + lane / 16 * 8, lane / 8 % 2 * walk->vector};
}

static const struct named patterns[] = {
    {"row", "lanes side by side along rows, the next row after the last column", ANY, 0, 0,
     whole_tile, place_row},
    {"token-strided", "lane = row, all at one column", ANY, 0, 0, one_column, place_column},
    {"transposed", "lanes one below the other, the next column after the last row", ANY, 0, 0,
     whole_tile, place_transposed},
    {"quarter-rows", "8 lanes take 8 rows at one column, the next 8 lanes the columns beside", ANY,
     0, 0, eight_rows, place_quarter_rows},
    {"mma-a", "registers of an A fragment of mma.m16n8, one after the other; tile [M][K]",
     LANES_ONLY, 1, 0, fragment_a, place_mma_a},
    {"mma-b", "registers of a B fragment; tile [N][K]", LANES_ONLY, 1, 0, fragment_b, place_mma_b},
    {"mma-b-trans", "elements of a B fragment; tile [K][N]", LANES_ONLY, 0, 1, fragment_b_trans,
     place_mma_b_trans},
    {"mma-c", "pairs of elements of an accumulator fragment; tile [M][N]", LANES_ONLY, 0, 2,
     fragment_c, place_mma_c},
    {"ldmatrix-a", "addresses for an A fragment, tile [M][K]; with .trans for B, tile [K][N]",
     MATRIX_ONLY, 0, 0, matrices_a, place_ldmatrix_a},
    {"ldmatrix-b", "addresses for a B fragment, tile [N][K]; with .trans for A, tile [K][M]",
     MATRIX_ONLY, 0, 0, matrices_b, place_ldmatrix_b},
};

enum { PATTERN_COUNT = sizeof(patterns) / sizeof(patterns[0]) };

const char *ridge_bank_pattern_name(size_t index)
{
    return index < PATTERN_COUNT ? patterns[index].name : NULL;
}

const char *ridge_bank_pattern_meaning(size_t index)
{
    return index < PATTERN_COUNT ? patterns[index].meaning : NULL;
}

static const struct named *find_named(const char *name)
{
    for (size_t i = 0; i < PATTERN_COUNT; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

/* -- text -------------------------------------------------------------------------------------- */

static ridge_status read_origin(ridge_bank_pattern *pattern, const char *text, ridge_error *err)
{
    const char *const comma = strchr(text, ',');
    char row[16];
    ridge_status status;

    if (comma == NULL || comma - text > 9)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "origin '@%s', expected @ROW,COLUMN",
                          text);
    snprintf(row, sizeof(row), "%.*s", (int)(comma - text), text);
    status = banks_number(row, "origin row", 0, 65535, &pattern->row, err);
    if (status != RIDGE_OK)
        return status;
    return banks_number(comma + 1, "origin column", 0, 65535, &pattern->column, err);
}

static ridge_status read_lanes(ridge_bank_pattern *pattern, const char *text, ridge_error *err)
{
    char *end = NULL;
    const unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;

    if (end == NULL || *end != '\0' || value == 0 || value > UINT32_MAX)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "lanes='%s', expected a mask of 1 to 0xffffffff", text);
    pattern->lanes = (uint32_t)value;
    return RIDGE_OK;
}

static ridge_status read_part(ridge_bank_pattern *pattern, const char *part, bool *taken,
                              ridge_error *err)
{
    *taken = true;
    if (part[0] == '@')
        return read_origin(pattern, part + 1, err);
    if (strncmp(part, "lanes=", 6) == 0)
        return read_lanes(pattern, part + 6, err);
    if (strncmp(part, "warp=", 5) == 0)
        return banks_number(part + 5, "warp", 0, MOST_WARPS - 1, &pattern->warp, err);
    if (strncmp(part, "i=", 2) == 0 && part[2] != '=')
        return banks_number(part + 2, "steps i", 1, RIDGE_BANKS_MOST_STEPS, &pattern->steps, err);
    *taken = false;
    return RIDGE_OK;
}

static ridge_status check_where(const ridge_bank_pattern *pattern, ridge_error *err)
{
    const ridge_bank_variable variables[] = {{"lane", 0}, {"warp", pattern->warp}, {"i", 0}};
    int64_t values[2];

    if (find_named(pattern->where) != NULL)
        return RIDGE_OK;
    if (strchr(pattern->where, ',') == NULL && strpbrk(pattern->where, "+*/%(<>&|^?") == NULL) {
        char known[160] = "";

        for (size_t i = 0; i < PATTERN_COUNT; i++)
            snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
                     i > 0 ? ", " : "", patterns[i].name);
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "unknown pattern '%s', expected %s, or an expression 'ROW, COLUMN' of "
                          "lane, warp and i",
                          pattern->where, known);
    }
    return ridge_bank_evaluate(pattern->where, variables, 3, values, 2, err);
}

static ridge_status read_words(const char *text, ridge_bank_pattern *pattern, ridge_error *err)
{
    char word[RIDGE_BANKS_MOST_TEXT + 1];
    ridge_status status;
    bool first = true;

    if (strlen(text) > RIDGE_BANKS_MOST_TEXT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "an access of %zu characters, expected at most %d", strlen(text),
                          RIDGE_BANKS_MOST_TEXT);
    for (const char *p = text + strspn(text, " \t"); *p != '\0' || first;
         p += strspn(p, " \t"), first = false) {
        const size_t length = strcspn(p, " \t");
        bool taken = true;

        snprintf(word, sizeof(word), "%.*s", (int)length, p);
        p += length;
        status = first ? ridge_bank_access_read(word, &pattern->access, err)
                       : read_part(pattern, word, &taken, err);
        if (status != RIDGE_OK)
            return status;
        if (!taken) {
            if (pattern->where[0] != '\0')
                strcat(pattern->where, " ");
            strcat(pattern->where, word);
        }
    }
    if (pattern->where[0] == '\0')
        strcpy(pattern->where, pattern->access.matrix_count > 0 ? "ldmatrix-a" : "row");
    return check_where(pattern, err);
}

ridge_status ridge_bank_pattern_read(const char *text, ridge_bank_pattern *out, ridge_error *err)
{
    ridge_bank_pattern pattern = {.lanes = RIDGE_BANKS_ALL_LANES};
    const ridge_status status = read_words(text, &pattern, err);

    if (status != RIDGE_OK)
        pattern = (ridge_bank_pattern){.lanes = 0};
    *out = pattern;
    return status;
}

/* -- elements ---------------------------------------------------------------------------------- */

static ridge_status check_fit(const ridge_bank_pattern *pattern, const ridge_bank_tile *tile,
                              const struct named *named, struct walk *walk, ridge_error *err)
{
    const ridge_bank_access *const access = &pattern->access;
    const int element = tile->element_bytes;
    char name[32];

    ridge_bank_access_name(access, name, sizeof(name));
    if (access->width_bytes < element)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s takes less than an element of %d bytes", name, element);
    *walk = (struct walk){.rows = tile->rows,
                          .columns = tile->columns,
                          .vector = access->width_bytes / element,
                          .register_count = 4 / element,
                          .lanes = access->matrix_count > 0 ? 8 * access->matrix_count : LANES,
                          .matrix_count = access->matrix_count};
    if (named == NULL)
        return RIDGE_OK;
    if (tile->columns % walk->vector != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s takes %d elements, rows of %d columns are no multiple", name,
                          walk->vector, tile->columns);
    if (named->of == MATRIX_ONLY && access->matrix_count == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "pattern %s is for ldmatrix and stmatrix, not %s", named->name, name);
    if (named->of == LANES_ONLY && access->matrix_count > 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "pattern %s is for ld and st; for %s use ldmatrix-a or ldmatrix-b",
                          named->name, name);
    if (named->width_registers > 0 && access->width_bytes != 4)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "pattern %s takes registers of 4 bytes, not %s", named->name, name);
    if (named->width_elements > 0 && walk->vector != named->width_elements)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "pattern %s takes %d elements of %d bytes a lane, not %s", named->name,
                          named->width_elements, element, name);
    if (named->of == LANES_ONLY && walk->register_count == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "pattern %s is for elements of up to 4 bytes, not %d", named->name,
                          element);
    return RIDGE_OK;
}

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

ridge_status ridge_bank_pattern_steps(const ridge_bank_pattern *pattern,
                                      const ridge_bank_tile *tile, int *steps, ridge_error *err)
{
    const struct named *const named = find_named(pattern->where);
    struct walk walk;
    struct block block;
    int64_t count;
    const ridge_status status = check_fit(pattern, tile, named, &walk, err);

    *steps = 0;
    if (status != RIDGE_OK)
        return status;
    *steps = pattern->steps > 0 ? pattern->steps : 1;
    if (pattern->steps > 0 || named == NULL || pattern->row > 0 || pattern->column > 0)
        return RIDGE_OK;
    block = named->block(&walk);
    count = (int64_t)divide_up(tile->rows, block.rows) * divide_up(tile->columns, block.columns) *
            block.steps;
    if (count > RIDGE_BANKS_MOST_STEPS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%lld instructions to walk a tile of %d x %d, expected at most %d; i=1 "
                          "looks at the first",
                          (long long)count, tile->rows, tile->columns, RIDGE_BANKS_MOST_STEPS);
    *steps = (int)count;
    return RIDGE_OK;
}

static struct place named_place(const struct named *named, const struct walk *walk, int lane,
                                int step)
{
    const struct block block = named->block(walk);
    const int across = divide_up(walk->columns, block.columns);
    const int turn = step / block.steps;
    struct place place = named->place(walk, lane, step % block.steps);

    place.row += turn / across * block.rows;
    place.column += turn % across * block.columns;
    return place;
}

static ridge_status expression_place(const ridge_bank_pattern *pattern, int lane, int step,
                                     int64_t values[2], ridge_error *err)
{
    const ridge_bank_variable variables[] = {{"lane", lane}, {"warp", pattern->warp}, {"i", step}};

    return ridge_bank_evaluate(pattern->where, variables, 3, values, 2, err);
}

static ridge_status fail_outside(const ridge_bank_pattern *pattern, const ridge_bank_tile *tile,
                                 int lane, int vector, const int64_t values[2], ridge_error *err)
{
    /* As unsigned: an expression may be all of 64 bits. */
    const int64_t row = (int64_t)((uint64_t)values[0] + (uint64_t)pattern->row);
    const int64_t column = (int64_t)((uint64_t)values[1] + (uint64_t)pattern->column);

    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "lane %d: %d element%s from row %lld, column %lld on lie outside the tile of "
                      "%d x %d",
                      lane, vector, vector == 1 ? "" : "s", (long long)row, (long long)column,
                      tile->rows, tile->columns);
}

ridge_status ridge_bank_pattern_elements(const ridge_bank_pattern *pattern,
                                         const ridge_bank_tile *tile, int step,
                                         ridge_bank_elements *out, ridge_error *err)
{
    const struct named *const named = find_named(pattern->where);
    struct walk walk = {.lanes = 0};
    ridge_status status = check_fit(pattern, tile, named, &walk, err);

    *out = (ridge_bank_elements){.lanes = 0};
    for (int lane = 0; lane < walk.lanes && status == RIDGE_OK; lane++) {
        int64_t values[2];
        bool inside;

        if ((pattern->lanes >> lane & 1) == 0)
            continue;
        if (named != NULL) {
            const struct place place = named_place(named, &walk, lane, step);

            values[0] = place.row;
            values[1] = place.column;
        } else {
            status = expression_place(pattern, lane, step, values, err);
        }
        if (status != RIDGE_OK || values[0] > tile->rows || values[1] > tile->columns ||
            values[0] < -65536 || values[1] < -65536)
            inside = false;
        else
            inside = values[0] + pattern->row >= 0 && values[0] + pattern->row < tile->rows &&
                     values[1] + pattern->column >= 0 &&
                     values[1] + pattern->column + walk.vector <= tile->columns;
        if (status == RIDGE_OK && !inside && named == NULL)
            status = fail_outside(pattern, tile, lane, walk.vector, values, err);
        if (!inside)
            continue;
        out->lanes |= UINT32_C(1) << lane;
        out->row[lane] = (int)values[0] + pattern->row;
        out->column[lane] = (int)values[1] + pattern->column;
    }
    if (status != RIDGE_OK)
        *out = (ridge_bank_elements){.lanes = 0};
    return status;
}

/* -- addresses --------------------------------------------------------------------------------- */

static ridge_status lane_address(const ridge_bank_tile *tile, int vector, int row, int column,
                                 uint32_t *address_bytes, ridge_error *err)
{
    ridge_status status = ridge_bank_tile_address(tile, row, column, address_bytes, err);

    for (int k = 1; k < vector && status == RIDGE_OK; k++) {
        uint32_t next;

        status = ridge_bank_tile_address(tile, row, column + k, &next, err);
        if (status == RIDGE_OK && next != *address_bytes + (uint32_t)(k * tile->element_bytes))
            status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                                "elements (%d, %d) and (%d, %d) are not contiguous, so that no "
                                "access of %d bytes takes both",
                                row, column, row, column + k, vector * tile->element_bytes);
    }
    return status;
}

/* A swizzle permutes, an expression may not: elements that fall together are no layout, and would be
 * free of conflicts. */
static ridge_status check_apart(const ridge_bank_tile *tile, const ridge_bank_elements *elements,
                                const uint32_t address_bytes[RIDGE_BANKS_LANES], ridge_error *err)
{
    for (int a = 0; a < LANES; a++)
        for (int b = 0; b < a; b++)
            if ((elements->lanes >> a & elements->lanes >> b & 1) != 0 &&
                address_bytes[a] == address_bytes[b] &&
                (elements->row[a] != elements->row[b] ||
                 elements->column[a] != elements->column[b]))
                return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                                  "xor=%s puts elements (%d, %d) and (%d, %d) at one address",
                                  tile->xor_text, elements->row[b], elements->column[b],
                                  elements->row[a], elements->column[a]);
    return RIDGE_OK;
}

ridge_status ridge_bank_tile_addresses(const ridge_bank_tile *tile,
                                       const ridge_bank_pattern *pattern,
                                       const ridge_bank_elements *elements,
                                       uint32_t address_bytes[RIDGE_BANKS_LANES], ridge_error *err)
{
    const int vector = pattern->access.width_bytes / tile->element_bytes;
    ridge_status status = RIDGE_OK;

    for (int lane = 0; lane < LANES; lane++)
        address_bytes[lane] = 0;
    for (int lane = 0; lane < LANES && status == RIDGE_OK; lane++)
        if ((elements->lanes >> lane & 1) != 0)
            status = lane_address(tile, vector, elements->row[lane], elements->column[lane],
                                  &address_bytes[lane], err);
    if (status == RIDGE_OK && tile->xor_text[0] != '\0')
        status = check_apart(tile, elements, address_bytes, err);
    return status;
}

void ridge_bank_tile_sources(const ridge_bank_tile *tile, const ridge_bank_elements *elements,
                             uint32_t source_bytes[RIDGE_BANKS_LANES])
{
    const uint32_t row_bytes = (uint32_t)tile->columns * (uint32_t)tile->element_bytes;
    const uint32_t pitch_bytes = (row_bytes + 127) / 128 * 128;

    for (int lane = 0; lane < LANES; lane++)
        source_bytes[lane] =
            (elements->lanes >> lane & 1) == 0
                ? 0
                : (uint32_t)elements->row[lane] * pitch_bytes +
                      (uint32_t)elements->column[lane] * (uint32_t)tile->element_bytes;
}

ridge_status banks_step(const ridge_bank_access *access, const ridge_bank_tile *tile,
                        const ridge_bank_elements *elements, const uint32_t address_bytes[LANES],
                        ridge_bank_count *out, ridge_error *err)
{
    uint32_t source_bytes[LANES];

    if (access->op != RIDGE_BANK_CP_ASYNC)
        return ridge_banks_simulate(access, address_bytes, NULL, elements->lanes, out, NULL, err);
    ridge_bank_tile_sources(tile, elements, source_bytes);
    return ridge_banks_simulate(access, address_bytes, source_bytes, elements->lanes, out, NULL,
                                err);
}

void banks_add_step(ridge_bank_result *result, int step, const ridge_bank_count *count, int *most)
{
    result->wavefronts += count->wavefronts;
    result->ideal += count->ideal;
    if (count->wavefronts - count->ideal <= *most)
        return;
    *most = count->wavefronts - count->ideal;
    result->worst_step = step;
    result->worst = *count;
}

ridge_status banks_fail_idle(const ridge_bank_pattern *pattern, ridge_error *err)
{
    char name[32];

    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "%s %s: no lane takes part, all lie outside the tile or are off",
                      ridge_bank_access_name(&pattern->access, name, sizeof(name)), pattern->where);
}

ridge_status ridge_bank_pattern_run(const ridge_bank_pattern *pattern, const ridge_bank_tile *tile,
                                    ridge_bank_result *out, ridge_error *err)
{
    ridge_bank_result result = {.steps = 0};
    int most = -1;
    ridge_status status = ridge_bank_pattern_steps(pattern, tile, &result.steps, err);

    *out = (ridge_bank_result){.steps = 0};
    for (int step = 0; step < result.steps && status == RIDGE_OK; step++) {
        ridge_bank_elements elements;
        uint32_t address_bytes[LANES];
        ridge_bank_count count;

        status = ridge_bank_pattern_elements(pattern, tile, step, &elements, err);
        if (status == RIDGE_OK)
            status = ridge_bank_tile_addresses(tile, pattern, &elements, address_bytes, err);
        if (status == RIDGE_OK)
            status = banks_step(&pattern->access, tile, &elements, address_bytes, &count, err);
        if (status != RIDGE_OK)
            return status;
        banks_add_step(&result, step, &count, &most);
    }
    if (status == RIDGE_OK && result.wavefronts == 0)
        return banks_fail_idle(pattern, err);
    if (status == RIDGE_OK)
        *out = result;
    return status;
}
