/* SPDX-License-Identifier: Apache-2.0
 *
 * What each road gives, by Amdahl: the span over the span less what is saved on that road alone. Work
 * that overlaps hides a part of what is saved, so these are upper bounds. */
#include "timeline/next/next_internal.h"

#include <math.h>
#include <string.h>

#include "timeline/account/account.h"

/* Where both roads are told, the one that gives more first. */
static const double idle_least = 0.05, idle_most = 0.20;
static const double richer_least = 1.5;
static const double copies_least = 0.05;  /* of the span, copies alone */
static const double worth_least = 0.01;   /* of the span */
static const double bounded_least = 0.50; /* of the kernels' time, to rank by least times */

static double gain(double span_ns, double saved_ns)
{
    return saved_ns < span_ns ? span_ns / (span_ns - saved_ns) : NAN;
}

/* Under kernels copies still take their time: of one direction one after the other. */
static double copy_gain(const ridge_device_account *device, double span_ns)
{
    const double rest_ns = span_ns - (double)device->copy_only_ns;
    const double busiest_ns = (double)device->copy_busiest_ns;

    return gain(span_ns, span_ns - (rest_ns > busiest_ns ? rest_ns : busiest_ns));
}

/* Without waits the device has its work as today, the host its own. */
double next_sync_gain(const ridge_device_account *device)
{
    const double span_ns = (double)sum_span_ns(device->start_ns, device->end_ns);

    if (device->launch_count == 0)
        return NAN;
    return gain(span_ns, (double)(device->waited_ns < device->idle_ns ? device->waited_ns
                                                                      : device->idle_ns));
}

static double exposed_of(const ridge_device_account *device)
{
    return (double)device->collective_ns - (double)device->collective_hidden_ns;
}

/* What the advice on the time between gives. */
static double between_gain(const ridge_timeline_next *out)
{
    return out->is_sync && !isnan(out->sync_gain) ? out->sync_gain : out->idle_gain;
}

/* A road that leaves nothing gives more than any other. */
static bool gives_more(double gain, double other)
{
    return !isnan(other) && (isnan(gain) || gain > other);
}

/* The ranks wait for each other in collectives: which one is late only their traces tell. */
static void advise_on_exposed(const ridge_device_account *device, double span_ns, double inside,
                              ridge_timeline_next *out)
{
    static const char words[] =
        "compare the ranks (ridge timeline RANK0 RANK1 ...): late ones make the others wait; "
        "overlap communication with computation (smaller buckets, a stream of its own, earlier), "
        "or send fewer bytes";

    out->exposed[0] = '\0';
    if (exposed_of(device) < ACCOUNT_EXPOSED_LEAST * span_ns ||
        device->verdict == RIDGE_TIMELINE_NOTHING || device->verdict == RIDGE_TIMELINE_INCOMPLETE ||
        !gives_more(out->collective_gain, between_gain(out)) ||
        (device->verdict == RIDGE_TIMELINE_COPY_BOUND &&
         !gives_more(out->collective_gain, out->copy_gain)) ||
        (out->worst != NULL && !gives_more(out->collective_gain, inside)))
        return;
    memcpy(out->exposed, words, sizeof(words));
}

/* Copies that no kernel hides, where nothing else is to be done between the kernels and they give more
 * than these: the verdict may be that the GPU is busy. */
static void advise_on_copies(next_common *common, const ridge_device_account *device,
                             double span_ns, double inside, ridge_timeline_next *out)
{
    if (out->fix[0] != '\0' || (double)device->copy_only_ns < copies_least * span_ns ||
        !gives_more(out->copy_gain, out->idle_gain) ||
        !gives_more(out->copy_gain, out->collective_gain) ||
        (out->worst != NULL && !gives_more(out->copy_gain, inside)))
        return;
    next_copy_advice(common, device, out->fix, sizeof(out->fix));
    out->is_inside = false;
    out->exposed[0] = '\0';
}

static void find_start(const ridge_trace *trace, const ridge_device_account *device,
                       ridge_timeline_next *out)
{
    next_start_of start;
    double rest_ns;

    out->start_frac = out->steady_gain = NAN;
    if (!next_start(trace, device, &start))
        return;
    rest_ns = (double)sum_span_ns(start.end_ns, device->end_ns);
    out->start_frac = start.idle_frac;
    out->steady_gain = gain(rest_ns, (1 - start.idle_frac) * (double)device->idle_ns);
}

/* What the calls that have a least time take above it; 0 where none has. */
static double saved_by(const ridge_kernel_rank *rank)
{
    return rank->ratio > 1 ? rank->bound_ns * (rank->ratio - 1) : 0;
}

static bool communicates(const ridge_trace *trace, const ridge_kernel_rank *rank)
{
    size_t count;

    return (ridge_trace_ops(trace, &count)[rank->sum.first_op].flags & RIDGE_OP_COLLECTIVE) != 0;
}

/* Without calls that have a least time, a kernel that is twice as fast. */
static double could_save(const ridge_kernel_rank *rank)
{
    return rank->bound_count > 0 ? saved_by(rank) : (double)rank->sum.total_ns / 2;
}

/* May it be the one to profile? No communication: a profiler runs a kernel several times, and one that
 * waits for another rank would wait for ever. None that is faster than main memory. */
