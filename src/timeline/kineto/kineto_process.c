/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose the work is. Kineto gives it the number of a device where a process would be; in a file of
 * one process it belongs to that. In a file of several (merged ranks, workers that use the GPU)
 * correlation numbers repeat. All work of a pid is a group. Where a tool put labels before pids, the
 * group belongs to the process with its label; else to the process that has calls for all of it, if
 * one alone does, and when ranks run in step and each has calls for everything, groups and processes
 * go together in the order of their numbers. Else the nearest call in time decides, of each piece. */
#include "timeline/kineto/kineto_internal.h"

enum {
    MOST_GROUPS = 64, /* and processes, to be weighed against each other */
    MOST_STEPS = 128, /* calls with one number that are looked at, in each direction */
};
#define OWNED_LEAST 0.98 /* of a group's work, by the process that it belongs to */
#define EARLY_NS 10000   /* work can seem to start so long before its call: clocks differ */

/* -- pids -------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "[TP00] 4711", "rank0_4711", "4711 (rank 0)": the number, and what is left. "rank0": both. */
static void split_pid(kineto_slice pid, kineto_slice *label, int64_t *number)
{
    size_t digits = 0;
    kineto_slice text = pid;

    *label = pid;
    *number = -1;
    while (digits < pid.size && is_digit(pid.data[digits]))
        digits++;
    if (digits > 0) {
        text.size = digits;
        *label = (kineto_slice){pid.data + digits, pid.size - digits};
    } else {
        while (digits < pid.size && is_digit(pid.data[pid.size - 1 - digits]))
            digits++;
        text = (kineto_slice){pid.data + pid.size - digits, digits};
        if (digits == 0)
            label->size = 0;
        else if (strchr(" _-:/.])", pid.data[pid.size - 1 - digits]) != NULL)
            label->size = pid.size - digits;
    }
    if (digits > 9 || !kineto_integer(text, number))
        *number = -1;
}

uint32_t kineto_process(kineto_labels *labels, ridge_trace *trace, kineto_slice pid)
{
    kineto_slice text;
    int64_t number = 0;
    uint32_t label, process;
    bool is_taken = false;

    if (kineto_integer(pid, &number))
        return trace_process(trace, number);
    split_pid(pid, &text, &number);
    if (text.size == 0)
        return trace_process(trace, -1);
    label = trace_intern(trace, text.data, text.size);
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->rows[i].label == label && labels->rows[i].number == number)
            return labels->rows[i].process;
        is_taken = is_taken || labels->rows[i].number == number;
    }
    if (labels->rows == NULL)
        labels->rows = ridge_calloc(KINETO_LABELS, sizeof(*labels->rows));
    if (labels->rows == NULL) {
        trace->failed = true;
        return 0;
    }
    if (labels->count == KINETO_LABELS)
        return trace_process(trace, -1);
    /* Processes of two machines may have one number; no system counts to 2^32. */
    process = trace_process(
        trace, is_taken ? (number & INT32_MAX) | (int64_t)(labels->count + 1) << 32 : number);
    labels->rows[labels->count++] = (kineto_label){label, process, number};
    return process;
}

