/* SPDX-License-Identifier: Apache-2.0
 *
 * Times that other tools measured, as rows: a session whose tool_version says "imported", an arm with
 * the role rival for each kernel, a measurement for each case. They have no placements and no
 * comparison, so no verdict can rest on them; they are to be looked at.
 *
 *     nvbench --json          one document, "benchmarks" with "states" with "summaries"
 *     a FlashInfer trace      lines with "definition", "workload", "solution", "evaluation"
 *     triton's do_bench       milliseconds: a JSON array, or a number a line */
#include "ledger_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/document.h"

enum { TIMES_MOST = 1 << 22 };

/* What all rows of a file share. */
typedef struct foreign {
    ridge_ledger *ledger;
    const char *tool, *name;
    ridge_foreign *out;
} foreign;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The session of a device; both may be unknown: NULL. */
static ridge_status add_session(const foreign *of, const char *device, const char *started,
                                char *id, ridge_error *err)
{
    char version[64], gpu[RIDGE_HASH_TEXT], env[RIDGE_HASH_TEXT] = "";
    ridge_status status = RIDGE_OK;

    snprintf(version, sizeof(version), "%s, imported", of->tool);
    if (device != NULL) {
        const ridge_ledger_member names[] = {{"name", device, NAN}};
        const ridge_ledger_member gpus[] = {{"gpu_id", gpu, NAN}};

        status = ridge_ledger_add(of->ledger, "gpu", names, 1, gpu, err);
        if (status == RIDGE_OK)
            status = ridge_ledger_add(of->ledger, "env", gpus, 1, env, err);
    }
    if (status == RIDGE_OK) {
        const ridge_ledger_member members[] = {
            {"env_id", env[0] != '\0' ? env : NULL, NAN},
            {"tool_version", version, NAN},
            {"started", started != NULL ? started : "not known", NAN},
        };

        status = ridge_ledger_add(of->ledger, "session", members, COUNT(members), id, err);
    }
    return status;
}

typedef struct foreign_time {
    const char *session, *kernel, *family, *axes;
    double median_ns, p10_ns, p90_ns, least_ns;
} foreign_time;

static ridge_status add_time(const foreign *of, const foreign_time *time, ridge_error *err)
{
    char kase[RIDGE_HASH_TEXT], arm[RIDGE_HASH_TEXT];
    const ridge_ledger_member cases[] = {{"family", time->family, NAN},
                                         {"axes_json", time->axes, NAN}};
    const ridge_ledger_member arms[] = {{"session_id", time->session, NAN},
                                        {"kase_id", kase, NAN},
                                        {"role", "rival", NAN},
                                        {"launcher", time->kernel, NAN}};
    const ridge_ledger_member times[] = {{"arm_id", arm, NAN},
                                         {"median_ns", NULL, time->median_ns},
                                         {"p10_ns", NULL, time->p10_ns},
                                         {"p90_ns", NULL, time->p90_ns},
                                         {"least_ns", NULL, time->least_ns}};
    ridge_status status = ridge_ledger_add(of->ledger, "kase", cases, COUNT(cases), kase, err);

    if (status == RIDGE_OK)
        status = ridge_ledger_add(of->ledger, "arm", arms, COUNT(arms), arm, err);
    if (status == RIDGE_OK)
        status = ridge_ledger_add(of->ledger, "measurement", times, COUNT(times), NULL, err);
    of->out->time_count += status == RIDGE_OK;
    return status;
}

/* A text, a whole number or a number as a member of the axes of a case. */
static void add_axis(ridge_record *axes, const char *name, const ridge_node *value)
{
    int64_t integer;
    char *end;

    if (name == NULL || ridge_node_kind_of(value) == RIDGE_NODE_NULL)
        return;
    if (ridge_node_text(value) != NULL) { /* nvbench has numbers as texts */
        errno = 0;
        integer = strtoll(ridge_node_text(value), &end, 10);
        if (errno == 0 && end != ridge_node_text(value) && *end == '\0')
            ridge_record_integer(axes, name, integer);
        else
            ridge_record_text(axes, name, ridge_node_text(value));
    } else if (ridge_node_integer(value, &integer)) {
        ridge_record_integer(axes, name, integer);
    } else if (ridge_node_kind_of(value) == RIDGE_NODE_NUMBER) {
        ridge_record_number(axes, name, ridge_node_number(value));
    }
}

