/* SPDX-License-Identifier: Apache-2.0
 *
 * The roofline as SVG. Points carry a letter beside them, moved aside where letters would meet, and
 * are listed with their names and numbers below the plane, so that long names cannot overlap. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/svg.h"
#include "bound/roofline_frame.h"

enum {
    WIDTH = 860,
    PLANE_LEFT = 92,
    PLANE_RIGHT = WIDTH - 24,
    KEY_TOP = 46,
    PLANE_TOP = 84,
    PLANE_BOTTOM = 450,
    LIST_TOP = PLANE_BOTTOM + 66,
    LINE = 19,
    TEXT = 32
};

static const char style[] =
    ".roof { stroke: var(--blue); stroke-width: 2; fill: none; }\n"
    ".roof-measured { stroke: var(--orange); stroke-width: 2; stroke-dasharray: 6 4; }\n"
    ".roof-third { stroke: var(--green); stroke-width: 2; stroke-dasharray: 2 4; }\n"
    ".roof-label, .letter { paint-order: stroke; stroke: var(--paper);\n"
    "  stroke-width: 4px; stroke-linejoin: round; }\n"
    ".roof-label { fill: var(--blue); }\n"
    ".drop { stroke: var(--dim); stroke-dasharray: 2 3; }\n"
    ".measured { fill: var(--red); stroke: var(--paper); stroke-width: 1.5; }\n"
    ".least { fill: var(--paper); stroke: var(--green); stroke-width: 2; }\n"
    ".letter { font-weight: 600; }\n.head { font-weight: 600; fill: var(--dim); }\n";

/* Of each set of roofs. */
static const char *const roof_classes[RIDGE_ROOFLINE_CHIPS] = {"roof", "roof-measured",
                                                               "roof-third"};

struct drawing {
    ridge_output *output;
    const ridge_roofline *roofline;
    struct roofline_frame frame;
};

static double x_of(const struct drawing *drawing, double flop_per_byte)
{
    const struct roofline_frame *const frame = &drawing->frame;
    const double along = (log10(flop_per_byte) - frame->x_low) / (frame->x_high - frame->x_low);

    return PLANE_LEFT + (PLANE_RIGHT - PLANE_LEFT) * along;
}

static double y_of(const struct drawing *drawing, double flop_per_s)
{
    const struct roofline_frame *const frame = &drawing->frame;
    const double along = (log10(flop_per_s) - frame->y_low) / (frame->y_high - frame->y_low);

    return PLANE_BOTTOM - (PLANE_BOTTOM - PLANE_TOP) * along;
}

static void draw_axes(const struct drawing *drawing)
{
    const struct roofline_frame *const frame = &drawing->frame;
    ridge_output *const output = drawing->output;
    char text[TEXT];
    int at;

    for (at = frame->x_low; at <= frame->x_high; at++) {
        const double x = x_of(drawing, pow(10, at));

        ridge_svg_line(output, "grid", x, PLANE_TOP, x, PLANE_BOTTOM);
        ridge_svg_text(output, "dim", RIDGE_SVG_MIDDLE, x, PLANE_BOTTOM + 17, 0,
                       roofline_intensity_text(at, text, sizeof(text)));
    }
    for (at = frame->y_low; at <= frame->y_high; at++) {
        const double y = y_of(drawing, pow(10, at));

        ridge_svg_line(output, "grid", PLANE_LEFT, y, PLANE_RIGHT, y);
        ridge_svg_text(output, "dim", RIDGE_SVG_END, PLANE_LEFT - 8, y + 4, 0,
                       roofline_rate_text(at, text, sizeof(text)));
    }
    ridge_svg_line(output, "axis", PLANE_LEFT, PLANE_BOTTOM, PLANE_RIGHT, PLANE_BOTTOM);
    ridge_svg_line(output, "axis", PLANE_LEFT, PLANE_TOP, PLANE_LEFT, PLANE_BOTTOM);
    ridge_svg_text(output, "dim", RIDGE_SVG_MIDDLE, (PLANE_LEFT + PLANE_RIGHT) / 2.0,
                   PLANE_BOTTOM + 36, 0, "intensity, FLOP per byte of device memory");
}

/* -- roofs ------------------------------------------------------------------------------------- */

