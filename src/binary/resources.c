/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of kernels with what they take, and what differs between two of them. */
#include "ridge/resources.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ridge/hardware.h"

enum { PATH_HASH_DIGITS = 8 };

struct ridge_resource_set {
    ridge_arena arena; /* texts */
    ridge_resources *rows;
    size_t count, capacity;
};

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory collecting kernels");
}

ridge_resources ridge_resources_of(const ridge_function *function, const char *arch)
{
    const ridge_resources row = {
        .name = function->name,
        .arch = arch,
        .registers_per_thread = function->registers_per_thread,
        .static_shared_bytes = function->static_shared_bytes,
        .local_bytes = function->local_bytes,
        .spill_store_bytes = function->spill_store_bytes,
        .spill_load_bytes = function->spill_load_bytes,
        .barriers = function->barriers,
        .code_bytes = (int64_t)function->code_bytes,
    };

    return row;
}

/* ---- sets ---- */

ridge_status ridge_resource_set_create(ridge_resource_set **out, ridge_error *err)
{
    *out = ridge_calloc(1, sizeof(**out));
    if (*out == NULL)
        return out_of_memory(err);
    ridge_arena_init(&(*out)->arena);
    return RIDGE_OK;
}

void ridge_resource_set_free(ridge_resource_set *set)
{
    if (set == NULL)
        return;
    ridge_arena_release(&set->arena);
    ridge_free(set->rows);
    ridge_free(set);
}

ridge_status ridge_resource_set_add(ridge_resource_set *set, const ridge_resources *row,
                                    ridge_error *err)
{
    ridge_resources copy = *row;

    if (set->count == set->capacity) {
        const size_t capacity = set->capacity == 0 ? 64 : 2 * set->capacity;
        ridge_resources *const rows = ridge_realloc_array(set->rows, capacity, sizeof(*rows));

        if (rows == NULL)
            return out_of_memory(err);
        set->rows = rows;
        set->capacity = capacity;
    }
    copy.name = ridge_alloc_text(&set->arena, row->name, strlen(row->name));
    copy.arch = ridge_alloc_text(&set->arena, row->arch, strlen(row->arch));
    if (copy.name == NULL || copy.arch == NULL)
        return out_of_memory(err);
    set->rows[set->count++] = copy;
    return RIDGE_OK;
}

/* "sm_100" behind "sm_90". */
static int compare_arch(const char *a, const char *b)
{
    const size_t left = strlen(a);
    const size_t right = strlen(b);
    const size_t left_digits = strcspn(a, "af");
    const size_t right_digits = strcspn(b, "af");

    if (left_digits != right_digits && left > 0 && right > 0)
        return left_digits < right_digits ? -1 : 1;
    return strcmp(a, b);
}

/* Behind the eight digits with which nvcc tells files apart, where they stand at a place of a name:
 * in _GLOBAL__N__e3dbbfc3_4_s_cu..., an anonymous namespace, and __nv_static_25__e3dbbfc3_4_s_cu...
 * They change with the path that a file is compiled at. */
static const char *skip_path_hash(const char *name, const char *at)
{
    static const char anonymous[] = "_GLOBAL__N__", internal[] = "__nv_static_";
    const size_t before = (size_t)(at - name);
    bool is_hash = before >= strlen(anonymous) &&
                   memcmp(at - strlen(anonymous), anonymous, strlen(anonymous)) == 0;

    if (!is_hash && before > strlen(internal) && strncmp(name, internal, strlen(internal)) == 0) {
        const char *const length = name + strlen(internal);
        const size_t digits = strspn(length, "0123456789");

        is_hash = length + digits + 2 == at && strncmp(length + digits, "__", 2) == 0;
    }
    return is_hash && strspn(at, "0123456789abcdef") >= PATH_HASH_DIGITS ? at + PATH_HASH_DIGITS
                                                                         : at;
}

static int compare_names(const char *a, const char *b)
{
    const char *left = a;
    const char *right = b;

    while (*left == *right && *left != '\0') {
        left = skip_path_hash(a, left + 1);
        right = skip_path_hash(b, right + 1);
    }
    return ((unsigned char)*left > (unsigned char)*right) -
           ((unsigned char)*left < (unsigned char)*right);
}

static int compare_key(const ridge_resources *a, const ridge_resources *b)
{
    const int order = compare_names(a->name, b->name);

    return order != 0 ? order : compare_arch(a->arch, b->arch);
}

