/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of ridge inspect: what is kept of each kernel, and what the inputs are. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}

/* Room for one more in a growing array. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    const size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* -- what the inputs are ----------------------------------------------------------------------- */

/* "13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88"; else the whole. */
static const char *version_number(const char *version)
{
    const char *const at = strstr(version, ", V");

    return at != NULL ? at + 3 : version;
}

/* True for what says nothing about the code: the architecture and files. *skip_next is set when the
 * next word belongs to it. */
static bool is_dull_option(const char *word, size_t length, bool *skip_next)
{
    static const char *const dull[] = {"-v", "--verbose", "-c"};
    static const char *const with_value[] = {"-m", "-arch", "-o"};
    const bool is_file = word[0] != '-' && memchr(word, '.', length) != NULL;
    size_t i;

    *skip_next = false;
    for (i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++)
        if (strlen(with_value[i]) == length && strncmp(word, with_value[i], length) == 0)
            return *skip_next = true;
    for (i = 0; i < sizeof(dull) / sizeof(dull[0]); i++)
        if (strlen(dull[i]) == length && strncmp(word, dull[i], length) == 0)
            return true;
    return is_file;
}

/* Appends the options that shape the code, with single spaces. */
static void append_options(char *text, size_t size, const char *options)
{
    bool is_first = true;
    bool skip_next = false;

    while (*(options += strspn(options, " ")) != '\0') {
        const size_t length = strcspn(options, " ");
        const bool was_value = skip_next;

        if (!is_dull_option(options, length, &skip_next) && !was_value) {
            const size_t used = strlen(text);

            snprintf(text + used, size - used, "%s%.*s", is_first ? " with " : " ", (int)length,
                     options);
            is_first = false;
        }
        options += length;
    }
}

static void note_provenance(struct inspect_rows *rows, const ridge_cubin *cubin)
{
    const ridge_provenance *const from = ridge_cubin_provenance(cubin);
    const char *const toolkit = ridge_cubin_toolkit(cubin);
    char text[400];
    size_t i;

    if (toolkit != NULL && strtol(toolkit, NULL, 10) < 13)
        rows->is_cuda12 = true;
    if (from->version != NULL)
        snprintf(text, sizeof(text), "%s %s", from->tool != NULL ? from->tool : "ptxas",
                 version_number(from->version));
    else if (toolkit != NULL)
        snprintf(text, sizeof(text), "CUDA %s", toolkit);
    else
        return;
    if (from->options != NULL)
        append_options(text, sizeof(text), from->options);
    for (i = 0; i < rows->provenance_count; i++)
        if (strcmp(rows->provenance[i].text, text) == 0)
            break;
    if (i == INSPECT_PROVENANCES) {
        rows->other_provenance_count++;
        return;
    }
    if (i == rows->provenance_count) {
        memcpy(rows->provenance[i].text, text, sizeof(text));
        rows->provenance_count++;
    }
    rows->provenance[i].entry_count++;
}

static struct inspect_census *find_census(const struct inspect_rows *rows, ridge_entry_kind kind,
                                          size_t path_index, const char *arch)
{
    size_t i;

    for (i = rows->census_count; i-- > 0;)
        if (rows->census[i].kind == kind && rows->census[i].path_index == path_index &&
            strcmp(rows->census[i].arch, arch) == 0)
            return &rows->census[i];
    return NULL;
}

/* The census row of an entry; NULL: out of memory. */
static struct inspect_census *census_of(struct inspect_rows *rows,
                                        const struct inspect_entry *entry)
{
    struct inspect_census *row =
        find_census(rows, entry->entry->kind, entry->path_index, entry->arch);

    if (row != NULL)
        return row;
    if (rows->census_count == INSPECT_CENSUS_MAX) {
        row = &rows->census[INSPECT_CENSUS_MAX - 1];
        snprintf(row->arch, sizeof(row->arch), "sm_other");
        return row;
    }
    if (!grow((void **)&rows->census, rows->census_count, &rows->census_capacity,
              sizeof(*rows->census)))
        return NULL;
    row = &rows->census[rows->census_count++];
    *row = (struct inspect_census){.path_index = entry->path_index,
                                   .kind = entry->entry->kind,
                                   .most_registers = -1,
                                   .most_spill_bytes = -1,
                                   .most_shared_bytes = -1};
    memcpy(row->arch, entry->arch, sizeof(row->arch));
    return row;
}

