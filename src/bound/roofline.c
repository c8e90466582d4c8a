/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the plane that a roofline shows, and the picture as text. A character is a point of
 * the plane: '/' and '-' are the roof of a chip as sold, ':' and '.' as measured, letters are
 * kernels and are listed below the picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound/roofline_frame.h"

bool roofline_has_place(const ridge_roofline_point *point)
{
    return point->flop_per_byte > 0 && point->flop_per_s > 0 && !isinf(point->flop_per_byte) &&
           !isinf(point->flop_per_s);
}

double roofline_height(const ridge_roofs *roofs, ridge_peak peak, double flop_per_byte)
{
    return fmin(roofs->dram_bytes_per_s * flop_per_byte, roofs->flop_per_s[peak]);
}

bool roofline_has_roof(const struct roofline_frame *frame, size_t set, ridge_peak peak)
{
    return set == 0 || frame->has_chips ||
           frame->roofs[set]->flop_per_s[peak] != frame->roofs[0]->flop_per_s[peak];
}

const ridge_roofs *roofline_roofs_over(const struct roofline_frame *frame,
                                       const ridge_roofline_point *point)
{
    const size_t last = frame->roofs_count - 1;

    return frame->roofs[frame->has_chips && point->chip < last ? point->chip : last];
}

double roofline_share(const struct roofline_frame *frame, const ridge_roofline_point *point)
{
    const ridge_roofs *const roofs = roofline_roofs_over(frame, point);

    return point->flop_per_s / roofline_height(roofs, point->peak, point->flop_per_byte);
}

/* -- the frame --------------------------------------------------------------------------------- */

struct span {
    double low, high;
};

