/* SPDX-License-Identifier: Apache-2.0
 *
 * The least case that still fails. What a reader would ask first is tried first: is it the layout,
 * the values, the alias? Then extents are halved, the greatest first, until none can be. */
#include "check/check_internal.h"

enum { TRIES_MOST = 64 };

typedef struct shrinker {
    ridge_case *at;
    ridge_still_fails still_fails;
    void *context;
    int tries;
} shrinker;

static bool try_case(shrinker *self, const ridge_case *candidate)
{
    if (self->tries == TRIES_MOST)
        return false;
    self->tries++;
    if (!self->still_fails(self->context, candidate))
        return false;
    *self->at = *candidate;
    return true;
}

static void try_plain(shrinker *self)
{
    ridge_case candidate = *self->at;

    candidate.layout = RIDGE_LAYOUT_CONTIGUOUS;
    if (candidate.layout != self->at->layout)
        try_case(self, &candidate);
    candidate = *self->at;
    candidate.in_place = false;
    if (candidate.in_place != self->at->in_place)
        try_case(self, &candidate);
    candidate = *self->at;
    candidate.values = RIDGE_VALUES_NORMAL;
    if (candidate.values != self->at->values)
        try_case(self, &candidate);
}

/* An axis by half; where half does not fail, the least between that does: a tile and one more. */
static bool shrink_axis(shrinker *self, size_t axis)
{
    ridge_case candidate = *self->at;
    int64_t below;

    if (self->at->axes[axis].value <= 1)
        return false;
    below = self->at->axes[axis].value / 2;
    candidate.axes[axis].value = below;
    if (try_case(self, &candidate))
        return true;
    while (self->tries < TRIES_MOST && self->at->axes[axis].value - below > 1) {
        candidate = *self->at;
        candidate.axes[axis].value = below + (self->at->axes[axis].value - below) / 2;
        if (!try_case(self, &candidate))
            below = candidate.axes[axis].value;
    }
    return false;
}

const char *ridge_layout_mistake(ridge_layout layout)
{
    static const char *const mistakes[RIDGE_LAYOUT_COUNT] = {
        [RIDGE_LAYOUT_PADDED] = "the stride of rows is ignored",
        [RIDGE_LAYOUT_TRANSPOSED] = "strides are ignored",
        [RIDGE_LAYOUT_SLICED] = "the stride of rows is ignored",
        [RIDGE_LAYOUT_OFFSET] = "a begin that is not aligned is read or written by vectors",
        [RIDGE_LAYOUT_BROADCAST] = "a stride of 0 is not followed",
        [RIDGE_LAYOUT_REVERSED] = "a negative stride is not followed",
    };

    return (unsigned)layout < RIDGE_LAYOUT_COUNT ? mistakes[layout] : NULL;
}

void ridge_case_shrink(ridge_case *at, ridge_still_fails still_fails, void *context)
{
    shrinker self = {at, still_fails, context, 0};
    bool is_stuck[RIDGE_CASE_AXES] = {false};

    try_plain(&self);
    while (self.tries < TRIES_MOST) {
        size_t greatest = at->axis_count;

        for (size_t i = 0; i < at->axis_count; i++)
            if (!is_stuck[i] &&
                (greatest == at->axis_count || at->axes[i].value > at->axes[greatest].value))
                greatest = i;
        if (greatest == at->axis_count)
            return;
        is_stuck[greatest] = !shrink_axis(&self, greatest);
    }
}
