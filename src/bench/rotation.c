/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotation sets and placements. Launches cycle through copies of the buffers that are together more
 * than three times the last-level cache, so each launch finds its inputs cold and pays for one
 * launch's worth of dirty lines. A memset between launches instead charges its write-back to the
 * kernel: +14 ... +31 % for read-only kernels of 4 ... 256 MiB, measured on an H200
 * (docs/decisions/0005-measuring-loop.md).
 *
 * All sets of a placement are one allocation, with random gaps between buffers. The next placement
 * is allocated while the last one still lives and behind a random gap, so that addresses do
 * change: eight placements of one process differ by 3.8 % for a copy of 16 MiB. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "bench_internal.h"

enum { PAD_STEPS = 256, PAD_BYTES = 256, GAP_STEPS = 32, SETS_DISTINCT = 4 };
static const size_t GAP_BYTES_GPU = (size_t)2 << 20, GAP_BYTES_CPU = 4096;

int bench_rotation_sets(double footprint_bytes, double l2_bytes, size_t set_bytes,
                        size_t most_bytes)
{
    const double wanted =
        footprint_bytes > 0 ? ceil(3 * l2_bytes / footprint_bytes) + 1 : BENCH_SETS;
    const size_t fitting = set_bytes > 0 ? most_bytes / set_bytes : BENCH_SETS;
    int sets = wanted < BENCH_SETS ? (int)wanted : BENCH_SETS;

    if (fitting < (size_t)sets)
        sets = (int)fitting;
    return sets > 2 ? sets : 2;
}

/* -- contents ---------------------------------------------------------------------------------- */

/* By the place in the arm's list, so that arms that share nothing get the same values. */
static uint64_t seed_of(uint64_t seed, const bench_slab *slab)
{
    bench_chance chance = {seed ^ ((uint64_t)(slab->owner_index + 1) << 56)};

    return bench_chance_next(&chance);
}

static void *address_in(const bench_run *run, const bench_placement *placement, int set, int slab)
{
    return placement->addresses[(size_t)set * (size_t)run->buffers.slab_count + (size_t)slab];
}

static void *address_of(const bench_run *run, int set, int slab)
{
    return address_in(run, &run->placement, set, slab);
}

static void *least_address(const bench_slab *slab, void *data)
{
    return (unsigned char *)data -
           (size_t)ridge_buffer_origin(&slab->desc) * ridge_dtype_bytes(slab->desc.dtype);
}

void *bench_slab_memory(const bench_run *run, int set, int slab)
{
    return least_address(&run->buffers.slabs[slab], address_of(run, set, slab));
}

/* By the kernel's own fill(): RIDGE_ERR_UNSUPPORTED leaves it to the harness. */
static ridge_status fill_by_kernel(bench_run *run, const bench_slab *slab, void *data,
                                   uint64_t seed, ridge_error *err)
{
    const ridge_kernel *const kernel = run->arms[slab->owner].kernel;
    const int64_t count = ridge_buffer_elements(&slab->desc);
    const int64_t origin = ridge_buffer_origin(&slab->desc);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    double *elements = NULL;
    unsigned char *image = NULL;
    int64_t i;

    elements = ridge_calloc((size_t)count, sizeof(*elements));
    image = ridge_calloc(1, slab->span_bytes);
    if (elements == NULL || image == NULL) {
        ridge_fail(err, status, "out of memory for the contents of buffer %s", slab->desc.name);
        goto out;
    }
    status = kernel->fill(kernel, &run->at, slab->owner_index, elements, seed, err);
    if (status != RIDGE_OK)
        goto out;
    for (i = 0; i < count; i++)
        ridge_dtype_store(slab->desc.dtype, image, origin + ridge_buffer_offset(&slab->desc, i),
                          elements[i]);
    status =
        ridge_device_upload(run->device, least_address(slab, data), image, slab->span_bytes, err);
out:
    ridge_free(image);
    ridge_free(elements);
    return status;
}

static ridge_status fill_slab(bench_run *run, int set, int index, uint64_t seed, ridge_error *err)
{
    const bench_slab *const slab = &run->buffers.slabs[index];
    void *const data = address_of(run, set, index);
    ridge_status status = RIDGE_ERR_UNSUPPORTED;

    if ((slab->role != RIDGE_ROLE_IN && slab->role != RIDGE_ROLE_INOUT) || slab->span_bytes == 0)
        return RIDGE_OK;
    seed = seed_of(seed, slab);
    if (run->arms[slab->owner].kernel->fill != NULL)
        status = fill_by_kernel(run, slab, data, seed, err);
    if (status == RIDGE_ERR_UNSUPPORTED)
        status = ridge_device_fill(run->device, run->stream, &slab->desc,
                                   slab->desc.has_values ? slab->desc.values : run->at.values, data,
                                   seed, err);
    return status;
}

