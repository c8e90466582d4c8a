/* SPDX-License-Identifier: Apache-2.0
 *
 * What all cases of ridge check say together: which layouts fail, and which extents. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check_print.h"

/* -- extents ----------------------------------------------------------------------------------- */

static struct check_extent *extent_of(struct check_summary *summary, size_t axis, int64_t value)
{
    struct check_extent *const all = summary->extents[axis];
    size_t *const count = &summary->extent_count[axis];
    size_t at = 0;

    while (at < *count && all[at].value < value)
        at++;
    if (at < *count && all[at].value == value)
        return &all[at];
    if (*count == CHECK_EXTENTS) {
        summary->has_more_extents[axis] = true;
        return NULL;
    }
    memmove(&all[at + 1], &all[at], (*count - at) * sizeof(*all));
    all[at] = (struct check_extent){.value = value};
    ++*count;
    return &all[at];
}

/* A case that has nothing to do says nothing of its extents. */
static bool is_empty(const ridge_case *at)
{
    size_t axis;

    for (axis = 0; axis < at->axis_count; axis++)
        if (at->axes[axis].value <= 0)
            return true;
    return false;
}

void check_extents_add(struct check_summary *summary, const ridge_check_result *result)
{
    size_t axis;

    if (result->outcome > RIDGE_OUTCOME_FAIL || is_empty(&result->at))
        return;
    for (axis = 0; axis < result->at.axis_count; axis++) {
        struct check_extent *const to = extent_of(summary, axis, result->at.axes[axis].value);

        if (to == NULL)
            continue;
        to->failed += result->outcome == RIDGE_OUTCOME_FAIL;
        to->passed += result->outcome != RIDGE_OUTCOME_FAIL;
    }
}

enum { MODULUS_MOST = 32, DIVISOR_MOST = 128, VALUES_LEAST = 2 };

/* Of an axis: what fails is no multiple of modulus, what is one passes. */
struct tail {
    int64_t modulus; /* 0: none */
    int64_t divisor; /* power of two, of all that pass only there */
    double share;    /* of the cases that are no multiples: those that fail */
};

/* Power of two that divides a value, at most DIVISOR_MOST. */
static int64_t power_of(int64_t value)
{
    int64_t power = 1;

    while (power < DIVISOR_MOST && value % (2 * power) == 0)
        power *= 2;
    return power;
}

static struct tail find_tail(const struct check_summary *summary, size_t axis)
{
    const struct check_extent *const all = summary->extents[axis];
    struct tail out = {.divisor = DIVISOR_MOST};
    size_t failing = 0, multiples = 0, failed = 0, passed = 0, exceptions = 0, i;
    int64_t modulus = 2;

    for (i = 0; i < summary->extent_count[axis]; i++) {
        failing += all[i].failed > 0;
        if (all[i].failed > 0 && 2 * power_of(all[i].value) > modulus)
            modulus = 2 * power_of(all[i].value);
    }
    for (i = 0; i < summary->extent_count[axis]; i++) {
        const bool is_multiple = all[i].value % modulus == 0;

        multiples += is_multiple;
        failed += all[i].failed;
        passed += is_multiple ? 0 : all[i].passed;
        exceptions += !is_multiple && all[i].failed == 0 && all[i].value > 1;
        if (all[i].failed == 0 && power_of(all[i].value) < out.divisor)
            out.divisor = power_of(all[i].value);
    }
    if (modulus > MODULUS_MOST || failing < VALUES_LEAST || multiples < VALUES_LEAST ||
        exceptions > 0 || summary->has_more_extents[axis])
        return out;
    out.modulus = modulus;
    out.share = (double)failed / (double)(failed + passed);
    return out;
}

/* Every value that is no multiple has to fail somewhere, else another axis matters, and together in
 * half of their cases: drawn extents are odd more often than not. */
static bool extents_cause(const struct check_summary *summary, char *text, size_t size)
{
    const ridge_case *const at = &summary->first.at;
    struct tail best = {.share = 0.5};
    size_t axis, of = 0, used;

    for (axis = 0; axis < at->axis_count; axis++) {
        const struct tail found = find_tail(summary, axis);

        if (found.modulus > 0 && found.share >= best.share) {
            best = found;
            of = axis;
        }
    }
    if (best.modulus == 0)
        return false;
    if (best.modulus == 2)
        snprintf(text, size, "only where %s is odd", at->axes[of].name);
    else
        snprintf(text, size, "only where %s is no multiple of %" PRId64, at->axes[of].name,
                 best.modulus);
    used = strlen(text);
    if (best.divisor > best.modulus)
        used += (size_t)snprintf(text + used, size - used,
                                 ", all that pass are multiples of %" PRId64, best.divisor);
    snprintf(text + used, size - used, ": the tail of a vector or of an unrolled loop");
    return true;
}

/* -- layouts ----------------------------------------------------------------------------------- */

static bool is_layout(const struct check_summary *summary)
{
    return strcmp(summary->shrunk.mismatch.cause_id, "layout") == 0;
}

/* Of a kernel that is wrong in some layouts alone, several times, that is the cause: where its
 * elements are wrong follows from the strides. Cases in other layouts have other shapes too, so what
 * the shrunk one shows, which was tried in contiguous memory as well, goes before. */
static bool layouts_cause(const struct check_summary *summary, char *text, size_t size)
{
    char names[120] = "";
    const char *mistake = NULL;
    size_t layouts = 0, cases = 0, used = 0;
    int layout;

    for (layout = 0; layout < RIDGE_LAYOUT_COUNT; layout++) {
        if (summary->layouts_failed[layout] == 0)
            continue;
        mistake = ridge_layout_mistake((ridge_layout)layout);
        if (mistake == NULL)
            return false;
        layouts++;
        cases += summary->layouts_failed[layout];
        if (used < sizeof(names))
            used += (size_t)snprintf(
                names + used, sizeof(names) - used, "%s%s",
                layouts > 1 ? ", " : "layout=", ridge_layout_name((ridge_layout)layout));
    }
    if (cases < 2 || summary->layouts_passed[RIDGE_LAYOUT_CONTIGUOUS] < 2 ||
        (summary->has_shrunk ? !is_layout(summary) : layouts > 1))
        return false;
    if (layouts == 1)
        snprintf(text, size, "only %s fails: %s", names, mistake);
    else
        snprintf(text, size, "only %s fail, contiguous passes: %s", names,
                 summary->layouts_failed[RIDGE_LAYOUT_OFFSET] > 0
                     ? "strides and where a tensor begins are ignored"
                     : "strides are ignored");
    return true;
}

enum check_cause check_summary_cause(const struct check_summary *summary, char *text, size_t size)
{
    if (summary->failed == 0)
        return CHECK_CAUSE_NONE;
    if (layouts_cause(summary, text, size))
        return CHECK_CAUSE_LAYOUTS;
    return !is_layout(summary) && extents_cause(summary, text, size) ? CHECK_CAUSE_EXTENTS
                                                                     : CHECK_CAUSE_NONE;
}
