/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be wrong with a trace, before anybody believes its percentages: work without a launch,
 * graphs whose kernels are missing, work that waits for something outside the trace, clocks, what
 * the recording tool complained about. */
#include "timeline/account/account.h"

#include <stdio.h>
#include <string.h>

/* -- limits: docs/timeline.md ------------------------------------------------------------------ */

#define ORPHANS_MOST 0.05      /* of the kernels, without a launch call */
#define CUT_MOST 0.10          /* of the span, launched and not started */
#define NO_TIMES_MOST 0.01     /* of the work, before percentages suffer */
#define EMPTY_GRAPHS_MOST 0.05 /* of the graph launches, without any work */

static ridge_trace_fault *add(trace_array *faults, ridge_trace_fault_kind kind, uint32_t device,
                              bool is_unreliable)
{
    ridge_trace_fault *const fault = account_grow(faults, sizeof(*fault));

    if (fault != NULL)
        *fault =
            (ridge_trace_fault){.kind = kind, .is_unreliable = is_unreliable, .device = device};
    return fault;
}

/* Text of a file becomes a part of one line. */
static void make_line(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = ' ';
}

/* What does not fit ends at a word. */
static void end_at_word(char *text, size_t size)
{
    size_t length = size - sizeof("...");

    while (length > 0 && text[length] != ' ')
        length--;
    strcpy(text + (length > 0 ? length : size - sizeof("...")), "...");
}

