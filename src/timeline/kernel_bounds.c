/* SPDX-License-Identifier: Apache-2.0
 *
 * Least times of the kernels of a trace. A line of the user's comes first; else the shapes of the
 * innermost operation around the launch, where one kernel does the operation's work: the only one
 * that it launched, or the main one of a product beside kernels that only reduce or prepare. */
#include "timeline/next_internal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { OPERATIONS = 1 << RIDGE_RANGE_OP, BASE_BYTES = 1024, FLOOR_MOST_NS = 800 };

/* What an instance of an operation launched. */
typedef struct instance {
    uint32_t kernel_count;
    uint32_t main_count; /* those that are no helpers of a product */
} instance;

typedef struct bounds_work {
    const ridge_trace *trace;
    const ridge_trace_op *ops;
    const ridge_trace_api *apis;
    const ridge_trace_range *ranges;
    size_t op_count, range_count;
    uint32_t device;
    const ridge_trace_window *window;
    const ridge_roofs *roofs;
    double floor_ns;    /* no kernel is faster */
    uint32_t *range_of; /* of each call */
    instance *instances;
    uint8_t *helpers; /* by name: 0 not looked at yet, 1 no, 2 yes */
    double *given_ns; /* by name: NAN none, -1 not looked at yet */
} bounds_work;

static bool is_wanted(const bounds_work *work, const ridge_trace_op *op)
{
    return op->kind == RIDGE_OP_KERNEL && (op->flags & RIDGE_OP_COLLECTIVE) == 0 &&
           sum_on_device(work->trace, op, work->device) &&
           sum_in_window(work->window, sum_launch_ns(op, work->apis));
}

/* Joins the parts of a product (split k) or an attention (split keys), or prepares it. */
static bool is_helper(bounds_work *work, uint32_t name)
{
    static const char *const words[] = {"reduce", "reduction",     "splitk", "offset",
                                        "memset", "gemm_pointers", "combine"};
    uint8_t *const known = &work->helpers[name];
    char base[BASE_BYTES];

    if (*known == 0) {
        *known = 1;
        ridge_kernel_base_name(ridge_trace_name(work->trace, name, NULL), base, sizeof(base));
        for (char *at = base; *at != '\0'; at++)
            *at = (char)tolower((unsigned char)*at);
        /* The main kernel of a split product says "splitk" too: "..._splitK_TNT". */
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (strstr(base, words[i]) != NULL &&
                (strcmp(words[i], "splitk") != 0 || strncmp(base, "splitk", 6) == 0))
                *known = 2;
    }
    return *known == 2;
}

static uint32_t range_of(const bounds_work *work, const ridge_trace_op *op)
{
    if (op->api == RIDGE_TRACE_NONE || (op->flags & RIDGE_OP_IN_GRAPH) != 0)
        return RIDGE_TRACE_NONE;
    return work->range_of[op->api];
}

static void count_kernels(bounds_work *work)
{
    for (size_t i = 0; i < work->op_count; i++) {
        const uint32_t range =
            work->ops[i].kind == RIDGE_OP_KERNEL ? range_of(work, &work->ops[i]) : RIDGE_TRACE_NONE;

        if (range == RIDGE_TRACE_NONE)
            continue;
        work->instances[range].kernel_count++;
        work->instances[range].main_count += !is_helper(work, work->ops[i].name);
    }
}

/* What an empty kernel takes, where roofs do not say: a bound of a few bytes would be nanoseconds. The
 * shortest kernel of the trace is no empty one, so that it stands for it only up to what was seen of
 * the shortest ones (832 ns, in a decoder's step on an H200, by CUPTI). */
static double find_floor(const bounds_work *work)
{
    int64_t least = INT64_MAX;

    if (work->roofs->launch_s > 0)
        return work->roofs->launch_s * 1e9;
    for (size_t i = 0; i < work->op_count; i++) {
        const int64_t ns = sum_span_ns(work->ops[i].start_ns, work->ops[i].end_ns);

        if (work->ops[i].kind == RIDGE_OP_KERNEL && ns > 0 && ns < least &&
            sum_on_device(work->trace, &work->ops[i], work->device))
            least = ns;
    }
    return least < FLOOR_MOST_NS ? (double)least : FLOOR_MOST_NS;
}

static double least_ns(const bounds_work *work, const ridge_work *of)
{
    ridge_bound bound;

    ridge_bound_of(of, work->roofs, &bound);
    if (bound.by == RIDGE_BOUND_BY_NOTHING || !(bound.time_s > 0))
        return NAN;
    return bound.time_s * 1e9 > work->floor_ns ? bound.time_s * 1e9 : work->floor_ns;
}

