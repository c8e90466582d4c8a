/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports that need every instance: sizes of copies, ranges by style and projected onto the GPU,
 * kernels in ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_csv.h"

/* -- statistics of our own: sizes and ranges ---------------------------------------------------- */

/* A value that belongs to a name; of a kernel in a range to both, a style and a thread. */
struct value {
    uint32_t name, style, thread, kernel;
    uint32_t instance; /* of the range */
    double value;
};

static int compare_keys(const struct value *a, const struct value *b)
{
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->style != b->style)
        return a->style < b->style ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int by_name_and_value(const void *left, const void *right)
{
    const struct value *const a = left, *const b = right;

    const int order = compare_keys(a, b);

    if (order != 0)
        return order;
    return a->value < b->value ? -1 : a->value > b->value;
}

struct group {
    const char *name, *kernel;
    uint32_t style, thread;
    size_t first; /* of its values */
    size_t count, instances;
    double total, average, median, least, most, deviation;
};

static void group_of(const struct value *values, size_t count, struct group *out)
{
    double squares = 0;
    size_t i;

    out->count = count;
    out->total = 0;
    for (i = 0; i < count; i++)
        out->total += values[i].value;
    out->average = out->total / (double)count;
    out->median = (values[(count - 1) / 2].value + values[count / 2].value) / 2;
    out->least = values[0].value;
    out->most = values[count - 1].value;
    for (i = 0; i < count; i++)
        squares += (values[i].value - out->average) * (values[i].value - out->average);
    out->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* As nsys orders: the largest total first, then the count, then the name. */
static int by_total(const void *left, const void *right)
{
    const struct group *const a = left, *const b = right;

    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    return strcmp(a->kernel, b->kernel);
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* How many instances of the range are among equal keys. */
static size_t count_instances(const struct value *values, size_t count, uint32_t *numbers)
{
    size_t different = 0, i;

    for (i = 0; i < count; i++)
        numbers[i] = values[i].instance;
    qsort(numbers, count, sizeof(*numbers), by_number);
    for (i = 0; i < count; i++)
        different += i == 0 || numbers[i] != numbers[i - 1] ? 1 : 0;
    return different;
}

/* Groups of values, new, freed with free(); NULL: out of memory. */
static struct group *make_groups(const ridge_trace *trace, struct value *values, size_t count,
                                 size_t *group_count)
{
    uint32_t *const numbers = calloc(count + 1, sizeof(*numbers));
    struct group *const groups = numbers != NULL ? calloc(count + 1, sizeof(*groups)) : NULL;
    size_t i = 0, end;

    *group_count = 0;
    if (groups == NULL) {
        free(numbers);
        return NULL;
    }
    if (count > 0)
        qsort(values, count, sizeof(*values), by_name_and_value);
    for (; i < count; i = end) {
        struct group *const group = &groups[(*group_count)++];

        for (end = i + 1; end < count && compare_keys(&values[end], &values[i]) == 0; end++)
            ;
        group->name = ridge_trace_name(trace, values[i].name, NULL);
        group->kernel = ridge_trace_name(trace, values[i].kernel, NULL);
        group->style = values[i].style;
        group->thread = values[i].thread;
        group->first = i;
        group->instances = count_instances(values + i, end - i, numbers);
        group_of(values + i, end - i, group);
    }
    free(numbers);
    qsort(groups, *group_count, sizeof(*groups), by_total);
    return groups;
}

static bool is_in(const ridge_trace_window *window, int64_t start_ns)
{
    return !window->is_set || (window->start_ns <= start_ns && start_ns < window->end_ns);
}

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}

/* The start that decides whether work lies in a window: its launch, else its own. */
static int64_t launch_ns(const ridge_trace *trace, const ridge_trace_op *op)
{
    size_t count;
    const ridge_trace_api *const calls = ridge_trace_apis(trace, &count);

    return op->api < count ? calls[op->api].start_ns : op->start_ns;
}

static struct value *copy_sizes(const struct csv *csv, size_t *count)
{
    const ridge_trace *const trace = csv->file->trace;
    size_t op_count, stream_count, i;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    struct value *const values = calloc(op_count + 1, sizeof(*values));

    *count = 0;
    for (i = 0; values != NULL && i < op_count; i++) {
        const ridge_trace_op *const op = &ops[i];

        if ((op->kind != RIDGE_OP_MEMCPY && op->kind != RIDGE_OP_MEMSET) ||
            op->bytes == RIDGE_TRACE_BYTES_UNKNOWN ||
            !is_in(&csv->file->window, launch_ns(trace, op)))
            continue;
        if (csv->device != RIDGE_TRACE_NONE &&
            (op->stream >= stream_count || streams[op->stream].device != csv->device))
            continue;
        values[*count].name = op->name;
        values[(*count)++].value = (double)op->bytes / 1e6;
    }
    return values;
}

/* Mean, median, least, most and deviation; digits of a value and of what is computed of several. */
static void add_spread(ridge_table *table, const struct group *group, int digits, int mean_digits)
{
    csv_add_decimal(table, group->average, mean_digits);
    csv_add_decimal(table, group->median, mean_digits);
    csv_add_decimal(table, group->least, digits);
    csv_add_decimal(table, group->most, digits);
    csv_add_decimal(table, group->deviation, mean_digits);
}

ridge_status csv_write_copy_sizes(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_COLUMN("Total (MB)"),  CSV_COLUMN("Count"),
                                           CSV_COLUMN("Avg (MB)"),    CSV_COLUMN("Med (MB)"),
                                           CSV_COLUMN("Min (MB)"),    CSV_COLUMN("Max (MB)"),
                                           CSV_COLUMN("StdDev (MB)"), CSV_COLUMN("Operation")};
    size_t count, group_count = 0, i;
    struct value *const values = copy_sizes(csv, &count);
    struct group *const groups =
        values != NULL ? make_groups(csv->file->trace, values, count, &group_count) : NULL;
    ridge_table *table;

    free(values);
    if (groups == NULL)
        return out_of_memory(csv->err);
    table = CSV_CREATE(columns);
    for (i = 0; i < group_count; i++) {
        const struct group *const group = &groups[i];

        csv_add_decimal(table, group->total, 3);
        ridge_table_count(table, group->count);
        add_spread(table, group, 3, 3);
        ridge_table_text(table, group->name);
    }
    free(groups);
    return csv_finish(csv, table);
}

