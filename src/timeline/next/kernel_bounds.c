/* SPDX-License-Identifier: Apache-2.0
 *
 * Least times of the kernels of a trace. A line of the user's comes first; else the shapes of the
 * innermost operation around the launch, where one kernel does the operation's work: the only one
 * that it launched, or the main one of a product beside kernels that only reduce or prepare. What
 * kernels of one name do together (a list in parts) is shared out by their times: sums over a name
 * are what is told. */
#include "timeline/next/next_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum {
    OPERATIONS = 1 << RIDGE_RANGE_OP,
    BASE_BYTES = 1024,
    FLOOR_MOST_NS = 800,
    KNOWN_SLOTS = 4096
};

/* What an instance of an operation launched. */
typedef struct instance {
    uint32_t kernel_count;
    uint32_t main_count; /* those that are no helpers of a product */
    uint32_t name;       /* of the first */
    bool is_mixed;       /* others have another one */
    double total_ns;
} instance;

/* The work of a kernel by its operation, shapes and name: the same again and again. */
typedef struct known_work {
    uint32_t operation, shapes, kernel;
    bool is_set;
    kernel_scope scope;
    ridge_work work;
} known_work;

/* What the kernels of all devices were launched in. */
typedef struct kernel_launches {
    uint32_t *range_of; /* of each call */
    instance *instances;
    uint8_t *helpers; /* by name: 0 not looked at yet, 1 no, 2 yes */
    double *given_ns; /* by name: NAN none, -1 not looked at yet; between plans all are -1 */
    known_work *known;
} kernel_launches;

typedef struct bounds_work {
    const ridge_trace *trace;
    const ridge_trace_op *ops;
    const ridge_trace_api *apis;
    const ridge_trace_range *ranges;
    size_t op_count, range_count;
    uint32_t device;
    const ridge_trace_window *window;
    const ridge_roofs *roofs;
    double floor_ns; /* no kernel is faster */
    kernel_launches *launches;
} bounds_work;

static bool is_wanted(const bounds_work *work, const ridge_trace_op *op)
{
    return op->kind == RIDGE_OP_KERNEL && (op->flags & RIDGE_OP_COLLECTIVE) == 0 &&
           sum_on_device(work->trace, op, work->device) &&
           sum_in_window(work->window, sum_launch_ns(op, work->apis));
}

/* Joins the parts of a product (split k) or an attention (split keys), prepares it, or adds a bias
 * behind it (cuBLASLt's epilogue::impl::globalKernel). */
static bool is_helper(bounds_work *work, uint32_t name)
{
    static const char *const words[] = {
        "reduce",        "reduction",  "splitk",    "offset",       "memset",
        "gemm_pointers", "combine",    "dot_do_o",  "globalkernel", "convert_dq",
        "convert_dkv",   "nchwtonhwc", "nhwctonchw"};
    uint8_t *const known = &work->launches->helpers[name];
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
    return work->launches->range_of[op->api];
}

static void add_kernel(bounds_work *work, instance *to, const ridge_trace_op *op)
{
    if (to->kernel_count++ == 0)
        to->name = op->name;
    to->is_mixed |= to->name != op->name;
    to->main_count += !is_helper(work, op->name);
    to->total_ns += (double)sum_span_ns(op->start_ns, op->end_ns);
}

static void count_kernels(bounds_work *work)
{
    for (size_t i = 0; i < work->op_count; i++) {
        const uint32_t range =
            work->ops[i].kind == RIDGE_OP_KERNEL ? range_of(work, &work->ops[i]) : RIDGE_TRACE_NONE;

        if (range == RIDGE_TRACE_NONE)
            continue;
        add_kernel(work, &work->launches->instances[range], &work->ops[i]);
    }
}

/* What an empty kernel takes, where roofs do not say: a bound of a few bytes would be nanoseconds. The
 * shortest kernel of the trace is no empty one, so that it stands for it only up to what was seen of
 * the shortest ones (832 ns, in a decoder's step on an H200, by CUPTI). */
