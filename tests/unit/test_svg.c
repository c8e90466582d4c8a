/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/svg.h"
#include "cases.h"

static void shapes(void **state)
{
    caught in;

    caught_open(&in, 0, false);
    ridge_svg_line(in.output, "grid", 0, 1, 2.5, -3.25);
    ridge_svg_rect(in.output, "paper", -0.001, 10, 20, 0.004);
    ridge_svg_circle(in.output, "least", 1e3, 1.0 / 3, 5);
    caught_is(&in,
              "<line class=\"grid\" x1=\"0.00\" y1=\"1.00\" x2=\"2.50\" y2=\"-3.25\"/>\n"
              "<rect class=\"paper\" x=\"0.00\" y=\"10.00\" width=\"20.00\" height=\"0.00\"/>\n"
              "<circle class=\"least\" cx=\"1000.00\" cy=\"0.33\" r=\"5.00\"/>\n");
    (void)state;
}

/* Nothing a picture could not be read with. */
static void odd_numbers(void **state)
{
    caught in;

    caught_open(&in, 0, false);
    ridge_svg_line(in.output, "x", (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300);
    caught_is(&in, "<line class=\"x\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"0\"/>\n");
    (void)state;
}

static struct text_case {
    const char *name;
    const char *text;
    ridge_svg_anchor anchor;
    double degrees;
    const char *expected;
} text_cases[] = {
    {"plain", "gemm", RIDGE_SVG_START, 0,
     "<text class=\"c\" text-anchor=\"start\" x=\"1.00\" y=\"2.00\">gemm</text>\n"},
    {"markup", "k<(int)1> & \"x\" 'y'", RIDGE_SVG_END, 0,
     "<text class=\"c\" text-anchor=\"end\" x=\"1.00\" y=\"2.00\">k&lt;(int)1&gt; &amp; "
     "&quot;x&quot; &#39;y&#39;</text>\n"},
    {"turned", "t", RIDGE_SVG_MIDDLE, -45,
     "<text class=\"c\" text-anchor=\"middle\" x=\"1.00\" y=\"2.00\" "
     "transform=\"rotate(-45.00 1.00 2.00)\">t</text>\n"},
    {"control characters and bad bytes", "a\033[31m\xff", RIDGE_SVG_START, 0,
     "<text class=\"c\" text-anchor=\"start\" x=\"1.00\" y=\"2.00\">a?[31m?</text>\n"},
    {"empty", "", RIDGE_SVG_START, 0,
     "<text class=\"c\" text-anchor=\"start\" x=\"1.00\" y=\"2.00\"></text>\n"},
};

static void texts(void **state)
{
    const struct text_case *const test = *state;
    caught in;

    caught_open(&in, 0, false);
    ridge_svg_text(in.output, "c", test->anchor, 1, 2, test->degrees, test->text);
    caught_is(&in, test->expected);
}

static void whole_picture(void **state)
{
    caught in;

    caught_open(&in, 0, false);
    ridge_svg_begin(in.output, 100, 50, "a < b", ".own { fill: var(--red); }\n");
    ridge_svg_end(in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_ptr_equal(strstr(in.text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100.00\""),
                     in.text);
    assert_non_null(strstr(in.text, "<title>a &lt; b</title>"));
    assert_non_null(strstr(in.text, ".own { fill: var(--red); }\n</style>\n<rect class=\"paper\""));
    assert_non_null(strstr(in.text, "prefers-color-scheme: dark"));
    assert_string_equal(in.text + in.size - strlen("</svg>\n"), "</svg>\n");
    free(in.text);
    (void)state;
}

static void fits(void **state)
{
    char text[64];

    assert_string_equal(ridge_svg_fit("gemm", 100, 12, text, sizeof(text)), "gemm");
    assert_string_equal(ridge_svg_fit("gemm_of_a_long_name", 75, 12, text, sizeof(text)),
                        "gemm_of...");
    /* Not in the middle of a letter. */
    assert_string_equal(
        ridge_svg_fit("a\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 33, 12, text, sizeof(text)), "a...");
    assert_string_equal(ridge_svg_fit("gemm", 0, 12, text, sizeof(text)), "g...");
    (void)state;
}

static void no_output(void **state)
{
    ridge_svg_begin(NULL, 1, 1, "", "");
    ridge_svg_line(NULL, "", 0, 0, 0, 0);
    ridge_svg_end(NULL);
    assert_true(ridge_svg_text_width("1234567890", 12) > ridge_svg_text_width("12345", 12));
    (void)state;
}

int main(void)
{
    static cases list;

    cases_add(&list, "shapes", shapes, NULL);
    cases_add(&list, "odd numbers", odd_numbers, NULL);
    CASES_ADD_ROWS(&list, texts, text_cases);
    cases_add(&list, "whole picture", whole_picture, NULL);
    cases_add(&list, "fits", fits, NULL);
    cases_add(&list, "no output", no_output, NULL);
    return cases_run(&list, "svg");
}