static const char *style_name(unsigned flags)
{
    return (flags & RIDGE_RANGE_START_END) != 0 ? "StartEnd" : "PushPop";
}

/* NVTX ranges, and annotations, which are ranges that the framework pushes. */
static bool is_range(const ridge_trace_range *range)
{
    return range->kind == RIDGE_RANGE_NVTX || range->kind == RIDGE_RANGE_ANNOTATION;
}

ridge_status csv_write_nvtx(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_STATISTICS("Instances"), CSV_COLUMN("Style"),
                                           CSV_COLUMN("Range")};
    const ridge_trace *const trace = csv->file->trace;
    size_t range_count, count = 0, group_count = 0, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);
    struct value *const values = calloc(range_count + 1, sizeof(*values));
    struct group *groups;
    ridge_table *table;
    double total = 0;

    for (i = 0; values != NULL && i < range_count; i++) {
        if (!is_range(&ranges[i]) || !is_in(&csv->file->window, ranges[i].start_ns))
            continue;
        values[count].name = ranges[i].name;
        values[count].style = ranges[i].flags & RIDGE_RANGE_START_END;
        values[count].value = (double)(ranges[i].end_ns - ranges[i].start_ns);
        total += values[count++].value;
    }
    groups = values != NULL ? make_groups(trace, values, count, &group_count) : NULL;
    free(values);
    if (groups == NULL)
        return out_of_memory(csv->err);
    table = CSV_CREATE(columns);
    for (i = 0; i < group_count; i++) {
        const struct group *const group = &groups[i];

        csv_add_decimal(table, total > 0 ? 100 * group->total / total : 0, 1);
        csv_add_decimal(table, group->total, 0);
        ridge_table_count(table, group->count);
        add_spread(table, group, 0, 1);
        ridge_table_text(table, style_name(group->style));
        ridge_table_text(table, group->name);
    }
    free(groups);
    return csv_finish(csv, table);
}

/* -- ranges as the GPU saw them ----------------------------------------------------------------- */

