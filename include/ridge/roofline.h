/* SPDX-License-Identifier: Apache-2.0
 *
 * The roofline picture: operations per byte to the right, operations per second upwards, both
 * logarithmic. The memory roof rises to the left, the peak of each unit lies flat; a point is a
 * kernel, where its bound lies or where a profile found it.
 *
 * The same picture as text for a terminal and as SVG (1.1, no script, no font of its own; its
 * colours follow a dark or light page). */
#ifndef RIDGE_ROOFLINE_H
#define RIDGE_ROOFLINE_H

#include "ridge/bound.h"
#include "ridge/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_roofline_point {
    const char *label;    /* borrowed */
    double flop_per_byte; /* a point without a place (0, NAN, infinite) is only listed */
    double flop_per_s;
    ridge_peak peak;  /* the unit under whose roof it lies */
    bool is_measured; /* by a profile; else the least of an operation */
    size_t chip;      /* 0: nominal and measured; k: others[k - 1] */
} ridge_roofline_point;

enum { RIDGE_ROOFLINE_POINTS = 26, RIDGE_ROOFLINE_CHIPS = 3 };

/* All borrowed. Peaks are drawn for the units of the points. */
typedef struct ridge_roofline {
    const char *title;
    const ridge_roofs *nominal;
    const ridge_roofs *measured; /* NULL: none; of one chip only */
    const ridge_roofline_point *points;
    size_t point_count; /* RIDGE_ROOFLINE_POINTS are drawn at most */
    /* Of other chips beside nominal: measured is NULL then. */
    const ridge_roofs *others[RIDGE_ROOFLINE_CHIPS - 1];
    size_t other_count;
} ridge_roofline;

void ridge_roofline_write_text(const ridge_roofline *roofline, ridge_output *output);
void ridge_roofline_write_svg(const ridge_roofline *roofline, ridge_output *output);

#ifdef __cplusplus
}
#endif
#endif