/* The slope, from the left or lower edge to the highest ridge. */
static void draw_slope(const struct drawing *drawing, size_t set)
{
    const struct roofline_frame *const frame = &drawing->frame;
    const ridge_roofs *const roofs = frame->roofs[set];
    const double bytes_per_s = roofs->dram_bytes_per_s;
    const double from = fmax(pow(10, frame->x_low), pow(10, frame->y_low) / bytes_per_s);
    double to = 0;
    size_t i;

    for (i = 0; i < frame->peak_count; i++)
        to = fmax(to, roofs->flop_per_s[frame->peaks[i]] / bytes_per_s);
    if (!(to > 0))
        to = pow(10, frame->y_high) / bytes_per_s;
    to = fmin(to, fmin(pow(10, frame->x_high), pow(10, frame->y_high) / bytes_per_s));
    if (!(bytes_per_s > 0) || !(from < to))
        return;
    ridge_svg_line(drawing->output, roof_classes[set], x_of(drawing, from),
                   y_of(drawing, from * bytes_per_s), x_of(drawing, to),
                   y_of(drawing, to * bytes_per_s));
}

/* The flat roof of a unit, from its ridge to the right. */
static void draw_peak(const struct drawing *drawing, size_t set, ridge_peak peak)
{
    const ridge_roofs *const roofs = drawing->frame.roofs[set];
    const double flop_per_s = roofs->flop_per_s[peak];
    const double ridge = flop_per_s / roofs->dram_bytes_per_s;
    const double low = pow(10, drawing->frame.x_low), high = pow(10, drawing->frame.x_high);
    const double from = ridge > low ? ridge : low; /* NAN: from the left */
    const double y = flop_per_s > 0 ? y_of(drawing, flop_per_s) : 0;

    if (!(flop_per_s > 0) || !(from < high))
        return;
    ridge_svg_line(drawing->output, roof_classes[set], x_of(drawing, from), y, PLANE_RIGHT, y);
    /* The key has the numbers; of several roofs the unit says which is which. */
    if (drawing->frame.peak_count > 1 && (set == 0 || drawing->frame.has_chips))
        ridge_svg_text(drawing->output, "roof-label", RIDGE_SVG_END, PLANE_RIGHT - 4, y - 6, 0,
                       ridge_peak_name(peak));
}

/* One line above the plane for each set of roofs: nothing can lie under it. */
static void draw_key(const struct drawing *drawing, size_t set)
{
    const struct roofline_frame *const frame = &drawing->frame;
    const ridge_roofs *const roofs = frame->roofs[set];
    const char *const kind = set > 0 ? "measured" : "nominal";
    const double y = KEY_TOP + (double)set * (frame->roofs_count > 2 ? 14 : 18);
    char rate[TEXT], text[400];
    size_t used, i;

    used = (size_t)snprintf(
        text, sizeof(text), "%s%s: %s", frame->has_chips ? roofs->name : kind,
        frame->has_chips && roofs->is_measured ? ", measured" : "",
        ridge_number_text(roofs->dram_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, rate, sizeof(rate)));
    for (i = 0; i < frame->peak_count && used < sizeof(text); i++) {
        if (!roofline_has_roof(frame, set, frame->peaks[i]))
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s %s",
                                 ridge_peak_name(frame->peaks[i]),
                                 ridge_number_text(roofs->flop_per_s[frame->peaks[i]],
                                                   RIDGE_UNIT_FLOP_PER_S, rate, sizeof(rate)));
    }
    ridge_svg_line(drawing->output, roof_classes[set], PLANE_LEFT, y - 4, PLANE_LEFT + 32, y - 4);
    ridge_svg_text(drawing->output, "key", RIDGE_SVG_START, PLANE_LEFT + 42, y, 0, text);
}

static void draw_roofs(const struct drawing *drawing)
{
    const struct roofline_frame *const frame = &drawing->frame;
    size_t i, k;

    for (k = 0; k < frame->roofs_count; k++) {
        draw_key(drawing, k);
        draw_slope(drawing, k);
        for (i = 0; i < frame->peak_count; i++)
            if (roofline_has_roof(frame, k, frame->peaks[i]))
                draw_peak(drawing, k, frame->peaks[i]);
    }
}

/* -- points ------------------------------------------------------------------------------------ */

struct place {
    double x, y;
};

/* A place for the letter of a point that is far enough from the letters before it; below the point
 * first where a roof runs through it. */
static struct place place_letter(double x, double y, bool below, const struct place *taken,
                                 size_t taken_count)
{
    static const struct place offsets[] = {
        {0, -10}, {12, 4},  {-12, 4}, {0, 20}, {12, -8},  {-12, -8},  {12, 18}, {-12, 18},
        {24, 4},  {-24, 4}, {0, -24}, {0, 34}, {24, -20}, {-24, -20}, {24, 28}, {-24, 28},
    };
    struct place place = {x, y - 10};
    size_t i, k;

    for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        place.x = x + offsets[i].x;
        place.y = below ? y + 10 - offsets[i].y : y + offsets[i].y;
        for (k = 0; k < taken_count; k++)
            if (fabs(place.x - taken[k].x) < 11 && fabs(place.y - taken[k].y) < 13)
                break;
        if (k == taken_count && place.y > PLANE_TOP + 8 && place.y < PLANE_BOTTOM - 2)
            return place;
    }
    return place;
}

