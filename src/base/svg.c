/* SPDX-License-Identifier: Apache-2.0 */
#include "base/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { NUMBER = 32 };

/* Two decimals; no locale's point. */
static const char *pixels(double value, char text[NUMBER])
{
    const double hundredths = round(fabs(value) * 100);

    if (!(hundredths < 1e12))
        return "0";
    snprintf(text, NUMBER, "%s%.0f.%02d", value < 0 && hundredths > 0 ? "-" : "",
             floor(hundredths / 100), (int)fmod(hundredths, 100));
    return text;
}

static void attribute(ridge_output *output, const char *name, double value)
{
    char text[NUMBER];

    ridge_output_format(output, " %s=\"%s\"", name, pixels(value, text));
}

static void escaped(ridge_output *output, const char *text)
{
    while (*text != '\0') {
        const size_t plain = strcspn(text, "<>&\"'");

        if (plain > 0)
            ridge_output_format(output, "%.*s", (int)plain, text);
        text += plain;
        if (*text == '\0')
            break;
        ridge_output_text(output, *text == '<'   ? "&lt;"
                                  : *text == '>' ? "&gt;"
                                  : *text == '&' ? "&amp;"
                                  : *text == '"' ? "&quot;"
                                                 : "&#39;");
        text++;
    }
}

void ridge_svg_begin(ridge_output *output, double width, double height, const char *title,
                     const char *style)
{
    char w[NUMBER], h[NUMBER];

    pixels(width, w);
    pixels(height, h);
    ridge_output_format(output,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" "
                        "viewBox=\"0 0 %s %s\" role=\"img\">\n<title>",
                        w, h, w, h);
    escaped(output, title);
    ridge_output_text(
        output,
        "</title>\n<style>\n"
        "svg { --paper: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #e3e7ec;\n"
        "  --blue: #0969da; --orange: #bc4c00; --green: #1a7f37; --red: #cf222e; }\n"
        "@media (prefers-color-scheme: dark) {\n"
        "  svg { --paper: #0d1117; --ink: #e6edf3; --dim: #9198a1; --grid: #2a313a;\n"
        "    --blue: #4493f8; --orange: #db8c4b; --green: #3fb950; --red: #f85149; } }\n"
        "text { font: 12px system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif;\n"
        "  fill: var(--ink); }\n"
        ".paper { fill: var(--paper); }\n.grid { stroke: var(--grid); }\n"
        ".axis { stroke: var(--dim); }\n.dim { fill: var(--dim); }\n"
        ".title { font-size: 15px; font-weight: 600; }\n");
    ridge_output_text(output, style);
    ridge_output_text(output, "</style>\n");
    ridge_svg_rect(output, "paper", 0, 0, width, height);
}

void ridge_svg_end(ridge_output *output)
{
    ridge_output_text(output, "</svg>\n");
}

void ridge_svg_line(ridge_output *output, const char *class_name, double x1, double y1, double x2,
                    double y2)
{
    ridge_output_format(output, "<line class=\"%s\"", class_name);
    attribute(output, "x1", x1);
    attribute(output, "y1", y1);
    attribute(output, "x2", x2);
    attribute(output, "y2", y2);
    ridge_output_text(output, "/>\n");
}

static void begin_rect(ridge_output *output, const char *class_name, double x, double y,
                       double width, double height)
{
    ridge_output_format(output, "<rect class=\"%s\"", class_name);
    attribute(output, "x", x);
    attribute(output, "y", y);
    attribute(output, "width", width);
    attribute(output, "height", height);
}

void ridge_svg_rect(ridge_output *output, const char *class_name, double x, double y, double width,
                    double height)
{
    begin_rect(output, class_name, x, y, width, height);
    ridge_output_text(output, "/>\n");
}

void ridge_svg_titled_rect(ridge_output *output, const char *class_name, double x, double y,
                           double width, double height, const char *title)
{
    begin_rect(output, class_name, x, y, width, height);
    ridge_output_text(output, "><title>");
    escaped(output, title);
    ridge_output_text(output, "</title></rect>\n");
}

void ridge_svg_circle(ridge_output *output, const char *class_name, double x, double y,
                      double radius)
{
    ridge_output_format(output, "<circle class=\"%s\"", class_name);
    attribute(output, "cx", x);
    attribute(output, "cy", y);
    attribute(output, "r", radius);
    ridge_output_text(output, "/>\n");
}

void ridge_svg_text(ridge_output *output, const char *class_name, ridge_svg_anchor anchor, double x,
                    double y, double degrees, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char angle[NUMBER], at_x[NUMBER], at_y[NUMBER];

    ridge_output_format(output, "<text class=\"%s\" text-anchor=\"%s\"", class_name,
                        anchors[anchor]);
    attribute(output, "x", x);
    attribute(output, "y", y);
    if (degrees != 0)
        ridge_output_format(output, " transform=\"rotate(%s %s %s)\"", pixels(degrees, angle),
                            pixels(x, at_x), pixels(y, at_y));
    ridge_output_text(output, ">");
    escaped(output, text);
    ridge_output_text(output, "</text>\n");
}

/* Digits and lower-case letters of such fonts are about 0.56 of their size wide. */
double ridge_svg_text_width(const char *text, double font_pixels)
{
    return 0.62 * font_pixels * (double)ridge_text_columns(text, strlen(text));
}

char *ridge_svg_fit(const char *text, double width, double font_pixels, char *buffer, size_t size)
{
    size_t length;

    snprintf(buffer, size, "%s", text);
    if (ridge_svg_text_width(buffer, font_pixels) <= width)
        return buffer;
    for (length = strlen(buffer); length > 3; length--) {
        /* Cut before a whole character: bytes 10xxxxxx continue one. */
        if (((unsigned char)buffer[length - 3] & 0xC0) == 0x80)
            continue;
        snprintf(buffer + length - 3, size - (length - 3), "...");
        if (ridge_svg_text_width(buffer, font_pixels) <= width)
            break;
    }
    return buffer;
}
