/* SPDX-License-Identifier: Apache-2.0
 *
 * How long `ridge diagnose` takes, as a user sees it: the whole command, started anew each time.
 *
 *     diagnose_speed RIDGE FILE...            median, fastest and slowest of 21 runs, peak memory
 *     diagnose_speed --repeat N FILE OUT      writes the blocks of a report N times over
 *
 * A report is a header and blocks, so the second form makes a large report of N times as many
 * results out of a small one: the string table is the same each time, so that names still fit. */
#define _DEFAULT_SOURCE 1 /* wait4 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 21, WARM_UPS = 2, HEADER_BYTES = 10 };

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* One run with its output thrown away; negative when it failed. */
static double run_once(const char *ridge, const char *file, long *peak_kib)
{
    const double start_s = now_s();
    const pid_t child = fork();
    struct rusage usage;
    int status = 0;

    if (child == 0) {
        const int sink = open("/dev/null", O_WRONLY);

        if (sink < 0 || dup2(sink, STDOUT_FILENO) < 0)
            _exit(127);
        execl(ridge, ridge, "diagnose", "--json", file, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return -1;
    if (usage.ru_maxrss > *peak_kib)
        *peak_kib = usage.ru_maxrss;
    return now_s() - start_s;
}

static int compare_times(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static int measure(const char *ridge, const char *file)
{
    double times_s[RUNS];
    struct stat status;
    long peak_kib = 0;
    int i;

    for (i = -WARM_UPS; i < RUNS; i++) {
        const double time_s = run_once(ridge, file, &peak_kib);

        if (time_s < 0) {
            fprintf(stderr, "diagnose_speed: %s diagnose %s failed\n", ridge, file);
            return 1;
        }
        if (i >= 0)
            times_s[i] = time_s;
    }
    if (stat(file, &status) != 0)
        return 1;
    qsort(times_s, RUNS, sizeof(times_s[0]), compare_times);
    printf("%8.2f MiB  median %7.1f ms  fastest %7.1f  slowest %7.1f  peak %6.1f MiB  %s\n",
           (double)status.st_size / 0x1p20, times_s[RUNS / 2] * 1e3, times_s[0] * 1e3,
           times_s[RUNS - 1] * 1e3, (double)peak_kib / 1024, file);
    return 0;
}

static int repeat(const char *count_text, const char *from, const char *to)
{
    const long count = strtol(count_text, NULL, 10);
    FILE *const input = fopen(from, "rb");
    FILE *const output = input != NULL ? fopen(to, "wb") : NULL; /* which empties it */
    struct stat status;
    char *bytes;
    long i;
    int result = 1;

    if (input == NULL || output == NULL || count < 1 || stat(from, &status) != 0 ||
        status.st_size <= HEADER_BYTES)
        return fprintf(stderr, "diagnose_speed: cannot read %s or write %s\n", from, to), 1;
    bytes = malloc((size_t)status.st_size);
    if (bytes != NULL && fread(bytes, 1, (size_t)status.st_size, input) == (size_t)status.st_size) {
        fwrite(bytes, 1, HEADER_BYTES, output);
        for (i = 0; i < count; i++)
            fwrite(bytes + HEADER_BYTES, 1, (size_t)status.st_size - HEADER_BYTES, output);
        result = ferror(output) != 0;
    }
    free(bytes);
    fclose(input);
    return fclose(output) != 0 || result != 0;
}

int main(int argc, char **argv)
{
    int result = 0, i;

    if (argc == 5 && strcmp(argv[1], "--repeat") == 0)
        return repeat(argv[2], argv[3], argv[4]);
    if (argc < 3) {
        fprintf(stderr, "usage: diagnose_speed RIDGE FILE... | --repeat N FILE OUT\n");
        return 2;
    }
    for (i = 2; i < argc; i++)
        result |= measure(argv[1], argv[i]);
    return result;
}
