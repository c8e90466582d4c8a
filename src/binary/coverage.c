/* SPDX-License-Identifier: Apache-2.0
 *
 * Which GPU runs what. The rules are those of NVIDIA's compatibility guide (CUDA C++ Programming
 * Guide, "Compute Capabilities" and "Feature Set Compiler Targets"): machine code runs on its major
 * version from its minor version on, "a" on one chip, "f" on a family, PTX on everything newer. The
 * parts of Jetson and Drive stand apart: machine code between them and others is not promised.
 *
 * Coverage is kept per name of a kernel: a hash table from names to a row of cells, of which each
 * holds the entry that the driver would take so far. */
#include <stdlib.h>
#include <string.h>

#include "binary/image_internal.h"

/* ---- rules ---- */

/* Chips of Jetson and Drive: Xavier, Orin, Thor (10.1 to CUDA 12, 11.0 from 13). */
static bool is_tegra(int sm)
{
    return sm == 53 || sm == 62 || sm == 72 || sm == 87 || sm == 101 || sm == 110;
}

/* The highest minor version of a family, for targets "f". */
static int last_of_family(int sm)
{
    switch (sm) {
    case 100:
    case 103:
        return 103;
    case 120:
    case 121:
        return 121;
    default:
        return sm;
    }
}

/* sm_101 of CUDA 12 is sm_110 of CUDA 13. */
static int chip_of(int sm)
{
    return sm == 101 ? 110 : sm;
}

static ridge_run run_of_cubin(const ridge_entry *entry, int chip)
{
    const int sm = entry->sm;

    if (entry->suffix == RIDGE_TARGET_ARCH)
        return sm == chip ? RIDGE_RUN_NATIVE : RIDGE_RUN_NONE;
    if (entry->suffix == RIDGE_TARGET_FAMILY)
        return chip >= sm && chip <= last_of_family(sm) ? RIDGE_RUN_NATIVE : RIDGE_RUN_NONE;
    if (sm == chip)
        return RIDGE_RUN_NATIVE;
    if (chip_of(sm) == chip_of(chip)) /* one chip under its two numbers */
        return RIDGE_RUN_NOT_PROMISED;
    if (sm / 10 != chip / 10 || sm > chip)
        return RIDGE_RUN_NONE;
    return is_tegra(sm) || is_tegra(chip) ? RIDGE_RUN_NOT_PROMISED : RIDGE_RUN_NATIVE;
}

static ridge_run run_of_ptx(const ridge_entry *entry, int chip)
{
    bool runs = chip >= entry->sm;

    if (entry->suffix == RIDGE_TARGET_ARCH)
        runs = chip == entry->sm;
    else if (entry->suffix == RIDGE_TARGET_FAMILY)
        runs = chip >= entry->sm && chip <= last_of_family(entry->sm);
    return runs ? RIDGE_RUN_JIT : RIDGE_RUN_NONE;
}

ridge_run ridge_entry_runs(const ridge_entry *entry, int major, int minor)
{
    const int chip = major * 10 + minor;

    if (entry->sm <= 0)
        return RIDGE_RUN_NONE;
    switch (entry->kind) {
    case RIDGE_ENTRY_CUBIN:
        return run_of_cubin(entry, chip);
    case RIDGE_ENTRY_PTX:
        return run_of_ptx(entry, chip);
    case RIDGE_ENTRY_LTO:
    case RIDGE_ENTRY_UNKNOWN:
    default:
        return RIDGE_RUN_NONE;
    }
}

/* How narrow a target is: the more, the more its code may use of the chip. */
static int narrowness(ridge_target_suffix suffix)
{
    return suffix == RIDGE_TARGET_ARCH ? 2 : suffix == RIDGE_TARGET_FAMILY ? 1 : 0;
}

enum { RANK_RUN_SHIFT = 24, RANK_SM_SHIFT = 8, RANK_SM_MAX = 0xffff };

/* Orders entries by what the driver takes, more is better; 0: does not run there. */
static uint32_t rank_of(const ridge_entry *entry, int major, int minor)
{
    const ridge_run run = ridge_entry_runs(entry, major, minor);
    const uint32_t sm = entry->sm < RANK_SM_MAX ? (uint32_t)entry->sm : RANK_SM_MAX;

    if (run == RIDGE_RUN_NONE)
        return 0;
    return (uint32_t)run << RANK_RUN_SHIFT | sm << RANK_SM_SHIFT |
           (uint32_t)narrowness(entry->suffix) << 1 | (entry->is_relocatable ? 0 : 1);
}

bool ridge_entry_is_preferred(const ridge_entry *a, const ridge_entry *b, int major, int minor)
{
    return rank_of(a, major, minor) > rank_of(b, major, minor);
}

