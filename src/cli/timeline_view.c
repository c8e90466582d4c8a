/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge timeline prints about a device, computed once, and its words. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timeline_cli.h"

/* -- the tables -------------------------------------------------------------------------------- */

static ridge_status index_ranks(struct timeline_view *view, ridge_error *err)
{
    const size_t count = ridge_trace_name_count(view->file->trace);
    size_t i;

    view->rank_of = calloc(count + 1, sizeof(*view->rank_of));
    if (view->rank_of == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    for (i = 0; i < view->next.rank_count; i++)
        if (view->next.ranks[i].sum.name_id <= count)
            view->rank_of[view->next.ranks[i].sum.name_id] = (uint32_t)i + 1;
    return RIDGE_OK;
}

static ridge_status sum_kinds(const struct timeline_view *view, unsigned kinds,
                              ridge_range_sums *out, ridge_error *err)
{
    const struct timeline_file *const file = view->file;
    ridge_status status = ridge_trace_sum_ranges(file->trace, kinds, &file->window, out, err);

    if (status == RIDGE_OK && view->account != NULL)
        status = ridge_timeline_range_idle(file->timeline, view->account, out, err);
    return status;
}

/* Ranges of the program; without any, those of the framework say where the time goes. Beside the
 * program's those operations in which a tenth of the idle time passes. */
static ridge_status sum_ranges(struct timeline_view *view, ridge_error *err)
{
    const unsigned named = 1U << RIDGE_RANGE_NVTX | 1U << RIDGE_RANGE_ANNOTATION;
    const int64_t idle_ns = view->account != NULL ? view->account->idle_ns : 0;
    ridge_range_sums *const operations = &view->idle_operations;
    ridge_status status = sum_kinds(view, named, &view->ranges, err);
    size_t kept = 0, i;

    if (status == RIDGE_OK && view->ranges.count == 0) {
        ridge_range_sums_free(&view->ranges);
        return sum_kinds(view, named | 1U << RIDGE_RANGE_OP, &view->ranges, err);
    }
    if (status != RIDGE_OK || idle_ns == 0)
        return status;
    status = sum_kinds(view, 1U << RIDGE_RANGE_OP, operations, err);
    for (i = 0; i < operations->count; i++)
        if (operations->rows[i].host_idle_ns >= idle_ns / 10)
            operations->rows[kept++] = operations->rows[i];
    operations->count = kept;
    return status;
}

/* The ranges of a view beside its plan: of a large trace in a thread of their own. */
struct range_task {
    struct timeline_view *view;
    ridge_status status;
    ridge_error err;
    pthread_t thread;
    bool has_thread;
};

static void *run_ranges(void *argument)
{
    struct range_task *const task = argument;

    task->status = sum_ranges(task->view, &task->err);
    return NULL;
}

static void begin_ranges(struct range_task *task, struct timeline_view *view)
{
    enum { ROWS_LEAST = 50000 };
    size_t op_count, range_count;

    ridge_trace_ops(view->file->trace, &op_count);
    ridge_trace_ranges(view->file->trace, &range_count);
    *task = (struct range_task){.view = view};
    task->has_thread = op_count + range_count >= ROWS_LEAST && sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
                       pthread_create(&task->thread, NULL, run_ranges, task) == 0;
}

static ridge_status end_ranges(struct range_task *task, ridge_error *err)
{
    if (task->has_thread)
        pthread_join(task->thread, NULL);
    else
        run_ranges(task);
    if (task->status != RIDGE_OK)
        *err = task->err;
    return task->status;
}

ridge_status timeline_view_make(const struct timeline_file *file,
                                const ridge_device_account *account,
                                const struct timeline_request *request, struct timeline_view *out,
                                ridge_error *err)
{
    const ridge_trace_window *const window = &file->window;
    const bool is_main = account == file->main;
    /* Seen beside a device only when asked for. */
    const bool with_api =
        is_main && (account == NULL || request->api || request->out.format == RIDGE_FORMAT_JSON);
    const uint32_t device = account != NULL ? account->device : RIDGE_TRACE_NONE;
    struct range_task ranges;
    ridge_status status, range_status = RIDGE_OK;
    bool has_begun;

    memset(out, 0, sizeof(*out));
    out->file = file;
    out->account = account;
    status = ridge_trace_sum_kernels(file->trace, RIDGE_KERNEL_BY_NAME, device, window,
                                     &out->kernels, err);
    if (status == RIDGE_OK)
        status = ridge_trace_sum_copies(file->trace, device, window, &out->copies, err);
    if (status == RIDGE_OK && with_api)
        status = ridge_trace_sum_api(file->trace, window, &out->api, err);
    has_begun = status == RIDGE_OK && is_main; /* not beside the sums: both want memory */
    if (has_begun)
        begin_ranges(&ranges, out);
    if (status == RIDGE_OK && account != NULL)
        status = ridge_timeline_plan(file->timeline, account, request->roofs, request->given,
                                     request->show_command, &out->next, err);
    if (has_begun)
        range_status = end_ranges(&ranges, err);
    if (status == RIDGE_OK)
        status = range_status;
    if (status == RIDGE_OK)
        status = index_ranks(out, err);
    if (status == RIDGE_OK && account != NULL)
        out->place_count = timeline_find_places(out, out->places);
    if (status != RIDGE_OK)
        timeline_view_release(out);
    return status;
}

void timeline_view_release(struct timeline_view *view)
{
    ridge_trace_sums_free(&view->kernels);
    ridge_trace_sums_free(&view->copies);
    ridge_trace_sums_free(&view->api);
    ridge_range_sums_free(&view->ranges);
    ridge_range_sums_free(&view->idle_operations);
    ridge_timeline_next_free(&view->next);
    free(view->rank_of);
    view->rank_of = NULL;
}

const ridge_kernel_rank *timeline_rank_of(const struct timeline_view *view, uint32_t name)
{
    const uint32_t rank =
        name <= ridge_trace_name_count(view->file->trace) ? view->rank_of[name] : 0;

    return rank > 0 ? &view->next.ranks[rank - 1] : NULL;
}

void timeline_labelled(ridge_output *output, const char *label, const char *text)
{
    char first[TIMELINE_LABEL + 1];

    if (text[0] == '\0')
        return;
    snprintf(first, sizeof(first), "%-*.*s", TIMELINE_LABEL, TIMELINE_LABEL, label);
    ridge_output_wrap(output, TIMELINE_LABEL, first, text);
}

/* -- names ------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '~' || (c & 0x80) != 0;
}

/* Length of "(anonymous namespace)::" and of a cast before a number: neither tells kernels apart. */
static size_t noise_length(const char *text)
{
    static const char *const words[] = {"(anonymous namespace)::", "<unnamed>::", "_GLOBAL__N__::"};
    size_t length, i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    if (text[0] != '(')
        return 0;
    length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz ");
    return length > 0 && text[1 + length] == ')' && text[length + 2] != '\0' &&
                   strchr("-0123456789", text[length + 2]) != NULL
               ? length + 2
               : 0;
}

/* Behind the return type: after the last space that no bracket holds. In parentheses < and > may
 * compare: "enable_if<((8)>(0))>::type kernel". */
static const char *skip_return_type(const char *name, const char *end)
{
    const char *begin = name, *at;
    int round = 0, angle = 0;

    for (at = name; at < end; at++) {
        round += strchr("([{", *at) != NULL ? 1 : strchr(")]}", *at) != NULL ? -1 : 0;
        if (round == 0)
            angle += *at == '<' ? 1 : *at == '>' ? -1 : 0;
        if (*at == ' ' && round == 0 && angle == 0 && at + 1 < end)
            begin = at + 1;
    }
    return round == 0 && angle == 0 ? begin : name;
}

char *timeline_kernel_name(const char *name, bool whole, char *buffer, size_t size)
{
    const char *end;
    size_t to = 0, word = 0; /* where the qualified name began that is being written */

    if (whole) {
        snprintf(buffer, size, "%s", name);
        return buffer;
    }
    end = name + cli_length_without_parameters(name);
    name = skip_return_type(name, end);
    while (name < end && to < size - 1) {
        const size_t noise = noise_length(name);

        if (noise > 0) {
            name += noise;
        } else if (name[0] == ':' && name[1] == ':' && end - name > 2 &&
                   (to == 0 || is_word(buffer[to - 1]))) {
            to = word;
            name += 2;
        } else {
            if (!is_word(*name))
                word = to + 1;
            buffer[to++] = *name++;
        }
    }
    buffer[to] = '\0';
    return buffer;
}

char *timeline_op_name(const ridge_trace *trace, uint32_t op, char *buffer, size_t size)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const char *name;

    if (op == RIDGE_TRACE_NONE || op >= count) {
        snprintf(buffer, size, "the end");
        return buffer;
    }
    name = ridge_trace_name(trace, ops[op].short_name, NULL);
    if (name[0] == '\0')
        name = ridge_trace_name(trace, ops[op].name, NULL);
    if (ops[op].kind == RIDGE_OP_GRAPH && name[0] == '\0') {
        snprintf(buffer, size, "graph %" PRIu32, ops[op].graph);
        return buffer;
    }
    if (ops[op].kind == RIDGE_OP_KERNEL)
        return ridge_kernel_base_name(name, buffer, size);
    snprintf(buffer, size, "%s", name);
    return buffer;
}

