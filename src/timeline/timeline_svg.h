/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the parts of ridge_timeline_write_svg(). */
#ifndef RIDGE_TIMELINE_SVG_H
#define RIDGE_TIMELINE_SVG_H

#include <math.h>

#include "ridge/timeline.h"

enum { SVG_LEFT = 150, SVG_COLUMNS = 1030, SVG_LANE_GAP = 8 };

struct svg_lane;

typedef struct svg_drawing {
    const ridge_trace *trace;
    const ridge_device_account *account;
    ridge_output *output;
    struct svg_lane *lane;
    int64_t start_ns, end_ns, origin_ns;
    double y;
} svg_drawing;

static inline double svg_column_of(const svg_drawing *drawing, int64_t ns)
{
    const double along = ((double)ns - (double)drawing->start_ns) /
                         ((double)drawing->end_ns - (double)drawing->start_ns);

    return SVG_COLUMNS * fmin(fmax(along, 0), 1);
}

/* Below drawing->y, which moves on. */
void svg_draw_ranges(svg_drawing *drawing, const ridge_trace_thread *thread);

#endif
