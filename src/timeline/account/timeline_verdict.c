/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict on a device: the first rule of a table that holds, a pure function of the numbers of
 * its account. Pace stands beside it and comes from times alone. */
#include "timeline/account/account.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- limits: docs/timeline.md ------------------------------------------------------------------ */

#define COPY_LEAST 0.30          /* of the span, copies alone */
#define MISSING_MOST 0.10        /* of the span, idle that the trace does not explain */
#define GRAPH_KERNELS_LEAST 0.50 /* of the kernels, launched by graphs */
#define GRAPH_IDLE_MOST 0.30     /* of the span, idle outside graphs */
#define BUSY_IDLE_MOST 0.10      /* of the span */
#define CAUSE_LEAST 0.40         /* of the idle time: synchronisation, allocation, loading */
#define LAUNCH_IDLE_LEAST 0.30   /* of the span */
#define LAUNCH_CAUSE_LEAST 0.60  /* of the idle time: dispatch, launch, refill */
#define LAUNCH_IDLE_ALONE 0.50   /* with no word of the kernels, */
#define LAUNCH_CAUSE_ALONE 0.80  /* more of both */
#define LAUNCH_KERNEL_MOST 0.50  /* a kernel, of the time between launches */
#define NO_WORK_LEAST 0.50       /* of the idle time */
#define PACE_DEPTH_LEAST 1.0     /* launches in front of one, for the host to be ahead */
#define PACE_LAUNCHES_LEAST 10   /* below medians may be anything */
#define PACE_EMPTY_LEAST 0.50    /* of the launches, that found nothing to wait for */

/* -- the numbers that rules speak of ----------------------------------------------------------- */

typedef struct verdict_numbers {
    const ridge_device_account *account;
    double idle, copy, missing; /* of the span */
    double graph_kernels, outside_idle;
    double stall;                    /* of the idle time */
    double causes[RIDGE_IDLE_COUNT]; /* of the idle time */
} verdict_numbers;

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static verdict_numbers numbers_of(const ridge_device_account *account, int64_t missing_ns)
{
    const int64_t span_ns = account->end_ns - account->start_ns;
    const size_t kernels = account->kernel_count + account->graph_row_count;
    verdict_numbers numbers = {
        .account = account,
        .idle = part_of(account->idle_ns, span_ns),
        .copy = part_of(account->copy_only_ns, span_ns),
        .missing = part_of(missing_ns, span_ns),
        .graph_kernels = part_of((int64_t)account->graph_kernel_count, (int64_t)kernels),
        .outside_idle =
            part_of(account->idle_ns - account->causes[RIDGE_IDLE_GRAPH].total_ns, span_ns),
        .stall = part_of(account->stall_ns, account->idle_ns),
    };

    for (int i = 0; i < RIDGE_IDLE_COUNT; i++)
        numbers.causes[i] = part_of(account->causes[i].total_ns, account->idle_ns);
    return numbers;
}

static double of_sync(const verdict_numbers *numbers)
{
    return numbers->causes[RIDGE_IDLE_SYNC] + numbers->causes[RIDGE_IDLE_SYNC_REFILL];
}

static double of_module(const verdict_numbers *numbers)
{
    return numbers->causes[RIDGE_IDLE_MODULE] + numbers->causes[RIDGE_IDLE_SLOW_LAUNCH];
}

static double of_launching(const verdict_numbers *numbers)
{
    return numbers->causes[RIDGE_IDLE_DISPATCH] + numbers->causes[RIDGE_IDLE_LAUNCH] +
           numbers->causes[RIDGE_IDLE_SYNC_REFILL];
}

/* -- numbers as text --------------------------------------------------------------------------- */

static account_text percent(double frac)
{
    return account_percent(frac);
}

static account_text nanoseconds(double value)
{
    return account_time(value);
}

#define REASON(account, ...) snprintf((account)->reason, sizeof((account)->reason), __VA_ARGS__)

