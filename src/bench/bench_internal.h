/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of bench share. */
#ifndef RIDGE_BENCH_INTERNAL_H
#define RIDGE_BENCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/bench.h"

/* -- chance ------------------------------------------------------------------------------------ */

/* splitmix64 (Steele, Lea, Flood 2014): orders and samples are a function of the seed alone. */
typedef struct bench_chance {
    uint64_t state;
} bench_chance;

static inline uint64_t bench_chance_next(bench_chance *chance)
{
    uint64_t z = (chance->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 ... below - 1; the bias of the product is below 2^-32 for the small numbers used here. */
static inline unsigned bench_chance_below(bench_chance *chance, unsigned below)
{
    return (unsigned)(((bench_chance_next(chance) >> 32) * (uint64_t)below) >> 32);
}

/* -- verdict ----------------------------------------------------------------------------------- */

/* Ln ratios below this are not told apart: code alignment and the like do not average away over
 * placements, whatever their spread says. 0.05 %. */
#define BENCH_LEAST_HALF_WIDTH 0.0005
/* An interval that claims no more than that. */
void bench_interval_widen(ridge_interval *interval);

#endif
