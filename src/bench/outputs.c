/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs of timed launches. Before some slots one set, which the kernel cannot know, gets new
 * inputs and poisoned outputs; what the slot's launches leave there is set aside and compared after
 * the run with the reference, or a fresh launch of the baseline, on the same inputs. A kernel that remembers results by
 * address, works in the check only, or leaves outputs alone is caught by what it did while it was
 * timed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench_internal.h"

enum { COMPARED_MOST = 1 << 18, AGREEING_MOST = 1 << 26, HASHED_BYTES = 1 << 20 };

/* Share of the run's time that sampling may take. */
static const double SAMPLING_FRAC = 0.05;

static bool is_output(const bench_slab *slab, int arm)
{
    return (slab->role == RIDGE_ROLE_OUT || slab->role == RIDGE_ROLE_INOUT) &&
           (slab->arms & 1u << arm) != 0;
}

static size_t padded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static size_t output_bytes(const bench_run *run, int arm)
{
    size_t bytes = 0;
    int i;

    for (i = 0; i < run->buffers.slab_count; i++)
        if (is_output(&run->buffers.slabs[i], arm))
            bytes += padded(run->buffers.slabs[i].span_bytes);
    return bytes;
}

/* -- the shelf --------------------------------------------------------------------------------- */

ridge_status bench_shelf_open(bench_run *run, size_t most_bytes, ridge_error *err)
{
    bench_shelf *const shelf = &run->shelf;
    size_t fitting;
    int arm;

    shelf->chance.state = run->options.seed ^ 0x5851f42d4c957f2du;
    for (arm = 0; arm < run->arm_count; arm++) {
        const size_t bytes = output_bytes(run, arm);

        shelf->sample_bytes = bytes > shelf->sample_bytes ? bytes : shelf->sample_bytes;
    }
    if (shelf->sample_bytes == 0)
        return RIDGE_OK;
    fitting = most_bytes / shelf->sample_bytes / (size_t)run->arm_count;
    shelf->places = fitting < 1 + BENCH_SHELF ? (int)fitting : 1 + BENCH_SHELF;
    if (shelf->places == 0)
        return RIDGE_OK;
    return ridge_device_alloc(run->device,
                              (size_t)shelf->places * (size_t)run->arm_count * shelf->sample_bytes,
                              &shelf->arena, err);
}

void bench_shelf_release(bench_run *run)
{
    ridge_device_release(run->device, run->shelf.arena);
    run->shelf.arena = NULL;
}

static void *place_at(const bench_run *run, int arm, int place)
{
    const bench_shelf *const shelf = &run->shelf;
    const size_t index = (size_t)arm * (size_t)shelf->places + (size_t)place;

    return (unsigned char *)shelf->arena + index * shelf->sample_bytes;
}

/* Copies what a set's outputs hold to a place of the shelf. */
static ridge_status keep(bench_run *run, const bench_sample *sample, int place, ridge_error *err)
{
    unsigned char *to = place_at(run, sample->arm, place);
    ridge_status status = RIDGE_OK;
    int i;

    run->shelf.samples[sample->arm][place] = *sample;
    run->shelf.samples[sample->arm][place].data = to;
    run->shelf.is_taken[sample->arm][place] = true;
    for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++) {
        const bench_slab *const slab = &run->buffers.slabs[i];

        if (!is_output(slab, sample->arm))
            continue;
        status = ridge_device_copy(run->device, run->stream, to,
                                   bench_slab_memory(run, sample->set, i), slab->span_bytes, err);
        to += padded(slab->span_bytes);
    }
    return status == RIDGE_OK ? ridge_stream_synchronize(run->stream, err) : status;
}

/* The first slots of each arm are always looked at, later ones as long as it stays cheap. */
static bool may_sample(bench_run *run, int arm)
{
    bench_shelf *const shelf = &run->shelf;

    if (!bench_guarded(run, RIDGE_GUARD_OUTPUTS) && !bench_guarded(run, RIDGE_GUARD_REFILL))
        return false;
    if (shelf->offered[arm] < 2)
        return true;
    return shelf->spent_s < SAMPLING_FRAC * (bench_now_s() - run->started_s) &&
           bench_chance_below(&shelf->chance, 2) == 0;
}

