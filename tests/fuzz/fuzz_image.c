/* SPDX-License-Identifier: Apache-2.0
 *
 * An image, whatever the bytes are: its entries, each unpacked and read, and the coverage of their
 * kernels. Seeds, all of tests/data/binary/tiny.cu by nvcc 13.0.88, most with -DWITHOUT_SUM: lz4
 * (PTX, -compress-mode=speed), plain (sm_80, none), zstd (sm_110, size), lineinfo (sm_90a, size),
 * object.o (sm_80, size), lto.o (lto_90), members.a (`ar rcSD` of three of them). */
#include "ridge/image.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ENTRIES_MAX = 64,
    UNPACKED_MAX = 1 << 22, /* of an entry: more is allowed, and slow */
};

static void walk_entry(ridge_image *image, size_t index, ridge_coverage *coverage)
{
    const ridge_entry *const entry = ridge_image_entry(image, index);
    ridge_loaded loaded;
    ridge_error err;
    size_t i;

    if (entry->unpacked_bytes > UNPACKED_MAX)
        return;
    if (ridge_image_entry_load(image, index, &loaded, &err) != RIDGE_OK) {
        if (loaded.cubin != NULL || loaded.text != NULL || err.text[0] == '\0')
            abort();
        return;
    }
    for (i = 0; i < loaded.kernel_count; i++)
        if (loaded.kernels[i].name == NULL || loaded.kernels[i].parameter_bytes < 0)
            abort();
    if (loaded.cubin != NULL)
        for (i = 0; i < ridge_cubin_function_count(loaded.cubin); i++)
            if (ridge_cubin_function_at(loaded.cubin, i)->name == NULL)
                abort();
    if (ridge_coverage_add(coverage, entry, index, &loaded, &err) != RIDGE_OK)
        abort();
    ridge_image_entry_unload(image, index);
}

static void check_coverage(const ridge_image *image, const ridge_coverage *coverage, size_t targets)
{
    size_t i, k;

    for (k = 0; k < ridge_coverage_kernel_count(coverage); k++)
        for (i = 0; i < targets; i++) {
            const ridge_coverage_cell cell = ridge_coverage_at(coverage, k, i);

            if ((cell.run == RIDGE_RUN_NONE) != (cell.entry == SIZE_MAX) ||
                (cell.entry != SIZE_MAX && ridge_image_entry(image, cell.entry) == NULL))
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ridge_compute targets[] = {{8, 7}, {9, 0}, {12, 1}};
    const size_t target_count = sizeof(targets) / sizeof(targets[0]);
    ridge_coverage *coverage;
    ridge_image *image;
    ridge_error err;
    size_t i;

    if (ridge_image_read(data, size, "fuzz", &image, &err) != RIDGE_OK) {
        if (image != NULL || err.text[0] == '\0')
            abort();
        return 0;
    }
    if (ridge_image_entry_count(image) == 0 ||
        ridge_coverage_create(targets, target_count, &coverage, &err) != RIDGE_OK)
        abort();
    for (i = 0; i < ridge_image_entry_count(image) && i < ENTRIES_MAX; i++)
        walk_entry(image, i, coverage);
    ridge_coverage_finish(coverage);
    check_coverage(image, coverage, target_count);
    for (i = 0; ridge_image_warning(image, i) != NULL; i++)
        if (i > 1000)
            abort();
    ridge_coverage_free(coverage);
    ridge_image_free(image);
    return 0;
}
