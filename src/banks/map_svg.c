/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a map as SVG: a line a wavefront, a column a bank, the lane that it serves in the
 * cell. What waits behind an earlier wavefront of its phase is red. */
#include <stdio.h>

#include "base/svg.h"
#include "ridge/banks.h"

enum { CELL_WIDTH = 26, CELL_HEIGHT = 20, LEFT = 54, TOP = 56, MARGIN = 16 };

static const char style[] = ".idle { fill: none; stroke: var(--grid); }\n"
                            ".served { fill: var(--blue); stroke: var(--paper); }\n"
                            ".late { fill: var(--red); stroke: var(--paper); }\n"
                            ".lane { fill: var(--paper); }\n";

static int lowest_lane(uint32_t lanes)
{
    int lane = 0;

    while (lane < RIDGE_BANKS_LANES - 1 && (lanes >> lane & 1) == 0)
        lane++;
    return lane;
}

static void draw_cell(ridge_output *output, int row, int bank, uint32_t lanes, bool is_late)
{
    const double x = LEFT + bank * CELL_WIDTH, y = TOP + row * CELL_HEIGHT;
    char text[16];

    ridge_svg_rect(output,
                   lanes == 0 ? "idle"
                   : is_late  ? "late"
                              : "served",
                   x, y, CELL_WIDTH, CELL_HEIGHT);
    if (lanes == 0)
        return;
    snprintf(text, sizeof(text), "%d%s", lowest_lane(lanes), (lanes & (lanes - 1)) != 0 ? "+" : "");
    ridge_svg_text(output, "lane", RIDGE_SVG_MIDDLE, x + CELL_WIDTH / 2.0, y + 14, 0, text);
}

void ridge_bank_map_write_svg(const ridge_bank_map *map, const char *title, ridge_output *output)
{
    const double width = LEFT + RIDGE_BANKS_COUNT * CELL_WIDTH + MARGIN;
    const double height = TOP + map->wavefront_count * CELL_HEIGHT + MARGIN;
    char text[16];

    ridge_svg_begin(output, width, height, title, style);
    ridge_svg_text(output, "title", RIDGE_SVG_START, MARGIN, 24, 0, title);
    ridge_svg_text(output, "dim", RIDGE_SVG_START, MARGIN, TOP - 8, 0, "bank");
    for (int bank = 0; bank < RIDGE_BANKS_COUNT; bank++) {
        snprintf(text, sizeof(text), "%d", bank);
        ridge_svg_text(output, "dim", RIDGE_SVG_MIDDLE, LEFT + (bank + 0.5) * CELL_WIDTH, TOP - 8,
                       0, text);
    }
    for (int row = 0; row < map->wavefront_count; row++) {
        const bool is_late = row > 0 && map->phase[row] == map->phase[row - 1];

        snprintf(text, sizeof(text), "%d", row + 1);
        ridge_svg_text(output, "dim", RIDGE_SVG_END, LEFT - 8, TOP + row * CELL_HEIGHT + 14, 0,
                       text);
        for (int bank = 0; bank < RIDGE_BANKS_COUNT; bank++)
            draw_cell(output, row, bank, map->lanes[row][bank], is_late);
    }
    ridge_svg_end(output);
}
