/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the comparison share.
 *
 *     compare.c   judges each element and notes the failing ones in a bitmap
 *     locate.c    where they are: counts along axes, periods, the picture
 *     relations.c what their values are
 *     terms.c     whether a term of a sum is missing, or twice
 *     tiles.c     whether they are whole tiles
 *     lengths.c   whether a table of lengths tells which rows fail
 *     cause.c     the table of rules that turns both into one line
 */
#ifndef RIDGE_CHECK_INTERNAL_H
#define RIDGE_CHECK_INTERNAL_H

#include "ridge/check.h"

/* How the elements of a pair are judged; filled once. */
typedef struct check_bounds {
    ridge_dtype dtype;
    bool is_exact, is_integer, is_elementwise, flushes; /* flushes: to zero is a suspicion only */
    int shift;                                          /* bits a double has beyond the type's */
    uint64_t normal_ordinal;                            /* of a double, shifted: the least normal */
    double unit_out, unit_sum;
    double hard, suspicion; /* factors of the magnitude */
    double ulp_most, ulp_reach;
    double greatest, overflow; /* from overflow on a value rounds beyond the greatest */
    double least_normal, least_subnormal;
    double integer_least;
    double magnitude_least; /* where the magnitude is not known */
} check_bounds;

typedef enum check_verdict {
    CHECK_EQUAL,
    CHECK_WITHIN,
    CHECK_SUSPICIOUS,
    CHECK_WRONG,
    CHECK_STRUCTURE, /* wrong too: NaN or infinity on one side only */
} check_verdict;

typedef struct check_judgement {
    check_verdict verdict;
    double error, scaled; /* scaled: by the hard bound; INFINITY where nothing is allowed */
    uint64_t ulp;
} check_judgement;

void check_bounds_init(const ridge_comparand *pair, int64_t element_count, check_bounds *out);
/* How far from ref a right value may be. */
double check_tolerance(const check_bounds *bounds, double ref, double magnitude);
/* ref as the type holds it. */
double check_rounded(const check_bounds *bounds, double ref);

/* Failures along one axis. A long axis is counted in buckets, whose first and last failing index
 * are kept, and folded for periods. */
typedef struct check_axis {
    int64_t extent;
    int64_t bucket; /* indices in one */
    int64_t bucket_count;
    int64_t *count, *first, *last; /* of a bucket; first > last: none */
    int64_t *fold;                 /* of index mod CHECK_BUCKETS; count when bucket is 1 */
    int64_t failing_count;         /* indices with a failure; of buckets when bucket > 1 */
    int64_t run_count;             /* of neighbouring failing indices */
    int64_t first_index, last_index;
    double run_share; /* of the elements between first and last */
} check_axis;

enum { CHECK_BUCKETS = 1 << 16, CHECK_SAMPLES = 1 << 14 };

/* All that the rules may look at. Indices here are those of the compared arrays. */
typedef struct check_facts {
    const ridge_comparand *pair;
    const check_bounds *bounds;
    ridge_mismatch *out;
    const uint64_t *failing; /* a bit an element */
    int64_t wrong_count;
    check_axis axes[RIDGE_BUFFER_DIMS];
    int64_t row_count, rows_touched, rows_full; /* rows of the last axis */
    double box_share;                           /* of the elements of the box that fail */
    double small_share; /* of the samples: off by less than a quarter of ref, or of its spread */
    int64_t *samples;   /* failing elements, evenly spread */
    size_t sample_count;
} check_facts;

/* Along rows_axis an array may hold chosen rows of a larger one. */
int64_t check_real_index(const ridge_comparand *pair, int axis, int64_t index);
int64_t check_real_extent(const ridge_comparand *pair, int axis);
/* Linear index of the whole array, of a linear index of the compared one. */
int64_t check_real_linear(const ridge_comparand *pair, int64_t index);
void check_coordinates(const ridge_comparand *pair, int64_t index, int64_t out[RIDGE_BUFFER_DIMS]);

/* Fills box, regions, period, picture of facts->out, and the samples. */
ridge_status check_locate(check_facts *facts, ridge_error *err);
void check_facts_release(check_facts *facts);
ridge_status check_relations(check_facts *facts, ridge_error *err);
/* Adds TERM or TERM_ADDED, if one holds. */
ridge_status check_terms(check_facts *facts, ridge_error *err);
/* Keeps the greatest share first. */
void check_relation_add(check_facts *facts, ridge_relation_kind kind, double share, double value,
                        const char *text);
/* The share that a relation explains, 0 when it is not there; *value may be NULL. */
double check_relation_share(const ridge_mismatch *out, ridge_relation_kind kind, double *value);
/* Tiles of the last two axes, of powers of two, that fail as a whole while others do not. */
typedef struct check_tiles {
    int64_t rows, columns; /* elements of one, the largest that holds */
    int64_t failing, count;
} check_tiles;
bool check_whole_tiles(const check_facts *facts, check_tiles *out);
/* A rule: rows of some lengths fail and no others (lengths.c). */
bool check_rows_of_length(const check_facts *facts, char *text, size_t size);
void check_cause(check_facts *facts);
/* "2", "1/3", "log2(e)", "1/sqrt(128)"; "" when the ratio has no name. extents: candidates for N
 * and d, 0 ends them. */
void check_ratio_name(double ratio, double tolerance, const int64_t *extents, char *out,
                      size_t size);

#endif