/* In quotes; what JSON would escape, and no axis has, is '?'. */
static void add_quoted(ridge_text *out, const char *text)
{
    ridge_text_add(out, "\"");
    for (; *text != '\0'; text++) {
        const bool is_plain = (unsigned char)*text >= ' ' && *text != '"' && *text != '\\';
        const char one[2] = {is_plain ? *text : '?', '\0'};

        ridge_text_add(out, one);
    }
    ridge_text_add(out, "\"");
}

/* The record as an object without the bookkeeping of a line: new text in out. */
static ridge_status end_axes(ridge_record *axes, ridge_text *out, ridge_error *err)
{
    ridge_text line;
    char id[RIDGE_HASH_TEXT];
    ridge_document document;
    const ridge_node *value;
    const void *at = NULL;
    const char *key;
    bool any = false;
    ridge_status status;

    ridge_text_init(&line);
    status = ridge_record_end(axes, &line, id, err);
    if (status == RIDGE_OK)
        status = ridge_document_parse(line.data, line.length, &document, err);
    ridge_text_release(&line);
    if (status != RIDGE_OK)
        return status;
    ridge_text_add(out, "{");
    while ((value = ridge_node_next(document.root, &at, &key)) != NULL) {
        int64_t integer;

        if (strcmp(key, "t") == 0 || strcmp(key, "id") == 0)
            continue;
        ridge_text_add(out, any ? "," : "");
        add_quoted(out, key);
        ridge_text_add(out, ":");
        any = true;
        if (ridge_node_text(value) != NULL)
            add_quoted(out, ridge_node_text(value));
        else if (ridge_node_integer(value, &integer))
            ridge_text_format(out, "%lld", (long long)integer);
        else
            ridge_text_format(out, "%.17g", ridge_node_number(value));
    }
    ridge_text_add(out, "}");
    ridge_document_release(&document);
    return out->failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a case")
                       : RIDGE_OK;
}

/* -- nvbench ----------------------------------------------------------------------------------- */

/* A summary's value in ns, which the file has as the text of seconds; NAN: not there. */
static double summary_ns(const ridge_node *state, const char *tag)
{
    const ridge_node *const list = ridge_node_member(state, "summaries");
    size_t i, k;

    for (i = 0; i < ridge_node_count(list); i++) {
        const ridge_node *const summary = ridge_node_at(list, i);
        const ridge_node *const data = ridge_node_member(summary, "data");
        const char *const own = ridge_node_text(ridge_node_member(summary, "tag"));

        if (own == NULL || strcmp(own, tag) != 0)
            continue;
        for (k = 0; k < ridge_node_count(data); k++) {
            const ridge_node *const value = ridge_node_member(ridge_node_at(data, k), "value");
            const double seconds = ridge_node_text(value) != NULL
                                       ? strtod(ridge_node_text(value), NULL)
                                       : ridge_node_number(value);

            return seconds > 0 && seconds < 1e9 ? seconds * 1e9 : (double)NAN;
        }
    }
    return NAN;
}

static const char *device_name(const ridge_node *root, int64_t id)
{
    const ridge_node *const list = ridge_node_member(root, "devices");
    size_t i;

    for (i = 0; i < ridge_node_count(list); i++) {
        int64_t own = -1;

        if (ridge_node_integer(ridge_node_member(ridge_node_at(list, i), "id"), &own) && own == id)
            return ridge_node_text(ridge_node_member(ridge_node_at(list, i), "name"));
    }
    return NULL;
}