static ridge_status meet_image(void *context, size_t path_index, ridge_image *image,
                               ridge_error *err)
{
    struct inspect_rows *const rows = context;

    (void)err;
    rows->kinds[path_index] = inspect_is_report(rows->request->paths[path_index])
                                  ? "report of Nsight Compute"
                                  : ridge_image_kind_name(ridge_image_file_kind(image));
    return RIDGE_OK;
}

static ridge_status meet_entry(void *context, const struct inspect_entry *entry, ridge_error *err)
{
    struct inspect_rows *const rows = context;
    struct inspect_census *census;

    if (entry->entry->kind == RIDGE_ENTRY_CUBIN &&
        ridge_cubin_function_count(entry->loaded.cubin) == 0) {
        rows->stub_count++; /* of the device link: says nothing about what the file can run */
        return RIDGE_OK;
    }
    rows->entry_count++;
    rows->zstd_count += entry->entry->packing == RIDGE_PACKED_ZSTD;
    rows->lto_count += entry->entry->kind == RIDGE_ENTRY_LTO;
    rows->debug_count += entry->entry->is_debug;
    census = census_of(rows, entry);
    if (census == NULL)
        return out_of_memory(err);
    census->entry_count++;
    if (entry->entry->kind == RIDGE_ENTRY_CUBIN)
        note_provenance(rows, entry->loaded.cubin);
    return RIDGE_OK;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static void fill_from_function(struct inspect_row *row, const ridge_function *function)
{
    row->numbers = ridge_resources_of(function, row->arch);
    row->is_kernel = function->is_kernel;
    row->max_registers = function->max_registers;
    memcpy(row->max_threads, function->max_threads, sizeof(row->max_threads));
    if (function->required_threads[0] > 0) {
        memcpy(row->max_threads, function->required_threads, sizeof(row->max_threads));
        row->is_required = true;
    }
    row->min_blocks = function->min_blocks;
    memcpy(row->cluster, function->cluster, sizeof(row->cluster));
    row->max_cluster = function->max_cluster;
    row->parameter_bytes = function->parameter_bytes;
    row->is_recursive = function->is_recursive;
}

static void fill_from_ptx(struct inspect_row *row, const ridge_ptx_kernel *kernel)
{
    row->numbers = (ridge_resources){.registers_per_thread = -1,
                                     .static_shared_bytes = -1,
                                     .local_bytes = -1,
                                     .spill_store_bytes = -1,
                                     .spill_load_bytes = -1,
                                     .barriers = -1,
                                     .code_bytes = -1};
    row->is_ptx = row->is_kernel = true;
    row->max_registers = kernel->max_registers > 0 ? kernel->max_registers : 255;
    memcpy(row->max_threads, kernel->max_threads, sizeof(row->max_threads));
    if (kernel->required_threads[0] > 0) {
        memcpy(row->max_threads, kernel->required_threads, sizeof(row->max_threads));
        row->is_required = true;
    }
    row->min_blocks = kernel->min_blocks;
    memcpy(row->cluster, kernel->required_cluster, sizeof(row->cluster));
    row->max_cluster = kernel->max_cluster;
    row->parameter_bytes = kernel->parameter_bytes;
}

static void raise_to(int64_t *most, int64_t value)
{
    if (*most < value)
        *most = value;
}

static void count_row(struct inspect_census *census, const struct inspect_row *row)
{
    census->kernel_count++;
    census->code_bytes += row->numbers.code_bytes > 0 ? (uint64_t)row->numbers.code_bytes : 0;
    census->spilling_count += inspect_spill_bytes(row) > 0;
    census->local_count += row->numbers.local_bytes > 0 || row->is_recursive;
    raise_to(&census->most_registers, row->numbers.registers_per_thread);
    raise_to(&census->most_spill_bytes, inspect_spill_bytes(row));
    raise_to(&census->most_shared_bytes, row->numbers.static_shared_bytes);
}

static ridge_status meet_kernel(void *context, const struct inspect_entry *entry,
                                const ridge_function *function, const ridge_ptx_kernel *ptx,
                                ridge_error *err)
{
    struct inspect_rows *const rows = context;
    const char *const name = function != NULL ? function->name : ptx->name;
    char short_name[INSPECT_NAME_BYTES];
    struct inspect_row *row;

    if (!grow((void **)&rows->rows, rows->count, &rows->capacity, sizeof(*rows->rows)))
        return out_of_memory(err);
    row = &rows->rows[rows->count];
    *row = (struct inspect_row){.path_index = entry->path_index,
                                .sm = entry->entry->sm,
                                .suffix = entry->entry->suffix,
                                .is_relocatable = entry->entry->is_relocatable,
                                .name = strdup(name)};
    inspect_short_name(name, short_name, sizeof(short_name));
    row->short_name = strdup(short_name);
    rows->count++; /* releases its names */
    if (row->name == NULL || row->short_name == NULL)
        return out_of_memory(err);
    memcpy(row->arch, entry->arch, sizeof(row->arch));
    if (function != NULL)
        fill_from_function(row, function);
    else
        fill_from_ptx(row, ptx);
    return RIDGE_OK;
}

/* -- order ------------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct inspect_row *const a = left;
    const struct inspect_row *const b = right;
    int order = strcmp(a->short_name, b->short_name);

    if (order == 0)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = (int)a->is_ptx - (int)b->is_ptx;
    if (order == 0)
        order = (a->sm > b->sm) - (a->sm < b->sm);
    if (order == 0)
        order = (int)a->suffix - (int)b->suffix;
    if (order == 0)
        order = (a->path_index > b->path_index) - (a->path_index < b->path_index);
    if (order == 0)
        order = (int)a->is_relocatable - (int)b->is_relocatable;
    if (order == 0)
        order = a->numbers.registers_per_thread - b->numbers.registers_per_thread;
    if (order == 0)
        order = (a->numbers.code_bytes > b->numbers.code_bytes) -
                (a->numbers.code_bytes < b->numbers.code_bytes);
    return order;
}

static int arch_number(const struct inspect_census *census)
{
    return atoi(strchr(census->arch, '_') + 1);
}

static int by_kind(const void *left, const void *right)
{
    const struct inspect_census *const a = left;
    const struct inspect_census *const b = right;

    int order = (int)a->kind - (int)b->kind;

    if (order == 0)
        order = (arch_number(a) > arch_number(b)) - (arch_number(a) < arch_number(b));
    if (order == 0)
        order = strcmp(a->arch, b->arch);
    return order != 0 ? order : (a->path_index > b->path_index) - (a->path_index < b->path_index);
}

/* The second launch bound is in the PTX alone, so machine code takes it from the PTX beside it. */
static void join_min_blocks(struct inspect_rows *rows)
{
    size_t begin = 0;

    while (begin < rows->count) {
        int min_blocks = -1;
        size_t end = begin;
        size_t i;

        while (end < rows->count && strcmp(rows->rows[end].name, rows->rows[begin].name) == 0) {
            if (rows->rows[end].is_ptx)
                min_blocks = rows->rows[end].min_blocks;
            end++;
        }
        for (i = begin; i < end && min_blocks >= 0; i++)
            if (rows->rows[i].min_blocks < 0)
                rows->rows[i].min_blocks = min_blocks;
        begin = end;
    }
}

static bool is_same_code(const struct inspect_row *a, const struct inspect_row *b)
{
    return a->path_index == b->path_index && strcmp(a->name, b->name) == 0 &&
           strcmp(a->arch, b->arch) == 0;
}

/* Of sorted rows: the linked stand in front of the relocatable. */
static void drop_unlinked(struct inspect_rows *rows)
{
    const size_t count = rows->count;
    size_t i;

    rows->count = 0;
    for (i = 0; i < count; i++) {
        const struct inspect_row *const row = &rows->rows[i];
        const struct inspect_row *const last =
            rows->count > 0 ? &rows->rows[rows->count - 1] : NULL;

        if (row->is_relocatable && last != NULL && !last->is_relocatable &&
            is_same_code(row, last)) {
            free(row->name);
            free(row->short_name);
        } else {
            rows->rows[rows->count++] = *row;
        }
    }
}

static void finish_rows(struct inspect_rows *rows)
{
    size_t i;

    if (rows->count > 0)
        qsort(rows->rows, rows->count, sizeof(*rows->rows), by_name);
    drop_unlinked(rows);
    join_min_blocks(rows);
    for (i = 0; i < rows->count; i++) {
        struct inspect_row *const row = &rows->rows[i];
        struct inspect_census *const census = find_census(
            rows, row->is_ptx ? RIDGE_ENTRY_PTX : RIDGE_ENTRY_CUBIN, row->path_index, row->arch);

        row->numbers.name = row->name;
        row->numbers.arch = row->arch;
        if (census != NULL)
            count_row(census, row);
    }
    if (rows->census_count > 0)
        qsort(rows->census, rows->census_count, sizeof(*rows->census), by_kind);
}

int inspect_collect(const struct inspect_request *request, struct inspect_rows *out)
{
    const struct inspect_visitor visitor = {out, meet_image, meet_entry, meet_kernel};
    int status;

    *out = (struct inspect_rows){.request = request};
    out->kinds = calloc(request->path_count + 1, sizeof(*out->kinds));
    if (out->kinds == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    status = inspect_walk(request, &visitor);
    if (status != ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY))
        finish_rows(out);
    return status;
}

void inspect_rows_release(struct inspect_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++) {
        free(rows->rows[i].name);
        free(rows->rows[i].short_name);
    }
    free(rows->rows);
    free(rows->census);
    free(rows->kinds);
    *rows = (struct inspect_rows){0};
}