ridge_status bench_set_fill(bench_run *run, int set, uint64_t seed, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    run->placement.seeds[set] = seed;
    for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++)
        status = fill_slab(run, set, i, seed, err);
    return status;
}

/* What set from of another placement holds. */
static ridge_status copy_set(bench_run *run, bench_placement *to, int set,
                             const bench_placement *from, int from_set, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    to->seeds[set] = from->seeds[from_set];
    for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++) {
        const bench_slab *const slab = &run->buffers.slabs[i];

        if (slab->role == RIDGE_ROLE_IN || slab->role == RIDGE_ROLE_INOUT)
            status = ridge_device_copy(
                run->device, run->stream, least_address(slab, address_in(run, to, set, i)),
                least_address(slab, address_in(run, from, from_set, i)), slab->span_bytes, err);
    }
    return status;
}

/* Contents of a new placement. Where they are made by the host, which is slow, they are taken from
 * the placement before, and at first only some sets differ. */
static ridge_status fill_sets(bench_run *run, const bench_placement *before, ridge_error *err)
{
    const bool is_slow = !run->is_gpu || run->arms[0].kernel->fill != NULL ||
                         (run->arm_count > 1 && run->arms[1].kernel->fill != NULL);
    ridge_status status = RIDGE_OK;
    int set;

    for (set = 0; set < run->rotation && status == RIDGE_OK; set++) {
        if (is_slow && before->arena != NULL)
            status = copy_set(run, &run->placement, set, before, set, err);
        else if (is_slow && set >= SETS_DISTINCT)
            status = copy_set(run, &run->placement, set, &run->placement, set % SETS_DISTINCT, err);
        else
            status = bench_set_fill(run, set, bench_chance_next(&run->chance), err);
    }
    return status == RIDGE_OK ? ridge_stream_synchronize(run->stream, err) : status;
}

ridge_status bench_sets_restore(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int set, i;

    if (!run->buffers.has_inout)
        return RIDGE_OK;
    for (set = 0; set < run->rotation; set++)
        for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++)
            if (run->buffers.slabs[i].role == RIDGE_ROLE_INOUT)
                status = fill_slab(run, set, i, run->placement.seeds[set], err);
    return status;
}

/* Ones in every bit: a NaN in every floating-point type, -1 or the greatest integer. */
ridge_status bench_set_poison(bench_run *run, int arm, int set, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++) {
        const bench_slab *const slab = &run->buffers.slabs[i];

        if (slab->role == RIDGE_ROLE_OUT && (slab->arms & 1u << arm) != 0)
            status =
                ridge_device_set_words(run->device, run->stream, bench_slab_memory(run, set, i),
                                       slab->span_bytes, UINT32_MAX, err);
    }
    return status;
}

/* -- launches ---------------------------------------------------------------------------------- */

static ridge_view view_of(const bench_run *run, int arm, int set)
{
    const bench_arm_buffers *const own = &run->buffers.arms[arm];

    return (ridge_view){.data = &run->placement.pointers[arm][(size_t)set * own->count],
                        .buffers = own->descs,
                        .count = own->count,
                        .device = run->device};
}

ridge_status bench_launch(bench_run *run, int arm, int set, ridge_error *err)
{
    const ridge_kernel *const kernel = run->arms[arm].kernel;
    const ridge_view view = view_of(run, arm, set);
    ridge_error cause;
    ridge_status status;

    cause.text[0] = '\0';
    status = kernel->launch(kernel, &run->at, &view, run->placement.states[arm][set],
                            ridge_stream_native(run->stream), &cause);
    return status == RIDGE_OK ? status : bench_arm_failed(run, arm, "launch", status, &cause, err);
}

/* -- placements -------------------------------------------------------------------------------- */

void bench_placement_release(bench_run *run, bench_placement *placement)
{
    int arm, set;

    for (arm = 0; arm < run->arm_count; arm++) {
        ridge_graph_free(placement->graphs[arm]);
        for (set = 0; set < placement->prepared[arm]; set++)
            ridge_kernel_finish(run->arms[arm].kernel, placement->states[arm][set]);
        ridge_free(placement->states[arm]);
        ridge_free(placement->pointers[arm]);
    }
    ridge_free(placement->seeds);
    ridge_free(placement->addresses);
    ridge_device_release(run->device, placement->arena);
    memset(placement, 0, sizeof(*placement));
}

