/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that run a kernel share.
 *
 *     check_buffers.c   memory of a case: bands, fills, poison, reading back
 *     check_kept.c      fills that come again
 *     check_poison.c    what outputs hold before a launch
 *     check_rows.c      which rows of a large case are verified
 *     check_kernel.c    order of the check; launch, reference, comparison
 *     check_exact.c     tests of values, against a reference
 *     condition.c       how far the right answer moves with its inputs
 *     check_neighbour.c one row changed
 *     check_tests.c     tests of memory, state and order, without one
 */
#ifndef RIDGE_CHECK_RUN_H
#define RIDGE_CHECK_RUN_H

#include "ridge/check.h"

/* -- memory of a case -------------------------------------------------------------------------- */

typedef struct check_buffer {
    ridge_buffer_desc desc;  /* as the kernel gets it, laid out */
    ridge_buffer_desc small; /* what is verified: contiguous, of chosen rows in a large case */
    int row_dim;             /* of desc, whose rows are chosen; -1: all of it */
    int64_t element_count;   /* of small */
    size_t owner;            /* buffer whose memory it is: itself, or the input it may overwrite */
    bool is_input, is_output;
    ridge_mapping *mapping;
    void *base; /* NULL when another owns the memory */
    size_t base_bytes, lead_bytes, span_bytes;
    unsigned char *least, *data; /* least address; address of element (0, 0, ...) */
    void *pristine;              /* of an input that an output may overwrite: a copy as filled */
    bool is_pristine;            /* it is by the set's plan */
} check_buffer;

typedef enum check_place { CHECK_LEFT, CHECK_RIGHT, CHECK_FENCE } check_place;

typedef enum check_bands { CHECK_BANDS_PATTERN, CHECK_BANDS_NAN, CHECK_BANDS_ZERO } check_bands;

/* What buffers hold before a launch. */
typedef struct check_plan {
    int values, first_values; /* ridge_values of all inputs, of the first; -1: the case's */
    uint64_t seed;
    int poison; /* 0: a NaN payload, 1: a large finite number; integers: two patterns */
    check_bands bands;
    bool workspace_ones;
    int scale_exponent; /* inputs of a floating type times 2 to this */
    bool is_unwatched;  /* a launch among many: guards and inputs are looked at behind the last */
} check_plan;

/* Packed elements of inputs as filled, of the two kinds that come again: the case's own values and
 * normal ones, by the case's own seed. */
enum { CHECK_FILLS = 2 };
typedef struct check_fill {
    ridge_values values;
    uint64_t seed;
    unsigned char *packed; /* NULL: none yet */
} check_fill;
typedef struct check_kept {
    check_fill fills[RIDGE_KERNEL_BUFFERS][CHECK_FILLS];
} check_kept;

typedef struct check_set {
    ridge_device *device;
    ridge_stream *stream;
    const ridge_kernel *kernel;
    const ridge_case *at;
    const int64_t *rows; /* borrowed; NULL: all */
    int64_t row_count;
    check_buffer buffers[RIDGE_KERNEL_BUFFERS];
    size_t count;
    ridge_buffer_desc descs[RIDGE_KERNEL_BUFFERS];
    void *data[RIDGE_KERNEL_BUFFERS];
    ridge_view view;
    void *state;
    bool is_prepared;
    /* Inputs that no output may overwrite hold what this plan says, seen after the last launch: they
     * are not filled again. */
    bool is_held, was_filled;
    check_plan held;
    uint64_t input_hash[RIDGE_KERNEL_BUFFERS]; /* of those inputs, as filled */
    check_kept *kept;                          /* borrowed, NULL: none; sets of a case share it */
} check_set;

/* Packed elements of small, NULL where not an output; hash of the whole memory of outputs, with what
 * lies between their elements. */
typedef struct check_capture {
    unsigned char *bits[RIDGE_KERNEL_BUFFERS];
    uint64_t hash[RIDGE_KERNEL_BUFFERS];
} check_capture;

/* Describes only: nothing is allocated. Bytes of the device that create would take. */
ridge_status check_set_describe(check_set *set, ridge_error *err);
uint64_t check_set_bytes(const check_set *set, uint64_t alias_from_bytes);
/* alias_from_bytes: read-only inputs of at least this size are mapped granules; 0: none. */
ridge_status check_set_allocate(check_set *set, check_place place, uint64_t alias_from_bytes,
                                ridge_error *err);
ridge_status check_set_prepare(check_set *set, ridge_error *err);
void check_set_release(check_set *set);
/* Inputs that no output may overwrite. */
bool check_set_is_constant(const check_set *set, size_t index);
/* Whether inputs, and what is around them, are the same by both. */
bool check_plan_holds(const check_plan *a, const check_plan *b);
/* Bands, inputs, poison, workspaces; what is held already stays. */
ridge_status check_set_fill(check_set *set, const check_plan *plan, ridge_error *err);
ridge_status check_set_read(const check_set *set, size_t index, void *packed, ridge_error *err);
/* text stays "" when the bands, and what lies between elements of outputs, are as they were. */
ridge_status check_set_guards(const check_set *set, int poison, char *text, size_t size,
                              ridge_error *err);
ridge_status check_set_hash(const check_set *set, size_t index, uint64_t *out, ridge_error *err);

