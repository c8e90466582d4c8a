/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge bound reads: "OP NAME=VALUES NAME=VALUES ..." and, when it begins with '{', measured
 * roofs. Whatever is accepted gives work that adds up and a bound that is a time. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/bound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_works(const ridge_work *works, size_t count, const ridge_roofs *roofs)
{
    size_t i;

    check(count > 0 && count <= RIDGE_OPERATION_WORKS);
    for (i = 0; i < count; i++) {
        const ridge_work *const work = &works[i];
        ridge_bound bound;

        check(isfinite(work->read_bytes) && isfinite(work->written_bytes));
        check(work->read_bytes > 0 && work->written_bytes > 0 && work->flop_count >= 0);
        check(work->weight_bytes >= 0 && work->weight_bytes <= work->read_bytes);
        check(work->cache_bytes <= work->read_bytes + work->written_bytes);
        check((work->peak == RIDGE_PEAK_NONE) == (work->flop_count == 0));
        ridge_bound_of(work, roofs, &bound);
        check(isnan(bound.time_s) || bound.time_s > 0);
        check(!(bound.memory_s > bound.time_s) && !(bound.compute_s > bound.time_s));
    }
}

/* The next word; *at moves behind it. */
static size_t take_word(const char **at, const char *end, const char **word)
{
    while (*at < end && (**at == ' ' || **at == '\n'))
        (*at)++;
    *word = *at;
    while (*at < end && **at != ' ' && **at != '\n')
        (*at)++;
    return (size_t)(*at - *word);
}

static void call(const char *at, const char *end)
{
    double values[RIDGE_OPERATION_PARAMETERS];
    ridge_work works[RIDGE_OPERATION_WORKS];
    const ridge_operation *operation;
    ridge_roofs roofs;
    ridge_sweep sweep;
    char name[32] = "";
    const char *word;
    size_t length, count, i;

    length = take_word(&at, end, &word);
    if (length > 0 && length < sizeof(name))
        memcpy(name, word, length);
    operation = ridge_operation_find(name);
    if (operation == NULL)
        operation = ridge_operation_at(length % ridge_operation_count());
    for (i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    while ((length = take_word(&at, end, &word)) > 0) {
        if (ridge_sweep_parse(operation, word, length, &sweep, NULL) != RIDGE_OK) {
            check(sweep.count == 0);
            continue;
        }
        check(sweep.count >= 1 && sweep.count <= RIDGE_SWEEP_VALUES);
        check(sweep.parameter < operation->parameter_count);
        values[sweep.parameter] = sweep.values[sweep.count - 1];
    }
    ridge_roofs_of_chip(ridge_chip_at(0), &roofs);
    for (i = 0; i < RIDGE_ELEMENT_COUNT; i++)
        if (ridge_operation_work(operation, values, (ridge_element)i, works, &count, NULL) ==
            RIDGE_OK)
            check_works(works, count, &roofs);
        else
            check(count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    const char *const text = (const char *)data;
    ridge_roofs roofs;

    if (size_bytes > 0 && text[0] == '{') {
        if (ridge_roofs_parse(data, size_bytes, &roofs, NULL) == RIDGE_OK)
            check(roofs.is_measured && !(roofs.dram_bytes_per_s <= 0));
        else
            check(!roofs.is_measured && isnan(roofs.dram_bytes_per_s));
        return 0;
    }
    if (size_bytes > 0)
        call(text, text + size_bytes);
    return 0;
}