/* Addresses of every buffer of every set in the arena. Whose buffers come first is drawn. */
static void lay_sets(bench_run *run, bench_placement *placement)
{
    const size_t slabs = (size_t)run->buffers.slab_count;
    unsigned char *next = placement->arena;
    size_t i;
    int set, arm, pass;

    for (set = 0; set < run->rotation; set++) {
        const unsigned backwards = bench_chance_below(&run->chance, 2);

        for (pass = 0; pass < run->buffers.slab_count; pass++) {
            const int index = backwards != 0 ? run->buffers.slab_count - 1 - pass : pass;
            const bench_slab *const slab = &run->buffers.slabs[index];
            const size_t size = (slab->span_bytes + PAD_BYTES - 1) / PAD_BYTES * PAD_BYTES;

            next += (size_t)bench_chance_below(&run->chance, PAD_STEPS) * PAD_BYTES;
            placement->addresses[(size_t)set * slabs + (size_t)index] =
                next +
                (size_t)ridge_buffer_origin(&slab->desc) * ridge_dtype_bytes(slab->desc.dtype);
            next += size;
        }
        for (arm = 0; arm < run->arm_count; arm++) {
            const bench_arm_buffers *const own = &run->buffers.arms[arm];

            for (i = 0; i < own->count; i++)
                placement->pointers[arm][(size_t)set * own->count + i] =
                    placement->addresses[(size_t)set * slabs + (size_t)own->slab[i]];
        }
    }
    placement->address_hash = ridge_hash64(
        placement->addresses, (size_t)run->rotation * slabs * sizeof(placement->addresses[0]));
}

static ridge_status allocate(bench_run *run, bench_placement *placement, ridge_error *err)
{
    const size_t sets = (size_t)run->rotation;
    bool is_whole = true;
    int arm;

    placement->addresses = ridge_calloc(sets * (size_t)run->buffers.slab_count + 1, sizeof(void *));
    placement->seeds = ridge_calloc(sets, sizeof(uint64_t));
    is_whole = placement->addresses != NULL && placement->seeds != NULL;
    for (arm = 0; arm < run->arm_count; arm++) {
        placement->pointers[arm] =
            ridge_calloc(sets * run->buffers.arms[arm].count + 1, sizeof(void *));
        placement->states[arm] = ridge_calloc(sets, sizeof(void *));
        is_whole = is_whole && placement->pointers[arm] != NULL && placement->states[arm] != NULL;
    }
    if (!is_whole)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu rotation sets",
                          sets);
    return ridge_device_alloc(run->device, sets * run->buffers.set_bytes, &placement->arena, err);
}

static ridge_status prepare(bench_run *run, int arm, ridge_error *err)
{
    bench_placement *const placement = &run->placement;
    const double begin_s = bench_now_s();
    ridge_status status = RIDGE_OK;
    int set;

    for (set = 0; set < run->rotation && status == RIDGE_OK; set++) {
        const ridge_view view = view_of(run, arm, set);
        ridge_error cause = {0};

        status = ridge_kernel_prepare(run->arms[arm].kernel, &run->at, &view,
                                      &placement->states[arm][set],
                                      ridge_stream_native(run->stream), &cause);
        if (status == RIDGE_OK)
            placement->prepared[arm]++;
        else
            bench_arm_failed(run, arm, "prepare", status, &cause, err);
    }
    if (run->arms[arm].kernel->prepare != NULL)
        run->arms[arm].prepare_ns = (bench_now_s() - begin_s) * 1e9 / run->rotation;
    return status;
}

ridge_status bench_placement_renew(bench_run *run, ridge_error *err)
{
    const size_t step = run->is_gpu ? GAP_BYTES_GPU : GAP_BYTES_CPU;
    bench_placement next = {0}, before;
    ridge_status status;
    void *gap = NULL;
    int i;

    /* A gap that does not fit is none. */
    (void)ridge_device_alloc(
        run->device, (1 + (size_t)bench_chance_below(&run->chance, GAP_STEPS)) * step, &gap, NULL);
    status = allocate(run, &next, err);
    if (status == RIDGE_ERR_OUT_OF_MEMORY && run->placement.arena != NULL) {
        /* Two do not fit side by side. */
        bench_placement_release(run, &next);
        bench_placement_release(run, &run->placement);
        status = allocate(run, &next, err);
    }
    ridge_device_release(run->device, gap);
    if (status != RIDGE_OK) {
        bench_placement_release(run, &next);
        return status;
    }
    before = run->placement;
    run->placement = next;
    lay_sets(run, &run->placement);
    status = fill_sets(run, &before, err);
    bench_placement_release(run, &before);
    for (i = 0; i < run->arm_count && status == RIDGE_OK; i++)
        status = prepare(run, i, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(run->stream, err);
    return status;
}
