/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of kernels, calls and copies. Each row of the trace becomes a sample of a group; samples are
 * sorted by time once, then dealt out to their groups, so that every group has its median, and the
 * whole is linear in the rows. */
#include "timeline/sums/sums_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "timeline/trace_build.h"

typedef struct sum_work {
    sum_groups groups;
    sum_sample *samples, *spare;
    size_t count;
    bool failed;
} sum_work;

static bool work_init(sum_work *work, size_t most)
{
    *work = (sum_work){0};
    work->samples = ridge_calloc(most + 1, sizeof(*work->samples));
    work->spare = ridge_calloc(most + 1, sizeof(*work->spare));
    return work->samples != NULL && work->spare != NULL;
}

static void work_release(sum_work *work)
{
    sum_groups_release(&work->groups);
    ridge_free(work->samples);
    ridge_free(work->spare);
}

static void add_sample(sum_work *work, uint64_t key, int64_t ns, size_t row)
{
    const uint32_t group = sum_group_of(&work->groups, key);

    if (group == UINT32_MAX)
        work->failed = true;
    else
        work->samples[work->count++] = (sum_sample){ns, group, (uint32_t)row};
}

/* -- one group --------------------------------------------------------------------------------- */

/* The samples are sorted by time; equal ones by row. */
static double median_of(const sum_sample *samples, size_t count)
{
    const int64_t low = samples[(count - 1) / 2].ns, high = samples[count / 2].ns;

    return (double)low + (double)(high - low) / 2;
}

/* Of a sample. Distances from a whole number near the mean are exact; what that number misses of
 * the mean is taken out again. */
static double deviation_of(const sum_sample *samples, size_t count, int64_t near_mean)
{
    double sum = 0, squares = 0;

    if (count < 2)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const double distance = (double)(samples[i].ns - near_mean);

        sum += distance;
        squares += distance * distance;
    }
    squares -= sum * sum / (double)count;
    return squares > 0 ? sqrt(squares / (double)(count - 1)) : 0;
}

static uint32_t nearest_row(const sum_sample *samples, size_t count, double median)
{
    double least = INFINITY;
    uint32_t row = RIDGE_TRACE_NONE;

    for (size_t i = 0; i < count; i++) {
        const double distance = fabs((double)samples[i].ns - median);

        if (distance < least || (distance == least && samples[i].row < row)) {
            least = distance;
            row = samples[i].row;
        }
    }
    return row;
}

/* -- sizes ------------------------------------------------------------------------------------- */

static const double apart_least = 1.5;      /* a launch over the next shorter one */
static const int64_t apart_least_ns = 2000; /* clocks and tiny kernels jitter */
static const double size_least = 0.1;       /* of the launches, or of their time */

static bool is_apart(int64_t shorter_ns, int64_t longer_ns)
{
    return longer_ns - shorter_ns >= apart_least_ns &&
           (double)longer_ns >= apart_least * (double)shorter_ns;
}

static int64_t total_of(const sum_sample *samples, size_t count)
{
    int64_t total_ns = 0;

    for (size_t i = 0; i < count; i++)
        total_ns = sum_add_ns(total_ns, samples[i].ns);
    return total_ns;
}

/* Samples of one time are sorted by row. */
static uint32_t middle_by_time(const sum_sample *samples, size_t count, int64_t total_ns)
{
    int64_t sum_ns = 0;
    size_t at = 0;

    for (; at + 1 < count; at++) {
        sum_ns = sum_add_ns(sum_ns, samples[at].ns);
        if (sum_ns >= total_ns - sum_ns)
            break;
    }
    while (at > 0 && samples[at - 1].ns == samples[at].ns)
        at--;
    return samples[at].row;
}

