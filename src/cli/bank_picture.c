/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of ridge banks: a line a wavefront, a column a bank, in it the lane that is served. */
#include <stdio.h>
#include <stdlib.h>

#include "bank_views.h"

enum { MOST_ROWS = 10, MAP_COLUMNS = 4 + 3 * RIDGE_BANKS_COUNT };

static int lowest_lane(uint32_t lanes)
{
    int lane = 0;

    while ((lanes >> lane & 1) == 0)
        lane++;
    return lane;
}

/* "12 ", "12+" when other lanes get the same word, " . " for an idle bank. */
static void print_cell(ridge_output *output, uint32_t lanes, bool is_late, bool is_last)
{
    char cell[16];

    if (lanes == 0) {
        ridge_output_styled(output, RIDGE_STYLE_DIM, is_last ? " ." : " . ");
        return;
    }
    snprintf(cell, sizeof(cell), "%2d%c", lowest_lane(lanes),
             (lanes & (lanes - 1)) != 0 ? '+' : ' ');
    if (is_last && cell[2] == ' ')
        cell[2] = '\0';
    if (is_late)
        ridge_output_styled(output, RIDGE_STYLE_BAD, cell);
    else
        ridge_output_text(output, cell);
}

/* Of some banks. */
static void print_banks(ridge_output *output, const ridge_bank_map *map, int rows, int first,
                        int last)
{
    ridge_output_styled(output, RIDGE_STYLE_DIM, "bank");
    for (int bank = first; bank <= last; bank++) {
        char text[16];

        snprintf(text, sizeof(text), "%2d%s", bank, bank < last ? " " : "");
        ridge_output_styled(output, RIDGE_STYLE_DIM, text);
    }
    ridge_output_text(output, "\n");
    for (int row = 0; row < rows; row++) {
        const bool is_late = row > 0 && map->phase[row] == map->phase[row - 1];

        ridge_output_format(output, "%3d%c", row + 1, is_late ? '!' : ' ');
        for (int bank = first; bank <= last; bank++)
            print_cell(output, map->lanes[row][bank], is_late, bank == last);
        ridge_output_text(output, "\n");
    }
}

/* In two halves where the line is too short for all banks. */
static void print_map(ridge_output *output, const ridge_bank_map *map, int rows)
{
    const bool fits = ridge_output_columns(output) >= MAP_COLUMNS;
    const int banks = fits ? RIDGE_BANKS_COUNT : RIDGE_BANKS_COUNT / 2;

    for (int first = 0; first < RIDGE_BANKS_COUNT; first += banks)
        print_banks(output, map, rows, first, first + banks - 1);
}

/* The worst step of an access. */
static ridge_status make_map(const ridge_bank_tile *tile, const ridge_bank_pattern *pattern,
                             const ridge_bank_result *result, ridge_bank_map *map, ridge_error *err)
{
    uint32_t address_bytes[RIDGE_BANKS_LANES], source_bytes[RIDGE_BANKS_LANES];
    ridge_bank_elements elements;
    ridge_bank_count count;
    ridge_status status =
        ridge_bank_pattern_elements(pattern, tile, result->worst_step, &elements, err);

    ridge_bank_tile_sources(tile, &elements, source_bytes);
    if (status == RIDGE_OK)
        status = ridge_bank_tile_addresses(tile, pattern, &elements, address_bytes, err);
    if (status == RIDGE_OK)
        status = ridge_banks_simulate(&pattern->access, address_bytes, source_bytes, elements.lanes,
                                      &count, map, err);
    return status;
}

ridge_status bank_print_picture(ridge_output *output, const ridge_bank_tile *tile,
                                const ridge_bank_pattern *pattern, const ridge_bank_result *result,
                                bool whole, ridge_error *err)
{
    ridge_bank_map map;
    char name[32];
    int rows;
    const ridge_status status = make_map(tile, pattern, result, &map, err);

    if (status != RIDGE_OK)
        return status;
    rows = whole || map.wavefront_count <= MOST_ROWS + 1 ? map.wavefront_count : MOST_ROWS;
    ridge_output_format(output,
                        "%s %s, instruction %d of %d: the lane each bank serves, a line a "
                        "wavefront\n",
                        ridge_bank_access_name(&pattern->access, name, sizeof(name)),
                        pattern->where, result->worst_step + 1, result->steps);
    print_map(output, &map, rows);
    if (rows < map.wavefront_count)
        ridge_output_format(output, "%d more wavefronts: --all\n", map.wavefront_count - rows);
    ridge_output_styled(output, RIDGE_STYLE_DIM,
                        "+ more lanes get the same word   ! a further wavefront of one phase: the "
                        "conflict\n");
    return RIDGE_OK;
}

struct svg {
    ridge_bank_map map;
    char title[600];
};

static void write_svg(ridge_output *output, const void *context)
{
    const struct svg *const svg = context;

    ridge_bank_map_write_svg(&svg->map, svg->title, output);
}

int bank_draw_svg(const struct bank_request *request, const ridge_bank_pattern *pattern,
                  const ridge_bank_result *result)
{
    char tile[256], name[32];
    struct svg svg;
    ridge_error err;

    if (make_map(&request->tile, pattern, result, &svg.map, &err) != RIDGE_OK)
        return cli_fail(request->svg, &err);
    snprintf(svg.title, sizeof(svg.title), "%s, %s %s",
             bank_tile_text(&request->tile, tile, sizeof(tile)),
             ridge_bank_access_name(&pattern->access, name, sizeof(name)), pattern->where);
    return cli_write_output(request->svg, write_svg, &svg, request->force);
}