const char *ridge_run_name(ridge_run run)
{
    switch (run) {
    case RIDGE_RUN_NATIVE:
        return "native";
    case RIDGE_RUN_JIT:
        return "jit";
    case RIDGE_RUN_NOT_PROMISED:
        return "not promised";
    case RIDGE_RUN_NONE:
    default:
        return "none";
    }
}

/* ---- coverage ---- */

enum { SLOTS_FIRST = 64 };

typedef struct coverage_cell {
    uint32_t rank; /* of entry; 0: none */
    uint32_t entry;
} coverage_cell;

typedef struct coverage_row {
    const char *name;
    uint64_t hash;
    size_t cells; /* index of its first */
} coverage_row;

struct ridge_coverage {
    ridge_arena names;
    ridge_compute targets[RIDGE_COVERAGE_TARGETS_MAX];
    size_t target_count;
    coverage_row *rows; /* row_count of half as many as there are slots */
    coverage_cell *cells;
    size_t row_count;
    size_t *slots; /* index of a row + 1; 0: free */
    size_t slot_count;
    size_t unread;
    ridge_error first_error;
};

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory listing kernels");
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The slot of a name, or the free one where it belongs. */
static size_t find_slot(const ridge_coverage *coverage, const char *name, uint64_t hash)
{
    size_t at = (size_t)hash & (coverage->slot_count - 1);

    while (coverage->slots[at] != 0) {
        const coverage_row *const row = &coverage->rows[coverage->slots[at] - 1];

        if (row->hash == hash && strcmp(row->name, name) == 0)
            break;
        at = (at + 1) & (coverage->slot_count - 1);
    }
    return at;
}

/* Twice as many slots, and rows for half of them. */
static ridge_status grow(ridge_coverage *coverage, ridge_error *err)
{
    const size_t slot_count = coverage->slot_count > 0 ? coverage->slot_count * 2 : SLOTS_FIRST;
    size_t *const slots = ridge_calloc(slot_count, sizeof(*slots));
    coverage_row *rows;
    coverage_cell *cells;
    size_t i;

    if (slots == NULL)
        return out_of_memory(err);
    rows = ridge_realloc_array(coverage->rows, slot_count / 2, sizeof(*rows));
    if (rows != NULL)
        coverage->rows = rows;
    cells = ridge_realloc_array(coverage->cells, slot_count / 2,
                                sizeof(*cells) * coverage->target_count);
    if (cells != NULL)
        coverage->cells = cells;
    if (rows == NULL || cells == NULL) {
        ridge_free(slots);
        return out_of_memory(err);
    }
    ridge_free(coverage->slots);
    coverage->slots = slots;
    coverage->slot_count = slot_count;
    for (i = 0; i < coverage->row_count; i++)
        slots[find_slot(coverage, rows[i].name, rows[i].hash)] = i + 1;
    return RIDGE_OK;
}

/* The row of a kernel, which is new when its name is. */
static ridge_status row_of(ridge_coverage *coverage, const char *name, coverage_row **out,
                           ridge_error *err)
{
    const uint64_t hash = hash_of(name);
    coverage_row *row;
    size_t slot;

    if (coverage->row_count >= coverage->slot_count / 2) {
        const ridge_status status = grow(coverage, err);

        if (status != RIDGE_OK)
            return status;
    }
    slot = find_slot(coverage, name, hash);
    if (coverage->slots[slot] == 0) {
        row = &coverage->rows[coverage->row_count];
        row->name = ridge_alloc_text(&coverage->names, name, strlen(name));
        if (row->name == NULL)
            return out_of_memory(err);
        row->hash = hash;
        row->cells = coverage->row_count * coverage->target_count;
        memset(&coverage->cells[row->cells], 0, sizeof(coverage_cell) * coverage->target_count);
        coverage->slots[slot] = ++coverage->row_count;
    }
    *out = &coverage->rows[coverage->slots[slot] - 1];
    return RIDGE_OK;
}

ridge_status ridge_coverage_create(const ridge_compute *targets, size_t target_count,
                                   ridge_coverage **out, ridge_error *err)
{
    ridge_coverage *coverage;

    *out = NULL;
    if (target_count == 0 || target_count > RIDGE_COVERAGE_TARGETS_MAX)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%zu chips to cover, 1 to %d can be",
                          target_count, RIDGE_COVERAGE_TARGETS_MAX);
    coverage = ridge_calloc(1, sizeof(*coverage));
    if (coverage == NULL)
        return out_of_memory(err);
    ridge_arena_init(&coverage->names);
    memcpy(coverage->targets, targets, target_count * sizeof(*targets));
    coverage->target_count = target_count;
    *out = coverage;
    return RIDGE_OK;
}

