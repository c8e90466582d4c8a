/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations have a least work, a row each. */
#ifndef RIDGE_TIMELINE_KERNEL_ROWS_H
#define RIDGE_TIMELINE_KERNEL_ROWS_H

#include <stddef.h>

/* How the inputs become work. */
typedef enum work_kind {
    WORK_PRODUCT,     /* inputs a and a + 1 are matrices, [.., m, k] and [.., k, n] */
    WORK_LINEAR,      /* [.., k] and [n, k] */
    WORK_ELEMENTWISE, /* all inputs read, their common shape written */
    WORK_ROWS,        /* all inputs read, as much written as the first one is large */
    WORK_COMPARE,     /* elementwise, a byte an element written */
    WORK_REDUCE,      /* the first input read */
    WORK_WRITE_FIRST, /* the first input written, the others read */
    WORK_IN_PLACE_2,  /* all inputs read, the first two written */
    WORK_LOOKUP,      /* rows of the first, chosen by the second, written */
    WORK_PLACE,       /* the last two, index and values, read, the values written into the first */
    WORK_GATHER,      /* elements of the first, chosen one by one by the last, written */
    WORK_SELECT,      /* slices of the first, chosen by the last, written */
    WORK_SCATTER,     /* the last two, index and source, read as far as the index goes */
    WORK_READ,        /* inputs read, what is written is not known */
    WORK_WRITTEN,     /* as much written as the first one is large, nothing read for sure */
    WORK_JOIN,        /* a list: all read and written */
    WORK_LISTS,       /* lists of one length: all read, as many written as the kernel's name says */
    WORK_ATTENTION,   /* query, key, value as [batch, heads, tokens, dim] */
    WORK_ATTENTION_2, /* the same as [batch, tokens, heads, dim] */
    WORK_BACKWARD,    /* of an attention: the result's gradient, query, key, value */
    WORK_BACKWARD_2,
    WORK_FLASH,       /* WORK_ATTENTION_2, a window three behind what says whether it is causal */
    WORK_WINDOWED,    /* WORK_ATTENTION_2, a window right behind what says whether it is causal */
    WORK_CONVOLUTION, /* input, weight, padding, stride, dilation, groups */
    WORK_FUSED_CONVOLUTION, /* input, weight, bias, stride, padding, dilation, groups */
    WORK_TRITON             /* "triton_...", the kernel's own name */
} work_kind;

typedef struct work_row {
    const char *operation;
    work_kind kind;
    /* Of products the first of their inputs; of attention the number that says whether it is causal;
     * of what reads all inputs, how many there are: one behind them is where the result goes (out=),
     * and is not read. */
    size_t input;
    /* In the name of the kernel that does this, once, whatever else the operation launches. */
    const char *kernel;
} work_row;

/* NULL: there is none. */
const work_row *work_row_find(const char *operation, const char *kernel);

#endif