uint32_t kineto_group(ridge_trace *trace, kineto_slice pid)
{
    kineto_slice text = pid;
    int64_t number = 0;

    if (!kineto_integer(pid, &number))
        split_pid(pid, &text, &number);
    return text.size > 0 ? trace_intern(trace, text.data, text.size) : 0;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* A call that work may refer to. */
typedef struct launch {
    uint64_t correlation;
    int64_t start_ns;
    uint32_t process;
} launch;

typedef struct work_group {
    uint32_t name;
    uint32_t process; /* the first one that it may belong to; RIDGE_TRACE_NONE: not known */
    bool is_labelled; /* it belongs to all processes of the label */
    int64_t number;
    size_t all;              /* pieces of work that refer to a call */
    size_t own[MOST_GROUPS]; /* and to one of that process */
} work_group;

typedef struct assignment {
    ridge_trace *trace;
    const kineto_labels *labels;
    launch *launches; /* sorted by correlation and start */
    size_t launch_count;
    uint32_t *label_of; /* a process: a name, or 0 */
    uint32_t *owners;   /* of the streams that were read: RIDGE_TRACE_NONE, or the first process */
    uint32_t first;     /* of the first call: of what refers to none */
    work_group *groups;
    size_t group_count;
} assignment;

static int order_launch(const void *left, const void *right, const void *context)
{
    const launch *const a = left, *const b = right;

    (void)context;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The first one that is not before the key. */
static size_t find_launch(const assignment *of, launch key)
{
    size_t low = 0, high = of->launch_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (order_launch(&of->launches[middle], &key, NULL) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool may_own(const assignment *of, const work_group *group, uint32_t process)
{
    return group == NULL || group->process == RIDGE_TRACE_NONE || group->process == process ||
           (group->is_labelled && of->label_of[process] == group->name);
}

/* The nearest call with this number of a process that may own the group's work: the last one that
 * began before the work, unless another one begins together with it. */
static const launch *launch_of(const assignment *of, const work_group *group, uint64_t correlation,
                               int64_t start_ns)
{
    const size_t after = find_launch(of, (launch){correlation, start_ns, 0});
    const launch *next = NULL, *last = NULL;

    for (size_t i = after; next == NULL && i < of->launch_count && i - after < MOST_STEPS &&
                           of->launches[i].correlation == correlation;
         i++)
        if (may_own(of, group, of->launches[i].process))
            next = &of->launches[i];
    for (size_t i = after; last == NULL && i > 0 && after - i < MOST_STEPS &&
                           of->launches[i - 1].correlation == correlation;
         i--)
        if (may_own(of, group, of->launches[i - 1].process))
            last = &of->launches[i - 1];
    if (next == NULL || last == NULL)
        return next != NULL ? next : last;
    return next->start_ns - start_ns <= EARLY_NS &&
                   next->start_ns - start_ns < start_ns - last->start_ns
               ? next
               : last;
}

/* -- groups ------------------------------------------------------------------------------------ */

static work_group *find_group(const assignment *of, uint32_t name)
{
    for (size_t i = 0; i < of->group_count; i++)
        if (of->groups[i].name == name)
            return &of->groups[i];
    return NULL;
}

static void add_group(assignment *of, uint32_t name)
{
    work_group *const added = &of->groups[of->group_count++];
    const kineto_slice text = {ridge_trace_name(of->trace, name, NULL),
                               strlen(ridge_trace_name(of->trace, name, NULL))};

    *added = (work_group){.name = name, .process = RIDGE_TRACE_NONE};
    if (!kineto_integer(text, &added->number))
        added->number = -1;
    for (size_t i = 0; i < of->labels->count && !added->is_labelled; i++)
        if (of->labels->rows[i].label == name) {
            added->is_labelled = true;
            added->process = of->labels->rows[i].process;
        }
}

/* Counts for whom there is a call that began before the work. */
static void count_owners(const assignment *of, work_group *group, uint64_t correlation,
                         int64_t start_ns)
{
    size_t i = find_launch(of, (launch){correlation, start_ns + EARLY_NS, 0});
    uint64_t seen = 0;

    for (size_t steps = 0;
         i > 0 && steps < MOST_STEPS && of->launches[i - 1].correlation == correlation;
         i--, steps++)
        seen |= (uint64_t)1 << of->launches[i - 1].process;
    group->all += seen != 0;
    for (size_t process = 0; process < MOST_GROUPS; process++)
        group->own[process] += (seen >> process & 1) != 0;
}

static bool owns(const work_group *group, size_t process)
{
    return (double)group->own[process] >= OWNED_LEAST * (double)group->all;
}

/* By their numbers: a rank's process and the device it uses. */
static bool pair(const assignment *of, const bool *calls)
{
    const ridge_trace_process *const processes = of->trace->processes.rows;
    uint32_t by_number[MOST_GROUPS];
    work_group *groups[MOST_GROUPS];
    size_t count = 0;

    for (uint32_t p = 0; p < of->trace->processes.count; p++) {
        size_t at = count;

        if (!calls[p])
            continue;
        for (; at > 0 && processes[by_number[at - 1]].id > processes[p].id; at--)
            by_number[at] = by_number[at - 1];
        by_number[at] = p;
        count++;
    }
    if (count != of->group_count)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = i;

        if (of->groups[i].is_labelled)
            return false;
        for (; at > 0 && groups[at - 1]->number > of->groups[i].number; at--)
            groups[at] = groups[at - 1];
        groups[at] = &of->groups[i];
    }
    for (size_t i = 0; i < count; i++)
        if (!owns(groups[i], by_number[i]))
            return false;
    for (size_t i = 0; i < count; i++)
        groups[i]->process = by_number[i];
    return true;
}

static void find_owners(assignment *of)
{
    bool calls[MOST_GROUPS] = {false};
    ridge_trace *const trace = of->trace;
    const ridge_trace_op *const ops = trace->ops.rows;
    const trace_key *const keys = trace->op_keys.rows;

    for (size_t i = 0; i < of->launch_count; i++)
        calls[of->launches[i].process] = true;
    for (size_t i = 0; i < trace->op_keys.count; i++) {
        work_group *const group = find_group(of, keys[i].process);

        if (keys[i].correlation != 0 && !group->is_labelled)
            count_owners(of, group, keys[i].correlation, ops[i].start_ns);
    }
    if (pair(of, calls))
        return;
    for (size_t i = 0; i < of->group_count; i++) {
        work_group *const group = &of->groups[i];
        size_t count = 0;

        if (group->all == 0)
            continue;
        for (uint32_t p = 0; p < trace->processes.count; p++)
            if (calls[p] && owns(group, p))
                group->process = count++ == 0 ? p : RIDGE_TRACE_NONE;
    }
}

/* Without groups, as where there are too many, each piece of work stands for itself. */
static void find_groups(assignment *of)
{
    const trace_key *const keys = of->trace->op_keys.rows;

    of->groups = ridge_calloc(MOST_GROUPS, sizeof(*of->groups));
    of->trace->failed |= of->groups == NULL;
    for (size_t i = 0; of->groups != NULL && i < of->trace->op_keys.count; i++) {
        if (find_group(of, keys[i].process) != NULL)
            continue;
        if (of->group_count == MOST_GROUPS) {
            of->group_count = 0;
            return;
        }
        add_group(of, keys[i].process);
    }
    if (of->group_count > 0 && of->trace->processes.count <= MOST_GROUPS)
        find_owners(of);
}

static uint32_t process_of(const assignment *of, trace_key key, int64_t start_ns)
{
    const work_group *const group = find_group(of, key.process);
    const launch *call = NULL;

    if (key.correlation != 0)
        call = launch_of(of, group, key.correlation, start_ns);
    if (call == NULL && key.correlation != 0 && group != NULL && !group->is_labelled)
        call = launch_of(of, NULL, key.correlation, start_ns);
    if (call != NULL)
        return call->process;
    return group != NULL && group->process != RIDGE_TRACE_NONE ? group->process : of->first;
}

/* -- assignment --------------------------------------------------------------------------------  */

/* The row of the stream as this process has it. */
static uint32_t stream_for(const assignment *of, uint32_t row, uint32_t process)
{
    const ridge_trace_stream stream = *trace_stream_at(of->trace, row);
    uint32_t own;

    if (of->owners[row] == RIDGE_TRACE_NONE) {
        of->owners[row] = process;
        trace_stream_at(of->trace, row)->process = process;
    }
    if (of->owners[row] == process)
        return row;
    own = trace_stream(of->trace, stream.device, process, stream.context, stream.id);
    if (!of->trace->failed)
        trace_stream_at(of->trace, own)->is_null = stream.is_null;
    return own;
}

static void assign_several(assignment *of)
{
    ridge_trace *const trace = of->trace;
    ridge_trace_op *const ops = trace->ops.rows;
    ridge_trace_sync *const syncs = trace->syncs.rows;
    trace_key *const op_keys = trace->op_keys.rows, *const sync_keys = trace->sync_keys.rows;

    for (size_t i = 0; i < trace->op_keys.count && !trace->failed; i++) {
        op_keys[i].process = process_of(of, op_keys[i], ops[i].start_ns);
        ops[i].stream = stream_for(of, ops[i].stream, op_keys[i].process);
    }
    for (size_t i = 0; i < trace->sync_keys.count && !trace->failed; i++) {
        sync_keys[i].process = process_of(of, sync_keys[i], syncs[i].start_ns);
        if (syncs[i].stream != RIDGE_TRACE_NONE)
            syncs[i].stream = stream_for(of, syncs[i].stream, sync_keys[i].process);
    }
}

static void assign_one(ridge_trace *trace, uint32_t process)
{
    ridge_trace_stream *const streams = trace->streams.rows;
    trace_key *const ops = trace->op_keys.rows, *const syncs = trace->sync_keys.rows;

    for (size_t i = 0; i < trace->streams.count; i++)
        streams[i].process = process;
    for (size_t i = 0; i < trace->op_keys.count; i++)
        ops[i].process = process;
    for (size_t i = 0; i < trace->sync_keys.count; i++)
        syncs[i].process = process;
}

void kineto_assign_processes(ridge_trace *trace, const kineto_labels *labels)
{
    const trace_call *const calls = trace->apis.rows;
    const ridge_trace_thread *const threads = trace->threads.rows;
    assignment of = {.trace = trace, .labels = labels};
    bool is_one = true;

    if (trace->processes.count == 0)
        trace_process(trace, -1);
    if (trace->failed)
        return;
    if (trace->apis.count > 0)
        of.first = threads[calls[0].row.thread].process;
    for (size_t i = 1; i < trace->apis.count && is_one; i++)
        is_one = threads[calls[i].row.thread].process == of.first;
    if (is_one) {
        assign_one(trace, of.first);
        return;
    }
    of.launches = ridge_calloc(trace->apis.count, sizeof(*of.launches));
    of.owners = ridge_calloc(trace->streams.count + 1, sizeof(*of.owners));
    of.label_of = ridge_calloc(trace->processes.count + 1, sizeof(*of.label_of));
    trace->failed |= of.launches == NULL || of.owners == NULL || of.label_of == NULL;
    for (size_t i = 0; i < labels->count && !trace->failed; i++)
        of.label_of[labels->rows[i].process] = labels->rows[i].label;
    for (size_t i = 0; i < trace->apis.count && !trace->failed; i++)
        if (calls[i].correlation != 0)
            of.launches[of.launch_count++] = (launch){calls[i].correlation, calls[i].row.start_ns,
                                                      threads[calls[i].row.thread].process};
    for (size_t i = 0; i < trace->streams.count && !trace->failed; i++)
        of.owners[i] = RIDGE_TRACE_NONE;
    trace->failed = trace->failed || !trace_sort(of.launches, of.launch_count, sizeof(*of.launches),
                                                 order_launch, NULL);
    if (!trace->failed)
        find_groups(&of);
    if (!trace->failed)
        assign_several(&of);
    ridge_free(of.groups);
    ridge_free(of.label_of);
    ridge_free(of.launches);
    ridge_free(of.owners);
}
