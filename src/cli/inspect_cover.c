/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --cover: which kernels run on which chips. An entry for a chip does not mean that
 * every kernel is in it, so each kernel is asked by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { ROWS_OF_A_SCREEN = 40, RUN_COUNT = RIDGE_RUN_NATIVE + 1 };

/* Coverage of one input. */
struct cover {
    const struct inspect_request *request;
    ridge_coverage *coverage;
    struct cover_entry {
        char arch[INSPECT_ARCH_BYTES];
        int ptx_major, ptx_minor;
    } * entries; /* that the cells name */
    size_t entry_count, entry_capacity;
    size_t lto_count;
    int ptx_major, ptx_minor; /* newest ISA that a kernel needs */

    size_t *kernels; /* that --kernel takes */
    size_t kernel_count;
    size_t hole_count; /* kernels with one */
    size_t jit_count;  /* kernels that need the driver's compiler somewhere */
    size_t counts[INSPECT_TARGETS_MAX][RUN_COUNT];
    bool are_alike;
};

static ridge_status meet_entry(void *context, const struct inspect_entry *entry, ridge_error *err)
{
    struct cover *const cover = context;
    struct cover_entry *at;

    cover->lto_count += entry->entry->kind == RIDGE_ENTRY_LTO;
    if (cover->entry_count == cover->entry_capacity) {
        const size_t capacity = cover->entry_capacity == 0 ? 64 : 2 * cover->entry_capacity;
        struct cover_entry *const grown =
            realloc(cover->entries, capacity * sizeof(*cover->entries));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        cover->entries = grown;
        cover->entry_capacity = capacity;
    }
    at = &cover->entries[cover->entry_count];
    memcpy(at->arch, entry->arch, sizeof(at->arch));
    at->ptx_major = entry->entry->ptx_major;
    at->ptx_minor = entry->entry->ptx_minor;
    return ridge_coverage_add(cover->coverage, entry->entry, cover->entry_count++, &entry->loaded,
                              err);
}

/* -- counting ---------------------------------------------------------------------------------- */

static bool is_same(const ridge_coverage *coverage, size_t a, size_t b, size_t target_count)
{
    size_t i;

    for (i = 0; i < target_count; i++)
        if (ridge_coverage_at(coverage, a, i).run != ridge_coverage_at(coverage, b, i).run)
            return false;
    return true;
}

/* The worst of a kernel's runs. */
static ridge_run worst_run(const struct cover *cover, size_t kernel)
{
    ridge_run worst = RIDGE_RUN_NATIVE;
    size_t i;

    for (i = 0; i < cover->request->cover_count; i++) {
        const ridge_run run = ridge_coverage_at(cover->coverage, kernel, i).run;

        if (run == RIDGE_RUN_NONE || (worst != RIDGE_RUN_NONE && run < worst))
            worst = run;
    }
    return worst;
}

static void count_cell(struct cover *cover, size_t target, ridge_coverage_cell cell)
{
    const struct cover_entry *entry;

    cover->counts[target][cell.run]++;
    if (cell.run != RIDGE_RUN_JIT || cell.entry >= cover->entry_count)
        return;
    entry = &cover->entries[cell.entry];
    if (entry->ptx_major > cover->ptx_major ||
        (entry->ptx_major == cover->ptx_major && entry->ptx_minor > cover->ptx_minor)) {
        cover->ptx_major = entry->ptx_major;
        cover->ptx_minor = entry->ptx_minor;
    }
}

static bool count_kernels(struct cover *cover)
{
    const size_t target_count = cover->request->cover_count;
    const size_t all = ridge_coverage_kernel_count(cover->coverage);
    size_t i, k;

    cover->kernels = calloc(all + 1, sizeof(*cover->kernels));
    if (cover->kernels == NULL)
        return false;
    cover->are_alike = true;
    for (i = 0; i < all; i++) {
        if (!inspect_wants_name(cover->request, ridge_coverage_kernel(cover->coverage, i)))
            continue;
        for (k = 0; k < target_count; k++)
            count_cell(cover, k, ridge_coverage_at(cover->coverage, i, k));
        cover->hole_count += worst_run(cover, i) == RIDGE_RUN_NONE;
        for (k = 0; k < target_count; k++)
            if (ridge_coverage_at(cover->coverage, i, k).run == RIDGE_RUN_JIT)
                break;
        cover->jit_count += k < target_count;
        cover->are_alike =
            cover->are_alike && (cover->kernel_count == 0 ||
                                 is_same(cover->coverage, cover->kernels[0], i, target_count));
        cover->kernels[cover->kernel_count++] = i;
    }
    return true;
}

/* -- text -------------------------------------------------------------------------------------- */

static const char *entry_arch(const struct cover *cover, ridge_coverage_cell cell)
{
    return cell.run != RIDGE_RUN_NONE && cell.entry < cover->entry_count
               ? cover->entries[cell.entry].arch
               : "";
}