static bool may_be_worst(const ridge_trace *trace, const ridge_kernel_rank *rank)
{
    return !communicates(trace, rank) && !(rank->ratio < 1);
}

/* The first in the ranking where calls with a least time make most of the time; else the one with most
 * time, whether it has one or not: the rest of the time may hide anything. */
static bool comes_before(const ridge_kernel_rank *rank, const ridge_kernel_rank *other,
                         bool by_time)
{
    return other == NULL || (by_time && rank->sum.total_ns > other->sum.total_ns);
}

/* One that could save something goes before one that could not. */
static void find_worst(const ridge_trace *trace, const ridge_device_account *device, double span_ns,
                       ridge_timeline_next *out)
{
    const bool by_time = !(out->bounded_frac >= bounded_least);
    /* Where the time between comes first, kernels are held against what is left behind it. */
    const double whole_ns =
        out->is_inside || next_has_two_roads(device) ? span_ns : span_ns - (double)device->idle_ns;
    const ridge_kernel_rank *worst = NULL, *first = NULL;

    for (size_t i = 0; i < out->rank_count; i++) {
        const ridge_kernel_rank *const rank = &out->ranks[i];

        if (!may_be_worst(trace, rank))
            continue;
        if (comes_before(rank, first, by_time))
            first = rank;
        if (!(gain(whole_ns, could_save(rank)) < NEXT_GAIN_SHOWN) &&
            comes_before(rank, worst, by_time))
            worst = rank;
    }
    out->worst = worst != NULL ? worst : first;
}

static void find_richest(const ridge_trace *trace, double span_ns, ridge_timeline_next *out)
{
    const ridge_kernel_rank *richest = NULL;

    for (size_t i = 0; i < out->rank_count; i++)
        if (!communicates(trace, &out->ranks[i]) && !out->ranks[i].is_tiny &&
            (richest == NULL || saved_by(&out->ranks[i]) > saved_by(richest)))
            richest = &out->ranks[i];
    out->richest_frac = NAN;
    if (richest == NULL || richest == out->worst || saved_by(richest) < worth_least * span_ns ||
        (out->worst != NULL && saved_by(richest) < richer_least * saved_by(out->worst)))
        return;
    out->richest = richest;
    out->richest_frac = saved_by(richest) / span_ns;
}

bool next_has_two_roads(const ridge_device_account *device)
{
    const double span_ns = (double)sum_span_ns(device->start_ns, device->end_ns);
    const double idle_frac = span_ns > 0 ? (double)device->idle_ns / span_ns : 0;

    return idle_frac >= idle_least && idle_frac <= idle_most &&
           device->verdict != RIDGE_TIMELINE_NOTHING &&
           device->verdict != RIDGE_TIMELINE_INCOMPLETE &&
           device->verdict != RIDGE_TIMELINE_COPY_BOUND;
}

void next_gains(next_common *common, const ridge_device_account *device, ridge_timeline_next *out)
{
    const ridge_trace *const trace = common->trace;
    const double span_ns = (double)sum_span_ns(device->start_ns, device->end_ns);
    const double kernel_ns = (double)device->kernel_ns;
    double saved_ns = 0, total_ns = 0, bounded_ns = 0, inside;

    for (size_t i = 0; i < out->rank_count; i++) {
        const ridge_kernel_rank *const rank = &out->ranks[i];

        if (communicates(trace, rank))
            continue;
        saved_ns += saved_by(rank);
        total_ns += (double)rank->sum.total_ns;
        bounded_ns += rank->bound_count > 0 ? rank->bound_ns * rank->ratio : 0;
    }
    out->idle_gain = gain(span_ns, (double)device->idle_ns);
    out->sync_gain = next_sync_gain(device);
    out->copy_gain = copy_gain(device, span_ns);
    find_start(trace, device, out);
    out->collective_gain = gain(span_ns, exposed_of(device));
    out->bounded_frac = total_ns > 0 ? bounded_ns / total_ns : NAN;
    find_worst(trace, device, span_ns, out);
    out->kernels_gain =
        bounded_ns > 0 ? gain(span_ns, saved_ns < kernel_ns ? saved_ns : kernel_ns) : NAN;
    out->worst_gain = out->worst_half_gain = NAN;
    if (out->worst != NULL) {
        const double saved_worst_ns = saved_by(out->worst);
        const double half_ns = (double)out->worst->sum.total_ns / 2;

        if (out->worst->bound_count > 0)
            out->worst_gain =
                gain(span_ns, saved_worst_ns < kernel_ns ? saved_worst_ns : kernel_ns);
        out->worst_half_gain = gain(span_ns, half_ns < kernel_ns ? half_ns : kernel_ns);
    }
    find_richest(trace, span_ns, out);
    inside = isnan(out->worst_gain) ? out->worst_half_gain : out->kernels_gain;
    advise_on_exposed(device, span_ns, inside, out);
    /* In a replayed graph no host is in the way: what lies between its kernels is the kernels' too. */
    if (next_has_two_roads(device) && device->verdict != RIDGE_TIMELINE_GRAPH_REPLAY &&
        out->worst != NULL && out->fix[0] != '\0')
        out->is_inside = isnan(between_gain(out)) || inside >= between_gain(out);
    advise_on_copies(common, device, span_ns, inside, out);
}
