/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect as a gate: limits for every kernel, and a baseline that none may fall behind. Each
 * violation is one line; the exit status says whether there was one. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { BASELINE_BYTES_MAX = 16 << 20 }; /* of what is read back */

/* A line of the answer. */
struct violation {
    const char *gate; /* "max_regs" */
    char *name;
    char arch[32];    /* or the chip that was asked for */
    const char *path; /* NULL: of the baseline */
    int64_t found;    /* -1: not recorded */
    int64_t allowed;
    char text[160];
};

struct gates {
    const struct inspect_request *request;
    struct inspect_request collected; /* what the rows are of: functions as well */
    struct violation *violations;
    size_t count, capacity;
    size_t fitted_count;                 /* rows whose code runs on the chip of --gpu */
    size_t unbound_count;                /* kernels of which no block is known */
    size_t kernel_count, function_count; /* with machine code, checked */
    bool fell_behind;                    /* the baseline */
    bool failed;                         /* out of memory */
};

/* False when kernels are only recorded. */
static bool has_checks(const struct inspect_request *request)
{
    return request->max_registers != OPTION_UNSET || request->max_spill_bytes != OPTION_UNSET ||
           request->max_local_bytes != OPTION_UNSET || request->min_blocks != OPTION_UNSET ||
           request->required_count > 0 || request->baseline != NULL;
}

bool inspect_has_gates(const struct inspect_request *request)
{
    return has_checks(request) || request->write_baseline != NULL;
}

/* Limits and records are of machine code alone: PTX has neither registers nor spills. */
static bool is_of_code(const struct inspect_request *request)
{
    return request->max_registers != OPTION_UNSET || request->max_spill_bytes != OPTION_UNSET ||
           request->max_local_bytes != OPTION_UNSET || request->write_baseline != NULL;
}

/* -- violations -------------------------------------------------------------------------------- */

static void violate(struct gates *gates, const struct violation *violation, const char *name,
                    const char *format, ...) RIDGE_PRINTF(4, 5);

/* Without the number of a clone: "_Z1fi$1" is _Z1fi compiled once more. */
static bool is_same_name(const char *a, const char *b)
{
    const size_t length = strcspn(a, "$");

    return length == strcspn(b, "$") && strncmp(a, b, length) == 0;
}

/* True when the last row is said already: of a clone, or a copy in another file of an archive. */
static bool is_repeated(const struct gates *gates)
{
    const struct violation *const row = &gates->violations[gates->count];
    size_t i;

    for (i = gates->count; i > 0 && is_same_name(gates->violations[i - 1].name, row->name); i--) {
        const struct violation *const other = &gates->violations[i - 1];

        if (other->path == row->path && strcmp(other->gate, row->gate) == 0 &&
            strcmp(other->arch, row->arch) == 0 && strcmp(other->text, row->text) == 0)
            return true;
    }
    return false;
}

