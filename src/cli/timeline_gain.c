/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of ridge timeline that says what each road gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timeline_cli.h"

enum { LABEL = TIMELINE_LABEL, PART = 160, FEW = 10 };

static const double copies_least = 0.05; /* of the span, copies alone, for their road to be told */
static const double told_least = 1.1;    /* gains without idle: where a start is told apart, */
static const double gain_most = 100, few_most = 10; /* that the trace cannot stand for */

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
        snprintf(
            buffer, size,
            "%.2fx with %s twice as fast, %.2fx with others at their least time (%.0f %% have one)",
            next->worst_half_gain, which, next->kernels_gain, 100 * next->bounded_frac);
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
    snprintf(buffer, size, "; most to gain%s: %.48s%s%s, %.1f %% of the span",
             next->worst->bound_count > 0 ? "" : " of those with a least time", name,
             source[0] != '\0' ? " of " : "", source, 100 * next->richest_frac);
}

/* Idle time in the start of a process is no part of a longer run: what is behind it tells of that. */
static bool has_start(const ridge_timeline_next *next)
{
    return next->idle_gain >= told_least && !isnan(next->start_frac) && !isnan(next->steady_gain);
}

/* A few kernels in a long span, or next to no work in it: no run is like that. */
static bool is_too_little(const struct timeline_view *view)
{
    const ridge_timeline_next *const next = &view->next;
    const double gain = has_start(next) ? next->steady_gain : next->idle_gain;

    return gain >= gain_most ||
           (gain >= few_most && view->account->kernel_count + view->account->graph_row_count < FEW);
}

/* What the advice to remove waits gives, where the host is in the way behind them. */
static void sync_text(const ridge_timeline_next *next, char *buffer, size_t size)
{
    char sync[32], idle[32];

    buffer[0] = '\0';
    if (!next->is_sync || isnan(next->sync_gain))
        return;
    snprintf(sync, sizeof(sync), "%.2fx", next->sync_gain);
    snprintf(idle, sizeof(idle), "%.2fx", next->idle_gain);
    if (strcmp(sync, idle) != 0)
        snprintf(buffer, size, "%s without waits, then the host is the limit; ", sync);
}

static void idle_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;
    char sync[64];

    buffer[0] = '\0';
    if (view->account->idle_ns == 0 || isnan(next->idle_gain) || is_too_little(view))
        return;
    sync_text(next, sync, sizeof(sync));
    if (has_start(next) && next->idle_gain < gain_most)
        snprintf(buffer, size,
                 "%s%.2fx without%s idle, but %.2fx behind the start, which has %.0f %% of it",
                 sync, next->idle_gain, sync[0] != '\0' ? " any" : "", next->steady_gain,
                 floor(100 * next->start_frac));
    else if (has_start(next))
        snprintf(buffer, size, "%.2fx without idle behind the start, which has %.0f %% of it",
                 next->steady_gain, floor(100 * next->start_frac));
    else
        snprintf(buffer, size, "%s%.2fx without%s idle", sync, next->idle_gain,
                 sync[0] != '\0' ? " any" : "");
}

static void little_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_device_account *const account = view->account;
    const size_t kernels = account->kernel_count + account->graph_row_count;
    char time[32];

    buffer[0] = '\0';
    if (is_too_little(view))
        snprintf(buffer, size,
                 "%zu kernel%s of %s in all are too little to tell what no idle time gives",
                 kernels, kernels == 1 ? "" : "s",
                 timeline_time((double)account->kernel_ns, time, sizeof(time)));
}

/* The time between: copies, idle time; "" without any. */
static void between_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;
    const ridge_device_account *const account = view->account;
    const bool has_copies =
        !isnan(next->copy_gain) &&
        (double)account->copy_only_ns >= copies_least * (double)timeline_span(account);
    char idle[PART], copies[PART] = "";
    bool is_first;

    idle_text(view, idle, sizeof(idle));
    if (has_copies)
        snprintf(copies, sizeof(copies), "%.2fx with copies under kernels", next->copy_gain);
    is_first = has_copies && (account->verdict == RIDGE_TIMELINE_COPY_BOUND ||
                              !(next->idle_gain > next->copy_gain));
    snprintf(buffer, size, "%s%s%s", is_first ? copies : idle,
             idle[0] != '\0' && has_copies ? ", " : "", is_first ? idle : copies);
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
    char label[LABEL + 1], inside[PART], between[2 * PART], exposed[PART], richest[PART],
        little[PART];
    char text[6 * PART + 16] = "";
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
    little_text(view, little, sizeof(little));
    for (i = 0; i < sizeof(roads) / sizeof(roads[0]); i++)
        if (roads[i][0] != '\0')
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     used == 0 ? "at most " : ", ", roads[i]);
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s", used > 0 ? richest : "",
                             used > 0 && little[0] != '\0' ? "; " : "", little);
    if (used == 0)
        return;
    snprintf(label, sizeof(label), "%-*s", LABEL, "gain");
    ridge_output_wrap(output, LABEL, label, text);
}