static double find_floor(const bounds_work *work, const trace_op_list *own)
{
    int64_t least = INT64_MAX;

    if (work->roofs->launch_s > 0)
        return work->roofs->launch_s * 1e9;
    for (size_t i = 0; i < own->count; i++) {
        const ridge_trace_op *const op = &work->ops[trace_op_at(own, i)];
        const int64_t ns = sum_span_ns(op->start_ns, op->end_ns);

        if (op->kind == RIDGE_OP_KERNEL && ns > 0 && ns < least &&
            sum_on_device(work->trace, op, work->device))
            least = ns;
    }
    return least < FLOOR_MOST_NS ? (double)least : FLOOR_MOST_NS;
}

/* NAN also where it is no time that a trace could hold: sizes that a file makes up. */
static double least_ns(const bounds_work *work, const ridge_work *of, double share)
{
    ridge_bound bound;
    double time_ns;

    ridge_bound_of(of, work->roofs, &bound);
    time_ns = bound.by != RIDGE_BOUND_BY_NOTHING ? bound.time_s * 1e9 * share : NAN;
    return time_ns > 0 && time_ns < (double)INT64_MAX ? fmax(time_ns, work->floor_ns) : NAN;
}

static double from_line(bounds_work *work, const ridge_given_bounds *given, uint32_t name)
{
    double *const known = &work->launches->given_ns[name];
    char base[BASE_BYTES];

    if (*known < 0) {
        const char *const text = ridge_trace_name(work->trace, name, NULL);
        const ridge_work *const of =
            given_bounds_find(given, text, ridge_kernel_base_name(text, base, sizeof(base)));

        *known = of != NULL ? least_ns(work, of, 1) : NAN;
    }
    return *known;
}

static const known_work *know_work(bounds_work *work, const ridge_trace_range *operation,
                                   uint32_t kernel)
{
    known_work *const known =
        &work->launches
             ->known[(operation->name * 31u ^ operation->shapes * 37u ^ kernel) % KNOWN_SLOTS];

    if (!known->is_set || known->operation != operation->name ||
        known->shapes != operation->shapes || known->kernel != kernel) {
        const char *const name = ridge_trace_name(work->trace, operation->name, NULL);
        const char *const text = ridge_trace_name(work->trace, kernel, NULL);

        *known = (known_work){operation->name, operation->shapes, kernel, .is_set = true};
        known->scope = kernel_scope_of(name, text);
        if (known->scope != KERNEL_SCOPE_NONE &&
            !kernel_work_of(name, ridge_trace_name(work->trace, operation->shapes, NULL), text,
                            &known->work))
            known->scope = KERNEL_SCOPE_NONE;
    }
    return known;
}

static double from_shapes(bounds_work *work, const ridge_trace_op *op, uint32_t range)
{
    const instance *const of = &work->launches->instances[range];
    const known_work *known;
    ridge_work least;

    if (work->ranges[range].shapes == 0)
        return NAN;
    known = know_work(work, &work->ranges[range], op->name);
    if (known->scope == KERNEL_SCOPE_NONE)
        return NAN;
    least = known->work;
    if (of->kernel_count == 1 || known->scope == KERNEL_SCOPE_OWN)
        return least_ns(work, &least, 1);
    if (!of->is_mixed && of->total_ns > 0)
        return least_ns(work, &least, (double)sum_span_ns(op->start_ns, op->end_ns) / of->total_ns);
    if (known->scope != KERNEL_SCOPE_MAIN || of->main_count != 1 || is_helper(work, op->name))
        return NAN;
    least.written_bytes = 0; /* a helper may write the result */
    return least_ns(work, &least, 1);
}

static bool has_shapes(next_common *common, const bounds_work *work)
{
    if (common->has_shapes != NEXT_NOT_LOOKED)
        return common->has_shapes == NEXT_YES;
    common->has_shapes = NEXT_NO;
    for (size_t i = 0; i < work->range_count; i++)
        if (work->ranges[i].kind == RIDGE_RANGE_OP && work->ranges[i].shapes != 0) {
            common->has_shapes = NEXT_YES;
            return true;
        }
    return false;
}

