/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --mix, --sass and --lines: what they share, one function after the other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { MOST_IN_FULL = 20 }; /* kernels of --mix; of more a table, unless some are asked for */

struct view {
    const struct inspect_request *request;
    ridge_output *output;
    ridge_json *json;
    ridge_helpers helpers; /* of the entry */
    size_t function_count;
    bool is_brief; /* output is kept until it is known how many kernels there are */
    struct inspect_mix_summary summary;
};

/* The line of the function itself that an inlined one was reached from; NULL: not inlined. */
static const ridge_line *caller_of(const struct inspect_function *at, const ridge_line *line)
{
    const ridge_line *caller = NULL;
    size_t steps = 0; /* a damaged table may go round */

    while (line->inlined_at >= 0 && (size_t)line->inlined_at < at->line_count &&
           steps++ < at->line_count) {
        caller = &at->lines[line->inlined_at];
        line = caller;
    }
    return caller;
}

char *inspect_place(const struct inspect_function *at, const ridge_line *line, char *buffer,
                    size_t size)
{
    const ridge_line *caller;
    size_t used;

    buffer[0] = '\0';
    if (line == NULL || line->file == NULL || line->line == 0)
        return buffer;
    snprintf(buffer, size, "%s:%" PRIu32, cli_base_name(line->file), line->line);
    caller = caller_of(at, line);
    used = strlen(buffer);
    if (caller == NULL || caller->file == NULL)
        return buffer;
    if (strcmp(caller->file, line->file) == 0)
        snprintf(buffer + used, size - used, " < %" PRIu32, caller->line);
    else
        snprintf(buffer + used, size - used, " < %s:%" PRIu32, cli_base_name(caller->file),
                 caller->line);
    return buffer;
}

/* -- one function ------------------------------------------------------------------------------ */

static void print_title(const struct view *view, const struct inspect_function *at)
{
    char name[INSPECT_NAME_BYTES];
    char rest[400];
    size_t used;
    size_t in_loops = 0;
    size_t i;

    for (i = 0; i < at->loops.instruction_count; i++)
        in_loops += at->loops.of[i] >= 0;
    if (view->function_count > 0)
        ridge_output_text(view->output, "\n");
    inspect_short_name(at->function->name, name, sizeof(name));
    used = (size_t)snprintf(rest, sizeof(rest), " %s", at->entry->arch);
    if (view->request->path_count > 1)
        used += (size_t)snprintf(rest + used, sizeof(rest) - used, " of %.200s", at->entry->path);
    used += (size_t)snprintf(rest + used, sizeof(rest) - used, ": %zu instructions, %d registers",
                             at->instruction_count, at->function->registers_per_thread);
    if (at->loops.count > 0)
        snprintf(rest + used, sizeof(rest) - used, "; %zu in %zu loop%s", in_loops, at->loops.count,
                 at->loops.count == 1 ? "" : "s");
    ridge_output_styled(view->output, RIDGE_STYLE_STRONG, name);
    /* A line of its own below a name that leaves it no room. */
    if (strlen(name) + strlen(rest) > (size_t)ridge_output_columns(view->output))
        ridge_output_text(view->output, "\n ");
    ridge_output_text(view->output, rest);
    ridge_output_text(view->output, "\n");
}

static void begin_function(const struct view *view, const struct inspect_function *at)
{
    if (view->json == NULL) {
        print_title(view, at);
        return;
    }
    ridge_json_begin_object(view->json, NULL);
    ridge_json_text(view->json, "name", at->function->name);
    ridge_json_text(view->json, "arch", at->entry->arch);
    ridge_json_text(view->json, "file", at->entry->path);
    ridge_json_count(view->json, "instruction_count", at->instruction_count);
    ridge_json_count(view->json, "padding_count", at->padding_count);
}

static ridge_status show(const struct view *view, const struct inspect_function *at,
                         ridge_error *err)
{
    if (view->request->mix)
        return inspect_print_mix(view->output, view->json, at, err);
    if (view->request->sass)
        return inspect_print_sass(view->output, view->json, at, err);
    return inspect_print_lines(view->output, view->json, at, err);
}

/* The helpers of a function: one run of the sorted rows. */
static void find_helpers(const struct view *view, struct inspect_function *at)
{
    size_t low = 0;
    size_t high = view->helpers.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (view->helpers.rows[middle].function < at->function)
            low = middle + 1;
        else
            high = middle;
    }
    at->helpers = view->helpers.rows + low;
    while (low + at->helper_count < view->helpers.count &&
           at->helpers[at->helper_count].function == at->function)
        at->helper_count++;
}

