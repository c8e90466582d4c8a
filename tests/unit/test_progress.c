/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that shows that work goes on: on a terminal, a pseudo-terminal here, and nowhere else. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "cases.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "ridge/bench.h"

/* Seconds; what the program and what it tests take for the time: a rate of three digits and a tenth of
 * a second would depend on the machine's load. */
static double clock_s = 1000;

int clock_gettime(clockid_t which, struct timespec *out);
int clock_gettime(clockid_t which, struct timespec *out)
{
    (void)which;
    out->tv_sec = (time_t)clock_s;
    out->tv_nsec = (long)((clock_s - (double)out->tv_sec) * 1e9);
    return 0;
}

/* Standard error while a test runs: a terminal or a pipe. */
typedef struct standard_error {
    int kept, other; /* the end that is read */
} standard_error;

static bool redirect(standard_error *to, bool is_terminal)
{
    int ends[2];

    if (is_terminal) {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
            return false;
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
        if (ends[1] < 0)
            return false;
    } else if (pipe(ends) != 0) {
        return false;
    }
    fflush(stderr);
    to->kept = dup(STDERR_FILENO);
    to->other = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return true;
}

/* What was printed since. */
static void restore(standard_error *to, char *text, size_t size)
{
    enum { PATIENCE_MS = 60000 };
    struct pollfd wait = {to->other, POLLIN, 0};
    const char end = '\a';
    size_t used = 0;

    fflush(stderr);
    /* A terminal hands on what was written in pieces, and in its own time: until this comes too. */
    assert_int_equal(write(STDERR_FILENO, &end, 1), 1);
    while (used < size - 1 && (used == 0 || text[used - 1] != end) &&
           poll(&wait, 1, PATIENCE_MS) > 0 && (wait.revents & POLLIN) != 0) {
        const ssize_t got = read(to->other, text + used, size - 1 - used);

        used += got > 0 ? (size_t)got : 0;
    }
    used -= used > 0 && text[used - 1] == end;
    text[used] = '\0';
    dup2(to->kept, STDERR_FILENO);
    close(to->kept);
    close(to->other);
}

static struct line_case {
    const char *name;
    size_t done, total;
    double spent_s, remaining_s;
    const char *expected;
} lines[] = {
    {"begins", 0, 8, 0, NAN, "\r0/8  compare\033[K"},
    {"has a rate, and what is left by it", 2, 8, 10, NAN, "\r2/8  compare  0.2/s  30 s left\033[K"},
    {"what is left was said", 2, 8, 10, 400, "\r2/8  compare  0.2/s  7 min left\033[K"},
    {"total not known", 3, 0, 6, NAN, "\r3  compare  0.5/s\033[K"},
    {"hours", 1, 3, 7200, NAN, "\r1/3  compare  0.000139/s  4.0 h left\033[K"},
};

static void draws(void **state)
{
    const struct line_case *const row = *state;
    struct progress progress;
    standard_error to;
    char text[400];

    if (!redirect(&to, true))
        skip();
    progress_begin(&progress);
    clock_s += row->spent_s;
    progress_show(&progress, row->done, row->total, "compare", row->remaining_s);
    restore(&to, text, sizeof(text));
    assert_string_equal(text, row->expected);
}

/* Estimate beforehand; ten times a second at most; gone when something else is printed. */
static void announces_and_clears(void **state)
{
    struct progress progress;
    standard_error to;
    char text[400];

    (void)state;
    if (!redirect(&to, true))
        skip();
    progress_begin(&progress);
    progress_clear(&progress); /* nothing is there */
    progress_announce(&progress, 40.4);
    progress_announce(&progress, NAN);
    progress_show(&progress, 0, 2, "a", NAN);
    clock_s += 0.09;
    progress_show(&progress, 1, 2, "b", NAN); /* too soon */
    clock_s += 0.02;
    progress_show(&progress, 1, 2, "c", NAN);
    progress_clear(&progress);
    progress_clear(&progress);
    restore(&to, text, sizeof(text));
    assert_string_equal(text, "about 40 s\r\n\r0/2  a\033[K\r1/2  c  0 s left\033[K\r\033[K");
}

static void is_quiet_in_a_pipe(void **state)
{
    struct progress progress;
    standard_error to;
    char text[400];

    (void)state;
    assert_true(redirect(&to, false));
    progress_begin(&progress);
    progress_announce(&progress, 40);
    progress_show(&progress, 1, 2, "a", 3);
    progress_clear(&progress);
    restore(&to, text, sizeof(text));
    assert_string_equal(text, "");
}

static void fits_the_terminal(void **state)
{
    struct progress progress;
    standard_error to;
    char text[400];

    (void)state;
    if (!redirect(&to, true))
        skip();
    setenv("COLUMNS", "40", 1);
    progress_begin(&progress);
    progress_show(&progress, 1, 2, "a name that is longer than the line of this terminal", NAN);
    restore(&to, text, sizeof(text));
    unsetenv("COLUMNS");
    assert_string_equal(text, "\r1/2  a name that is longer than the lin\033[K");
}

static struct duration_case {
    const char *name;
    double seconds;
    const char *expected;
} durations[] = {
    {"none", 0, "0 s"},           {"negative", -3, "0 s"},       {"seconds", 99.4, "99 s"},
    {"minutes", 99.6, "2 min"},   {"hours", 99.6 * 60, "1.7 h"}, {"not known", NAN, "n/a"},
    {"endless", INFINITY, "n/a"},
};

static void says_durations(void **state)
{
    const struct duration_case *const row = *state;
    char text[16];

    assert_string_equal(progress_duration(row->seconds, text, sizeof(text)), row->expected);
}

/* What bench and compare announce, for a case. */
static struct estimate_case {
    const char *name;
    double budget_s;
    ridge_regime regime;
    bool is_comparison;
    double expected_s;
} estimates[] = {
    {"a bench", 0, RIDGE_REGIME_AUTO, false, 3},
    {"a comparison", 0, RIDGE_REGIME_AUTO, true, 4.5},
    {"a small budget", 0.5, RIDGE_REGIME_AUTO, true, 3},
    {"sustained too", 0, RIDGE_REGIME_BOTH, true, 40.5},
    {"sustained, at least its blocks", 1, RIDGE_REGIME_BOTH, true, 15.5},
};

static void estimates_time(void **state)
{
    const struct estimate_case *const row = *state;
    const ridge_bench_options options = {.budget_s = row->budget_s, .regime = row->regime};

    assert_float_equal(ridge_bench_estimate_s(&options, row->is_comparison), row->expected_s, 1e-9);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, draws, lines);
    cases_add(&list, "announced and cleared", announces_and_clears, NULL);
    cases_add(&list, "a pipe", is_quiet_in_a_pipe, NULL);
    cases_add(&list, "a narrow terminal", fits_the_terminal, NULL);
    CASES_ADD_ROWS(&list, says_durations, durations);
    CASES_ADD_ROWS(&list, estimates_time, estimates);
    return cases_run(&list, "progress");
}
