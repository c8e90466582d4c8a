/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges of the thread that launches, each a box where it is wider than a pixel, with its name. */
#include <stdio.h>
#include <string.h>

#include "base/svg.h"
#include "timeline/timeline_svg.h"

enum { RANGE_HEIGHT = 16, MOST_DEPTH = 4 };

static const char *label_of(const svg_drawing *drawing, const ridge_trace_range *range)
{
    const char *const name = ridge_trace_name(drawing->trace, range->name, NULL);

    return name + (name[0] == ':' && name[1] != ':' ? 1 : 0);
}

/* A name in its box, whole or with as much of it as tells something: "a..." does not. */
static bool label_inside(const svg_drawing *drawing, const char *name, double x, double y,
                         double width)
{
    enum { TELLING = 6 };
    char text[128];
    size_t length;

    ridge_svg_fit(name, width - 6, 11, text, sizeof(text));
    length = strlen(text);
    if (strcmp(text, name) != 0 && length < TELLING + strlen("..."))
        return false;
    ridge_svg_text(drawing->output, "inside", RIDGE_SVG_START, x + 3, y + 12, 0, text);
    return true;
}

/* A name beside its box, on the side that has more room. */
static void label_beside(const svg_drawing *drawing, const ridge_trace_range *range, double y)
{
    const double from = svg_column_of(drawing, range->start_ns),
                 to = svg_column_of(drawing, range->end_ns);
    const bool is_left = from > SVG_COLUMNS - to;
    char text[128];

    ridge_svg_text(
        drawing->output, "dim", is_left ? RIDGE_SVG_END : RIDGE_SVG_START,
        SVG_LEFT + (is_left ? from - 4 : to + 4), y + 12, 0,
        ridge_svg_fit(label_of(drawing, range), SVG_COLUMNS / 3.0, 11, text, sizeof(text)));
}

/* Each range goes to the first row that is free at its start. A single box without room for its name
 * has it beside it. */
void svg_draw_ranges(svg_drawing *drawing, const ridge_trace_thread *thread)
{
    size_t count, drawn = 0, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(drawing->trace, &count);
    const ridge_trace_range *alone = NULL;
    double taken[MOST_DEPTH];
    bool has_label = false;
    int rows = 0, row;

    for (row = 0; row < MOST_DEPTH; row++)
        taken[row] = -1;
    for (i = thread->first_range; i < thread->first_range + thread->range_count; i++) {
        const ridge_trace_range *const range = &ranges[i];
        const double from = svg_column_of(drawing, range->start_ns);
        const double to = svg_column_of(drawing, range->end_ns);
        const double y = drawing->y;
        const char *name;
        char title[256], length[48];

        if (range->kind == RIDGE_RANGE_PYTHON || to - from < 1.5)
            continue;
        for (row = 0; row < MOST_DEPTH && from < taken[row] - 0.01; row++)
            ;
        if (row == MOST_DEPTH)
            continue;
        taken[row] = to;
        rows = row >= rows ? row + 1 : rows;
        name = label_of(drawing, range);
        snprintf(title, sizeof(title), "%s, %.160s",
                 ridge_number_text(((double)range->end_ns - (double)range->start_ns), RIDGE_UNIT_NS,
                                   length, sizeof(length)),
                 name);
        ridge_svg_titled_rect(drawing->output, "range", SVG_LEFT + from, y + row * RANGE_HEIGHT,
                              to - from, RANGE_HEIGHT - 1, title);
        has_label |= to - from > 30 && label_inside(drawing, name, SVG_LEFT + from,
                                                    y + row * RANGE_HEIGHT, to - from);
        alone = drawn++ == 0 ? range : NULL;
    }
    if (alone != NULL && !has_label)
        label_beside(drawing, alone, drawing->y);
    if (rows == 0)
        return;
    ridge_svg_text(drawing->output, "dim", RIDGE_SVG_END, SVG_LEFT - 8, drawing->y + 12, 0,
                   "ranges");
    drawing->y += rows * RANGE_HEIGHT + SVG_LANE_GAP;
}