int inspect_set_of(const struct inspect_rows *rows, bool functions, ridge_resource_set **out)
{
    ridge_error err;
    ridge_status status = ridge_resource_set_create(out, &err);
    size_t i;

    for (i = 0; i < rows->count && status == RIDGE_OK; i++)
        if (!rows->rows[i].is_ptx && (functions || rows->rows[i].is_kernel))
            status = ridge_resource_set_add(*out, &rows->rows[i].numbers, &err);
    if (status != RIDGE_OK) {
        ridge_resource_set_free(*out);
        *out = NULL;
        return cli_fail(NULL, &err);
    }
    ridge_resource_set_sort(*out);
    return CLI_DONE;
}

/* -- what follows from a row ------------------------------------------------------------------- */

int64_t inspect_spill_bytes(const struct inspect_row *row)
{
    if (row->numbers.spill_store_bytes >= 0 && row->numbers.spill_load_bytes >= 0)
        return (int64_t)row->numbers.spill_store_bytes + row->numbers.spill_load_bytes;
    return row->numbers.local_bytes == 0 ? 0 : -1;
}

int inspect_product(const int extent[3])
{
    int64_t count = 1;
    int i;

    for (i = 0; i < 3; i++)
        count *= extent[i] > 0 ? extent[i] : 1;
    return extent[0] > 0 && count <= INT_MAX ? (int)count : 0;
}