static double from_line(bounds_work *work, const ridge_given_bounds *given, uint32_t name)
{
    double *const known = &work->given_ns[name];
    char base[BASE_BYTES];

    if (*known < 0) {
        const char *const text = ridge_trace_name(work->trace, name, NULL);
        const ridge_work *const of =
            given_bounds_find(given, text, ridge_kernel_base_name(text, base, sizeof(base)));

        *known = of != NULL ? least_ns(work, of) : NAN;
    }
    return *known;
}

static double from_shapes(bounds_work *work, const ridge_trace_op *op, uint32_t range)
{
    const instance *const of = &work->instances[range];
    const ridge_trace_range *const operation = &work->ranges[range];
    const char *const name = ridge_trace_name(work->trace, operation->name, NULL);
    const bool is_alone = of->kernel_count == 1;
    ridge_work least;

    if (operation->shapes == 0 ||
        !(is_alone ||
          (kernel_is_product(name) && of->main_count == 1 && !is_helper(work, op->name))) ||
        !kernel_work_of(name, ridge_trace_name(work->trace, operation->shapes, NULL),
                        ridge_trace_name(work->trace, op->name, NULL), &least))
        return NAN;
    if (!is_alone) /* a helper may write the result */
        least.written_bytes = 0;
    return least_ns(work, &least);
}

/* Can anything have a least time? */
static bool has_sources(const bounds_work *work, const ridge_given_bounds *given)
{
    if (given != NULL)
        return true;
    for (size_t i = 0; i < work->range_count; i++)
        if (work->ranges[i].kind == RIDGE_RANGE_OP && work->ranges[i].shapes != 0)
            return true;
    return false;
}

static bool allocate(bounds_work *work, kernel_bounds *bounds)
{
    const size_t name_count = ridge_trace_name_count(work->trace);

    bounds->least_ns = ridge_calloc(work->op_count + 1, sizeof(*bounds->least_ns));
    bounds->sources = ridge_calloc(work->op_count + 1, sizeof(*bounds->sources));
    work->instances = ridge_calloc(work->range_count + 1, sizeof(*work->instances));
    work->helpers = ridge_calloc(name_count + 1, sizeof(*work->helpers));
    work->given_ns = ridge_calloc(name_count + 1, sizeof(*work->given_ns));
    work->range_of = sum_innermost(work->trace, OPERATIONS, NULL);
    if (work->given_ns == NULL)
        return false;
    for (size_t i = 0; i <= name_count; i++)
        work->given_ns[i] = -1;
    return bounds->least_ns != NULL && bounds->sources != NULL && work->instances != NULL &&
           work->helpers != NULL && work->range_of != NULL;
}

ridge_status kernel_bounds_init(kernel_bounds *bounds, const ridge_trace *trace, uint32_t device,
                                const ridge_trace_window *window, const ridge_roofs *roofs,
                                const ridge_given_bounds *given, ridge_error *err)
{
    bounds_work work = {.trace = trace, .device = device, .window = window, .roofs = roofs};
    ridge_status status = RIDGE_OK;
    size_t api_count;

    *bounds = (kernel_bounds){0};
    work.ops = ridge_trace_ops(trace, &work.op_count);
    work.apis = ridge_trace_apis(trace, &api_count);
    work.ranges = ridge_trace_ranges(trace, &work.range_count);
    if (!has_sources(&work, given))
        return RIDGE_OK;
    if (!allocate(&work, bounds)) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        kernel_bounds_release(bounds);
        goto out;
    }
    work.floor_ns = bounds->floor_ns = find_floor(&work);
    count_kernels(&work);
    for (size_t i = 0; i < work.op_count; i++) {
        const uint32_t range = range_of(&work, &work.ops[i]);

        bounds->least_ns[i] = NAN;
        bounds->sources[i] = BOUND_GIVEN;
        if (!is_wanted(&work, &work.ops[i]))
            continue;
        bounds->least_ns[i] = from_line(&work, given, work.ops[i].name);
        if (isnan(bounds->least_ns[i]) && range != RIDGE_TRACE_NONE) {
            bounds->least_ns[i] = from_shapes(&work, &work.ops[i], range);
            bounds->sources[i] = range;
        }
    }
out:
    ridge_free(work.instances);
    ridge_free(work.helpers);
    ridge_free(work.given_ns);
    ridge_free(work.range_of);
    return status;
}

void kernel_bounds_release(kernel_bounds *bounds)
{
    ridge_free(bounds->least_ns);
    ridge_free(bounds->sources);
    *bounds = (kernel_bounds){0};
}