static void draw_points(const struct drawing *drawing)
{
    const struct roofline_frame *const frame = &drawing->frame;
    struct place letters[RIDGE_ROOFLINE_POINTS];
    size_t letter_count = 0, i;

    for (i = 0; i < frame->drawn_count; i++) {
        const ridge_roofline_point *const point = &drawing->roofline->points[i];
        const char letter[2] = {(char)('A' + i), '\0'};
        double x, y, roof_y;

        if (!roofline_has_place(point))
            continue;
        x = fmax(PLANE_LEFT, x_of(drawing, point->flop_per_byte));
        y = fmin(PLANE_BOTTOM, y_of(drawing, point->flop_per_s));
        roof_y = y_of(drawing, roofline_height(roofline_roofs_over(frame, point), point->peak,
                                               point->flop_per_byte));
        if (point->is_measured && roof_y < y - 6)
            ridge_svg_line(drawing->output, "drop", x, roof_y, x, y);
        ridge_svg_circle(drawing->output, point->is_measured ? "measured" : "least", x, y, 5);
        letters[letter_count] = place_letter(x, y, !point->is_measured, letters, letter_count);
        ridge_svg_text(drawing->output, "letter", RIDGE_SVG_MIDDLE, letters[letter_count].x,
                       letters[letter_count].y, 0, letter);
        letter_count++;
    }
}

/* -- the list ---------------------------------------------------------------------------------- */

static void list_point(const struct drawing *drawing, size_t index, double y)
{
    const ridge_roofline_point *const point = &drawing->roofline->points[index];
    const char letter[2] = {(char)('A' + index), '\0'};
    const struct {
        double x, value;
        ridge_unit unit;
    } numbers[] = {
        {PLANE_RIGHT - 210, point->flop_per_byte, RIDGE_UNIT_NONE},
        {PLANE_RIGHT - 90, point->flop_per_s, RIDGE_UNIT_FLOP_PER_S},
        {PLANE_RIGHT, roofline_share(&drawing->frame, point), RIDGE_UNIT_FRAC},
    };
    char text[240];
    size_t i;

    ridge_svg_circle(drawing->output, point->is_measured ? "measured" : "least", PLANE_LEFT - 60,
                     y - 4, 5);
    ridge_svg_text(drawing->output, "letter", RIDGE_SVG_MIDDLE, PLANE_LEFT - 40, y, 0,
                   roofline_has_place(point) ? letter : "-");
    /* Kernels may have names of any length. */
    ridge_svg_fit(point->label, PLANE_RIGHT - 290 - (PLANE_LEFT - 24), 12, text, sizeof(text));
    ridge_svg_text(drawing->output, "name", RIDGE_SVG_START, PLANE_LEFT - 24, y, 0, text);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        ridge_svg_text(drawing->output, "number", RIDGE_SVG_END, numbers[i].x, y, 0,
                       ridge_number_text(numbers[i].value, numbers[i].unit, text, TEXT));
}

static void draw_list(const struct drawing *drawing)
{
    ridge_output *const output = drawing->output;
    size_t i;

    if (drawing->frame.drawn_count == 0)
        return;
    ridge_svg_text(output, "head", RIDGE_SVG_START, PLANE_LEFT - 24, LIST_TOP, 0,
                   "filled: measured; ring: the least of an operation");
    ridge_svg_text(output, "head", RIDGE_SVG_END, PLANE_RIGHT - 210, LIST_TOP, 0, "FLOP/byte");
    ridge_svg_text(output, "head", RIDGE_SVG_END, PLANE_RIGHT - 90, LIST_TOP, 0, "rate");
    ridge_svg_text(output, "head", RIDGE_SVG_END, PLANE_RIGHT, LIST_TOP, 0, "of the roof");
    for (i = 0; i < drawing->frame.drawn_count; i++)
        list_point(drawing, i, LIST_TOP + (double)(i + 1) * LINE);
}

void ridge_roofline_write_svg(const ridge_roofline *roofline, ridge_output *output)
{
    struct drawing drawing = {.output = output, .roofline = roofline};
    char title[160];
    double height = LIST_TOP - 10;

    roofline_frame_of(roofline, &drawing.frame);
    if (drawing.frame.drawn_count > 0)
        height = LIST_TOP + (double)drawing.frame.drawn_count * LINE + 16;
    snprintf(title, sizeof(title), "Roofline: %s", roofline->title);
    ridge_svg_begin(output, WIDTH, height, title, style);
    ridge_svg_text(output, "title", RIDGE_SVG_START, PLANE_LEFT, 24, 0, title);
    draw_axes(&drawing);
    draw_roofs(&drawing);
    draw_points(&drawing);
    draw_list(&drawing);
    ridge_svg_end(output);
}
