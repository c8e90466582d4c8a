/* SPDX-License-Identifier: Apache-2.0
 *
 * What a redacted export keeps: a table of tables. */
#ifndef RIDGE_NSYS_REDACT_H
#define RIDGE_NSYS_REDACT_H

#include "timeline/nsys/nsys_internal.h"

typedef enum nsys_threads {
    NSYS_THREADS_ANY,
    NSYS_THREADS_LEARN, /* a thread with such a row is of the program */
    NSYS_THREADS_KNOWN  /* only rows of those: others are of the whole machine */
} nsys_threads;

/* A table that is copied, with its columns that are. Sets of columns are bits, as in nsys_table. */
typedef struct nsys_copied {
    const char *name;
    const char *columns[NSYS_COLUMNS];
    uint32_t text;    /* text that is searched for names and paths */
    uint32_t strings; /* numbers of such text in StringIds */
    uint32_t kernels; /* numbers of names of kernels, which stay */
    uint32_t calls;   /* numbers of names of calls, which stay */
    nsys_threads threads;
    unsigned thread; /* the column that tells the thread */
} nsys_copied;

/* In an order in which threads are learned before they are needed. */
const nsys_copied *nsys_copied_tables(size_t *count);
/* A key of the tables of settings whose value tells nothing of people and machines. */
bool nsys_is_copied_setting(const char *key);

#endif
