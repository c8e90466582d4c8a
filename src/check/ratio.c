/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of a ratio: the constants that are left out of, or put twice into, kernels. Candidates in
 * order of simplicity; the first within the tolerance is it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/check_internal.h"

static const struct {
    double value;
    const char *name;
} constants[] = {
    {1.4426950408889634, "log2(e)"}, {0.6931471805599453, "ln(2)"},
    {1.4142135623730951, "sqrt(2)"}, {0.7071067811865476, "1/sqrt(2)"},
    {2.718281828459045, "e"},        {0.36787944117144233, "1/e"},
    {2.302585092994046, "ln(10)"},   {3.3219280948873623, "log2(10)"},
    {3.141592653589793, "pi"},       {0.7978845608028654, "sqrt(2/pi)"},
};

static bool is_near(double ratio, double value, double tolerance)
{
    return fabs(ratio - value) <= tolerance * fabs(value);
}

static bool fraction_name(double ratio, double tolerance, int most, char *out, size_t size)
{
    for (int below = 1; below <= most; below++)
        for (int above = 1; above <= most; above++) {
            if (above == below || !is_near(ratio, (double)above / below, tolerance))
                continue;
            if (below == 1)
                snprintf(out, size, "%d", above);
            else
                snprintf(out, size, "%d/%d", above, below);
            return true;
        }
    return false;
}

static bool power_name(double ratio, double tolerance, char *out, size_t size)
{
    const int power = (int)lround(log2(ratio));

    if (power == 0 || abs(power) > 60 || !is_near(ratio, ldexp(1, power), tolerance))
        return false;
    if (power > 0)
        snprintf(out, size, "%" PRId64, INT64_C(1) << power);
    else
        snprintf(out, size, "1/%" PRId64, INT64_C(1) << -power);
    return true;
}

/* The length itself, its root, and one over each. */
static bool length_name(double ratio, double tolerance, int64_t length, char *out, size_t size)
{
    const double n = (double)length;

    if (length <= 1)
        return false;
    if (is_near(ratio, n, tolerance))
        snprintf(out, size, "%" PRId64, length);
    else if (is_near(ratio, 1 / n, tolerance))
        snprintf(out, size, "1/%" PRId64, length);
    else if (is_near(ratio, sqrt(n), tolerance))
        snprintf(out, size, "sqrt(%" PRId64 ")", length);
    else if (is_near(ratio, 1 / sqrt(n), tolerance))
        snprintf(out, size, "1/sqrt(%" PRId64 ")", length);
    else
        return false;
    return true;
}

void check_ratio_name(double ratio, double tolerance, const int64_t *extents, char *out,
                      size_t size)
{
    static const int64_t widths[] = {8, 16, 32, 64, 128, 256, 512, 1024, 80, 96, 192, 0};
    const double value = fabs(ratio);

    out[0] = '\0';
    if (!isfinite(ratio) || value == 0 || is_near(value, 1, tolerance))
        return;
    if (fraction_name(value, tolerance, 4, out, size) || power_name(value, tolerance, out, size))
        return;
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (is_near(value, constants[i].value, tolerance)) {
            snprintf(out, size, "%s", constants[i].name);
            return;
        }
    for (size_t i = 0; extents != NULL && extents[i] != 0; i++)
        if (length_name(value, tolerance, extents[i], out, size))
            return;
    for (size_t i = 0; widths[i] != 0; i++)
        if (length_name(value, tolerance, widths[i], out, size))
            return;
    fraction_name(value, tolerance, 16, out, size);
}
