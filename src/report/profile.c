/* SPDX-License-Identifier: Apache-2.0
 *
 * The join of per-instruction counters with instructions and lines. Counters are keyed by the
 * absolute program counter of that run; the address where the function was loaded makes it an
 * offset into the code of the cubin in the report.
 *
 * The rows are all instructions of the function, as the profiler's own source page has them, and
 * every further program counter that a counter names (device functions that were not inlined).
 * Names of the counters drifted over the versions: counters[] lists them, newest first. */
#include "ridge/profile.h"

#include <stdlib.h>
#include <string.h>

#include "report/report_internal.h"

static const struct {
    const char *name, *meaning;
} stall_table[RIDGE_STALL_COUNT] = {
#define STALL_ROW(name, suffix, meaning) [RIDGE_STALL_##name] = {suffix, meaning},
    RIDGE_STALL_LIST(STALL_ROW)
#undef STALL_ROW
};

/* Samples say no_instructions and warpgroup_arrive, ratios no_instruction and gmma. */
static const struct {
    const char *sampled;
    ridge_stall stall;
} stall_aliases[] = {
    {"no_instructions", RIDGE_STALL_NO_INSTRUCTION},
    {"warpgroup_arrive", RIDGE_STALL_GMMA},
    {"gmma", RIDGE_STALL_GMMA},
};

const char *ridge_stall_name(ridge_stall stall)
{
    return (unsigned)stall < RIDGE_STALL_COUNT ? stall_table[stall].name : "?";
}

const char *ridge_stall_meaning(ridge_stall stall)
{
    return (unsigned)stall < RIDGE_STALL_COUNT ? stall_table[stall].meaning : "?";
}

/* The counters of a row. */
static const struct counter {
    const char *names[4]; /* newest first */
    size_t field;
    unsigned column;
} counters[] = {
    {{"inst_executed"}, offsetof(ridge_instruction, executed), RIDGE_PROFILE_EXECUTED},
    {{"thread_inst_executed"}, offsetof(ridge_instruction, threads), RIDGE_PROFILE_THREADS},
    {{"thread_inst_executed_true"}, offsetof(ridge_instruction, threads_on), RIDGE_PROFILE_THREADS},
    {{"smsp__pcsamp_sample_count"}, offsetof(ridge_instruction, samples), RIDGE_PROFILE_SAMPLES},
    {{"memory_l1_wavefronts_shared", "memory_l1_sectors_shared", "memory_shared_transactions"},
     offsetof(ridge_instruction, wavefronts),
     RIDGE_PROFILE_SHARED},
    {{"memory_l1_wavefronts_shared_ideal", "memory_l1_sectors_shared_ideal",
      "memory_ideal_shared_transactions"},
     offsetof(ridge_instruction, wavefronts_ideal),
     RIDGE_PROFILE_SHARED},
    {{"memory_l2_theoretical_sectors_global", "memory_l2_sectors_global",
      "memory_l2_transactions_global"},
     offsetof(ridge_instruction, sectors),
     RIDGE_PROFILE_SECTORS},
    {{"memory_l2_theoretical_sectors_global_ideal", "memory_l2_sectors_global_ideal",
      "memory_ideal_l2_transactions_global"},
     offsetof(ridge_instruction, sectors_ideal),
     RIDGE_PROFILE_SECTORS},
    {{"memory_l2_theoretical_sectors_local", "memory_l2_sectors_local",
      "memory_l2_transactions_local"},
     offsetof(ridge_instruction, local_sectors),
     0},
    {{"memory_l1_tag_requests_global", "memory_l1_sectors_global", "memory_l1_transactions_global"},
     offsetof(ridge_instruction, tag_requests),
     0},
    {{"memory_type"}, offsetof(ridge_instruction, memory_type), 0},
    {{"memory_access_type"}, offsetof(ridge_instruction, access_type), 0},
    {{"memory_access_size_type"}, offsetof(ridge_instruction, access_bits), 0},
};

enum {
    COUNTERS = sizeof(counters) / sizeof(counters[0]),
    INSTRUCTION_BYTES = 16,
    /* Rows outside the kernel's own code, repetitions included: more than any program calls, and
     * few enough that a damaged report cannot ask for all memory. */
    OTHER_ROWS = 1 << 17
};

#define STALL_PREFIX "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"

