/* SPDX-License-Identifier: Apache-2.0
 *
 * One part of a computation beside another. */
#include "timeline/beside.h"

#include <unistd.h>

/* Fewer cost a thread less than it gives. */
enum { ROWS_LEAST = 50000 };

static void *run(void *argument)
{
    beside *const it = argument;

    it->done = it->task(it->context);
    return NULL;
}

void beside_begin(beside *it, bool (*task)(void *context), void *context, size_t rows)
{
    *it = (beside){.task = task, .context = context};
    it->has_thread = rows >= ROWS_LEAST && sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
                     pthread_create(&it->thread, NULL, run, it) == 0;
}

bool beside_end(beside *it)
{
    if (it->has_thread)
        pthread_join(it->thread, NULL);
    else
        run(it);
    return it->done;
}