static ridge_status add_kernel(ridge_coverage *coverage, const char *name, const uint32_t *ranks,
                               size_t index, ridge_error *err)
{
    coverage_row *row = NULL;
    const ridge_status status = row_of(coverage, name, &row, err);
    size_t i;

    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < coverage->target_count; i++) {
        coverage_cell *const cell = &coverage->cells[row->cells + i];

        if (ranks[i] > cell->rank) {
            cell->rank = ranks[i];
            cell->entry = (uint32_t)index;
        }
    }
    return RIDGE_OK;
}

ridge_status ridge_coverage_add(ridge_coverage *coverage, const ridge_entry *entry, size_t index,
                                const ridge_loaded *loaded, ridge_error *err)
{
    uint32_t ranks[RIDGE_COVERAGE_TARGETS_MAX] = {0};
    ridge_status status = RIDGE_OK;
    size_t i;

    if (index > UINT32_MAX)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW, "entry %zu is one too many", index);
    for (i = 0; i < coverage->target_count; i++)
        ranks[i] = rank_of(entry, coverage->targets[i].major, coverage->targets[i].minor);
    for (i = 0; i < loaded->kernel_count && status == RIDGE_OK; i++)
        status = add_kernel(coverage, loaded->kernels[i].name, ranks, index, err);
    if (loaded->cubin == NULL)
        return status;
    for (i = 0; i < ridge_cubin_function_count(loaded->cubin) && status == RIDGE_OK; i++) {
        const ridge_function *const function = ridge_cubin_function_at(loaded->cubin, i);

        if (function->is_kernel)
            status = add_kernel(coverage, function->name, ranks, index, err);
    }
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const coverage_row *const left = a;
    const coverage_row *const right = b;

    return strcmp(left->name, right->name);
}

void ridge_coverage_finish(ridge_coverage *coverage)
{
    if (coverage->row_count > 0)
        qsort(coverage->rows, coverage->row_count, sizeof(*coverage->rows), compare_rows);
    ridge_free(coverage->slots);
    coverage->slots = NULL;
    coverage->slot_count = 0;
}

ridge_status ridge_coverage_of(ridge_image *image, const ridge_compute *targets,
                               size_t target_count, ridge_coverage **out, ridge_error *err)
{
    ridge_coverage *coverage;
    ridge_status status;
    size_t i;

    *out = NULL;
    status = ridge_coverage_create(targets, target_count, &coverage, err);
    for (i = 0; i < ridge_image_entry_count(image) && status == RIDGE_OK; i++) {
        ridge_loaded loaded;
        ridge_error why;

        status = ridge_image_entry_load(image, i, &loaded, &why);
        if (status == RIDGE_OK) {
            status = ridge_coverage_add(coverage, ridge_image_entry(image, i), i, &loaded, err);
            ridge_image_entry_unload(image, i);
        } else if (status == RIDGE_ERR_OUT_OF_MEMORY) {
            ridge_fail(err, status, "%s", why.text);
        } else {
            if (coverage->unread++ == 0)
                ridge_fail(&coverage->first_error, status, "entry %zu: %s", i, why.text);
            status = RIDGE_OK;
        }
    }
    if (status != RIDGE_OK) {
        ridge_coverage_free(coverage);
        return status;
    }
    ridge_coverage_finish(coverage);
    *out = coverage;
    return RIDGE_OK;
}

void ridge_coverage_free(ridge_coverage *coverage)
{
    if (coverage == NULL)
        return;
    ridge_free(coverage->slots);
    ridge_free(coverage->cells);
    ridge_free(coverage->rows);
    ridge_arena_release(&coverage->names);
    ridge_free(coverage);
}

size_t ridge_coverage_kernel_count(const ridge_coverage *coverage)
{
    return coverage->row_count;
}

const char *ridge_coverage_kernel(const ridge_coverage *coverage, size_t kernel)
{
    return kernel < coverage->row_count ? coverage->rows[kernel].name : NULL;
}

ridge_coverage_cell ridge_coverage_at(const ridge_coverage *coverage, size_t kernel, size_t target)
{
    ridge_coverage_cell found = {RIDGE_RUN_NONE, SIZE_MAX};
    const coverage_cell *cell;

    if (kernel >= coverage->row_count || target >= coverage->target_count)
        return found;
    cell = &coverage->cells[coverage->rows[kernel].cells + target];
    if (cell->rank != 0) {
        found.run = (ridge_run)(cell->rank >> RANK_RUN_SHIFT);
        found.entry = cell->entry;
    }
    return found;
}

size_t ridge_coverage_unread(const ridge_coverage *coverage, const char **first_error)
{
    if (first_error != NULL)
        *first_error = coverage->unread > 0 ? coverage->first_error.text : NULL;
    return coverage->unread;
}