ridge_status check_capture_take(const check_set *set, check_capture *out, ridge_error *err);
void check_capture_release(check_capture *of);
/* Whether outputs are those of a capture, in every bit; text says the first difference. The elements
 * are read only where the hashes differ. */
ridge_status check_capture_holds(const check_set *set, const check_capture *first, bool *same,
                                 char *text, size_t size, ridge_error *err);

/* Between a span in host memory and packed elements. */
void check_move_elements(const ridge_buffer_desc *desc, unsigned char *span, unsigned char *packed,
                         bool gathers);

/* -- fills that come again --------------------------------------------------------------------- */

/* false: not kept. */
bool check_kept_give(const check_set *set, size_t index, ridge_values values, uint64_t seed);
/* Of a buffer just filled; where there is no room or memory nothing is kept. */
void check_kept_take(const check_set *set, size_t index, ridge_values values, uint64_t seed);
void check_kept_release(check_kept *of);

/* -- poison ------------------------------------------------------------------------------------ */

uint32_t check_poison_word(ridge_dtype dtype, int poison);
bool check_is_poison(ridge_dtype dtype, const unsigned char *packed, int64_t index, int poison);
/* Whole elements; size_bytes is a multiple of theirs. */
void check_poison_put(ridge_dtype dtype, int poison, unsigned char *packed, size_t size_bytes);
bool check_poison_is_all(ridge_dtype dtype, int poison, const unsigned char *packed,
                         size_t size_bytes);
/* out[i]: whether element i is. */
void check_poison_flag(ridge_dtype dtype, int poison, const unsigned char *packed, int64_t count,
                       bool *out);

/* -- a check ----------------------------------------------------------------------------------- */

typedef struct checker {
    ridge_device *device;
    const ridge_kernel *kernel;
    const ridge_check_options *options;
    ridge_check_result *out;
    ridge_case at, small_at; /* small_at: of the chosen rows */
    ridge_stream *stream;
    ridge_kernel_work work;
    check_set set;
    int64_t *rows;
    int64_t row_count;
    int row_axis_dim;
    uint64_t alias_from_bytes;
    uint64_t enabled; /* bits of tests that look */
    char no_reference[160];
    char guard_text[200], input_text[200];
    bool has_mismatch;
    check_kept kept;
    check_capture base; /* what the case's own values gave, for tests that launch them again */
    bool has_base;
    bool is_whole_but_large; /* beyond verify_elements, verified all the same, once */
    bool has_launch_failed;  /* launch() answered an error of its own: the kernel's fault */
} checker;

/* Arrays of a reference call. */
typedef struct check_answer {
    double *in[RIDGE_KERNEL_BUFFERS], *out[RIDGE_KERNEL_BUFFERS];
    double *magnitude[RIDGE_KERNEL_BUFFERS], *plain[RIDGE_KERNEL_BUFFERS];
    double *condition[RIDGE_KERNEL_BUFFERS]; /* NULL until asked for */
} check_answer;

typedef ridge_status (*check_test_function)(checker *self, ridge_test_result *out,
                                            ridge_error *err);
check_test_function check_test_of(ridge_test test);

extern const check_plan check_plain_plan; /* the case's values, pattern, first poison */

/* RIDGE_TEST_bit looked for. */
bool check_looks(const checker *self, ridge_test test);
bool check_should_stop(const checker *self);
void check_outcome(ridge_test_result *out, ridge_outcome outcome, const char *format, ...)
    RIDGE_PRINTF(3, 4);
/* Fills, launches on the set and waits; notes guards and inputs that changed. answer, when not
 * NULL, gets the inputs as stored before the launch. */
ridge_status check_launch(checker *self, check_set *set, const check_plan *plan,
                          check_answer *answer, ridge_error *err);
/* launch() alone, on a stream. */
ridge_status check_call(check_set *set, ridge_stream *stream, ridge_error *err);
/* Guards and inputs, behind launches that were not watched. */
ridge_status check_look(checker *self, check_set *set, const check_plan *plan, ridge_error *err);
check_plan check_case_plan(const checker *self);
/* The capture of a launch by check_case_plan(), launched at the first call. */
ridge_status check_base(checker *self, ridge_error *err);
ridge_status check_answer_create(const check_set *set, bool with_plain, check_answer *out,
                                 ridge_error *err);
void check_answer_release(check_answer *of);
ridge_status check_answer_compute(const checker *self, check_answer *of, bool with_plain,
                                  ridge_error *err);

/* count doubles of this value. */
ridge_status check_doubles(double **out, int64_t count, double value, ridge_error *err);
/* Fills condition of a computed answer: of each element of an output of a floating type, how far it
 * moves for a relative change of the inputs, over that change. */
ridge_status check_condition(const checker *self, check_answer *of, ridge_error *err);

/* check_rows.c: which rows of a large case are verified, NULL and 0 when all are. */
ridge_status check_rows_choose(checker *self, ridge_error *err);

ridge_status check_values(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_integers(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_position(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_one_hot(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_precision(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_scaling(checker *self, ridge_test_result *out, ridge_error *err);
ridge_status check_different(checker *self, ridge_test_result *out, ridge_error *err);
/* check_neighbour.c */
ridge_status check_neighbour(checker *self, ridge_test_result *out, ridge_error *err);

#endif