static void widen(struct span *span, double value)
{
    if (!(value > 0) || isinf(value))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

static void add_peak(struct roofline_frame *frame, ridge_peak peak)
{
    size_t i;

    for (i = 0; i < frame->peak_count; i++)
        if (frame->peaks[i] == peak)
            return;
    if (peak != RIDGE_PEAK_NONE)
        frame->peaks[frame->peak_count++] = peak;
}

static int decade(double value, double margin, int (*whole)(double))
{
    return whole(log10(value) + margin);
}

static int down(double value)
{
    return (int)floor(value);
}

static int up(double value)
{
    return (int)ceil(value);
}

void roofline_frame_of(const ridge_roofline *roofline, struct roofline_frame *out)
{
    struct span x = {(double)INFINITY, 0}, y = {(double)INFINITY, 0};
    size_t i, k;

    memset(out, 0, sizeof(*out));
    out->drawn_count = roofline->point_count < RIDGE_ROOFLINE_POINTS ? roofline->point_count
                                                                     : RIDGE_ROOFLINE_POINTS;
    out->roofs[out->roofs_count++] = roofline->nominal;
    if (roofline->measured != NULL)
        out->roofs[out->roofs_count++] = roofline->measured;
    out->has_chips = roofline->measured == NULL && roofline->other_count > 0;
    for (i = 0; out->has_chips && i < roofline->other_count && i + 1 < RIDGE_ROOFLINE_CHIPS; i++)
        out->roofs[out->roofs_count++] = roofline->others[i];
    for (i = 0; i < out->drawn_count; i++) {
        const ridge_roofline_point *const point = &roofline->points[i];

        add_peak(out, point->peak);
        if (roofline_has_place(point)) {
            widen(&x, point->flop_per_byte);
            widen(&y, point->flop_per_s);
        }
    }
    for (k = 0; k < out->roofs_count; k++) {
        for (i = 0; i < out->peak_count; i++) {
            const double peak = out->roofs[k]->flop_per_s[out->peaks[i]];
            const double ridge = peak / out->roofs[k]->dram_bytes_per_s;

            widen(&y, peak);
            widen(&x, ridge);
            widen(&x, ridge / 8); /* some of the slope */
            widen(&y, peak / 8);
        }
    }
    if (!(x.high > 0))
        x.low = 0.1, x.high = 100;
    if (!(y.high > 0))
        widen(&y, 10 * fmax(1, out->roofs[0]->dram_bytes_per_s));
    if (!(y.high > 0))
        y.low = y.high = 1e12;
    /* Some room on each side, and never more than twelve decades: they would not be told apart. */
    out->x_low = decade(x.low, -0.3, down);
    out->x_high = decade(x.high, 0.3, up);
    out->x_low = out->x_low < out->x_high - 12 ? out->x_high - 12 : out->x_low;
    out->y_high = decade(y.high, 0, up);
    out->y_low = decade(y.low, -0.2, down);
    out->y_low = out->y_low > out->y_high - 2 ? out->y_high - 2 : out->y_low;
    out->y_low = out->y_low < out->y_high - 12 ? out->y_high - 12 : out->y_low;
}

char *roofline_rate_text(int at, char *text, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    static const char *const numbers[] = {"1", "10", "100"};

    if (at < 0 || at >= 21)
        snprintf(text, size, "1e%d FLOP/s", at);
    else
        snprintf(text, size, "%s %sFLOP/s", numbers[at % 3], prefixes[at / 3]);
    return text;
}

char *roofline_intensity_text(int at, char *text, size_t size)
{
    static const char *const numbers[] = {"0.001", "0.01", "0.1", "1", "10", "100", "1000"};

    if (at >= -3 && at <= 3)
        snprintf(text, size, "%s", numbers[at + 3]);
    else
        snprintf(text, size, "1e%d", at);
    return text;
}

/* -- text -------------------------------------------------------------------------------------- */

enum { ROWS = 18, MOST_COLUMNS = 90, LEFT = 13 };

struct canvas {
    char cells[ROWS][MOST_COLUMNS + 1];
    int columns;
    const struct roofline_frame *frame;
};

static double intensity_at(const struct canvas *canvas, double column)
{
    const struct roofline_frame *const frame = canvas->frame;

    return pow(10,
               frame->x_low + (frame->x_high - frame->x_low) * (column + 0.5) / canvas->columns);
}

/* The row of a rate, 0 uppermost; may lie outside. */
static int row_of(const struct canvas *canvas, double flop_per_s)
{
    const struct roofline_frame *const frame = canvas->frame;
    const double up_frac =
        (log10(flop_per_s) - frame->y_low) / (double)(frame->y_high - frame->y_low);

    return (int)floor((1 - up_frac) * ROWS);
}

static void put(struct canvas *canvas, int column, int row, char letter, bool over)
{
    if (row == ROWS) /* on the lower edge */
        row = ROWS - 1;
    if (row < 0 || row >= ROWS || column < 0 || column >= canvas->columns)
        return;
    if (over || canvas->cells[row][column] == ' ')
        canvas->cells[row][column] = letter;
}

/* Slope and peak of each set of roofs. */
static const char roof_letters[RIDGE_ROOFLINE_CHIPS][2] = {{'/', '-'}, {':', '.'}, {'\'', '='}};

static void draw_roof(struct canvas *canvas, size_t set, ridge_peak peak)
{
    const ridge_roofs *const roofs = canvas->frame->roofs[set];
    int column;

    for (column = 0; column < canvas->columns; column++) {
        const double x = intensity_at(canvas, column);
        const double height = roofline_height(roofs, peak, x);
        const bool is_slope = !(roofs->dram_bytes_per_s * x > roofs->flop_per_s[peak]);

        if (height > 0)
            put(canvas, column, row_of(canvas, height), roof_letters[set][is_slope ? 0 : 1], false);
    }
}

static void draw_points(struct canvas *canvas, const ridge_roofline *roofline)
{
    const struct roofline_frame *const frame = canvas->frame;
    size_t i;

    /* Backwards: of several on one place the first is seen. */
    for (i = frame->drawn_count; i-- > 0;) {
        const ridge_roofline_point *const point = &roofline->points[i];
        double along;

        if (!roofline_has_place(point))
            continue;
        along = (log10(point->flop_per_byte) - frame->x_low) / (frame->x_high - frame->x_low);
        put(canvas, (int)fmin(canvas->columns - 1, floor(along * canvas->columns)),
            row_of(canvas, point->flop_per_s), (char)('A' + i), true);
    }
}

static void print_canvas(const struct canvas *canvas, ridge_output *output)
{
    const struct roofline_frame *const frame = canvas->frame;
    char text[32];
    char labels[MOST_COLUMNS + 12];
    int row, at;

    for (row = 0; row < ROWS; row++) {
        char label[32] = "";
        size_t length = (size_t)canvas->columns;

        for (at = frame->y_low; at <= frame->y_high; at++) {
            const int of = row_of(canvas, pow(10, at));

            if ((of == ROWS ? ROWS - 1 : of) == row)
                roofline_rate_text(at, label, sizeof(label));
        }
        while (length > 0 && canvas->cells[row][length - 1] == ' ')
            length--;
        ridge_output_format(output, "%*s |%.*s\n", LEFT - 2, label, (int)length,
                            canvas->cells[row]);
    }
    ridge_output_format(output, "%*s +", LEFT - 2, "");
    for (at = 0; at < canvas->columns; at++)
        ridge_output_text(output, "-");
    memset(labels, ' ', sizeof(labels));
    for (at = frame->x_low; at <= frame->x_high; at++) {
        const size_t length = strlen(roofline_intensity_text(at, text, sizeof(text)));
        int column = (at - frame->x_low) * canvas->columns / (frame->x_high - frame->x_low);

        if (column + (int)length > canvas->columns)
            column = canvas->columns - (int)length;
        memcpy(labels + column, text, length);
    }
    labels[canvas->columns] = '\0';
    ridge_output_format(output, "\n%*s%s\n%*sFLOP/byte\n", LEFT, "", labels,
                        LEFT + canvas->columns - 9, "");
}

/* Which letter is what, with its numbers. */
static void print_points(const ridge_roofline *roofline, const struct roofline_frame *frame,
                         ridge_output *output)
{
    static const ridge_column columns[] = {
        {"letter", "", RIDGE_UNIT_NONE, true, 0, 0},
        {"label", "Point", RIDGE_UNIT_NONE, true, 16, 0},
        {"source", "", RIDGE_UNIT_NONE, true, 0, 1},
        {"flop_per_byte", "FLOP/byte", RIDGE_UNIT_NONE, false, 0, 0},
        {"flop_per_s", "Rate", RIDGE_UNIT_FLOP_PER_S, false, 0, 0},
        {"share_frac", "of the roof", RIDGE_UNIT_FRAC, false, 0, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < frame->drawn_count; i++) {
        const ridge_roofline_point *const point = &roofline->points[i];
        const char letter[2] = {(char)('A' + i), '\0'};

        ridge_table_text(table, roofline_has_place(point) ? letter : "-");
        ridge_table_text(table, point->label);
        ridge_table_text(table, point->is_measured ? "measured" : "least");
        ridge_table_number(table, point->flop_per_byte);
        ridge_table_number(table, point->flop_per_s);
        ridge_table_number(table, roofline_share(frame, point));
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* "/ - NVIDIA H200: 4.800 TB/s, bf16 tensor 989.4 TFLOP/s" */
static void print_roofs(const struct roofline_frame *frame, ridge_output *output)
{
    char line[400], number[32], letters[8];
    size_t used, i, k;

    for (k = 0; k < frame->roofs_count && k < RIDGE_ROOFLINE_CHIPS; k++) {
        const ridge_roofs *const roofs = frame->roofs[k];

        used = (size_t)snprintf(
            line, sizeof(line), "%s%s: %s", k == 0 || frame->has_chips ? roofs->name : "measured",
            frame->has_chips && roofs->is_measured ? ", measured" : "",
            ridge_number_text(roofs->dram_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, number, 32));
        for (i = 0; i < frame->peak_count && used < sizeof(line); i++)
            if (roofline_has_roof(frame, k, frame->peaks[i]))
                used += (size_t)snprintf(line + used, sizeof(line) - used, ", %s %s",
                                         ridge_peak_name(frame->peaks[i]),
                                         ridge_number_text(roofs->flop_per_s[frame->peaks[i]],
                                                           RIDGE_UNIT_FLOP_PER_S, number, 32));
        snprintf(letters, sizeof(letters), "%c %c ", roof_letters[k][0], roof_letters[k][1]);
        ridge_output_wrap(output, 4, letters, line);
    }
}

void ridge_roofline_write_text(const ridge_roofline *roofline, ridge_output *output)
{
    struct roofline_frame frame;
    struct canvas canvas;
    size_t i, k;
    int row;

    roofline_frame_of(roofline, &frame);
    canvas.frame = &frame;
    canvas.columns = ridge_output_columns(output) - LEFT;
    canvas.columns = canvas.columns > MOST_COLUMNS ? MOST_COLUMNS : canvas.columns;
    canvas.columns = canvas.columns < 40 ? 40 : canvas.columns;
    for (row = 0; row < ROWS; row++) {
        memset(canvas.cells[row], ' ', MOST_COLUMNS);
        canvas.cells[row][MOST_COLUMNS] = '\0';
    }
    for (k = 0; k < frame.roofs_count; k++)
        for (i = 0; i < frame.peak_count; i++)
            draw_roof(&canvas, k, frame.peaks[i]);
    if (frame.peak_count == 0)
        for (k = 0; k < frame.roofs_count; k++)
            draw_roof(&canvas, k, RIDGE_PEAK_NONE);
    draw_points(&canvas, roofline);
    print_canvas(&canvas, output);
    print_roofs(&frame, output);
    if (frame.drawn_count > 0)
        ridge_output_text(output, "\n");
    print_points(roofline, &frame, output);
    if (frame.drawn_count < roofline->point_count)
        ridge_output_format(output, "%zu more points are not drawn\n",
                            roofline->point_count - frame.drawn_count);
}
