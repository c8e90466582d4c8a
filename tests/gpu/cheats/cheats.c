/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to look fast or right, on one honest operation (MATMUL of ../plugin.h): each is a kernel
 * that its own guard has to catch, expected.tsv says which. `patient` ones behave for their first
 * PATIENCE launches, longer than a check takes, since a cheat that the check before the timing
 * sees is not a test of the guards around the timing. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "../plugin.h"

#ifndef __CUDACC__
#include <pthread.h>
#include <time.h>
#endif

enum { PATIENCE = 400, SETS = 4096, SAVED_FLOATS = 1 << 24, GROUP = 64 };

/* X(name, what it does) */
/* clang-format off */
#define CHEATS(X)                                                                                  \
    X(honest)             /* the baseline, also in a library of its own */                         \
    X(writes_nothing)                                                                              \
    X(writes_half)        /* the upper half of the rows */                                         \
    X(writes_constant)    /* zeros: right where the data are zeros */                              \
    X(low_precision)      /* products of bf16 where f32 was declared */                            \
    X(listed_shapes)      /* right where the extents are multiples of 16 */                        \
    X(known_values)       /* clips at 3.5, which the usual random numbers do not reach */          \
    X(cached_by_pointer)  /* the first result for these pointers, again and again */               \
    X(replays_later)      /* the same, patient */                                                  \
    X(stops_working)      /* patient, then leaves what stands in out */                            \
    X(prepared)           /* computes in prepare(), which is not timed; launch() copies */         \
    X(all_sets_at_once)   /* patient, then one launch computes what the next ones are for: right */       \
    X(works_later)        /* patient, then on another stream or thread, after it has returned */   \
    X(persisting_window)  /* GPU: keeps its inputs in the part of the L2 that is set aside */      \
    X(shared_leftovers)   /* GPU: takes up what the last launch left in shared memory */
/* clang-format on */

enum {
#define CHEAT_ENUM(name) CHEAT_##name,
    CHEATS(CHEAT_ENUM)
#undef CHEAT_ENUM
        CHEAT_COUNT
};

PLUGIN_BOTH float clipped(float value)
{
    return fminf(fmaxf(value, -3.5F), 3.5F);
}

PLUGIN_BOTH bool plugin_element(const plugin_problem *p, int64_t row, int64_t column, float *out)
{
    int64_t i;

    *out = 0;
    switch (p->variant) {
    case CHEAT_writes_half:
        *out = plugin_right(p, row, column);
        return row < p->m / 2;
    case CHEAT_writes_constant:
        return true;
    case CHEAT_low_precision:
        for (i = 0; i < p->k; i++)
            *out += plugin_round(plugin_a(p, row, i), 8) * plugin_round(plugin_b(p, i, column), 8);
        return true;
    case CHEAT_listed_shapes:
        if (row < p->m / 16 * 16 && column < p->n / 16 * 16)
            *out = plugin_right(p, row, column);
        return true;
    case CHEAT_known_values:
        for (i = 0; i < p->k; i++)
            *out += clipped(plugin_a(p, row, i)) * clipped(plugin_b(p, i, column));
        return true;
    default:
        *out = plugin_right(p, row, column);
        return true;
    }
}

/* -- what is kept between launches ------------------------------------------------------------- */

typedef struct seen_set {
    plugin_problem p;
    unsigned launches;
    float *saved; /* of the first of them that was saved */
    bool has_saved;
} seen_set;

static seen_set sets[CHEAT_COUNT][SETS];
static size_t set_counts[CHEAT_COUNT];
static unsigned launches[CHEAT_COUNT];

#ifdef __CUDACC__
static __device__ float saved_memory[SAVED_FLOATS];
#else
static float saved_memory[SAVED_FLOATS];
#endif
static int64_t saved_count;

static float *take_memory(int64_t count)
{
    float *base = saved_memory;

    if (count > SAVED_FLOATS - saved_count)
        return NULL;
#ifdef __CUDACC__
    cudaGetSymbolAddress(reinterpret_cast<void **>(&base), saved_memory);
#endif
    saved_count += count;
    return base + saved_count - count;
}

static bool is_same(const plugin_problem *a, const plugin_problem *b)
{
    return a->a == b->a && a->b == b->b && a->out == b->out && a->m == b->m && a->n == b->n &&
           a->k == b->k && a->out_row == b->out_row;
}

/* Newest first: buffers of placements that are gone do not come again. NULL: no place left. */
static seen_set *find_set(const plugin_problem *p)
{
    seen_set *const list = sets[p->variant];
    size_t *const count = &set_counts[p->variant];
    size_t i;

    for (i = *count; i > 0; i--)
        if (is_same(&list[i - 1].p, p))
            return &list[i - 1];
    if (*count == SETS)
        return NULL;
    list[*count].p = *p;
    return &list[(*count)++];
}

static int64_t out_floats(const plugin_problem *p)
{
    return p->m > 0 ? (p->m - 1) * p->out_row + p->n : 0;
}