static struct value *projected_times(const ridge_trace *trace,
                                     const ridge_projected_ranges *projected)
{
    size_t range_count, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);
    struct value *const values = calloc(projected->count + 1, sizeof(*values));

    for (i = 0; values != NULL && i < projected->count; i++) {
        const ridge_projected_range *const row = &projected->rows[i];

        values[i].name = ranges[row->range].name;
        values[i].style = ranges[row->range].flags & RIDGE_RANGE_START_END;
        values[i].instance = (uint32_t)i;
        values[i].value = (double)row->end_ns - (double)row->start_ns;
    }
    return values;
}

/* What a range's instances add up to beside their projected times. */
struct projected_sum {
    double range_ns, kernel_ns, idle_ns, ops, levels, children;
};

static struct projected_sum sum_instances(const ridge_trace *trace,
                                          const ridge_projected_ranges *projected,
                                          const struct value *values, size_t count)
{
    struct projected_sum sum = {0};
    size_t range_count, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    for (i = 0; i < count; i++) {
        const ridge_projected_range *const row = &projected->rows[values[i].instance];
        const ridge_trace_range *const range = &ranges[row->range];

        sum.range_ns += (double)range->end_ns - (double)range->start_ns;
        sum.kernel_ns += (double)row->kernel_ns;
        sum.idle_ns += (double)row->idle_ns;
        sum.ops += row->op_count;
        sum.levels += row->level;
        sum.children += row->child_count;
    }
    return sum;
}

static void add_projected_row(ridge_table *table, const struct group *group,
                              const struct projected_sum *sum)
{
    const double instances = (double)group->count;

    ridge_table_text(table, group->name);
    ridge_table_text(table, style_name(group->style));
    csv_add_decimal(table, group->total, 0);
    csv_add_decimal(table, sum->range_ns, 0);
    ridge_table_count(table, group->count);
    add_spread(table, group, 0, 1);
    csv_add_decimal(table, sum->ops, 0);
    csv_add_decimal(table, sum->ops / instances, 1);
    csv_add_decimal(table, sum->levels / instances, 1);
    csv_add_decimal(table, sum->children / instances, 1);
    csv_add_decimal(table, sum->kernel_ns, 0);
    csv_add_decimal(table, sum->idle_ns, 0);
}

/* The columns of nsys, then two of ridge. */
ridge_status csv_write_projected(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_COLUMN("Range"),
                                           CSV_COLUMN("Style"),
                                           CSV_COLUMN("Total Proj Time (ns)"),
                                           CSV_COLUMN("Total Range Time (ns)"),
                                           CSV_COLUMN("Range Instances"),
                                           CSV_COLUMN("Proj Avg (ns)"),
                                           CSV_COLUMN("Proj Med (ns)"),
                                           CSV_COLUMN("Proj Min (ns)"),
                                           CSV_COLUMN("Proj Max (ns)"),
                                           CSV_COLUMN("Proj StdDev (ns)"),
                                           CSV_COLUMN("Total GPU Ops"),
                                           CSV_COLUMN("Avg GPU Ops"),
                                           CSV_COLUMN("Avg Range Lvl"),
                                           CSV_COLUMN("Avg Num Child"),
                                           CSV_COLUMN("Kernel Time (ns)"),
                                           CSV_COLUMN("Idle Time (ns)")};
    const ridge_trace *const trace = csv->file->trace;
    ridge_projected_ranges projected;
    struct value *values;
    struct group *groups;
    size_t count = 0, i;
    ridge_table *table;
    ridge_status status =
        ridge_trace_project_ranges(trace, 1U << RIDGE_RANGE_NVTX | 1U << RIDGE_RANGE_ANNOTATION,
                                   &csv->file->window, &projected, csv->err);

    if (status != RIDGE_OK)
        return status;
    values = projected_times(trace, &projected);
    groups = values != NULL ? make_groups(trace, values, projected.count, &count) : NULL;
    if (groups != NULL) {
        table = CSV_CREATE(columns);
        for (i = 0; i < count; i++) {
            const struct projected_sum sum =
                sum_instances(trace, &projected, values + groups[i].first, groups[i].count);

            add_projected_row(table, &groups[i], &sum);
        }
        status = csv_finish(csv, table);
    } else {
        status = out_of_memory(csv->err);
    }
    free(groups);
    free(values);
    ridge_projected_ranges_free(&projected);
    return status;
}

