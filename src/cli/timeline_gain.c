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
    const char *const which =
        next->is_inside && next->exposed[0] == '\0' ? "this kernel" : "the kernel below";

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

/* The time between: copies, idle time; "" without any. */
static void between_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;

    buffer[0] = '\0';
    if (view->account->verdict == RIDGE_TIMELINE_COPY_BOUND && !isnan(next->copy_gain))
        snprintf(buffer, size, "%.2fx with copies under kernels, %.2fx without idle",
                 next->copy_gain, next->idle_gain);
    else if (view->account->idle_ns > 0 && !isnan(next->idle_gain))
        snprintf(buffer, size, "%.2fx without idle", next->idle_gain);
}

static void exposed_text(const ridge_timeline_next *next, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (next->collective_gain >= 1.01)
        snprintf(buffer, size, "%.2fx with communication under other kernels",
                 next->collective_gain);
}

void timeline_print_gain(const struct timeline_view *view, ridge_output *output)
{
    const ridge_timeline_next *const next = &view->next;
    const ridge_timeline_verdict verdict = view->account->verdict;
    char label[LABEL + 1], inside[PART], between[PART], exposed[PART], richest[PART];
    char text[4 * PART + 16] = "";
    const char *const roads[] = {
        next->exposed[0] != '\0' ? exposed : "", next->is_inside ? inside : between,
        next->is_inside ? between : inside, next->exposed[0] != '\0' ? "" : exposed};
    size_t i, used = 0;

    if (verdict == RIDGE_TIMELINE_NOTHING || verdict == RIDGE_TIMELINE_INCOMPLETE)
        return;
    inside_text(next, inside, sizeof(inside));
    between_text(view, between, sizeof(between));
    exposed_text(next, exposed, sizeof(exposed));
    richest_text(next, richest, sizeof(richest));
    for (i = 0; i < sizeof(roads) / sizeof(roads[0]); i++)
        if (roads[i][0] != '\0')
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     used == 0 ? "at most " : ", ", roads[i]);
    if (used == 0)
        return;
    snprintf(text + used, sizeof(text) - used, "%s", richest);
    snprintf(label, sizeof(label), "%-*s", LABEL, "gain");
    ridge_output_wrap(output, LABEL, label, text);
}
