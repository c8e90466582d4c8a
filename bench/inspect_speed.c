/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast images are walked: every entry listed, unpacked, and its kernels' resources read, one
 * entry at a time. Prints a row per file and their sum.
 *
 *     cmake --build build/release --target inspect_speed
 *     build/release/bench/inspect_speed /usr/local/cuda/lib64/lib*.so */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "ridge/image.h"

typedef struct tally {
    size_t containers, cubins, ptx, others, kernels, unread, warnings, not_told;
    double stored_bytes, unpacked_bytes, list_s, walk_s;
} tally;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void walk_entry(ridge_image *image, size_t index, tally *sum)
{
    const ridge_entry *const entry = ridge_image_entry(image, index);
    ridge_loaded loaded;
    ridge_error err;
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
    if (loaded.cubin != NULL) {
        sum->not_told += ridge_cubin_provenance(loaded.cubin)->suffix != entry->suffix;
        for (i = 0; i < ridge_cubin_function_count(loaded.cubin); i++)
            sum->kernels += ridge_cubin_function_at(loaded.cubin, i)->is_kernel;
    }
    ridge_image_entry_unload(image, index);
}

static void print_row(const char *name, const tally *row)
{
    const char *const slash = name;
    size_t i, from = 0;

    for (i = 0; slash[i] != '\0'; i++)
        if (slash[i] == '/')
            from = i + 1;
    printf("%-44s %6zu %6zu %6zu %6zu %7zu %7zu %6zu %8.1f %8.1f %7.3f %7.3f\n", name + from,
           row->containers, row->cubins, row->ptx, row->others, row->kernels, row->unread,
           row->not_told, row->stored_bytes / 1e6, row->unpacked_bytes / 1e6, row->list_s,
           row->walk_s);
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
    sum->not_told += row->not_told;
    sum->stored_bytes += row->stored_bytes;
    sum->unpacked_bytes += row->unpacked_bytes;
    sum->list_s += row->list_s;
    sum->walk_s += row->walk_s;
}

int main(int argc, char **argv)
{
    tally sum = {0};
    struct rusage usage;
    int i;

    printf("%-44s %6s %6s %6s %6s %7s %7s %6s %8s %8s %7s %7s\n", "file", "cont.", "cubins", "PTX",
           "others", "kernels", "unread", "suffix", "MB", "unpacked", "list s", "walk s");
    for (i = 1; i < argc; i++) {
        tally row = {0};
        ridge_image *image;
        ridge_error err;
        size_t entry;
        double start = now_s();

        if (ridge_image_open(argv[i], &image, &err) != RIDGE_OK) {
            printf("%s: %s\n", argv[i], err.text);
            continue;
        }
        row.list_s = now_s() - start;
        start = now_s();
        row.containers = ridge_image_container_count(image);
        for (entry = 0; entry < ridge_image_entry_count(image); entry++)
            walk_entry(image, entry, &row);
        for (; ridge_image_warning(image, row.warnings) != NULL; row.warnings++)
            printf("  %s\n", ridge_image_warning(image, row.warnings));
        row.walk_s = now_s() - start;
        print_row(argv[i], &row);
        add(&sum, &row);
        ridge_image_free(image);
    }
    print_row("sum", &sum);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        printf("largest resident set, the mapped file included: %.0f MB\n",
               (double)usage.ru_maxrss / 1e3);
    return sum.unread > 0;
}
