/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast images are walked: every entry listed, unpacked, its kernels' resources read and their
 * names entered into a table of coverage, one entry at a time. Prints a row per file and their sum,
 * with the largest memory: all of it, which the mapped file is a part of, and without files.
 *
 *     cmake --build build/release --target inspect_speed
 *     build/release/bench/inspect_speed /usr/local/cuda/lib64/lib*.so */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ridge/image.h"

typedef struct tally {
    size_t containers, cubins, ptx, others, kernels, names, unread, warnings;
    double stored_bytes, unpacked_bytes, list_s, walk_s, anonymous_bytes;
} tally;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Pages in memory that are of no file, by Linux; 0 elsewhere. */
static double anonymous_bytes(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    unsigned long all = 0, resident = 0, shared = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu %lu %lu", &all, &resident, &shared) != 3)
        resident = shared = 0;
    fclose(file);
    return (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

static void walk_entry(ridge_image *image, size_t index, ridge_coverage *coverage, tally *sum)
{
    const ridge_entry *const entry = ridge_image_entry(image, index);
    ridge_loaded loaded;
    ridge_error err;
    double now_bytes;
    size_t i;

    sum->cubins += entry->kind == RIDGE_ENTRY_CUBIN;
    sum->ptx += entry->kind == RIDGE_ENTRY_PTX;
    sum->others += entry->kind != RIDGE_ENTRY_CUBIN && entry->kind != RIDGE_ENTRY_PTX;
    sum->stored_bytes += (double)entry->stored_bytes;
    sum->unpacked_bytes += (double)entry->unpacked_bytes;
    if (ridge_image_entry_load(image, index, &loaded, &err) != RIDGE_OK) {
        printf("  entry %zu: %s\n", index, err.text);
        sum->unread++;
        return;
    }
    for (i = 0; loaded.cubin != NULL && i < ridge_cubin_function_count(loaded.cubin); i++)
        sum->kernels += ridge_cubin_function_at(loaded.cubin, i)->is_kernel;
    if (ridge_coverage_add(coverage, entry, index, &loaded, &err) != RIDGE_OK)
        printf("  entry %zu: %s\n", index, err.text);
    now_bytes = anonymous_bytes();
    if (now_bytes > sum->anonymous_bytes)
        sum->anonymous_bytes = now_bytes;
    ridge_image_entry_unload(image, index);
}

static void print_row(const char *name, const tally *row)
{
    const char *const slash = name;
    size_t i, from = 0;

    for (i = 0; slash[i] != '\0'; i++)
        if (slash[i] == '/')
            from = i + 1;
    printf("%-40s %6zu %6zu %5zu %6zu %7zu %6zu %6zu %7.1f %8.1f %6.3f %6.3f %6.1f\n", name + from,
           row->containers, row->cubins, row->ptx, row->others, row->kernels, row->names,
           row->unread, row->stored_bytes / 1e6, row->unpacked_bytes / 1e6, row->list_s,
           row->walk_s, row->anonymous_bytes / 1e6);
}

static void add(tally *sum, const tally *row)
{
    sum->containers += row->containers;
    sum->cubins += row->cubins;
    sum->ptx += row->ptx;
    sum->others += row->others;
    sum->kernels += row->kernels;
    sum->unread += row->unread;
    sum->warnings += row->warnings;
    sum->names += row->names;
    if (row->anonymous_bytes > sum->anonymous_bytes)
        sum->anonymous_bytes = row->anonymous_bytes;
    sum->stored_bytes += row->stored_bytes;
    sum->unpacked_bytes += row->unpacked_bytes;
    sum->list_s += row->list_s;
    sum->walk_s += row->walk_s;
}

/* False when the file holds no code. */
static bool walk_file(const char *path, tally *row)
{
    static const ridge_compute targets[] = {{8, 0}, {9, 0}, {12, 0}};
    double start = now_s();
    ridge_coverage *coverage;
    ridge_image *image;
    ridge_error err;
    size_t entry;

    if (ridge_image_open(path, &image, &err) != RIDGE_OK) {
        printf("%s: %s\n", path, err.text);
        return false;
    }
    row->list_s = now_s() - start;
    start = now_s();
    row->containers = ridge_image_container_count(image);
    if (ridge_coverage_create(targets, sizeof(targets) / sizeof(targets[0]), &coverage, &err) ==
        RIDGE_OK) {
        for (entry = 0; entry < ridge_image_entry_count(image); entry++)
            walk_entry(image, entry, coverage, row);
        ridge_coverage_finish(coverage);
        row->names = ridge_coverage_kernel_count(coverage);
        ridge_coverage_free(coverage);
    }
    for (; ridge_image_warning(image, row->warnings) != NULL; row->warnings++)
        printf("  %s\n", ridge_image_warning(image, row->warnings));
    row->walk_s = now_s() - start;
    ridge_image_free(image);
    return true;
}

int main(int argc, char **argv)
{
    tally sum = {0};
    struct rusage usage;
    int i;

    printf("%-40s %6s %6s %5s %6s %7s %6s %6s %7s %8s %6s %6s %6s\n", "file", "cont.", "cubins",
           "PTX", "others", "kernels", "names", "unread", "MB", "unpacked", "list s", "walk s",
           "own MB");
    for (i = 1; i < argc; i++) {
        tally row = {0};

        if (!walk_file(argv[i], &row))
            continue;
        print_row(argv[i], &row);
        add(&sum, &row);
    }
    print_row("sum", &sum);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        printf("largest resident set, the mapped file included: %.0f MB\n",
               (double)usage.ru_maxrss / 1e3);
    return sum.unread > 0;
}