static ridge_status take_state(const foreign *of, const ridge_node *root, const char *benchmark,
                               const ridge_node *state, ridge_error *err)
{
    const ridge_node *const list = ridge_node_member(state, "axis_values");
    double ns = summary_ns(state, "nv/cold/time/gpu/median");
    char session[RIDGE_HASH_TEXT];
    int64_t device = -1;
    bool is_skipped = false;
    ridge_record axes;
    ridge_text text;
    ridge_status status;
    size_t i;

    if (isnan(ns))
        ns = summary_ns(state, "nv/cold/time/gpu/mean");
    if (isnan(ns))
        ns = summary_ns(state, "nv/batch/time/gpu/mean");
    ridge_node_bool(ridge_node_member(state, "is_skipped"), &is_skipped);
    if (is_skipped || isnan(ns)) {
        of->out->skipped_count++;
        return RIDGE_OK;
    }
    ridge_node_integer(ridge_node_member(state, "device"), &device);
    status = add_session(of, device_name(root, device), NULL, session, err);
    if (status != RIDGE_OK)
        return status;
    ridge_record_begin(&axes, "kase");
    for (i = 0; i < ridge_node_count(list); i++)
        add_axis(&axes, ridge_node_text(ridge_node_member(ridge_node_at(list, i), "name")),
                 ridge_node_member(ridge_node_at(list, i), "value"));
    ridge_text_init(&text);
    status = end_axes(&axes, &text, err);
    if (status == RIDGE_OK) {
        const foreign_time time = {
            session, benchmark, benchmark, text.data,
            ns,      NAN,       NAN,       summary_ns(state, "nv/cold/time/gpu/min")};

        status = add_time(of, &time, err);
    }
    ridge_text_release(&text);
    return status;
}

static ridge_status take_nvbench(const foreign *of, const ridge_node *root, ridge_error *err)
{
    const ridge_node *const list = ridge_node_member(root, "benchmarks");
    ridge_status status = RIDGE_OK;
    size_t i, k;

    for (i = 0; i < ridge_node_count(list) && status == RIDGE_OK; i++) {
        const ridge_node *const benchmark = ridge_node_at(list, i);
        const ridge_node *const states = ridge_node_member(benchmark, "states");
        const char *const name = ridge_node_text(ridge_node_member(benchmark, "name"));

        if (name == NULL || ridge_node_kind_of(states) != RIDGE_NODE_ARRAY)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "benchmark %zu of nvbench has no %s", i,
                              name == NULL ? "name" : "states");
        for (k = 0; k < ridge_node_count(states) && status == RIDGE_OK; k++)
            status = take_state(of, root, name, ridge_node_at(states, k), err);
    }
    return status;
}

/* -- a trace of FlashInfer-Bench --------------------------------------------------------------- */

static ridge_status take_trace(const foreign *of, const ridge_node *root, ridge_error *err)
{
    const ridge_node *const evaluation = ridge_node_member(root, "evaluation");
    const ridge_node *const workload =
        ridge_node_member(ridge_node_member(root, "workload"), "axes");
    const char *const definition = ridge_node_text(ridge_node_member(root, "definition"));
    const char *const solution = ridge_node_text(ridge_node_member(root, "solution"));
    const double ms = ridge_node_number(
        ridge_node_member(ridge_node_member(evaluation, "performance"), "latency_ms"));
    char session[RIDGE_HASH_TEXT];
    const ridge_node *value;
    const void *at = NULL;
    const char *key;
    ridge_record axes;
    ridge_text text;
    ridge_status status;

    if (definition == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "no \"definition\", as every trace has one");
    /* A workload alone, or what was wrong and not timed. */
    if (solution == NULL || !(ms > 0) || !(ms < 1e12)) {
        of->out->skipped_count++;
        return RIDGE_OK;
    }
    status = add_session(of,
                         ridge_node_text(ridge_node_member(
                             ridge_node_member(evaluation, "environment"), "hardware")),
                         ridge_node_text(ridge_node_member(evaluation, "timestamp")), session, err);
    if (status != RIDGE_OK)
        return status;
    ridge_record_begin(&axes, "kase");
    while ((value = ridge_node_next(workload, &at, &key)) != NULL)
        add_axis(&axes, key, value);
    ridge_text_init(&text);
    status = end_axes(&axes, &text, err);
    if (status == RIDGE_OK) {
        const foreign_time time = {session,  solution, definition, text.data,
                                   ms * 1e6, NAN,      NAN,        NAN};

        status = add_time(of, &time, err);
    }
    ridge_text_release(&text);
    return status;
}

static ridge_status take_traces(const foreign *of, const char *text, size_t size, ridge_error *err)
{
    const char *const end = text + size;
    ridge_status status = RIDGE_OK;
    size_t number = 0;

    while (text < end && status == RIDGE_OK) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline != NULL ? newline : end) - text);
        ridge_document document;
        ridge_error why;

        number++;
        if (length > 0 && strspn(text, " \t\r") < length) {
            status = ridge_document_parse(text, length, &document, &why);
            if (status == RIDGE_OK) {
                status = take_trace(of, document.root, &why);
                ridge_document_release(&document);
            }
            if (status != RIDGE_OK)
                return ridge_fail(err, status, "line %zu: %s", number, why.text);
        }
        text += length + (newline != NULL ? 1 : 0);
    }
    return status;
}