/* Adds a violation; the name is copied. */
static void violate(struct gates *gates, const struct violation *violation, const char *name,
                    const char *format, ...)
{
    struct violation *row;
    va_list arguments;

    if (gates->count == gates->capacity) {
        const size_t capacity = gates->capacity == 0 ? 64 : 2 * gates->capacity;
        struct violation *const grown = realloc(gates->violations, capacity * sizeof(*grown));

        if (grown == NULL) {
            gates->failed = true;
            return;
        }
        gates->violations = grown;
        gates->capacity = capacity;
    }
    row = &gates->violations[gates->count];
    *row = *violation;
    row->name = strdup(name);
    if (row->name == NULL) {
        gates->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(row->text, sizeof(row->text), format, arguments);
    va_end(arguments);
    if (is_repeated(gates))
        free(row->name);
    else
        gates->count++;
}

/* A violation of a kernel, but for its numbers. */
static struct violation of_row(const struct gates *gates, const struct inspect_row *row,
                               const char *gate)
{
    struct violation violation = {
        .gate = gate, .path = gates->request->paths[row->path_index], .found = -1, .allowed = -1};

    snprintf(violation.arch, sizeof(violation.arch), "%s", row->arch);
    return violation;
}

/* -- limits ------------------------------------------------------------------------------------ */

/* A number that must not be larger. What is not recorded cannot be said to keep the limit. */
static void check_most(struct gates *gates, const struct inspect_row *row, const char *gate,
                       int64_t found, size_t allowed, const char *what)
{
    struct violation violation = of_row(gates, row, gate);

    if (allowed == OPTION_UNSET || (found >= 0 && (uint64_t)found <= allowed))
        return;
    violation.found = found;
    violation.allowed = (int64_t)allowed;
    if (found < 0 && row->is_recursive)
        violate(gates, &violation, row->name, "%s not known, recursive, allowed %zu", what,
                allowed);
    else if (found < 0)
        violate(gates, &violation, row->name, "%s not recorded, allowed %zu", what, allowed);
    else
        violate(gates, &violation, row->name, "%s %" PRId64 ", allowed %zu", what, found, allowed);
}

static void check_blocks(struct gates *gates, const struct inspect_row *row)
{
    const size_t allowed = gates->request->min_blocks;
    struct violation violation = of_row(gates, row, "min_blocks");
    char limiters[80];

    if (allowed == OPTION_UNSET || (row->threads > 0 && (size_t)row->fit.blocks_per_sm >= allowed))
        return;
    violation.allowed = (int64_t)allowed;
    violation.found = row->threads > 0 ? row->fit.blocks_per_sm : -1;
    if (row->threads == 0 && gates->request->block == 0 && row->max_threads[0] <= 0)
        gates->unbound_count++; /* said once for all */
    else if (row->threads == 0)
        violate(gates, &violation, row->name, "blocks per SM are not known there");
    else if (row->is_over_bound)
        violate(gates, &violation, row->name, "%d threads are over the launch bound of %d",
                row->threads, inspect_product(row->max_threads));
    else
        violate(gates, &violation, row->name, "%d block%s of %d threads per SM (%s), at least %zu",
                row->fit.blocks_per_sm, row->fit.blocks_per_sm == 1 ? "" : "s", row->threads,
                inspect_limiters(row->fit.limiters, limiters, sizeof(limiters)), allowed);
}

static void check_row(struct gates *gates, struct inspect_row *row)
{
    const struct inspect_request *const request = gates->request;

    if (row->is_ptx)
        return;
    gates->kernel_count += row->is_kernel;
    gates->function_count += !row->is_kernel;
    check_most(gates, row, "max_regs", row->numbers.registers_per_thread, request->max_registers,
               "registers");
    check_most(gates, row, "max_spill_bytes", inspect_spill_bytes(row), request->max_spill_bytes,
               "spill bytes");
    check_most(gates, row, "max_local", row->numbers.local_bytes, request->max_local_bytes,
               "local bytes");
    if (request->min_blocks == OPTION_UNSET || !row->is_kernel)
        return;
    inspect_fit(request, row);
    if (row->is_elsewhere)
        return;
    gates->fitted_count++;
    check_blocks(gates, row);
}

/* -- architectures ----------------------------------------------------------------------------- */

/* The best way in which the rows of one kernel in one input run on a chip. */
static ridge_run best_run(const struct inspect_row *rows, size_t count, size_t path_index,
                          const ridge_compute *compute)
{
    ridge_run best = RIDGE_RUN_NONE;
    size_t i;

    for (i = 0; i < count; i++) {
        const ridge_entry entry = {.kind = rows[i].is_ptx ? RIDGE_ENTRY_PTX : RIDGE_ENTRY_CUBIN,
                                   .sm = rows[i].sm,
                                   .suffix = rows[i].suffix};
        const ridge_run run = ridge_entry_runs(&entry, compute->major, compute->minor);

        if (rows[i].path_index == path_index && run > best)
            best = run;
    }
    return best;
}

/* The rows of one kernel, of all inputs. */
static void check_required(struct gates *gates, const struct inspect_row *rows, size_t count)
{
    size_t path_index, i;

    for (path_index = 0; path_index < gates->request->path_count; path_index++) {
        const struct inspect_row *first = NULL;

        for (i = 0; i < count && first == NULL; i++)
            if (rows[i].path_index == path_index && rows[i].is_kernel)
                first = &rows[i];
        for (i = 0; first != NULL && i < gates->request->required_count; i++) {
            const struct inspect_target *const target = &gates->request->required[i];
            const ridge_run run = best_run(rows, count, path_index, &target->compute);
            struct violation violation = of_row(gates, first, "require_arch");

            if (run == RIDGE_RUN_NATIVE)
                continue;
            snprintf(violation.arch, sizeof(violation.arch), "%s", target->name);
            violate(gates, &violation, first->name, "no machine code%s",
                    run == RIDGE_RUN_JIT            ? ", only PTX for the driver to compile"
                    : run == RIDGE_RUN_NOT_PROMISED ? " that NVIDIA promises to run"
                                                    : " and no PTX");
        }
    }
}

static void check_rows(struct gates *gates, const struct inspect_rows *rows)
{
    size_t begin = 0;
    size_t i;

    for (i = 0; i < rows->count; i++)
        check_row(gates, &rows->rows[i]);
    while (begin < rows->count && gates->request->required_count > 0) {
        size_t end = begin + 1;

        while (end < rows->count && strcmp(rows->rows[begin].name, rows->rows[end].name) == 0)
            end++;
        check_required(gates, rows->rows + begin, end - begin);
        begin = end;
    }
}

/* -- baseline ---------------------------------------------------------------------------------- */

static void report_worse(struct gates *gates, const ridge_resource_pair *pair)
{
    const ridge_resources *const before = pair->before;
    const ridge_resources *const after = pair->after;
    const unsigned worse = ridge_resources_worse(pair);
    struct violation violation = {.gate = "baseline", .found = -1, .allowed = -1};

    if (worse == 0 || before == NULL)
        return;
    gates->fell_behind = true;
    snprintf(violation.arch, sizeof(violation.arch), "%s", before->arch);
    if ((worse & RIDGE_WORSE_MISSING) != 0)
        violate(gates, &violation, before->name, "in the baseline, but not here");
    if ((worse & RIDGE_WORSE_SPILLS) != 0) {
        violation.allowed = (int64_t)before->spill_store_bytes + before->spill_load_bytes;
        violation.found = (int64_t)after->spill_store_bytes + after->spill_load_bytes;
        violate(gates, &violation, before->name, "spill bytes %" PRId64 ", baseline %" PRId64,
                violation.found, violation.allowed);
    }
    if ((worse & RIDGE_WORSE_LOCAL) != 0) {
        violation.allowed = before->local_bytes;
        violation.found = after->local_bytes;
        violate(gates, &violation, before->name, "local bytes %" PRId64 ", baseline %" PRId64,
                violation.found, violation.allowed);
    }
    if ((worse & RIDGE_WORSE_REGISTERS) != 0) {
        violation.allowed = before->registers_per_thread;
        violation.found = after->registers_per_thread;
        violate(gates, &violation, before->name, "registers %d (%d warps per SM), baseline %d (%d)",
                after->registers_per_thread,
                ridge_warps_by_registers(after->arch, after->registers_per_thread),
                before->registers_per_thread,
                ridge_warps_by_registers(before->arch, before->registers_per_thread));
    }
}

static int check_baseline(struct gates *gates, const ridge_resource_set *now)
{
    const struct inspect_request *const request = gates->request;
    ridge_resource_set *baseline;
    ridge_resource_pair *pairs;
    size_t count, i;
    ridge_error err;

    if (ridge_baseline_read(request->baseline, &baseline, &err) != RIDGE_OK)
        return cli_fail(request->baseline, &err);
    if (ridge_resources_compare(baseline, now, &pairs, &count, &err) != RIDGE_OK) {
        ridge_resource_set_free(baseline);
        return cli_fail(NULL, &err);
    }
    for (i = 0; i < count; i++)
        if (pairs[i].before == NULL || (inspect_wants_name(request, pairs[i].before->name) &&
                                        inspect_wants_arch(request, pairs[i].before->arch)))
            report_worse(gates, &pairs[i]);
    ridge_resource_pairs_free(pairs);
    ridge_resource_set_free(baseline);
    return CLI_DONE;
}

/* The text of a baseline, new. */
static int make_baseline(const char *path, const ridge_resource_set *now, char **text, size_t *size)
{
    FILE *const stream = open_memstream(text, size);
    ridge_output *output;
    ridge_status status;
    ridge_error err;

    if (stream == NULL) {
        cli_message(path, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    output = ridge_output_create(stream, 0, false);
    ridge_baseline_write(now, output);
    status = ridge_output_close(output, &err);
    fclose(stream);
    return status == RIDGE_OK ? CLI_DONE : cli_fail(path, &err);
}

static int write_baseline(const struct inspect_request *request, const ridge_resource_set *now)
{
    const char *const path = request->write_baseline;
    char *text = NULL;
    size_t size = 0;
    int status = cli_check_target(path, NULL, request->force);

    if (status == CLI_DONE)
        status = make_baseline(path, now, &text, &size);
    if (status == CLI_DONE && size > BASELINE_BYTES_MAX) {
        cli_message(path,
                    "not written: it would have %zu bytes, but at most %d are read back: choose "
                    "kernels with -k",
                    size, BASELINE_BYTES_MAX);
        status = CLI_USAGE;
    }
    if (status == CLI_DONE)
        status = cli_write_file(path, text, size, request->force);
    free(text);
    return status;
}

/* -- printing ---------------------------------------------------------------------------------- */

static void write_number(ridge_json *json, const char *key, int64_t value)
{
    if (value < 0)
        ridge_json_null(json, key);
    else
        ridge_json_integer(json, key, value);
}

static void write_violations(ridge_output *output, const struct gates *gates)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-inspect-gates/1");
    ridge_json_count(json, "kernel_count", gates->kernel_count);
    ridge_json_count(json, "function_count", gates->function_count);
    ridge_json_count(json, "unbound_count", gates->unbound_count);
    ridge_json_begin_array(json, "violations");
    for (i = 0; i < gates->count; i++) {
        const struct violation *const at = &gates->violations[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "gate", at->gate);
        ridge_json_text(json, "name", at->name);
        ridge_json_text(json, "arch", at->arch);
        ridge_json_text(json, "file", at->path);
        write_number(json, "found", at->found);
        write_number(json, "allowed", at->allowed);
        ridge_json_text(json, "text", at->text);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* "3 kernels", "3 kernels and 1 device function". */
static void print_checked(ridge_output *output, const struct gates *gates)
{
    ridge_output_format(output, "%zu kernel%s", gates->kernel_count,
                        gates->kernel_count == 1 ? "" : "s");
    if (gates->function_count > 0)
        ridge_output_format(output, " and %zu device function%s", gates->function_count,
                            gates->function_count == 1 ? "" : "s");
}

static void print_lines(ridge_output *output, const struct gates *gates)
{
    const bool many = gates->request->path_count > 1;
    size_t i;

    for (i = 0; i < gates->count; i++) {
        const struct violation *const at = &gates->violations[i];
        char name[INSPECT_NAME_BYTES];

        if (many && at->path != NULL)
            ridge_output_format(output, "%s: ", at->path);
        inspect_short_name(at->name, name, sizeof(name));
        ridge_output_format(output, "%s %s: %s\n", name, at->arch, at->text);
    }
}

/* The same as Markdown. */
static void print_table(ridge_output *output, const struct gates *gates)
{
    static const ridge_column columns[] = {
        {"name", "Kernel", RIDGE_UNIT_NONE, true, 0, 0},
        {"arch", "Arch", RIDGE_UNIT_NONE, true, 0, 0},
        {"text", "Violation", RIDGE_UNIT_NONE, true, 0, 0},
        {"file", "File", RIDGE_UNIT_NONE, true, 0, 0},
    };
    const bool many = gates->request->path_count > 1;
    ridge_table *const table = ridge_table_create(columns, many ? 4 : 3);
    size_t i;

    for (i = 0; i < gates->count; i++) {
        const struct violation *const at = &gates->violations[i];
        char name[INSPECT_NAME_BYTES];

        ridge_table_text(table, inspect_short_name(at->name, name, sizeof(name)));
        ridge_table_text(table, at->arch);
        ridge_table_text(table, at->text);
        if (many)
            ridge_table_text(table, at->path != NULL ? at->path : "-");
    }
    ridge_table_write(table, RIDGE_FORMAT_MARKDOWN, output, NULL, NULL);
    ridge_table_free(table);
    ridge_output_text(output, "\n");
}

static void print_violations(ridge_output *output, const struct gates *gates, size_t recorded_count)
{
    if (gates->count > 0 && gates->request->out.format == RIDGE_FORMAT_MARKDOWN)
        print_table(output, gates);
    else
        print_lines(output, gates);
    if (gates->unbound_count > 0)
        ridge_output_format(
            output,
            "%zu kernel%s without a launch bound, so --min-blocks cannot be told: give "
            "--occupancy BLOCK[,SMEM]\n",
            gates->unbound_count, gates->unbound_count == 1 ? "" : "s");
    else if (gates->count == 0 && has_checks(gates->request)) {
        print_checked(output, gates);
        ridge_output_format(output, ", no violation\n");
    }
    if (gates->fell_behind)
        ridge_output_format(output, "To accept what changed: --write-baseline %s --force\n",
                            gates->request->baseline);
    if (gates->request->write_baseline != NULL)
        ridge_output_format(output, "%zu kernel%s recorded in %s\n", recorded_count,
                            recorded_count == 1 ? "" : "s", gates->request->write_baseline);
}

static int print_gates(const struct gates *gates, size_t recorded_count)
{
    ridge_output *const output = cli_open(&gates->request->out);

    if (gates->request->out.format == RIDGE_FORMAT_JSON)
        write_violations(output, gates);
    else
        print_violations(output, gates, recorded_count);
    return cli_close(output, gates->count > 0 || gates->unbound_count > 0 ? CLI_NO : CLI_DONE);
}

/* -- the work ---------------------------------------------------------------------------------- */

static bool has_code(const struct inspect_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++)
        if (!rows->rows[i].is_ptx)
            return true;
    return false;
}

static int check_all(struct gates *gates, const struct inspect_rows *rows)
{
    const struct inspect_request *const request = gates->request;
    ridge_resource_set *now = NULL;
    size_t recorded_count;
    /* Of functions only on request: they come and go with inlining. */
    int status = inspect_set_of(rows, request->functions, &now);

    if (status != CLI_DONE)
        return status;
    recorded_count = ridge_resource_set_count(now);
    if (rows->count == 0 && request->baseline == NULL) {
        cli_message(request->paths[0], "no kernel to check");
        ridge_resource_set_free(now);
        return CLI_NO;
    }
    if (!has_code(rows) && request->baseline == NULL && is_of_code(request)) {
        cli_message(request->paths[0], "no machine code to check, only PTX");
        ridge_resource_set_free(now);
        return CLI_NO;
    }
    check_rows(gates, rows);
    if (request->min_blocks != OPTION_UNSET && gates->fitted_count == 0) {
        cli_message(request->paths[0], "no machine code for %s to check --min-blocks with",
                    request->gpu.chip != NULL ? request->gpu.chip->name : "a known chip");
        ridge_resource_set_free(now);
        return CLI_NO;
    }
    if (request->baseline != NULL)
        status = check_baseline(gates, now);
    if (status == CLI_DONE && request->write_baseline != NULL)
        status = write_baseline(request, now);
    ridge_resource_set_free(now);
    if (status == CLI_DONE && gates->failed) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    return status == CLI_DONE ? print_gates(gates, recorded_count) : status;
}

int inspect_gates(const struct inspect_request *request)
{
    struct gates gates = {.request = request, .collected = *request};
    struct inspect_rows rows;
    size_t i;
    int status;

    gates.collected.functions = true;
    status = inspect_collect(&gates.collected, &rows);

    /* What could not be read may be what breaks a gate: no answer without it. */
    if (status == CLI_DONE)
        status = check_all(&gates, &rows);
    for (i = 0; i < gates.count; i++)
        free(gates.violations[i].name);
    free(gates.violations);
    inspect_rows_release(&rows);
    return status;
}