/* From launch number `from` on: the result that was saved, without computing it. */
static ridge_status replay(const plugin_problem *p, seen_set *set, unsigned from,
                           struct CUstream_st *stream, ridge_error *err)
{
    ridge_status status;

    if (set->has_saved && launches[p->variant] > from)
        return plugin_copy(p->out, set->saved, out_floats(p), stream, err);
    status = plugin_run(p, stream, err);
    if (set->saved == NULL)
        set->saved = take_memory(out_floats(p));
    if (status != RIDGE_OK || set->saved == NULL)
        return status;
    set->has_saved = true;
    return plugin_copy(set->saved, p->out, out_floats(p), stream, err);
}

/* -- all at once ------------------------------------------------------------------------------- */

/* Sets that were made together are launched on in turn: the first launch of a round computes them
 * all, with what they hold then, and the rest of the round has nothing to do. */
typedef struct group {
    plugin_problem p[GROUP];
    bool is_done[GROUP];
    int count;
} group;

static group live;
static bool is_growing;

/* prepare() tells the sets of a placement, one after the other. */
static void join_group(const plugin_problem *p)
{
    if (!is_growing)
        live.count = 0;
    is_growing = true;
    if (live.count == GROUP)
        return;
    live.p[live.count] = *p;
    live.is_done[live.count++] = false;
}

static int place_in_group(const plugin_problem *p)
{
    int i;

    for (i = 0; i < live.count; i++)
        if (is_same(&live.p[i], p))
            return i;
    return -1;
}

#ifdef __CUDACC__
typedef struct group_problems {
    plugin_problem p[GROUP];
} group_problems;

static __global__ void group_kernel(const __grid_constant__ group_problems all)
{
    const plugin_problem *const p = &all.p[blockIdx.y];
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (index < p->m * p->n)
        plugin_write(p, index);
}

static ridge_status run_group(struct CUstream_st *stream, ridge_error *err)
{
    const dim3 grid(static_cast<unsigned>((live.p[0].m * live.p[0].n + 127) / 128),
                    static_cast<unsigned>(live.count));
    group_problems all;

    memcpy(all.p, live.p, sizeof(all.p));
    group_kernel<<<grid, 128, 0, stream>>>(all);
    return plugin_launched(err);
}
#else
static ridge_status run_group(struct CUstream_st *stream, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    for (i = 0; i < live.count && status == RIDGE_OK; i++)
        status = plugin_run(&live.p[i], stream, err);
    return status;
}
#endif

static ridge_status run_all(const plugin_problem *p, bool is_patient, struct CUstream_st *stream,
                            ridge_error *err)
{
    const int place = place_in_group(p);
    int i;

    is_growing = false;
    if (is_patient || place < 0)
        return plugin_run(p, stream, err);
    if (live.is_done[place]) {
        live.is_done[place] = false;
        return RIDGE_OK;
    }
    for (i = 0; i < live.count; i++)
        live.is_done[i] = i != place;
    return run_group(stream, err);
}

/* -- elsewhere --------------------------------------------------------------------------------- */

#ifdef __CUDACC__
/* Launches an empty kernel where it is timed, and works behind it on a stream of its own. */
static ridge_status run_later(const plugin_problem *p, struct CUstream_st *stream, ridge_error *err)
{
    static cudaStream_t own;
    static cudaEvent_t behind;

    if (own == NULL) {
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&behind, cudaEventDisableTiming);
    }
    plugin_copy_kernel<<<1, 128, 0, stream>>>(p->out, p->out, 0);
    cudaEventRecord(behind, stream);
    cudaStreamWaitEvent(own, behind, 0);
    return plugin_run(p, own, err);
}

static void wait_for_later(void)
{
}

/* Not in launch(), which is captured: the window is of the stream. */
static ridge_status set_window(const plugin_problem *p, struct CUstream_st *stream,
                               ridge_error *err)
{
    cudaStreamAttrValue window = {};

    window.accessPolicyWindow.base_ptr = const_cast<float *>(p->b);
    window.accessPolicyWindow.num_bytes = static_cast<size_t>(p->k * p->b_row) * sizeof(float);
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20) != cudaSuccess ||
        cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window) !=
            cudaSuccess)
        return plugin_fail(err, RIDGE_ERR_UNSUPPORTED, "no persisting window");
    return RIDGE_OK;
}

/* Shared memory is not cleared between launches: a block that finds the key of its elements takes
 * the values that stand behind it. */
static __global__ void leftovers_kernel(plugin_problem p)
{
    extern __shared__ unsigned long long left[];
    float *const values = reinterpret_cast<float *>(left + 2);
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const unsigned long long key =
        reinterpret_cast<unsigned long long>(p.out) ^ 0x5A5A5A5A5A5A5A5AULL;
    const bool is_left = left[0] == key && left[1] == blockIdx.x;

    __syncthreads();
    if (!is_left && index < p.m * p.n)
        values[threadIdx.x] = plugin_right(&p, index / p.n, index % p.n);
    if (index < p.m * p.n)
        p.out[index / p.n * p.out_row + index % p.n * p.out_column] = values[threadIdx.x];
    if (threadIdx.x == 0) {
        left[0] = key;
        left[1] = blockIdx.x;
    }
}