/* -- rules: does it hold, and why -------------------------------------------------------------- */

/* A window within a gap has no work at all, and idle time to explain. */
static bool is_nothing(const verdict_numbers *numbers)
{
    return numbers->account->op_count > 0 &&
           numbers->account->kernel_count + numbers->account->graph_row_count == 0;
}

static void say_nothing(const verdict_numbers *numbers, ridge_device_account *account)
{
    REASON(account, "no kernel was recorded, %zu copies and memsets fill %s of the span",
           account->copy_count, percent(numbers->copy).text);
}

static bool is_copy(const verdict_numbers *numbers)
{
    return numbers->copy >= COPY_LEAST;
}

static void say_copy(const verdict_numbers *numbers, ridge_device_account *account)
{
    const double span_ns = (double)account->end_ns - (double)account->start_ns;

    REASON(account, "copies alone %s of the span, kernels %s, idle %s", percent(numbers->copy).text,
           percent((double)account->kernel_ns / span_ns).text, percent(numbers->idle).text);
}

static bool is_incomplete(const verdict_numbers *numbers)
{
    return numbers->missing > MISSING_MOST;
}

static void say_incomplete(const verdict_numbers *numbers, ridge_device_account *account)
{
    REASON(account,
           "the trace does not explain %s of the span, idle %s: queued %s, unknown %s, inside "
           "graphs %s of the idle time",
           percent(numbers->missing).text, percent(numbers->idle).text,
           percent(numbers->causes[RIDGE_IDLE_QUEUED]).text,
           percent(numbers->causes[RIDGE_IDLE_UNKNOWN]).text,
           percent(numbers->causes[RIDGE_IDLE_GRAPH]).text);
}

static bool is_graph(const verdict_numbers *numbers)
{
    const double gap_ns = numbers->account->median_graph_gap_ns;

    return numbers->graph_kernels >= GRAPH_KERNELS_LEAST &&
           !(gap_ns > ACCOUNT_GRAPH_GAP_NS) && /* NAN: no gap at all */
           numbers->outside_idle < GRAPH_IDLE_MOST;
}

static void say_graph(const verdict_numbers *numbers, ridge_device_account *account)
{
    REASON(account,
           "%zu of %zu kernels come from %zu graph launch%s, median gap inside %s, idle %s",
           account->graph_kernel_count, account->kernel_count + account->graph_row_count,
           account->graph_launch_count, account->graph_launch_count == 1 ? "" : "es",
           nanoseconds(account->median_graph_gap_ns).text, percent(numbers->idle).text);
}

static bool is_busy(const verdict_numbers *numbers)
{
    return numbers->idle < BUSY_IDLE_MOST;
}

static void say_busy(const verdict_numbers *numbers, ridge_device_account *account)
{
    const int length = REASON(account, "idle %s, kernel median %s", percent(numbers->idle).text,
                              nanoseconds(account->median_kernel_ns).text);

    if (!isnan(account->median_launch_period_ns))
        snprintf(account->reason + length, sizeof(account->reason) - (size_t)length,
                 ", a launch every %s, %.0f queued ahead of it (median)",
                 nanoseconds(account->median_launch_period_ns).text,
                 floor(account->queue_depth_median));
}

static bool is_sync(const verdict_numbers *numbers)
{
    return of_sync(numbers) >= CAUSE_LEAST;
}

static void say_sync(const verdict_numbers *numbers, ridge_device_account *account)
{
    REASON(account, "waits make %s of the idle time (blocked %s, refill %s), idle %s of the span",
           percent(of_sync(numbers)).text, percent(numbers->causes[RIDGE_IDLE_SYNC]).text,
           percent(numbers->causes[RIDGE_IDLE_SYNC_REFILL]).text, percent(numbers->idle).text);
}

static bool is_alloc(const verdict_numbers *numbers)
{
    return numbers->causes[RIDGE_IDLE_ALLOC] >= CAUSE_LEAST;
}