char *timeline_api_name(const char *name, char *buffer, size_t size)
{
    const char *const version = strrchr(name, '_');
    size_t length = strlen(name);

    if (version != NULL && version[1] == 'v' && version[2] != '\0' &&
        version[2 + strspn(version + 2, "0123456789")] == '\0')
        length = (size_t)(version - name);
    snprintf(buffer, size, "%.*s", (int)(length < size ? length : size - 1), name);
    return buffer;
}

char *timeline_range_name(const char *name, char *buffer, size_t size)
{
    static const char *const tails[] = {", seq = ", ", op_id = ", ", sizes = "};
    const char *const text = name[0] == ':' && name[1] != ':' ? name + 1 : name;
    size_t length = strlen(text), i;

    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        const char *const tail = strstr(text, tails[i]);

        if (tail != NULL && (size_t)(tail - text) < length)
            length = (size_t)(tail - text);
    }
    snprintf(buffer, size, "%.*s", (int)(length < size ? length : size - 1), text);
    return buffer;
}

const char *timeline_device_name(const ridge_trace *trace, const ridge_device_account *account)
{
    size_t count;
    const ridge_trace_device *const devices = ridge_trace_devices(trace, &count);

    return account != NULL && account->device < count && devices[account->device].name != NULL
               ? devices[account->device].name
               : "";
}