static void fill_sizes(ridge_trace_sum *row, const sum_sample *samples, size_t count)
{
    row->typical_op = middle_by_time(samples, count, row->total_ns);
    for (size_t first = 0, end = 1; end <= count; end++) {
        ridge_trace_size size;

        if (end < count && !is_apart(samples[end - 1].ns, samples[end].ns))
            continue;
        size = (ridge_trace_size){end - first, total_of(samples + first, end - first),
                                  median_of(samples + first, end - first)};
        if (size.count > 1 && ((double)size.count >= size_least * (double)count ||
                               (double)size.total_ns >= size_least * (double)row->total_ns)) {
            const bool is_most = row->size_count == 0 || size.total_ns >= row->sizes[0].total_ns;

            if (is_most) {
                row->sizes[1] = row->sizes[0];
                row->typical_op = middle_by_time(samples + first, size.count, size.total_ns);
            }
            if (is_most || row->size_count == 1 || size.total_ns >= row->sizes[1].total_ns)
                row->sizes[is_most ? 0 : 1] = size;
            row->size_count++;
        }
        first = end;
    }
    if (row->size_count == 1) {
        row->size_count = 0;
        row->sizes[0] = (ridge_trace_size){0};
    }
}

static void fill_row(ridge_trace_sum *row, const sum_sample *samples, size_t count)
{
    if (count == 0) /* never: a group is made by its first sample */
        return;
    row->total_ns = total_of(samples, count);
    row->count = count;
    row->min_ns = samples[0].ns;
    row->max_ns = samples[count - 1].ns;
    row->average_ns = (double)row->total_ns / (double)count;
    row->median_ns = median_of(samples, count);
    row->deviation_ns = deviation_of(samples, count, row->total_ns / (int64_t)count);
    row->first_op = nearest_row(samples, count, row->median_ns);
    row->config = RIDGE_TRACE_NONE;
    fill_sizes(row, samples, count);
}