/* The compute capability that occupancy is asked for: of --gpu when the code runs there, else of
 * the code itself; NULL: none. */
static const ridge_arch *arch_of(const struct inspect_request *request,
                                 const struct inspect_row *row)
{
    const ridge_entry entry = {.kind = RIDGE_ENTRY_CUBIN, .sm = row->sm, .suffix = row->suffix};
    const ridge_arch *const chip = request->gpu.chip != NULL ? request->gpu.chip->arch : NULL;

    if (row->is_ptx)
        return NULL;
    if (chip == NULL)
        return ridge_arch_find(row->sm / 10, row->sm % 10);
    return ridge_entry_runs(&entry, chip->major, chip->minor) >= RIDGE_RUN_NOT_PROMISED &&
                   ridge_entry_runs(&entry, chip->major, chip->minor) != RIDGE_RUN_JIT
               ? chip
               : NULL;
}

void inspect_fit(const struct inspect_request *request, struct inspect_row *row)
{
    const ridge_arch *const arch = arch_of(request, row);
    ridge_launch launch = {
        .threads_per_block =
            request->block != 0 ? request->block : inspect_product(row->max_threads),
        .registers_per_thread = row->numbers.registers_per_thread,
        .barriers = row->numbers.barriers > 0 ? row->numbers.barriers : 0,
    };

    row->threads = 0;
    row->is_over_bound = false;
    row->is_elsewhere = arch == NULL && request->gpu.chip != NULL;
    row->fit = (ridge_occupancy){0};
    if (arch == NULL || launch.threads_per_block == 0 || launch.registers_per_thread < 0 ||
        row->numbers.static_shared_bytes < 0 ||
        row->numbers.static_shared_bytes > INT_MAX - request->dynamic_shared_bytes)
        return;
    launch.shared_bytes = row->numbers.static_shared_bytes + request->dynamic_shared_bytes;
    if (ridge_occupancy_of(arch, &launch, &row->fit, NULL) != RIDGE_OK)
        return;
    row->threads = launch.threads_per_block;
    if (inspect_product(row->max_threads) > 0 &&
        launch.threads_per_block > inspect_product(row->max_threads)) {
        /* The driver's calculator does not look at it, but the launch fails. */
        row->fit = (ridge_occupancy){.warps_per_block = row->fit.warps_per_block};
        row->is_over_bound = true;
    }
}

