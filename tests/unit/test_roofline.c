/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "bound/roofline_frame.h"
#include "bound_support.h"

#define UNKNOWN (double)NAN

/* One unit of 1 TFLOP/s and 100 GB/s: the ridge is at 10. */
static void simple_roofs(ridge_roofs *out, const char *name, double bytes_per_s, double flop_per_s)
{
    ridge_roofs_init(out);
    snprintf(out->name, sizeof(out->name), "%s", name);
    out->dram_bytes_per_s = bytes_per_s;
    out->flop_per_s[RIDGE_PEAK_FP32] = flop_per_s;
}

/* -- the frame --------------------------------------------------------------------------------- */

static struct frame_case {
    const char *name;
    double bytes_per_s, peak;
    double x, y; /* of the one point */
    int x_low, x_high, y_low, y_high;
} frame_cases[] = {
    {"on the ridge", 1e11, 1e12, 10, 1e12, -1, 2, 10, 12},
    {"far left", 1e11, 1e12, 0.001, 1e8, -4, 2, 7, 12},
    {"far right", 1e11, 1e12, 1e5, 1e12, -1, 6, 10, 12},
    {"above the roof", 1e11, 1e12, 10, 5e13, -1, 2, 10, 14},
    {"no place", 1e11, 1e12, 0, 0, -1, 2, 10, 12},
    {"infinite intensity", 1e11, 1e12, (double)INFINITY, 1e12, -1, 2, 10, 12},
    {"no roof", UNKNOWN, UNKNOWN, 10, 1e12, 0, 2, 10, 12},
    {"neither", UNKNOWN, UNKNOWN, 0, 0, -2, 3, -1, 1},
    {"peak alone", UNKNOWN, 1e12, 0, 0, -2, 3, 10, 12},
    {"many decades", 1e11, 1e12, 1e-30, 1e-10, -10, 2, 0, 12},
};

static void frames(void **state)
{
    const struct frame_case *const test = *state;
    const ridge_roofline_point point = {"p", test->x, test->y, RIDGE_PEAK_FP32, true, 0};
    struct roofline_frame frame;
    ridge_roofs roofs;
    const ridge_roofline roofline = {"t", &roofs, NULL, &point, 1, {NULL}, 0};

    simple_roofs(&roofs, "chip", test->bytes_per_s, test->peak);
    roofline_frame_of(&roofline, &frame);
    if (frame.x_low != test->x_low || frame.x_high != test->x_high || frame.y_low != test->y_low ||
        frame.y_high != test->y_high)
        fail_msg("x %d to %d, y %d to %d", frame.x_low, frame.x_high, frame.y_low, frame.y_high);
}

static void texts_of_decades(void **state)
{
    char text[32];

    assert_string_equal(roofline_rate_text(14, text, sizeof(text)), "100 TFLOP/s");
    assert_string_equal(roofline_rate_text(0, text, sizeof(text)), "1 FLOP/s");
    assert_string_equal(roofline_rate_text(-1, text, sizeof(text)), "1e-1 FLOP/s");
    assert_string_equal(roofline_rate_text(21, text, sizeof(text)), "1e21 FLOP/s");
    assert_string_equal(roofline_intensity_text(-3, text, sizeof(text)), "0.001");
    assert_string_equal(roofline_intensity_text(3, text, sizeof(text)), "1000");
    assert_string_equal(roofline_intensity_text(4, text, sizeof(text)), "1e4");
    (void)state;
}

/* -- both pictures ----------------------------------------------------------------------------- */

