/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge ledger: what a campaign has found out, and rows in and out. One option table serves all
 * subcommands; each says which arguments it takes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "ledger_views.h"

static const char usage[] = "ridge ledger log|chain|best|flat|regressed [options] [CAMPAIGN]\n"
                            "       ridge ledger campaigns|schema [options]\n"
                            "       ridge ledger show [options] ID\n"
                            "       ridge ledger query [options] SQL\n"
                            "       ridge ledger note [options] ID TEXT\n"
                            "       ridge ledger add-profile [options] REPORT\n"
                            "       ridge ledger extract [options] BUILD FOLDER\n"
                            "       ridge ledger export [options] [FILE]\n"
                            "       ridge ledger import [options] FILE...\n"
                            "       ridge ledger merge [options] LEDGER...";

struct request {
    const char *ledger, *build, *kase, *kernel;
    size_t launch;
    bool create, artefacts, force;
    struct cli_output out;
    ridge_ledger *opened;
    const char *path;
    int argc; /* behind the subcommand */
    char **argv;
};

/* -- reading ----------------------------------------------------------------------------------- */

static int campaigns(struct request *request)
{
    static const char sql[] =
        "SELECT c.title, count(s.id) AS steps, sum(s.state = 'kept') AS kept,"
        " sum(s.state = 'rejected') AS rejected, c.created, c.id FROM campaign c"
        " LEFT JOIN step s ON s.campaign_id = c.id GROUP BY c.id ORDER BY c.created DESC, c.id";
    ridge_output *const output = cli_open(&request->out);
    ridge_json *json = NULL;
    int status;

    if (request->out.format == RIDGE_FORMAT_JSON) {
        json = ridge_json_create(output);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-ledger-campaigns/1");
    }
    status = cli_query_print(request->opened, request->path, sql, NULL, 0, request->out.format,
                             output, json, "campaigns");
    if (json != NULL) {
        ridge_json_end_object(json);
        ridge_json_free(json);
    }
    return cli_close(output, status);
}

static int query(struct request *request)
{
    ridge_output *const output = cli_open_whole(&request->out);
    ridge_json *json = NULL;
    int status;

    if (request->out.format == RIDGE_FORMAT_JSON) {
        json = ridge_json_create(output);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-ledger-query/1");
    }
    status = cli_query_print(request->opened, request->path, request->argv[0], NULL, 0,
                             request->out.format, output, json, "rows");
    if (json != NULL) {
        ridge_json_end_object(json);
        ridge_json_free(json);
    }
    return cli_close(output, status);
}

static int view_campaign(struct request *request, cli_ledger_view *view)
{
    char id[LEDGER_ID_BYTES], title[200];
    const int status =
        cli_find_campaign(request->opened, request->path,
                          request->argc > 0 ? request->argv[0] : NULL, id, title, sizeof(title));

    return status == CLI_DONE ? view(request->opened, request->path, id, &request->out) : status;
}

static int show_log(struct request *request)
{
    return view_campaign(request, cli_ledger_log);
}

static int show_chain(struct request *request)
{
    return view_campaign(request, cli_ledger_chain);
}

static int show_best(struct request *request)
{
    return view_campaign(request, cli_ledger_best);
}

static int show_flat(struct request *request)
{
    return view_campaign(request, cli_ledger_flat);
}

static int show_regressed(struct request *request)
{
    return view_campaign(request, cli_ledger_regressed);
}

static int show(struct request *request)
{
    return cli_ledger_show(request->opened, request->path, request->argv[0], &request->out);
}

/* The tables as Markdown, as docs/formats/ledger.md has them. */
static int schema(struct request *request)
{
    ridge_output *const output = cli_open_whole(&request->out);
    const ridge_ledger_table *table;
    const ridge_ledger_view *view;
    size_t i, k;

    for (i = 0; (table = ridge_ledger_table_at(i)) != NULL; i++) {
        ridge_output_format(output, "%s### %s\n\n%s.\n\n", i > 0 ? "\n" : "", table->name,
                            table->meaning);
        ridge_output_text(output, "| column | type | |\n| --- | --- | --- |\n");
        for (k = 0; k < table->column_count; k++) {
            const ridge_ledger_column *const column = &table->columns[k];

            ridge_output_format(output, "| `%s` | %s%s%s | %s", column->name,
                                column->references != NULL ? "id of " : "",
                                column->references != NULL ? column->references
                                                           : ridge_ledger_type_name(column->type),
                                column->is_needed ? ", needed" : "", column->meaning);
            if (column->choices != NULL) {
                const char *at;

                ridge_output_text(output, column->meaning[0] != '\0' ? "; " : "");
                for (at = column->choices; *at != '\0'; at++)
                    ridge_output_format(output, *at == '|' ? ", " : "%c", *at);
            }
            if (column->is_state)
                ridge_output_text(output, column->is_with_previous ? " (state, with the one above)"
                                                                   : " (state)");
            ridge_output_text(output, " |\n");
        }
    }
    ridge_output_text(output, "\n### Views\n\n| view | |\n| --- | --- |\n");
    for (i = 0; (view = ridge_ledger_view_at(i)) != NULL; i++)
        ridge_output_format(output, "| `%s` | %s |\n", view->name, view->meaning);
    return cli_close(output, CLI_DONE);
}

