/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures as SVG 1.1: shapes and text with a class each, one style sheet, no script. Coordinates
 * are pixels from the upper left corner. Text is escaped, numbers have the C locale's point. A
 * picture is begun, drawn and ended on one ridge_output, which remembers failures.
 *
 * The style sheet of ridge_svg_begin() has two sets of colours, for light and dark pages, as
 * variables: --paper, --ink, --dim, --grid, --blue, --orange, --green, --red. */
#ifndef RIDGE_BASE_SVG_H
#define RIDGE_BASE_SVG_H

#include <stddef.h>

#include "ridge/table.h"

typedef enum ridge_svg_anchor {
    RIDGE_SVG_START,
    RIDGE_SVG_MIDDLE,
    RIDGE_SVG_END,
} ridge_svg_anchor;

/* style: rules of the picture's own classes; may use the variables. */
void ridge_svg_begin(ridge_output *output, double width, double height, const char *title,
                     const char *style);
void ridge_svg_end(ridge_output *output);
void ridge_svg_line(ridge_output *output, const char *class_name, double x1, double y1, double x2,
                    double y2);
void ridge_svg_rect(ridge_output *output, const char *class_name, double x, double y, double width,
                    double height);
/* title is shown under the pointer. */
void ridge_svg_titled_rect(ridge_output *output, const char *class_name, double x, double y,
                           double width, double height, const char *title);
void ridge_svg_circle(ridge_output *output, const char *class_name, double x, double y,
                      double radius);
/* y is the baseline. degrees turns the text about its place; 0: not. */
void ridge_svg_text(ridge_output *output, const char *class_name, ridge_svg_anchor anchor, double x,
                    double y, double degrees, const char *text);
/* Pixels that text takes at most, in the font of the style sheet (12 pixels, sans-serif). */
double ridge_svg_text_width(const char *text, double font_pixels);
/* The text, or a beginning of it with "..." that is no wider, in buffer, which is returned. */
char *ridge_svg_fit(const char *text, double width, double font_pixels, char *buffer, size_t size);

#endif