/* -- kernels in ranges -------------------------------------------------------------------------- */

enum { MOST_PAIRS = 8000000 };

/* Kernels by the call that launched them, and the pairs of a kernel and a range. */
struct pairs {
    const struct csv *csv;
    size_t *first; /* by call: where its kernels begin in ops; one more than there are calls */
    uint32_t *ops;
    struct value *values;
    size_t count, capacity;
    uint32_t *open; /* ranges that have begun and not ended, of one thread */
    size_t open_count;
    bool failed;
};

static bool is_chosen(const struct csv *csv, const ridge_trace_op *op)
{
    size_t stream_count;
    const ridge_trace_stream *const streams = ridge_trace_streams(csv->file->trace, &stream_count);

    return op->kind == RIDGE_OP_KERNEL &&
           is_in(&csv->file->window, launch_ns(csv->file->trace, op)) &&
           (csv->device == RIDGE_TRACE_NONE ||
            (op->stream < stream_count && streams[op->stream].device == csv->device));
}

static bool index_kernels(struct pairs *pairs)
{
    size_t op_count, call_count, i;
    const ridge_trace *const trace = pairs->csv->file->trace;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);

    ridge_trace_apis(trace, &call_count);
    pairs->first = calloc(call_count + 2, sizeof(*pairs->first));
    pairs->ops = calloc(op_count + 1, sizeof(*pairs->ops));
    if (pairs->first == NULL || pairs->ops == NULL)
        return false;
    for (i = 0; i < op_count; i++)
        if (ops[i].api < call_count && is_chosen(pairs->csv, &ops[i]))
            pairs->first[ops[i].api + 2]++;
    for (i = 2; i < call_count + 2; i++)
        pairs->first[i] += pairs->first[i - 1];
    for (i = 0; i < op_count; i++)
        if (ops[i].api < call_count && is_chosen(pairs->csv, &ops[i]))
            pairs->ops[pairs->first[ops[i].api + 1]++] = (uint32_t)i;
    return true;
}

static void add_pair(struct pairs *pairs, uint32_t range, uint32_t op)
{
    size_t count;
    const ridge_trace *const trace = pairs->csv->file->trace;
    const ridge_trace_range *const in = &ridge_trace_ranges(trace, &count)[range];
    const ridge_trace_op *const kernel = &ridge_trace_ops(trace, &count)[op];

    if (pairs->count == pairs->capacity) {
        const size_t capacity = pairs->capacity == 0 ? 1024 : 2 * pairs->capacity;
        struct value *const values =
            pairs->count < MOST_PAIRS ? realloc(pairs->values, capacity * sizeof(*values)) : NULL;

        if (values == NULL) {
            pairs->failed = true;
            return;
        }
        pairs->values = values;
        pairs->capacity = capacity;
    }
    pairs->values[pairs->count++] = (struct value){
        .name = in->name,
        .style = in->flags & RIDGE_RANGE_START_END,
        .thread = in->thread,
        .kernel = kernel->name,
        .instance = range,
        .value = (double)kernel->end_ns - (double)kernel->start_ns,
    };
}

/* The ranges that hold a call, and what it launched. */
static void add_call(struct pairs *pairs, size_t call, const ridge_trace_api *at)
{
    size_t range_count, kept = 0, i, k;
    const ridge_trace_range *const ranges =
        ridge_trace_ranges(pairs->csv->file->trace, &range_count);

    for (i = 0; i < pairs->open_count; i++)
        if (ranges[pairs->open[i]].end_ns >= at->start_ns)
            pairs->open[kept++] = pairs->open[i];
    pairs->open_count = kept;
    for (i = 0; i < kept && !pairs->failed; i++)
        for (k = pairs->first[call]; k < pairs->first[call + 1] && !pairs->failed; k++)
            if (ranges[pairs->open[i]].end_ns >= at->end_ns)
                add_pair(pairs, pairs->open[i], pairs->ops[k]);
}