/* -- writing ----------------------------------------------------------------------------------- */

static int note(struct request *request)
{
    char id[LEDGER_ID_BYTES] = "", at[24];
    const ridge_ledger_table *table;
    ridge_error err = {RIDGE_OK, ""}, first = {RIDGE_OK, ""};
    size_t i;

    for (i = 0; (table = ridge_ledger_table_at(i)) != NULL && id[0] == '\0'; i++)
        if (ridge_ledger_find(request->opened, table->name, request->argv[0], id, &err) !=
                RIDGE_OK &&
            i == 0)
            first = err;
    if (id[0] == '\0')
        return strstr(first.text, "is no id") != NULL
                   ? cli_fail(request->path, &first)
                   : cli_usage_error("no row %s in %s", request->argv[0], request->path);
    {
        const ridge_ledger_member members[] = {
            {"subject_id", id, NAN},
            {"at", ridge_ledger_time_text(cli_ledger_now_s(), at), NAN},
            {"text", request->argv[1], NAN},
        };

        if (ridge_ledger_add(request->opened, "note", members, 3, NULL, &err) != RIDGE_OK)
            return cli_fail(request->path, &err);
    }
    return CLI_DONE;
}

static int add_profile(struct request *request)
{
    const struct cli_profile_request profile = {.path = request->argv[0],
                                                .build = request->build,
                                                .kase = request->kase,
                                                .kernel = request->kernel,
                                                .launch = request->launch,
                                                .step = OPTION_UNSET,
                                                .out = request->out};

    return cli_ledger_add_profile(request->opened, request->path, &profile);
}

static int extract(struct request *request)
{
    char id[LEDGER_ID_BYTES], path[1024];
    const char *const name = request->argv[0];
    ridge_output *output;
    ridge_error err;

    if (ridge_ledger_find_build(request->opened, strncmp(name, "build:", 6) == 0 ? name + 6 : name,
                                id, &err) != RIDGE_OK ||
        ridge_ledger_extract_build(request->opened, id, request->argv[1], path, sizeof(path),
                                   &err) != RIDGE_OK)
        return cli_fail(request->path, &err);
    output = cli_open(&request->out);
    ridge_output_format(output, "%s\n", path);
    return cli_close(output, CLI_DONE);
}

static int export(struct request *request)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = request->argc > 0 ? open_memstream(&text, &size) : stdout;
    ridge_error err;
    int status = CLI_DONE;

    if (stream == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    if (ridge_ledger_export(request->opened, stream, request->artefacts, &err) != RIDGE_OK)
        status = cli_fail(request->path, &err);
    if (request->argc == 0) {
        if (fflush(stdout) != 0 && status == CLI_DONE) {
            cli_message(NULL, "standard output cannot be written: %s", strerror(errno));
            status = ridge_status_exit(RIDGE_ERR_IO);
        }
        return status;
    }
    if (fclose(stream) != 0 && status == CLI_DONE) {
        cli_message(NULL, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    if (status == CLI_DONE)
        status = cli_check_target(request->argv[0], request->path, request->force);
    if (status == CLI_DONE)
        status = cli_write_file(request->argv[0], text, size, request->force);
    free(text);
    return status;
}

/* Lines of ridge-bench/1, each imported; says where one is refused. */
static int import_lines(struct request *request, const char *text, size_t size, const char *name)
{
    const char *const end = text + size;
    char where[400];
    size_t number = 0;
    ridge_error err;

    while (text < end) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline != NULL ? newline : end) - text);

        number++;
        if (ridge_ledger_import_line(request->opened, text, length, &err) != RIDGE_OK) {
            snprintf(where, sizeof(where), "%.300s:%zu", name, number);
            return cli_fail(where, &err);
        }
        text += length + (newline != NULL ? 1 : 0);
    }
    return CLI_DONE;
}