/* The architectures that kernels would be taken from on a target: "sm_80, compute_90". */
static void chosen_text(const struct cover *cover, size_t target, char *text, size_t size)
{
    size_t i;

    text[0] = '\0';
    for (i = 0; i < cover->kernel_count; i++) {
        const char *const arch =
            entry_arch(cover, ridge_coverage_at(cover->coverage, cover->kernels[i], target));
        const char *const found = strstr(text, arch);
        const size_t used = strlen(text);
        const size_t length = strlen(arch);

        if (length == 0 || (found != NULL && (found[length] == '\0' || found[length] == ',')))
            continue;
        snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", arch);
    }
}

static void print_targets(ridge_output *output, const struct cover *cover)
{
    static const ridge_column columns[] = {
        {"target", "On", RIDGE_UNIT_NONE, true, 0, 0},
        {"native", "Native", RIDGE_UNIT_COUNT, false, 0, 0},
        {"jit", "JIT", RIDGE_UNIT_COUNT, false, 0, 0},
        {"not_promised", "Not promised", RIDGE_UNIT_COUNT, false, 0, 0},
        {"none", "Not at all", RIDGE_UNIT_COUNT, false, 0, 0},
        {"from", "From", RIDGE_UNIT_NONE, true, 8, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < cover->request->cover_count; i++) {
        const size_t *const counts = cover->counts[i];
        char text[400];

        ridge_table_text(table, cover->request->cover[i].name);
        ridge_table_count(table, counts[RIDGE_RUN_NATIVE]);
        ridge_table_count(table, counts[RIDGE_RUN_JIT]);
        ridge_table_count(table, counts[RIDGE_RUN_NOT_PROMISED]);
        ridge_table_count(table, counts[RIDGE_RUN_NONE]);
        chosen_text(cover, i, text, sizeof(text));
        ridge_table_text(table, text[0] != '\0' ? text : "-");
    }
    ridge_table_write(table, cover->request->out.format, output, NULL, NULL);
    ridge_table_free(table);
}

static void add_kernel(ridge_table *table, const struct cover *cover, size_t kernel)
{
    char name[INSPECT_NAME_BYTES];
    size_t i;

    inspect_short_name(ridge_coverage_kernel(cover->coverage, kernel), name, sizeof(name));
    ridge_table_text(table, name);
    for (i = 0; i < cover->request->cover_count; i++) {
        const ridge_coverage_cell cell = ridge_coverage_at(cover->coverage, kernel, i);
        char text[64];

        if (cell.run == RIDGE_RUN_NATIVE)
            snprintf(text, sizeof(text), "%s", entry_arch(cover, cell));
        else if (cell.run == RIDGE_RUN_NONE)
            snprintf(text, sizeof(text), "none");
        else
            snprintf(text, sizeof(text), "%s %s", cell.run == RIDGE_RUN_JIT ? "jit" : "maybe",
                     entry_arch(cover, cell));
        ridge_table_text(table, text);
    }
}

/* The kernels: those with a hole first, where there are too many for a screen only these. */
static void print_kernels(ridge_output *output, const struct cover *cover)
{
    ridge_column columns[INSPECT_TARGETS_MAX + 1] = {
        {"name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0}};
    const size_t most = cover->request->all ? SIZE_MAX : ROWS_OF_A_SCREEN;
    ridge_table *table;
    size_t shown = 0;
    size_t i;
    int pass;

    for (i = 0; i < cover->request->cover_count; i++)
        columns[i + 1] =
            (ridge_column){"run", cover->request->cover[i].name, RIDGE_UNIT_NONE, true, 0, 0};
    table = ridge_table_create(columns, cover->request->cover_count + 1);
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < cover->kernel_count && shown < most; i++)
            if ((worst_run(cover, cover->kernels[i]) == RIDGE_RUN_NONE) == (pass == 0)) {
                add_kernel(table, cover, cover->kernels[i]);
                shown++;
            }
    ridge_output_text(output, "\n");
    ridge_table_write(table, cover->request->out.format, output, NULL, NULL);
    ridge_table_free(table);
    if (shown < cover->kernel_count)
        ridge_output_format(output, "%s%zu more: --all, or -k REGEX\n",
                            cover->request->out.format == RIDGE_FORMAT_MARKDOWN ? "\n" : "",
                            cover->kernel_count - shown);
}

static void print_cover(ridge_output *output, const struct cover *cover, const char *path)
{
    const bool is_one = cover->kernel_count == 1;
    const char *const run = is_one ? "kernel runs" : "kernels run";

    if (cover->hole_count > 0)
        ridge_output_format(output, "%s: %zu of %zu kernel%s cannot run everywhere\n\n", path,
                            cover->hole_count, cover->kernel_count, is_one ? "" : "s");
    else if (cover->jit_count > 0)
        ridge_output_format(output, "%s: %zu %s everywhere, %zu by JIT somewhere\n\n", path,
                            cover->kernel_count, run, cover->jit_count);
    else
        ridge_output_format(output, "%s: %zu %s everywhere\n\n", path, cover->kernel_count, run);
    print_targets(output, cover);
    if (!cover->are_alike || cover->request->all)
        print_kernels(output, cover);
    if (cover->ptx_major > 0)
        ridge_output_format(output, "\nJIT needs a driver that knows PTX ISA %d.%d\n",
                            cover->ptx_major, cover->ptx_minor);
    if (cover->lto_count > 0)
        ridge_output_format(output,
                            "\n%zu entries of LTO IR count as nothing: they run after a link\n",
                            cover->lto_count);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_targets(ridge_json *json, const struct cover *cover)
{
    size_t i;

    ridge_json_begin_array(json, "targets");
    for (i = 0; i < cover->request->cover_count; i++) {
        const struct inspect_target *const target = &cover->request->cover[i];
        char compute[32];

        snprintf(compute, sizeof(compute), "%d.%d", target->compute.major, target->compute.minor);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", target->name);
        ridge_json_text(json, "compute_capability", compute);
        ridge_json_count(json, "native_count", cover->counts[i][RIDGE_RUN_NATIVE]);
        ridge_json_count(json, "jit_count", cover->counts[i][RIDGE_RUN_JIT]);
        ridge_json_count(json, "not_promised_count", cover->counts[i][RIDGE_RUN_NOT_PROMISED]);
        ridge_json_count(json, "none_count", cover->counts[i][RIDGE_RUN_NONE]);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_cover(ridge_json *json, const struct cover *cover, const char *path)
{
    size_t i, k;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "path", path);
    ridge_json_count(json, "kernel_count", cover->kernel_count);
    ridge_json_count(json, "hole_count", cover->hole_count);
    ridge_json_count(json, "lto_count", cover->lto_count);
    write_targets(json, cover);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < cover->kernel_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", ridge_coverage_kernel(cover->coverage, cover->kernels[i]));
        ridge_json_begin_array(json, "runs");
        for (k = 0; k < cover->request->cover_count; k++) {
            const ridge_coverage_cell cell =
                ridge_coverage_at(cover->coverage, cover->kernels[i], k);

            ridge_json_begin_object(json, NULL);
            ridge_json_text(json, "target", cover->request->cover[k].name);
            ridge_json_text(json, "run", ridge_run_name(cell.run));
            ridge_json_text(json, "arch",
                            cell.run != RIDGE_RUN_NONE ? entry_arch(cover, cell) : NULL);
            ridge_json_end_object(json);
        }
        ridge_json_end_array(json);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

/* -- the inputs -------------------------------------------------------------------------------- */

/* One input: 0, 1 for a hole, or why it cannot be told. */
static int cover_input(const struct inspect_request *request, ridge_output *output,
                       ridge_json *json, size_t index)
{
    ridge_compute targets[INSPECT_TARGETS_MAX];
    struct inspect_request one = *request;
    struct cover cover = {.request = request};
    const struct inspect_visitor visitor = {&cover, NULL, meet_entry, NULL};
    const char *const path = request->paths[index];
    ridge_error err;
    int status = CLI_DONE;
    size_t i;

    one.paths = &path;
    one.path_count = 1;
    for (i = 0; i < request->cover_count; i++)
        targets[i] = request->cover[i].compute;
    if (ridge_coverage_create(targets, request->cover_count, &cover.coverage, &err) != RIDGE_OK)
        return cli_fail(NULL, &err);
    status = inspect_walk(&one, &visitor);
    ridge_coverage_finish(cover.coverage);
    if (!count_kernels(&cover)) {
        cli_message(NULL, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    } else if (cover.kernel_count == 0 && status == CLI_DONE) {
        cli_message(path, request->pattern != NULL ? "no kernel of that name" : "no kernel");
        status = CLI_NO;
    } else if (cover.kernel_count > 0) {
        if (json != NULL)
            write_cover(json, &cover, path);
        else {
            ridge_output_text(output, index > 0 ? "\n" : "");
            print_cover(output, &cover, path);
        }
        if (status == CLI_DONE &&
            (cover.hole_count > 0 || (request->cover_jit_fails && cover.jit_count > 0)))
            status = CLI_NO;
    }
    ridge_coverage_free(cover.coverage);
    free(cover.entries);
    free(cover.kernels);
    return status;
}

int inspect_cover(const struct inspect_request *request)
{
    ridge_output *const output = cli_open(&request->out);
    ridge_json *const json =
        request->out.format == RIDGE_FORMAT_JSON ? ridge_json_create(output) : NULL;
    int status = CLI_DONE;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-inspect-cover/1");
    ridge_json_begin_array(json, "files");
    for (i = 0; i < request->path_count; i++) {
        const int found = cover_input(request, output, json, i);

        if (found > status)
            status = found;
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
    return cli_close(output, status);
}