static void say_alloc(const verdict_numbers *numbers, ridge_device_account *account)
{
    REASON(account, "allocation makes %s of the idle time, %s at the longest, idle %s of the span",
           percent(numbers->causes[RIDGE_IDLE_ALLOC]).text,
           nanoseconds((double)account->causes[RIDGE_IDLE_ALLOC].largest_ns).text,
           percent(numbers->idle).text);
}

static bool is_module(const verdict_numbers *numbers)
{
    return of_module(numbers) >= CAUSE_LEAST;
}

static void say_module(const verdict_numbers *numbers, ridge_device_account *account)
{
    const int64_t module_ns = account->causes[RIDGE_IDLE_MODULE].largest_ns;
    const int64_t launch_ns = account->causes[RIDGE_IDLE_SLOW_LAUNCH].largest_ns;

    REASON(
        account,
        "loading code makes %s of the idle time (launch calls above 1 ms %s), %s at the longest, "
        "idle %s of the span",
        percent(of_module(numbers)).text, percent(numbers->causes[RIDGE_IDLE_SLOW_LAUNCH]).text,
        nanoseconds((double)(module_ns > launch_ns ? module_ns : launch_ns)).text,
        percent(numbers->idle).text);
}

static bool has_short_kernels(const ridge_device_account *account)
{
    return account->median_kernel_ns < LAUNCH_KERNEL_MOST * account->median_launch_period_ns;
}

/* Where graphs run between launches medians say little; the time does. */
static bool is_launch(const verdict_numbers *numbers)
{
    return numbers->idle >= LAUNCH_IDLE_LEAST && of_launching(numbers) >= LAUNCH_CAUSE_LEAST &&
           (has_short_kernels(numbers->account) ||
            (numbers->idle >= LAUNCH_IDLE_ALONE && of_launching(numbers) >= LAUNCH_CAUSE_ALONE));
}

static void say_launch(const verdict_numbers *numbers, ridge_device_account *account)
{
    if (!has_short_kernels(account))
        REASON(account, "host code and launches make %s of the idle time, idle %s of the span",
               percent(of_launching(numbers)).text, percent(numbers->idle).text);
    else
        REASON(account,
               "kernel median %s, host needs %s a launch, queue empty at %s of launches, idle %s",
               nanoseconds(account->median_kernel_ns).text,
               nanoseconds(account->median_launch_period_ns).text,
               percent(account->queue_empty_frac).text, percent(numbers->idle).text);
}

/* Whether an operation was open then (dispatch) or not: no launch takes so long. */
static bool is_no_work(const verdict_numbers *numbers)
{
    return numbers->stall >= NO_WORK_LEAST || numbers->causes[RIDGE_IDLE_NO_WORK] >= NO_WORK_LEAST;
}

static void say_no_work(const verdict_numbers *numbers, ridge_device_account *account)
{
    if (numbers->stall < NO_WORK_LEAST) { /* a window or migrations cut them shorter */
        REASON(account,
               "the host gave the GPU nothing to do in %s of the idle time, idle %s of the span",
               percent(numbers->causes[RIDGE_IDLE_NO_WORK]).text, percent(numbers->idle).text);
        return;
    }
    REASON(
        account,
        "stretches of 2 ms or more without a call make %s of the idle time, the longest %s, idle "
        "%s of the span",
        percent(numbers->stall).text, nanoseconds((double)account->stall_most_ns).text,
        percent(numbers->idle).text);
}

static bool is_mixed(const verdict_numbers *numbers)
{
    (void)numbers;
    return true;
}