/* Adds a fault and its text, or leaves the function: out of memory. */
#define ADD(faults, kind, device, is_unreliable, ...)                                              \
    do {                                                                                           \
        ridge_trace_fault *const fault_ =                                                          \
            add(faults, RIDGE_TRACE_FAULT_##kind, device, is_unreliable);                          \
        if (fault_ == NULL)                                                                        \
            return false;                                                                          \
        if (snprintf(fault_->text, sizeof(fault_->text), __VA_ARGS__) >=                           \
            (int)sizeof(fault_->text))                                                             \
            end_at_word(fault_->text, sizeof(fault_->text));                                       \
        make_line(fault_->text);                                                                   \
    } while (0)

static account_text percent(double part, double whole)
{
    return account_percent(part / whole);
}

static account_text milliseconds(int64_t time_ns)
{
    return account_time((double)time_ns);
}

/* -- of one device ----------------------------------------------------------------------------- */

/* What the work of a device tells. */
typedef struct work_counts {
    size_t orphan_count;            /* kernels without a launch call */
    size_t alone_count, pair_count; /* kernels whose graph launch owns one, or two */
    size_t hole_count;              /* unexplained gaps beside such launches */
    int64_t hole_ns, graph_hole_ns; /* their time; of it painted as inside graphs */
} work_counts;

static bool is_small_graph(const account_view *view, uint32_t row)
{
    const ridge_trace_op *op;

    if (row == RIDGE_TRACE_NONE)
        return false;
    op = &view->ops[row];
    return op->kind == RIDGE_OP_KERNEL && op->api != RIDGE_TRACE_NONE &&
           account_is_graph(view, op) && view->apis[op->api].op_count <= ACCOUNT_LOST_GRAPH_OPS;
}

static void count_work(const account_device *device, work_counts *counts)
{
    const account_view *const view = device->view;

    for (size_t i = 0; i < device->row_count; i++) {
        const uint32_t row = device->rows[i];
        const ridge_trace_op *const op = &view->ops[row];

        if (!account_in_window(device, op) || op->kind != RIDGE_OP_KERNEL)
            continue;
        counts->orphan_count += op->api == RIDGE_TRACE_NONE;
        if (is_small_graph(view, row)) {
            counts->alone_count += view->apis[op->api].op_count == 1;
            counts->pair_count += view->apis[op->api].op_count == 2;
        }
    }
}

/* A gap that the host's being late explains is no hole: small graphs exist. */
static bool is_unexplained(uint8_t cause)
{
    return cause == RIDGE_IDLE_GRAPH || cause == RIDGE_IDLE_QUEUED || cause == RIDGE_IDLE_UNKNOWN ||
           cause == RIDGE_IDLE_HARDWARE;
}

static void count_holes(const account_device *device, work_counts *counts)
{
    const ridge_device_account *const account = &device->account;

    for (size_t i = 0; i < account->gap_count; i++) {
        const ridge_idle_gap *const gap = &account->gaps[i];
        const int64_t length_ns = gap->end_ns - gap->start_ns;

        if (length_ns <= ACCOUNT_LOST_GRAPH_GAP_NS || !is_unexplained(gap->cause) ||
            (!is_small_graph(device->view, gap->before) &&
             !is_small_graph(device->view, gap->after)))
            continue;
        counts->hole_count++;
        counts->hole_ns += length_ns;
        if (gap->cause == RIDGE_IDLE_GRAPH)
            counts->graph_hole_ns += length_ns;
    }
}

static bool add_of_device(const account_device *device, const work_counts *counts,
                          trace_array *faults)
{
    const ridge_device_account *const account = &device->account;
    const uint32_t own = device->device;
    const double span_ns = (double)(account->end_ns - account->start_ns);
    const double kernels = (double)account->kernel_count;
    char times[32];
    const int64_t queued_ns = account->causes[RIDGE_IDLE_QUEUED].total_ns;
    const int64_t unknown_ns = account->causes[RIDGE_IDLE_UNKNOWN].total_ns;

    if (device->view->info->has_api && (double)counts->orphan_count > ORPHANS_MOST * kernels)
        ADD(faults, ORPHANS, own, true,
            "%zu of %zu kernels (%s) have no launch call: %s; %s of the idle time is unknown",
            counts->orphan_count, account->kernel_count,
            percent((double)counts->orphan_count, kernels).text,
            device->view->info->has_several_callers
                ? "the file does not say of which process work is (no globalPid), and several "
                  "called the GPU"
                : "the host's part of the trace is cut, or another process launched them",
            unknown_ns > 0 ? milliseconds(unknown_ns).text : "none");
    if (counts->hole_count > 0)
        ADD(faults, LOST_GRAPH, own, true,
            "%zu gaps above 1 ms (%s) touch %zu graph launches that own %d kernels or fewer: "
            "kernels "
            "of graphs are missing; record fewer steps, or with a larger buffer",
            counts->hole_count, milliseconds(counts->hole_ns).text,
            counts->alone_count + (counts->pair_count + 1) / 2, ACCOUNT_LOST_GRAPH_OPS);
    if (account->graph_row_count > 0)
        ADD(faults, GRAPH_ROWS, own, false,
            "%zu graph launches are whole rows, no kernels can be seen in them: record with "
            "nsys profile --cuda-graph-trace=node",
            account->graph_row_count);
    if ((double)queued_ns > CUT_MOST * span_ns)
        ADD(faults, CUT, own, true,
            "work queued and not started for %s, %s of the span: work in front of it is missing "
            "(a cut trace), or it waits for another device",
            milliseconds(queued_ns).text, percent((double)queued_ns, span_ns).text);
    snprintf(times, sizeof(times), "%zu times", account->overlap_count);
    if (account->overlap_count > 0)
        ADD(faults, OVERLAPS, own, false,
            "work starts before earlier work of its stream ends (%s): programmatic dependent "
            "launch, "
            "or the profiler's clock",
            account->overlap_count == 1 ? "once" : times);
    return true;
}

bool account_device_faults(account_device *device, trace_array *faults)
{
    const ridge_device_account *const account = &device->account;
    work_counts counts = {0};

    count_work(device, &counts);
    count_holes(device, &counts);
    device->missing_ns = account->causes[RIDGE_IDLE_UNKNOWN].total_ns +
                         account->causes[RIDGE_IDLE_QUEUED].total_ns + counts.graph_hole_ns;
    return add_of_device(device, &counts, faults);
}

/* -- of the trace ------------------------------------------------------------------------------ */

/* Graph launches without any work. A driver's call within the runtime's is the same launch. */
static void count_empty_graphs(const account_view *view, size_t *empty, size_t *all)
{
    bool is_empty = false;
    uint32_t thread = RIDGE_TRACE_NONE;
    int64_t end_ns = 0;

    *empty = *all = 0;
    for (size_t i = 0; i < view->api_count; i++) {
        const ridge_trace_api *const api = &view->apis[i];

        if (account_call_class(view, (uint32_t)i) != CALL_GRAPH_LAUNCH)
            continue;
        if (api->thread == thread && api->end_ns <= end_ns) {
            *empty -= is_empty && api->op_count > 0;
            is_empty = is_empty && api->op_count == 0;
            continue;
        }
        thread = api->thread;
        end_ns = api->end_ns;
        is_empty = api->op_count == 0;
        *all += 1;
        *empty += is_empty;
    }
}

static bool add_clock(const account_view *view, trace_array *faults)
{
    const uint64_t count = view->info->instant_count;
    char instants[80] = "";

    if (view->info->resolution_ns < 1000 || view->op_count == 0)
        return true;
    if (count > 0)
        snprintf(instants, sizeof(instants), ", %llu piece%s of work %s no length",
                 (unsigned long long)count, count == 1 ? "" : "s", count == 1 ? "has" : "have");
    ADD(faults, COARSE_CLOCK, RIDGE_TRACE_NONE, false,
        "times are whole microseconds%s: gaps below 2 us mean nothing; a newer PyTorch records "
        "nanoseconds",
        instants);
    return true;
}

static bool add_lost_work(const account_view *view, trace_array *faults)
{
    const double inverted = (double)view->info->inverted_count;
    size_t empty, all;

    if (view->info->inverted_count > 0)
        ADD(faults, NO_TIMES, RIDGE_TRACE_NONE,
            inverted > NO_TIMES_MOST * (inverted + (double)view->op_count),
            "%llu pieces of work have no times or end before they start, and are left out: the "
            "profiler's buffers ran out; record fewer steps",
            (unsigned long long)view->info->inverted_count);
    if (view->info->begin_count > 0)
        ADD(faults, NO_TIMES, RIDGE_TRACE_NONE, true,
            "%llu pieces of work begin in one event and end in another (ph B and E), and are left "
            "out: work is read of complete events (ph X)",
            (unsigned long long)view->info->begin_count);
    count_empty_graphs(view, &empty, &all);
    if (view->op_count > 0 && (double)empty > EMPTY_GRAPHS_MOST * (double)all)
        ADD(faults, LOST_GRAPH, RIDGE_TRACE_NONE, true,
            "%zu of %zu graph launches own no work at all: it was not recorded, or it runs after "
            "the end of the trace",
            empty, all);
    return true;
}

/* Does a complaint say that work is missing? Ranges may be; a driver that the tool does not know
 * matters where nothing was recorded. */
static bool says_missing(const account_view *view, const ridge_trace_diagnostic *row)
{
    static const char *const words[] = {"Not all", "not all", "lost", "dropped"};

    if (strstr(row->text, "NVTX") != NULL)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(row->text, words[i]) != NULL)
            return true;
    return row->severity >= 3 || view->op_count == 0;
}