static void add_thread(struct pairs *pairs, const ridge_trace_thread *thread)
{
    size_t count, range, call;
    const ridge_trace *const trace = pairs->csv->file->trace;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    const ridge_trace_api *const calls = ridge_trace_apis(trace, &count);
    const size_t last = thread->first_range + thread->range_count;

    pairs->open_count = 0;
    range = thread->first_range;
    for (call = thread->first_api; call < thread->first_api + thread->api_count && !pairs->failed;
         call++) {
        if (pairs->first[call] == pairs->first[call + 1])
            continue;
        for (; range < last && ranges[range].start_ns <= calls[call].start_ns; range++)
            if (is_range(&ranges[range]) && (ranges[range].flags & RIDGE_RANGE_OTHER_THREAD) == 0 &&
                ranges[range].end_ns >= calls[call].start_ns)
                pairs->open[pairs->open_count++] = (uint32_t)range;
        add_call(pairs, call, &calls[call]);
    }
}

static ridge_status make_pairs(struct pairs *pairs)
{
    size_t thread_count, range_count, i;
    const ridge_trace *const trace = pairs->csv->file->trace;
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &thread_count);

    ridge_trace_ranges(trace, &range_count);
    pairs->open = calloc(range_count + 1, sizeof(*pairs->open));
    if (pairs->open == NULL || !index_kernels(pairs))
        return out_of_memory(pairs->csv->err);
    for (i = 0; i < thread_count; i++)
        add_thread(pairs, &threads[i]);
    if (!pairs->failed)
        return RIDGE_OK;
    if (pairs->count < MOST_PAIRS)
        return out_of_memory(pairs->csv->err);
    return ridge_fail(pairs->csv->err, RIDGE_ERR_UNSUPPORTED,
                      "more than %d pairs of kernel and range: take a part of the trace, --window",
                      MOST_PAIRS);
}

static void add_pair_row(const struct csv *csv, ridge_table *table, const struct group *group)
{
    size_t thread_count, process_count;
    const ridge_trace_thread *const threads = ridge_trace_threads(csv->file->trace, &thread_count);
    const ridge_trace_process *const processes =
        ridge_trace_processes(csv->file->trace, &process_count);
    const ridge_trace_thread *const thread =
        group->thread < thread_count ? &threads[group->thread] : NULL;

    ridge_table_text(table, group->name);
    ridge_table_text(table, style_name(group->style));
    csv_add_whole(table, thread != NULL && thread->process < process_count
                             ? processes[thread->process].id
                             : -1);
    csv_add_whole(table, thread != NULL ? thread->id : -1);
    ridge_table_count(table, group->instances);
    ridge_table_count(table, group->count);
    csv_add_decimal(table, group->total, 0);
    add_spread(table, group, 0, 1);
    ridge_table_text(table, group->kernel);
}

ridge_status csv_write_nvtx_kernels(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_COLUMN("NVTX Range"),
                                           CSV_COLUMN("Style"),
                                           CSV_COLUMN("PID"),
                                           CSV_COLUMN("TID"),
                                           CSV_COLUMN("NVTX Inst"),
                                           CSV_COLUMN("Kern Inst"),
                                           CSV_COLUMN("Total Time (ns)"),
                                           CSV_COLUMN("Avg (ns)"),
                                           CSV_COLUMN("Med (ns)"),
                                           CSV_COLUMN("Min (ns)"),
                                           CSV_COLUMN("Max (ns)"),
                                           CSV_COLUMN("StdDev (ns)"),
                                           CSV_COLUMN("Kernel Name")};
    struct pairs pairs = {.csv = csv};
    ridge_status status = make_pairs(&pairs);
    struct group *groups = NULL;
    size_t count = 0, i;
    ridge_table *table;

    if (status == RIDGE_OK) {
        groups = make_groups(csv->file->trace, pairs.values, pairs.count, &count);
        status = groups != NULL ? RIDGE_OK : out_of_memory(csv->err);
    }
    free(pairs.first);
    free(pairs.ops);
    free(pairs.open);
    free(pairs.values);
    if (status != RIDGE_OK)
        return status;
    table = CSV_CREATE(columns);
    for (i = 0; i < count; i++)
        add_pair_row(csv, table, &groups[i]);
    free(groups);
    return csv_finish(csv, table);
}