/* -- a list of times --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Milliseconds with commas, blanks or lines between them, in brackets or not. */
static ridge_status take_times(const foreign *of, const char *text, ridge_error *err)
{
    double *times = NULL;
    size_t count = 0, room = 0;
    char session[RIDGE_HASH_TEXT];
    ridge_status status = RIDGE_OK;
    const char *at = text + strspn(text, " \t\r\n");
    const bool is_array = *at == '[';

    at += is_array;
    for (;;) {
        char *end;
        double ms;

        at += strspn(at, " \t\r\n,");
        if (*at == '\0' || (is_array && *at == ']'))
            break;
        ms = strtod(at, &end);
        if (end == at || !(ms > 0) || !(ms < 1e12) || count == TIMES_MOST) {
            status = ridge_fail(err, RIDGE_ERR_FORMAT,
                                "time %zu is '%.20s', expected milliseconds, at most %d of them",
                                count + 1, at, TIMES_MOST);
            break;
        }
        if (count == room) {
            void *const grown = ridge_realloc_array(times, 2 * room + 64, sizeof(*times));

            if (grown == NULL) {
                status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for times");
                break;
            }
            times = grown;
            room = 2 * room + 64;
        }
        times[count++] = ms * 1e6;
        at = end;
    }
    if (status == RIDGE_OK && is_array && *at != ']')
        status = ridge_fail(err, RIDGE_ERR_FORMAT, "a list of times without its end: expected ']'");
    if (status == RIDGE_OK && count == 0)
        status = ridge_fail(err, RIDGE_ERR_FORMAT, "an empty list of times");
    if (status == RIDGE_OK)
        status = add_session(of, NULL, NULL, session, err);
    if (status == RIDGE_OK) {
        qsort(times, count, sizeof(*times), by_value);
        const foreign_time time = {session,
                                   of->name,
                                   NULL,
                                   NULL,
                                   (times[(count - 1) / 2] + times[count / 2]) / 2,
                                   times[(count - 1) / 10],
                                   times[(count - 1) * 9 / 10],
                                   times[0]};

        status = add_time(of, &time, err);
    }
    ridge_free(times);
    return status;
}

/* -- which of them ----------------------------------------------------------------------------- */

ridge_status ridge_ledger_import_foreign(ridge_ledger *ledger, const char *text, size_t size_bytes,
                                         const char *name, ridge_foreign *out, ridge_error *err)
{
    const char *const begin = text + strspn(text, " \t\r\n");
    const char *const slash = strrchr(name, '/');
    foreign of = {ledger, "", slash != NULL ? slash + 1 : name, out};
    ridge_document document;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    if (*begin == '[' || (*begin >= '0' && *begin <= '9') || *begin == '.') {
        of.tool = out->tool = "do_bench";
        return take_times(&of, text, err);
    }
    if (*begin != '{')
        return RIDGE_OK;
    /* A line of its own says what it is; else it is one document. */
    if (ridge_document_parse(begin, strcspn(begin, "\n"), &document, NULL) == RIDGE_OK) {
        const bool is_own = ridge_node_text(ridge_node_member(document.root, "t")) != NULL;
        const bool is_trace =
            ridge_node_text(ridge_node_member(document.root, "definition")) != NULL &&
            ridge_node_member(document.root, "workload") != NULL;

        ridge_document_release(&document);
        if (is_own)
            return RIDGE_OK;
        if (is_trace) {
            of.tool = out->tool = "FlashInfer-Bench";
            return take_traces(&of, text, size_bytes, err);
        }
    }
    if (strstr(begin, "\"benchmarks\"") == NULL)
        return RIDGE_OK;
    status = ridge_document_parse_at_most(text, size_bytes, LEDGER_LINE_BYTES, &document, err);
    if (status != RIDGE_OK)
        return status;
    if (ridge_node_kind_of(ridge_node_member(document.root, "benchmarks")) == RIDGE_NODE_ARRAY) {
        of.tool = out->tool = "nvbench";
        status = take_nvbench(&of, document.root, err);
    }
    ridge_document_release(&document);
    return status;
}
