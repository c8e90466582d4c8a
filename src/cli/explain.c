/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge explain: what a finding means, how it is decided, what to change and what to read. */
#include <string.h>
#include <strings.h>

#include "commands.h"
#include "options.h"
#include "ridge/diagnose.h"
#include "ridge/timeline.h"

static const char usage[] = "ridge explain [options] [ID]";

static void write_part(ridge_output *output, const char *heading, const char *text)
{
    if (text[0] == '\0')
        return;
    ridge_output_text(output, "\n");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, heading);
    ridge_output_text(output, "\n");
    ridge_output_wrap(output, 2, "  ", text);
}

static int list_topics(const struct cli_output *out)
{
    static const ridge_column columns[] = {
        {"id", "Finding", RIDGE_UNIT_NONE, true, 0, 0},
        {"title", "What it is about", RIDGE_UNIT_NONE, true, 20, 1},
    };
    ridge_output *const output = cli_open(out);
    ridge_table *const table = ridge_table_create(columns, 2);
    size_t i;

    for (i = 0; i < ridge_topic_count(); i++) {
        ridge_table_text(table, ridge_topic_at(i)->id);
        ridge_table_text(table, ridge_topic_at(i)->title);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    return cli_close(output, CLI_DONE);
}

const char *const *cli_topic_ids(void)
{
    static const char *ids[128];
    size_t i;

    for (i = 0; i < ridge_topic_count() && i < 127; i++)
        ids[i] = ridge_topic_at(i)->id;
    ids[i] = NULL;
    return ids;
}

static int unknown_topic(const char *id)
{
    const char *const nearest = options_nearest(id, cli_topic_ids());

    if (nearest != NULL)
        return cli_usage_error("unknown finding '%s', did you mean '%s'?", id, nearest);
    return cli_usage_error("unknown finding '%s', ridge explain lists them", id);
}

/* Words of ridge timeline. X(NAME, text, meaning) */
#define TERM_VERDICT(name, text, meaning) {"verdict", text, meaning},
#define TERM_CAUSE(name, text, meaning) {"cause of idle time", text, meaning},
#define TERM_FAULT(name, text, meaning) {"fault of a trace", text, meaning},
static const struct term {
    const char *kind, *name, *meaning;
} terms[] = {RIDGE_VERDICT_OF_TIMELINE_LIST(TERM_VERDICT) RIDGE_IDLE_LIST(TERM_CAUSE)
                 RIDGE_TRACE_FAULT_LIST(TERM_FAULT)};

/* "no-work" is a cause, "NO-WORK" a verdict; any other spelling is the first that it may be. */
static const struct term *find_term(const char *name)
{
    const struct term *like = NULL;
    size_t i;

    for (i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        if (strcmp(terms[i].name, name) == 0)
            return &terms[i];
        if (like == NULL && strcasecmp(terms[i].name, name) == 0)
            like = &terms[i];
    }
    return like;
}

static int explain_term(const struct term *term, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);

    ridge_output_styled(output, RIDGE_STYLE_STRONG, term->name);
    ridge_output_format(output, ": a %s in ridge timeline\n", term->kind);
    write_part(output, "What it means", term->meaning);
    write_part(output, "Read on", "ridge help timeline; docs/timeline.md has the rules");
    return cli_close(output, CLI_DONE);
}

int cmd_explain(int argc, char **argv)
{
    struct cli_output out = {0};
    const struct option options[] = {
        OPT_COMMON(&out),
        OPT_END,
    };
    const ridge_topic *topic;
    const struct term *term;
    ridge_output *output;
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc > 2)
        return cli_usage_error("expected one ID, found %d", argc - 1);
    if (argc < 2)
        return list_topics(&out);
    topic = ridge_topic_find(argv[1]);
    term = topic == NULL ? find_term(argv[1]) : NULL;
    if (term != NULL)
        return explain_term(term, &out);
    if (topic == NULL)
        return unknown_topic(argv[1]);
    output = cli_open(&out);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, topic->id);
    ridge_output_format(output, ": %s\n", topic->title);
    write_part(output, "What it means", topic->meaning);
    write_part(output, "How it is decided", topic->decided);
    write_part(output, "What to change", topic->change);
    write_part(output, "Read on", topic->read);
    return cli_close(output, CLI_DONE);
}