static int compare_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_key_and_numbers(const void *left, const void *right)
{
    const ridge_resources *const a = left;
    const ridge_resources *const b = right;
    int order = compare_key(a, b);

    if (order == 0)
        order = compare_number(a->registers_per_thread, b->registers_per_thread);
    if (order == 0)
        order = compare_number(a->local_bytes, b->local_bytes);
    if (order == 0)
        order = compare_number(a->static_shared_bytes, b->static_shared_bytes);
    if (order == 0)
        order = compare_number(a->spill_store_bytes, b->spill_store_bytes);
    if (order == 0)
        order = compare_number(a->spill_load_bytes, b->spill_load_bytes);
    if (order == 0)
        order = compare_number(a->barriers, b->barriers);
    return order != 0 ? order : compare_number(a->code_bytes, b->code_bytes);
}

void ridge_resource_set_sort(ridge_resource_set *set)
{
    if (set->count > 1)
        qsort(set->rows, set->count, sizeof(*set->rows), by_key_and_numbers);
}

size_t ridge_resource_set_count(const ridge_resource_set *set)
{
    return set->count;
}

const ridge_resources *ridge_resource_set_at(const ridge_resource_set *set, size_t index)
{
    return index < set->count ? &set->rows[index] : NULL;
}

/* ---- comparison ---- */

ridge_status ridge_resources_compare(const ridge_resource_set *before,
                                     const ridge_resource_set *after, ridge_resource_pair **out,
                                     size_t *count, ridge_error *err)
{
    size_t i = 0;
    size_t k = 0;

    *count = 0;
    *out = ridge_calloc(before->count + after->count + 1, sizeof(**out));
    if (*out == NULL)
        return out_of_memory(err);
    while (i < before->count || k < after->count) {
        ridge_resource_pair *const pair = &(*out)[(*count)++];
        int order = i == before->count ? 1 : k == after->count ? -1 : 0;

        if (order == 0)
            order = compare_key(&before->rows[i], &after->rows[k]);
        if (order <= 0)
            pair->before = &before->rows[i++];
        if (order >= 0)
            pair->after = &after->rows[k++];
    }
    return RIDGE_OK;
}

void ridge_resource_pairs_free(ridge_resource_pair *pairs)
{
    ridge_free(pairs);
}

int ridge_warps_by_registers(const char *arch, int registers_per_thread)
{
    const long sm = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 0;
    const ridge_arch *const row =
        sm > 0 && sm < 10000 ? ridge_arch_find((int)(sm / 10), (int)(sm % 10)) : NULL;
    ridge_launch launch = {.threads_per_block = 32, .registers_per_thread = registers_per_thread};
    ridge_occupancy occupancy;
    int warps;

    if (row == NULL || registers_per_thread < 0 ||
        ridge_occupancy_of(row, &launch, &occupancy, NULL) != RIDGE_OK)
        return -1;
    /* Blocks of one warp: what registers allow, without the limit of blocks. */
    warps = occupancy.limit_registers;
    return warps < row->warps_per_sm ? warps : row->warps_per_sm;
}

static bool is_more(int64_t before, int64_t after)
{
    return before >= 0 && after > before;
}

/* Bytes stored and loaded; -1: not recorded. */
static int64_t spill_bytes(const ridge_resources *row)
{
    if (row->spill_store_bytes < 0 || row->spill_load_bytes < 0)
        return -1;
    return (int64_t)row->spill_store_bytes + row->spill_load_bytes;
}

unsigned ridge_resources_worse(const ridge_resource_pair *pair)
{
    unsigned worse = 0;
    int before, after;

    if (pair->before == NULL)
        return 0;
    if (pair->after == NULL)
        return RIDGE_WORSE_MISSING;
    if (is_more(spill_bytes(pair->before), spill_bytes(pair->after)))
        worse |= RIDGE_WORSE_SPILLS;
    if (is_more(pair->before->local_bytes, pair->after->local_bytes))
        worse |= RIDGE_WORSE_LOCAL;
    before = ridge_warps_by_registers(pair->before->arch, pair->before->registers_per_thread);
    after = ridge_warps_by_registers(pair->after->arch, pair->after->registers_per_thread);
    if (after >= 0 && before > after)
        worse |= RIDGE_WORSE_REGISTERS;
    return worse;
}