static bool allocate_launches(bounds_work *work)
{
    const size_t name_count = ridge_trace_name_count(work->trace);
    kernel_launches *const of = work->launches;

    of->instances = ridge_calloc(work->range_count + 1, sizeof(*of->instances));
    of->helpers = ridge_calloc(name_count + 1, sizeof(*of->helpers));
    of->given_ns = ridge_calloc(name_count + 1, sizeof(*of->given_ns));
    of->known = ridge_calloc(KNOWN_SLOTS, sizeof(*of->known));
    of->range_of = sum_innermost(work->trace, OPERATIONS, NULL);
    if (of->given_ns == NULL)
        return false;
    for (size_t i = 0; i <= name_count; i++)
        of->given_ns[i] = -1;
    return of->instances != NULL && of->helpers != NULL && of->known != NULL &&
           of->range_of != NULL;
}

/* Those of the trace, made for the first device that asks. */
static bool take_launches(bounds_work *work, next_common *common)
{
    work->launches = common->launches;
    if (work->launches != NULL)
        return true;
    work->launches = ridge_calloc(1, sizeof(*work->launches));
    if (work->launches == NULL || !allocate_launches(work)) {
        kernel_launches_free(work->launches);
        return false;
    }
    count_kernels(work);
    common->launches = work->launches;
    return true;
}

void kernel_launches_free(kernel_launches *launches)
{
    if (launches == NULL)
        return;
    ridge_free(launches->instances);
    ridge_free(launches->helpers);
    ridge_free(launches->given_ns);
    ridge_free(launches->known);
    ridge_free(launches->range_of);
    ridge_free(launches);
}

static void find_least(bounds_work *work, const ridge_given_bounds *given, kernel_bounds *bounds)
{
    for (size_t i = 0; i < bounds->own.count; i++) {
        const ridge_trace_op *const op = &work->ops[trace_op_at(&bounds->own, i)];
        const uint32_t range = range_of(work, op);

        bounds->least_ns[i] = NAN;
        bounds->sources[i] = BOUND_GIVEN;
        if (!is_wanted(work, op))
            continue;
        bounds->least_ns[i] = from_line(work, given, op->name);
        if (isnan(bounds->least_ns[i]) && range != RIDGE_TRACE_NONE) {
            bounds->least_ns[i] = from_shapes(work, op, range);
            bounds->sources[i] = range;
        }
    }
}

ridge_status kernel_bounds_init(kernel_bounds *bounds, next_common *common, uint32_t device,
                                const ridge_trace_window *window, const ridge_roofs *roofs,
                                const ridge_given_bounds *given, ridge_error *err)
{
    const ridge_trace *const trace = common->trace;
    bounds_work work = {.trace = trace, .device = device, .window = window, .roofs = roofs};
    size_t api_count;

    *bounds = (kernel_bounds){.own = trace_ops_of(trace, device)};
    work.ops = ridge_trace_ops(trace, &work.op_count);
    work.apis = ridge_trace_apis(trace, &api_count);
    work.ranges = ridge_trace_ranges(trace, &work.range_count);
    if (given == NULL && !has_shapes(common, &work)) /* nothing has a least time */
        return RIDGE_OK;
    bounds->least_ns = ridge_calloc(bounds->own.count + 1, sizeof(*bounds->least_ns));
    bounds->sources = ridge_calloc(bounds->own.count + 1, sizeof(*bounds->sources));
    if (bounds->least_ns == NULL || bounds->sources == NULL || !take_launches(&work, common)) {
        kernel_bounds_release(bounds);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    work.floor_ns = bounds->floor_ns = find_floor(&work, &bounds->own);
    find_least(&work, given, bounds);
    if (!common->is_kept) { /* what follows wants memory too */
        kernel_launches_free(common->launches);
        common->launches = NULL;
        return RIDGE_OK;
    }
    for (size_t i = 0; i < bounds->own.count; i++)
        work.launches->given_ns[work.ops[trace_op_at(&bounds->own, i)].name] = -1;
    return RIDGE_OK;
}

void kernel_bounds_release(kernel_bounds *bounds)
{
    ridge_free(bounds->least_ns);
    ridge_free(bounds->sources);
    *bounds = (kernel_bounds){0};
}