static char *draw(const ridge_roofline *roofline, bool svg, int columns)
{
    caught in;

    caught_open(&in, columns, false);
    if (svg)
        ridge_roofline_write_svg(roofline, in.output);
    else
        ridge_roofline_write_text(roofline, in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    return in.text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        widest = length > widest ? length : widest;
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void draws_points_and_roofs(void **state)
{
    const ridge_roofline_point points[] = {
        {"kernel<float>", 1, 5e10, RIDGE_PEAK_FP32, true, 0},
        {"copy", 0, 0, RIDGE_PEAK_NONE, false, 0},
        {"gemm", 100, 1e12, RIDGE_PEAK_FP32, false, 0},
    };
    ridge_roofs nominal, measured;
    const ridge_roofline roofline = {"chip", &nominal, &measured, points, 3, {NULL}, 0};
    char *text;

    simple_roofs(&nominal, "chip", 1e11, 1e12);
    simple_roofs(&measured, "chip", 0.9e11, 0.8e12);
    text = draw(&roofline, false, 100);
    assert_true(widest_line(text) <= 100);
    assert_int_equal(occurrences(text, "A  kernel<float>  measured"), 1);
    assert_int_equal(occurrences(text, "-  copy           least"), 1);
    assert_int_equal(occurrences(text, "/ - chip: 100.0 GB/s, fp32 1.000 TFLOP/s"), 1);
    assert_int_equal(occurrences(text, ": . measured: 90.00 GB/s, fp32 800.0 GFLOP/s"), 1);
    assert_int_equal(occurrences(text, "55.56 %"), 1); /* of the measured roof, 90 GFLOP/s */
    free(text);
    text = draw(&roofline, true, 0);
    assert_int_equal(occurrences(text, "<circle class=\"measured\""), 2); /* point and list */
    assert_int_equal(occurrences(text, "<circle class=\"least\""), 3);    /* copy is listed only */
    assert_int_equal(occurrences(text, "kernel&lt;float&gt;"), 1);
    assert_int_equal(occurrences(text, "class=\"roof\""), 3); /* slope, peak, key */
    assert_int_equal(occurrences(text, "class=\"roof-measured\""), 3);
    free(text);
    (void)state;
}

/* What was not measured is drawn once. */
static void unmeasured_peak(void **state)
{
    const ridge_roofline_point point = {"p", 1, 5e10, RIDGE_PEAK_FP32, true, 0};
    ridge_roofs nominal, measured;
    const ridge_roofline roofline = {"chip", &nominal, &measured, &point, 1, {NULL}, 0};
    char *text;

    simple_roofs(&nominal, "chip", 1e11, 1e12);
    simple_roofs(&measured, "chip", 0.9e11, 1e12);
    text = draw(&roofline, true, 0);
    assert_int_equal(occurrences(text, "measured: 90.00 GB/s</text>"), 1);
    assert_int_equal(occurrences(text, "class=\"roof-measured\""), 2); /* slope and key */
    free(text);
    text = draw(&roofline, false, 0);
    assert_int_equal(occurrences(text, ": . measured: 90.00 GB/s\n"), 1);
    free(text);
    (void)state;
}

/* Forty points on one place, with names of any length, and what no plane has. */
static void crowds(void **state)
{
    static char name[600];
    static const double odd[] = {0, -1, UNKNOWN, (double)INFINITY, 1e-300, 1e300};
    ridge_roofline_point points[40];
    ridge_roofs roofs;
    const ridge_roofline roofline = {"chip", &roofs, NULL, points, 40, {NULL}, 0};
    size_t i;

    memset(name, 'n', sizeof(name) - 1);
    for (i = 0; i < 40; i++)
        points[i] = (ridge_roofline_point){
            name, i < 30 ? 10 : odd[i % 6], i < 30 ? 1e12 : odd[(i + 1) % 6], RIDGE_PEAK_FP32, true,
            0};
    simple_roofs(&roofs, "chip", 1e11, 1e12);
    for (i = 0; i < 2; i++) {
        char *const text = draw(&roofline, i > 0, 80);

        assert_true(i > 0 || widest_line(text) <= 80);
        assert_int_equal(occurrences(text, "14 more points are not drawn"), i == 0);
        assert_int_equal(occurrences(text, "nan"), 0);
        assert_int_equal(occurrences(text, "inf"), 0);
        free(text);
    }
    for (i = 0; i < 40; i++)
        points[i] =
            (ridge_roofline_point){"p", odd[i % 6], odd[(i / 6) % 6], RIDGE_PEAK_FP32, i % 2, 0};
    free(draw(&roofline, true, 80));
    free(draw(&roofline, false, 10));
    simple_roofs(&roofs, "", UNKNOWN, UNKNOWN);
    free(draw(&roofline, true, 80));
    free(draw(&roofline, false, 80));
    (void)state;
}

static void no_memory(void **state)
{
    const ridge_roofline_point point = {"p", 1, 5e10, RIDGE_PEAK_FP32, true, 0};
    ridge_roofs roofs;
    const ridge_roofline roofline = {"chip", &roofs, NULL, &point, 1, {NULL}, 0};
    size_t nth, svg;

    simple_roofs(&roofs, "chip", 1e11, 1e12);
    for (svg = 0; svg < 2; svg++) {
        for (nth = 1;; nth++) {
            caught in;
            ridge_status status;

            ridge_memory_fail_at(nth);
            caught_open(&in, 0, false);
            if (svg > 0)
                ridge_roofline_write_svg(&roofline, in.output);
            else
                ridge_roofline_write_text(&roofline, in.output);
            status = caught_close(&in, NULL);
            ridge_memory_fail_at(0);
            free(in.text);
            if (status == RIDGE_OK)
                break;
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        }
    }
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, frames, frame_cases);
    cases_add(&list, "texts of decades", texts_of_decades, NULL);
    cases_add(&list, "points and roofs", draws_points_and_roofs, NULL);
    cases_add(&list, "a peak that was not measured", unmeasured_peak, NULL);
    cases_add(&list, "crowds", crowds, NULL);
    cases_add(&list, "no memory", no_memory, NULL);
    return cases_run(&list, "roofline");
}
