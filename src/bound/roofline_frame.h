/* SPDX-License-Identifier: Apache-2.0
 *
 * What both pictures of a roofline share: which part of the plane is shown, in decades, and which
 * roofs. */
#ifndef RIDGE_BOUND_ROOFLINE_FRAME_H
#define RIDGE_BOUND_ROOFLINE_FRAME_H

#include "ridge/roofline.h"

struct roofline_frame {
    int x_low, x_high; /* decades of FLOP/byte */
    int y_low, y_high; /* decades of FLOP/s */
    ridge_peak peaks[RIDGE_PEAK_COUNT];
    size_t peak_count;
    const ridge_roofs *roofs[RIDGE_ROOFLINE_CHIPS]; /* measured last, or a set for each chip */
    bool has_chips;                                 /* several */
    size_t roofs_count;
    size_t drawn_count; /* points: the first so many */
};

void roofline_frame_of(const ridge_roofline *roofline, struct roofline_frame *out);
/* The most a kernel of this intensity reaches; NAN: neither roof is known. */
double roofline_height(const ridge_roofs *roofs, ridge_peak peak, double flop_per_byte);
/* Whether the roof of a unit is one of its own in this set: what was not measured is as in the first
 * set, and drawn once. */
bool roofline_has_roof(const struct roofline_frame *frame, size_t set, ridge_peak peak);
/* The roofs that a point is held against. */
const ridge_roofs *roofline_roofs_over(const struct roofline_frame *frame,
                                       const ridge_roofline_point *point);
/* False for a point that a logarithmic plane does not have. */
bool roofline_has_place(const ridge_roofline_point *point);
/* "100 TFLOP/s" for 14, "0.1" for -1. */
char *roofline_rate_text(int decade, char *text, size_t size);
char *roofline_intensity_text(int decade, char *text, size_t size);
/* What part of the roof over it a point reaches; NAN: unknown. */
double roofline_share(const struct roofline_frame *frame, const ridge_roofline_point *point);

#endif