/* Rows of all tables. */
static double count_rows(struct request *request)
{
    char sql[2048] = "SELECT 0", rows[32];
    size_t used = strlen(sql), i;

    for (i = 0; i < ridge_ledger_table_count() && used < sizeof(sql); i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, " + (SELECT count(*) FROM \"%s\")",
                                 ridge_ledger_table_at(i)->name);
    return cli_query_one(request->opened, request->path, sql, NULL, 0, rows, sizeof(rows)) ==
                   CLI_DONE
               ? strtod(rows, NULL)
               : (double)NAN;
}

/* A file of ridge's own or of another tool, and what came of it. */
static int import_text(struct request *request, const char *text, size_t size, const char *name,
                       ridge_output *output)
{
    const double before = count_rows(request);
    ridge_foreign foreign;
    ridge_error err;
    double added;
    int status;

    if (strncmp(text, "SQLite format 3", 15) == 0) {
        cli_message(name, "a ledger, expected lines of JSON: ridge ledger merge takes it");
        return CLI_USAGE;
    }
    if (ridge_ledger_import_foreign(request->opened, text, size, name, &foreign, &err) != RIDGE_OK)
        return cli_fail(name, &err);
    status = foreign.tool == NULL ? import_lines(request, text, size, name) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    added = count_rows(request) - before;
    ridge_output_format(output, "%s: ", name);
    if (foreign.tool != NULL)
        ridge_output_format(output, "%zu time%s of %s, to be looked at, no verdict rests on them; ",
                            foreign.time_count, foreign.time_count == 1 ? "" : "s", foreign.tool);
    if (foreign.skipped_count > 0)
        ridge_output_format(output, "%zu without a time; ", foreign.skipped_count);
    ridge_output_format(output, added > 0 ? "%.0f rows added\n" : "nothing new\n", added);
    return CLI_DONE;
}

/* All of a stream, with 0 behind it. */
static int import_stream(struct request *request, FILE *stream, const char *name,
                         ridge_output *output)
{
    char *text = NULL, *grown;
    size_t size = 0, room = 0, got;
    int status;

    do {
        if (room - size < 2) {
            room = 2 * room + (1 << 16);
            grown = realloc(text, room);
            if (grown == NULL) {
                free(text);
                cli_message(name, "out of memory for %zu bytes", room);
                return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
            }
            text = grown;
        }
        errno = 0;
        got = fread(text + size, 1, room - size - 1, stream);
        size += got;
    } while (got > 0);
    text[size] = '\0';
    if (ferror(stream)) {
        cli_message(name, "cannot be read: %s", strerror(errno));
        status = ridge_status_exit(RIDGE_ERR_IO);
    } else {
        status = import_text(request, text, size, name, output);
    }
    free(text);
    return status;
}

/* All files are one transaction: all rows, or none. */
static int import(struct request *request)
{
    ridge_output *const output = cli_open(&request->out);
    ridge_error err;
    int status = CLI_DONE, i;

    if (ridge_ledger_begin(request->opened, &err) != RIDGE_OK)
        return cli_close(output, cli_fail(request->path, &err));
    for (i = 0; i < request->argc && status == CLI_DONE; i++) {
        const bool is_stdin = strcmp(request->argv[i], "-") == 0;
        FILE *const stream = is_stdin ? stdin : fopen(request->argv[i], "r");

        if (stream == NULL) {
            cli_message(request->argv[i], "cannot be read: %s", strerror(errno));
            status = ridge_status_exit(RIDGE_ERR_IO);
            break;
        }
        status =
            import_stream(request, stream, is_stdin ? "standard input" : request->argv[i], output);
        if (!is_stdin)
            fclose(stream);
    }
    if (status != CLI_DONE)
        ridge_ledger_rollback(request->opened);
    else if (ridge_ledger_commit(request->opened, &err) != RIDGE_OK)
        status = cli_fail(request->path, &err);
    return cli_close(output, status);
}

static int merge(struct request *request)
{
    ridge_output *const output = cli_open(&request->out);
    ridge_error err;
    int status = CLI_DONE, i;

    for (i = 0; i < request->argc && status == CLI_DONE; i++) {
        size_t added, present;

        if (ridge_ledger_merge(request->opened, request->argv[i], &added, &present, &err) !=
            RIDGE_OK)
            status = cli_fail(request->argv[i], &err);
        else
            ridge_output_format(output, "%s: %zu rows added, %zu were there\n", request->argv[i],
                                added, present);
    }
    return cli_close(output, status);
}