ridge_status bench_sample_before(bench_run *run, int arm, int start, bench_sample *sample,
                                 ridge_error *err)
{
    const double begin_s = bench_now_s();
    const int launches = run->mode == RIDGE_MODE_GRAPH ? run->graph_launches : run->launches;
    const int sets = launches < run->rotation ? launches : run->rotation;
    ridge_status status = RIDGE_OK;

    *sample = (bench_sample){.arm = arm, .set = -1};
    if (!may_sample(run, arm))
        return RIDGE_OK;
    /* One that the slot will launch on. */
    sample->set =
        (start + (int)bench_chance_below(&run->shelf.chance, (unsigned)sets)) % run->rotation;
    sample->seed = run->placement.seeds[sample->set];
    if (bench_guarded(run, RIDGE_GUARD_REFILL)) {
        sample->previous = sample->seed;
        sample->seed = bench_chance_next(&run->shelf.chance);
        status = bench_set_fill(run, sample->set, sample->seed, err);
    }
    if (status == RIDGE_OK && bench_guarded(run, RIDGE_GUARD_OUTPUTS))
        status = bench_set_poison(run, arm, sample->set, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(run->stream, err);
    run->shelf.spent_s += bench_now_s() - begin_s;
    return status;
}

ridge_status bench_sample_after(bench_run *run, const bench_sample *sample, ridge_error *err)
{
    bench_shelf *const shelf = &run->shelf;
    const unsigned places = shelf->places > 1 ? (unsigned)shelf->places - 1 : 0;
    const double begin_s = bench_now_s();
    unsigned place = shelf->offered[sample->arm]++;
    ridge_status status;

    if (!bench_guarded(run, RIDGE_GUARD_OUTPUTS) || places == 0)
        return RIDGE_OK;
    if (place >= places)
        place = bench_chance_below(&shelf->chance, place + 1);
    if (place >= places)
        return RIDGE_OK;
    status = keep(run, sample, 1 + (int)place, err);
    shelf->spent_s += bench_now_s() - begin_s;
    return status;
}

ridge_status bench_sample_scrambled(bench_run *run, int arm, int after, ridge_error *err)
{
    bench_sample sample = {.arm = arm, .is_scrambled = true, .times = 1};
    ridge_status status;

    if (run->shelf.places < 1)
        return RIDGE_OK;
    /* Any but the one that is next in turn. */
    if (run->rotation > 1)
        sample.set =
            (after + 2 + (int)bench_chance_below(&run->shelf.chance, (unsigned)run->rotation - 1)) %
            run->rotation;
    sample.seed = bench_chance_next(&run->shelf.chance);
    status = bench_set_fill(run, sample.set, sample.seed, err);
    if (status == RIDGE_OK)
        status = bench_set_poison(run, arm, sample.set, err);
    if (status == RIDGE_OK)
        status = ridge_device_scrub_shared(run->device, run->stream, err);
    if (status != RIDGE_OK)
        return status;
    status = bench_launch(run, arm, sample.set, err);
    if (status == RIDGE_OK)
        status = bench_wait(run, arm, err);
    return status != RIDGE_OK ? status : keep(run, &sample, 0, err);
}

ridge_status bench_outputs_hash(bench_run *run, int arm, int set, uint64_t *out, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    *out = 0;
    for (i = 0; i < run->buffers.slab_count && status == RIDGE_OK; i++) {
        const bench_slab *const slab = &run->buffers.slabs[i];
        uint64_t hash = 0;

        if (!is_output(slab, arm))
            continue;
        status = ridge_device_hash(
            run->device, run->stream, bench_slab_memory(run, set, i),
            slab->span_bytes < HASHED_BYTES ? slab->span_bytes : HASHED_BYTES, &hash, err);
        *out = (*out ^ hash) * 0x9e3779b97f4a7c15u;
    }
    return status;
}

/* -- the right answer -------------------------------------------------------------------------- */

typedef struct difference {
    bool is_wrong;
    double share_frac; /* of the compared elements that are off */
    int64_t index;     /* the first of them */
    double found, expected;
} difference;

/* Elements as a buffer holds them, or as doubles in logical order. */
typedef struct operand {
    const ridge_buffer_desc *desc;
    const void *image;    /* from the least address */
    const double *values; /* instead of image */
} operand;

static double value_at(const operand *of, int64_t index)
{
    if (of->values != NULL)
        return of->values[index];
    return ridge_dtype_load(of->desc->dtype, of->image,
                            ridge_buffer_origin(of->desc) + ridge_buffer_offset(of->desc, index));
}

/* Two roundings of one sum may differ by more than the type's: a part in 32, and 8 unit roundoffs
 * of a narrow type, of the element and of the root mean square; and in one of a hundred elements
 * by any amount (a threshold, an argmax). Results of other inputs differ nearly everywhere. An
 * element that is NaN for one of two is wrong. */
static difference compare(const operand *found, const operand *expected)
{
    const int64_t count = ridge_buffer_elements(expected->desc);
    const int64_t step = (count + COMPARED_MOST - 1) / COMPARED_MOST;
    const double tolerance = fmax(1.0 / 32, 8 * ridge_dtype_unit_roundoff(expected->desc->dtype));
    difference result = {.index = -1};
    double squares = 0, rms;
    int64_t used = 0, wrong = 0, i;

    for (i = 0; i < count; i += step) {
        const double value = value_at(expected, i);

        squares += isfinite(value) ? value * value : 0;
        used++;
    }
    rms = used > 0 ? sqrt(squares / (double)used) : 0;
    for (i = 0; i < count; i += step) {
        const double want = value_at(expected, i), have = value_at(found, i);

        if (have == want || (isnan(have) && isnan(want)) ||
            fabs(have - want) <= tolerance * (fabs(want) + rms))
            continue;
        if (result.index < 0) {
            result.index = i;
            result.found = have;
            result.expected = want;
        }
        result.is_wrong = result.is_wrong || isnan(have) != isnan(want);
        wrong++;
    }
    result.share_frac = used > 0 ? (double)wrong / (double)used : 0;
    result.is_wrong = result.is_wrong || result.share_frac > 0.01;
    return result;
}

/* Equal bytes of large outputs are seen where they are. */
static ridge_status equal_on_device(bench_run *run, const void *a, const void *b, size_t size_bytes,
                                    bool *out, ridge_error *err)
{
    uint64_t hashes[2] = {0, 0};
    ridge_status status;

    *out = false;
    status = ridge_device_hash(run->device, run->stream, a, size_bytes, &hashes[0], err);
    if (status == RIDGE_OK)
        status = ridge_device_hash(run->device, run->stream, b, size_bytes, &hashes[1], err);
    *out = status == RIDGE_OK && hashes[0] == hashes[1];
    return status;
}

static ridge_status download(bench_run *run, const bench_slab *slab, const void *data, void **out,
                             ridge_error *err)
{
    *out = ridge_calloc(1, slab->span_bytes + 1);
    if (*out == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu bytes of %s",
                          slab->span_bytes, slab->desc.name);
    return ridge_device_download(run->device, *out, data, slab->span_bytes, err);
}

/* values: the right answer; NULL: what expected's slab of set 0 holds. */
static ridge_status compare_slab(bench_run *run, const bench_slab *found, const void *found_data,
                                 int expected_index, const double *values, difference *out,
                                 ridge_error *err)
{
    const bench_slab *const expected = &run->buffers.slabs[expected_index];
    const void *const expected_data = bench_slab_memory(run, 0, expected_index);
    void *images[2] = {NULL, NULL};
    ridge_status status = RIDGE_OK;
    bool is_equal = false;

    *out = (difference){.is_wrong = false};
    if (values == NULL && found->span_bytes == expected->span_bytes &&
        found->span_bytes > HASHED_BYTES)
        status = equal_on_device(run, found_data, expected_data, found->span_bytes, &is_equal, err);
    if (status == RIDGE_OK && !is_equal)
        status = download(run, found, found_data, &images[0], err);
    if (status == RIDGE_OK && !is_equal && values == NULL)
        status = download(run, expected, expected_data, &images[1], err);
    if (status == RIDGE_OK && !is_equal) {
        const operand have = {.desc = &found->desc, .image = images[0]};
        const operand want = {.desc = &expected->desc, .image = images[1], .values = values};

        *out = compare(&have, &want);
    }
    ridge_free(images[0]);
    ridge_free(images[1]);
    return status;
}

/* The next slab at or behind index that is an output of the arm; slab_count: none. */
static int next_output(const bench_run *run, int arm, int index)
{
    while (index < run->buffers.slab_count && !is_output(&run->buffers.slabs[index], arm))
        index++;
    return index;
}

static bool is_comparable(const bench_slab *a, const bench_slab *b)
{
    return a->desc.dtype == b->desc.dtype && a->desc.ndim == b->desc.ndim &&
           memcmp(a->desc.shape, b->desc.shape, (size_t)a->desc.ndim * sizeof(int64_t)) == 0;
}

/* The answers to a slab that is an output of the baseline. */
static const double *answer_of(const bench_run *run, const bench_answers *answers, int slab)
{
    size_t i;

    for (i = 0; i < run->buffers.arms[0].count && answers->is_there; i++)
        if (run->buffers.arms[0].slab[i] == slab)
            return answers->out[i];
    return NULL;
}

/* Launches the baseline on set 0 as often as the sample's arm was on its set. */
static ridge_status launch_fresh(bench_run *run, int times, ridge_error *err)
{
    ridge_status status = bench_set_poison(run, 0, 0, err);
    int i;

    for (i = 0; i < (run->buffers.has_inout ? times : 1) && status == RIDGE_OK; i++)
        status = bench_launch(run, 0, 0, err);
    return status == RIDGE_OK ? bench_wait(run, 0, err) : status;
}

/* The sample's outputs against the right ones for the inputs of seed; *name is the wrong buffer's.
 */
static ridge_status against_right(bench_run *run, const bench_sample *sample, uint64_t seed,
                                  difference *out, const char **name, ridge_error *err)
{
    const unsigned char *data = sample->data;
    int mine = next_output(run, sample->arm, 0), right = next_output(run, 0, 0);
    bench_answers answers = {.is_there = false};
    ridge_status status = bench_set_fill(run, 0, seed, err);

    *out = (difference){.is_wrong = false};
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(run->stream, err);
    if (status == RIDGE_OK)
        status = bench_answers_make(run, &answers, err);
    if (status == RIDGE_OK && !answers.is_there)
        status = launch_fresh(run, sample->times, err);
    while (status == RIDGE_OK && !out->is_wrong && mine < run->buffers.slab_count &&
           right < run->buffers.slab_count) {
        const bench_slab *const slab = &run->buffers.slabs[mine];

        if (is_comparable(slab, &run->buffers.slabs[right]))
            status =
                compare_slab(run, slab, data, right, answer_of(run, &answers, right), out, err);
        *name = slab->desc.name;
        data += padded(slab->span_bytes);
        mine = next_output(run, sample->arm, mine + 1);
        right = next_output(run, 0, right + 1);
    }
    bench_answers_release(&answers);
    return status;
}

static ridge_status check_sample(bench_run *run, const bench_sample *sample, ridge_error *err)
{
    difference now, before = {.is_wrong = true};
    const char *name = "", *unused;
    char title[160];
    ridge_status status = against_right(run, sample, sample->seed, &now, &name, err);

    if (status != RIDGE_OK)
        return status;
    run->outputs_checked++;
    if (!now.is_wrong)
        return RIDGE_OK;
    if (sample->previous != 0)
        status = against_right(run, sample, sample->previous, &before, &unused, err);
    bench_arm_title(run, sample->arm, title, sizeof(title));
    if (status == RIDGE_OK && !before.is_wrong)
        bench_invalidate(run, RIDGE_GUARD_REFILL,
                         "%s: a timed launch left in %s the result of inputs that were there "
                         "before: remembered by address?",
                         title, name);
    else if (sample->is_scrambled)
        bench_invalidate(run, RIDGE_GUARD_SHARED,
                         "%s: wrong in %s when order and shared memory were disturbed: element "
                         "%lld is %.6g, expected %.6g",
                         title, name, (long long)now.index, now.found, now.expected);
    else
        bench_invalidate(run, RIDGE_GUARD_OUTPUTS,
                         "%s: %.3g %% of %s is wrong after a timed launch: element %lld is %.6g, "
                         "expected %.6g",
                         title, 100 * now.share_frac, name, (long long)now.index, now.found,
                         now.expected);
    return status;
}

ridge_status bench_samples_check(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int arm, place;

    for (arm = 0; arm < run->arm_count; arm++)
        for (place = 0; place < run->shelf.places && status == RIDGE_OK; place++)
            if (run->shelf.is_taken[arm][place])
                status = check_sample(run, &run->shelf.samples[arm][place], err);
    return status;
}

/* -- two arms before anything is timed --------------------------------------------------------- */

/* Outputs of one launch of an arm on set 0, as they lie in memory. */
typedef struct fresh_outputs {
    void *images[BENCH_SLABS];
    uint64_t hash;
} fresh_outputs;

static void fresh_release(fresh_outputs *outputs)
{
    int i;

    for (i = 0; i < BENCH_SLABS; i++)
        ridge_free(outputs->images[i]);
    *outputs = (fresh_outputs){.hash = 0};
}

/* wants_images false: the hash alone, which does not leave the device. */
static ridge_status fresh_launch(bench_run *run, int arm, uint64_t seed, bool wants_images,
                                 fresh_outputs *out, ridge_error *err)
{
    ridge_status status = bench_set_fill(run, 0, seed, err);
    int i;

    *out = (fresh_outputs){.hash = 0};
    if (status == RIDGE_OK)
        status = bench_set_poison(run, arm, 0, err);
    if (status == RIDGE_OK)
        status = bench_launch(run, arm, 0, err);
    if (status == RIDGE_OK)
        status = bench_wait(run, arm, err);
    for (i = next_output(run, arm, 0); i < run->buffers.slab_count && status == RIDGE_OK;
         i = next_output(run, arm, i + 1)) {
        const bench_slab *const slab = &run->buffers.slabs[i];
        const void *const data = bench_slab_memory(run, 0, i);
        uint64_t hash = 0;

        status = wants_images ? download(run, slab, data, &out->images[i], err)
                              : ridge_device_hash(run->device, run->stream, data, slab->span_bytes,
                                                  &hash, err);
        out->hash = (out->hash ^ hash) * 0x9e3779b97f4a7c15u;
    }
    if (status != RIDGE_OK)
        fresh_release(out);
    return status;
}

/* By how much two right answers may differ, as a part of |value| and of the root mean square: 64
 * unit roundoffs, 8 of types narrower than f32 (rounded a few times, sums kept in f32), and what sums
 * over the longest axis in another order differ by, which grows as the root of its length. As in
 * bindings/python/ridge/_measure.py. Integers are equal. */
static double agreement_tolerance(const bench_run *run, ridge_dtype dtype)
{
    const double unit = ridge_dtype_unit_roundoff(dtype);
    const double own = (unit <= 0x1p-24 ? 64 : 8) * unit;
    int64_t longest = 1;
    int i, axis;

    if (!ridge_dtype_is_float(dtype))
        return 0;
    for (i = 0; i < run->buffers.slab_count; i++)
        for (axis = 0; axis < run->buffers.slabs[i].desc.ndim; axis++)
            if (run->buffers.slabs[i].desc.shape[axis] > longest)
                longest = run->buffers.slabs[i].desc.shape[axis];
    return fmin(own + 8 * sqrt((double)longest) * fmin(unit, 0x1p-24), 0.25);
}

/* Every element counts: *wrong of *of are off, *first is the first of them. */
static void count_wrong(const operand *found, const operand *expected, double tolerance,
                        difference *out, int64_t *wrong, int64_t *of)
{
    const int64_t count = ridge_buffer_elements(expected->desc);
    const int64_t step = (count + AGREEING_MOST - 1) / AGREEING_MOST;
    double squares = 0, rms;
    int64_t i;

    *out = (difference){.index = -1};
    *wrong = *of = 0;
    for (i = 0; i < count; i += step) {
        const double value = value_at(expected, i);

        squares += isfinite(value) ? value * value : 0;
        ++*of;
    }
    rms = *of > 0 ? sqrt(squares / (double)*of) : 0;
    for (i = 0; i < count; i += step) {
        const double want = value_at(expected, i), have = value_at(found, i);

        if (have == want || (isnan(have) && isnan(want)) ||
            (isfinite(have) && fabs(have - want) <= tolerance * (fabs(want) + rms)))
            continue;
        if (out->index < 0)
            *out = (difference){.index = i, .found = have, .expected = want};
        ++*wrong;
    }
    out->is_wrong = *wrong > 0;
}

static void compare_fresh(bench_run *run, const fresh_outputs outputs[BENCH_ARMS])
{
    const char *const who = run->arms[0].kernel->reference != NULL ? "A's are right"
                            : run->arms[1].kernel->reference != NULL
                                ? "B's are right"
                                : "no reference to tell who is right";
    int a = next_output(run, 0, 0), b = next_output(run, 1, 0);

    while (a < run->buffers.slab_count && b < run->buffers.slab_count && !run->is_invalid) {
        const bench_slab *const right = &run->buffers.slabs[a], *const mine =
                                                                    &run->buffers.slabs[b];
        const operand want = {.desc = &right->desc, .image = outputs[0].images[a]};
        const operand have = {.desc = &mine->desc, .image = outputs[1].images[b]};
        difference found;
        int64_t wrong, of;

        if (is_comparable(right, mine)) {
            count_wrong(&have, &want, agreement_tolerance(run, right->desc.dtype), &found, &wrong,
                        &of);
            if (found.is_wrong)
                bench_invalidate(run, RIDGE_GUARD_CHECK,
                                 "B's %s differs from A's at element %lld: %.6g, A has %.6g; %lld "
                                 "of %lld elements differ; %s",
                                 mine->desc.name, (long long)found.index, found.found,
                                 found.expected, (long long)wrong, (long long)of, who);
        }
        a = next_output(run, 0, a + 1);
        b = next_output(run, 1, b + 1);
    }
}

ridge_status bench_arms_agree(bench_run *run, ridge_error *err)
{
    fresh_outputs outputs[BENCH_ARMS] = {{.hash = 0}, {.hash = 0}};
    ridge_status status = RIDGE_OK;
    bool wants_images;
    uint64_t seed;
    int arm, pass;

    if (run->arm_count < BENCH_ARMS || !bench_guarded(run, RIDGE_GUARD_CHECK) ||
        (run->arms[0].kernel->reference != NULL && run->arms[1].kernel->reference != NULL))
        return RIDGE_OK;
    seed = run->placement.seeds[0];
    for (pass = 0; pass < 2 && status == RIDGE_OK; pass++) {
        wants_images = pass == 1;
        if (wants_images && outputs[0].hash == outputs[1].hash)
            return RIDGE_OK; /* the same bits */
        for (arm = 0; arm < BENCH_ARMS && status == RIDGE_OK; arm++)
            status = fresh_launch(run, arm, seed, wants_images, &outputs[arm], err);
    }
    if (status == RIDGE_OK)
        compare_fresh(run, outputs);
    for (arm = 0; arm < BENCH_ARMS; arm++)
        fresh_release(&outputs[arm]);
    return status;
}