int64_t timeline_device_id(const ridge_trace *trace, const ridge_device_account *account)
{
    size_t count;
    const ridge_trace_device *const devices = ridge_trace_devices(trace, &count);

    return account != NULL && account->device < count ? devices[account->device].id : -1;
}

/* -- numbers ----------------------------------------------------------------------------------- */

double timeline_frac(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

char *timeline_percent(double part, double whole, char *buffer, size_t size)
{
    const double frac = timeline_frac(part, whole);

    if (isnan(frac))
        snprintf(buffer, size, "n/a");
    else
        snprintf(buffer, size, "%.1f %%", 100 * frac);
    return buffer;
}

char *timeline_time(double ns, char *buffer, size_t size)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    const double size_ns = fabs(ns);
    size_t i = 0;

    if (isnan(ns)) {
        snprintf(buffer, size, "n/a");
        return buffer;
    }
    /* 999.6 us reads as 1.00 ms, not as 1000 us. */
    while (i < 3 && size_ns < units[i].ns * 0.9995)
        i++;
    snprintf(buffer, size, "%.*f %s",
             i == 3 || size_ns >= 99.95 * units[i].ns ? 0
             : size_ns >= 9.995 * units[i].ns         ? 1
                                                      : 2,
             ns / units[i].ns, units[i].unit);
    return buffer;
}