/* The public profile comes first, so that the two can be cast into each other. */
struct profile {
    ridge_profile shown;
    ridge_instruction *rows;
    ridge_cubin *cubin;
    uint64_t *pcs; /* while building */
    size_t pc_count, pc_capacity, pc_limit;
};

static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    const size_t bigger_capacity = *capacity == 0 ? 256 : *capacity * 2;
    void *bigger;

    if (count < *capacity)
        return true;
    bigger = ridge_realloc_array(*array, bigger_capacity, size);
    if (bigger == NULL)
        return false;
    *array = bigger;
    *capacity = bigger_capacity;
    return true;
}

static bool add_pc(struct profile *profile, uint64_t pc)
{
    void *pcs = profile->pcs;

    if (profile->pc_count > 0 && profile->pcs[profile->pc_count - 1] == pc)
        return true;
    if (profile->pc_count >= profile->pc_limit)
        return true;
    if (!grow(&pcs, profile->pc_count, &profile->pc_capacity, sizeof(profile->pcs[0])))
        return false;
    profile->pcs = pcs;
    profile->pcs[profile->pc_count++] = pc;
    return true;
}

static int compare_pcs(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Finds the first of a counter's names that the kernel has instances for. */
static bool find_counter(const ridge_report_kernel *kernel, const struct counter *counter,
                         ridge_metric *metric)
{
    size_t i;

    for (i = 0; i < sizeof(counter->names) / sizeof(counter->names[0]); i++)
        if (counter->names[i] != NULL &&
            ridge_report_kernel_metric(kernel, counter->names[i], metric) &&
            metric->instance_count > 0)
            return true;
    return false;
}

/* Which stall a metric counts samples of. */
static bool find_stall(const char *name, ridge_stall *stall, bool *not_issued)
{
    const size_t prefix = strlen(STALL_PREFIX);
    const size_t suffix = strlen(NOT_ISSUED);
    size_t length, i;

    if (strncmp(name, STALL_PREFIX, prefix) != 0)
        return false;
    name += prefix;
    length = strlen(name);
    *not_issued = length > suffix && strcmp(name + length - suffix, NOT_ISSUED) == 0;
    if (*not_issued)
        length -= suffix;
    for (i = 0; i < RIDGE_STALL_COUNT; i++)
        if (strlen(stall_table[i].name) == length &&
            strncmp(stall_table[i].name, name, length) == 0) {
            *stall = (ridge_stall)i;
            return true;
        }
    for (i = 0; i < sizeof(stall_aliases) / sizeof(stall_aliases[0]); i++)
        if (strlen(stall_aliases[i].sampled) == length &&
            strncmp(stall_aliases[i].sampled, name, length) == 0) {
            *stall = stall_aliases[i].stall;
            return true;
        }
    *stall = RIDGE_STALL_MISC; /* a reason of a later version */
    return true;
}

static bool is_pc(const ridge_instance *instance)
{
    return instance->id.kind == RIDGE_VALUE_COUNT;
}

/* Whether the function's own instructions include a program counter. */
static bool in_function(const struct profile *profile, uint64_t code_pc, uint64_t pc)
{
    return profile->shown.function != NULL && pc - code_pc < profile->shown.function->code_bytes &&
           (pc - code_pc) % INSTRUCTION_BYTES == 0;
}

static bool add_metric_pcs(struct profile *profile, uint64_t code_pc, const ridge_metric *metric)
{
    ridge_instances instances = ridge_instances_of(metric);
    ridge_instance instance;

    while (ridge_instances_next(&instances, &instance))
        if (is_pc(&instance) && !in_function(profile, code_pc, instance.id.count) &&
            !add_pc(profile, instance.id.count))
            return false;
    return true;
}

/* All reasons have the same instances, so one of those that are always collected is enough; else
 * each reason is looked at. */
static bool add_stall_pcs(struct profile *profile, const ridge_report_kernel *kernel,
                          uint64_t code_pc)
{
    const size_t metric_count = ridge_report_kernel_get_info(kernel)->metric_count;
    ridge_metric metric;
    ridge_stall stall;
    bool not_issued;
    size_t i;

    if (ridge_report_kernel_metric(kernel, STALL_PREFIX "selected", &metric) &&
        metric.instance_count > 0)
        return add_metric_pcs(profile, code_pc, &metric);
    for (i = 0; i < metric_count; i++)
        if (ridge_report_kernel_metric_at(kernel, i, &metric) && metric.instance_count > 0 &&
            find_stall(metric.name, &stall, &not_issued) &&
            !add_metric_pcs(profile, code_pc, &metric))
            return false;
    return true;
}

/* Collects every program counter, sorted and once each. */
static bool collect_pcs(struct profile *profile, const ridge_report_kernel *kernel,
                        uint64_t code_pc)
{
    const ridge_function *const function = profile->shown.function;
    ridge_metric metric;
    size_t i, kept = 0;

    profile->pc_limit = SIZE_MAX;
    if (function != NULL)
        for (i = 0; i < function->code_bytes; i += INSTRUCTION_BYTES)
            if (!add_pc(profile, code_pc + i))
                return false;
    profile->pc_limit = profile->pc_count + OTHER_ROWS;
    for (i = 0; i < COUNTERS; i++)
        if (find_counter(kernel, &counters[i], &metric) &&
            !add_metric_pcs(profile, code_pc, &metric))
            return false;
    if (!add_stall_pcs(profile, kernel, code_pc))
        return false;
    if (profile->pc_count == 0)
        return true;
    qsort(profile->pcs, profile->pc_count, sizeof(profile->pcs[0]), compare_pcs);
    for (i = 1; i < profile->pc_count; i++)
        if (profile->pcs[i] != profile->pcs[kept])
            profile->pcs[++kept] = profile->pcs[i];
    profile->pc_count = kept + 1;
    return true;
}

/* The row of a program counter; hint is where the caller found the last one. */
static ridge_instruction *row_of(struct profile *profile, uint64_t pc, size_t *hint)
{
    const uint64_t *found;

    if (*hint + 1 < profile->pc_count && profile->pcs[*hint + 1] == pc)
        return &profile->rows[++*hint];
    if (profile->pc_count == 0)
        return NULL;
    found = bsearch(&pc, profile->pcs, profile->pc_count, sizeof(pc), compare_pcs);
    if (found == NULL)
        return NULL;
    *hint = (size_t)(found - profile->pcs);
    return &profile->rows[*hint];
}

static uint64_t as_count(const ridge_value *value)
{
    if (value->kind == RIDGE_VALUE_COUNT)
        return value->count;
    if (value->kind == RIDGE_VALUE_NUMBER && value->number > 0 && value->number < 1e18)
        return (uint64_t)value->number;
    return 0;
}

static void fill_counter(struct profile *profile, const ridge_metric *metric, size_t field)
{
    ridge_instances instances = ridge_instances_of(metric);
    ridge_instance instance;
    size_t hint = 0;

    while (ridge_instances_next(&instances, &instance)) {
        ridge_instruction *const row =
            is_pc(&instance) ? row_of(profile, instance.id.count, &hint) : NULL;

        if (row != NULL)
            *(uint64_t *)(void *)((char *)row + field) = as_count(&instance.value);
    }
}

static void fill_stall(struct profile *profile, const ridge_metric *metric, ridge_stall stall,
                       bool not_issued)
{
    ridge_instances instances = ridge_instances_of(metric);
    ridge_instance instance;
    size_t hint = 0;

    while (ridge_instances_next(&instances, &instance)) {
        ridge_instruction *const row =
            is_pc(&instance) ? row_of(profile, instance.id.count, &hint) : NULL;
        const uint32_t samples = (uint32_t)as_count(&instance.value);

        if (row == NULL)
            continue;
        if (not_issued) {
            row->stalls_not_issued[stall] += samples;
            row->samples_not_issued += samples;
        } else {
            row->stalls[stall] += samples;
        }
    }
}

static void fill_counters(struct profile *profile, const ridge_report_kernel *kernel)
{
    const size_t metric_count = ridge_report_kernel_get_info(kernel)->metric_count;
    ridge_metric metric;
    size_t i, r;

    for (i = 0; i < COUNTERS; i++)
        if (find_counter(kernel, &counters[i], &metric)) {
            fill_counter(profile, &metric, counters[i].field);
            profile->shown.columns |= counters[i].column;
        }
    for (i = 0; i < metric_count; i++) {
        ridge_stall stall;
        bool not_issued;

        if (ridge_report_kernel_metric_at(kernel, i, &metric) && metric.instance_count > 0 &&
            find_stall(metric.name, &stall, &not_issued)) {
            fill_stall(profile, &metric, stall, not_issued);
            profile->shown.columns |= RIDGE_PROFILE_STALLS;
        }
    }
    /* Before 2021.2 there was no total. */
    if ((profile->shown.columns & RIDGE_PROFILE_SAMPLES) == 0 &&
        (profile->shown.columns & RIDGE_PROFILE_STALLS) != 0) {
        for (r = 0; r < profile->pc_count; r++)
            for (i = 0; i < RIDGE_STALL_COUNT; i++)
                profile->rows[r].samples += profile->rows[r].stalls[i];
        profile->shown.columns |= RIDGE_PROFILE_SAMPLES;
    }
}

/* Opens the cubin and finds the kernel's function, which a range of several has not. A cubin that
 * cannot be read is as none. */
static ridge_status open_code(struct profile *profile, const ridge_report_kernel *kernel,
                              ridge_error *err)
{
    const ridge_module *const module = ridge_report_kernel_module(kernel);
    const char *const name = ridge_report_kernel_get_info(kernel)->mangled_name;
    ridge_status status;

    if (module == NULL || module->binary == NULL)
        return RIDGE_OK;
    status = ridge_cubin_read(module->binary, module->binary_bytes, &profile->cubin, NULL);
    if (status == RIDGE_ERR_OUT_OF_MEMORY)
        return ridge_fail(err, status, "out of memory");
    if (status != RIDGE_OK)
        return RIDGE_OK;
    profile->shown.sm = ridge_cubin_sm(profile->cubin);
    if (name != NULL)
        profile->shown.function = ridge_cubin_function(profile->cubin, name);
    return RIDGE_OK;
}

/* The code that a run of rows belongs to. */
struct code {
    const ridge_function *function; /* NULL: not in the cubin */
    uint64_t pc;                    /* where it was loaded */
    const ridge_line *lines;
    size_t line_count;
};

static bool code_holds(const struct code *code, uint64_t pc)
{
    return code->function != NULL && pc >= code->pc && pc - code->pc < code->function->code_bytes &&
           (pc - code->pc) % INSTRUCTION_BYTES == 0 &&
           code->function->code_bytes - (pc - code->pc) >= INSTRUCTION_BYTES;
}

/* Finds the function of a program counter outside the kernel's own: one that was not inlined, or
 * another kernel of a range. */
static ridge_status find_code(struct profile *profile, const ridge_report_kernel *kernel,
                              uint64_t pc, struct code *code)
{
    const char *name;

    memset(code, 0, sizeof(*code));
    if (!report_find_function(kernel, pc, &name, &code->pc))
        return RIDGE_OK;
    code->function = ridge_cubin_function(profile->cubin, name);
    if (code->function == NULL)
        return RIDGE_OK;
    return ridge_cubin_lines(profile->cubin, code->function, &code->lines, &code->line_count,
                             NULL) == RIDGE_ERR_OUT_OF_MEMORY
               ? RIDGE_ERR_OUT_OF_MEMORY
               : RIDGE_OK;
}

static void fill_row(struct profile *profile, ridge_instruction *row, const struct code *code)
{
    row->function = code->function;
    row->offset = (uint32_t)(row->pc - code->pc);
    ridge_sass_decode(code->function->code + row->offset, row->offset, profile->shown.sm,
                      &row->sass);
    row->lines = code->lines;
    row->line_count = code->line_count;
    row->line = ridge_line_find(code->lines, code->line_count, row->offset);
    profile->shown.columns |= RIDGE_PROFILE_OPCODES;
    if (code->line_count > 0)
        profile->shown.columns |= RIDGE_PROFILE_LINES;
}

/* Decodes the instructions of all rows whose function is in the cubin. */
static ridge_status fill_code(struct profile *profile, const ridge_report_kernel *kernel,
                              uint64_t kernel_pc)
{
    struct code own = {profile->shown.function, kernel_pc, NULL, 0};
    struct code other = {NULL, 0, NULL, 0};
    size_t i;

    if (own.function != NULL && ridge_cubin_lines(profile->cubin, own.function, &own.lines,
                                                  &own.line_count, NULL) == RIDGE_ERR_OUT_OF_MEMORY)
        return RIDGE_ERR_OUT_OF_MEMORY;
    for (i = 0; i < profile->pc_count; i++) {
        ridge_instruction *const row = &profile->rows[i];

        if (code_holds(&own, row->pc)) {
            fill_row(profile, row, &own);
            continue;
        }
        if (!code_holds(&other, row->pc) && find_code(profile, kernel, row->pc, &other) != RIDGE_OK)
            return RIDGE_ERR_OUT_OF_MEMORY;
        if (code_holds(&other, row->pc))
            fill_row(profile, row, &other);
    }
    return RIDGE_OK;
}

static void add_up(struct profile *profile)
{
    ridge_instruction *const total = &profile->shown.total;
    size_t r, i;

    for (r = 0; r < profile->pc_count; r++) {
        const ridge_instruction *const row = &profile->rows[r];

        total->executed += row->executed;
        total->threads += row->threads;
        total->threads_on += row->threads_on;
        total->samples += row->samples;
        total->samples_not_issued += row->samples_not_issued;
        total->wavefronts += row->wavefronts;
        total->wavefronts_ideal += row->wavefronts_ideal;
        total->sectors += row->sectors;
        total->sectors_ideal += row->sectors_ideal;
        total->local_sectors += row->local_sectors;
        total->tag_requests += row->tag_requests;
        for (i = 0; i < RIDGE_STALL_COUNT; i++) {
            total->stalls[i] += row->stalls[i];
            total->stalls_not_issued[i] += row->stalls_not_issued[i];
        }
    }
}

/* The row of a program counter; row_count: none. */
static size_t row_at(const ridge_profile *profile, uint64_t pc)
{
    size_t first = 0, last = profile->row_count;

    while (first < last) {
        const size_t middle = first + (last - first) / 2;

        if (profile->rows[middle].pc < pc)
            first = middle + 1;
        else
            last = middle;
    }
    return first < profile->row_count && profile->rows[first].pc == pc ? first : profile->row_count;
}

ridge_status ridge_profile_create(const ridge_report_kernel *kernel, ridge_profile **out,
                                  ridge_error *err)
{
    struct profile *const profile = ridge_calloc(1, sizeof(*profile));
    uint64_t code_pc = 0;
    ridge_status status;
    size_t i;

    *out = NULL;
    if (profile == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = open_code(profile, kernel, err);
    if (status != RIDGE_OK)
        goto out;
    if (profile->shown.function != NULL && !ridge_report_kernel_code_address(kernel, &code_pc))
        profile->shown.function = NULL; /* nothing to join by */
    status = RIDGE_ERR_OUT_OF_MEMORY;
    if (!collect_pcs(profile, kernel, code_pc))
        goto out;
    profile->rows = ridge_calloc(profile->pc_count, sizeof(profile->rows[0]));
    if (profile->rows == NULL)
        goto out;
    for (i = 0; i < profile->pc_count; i++) {
        profile->rows[i].pc = profile->pcs[i];
        profile->rows[i].offset = (uint32_t)(profile->pcs[i] - profile->pcs[0]);
    }
    fill_counters(profile, kernel);
    if (profile->cubin != NULL && fill_code(profile, kernel, code_pc) != RIDGE_OK)
        goto out;
    add_up(profile);
    profile->shown.rows = profile->rows;
    profile->shown.row_count = profile->pc_count;
    status = RIDGE_OK;
    *out = &profile->shown;
out:
    if (status != RIDGE_OK) {
        if (status == RIDGE_ERR_OUT_OF_MEMORY)
            ridge_fail(err, status, "out of memory");
        ridge_profile_free(&profile->shown);
    }
    return status;
}

void ridge_profile_free(ridge_profile *shown)
{
    struct profile *const profile = (struct profile *)(void *)shown;

    if (profile == NULL)
        return;
    ridge_cubin_free(profile->cubin);
    ridge_free(profile->rows);
    ridge_free(profile->pcs);
    ridge_free(profile);
}

size_t ridge_profile_producer(const ridge_profile *profile, size_t index)
{
    const ridge_instruction *row;
    size_t own, producer;

    if (index >= profile->row_count || profile->rows[index].function == NULL)
        return profile->row_count;
    row = &profile->rows[index];
    own = row->offset / INSTRUCTION_BYTES;
    producer =
        ridge_sass_producer(row->function->code, row->function->code_bytes, profile->sm, own);
    if (producer >= row->function->code_bytes / INSTRUCTION_BYTES)
        return profile->row_count;
    if (producer <= own && own - producer <= index &&
        profile->rows[index - (own - producer)].pc ==
            row->pc - (own - producer) * INSTRUCTION_BYTES)
        return index - (own - producer); /* rows of a kernel are consecutive */
    return row_at(profile, row->pc - row->offset + producer * INSTRUCTION_BYTES);
}