static void say_mixed(const verdict_numbers *numbers, ridge_device_account *account)
{
    enum { SHOWN = 3 };
    bool is_shown[RIDGE_IDLE_COUNT] = {false};
    size_t length = (size_t)REASON(account, "idle %s of the span:", percent(numbers->idle).text);

    for (int n = 0; n < SHOWN && length < sizeof(account->reason); n++) {
        int most = -1;

        for (int i = 0; i < RIDGE_IDLE_COUNT; i++)
            if (!is_shown[i] && numbers->causes[i] > 0 &&
                (most < 0 || numbers->causes[i] > numbers->causes[most]))
                most = i;
        if (most < 0)
            return;
        is_shown[most] = true;
        length += (size_t)snprintf(account->reason + length, sizeof(account->reason) - length,
                                   "%s %s %s", n > 0 ? "," : "", ridge_idle_name((ridge_idle)most),
                                   percent(numbers->causes[most]).text);
    }
}

static const struct rule {
    ridge_timeline_verdict verdict;
    bool (*holds)(const verdict_numbers *numbers);
    void (*say)(const verdict_numbers *numbers, ridge_device_account *account);
    bool has_pace; /* is it worth saying how host and GPU keep step? */
} rules[] = {
    {RIDGE_TIMELINE_NOTHING, is_nothing, say_nothing, false},
    {RIDGE_TIMELINE_COPY_BOUND, is_copy, say_copy, false},
    {RIDGE_TIMELINE_INCOMPLETE, is_incomplete, say_incomplete, false},
    {RIDGE_TIMELINE_GRAPH_REPLAY, is_graph, say_graph, false},
    {RIDGE_TIMELINE_GPU_BOUND, is_busy, say_busy, true},
    {RIDGE_TIMELINE_SYNC_BOUND, is_sync, say_sync, true},
    {RIDGE_TIMELINE_ALLOC_BOUND, is_alloc, say_alloc, true},
    {RIDGE_TIMELINE_MODULE_BOUND, is_module, say_module, true},
    {RIDGE_TIMELINE_NO_WORK, is_no_work, say_no_work, false},
    {RIDGE_TIMELINE_LAUNCH_BOUND, is_launch, say_launch, true},
    {RIDGE_TIMELINE_MIXED, is_mixed, say_mixed, true},
};

/* -- pace -------------------------------------------------------------------------------------- */

static ridge_pace pace_of(const verdict_numbers *numbers)
{
    const ridge_device_account *const account = numbers->account;

    if (account->launch_count < PACE_LAUNCHES_LEAST)
        return RIDGE_PACE_UNKNOWN;
    if (account->median_kernel_ns >= account->median_launch_period_ns ||
        account->queue_depth_median >= PACE_DEPTH_LEAST)
        return RIDGE_PACE_PREFILL;
    if (numbers->idle >= BUSY_IDLE_MOST &&
        account->median_kernel_ns < LAUNCH_KERNEL_MOST * account->median_launch_period_ns &&
        account->queue_empty_frac >= PACE_EMPTY_LEAST)
        return RIDGE_PACE_DECODE;
    return RIDGE_PACE_UNKNOWN;
}

/* Beside any verdict: kernels that wait for other ranks keep a device busy. */
static void say_exposed(ridge_device_account *account)
{
    const double exposed = part_of(account->collective_ns - account->collective_hidden_ns,
                                   account->end_ns - account->start_ns);
    const size_t length = strlen(account->reason);

    if (exposed >= ACCOUNT_EXPOSED_LEAST && account->verdict != RIDGE_TIMELINE_NOTHING)
        snprintf(account->reason + length, sizeof(account->reason) - length,
                 "; %s exposed communication", percent(exposed).text);
}

void account_judge(ridge_device_account *account, int64_t missing_ns)
{
    const verdict_numbers numbers = numbers_of(account, missing_ns);
    const struct rule *rule = rules;

    while (!rule->holds(&numbers))
        rule++;
    account->verdict = rule->verdict;
    account->pace = rule->has_pace ? pace_of(&numbers) : RIDGE_PACE_UNKNOWN;
    rule->say(&numbers, account);
    say_exposed(account);
}