char *inspect_limiters(unsigned limiters, char *buffer, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {RIDGE_LIMIT_WARPS, "warps"},         {RIDGE_LIMIT_BLOCKS, "blocks"},
        {RIDGE_LIMIT_REGISTERS, "registers"}, {RIDGE_LIMIT_SHARED, "shared"},
        {RIDGE_LIMIT_BARRIERS, "barriers"},
    };
    size_t i;

    buffer[0] = '\0';
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t used = strlen(buffer);

        if ((limiters & names[i].bit) != 0)
            snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "", names[i].name);
    }
    return buffer;
}

bool inspect_next_census(const struct inspect_rows *rows, size_t *at, struct inspect_census *sum)
{
    if (*at == rows->census_count)
        return false;
    *sum = rows->census[(*at)++];
    for (; *at < rows->census_count; (*at)++) {
        const struct inspect_census *const next = &rows->census[*at];

        if (next->kind != sum->kind || strcmp(next->arch, sum->arch) != 0)
            break;
        sum->entry_count += next->entry_count;
        sum->kernel_count += next->kernel_count;
        sum->code_bytes += next->code_bytes;
        sum->spilling_count += next->spilling_count;
        sum->local_count += next->local_count;
        raise_to(&sum->most_registers, next->most_registers);
        raise_to(&sum->most_spill_bytes, next->most_spill_bytes);
        raise_to(&sum->most_shared_bytes, next->most_shared_bytes);
    }
    return true;
}

void inspect_add_item(ridge_output *output, size_t *column, size_t indent, const char *text)
{
    const size_t length = strlen(text);

    if (*column > 0 && *column + 2 + length >= (size_t)ridge_output_columns(output)) {
        ridge_output_format(output, ",\n%*s", (int)indent, "");
        *column = indent;
    } else if (*column > 0) {
        ridge_output_text(output, ", ");
        *column += 2;
    } else {
        *column = indent;
    }
    ridge_output_text(output, text);
    *column += length;
}