/* -- the command ------------------------------------------------------------------------------- */

static const struct subcommand {
    const char *name;
    int (*run)(struct request *request);
    int least, most; /* arguments */
    ridge_ledger_mode mode;
    const char *arguments;
    bool may_create, without_ledger;
} subcommands[] = {
    {"log", show_log, 0, 1, RIDGE_LEDGER_READ, "at most one CAMPAIGN"},
    {"chain", show_chain, 0, 1, RIDGE_LEDGER_READ, "at most one CAMPAIGN"},
    {"best", show_best, 0, 1, RIDGE_LEDGER_READ, "at most one CAMPAIGN"},
    {"flat", show_flat, 0, 1, RIDGE_LEDGER_READ, "at most one CAMPAIGN"},
    {"regressed", show_regressed, 0, 1, RIDGE_LEDGER_READ, "at most one CAMPAIGN"},
    {"campaigns", campaigns, 0, 0, RIDGE_LEDGER_READ, "no argument"},
    {"schema", schema, 0, 0, RIDGE_LEDGER_READ, "no argument", .without_ledger = true},
    {"show", show, 1, 1, RIDGE_LEDGER_READ, "one ID"},
    {"query", query, 1, 1, RIDGE_LEDGER_READ, "one SQL query in quotes"},
    {"note", note, 2, 2, RIDGE_LEDGER_WRITE, "an ID and a TEXT in quotes"},
    {"add-profile", add_profile, 1, 1, RIDGE_LEDGER_WRITE, "one REPORT"},
    {"extract", extract, 2, 2, RIDGE_LEDGER_READ, "a BUILD and a FOLDER"},
    {"export", export, 0, 1, RIDGE_LEDGER_READ, "at most one FILE"},
    {"import", import, 1, 4096, RIDGE_LEDGER_WRITE, "one FILE or more", .may_create = true},
    {"merge", merge, 1, 4096, RIDGE_LEDGER_WRITE, "one LEDGER or more", .may_create = true},
};

static int run(const struct subcommand *subcommand, struct request *request)
{
    ridge_ledger_mode mode = subcommand->mode;
    int status = CLI_DONE;

    if (request->argc < subcommand->least || request->argc > subcommand->most)
        return cli_usage_error("%s expects %s, got %d", subcommand->name, subcommand->arguments,
                               request->argc);
    if (request->create && !subcommand->may_create)
        return cli_usage_error("--create is for import and merge");
    if (request->create)
        mode = RIDGE_LEDGER_CREATE;
    if (!subcommand->without_ledger)
        status = cli_ledger_open(request->ledger, mode, &request->opened);
    return status == CLI_DONE ? subcommand->run(request) : status;
}

int cmd_ledger(int argc, char **argv)
{
    struct request request = {.launch = OPTION_UNSET};
    const struct option options[] = {
        OPT_STRING(0, "build", &request.build, "ID",
                   "add-profile: the build that was profiled, else the one in the report"),
        OPT_STRING('k', "kernel", &request.kernel, "REGEX", "add-profile: the kernel of this name"),
        OPT_COUNT('l', "launch", &request.launch, "N", "add-profile: the launch of this number"),
        OPT_STRING(0, "case", &request.kase, "ID", "add-profile: the case that ran"),
        OPT_FLAG(0, "artefacts", &request.artefacts, "export: archived binaries too"),
        OPT_FLAG(0, "create", &request.create,
                 "import, merge: make the ledger when it is not there"),
        OPT_FLAG('f', "force", &request.force, "export: replace FILE when it exists"),
        OPT_LEDGER(&request.ledger),
        OPT_TABLE(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    const char *words[sizeof(subcommands) / sizeof(subcommands[0]) + 1];
    const char *nearest;
    size_t i;
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    request.path = cli_ledger_path(request.ledger);
    request.argc = argc - 2;
    request.argv = argv + 2;
    if (argc < 2)
        return cli_usage_error("expected log, show, export or another of ridge help ledger");
    for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        words[i] = subcommands[i].name;
        if (strcmp(subcommands[i].name, argv[1]) == 0) {
            status = run(&subcommands[i], &request);
            ridge_ledger_free(request.opened);
            return status;
        }
    }
    words[i] = NULL;
    nearest = options_nearest(argv[1], words);
    if (nearest != NULL)
        return cli_usage_error("'%s' is no subcommand, did you mean '%s'?", argv[1], nearest);
    return cli_usage_error("'%s' is no subcommand, see ridge help ledger", argv[1]);
}