/* Rows for the groups, in the order of the groups. */
static ridge_status sum_up(sum_work *work, ridge_trace_sums *out, ridge_error *err)
{
    const uint32_t group_count = work->groups.count;
    size_t *firsts;

    *out = (ridge_trace_sums){0};
    if (work->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    firsts = ridge_calloc((size_t)group_count + 1, sizeof(*firsts));
    out->rows = ridge_calloc((size_t)group_count + 1, sizeof(*out->rows));
    if (firsts == NULL || out->rows == NULL) {
        ridge_free(firsts);
        ridge_trace_sums_free(out);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    out->count = group_count;
    sum_sort(work->samples, work->spare, work->count);
    for (size_t i = 0; i < work->count; i++)
        firsts[work->samples[i].group + 1]++;
    for (uint32_t i = 0; i < group_count; i++)
        firsts[i + 1] += firsts[i];
    for (size_t i = 0; i < work->count; i++)
        work->spare[firsts[work->samples[i].group]++] = work->samples[i];
    for (uint32_t i = 0; i < group_count; i++) { /* firsts[i] is the end of group i by now */
        const size_t first = i == 0 ? 0 : firsts[i - 1];

        fill_row(&out->rows[i], work->spare + first, firsts[i] - first);
        out->total_ns = sum_add_ns(out->total_ns, out->rows[i].total_ns);
    }
    for (uint32_t i = 0; i < group_count; i++)
        out->rows[i].share_frac =
            out->total_ns > 0 ? (double)out->rows[i].total_ns / (double)out->total_ns : 0;
    ridge_free(firsts);
    return RIDGE_OK;
}

/* Total, count, name; last what tells rows of one name apart: the first instance. */
static int order_rows(const void *left, const void *right)
{
    const ridge_trace_sum *const a = left, *const b = right;
    int order;

    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->first_op > b->first_op) - (a->first_op < b->first_op);
    return order != 0 ? order : (a->name_id > b->name_id) - (a->name_id < b->name_id);
}

static void sort_rows(ridge_trace_sums *sums)
{
    if (sums->count > 1)
        qsort(sums->rows, sums->count, sizeof(*sums->rows), order_rows);
}

void ridge_trace_sums_free(ridge_trace_sums *sums)
{
    ridge_free(sums->rows);
    *sums = (ridge_trace_sums){0};
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* For each row of configs the first one with the same grid and block: registers and shared memory
 * follow from the name, mostly, and nsys does not split by them. NULL when out of memory. */
static uint32_t *find_shapes(const ridge_trace *trace)
{
    size_t count;
    const ridge_trace_config *const configs = ridge_trace_configs(trace, &count);
    uint32_t *const shapes = ridge_calloc(count + 1, sizeof(*shapes));
    sum_groups xy = {0}, xyz = {0}, blocks = {0}, all = {0};
    uint32_t *firsts = ridge_calloc(count + 1, sizeof(*firsts));
    bool failed = shapes == NULL || firsts == NULL;

    for (uint32_t i = 0; i < count && !failed; i++) {
        const uint32_t *const g = configs[i].grid, *const b = configs[i].block;
        const uint32_t plane = sum_group_of(&xy, (uint64_t)g[0] << 32 | g[1]);
        const uint32_t grid = sum_group_of(&xyz, (uint64_t)plane << 32 | g[2]);
        const uint32_t front = sum_group_of(&blocks, (uint64_t)b[0] << 32 | b[1]);
        const uint32_t block = sum_group_of(&xyz, (uint64_t)front << 32 | b[2]);
        const uint32_t known = all.count;
        const uint32_t group = sum_group_of(&all, (uint64_t)grid << 32 | block);

        failed = plane == UINT32_MAX || grid == UINT32_MAX || front == UINT32_MAX ||
                 block == UINT32_MAX || group == UINT32_MAX;
        if (failed)
            break;
        if (group == known)
            firsts[group] = i;
        shapes[i] = firsts[group];
    }
    sum_groups_release(&xy);
    sum_groups_release(&xyz);
    sum_groups_release(&blocks);
    sum_groups_release(&all);
    ridge_free(firsts);
    if (!failed)
        return shapes;
    ridge_free(shapes);
    return NULL;
}

static uint64_t key_of(const ridge_trace_op *op, ridge_kernel_key key, const uint32_t *shapes)
{
    switch (key) {
    case RIDGE_KERNEL_BY_BASE:
        return op->short_name != 0 ? op->short_name : op->name;
    case RIDGE_KERNEL_BY_CONFIG:
        return (uint64_t)op->name << 32 |
               (op->config != RIDGE_TRACE_NONE ? shapes[op->config] : RIDGE_TRACE_NONE);
    case RIDGE_KERNEL_BY_NAME:
        break;
    }
    return op->name;
}

static void name_kernels(const ridge_trace *trace, ridge_kernel_key key, const sum_work *work,
                         ridge_trace_sums *sums)
{
    for (uint32_t i = 0; i < sums->count; i++) {
        const uint64_t group = work->groups.keys[i];
        ridge_trace_sum *const row = &sums->rows[i];

        if (key == RIDGE_KERNEL_BY_CONFIG)
            row->config = (uint32_t)group;
        row->name_id = (uint32_t)(key == RIDGE_KERNEL_BY_CONFIG ? group >> 32 : group);
        row->name = ridge_trace_name(trace, row->name_id, NULL);
    }
    sort_rows(sums);
}

ridge_status ridge_trace_sum_kernels(const ridge_trace *trace, ridge_kernel_key key,
                                     uint32_t device, const ridge_trace_window *window,
                                     ridge_trace_sums *out, ridge_error *err)
{
    size_t op_count, api_count;
    const trace_op_list own = trace_ops_of(trace, device);
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &api_count);
    const bool by_config = key == RIDGE_KERNEL_BY_CONFIG;
    uint32_t *const shapes = by_config ? find_shapes(trace) : NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    sum_work work;

    *out = (ridge_trace_sums){0};
    if (!work_init(&work, own.count) || (by_config && shapes == NULL)) {
        status = ridge_fail(err, status, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < own.count; i++) {
        const size_t row = trace_op_at(&own, i);
        const ridge_trace_op *const op = &ops[row];

        if (op->kind == RIDGE_OP_KERNEL && sum_on_device(trace, op, device) &&
            sum_in_window(window, sum_launch_ns(op, apis)))
            add_sample(&work, key_of(op, key, shapes), sum_span_ns(op->start_ns, op->end_ns), row);
    }
    status = sum_up(&work, out, err);
    if (status == RIDGE_OK)
        name_kernels(trace, key, &work, out);
out:
    work_release(&work);
    ridge_free(shapes);
    return status;
}

/* -- copies ------------------------------------------------------------------------------------ */

ridge_status ridge_trace_sum_copies(const ridge_trace *trace, uint32_t device,
                                    const ridge_trace_window *window, ridge_trace_sums *out,
                                    ridge_error *err)
{
    size_t op_count, api_count;
    const trace_op_list own = trace_ops_of(trace, device);
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &api_count);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    sum_work work;

    *out = (ridge_trace_sums){0};
    if (!work_init(&work, own.count)) {
        status = ridge_fail(err, status, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < own.count; i++) {
        const size_t row = trace_op_at(&own, i);
        const ridge_trace_op *const op = &ops[row];

        if ((op->kind == RIDGE_OP_MEMCPY || op->kind == RIDGE_OP_MEMSET) &&
            sum_on_device(trace, op, device) && sum_in_window(window, sum_launch_ns(op, apis)))
            add_sample(&work, op->name, sum_span_ns(op->start_ns, op->end_ns), row);
    }
    status = sum_up(&work, out, err);
    if (status != RIDGE_OK)
        goto out;
    for (size_t i = 0; i < out->count; i++)
        out->rows[i].bytes = RIDGE_TRACE_BYTES_UNKNOWN;
    for (size_t i = 0; i < work.count; i++) {
        const uint64_t bytes = ops[work.samples[i].row].bytes;
        uint64_t *const sum = &out->rows[work.samples[i].group].bytes;

        if (bytes == RIDGE_TRACE_BYTES_UNKNOWN)
            continue;
        if (*sum == RIDGE_TRACE_BYTES_UNKNOWN)
            *sum = 0;
        *sum = bytes < UINT64_MAX - 1 - *sum ? *sum + bytes : UINT64_MAX - 1;
    }
    name_kernels(trace, RIDGE_KERNEL_BY_NAME, &work, out);
out:
    work_release(&work);
    return status;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* "cuda..._v11060" stays: nsys takes four digits alone. */
size_t sum_plain_length(const char *name, size_t length)
{
    if (length < 7 || name[length - 6] != '_' || name[length - 5] != 'v')
        return length;
    for (size_t i = length - 4; i < length; i++)
        if (name[i] < '0' || name[i] > '9')
            return length;
    return length - 6;
}

/* Names lie behind the rows, in the same block. */
static ridge_status name_calls(const ridge_trace *trace, const sum_work *work,
                               ridge_trace_sums *sums, ridge_error *err)
{
    size_t size_bytes = 1;
    ridge_trace_sum *rows;
    char *place;

    for (uint32_t i = 0; i < sums->count; i++) {
        size_t length;

        ridge_trace_name(trace, (uint32_t)work->groups.keys[i], &length);
        size_bytes += length + 1;
    }
    size_bytes += (sums->count + 1) * sizeof(*rows);
    rows = ridge_realloc_array(sums->rows, size_bytes, 1);
    if (rows == NULL) {
        ridge_trace_sums_free(sums);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    sums->rows = rows;
    place = (char *)(rows + sums->count + 1);
    for (uint32_t i = 0; i < sums->count; i++) {
        size_t length;
        const char *const name = ridge_trace_name(trace, (uint32_t)work->groups.keys[i], &length);

        length = sum_plain_length(name, length);
        memcpy(place, name, length);
        place[length] = '\0';
        rows[i].name = place;
        rows[i].name_id = (uint32_t)work->groups.keys[i];
        rows[i].first_op = rows[i].typical_op = RIDGE_TRACE_NONE;
        place += length + 1;
    }
    sort_rows(sums);
    return RIDGE_OK;
}

static ridge_status sum_calls(const ridge_trace *trace, const ridge_trace_api *apis, size_t count,
                              const ridge_trace_window *window, ridge_trace_sums *out,
                              ridge_error *err)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    sum_work work;

    *out = (ridge_trace_sums){0};
    if (!work_init(&work, count)) {
        status = ridge_fail(err, status, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        if (sum_in_window(window, apis[i].start_ns))
            add_sample(&work, apis[i].name, sum_span_ns(apis[i].start_ns, apis[i].end_ns), i);
    status = sum_up(&work, out, err);
    if (status == RIDGE_OK)
        status = name_calls(trace, &work, out, err);
out:
    work_release(&work);
    return status;
}

ridge_status ridge_trace_sum_api(const ridge_trace *trace, const ridge_trace_window *window,
                                 ridge_trace_sums *out, ridge_error *err)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);

    return sum_calls(trace, apis, count, window, out, err);
}

ridge_status ridge_trace_sum_repeats(const ridge_trace *trace, const ridge_trace_window *window,
                                     ridge_trace_sums *out, ridge_error *err)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_repeats(trace, &count);

    return sum_calls(trace, apis, count, window, out, err);
}
