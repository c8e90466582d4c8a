/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a computation that needs nothing of another one, and runs beside it in a thread of its
 * own where there is enough to do and a processor for it; else by itself, when it is waited for. */
#ifndef RIDGE_TIMELINE_BESIDE_H
#define RIDGE_TIMELINE_BESIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct beside {
    bool (*task)(void *context);
    void *context;
    pthread_t thread;
    bool has_thread, done;
} beside;

/* rows: how many the task goes through. What it writes is nobody else's until beside_end(). */
void beside_begin(beside *it, bool (*task)(void *context), void *context, size_t rows);
/* Waits for the task and returns what it returned. */
bool beside_end(beside *it);

#endif