static ridge_status meet_kernel(void *context, const struct inspect_entry *entry,
                                const ridge_function *function, const ridge_ptx_kernel *ptx,
                                ridge_error *err)
{
    struct view *const view = context;
    struct inspect_function at = {
        .request = view->request, .entry = entry, .function = function, .sm = entry->entry->sm};
    ridge_status status;

    (void)ptx;
    if (function == NULL) /* PTX */
        return RIDGE_OK;
    at.sm = ridge_cubin_sm(entry->loaded.cubin);
    at.padding_count = ridge_sass_padding(function->code, function->code_bytes, at.sm);
    at.instruction_count = function->code_bytes / 16 - at.padding_count;
    status = ridge_loops_find(function->code, function->code_bytes, at.sm, &at.loops, err);
    if (status == RIDGE_OK && view->is_brief)
        status = inspect_add_mix(&view->summary, &at, err);
    if (status == RIDGE_OK && view->is_brief && view->function_count >= MOST_IN_FULL) {
        view->function_count++;
        goto out;
    }
    if (status == RIDGE_OK)
        status = ridge_spills_find(entry->loaded.cubin, function, &at.spills, err);
    if (status != RIDGE_OK)
        goto out;
    /* A damaged line table leaves the code readable. */
    status = ridge_cubin_lines(entry->loaded.cubin, function, &at.lines, &at.line_count, err);
    if (status != RIDGE_ERR_OUT_OF_MEMORY) {
        find_helpers(view, &at);
        begin_function(view, &at);
        status = show(view, &at, err);
        ridge_json_end_object(view->json);
        view->function_count++;
    }
out:
    ridge_spills_release(&at.spills);
    ridge_loops_release(&at.loops);
    return status;
}

static ridge_status meet_entry(void *context, const struct inspect_entry *entry, ridge_error *err)
{
    struct view *const view = context;

    ridge_helpers_release(&view->helpers);
    if (entry->loaded.cubin == NULL)
        return RIDGE_OK;
    return ridge_helpers_find(entry->loaded.cubin, &view->helpers, err);
}

/* -- all of them ------------------------------------------------------------------------------- */

static int no_code(const struct inspect_request *request)
{
    cli_message(request->paths[0], request->pattern != NULL || request->arch != NULL
                                       ? "no machine code of that kernel and architecture"
                                       : "no machine code");
    return CLI_NO;
}

/* --mix of everything: in full where that is little, else a table. */
static int show_brief(struct view *view, const struct inspect_visitor *visitor)
{
    const struct cli_output *const out = &view->request->out;
    const bool colour = out->colour == 0 ? ridge_terminal_colour(stdout) : out->colour == 1;
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    ridge_output *output;
    ridge_error err;
    int status;

    if (stream == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    view->output = ridge_output_create(stream, ridge_terminal_columns(stdout), colour);
    status = inspect_walk(view->request, visitor);
    if (ridge_output_close(view->output, &err) != RIDGE_OK)
        status = cli_fail(NULL, &err);
    fclose(stream);
    if (view->function_count == 0 && status == CLI_DONE)
        status = no_code(view->request);
    output = cli_open(out);
    if (view->function_count > MOST_IN_FULL)
        inspect_print_mix_summary(output, &view->summary);
    else
        ridge_output_text(output, text);
    free(text);
    inspect_mix_summary_release(&view->summary);
    ridge_helpers_release(&view->helpers);
    return cli_close(output, status);
}

int inspect_code(const struct inspect_request *request)
{
    struct view view = {.request = request};
    const struct inspect_visitor visitor = {&view, NULL, meet_entry, meet_kernel};
    int status;

    view.is_brief = request->mix && !request->all && request->pattern == NULL &&
                    request->out.format == RIDGE_FORMAT_TEXT;
    if (view.is_brief)
        return show_brief(&view, &visitor);
    view.output = cli_open(&request->out);
    if (request->out.format == RIDGE_FORMAT_JSON)
        view.json = ridge_json_create(view.output);
    ridge_json_begin_object(view.json, NULL);
    ridge_json_text(view.json, "schema",
                    request->mix    ? "ridge-inspect-mix/1"
                    : request->sass ? "ridge-inspect-sass/1"
                                    : "ridge-inspect-lines/1");
    ridge_json_begin_array(view.json, "functions");
    status = inspect_walk(request, &visitor);
    ridge_helpers_release(&view.helpers);
    ridge_json_end_array(view.json);
    ridge_json_end_object(view.json);
    ridge_json_free(view.json);
    if (status == CLI_DONE && view.function_count == 0)
        status = no_code(request);
    return cli_close(view.output, status);
}
