/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of ridge timeline that says what each road gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timeline_cli.h"

enum { LABEL = TIMELINE_LABEL, PART = 160 };

/* The kernels' road; "" where there is no kernel to look into. */
static void inside_text(const ridge_timeline_next *next, char *buffer, size_t size)
{
    const char *const which = next->is_inside ? "this kernel" : "the kernel below";

    buffer[0] = '\0';
    if (next->worst == NULL)
        return;
    if (isnan(next->worst_gain) && isnan(next->kernels_gain))
        snprintf(buffer, size, "%.2fx with %s twice as fast", next->worst_half_gain, which);
    else if (isnan(next->worst_gain))
        snprintf(buffer, size, "%.2fx with %s twice as fast, %.2fx with others at their least time",
                 next->worst_half_gain, which, next->kernels_gain);
    else
        snprintf(buffer, size, "%.2fx with %s at its least time, %.2fx with all (%.0f %% have one)",
                 next->worst_gain, which, next->kernels_gain, 100 * next->bounded_frac);
}

static void richest_text(const ridge_timeline_next *next, char *buffer, size_t size)
{
    static const char shapes[] = "shapes of ";
    char name[TIMELINE_NAME];
    const char *source;

    buffer[0] = '\0';
    if (next->richest == NULL)
        return;
    source = strncmp(next->richest->source, shapes, strlen(shapes)) == 0
                 ? next->richest->source + strlen(shapes)
                 : "";
    ridge_kernel_base_name(next->richest->sum.name, name, sizeof(name));
    snprintf(buffer, size, "; most to gain: %.48s%s%s, %.1f %% of the span", name,
             source[0] != '\0' ? " of " : "", source, 100 * next->richest_frac);
}

void timeline_print_gain(const struct timeline_view *view, ridge_output *output)
{
    const ridge_timeline_next *const next = &view->next;
    const ridge_device_account *const account = view->account;
    const ridge_timeline_verdict verdict = account->verdict;
    char label[LABEL + 1], inside[PART], between[PART] = "", richest[PART], text[3 * PART + 16];
    bool has_both;

    if (verdict == RIDGE_TIMELINE_NOTHING || verdict == RIDGE_TIMELINE_INCOMPLETE)
        return;
    inside_text(next, inside, sizeof(inside));
    richest_text(next, richest, sizeof(richest));
    if (verdict == RIDGE_TIMELINE_COPY_BOUND && !isnan(next->copy_gain))
        snprintf(between, sizeof(between), "%.2fx with copies under kernels, %.2fx without idle",
                 next->copy_gain, next->idle_gain);
    else if (account->idle_ns > 0 && !isnan(next->idle_gain))
        snprintf(between, sizeof(between), "%.2fx without idle", next->idle_gain);
    has_both = inside[0] != '\0' && between[0] != '\0';
    snprintf(text, sizeof(text), "at most %s%s%s%s", next->is_inside ? inside : between,
             has_both ? ", " : "", next->is_inside ? between : inside, richest);
    snprintf(label, sizeof(label), "%-*s", LABEL, "gain");
    if (inside[0] != '\0' || between[0] != '\0')
        ridge_output_wrap(output, LABEL, label, text);
}