static ridge_status run_leftovers(const plugin_problem *p, struct CUstream_st *stream,
                                  ridge_error *err)
{
    const unsigned blocks = static_cast<unsigned>((p->m * p->n + 127) / 128);

    if (blocks > 0)
        leftovers_kernel<<<blocks, 128, 16 + 128 * sizeof(float), stream>>>(*p);
    return plugin_launched(err);
}
#else
static pthread_t worker;
static plugin_problem later;
static bool is_working;

static void *work(void *unused)
{
    const struct timespec pause = {0, 300000};

    (void)unused;
    nanosleep(&pause, NULL);
    plugin_run(&later, NULL, NULL);
    return NULL;
}

static void wait_for_later(void)
{
    if (is_working)
        pthread_join(worker, NULL);
    is_working = false;
}

/* One launch at a time is late. Like a sum that is added up in place, out is cleared first. */
static ridge_status run_later(const plugin_problem *p, struct CUstream_st *stream, ridge_error *err)
{
    int64_t row;

    (void)stream;
    wait_for_later();
    for (row = 0; row < p->m; row++)
        memset(p->out + row * p->out_row, 0, (size_t)p->n * sizeof(float));
    later = *p;
    is_working = pthread_create(&worker, NULL, work, NULL) == 0;
    return is_working ? RIDGE_OK : plugin_run(p, NULL, err);
}

static ridge_status set_window(const plugin_problem *p, struct CUstream_st *stream,
                               ridge_error *err)
{
    (void)p;
    (void)stream;
    return plugin_fail(err, RIDGE_ERR_UNSUPPORTED, "a cheat for GPUs");
}

static ridge_status run_leftovers(const plugin_problem *p, struct CUstream_st *stream,
                                  ridge_error *err)
{
    return set_window(p, stream, err);
}
#endif

/* -- kernels ----------------------------------------------------------------------------------- */

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    const plugin_problem p = plugin_problem_of(self, view);
    seen_set *set;

    (void)at;
    *state = NULL;
    if (p.variant == CHEAT_persisting_window)
        return set_window(&p, stream, err);
    if (p.variant == CHEAT_all_sets_at_once)
        join_group(&p);
    if (p.variant != CHEAT_prepared)
        return RIDGE_OK;
    set = find_set(&p);
    if (set != NULL && set->saved == NULL)
        set->saved = take_memory(out_floats(&p));
    if (set == NULL || set->saved == NULL)
        return plugin_fail(err, RIDGE_ERR_UNSUPPORTED, "no place for another result");
    set->has_saved = true;
    *state = set;
    {
        plugin_problem elsewhere = p;

        elsewhere.out = set->saved;
        return plugin_run(&elsewhere, stream, err);
    }
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const plugin_problem p = plugin_problem_of(self, view);
    seen_set *const set = find_set(&p);

    (void)at;
    launches[p.variant]++;
    if (set == NULL)
        return plugin_run(&p, stream, err);
    set->launches++;
    switch (p.variant) {
    case CHEAT_writes_nothing:
        return RIDGE_OK;
    case CHEAT_cached_by_pointer:
        return replay(&p, set, 0, stream, err);
    case CHEAT_replays_later:
        return replay(&p, set, PATIENCE, stream, err);
    case CHEAT_stops_working:
        return launches[p.variant] > PATIENCE && set->launches > 1 ? RIDGE_OK
                                                                   : plugin_run(&p, stream, err);
    case CHEAT_prepared:
        return plugin_copy(p.out, ((const seen_set *)state)->saved, out_floats(&p), stream, err);
    case CHEAT_all_sets_at_once:
        return run_all(&p, launches[p.variant] <= PATIENCE, stream, err);
    case CHEAT_works_later:
        return launches[p.variant] > PATIENCE ? run_later(&p, stream, err)
                                              : plugin_run(&p, stream, err);
    case CHEAT_shared_leftovers:
        return run_leftovers(&p, stream, err);
    default:
        return plugin_run(&p, stream, err);
    }
}

static void finish(const ridge_kernel *self, void *state)
{
    (void)self;
    (void)state;
    wait_for_later();
}

/* With ONLY_HONEST a library of its own, since code is told apart by library. */
#ifdef ONLY_HONEST
enum { KERNELS = 1 };
#else
enum { KERNELS = CHEAT_COUNT };
#endif

const ridge_kernel *ridge_plugin(int abi, size_t index)
{
    static plugin_row rows[] = {
#define CHEAT_ROW(name) {#name, PLUGIN_MATMUL, CHEAT_##name},
        CHEATS(CHEAT_ROW)
#undef CHEAT_ROW
    };

    return plugin_kernel_at(abi, index, rows, KERNELS, launch, prepare, finish);
}