/* The complaint to show: of missing work, else about CUDA, else the first. */
static int rank_of(const account_view *view, const ridge_trace_diagnostic *row)
{
    return 2 * says_missing(view, row) + (strstr(row->text, "CUDA") != NULL);
}

static bool add_diagnostics(const account_view *view, trace_array *faults)
{
    const ridge_trace_diagnostic *rows, *worst = NULL;
    size_t count, complaints = 0;

    rows = ridge_trace_diagnostics(view->trace, &count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].severity < 2)
            continue;
        complaints++;
        if (worst == NULL || rank_of(view, &rows[i]) > rank_of(view, worst))
            worst = &rows[i];
    }
    if (worst != NULL)
        ADD(faults, DIAGNOSTIC, RIDGE_TRACE_NONE, says_missing(view, worst),
            "the recording tool complained (%zu): %s", complaints, worst->text);
    return true;
}

/* -- all of them, in the order of the list ------------------------------------------------------------------ */

bool account_trace_faults(const account_view *view, bool is_idle, trace_array *faults)
{
    const ridge_trace_info *const info = view->info;

    if (info->is_partial)
        ADD(faults, PARTIAL, RIDGE_TRACE_NONE, true,
            "the file is cut or damaged, what could be read was: %s", info->partial);
    if (!info->has_api && view->op_count > 0)
        ADD(faults, NO_API, RIDGE_TRACE_NONE, false,
            "no call of the host was recorded: idle times are exact, their causes unknown; record "
            "with nsys profile -t cuda, or ProfilerActivity.CPU");
    if (!add_lost_work(view, faults) || !add_clock(view, faults))
        return false;
    if (info->has_stacks)
        ADD(faults, STACKS, RIDGE_TRACE_NONE, is_idle,
            "recorded with stacks: times of the host are inflated, and so is idle time that waits "
            "for it; record again without with_stack");
    if (info->skips_cheap_calls)
        ADD(faults, SKIPPED_CALLS, RIDGE_TRACE_NONE, false,
            "cheap calls were not recorded: no call in a gap does not mean an idle host");
    return add_diagnostics(view, faults);
}

static int order(const void *left, const void *right)
{
    const ridge_trace_fault *const a = left, *const b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

void account_sort_faults(trace_array *faults)
{
    account_sort(faults->rows, faults->count, sizeof(ridge_trace_fault), order);
}
