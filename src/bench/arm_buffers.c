/* SPDX-License-Identifier: Apache-2.0
 *
 * Which buffers a set has. Both arms of a comparison get the same memory wherever they ask for the
 * same buffer: with buffers of their own, two copies of one kernel differ by up to 2.5 %
 * (docs/decisions/0005-measuring-loop.md). */
#include <string.h>

#include "bench_internal.h"

enum { PAD_STEPS = 256, PAD_BYTES = 256 };

static ridge_role role_of(const ridge_case *at, const bench_arm_buffers *arm, size_t index)
{
    size_t i;

    for (i = 0; at->in_place && i < arm->count; i++)
        if (arm->descs[i].alias_of == (int)index + 1)
            return RIDGE_ROLE_INOUT;
    return arm->descs[index].role;
}

static bool same_memory(const bench_slab *slab, const ridge_buffer_desc *desc, ridge_role role)
{
    const ridge_buffer_desc *const other = &slab->desc;
    const size_t dims = (size_t)desc->ndim * sizeof(desc->shape[0]);

    return slab->role == role && other->dtype == desc->dtype && other->ndim == desc->ndim &&
           memcmp(other->shape, desc->shape, dims) == 0 &&
           memcmp(other->stride, desc->stride, dims) == 0 &&
           other->has_values == desc->has_values &&
           (!desc->has_values || other->values == desc->values);
}

static bool has_name(const bench_arm_buffers *arm, const char *name)
{
    size_t i = 0;

    while (i < arm->count && strcmp(arm->descs[i].name, name) != 0)
        i++;
    return i < arm->count;
}

/* How many of its role stand before it. */
static size_t place_in_role(const bench_arm_buffers *arm, size_t index)
{
    size_t place = 0, i;

    for (i = 0; i < index; i++)
        place += arm->descs[i].role == arm->descs[index].role ? 1 : 0;
    return place;
}

typedef enum likeness { OF_ITS_NAME, IN_ITS_PLACE, ALIKE, LIKENESSES } likeness;

/* Slabs whose name the second arm has too are left to that buffer. */
static bool is_like(const bench_buffers *buffers, const bench_slab *slab,
                    const bench_arm_buffers *own, size_t index, likeness how)
{
    if (how == OF_ITS_NAME)
        return strcmp(slab->desc.name, own->descs[index].name) == 0;
    return !has_name(own, slab->desc.name) &&
           (how == ALIKE || place_in_role(&buffers->arms[slab->owner], slab->owner_index) ==
                                place_in_role(own, index));
}

/* A slab of the first arm that the second has not taken yet: of the same name, else in the same place
 * among the inputs or outputs, else the first alike, since arms of different makers name and order
 * buffers differently. Inputs that are not shared have other values, and results of other inputs cannot
 * be held against each other. -1: none. */
static int find_shared(const bench_buffers *buffers, const bench_arm_buffers *own, size_t index,
                       ridge_role role)
{
    int how, i;

    for (how = 0; how < LIKENESSES; how++)
        for (i = 0; i < buffers->slab_count; i++) {
            const bench_slab *const slab = &buffers->slabs[i];

            if (slab->arms == 1 && is_like(buffers, slab, own, index, (likeness)how) &&
                same_memory(slab, &own->descs[index], role))
                return i;
        }
    return -1;
}

static int add_slab(bench_buffers *buffers, int arm, size_t index, ridge_role role)
{
    const ridge_buffer_desc *const desc = &buffers->arms[arm].descs[index];
    bench_slab *const slab = &buffers->slabs[buffers->slab_count];

    *slab = (bench_slab){.desc = *desc,
                         .role = role,
                         .span_bytes = (size_t)ridge_buffer_span_bytes(desc),
                         .owner = arm,
                         .owner_index = index};
    return buffers->slab_count++;
}

static void map_arm(bench_buffers *buffers, const ridge_case *at, int arm, bool share)
{
    bench_arm_buffers *const own = &buffers->arms[arm];
    size_t i;

    for (i = 0; i < own->count; i++) {
        const ridge_buffer_desc *const desc = &own->descs[i];
        const ridge_role role = role_of(at, own, i);
        int slab = -1;

        if (at->in_place && desc->alias_of > 0) {
            own->slab[i] = own->slab[desc->alias_of - 1];
            continue;
        }
        if (arm > 0 && share)
            slab = find_shared(buffers, own, i, role);
        if (slab < 0)
            slab = add_slab(buffers, arm, i, role);
        buffers->slabs[slab].arms |= 1u << arm;
        own->slab[i] = slab;
    }
}

ridge_status bench_buffers_describe(const ridge_kernel *const *kernels, int arm_count,
                                    const ridge_case *at, bool share, bench_buffers *out,
                                    ridge_error *err)
{
    int i;

    memset(out, 0, sizeof(*out));
    for (i = 0; i < arm_count; i++) {
        const ridge_status status =
            ridge_kernel_describe(kernels[i], at, out->arms[i].descs, &out->arms[i].count, err);

        if (status != RIDGE_OK)
            return status;
        map_arm(out, at, i, share);
    }
    for (i = 0; i < out->slab_count; i++) {
        const bench_slab *const slab = &out->slabs[i];

        if (slab->span_bytes > SIZE_MAX / 256 - out->set_bytes)
            return ridge_fail(err, RIDGE_ERR_OVERFLOW, "buffer %s: %zu bytes are too many",
                              slab->desc.name, slab->span_bytes);
        out->span_bytes += slab->span_bytes;
        out->set_bytes += slab->span_bytes + (size_t)(PAD_STEPS + 1) * PAD_BYTES;
        out->has_inout = out->has_inout || slab->role == RIDGE_ROLE_INOUT;
        if (slab->arms == 3)
            out->shared_bytes += slab->span_bytes;
    }
    return RIDGE_OK;
}
