/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of ridge timeline in three lines: where the time goes, the verdict, what next. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timeline_cli.h"

enum { LABEL = TIMELINE_LABEL, WORD = 32 };

/* Where a text is cut so that no more than room bytes are left: behind a sentence or clause, before a
 * bracket or a comma that no bracket holds, else before a word. 0: nowhere. */
static size_t find_cut(const char *text, size_t room)
{
    size_t clause = 0, comma = 0, word = 0, at;
    int depth = 0;

    for (at = 0; at < room && text[at] != '\0'; at++) {
        if (depth == 0 && (text[at] == ';' || (text[at] == '.' && text[at + 1] == ' ')))
            clause = at;
        if (depth == 0 &&
            ((text[at] == ',' && text[at + 1] == ' ') || (text[at] == ' ' && text[at + 1] == '(')))
            comma = at;
        if (text[at] == ' ')
            word = at;
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    }
    return clause > room / 4 ? clause : comma > room / 2 ? comma : word;
}

/* The beginning of a text that fits so many columns. */
static void clip(const char *text, size_t columns, char *buffer, size_t size)
{
    const size_t room = columns < size - 1 ? columns : size - 1;
    size_t cut;

    snprintf(buffer, size, "%s", text);
    if (strlen(text) <= room)
        return;
    cut = find_cut(text, room);
    if (cut > 0 && (text[cut] != ' ' || text[cut + 1] == '(')) {
        buffer[cut] = '\0';
        return;
    }
    cut = find_cut(text, room - 3);
    snprintf(buffer, size, "%.*s...", (int)(cut > 0 ? cut : room - 3), text);
}

static ridge_style verdict_style(ridge_timeline_verdict verdict)
{
    switch (verdict) {
    case RIDGE_TIMELINE_GPU_BOUND:
    case RIDGE_TIMELINE_GRAPH_REPLAY:
        return RIDGE_STYLE_GOOD;
    case RIDGE_TIMELINE_NOTHING:
    case RIDGE_TIMELINE_INCOMPLETE:
        return RIDGE_STYLE_BAD;
    default:
        return RIDGE_STYLE_WARN;
    }
}

static void print_device(const struct timeline_view *view, ridge_output *output)
{
    const ridge_trace *const trace = view->file->trace;
    const ridge_device_account *const account = view->account;
    const double span_ns = (double)timeline_span(account);
    const size_t columns = (size_t)ridge_output_columns(output);
    char label[WORD], text[128], span[WORD], kernels[WORD], copies[WORD], idle[WORD];
    const char *name = timeline_device_name(trace, account);
    size_t taken;

    snprintf(label, sizeof(label), "device %" PRId64, timeline_device_id(trace, account));
    timeline_percent((double)account->idle_ns, span_ns, idle, sizeof(idle));
    snprintf(text, sizeof(text), "span %s = kernels %s + copies only %s + idle ",
             timeline_time(span_ns, span, sizeof(span)),
             timeline_percent((double)account->kernel_ns, span_ns, kernels, sizeof(kernels)),
             timeline_percent((double)account->copy_only_ns, span_ns, copies, sizeof(copies)));
    /* The name gives way to the numbers. */
    taken = LABEL + strlen(text) + strlen(idle) + 2;
    if (taken + strlen(name) > columns && strncmp(name, "NVIDIA ", 7) == 0)
        name += 7;
    if (taken + strlen(name) > columns)
        name = taken + 8 > columns ? "" : name;
    ridge_output_format(output, "%-*s %.*s%s%s", LABEL - 1, label,
                        (int)(columns > taken ? columns - taken : 0), name,
                        name[0] != '\0' ? "  " : "", text);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, idle);
    ridge_output_text(output, "\n");
}

/* The reason as far as it fits behind the verdict. */
void timeline_fit_reason(const ridge_device_account *account, const ridge_output *output,
                         char *buffer, size_t size)
{
    const size_t columns = (size_t)ridge_output_columns(output);
    const size_t pace = strlen(ridge_pace_name(account->pace));
    const size_t taken = LABEL + strlen(ridge_timeline_verdict_name(account->verdict)) +
                         (pace > 0 ? 2 + pace : 0) + 2;

    clip(account->reason, columns > taken + 20 ? columns - taken : 20, buffer, size);
}

static void print_verdict(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    const char *const verdict = ridge_timeline_verdict_name(account->verdict);
    const char *const pace = ridge_pace_name(account->pace);
    char reason[256];

    ridge_output_format(output, "%-*s", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(account->verdict), verdict);
    ridge_output_format(output, "%s%s", pace[0] != '\0' ? ", " : "", pace);
    timeline_fit_reason(account, output, reason, sizeof(reason));
    ridge_output_format(output, "%s%s\n", reason[0] != '\0' ? ": " : "", reason);
}

/* What to do, in words; the whole of it stands at the end. */
void timeline_next_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;
    const ridge_kernel_rank *const worst = next->worst;
    char name[TIMELINE_NAME], share[WORD], ratio[64] = "";

    if (!next->is_inside && next->fix[0] != '\0') {
        snprintf(buffer, size, "%s", next->fix);
    } else if (worst != NULL) {
        ridge_kernel_base_name(worst->sum.name, name, sizeof(name));
        if (!isnan(worst->ratio))
            snprintf(ratio, sizeof(ratio), ", %.3gx its least time", worst->ratio);
        snprintf(buffer, size, "profile %.48s: %s of the kernels' time%s", name,
                 timeline_percent(worst->share_frac, 1, share, sizeof(share)), ratio);
    } else {
        snprintf(buffer, size, "%s", next->fix[0] != '\0' ? next->fix : next->note);
    }
}

/* Why a trace has no work of a GPU, from what it says about itself. */
static void print_nothing(const struct timeline_view *view, ridge_output *output)
{
    const struct timeline_file *const file = view->file;
    size_t count, i;
    const ridge_trace_diagnostic *const said = ridge_trace_diagnostics(file->trace, &count);
    const ridge_trace_diagnostic *worst = NULL;
    char text[320] = "no work of a GPU was recorded", line[256];

    for (i = 0; i < count; i++)
        if (said[i].severity >= 2 && (worst == NULL || said[i].severity > worst->severity))
            worst = &said[i];
    if (file->window.is_set)
        snprintf(text, sizeof(text), "no work of a GPU in this part of the trace");
    else if (worst != NULL)
        snprintf(text, sizeof(text), "the recording tool said: %.240s", worst->text);
    ridge_output_format(output, "%-*snone\n%-*s", LABEL, "device", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(RIDGE_TIMELINE_NOTHING),
                        ridge_timeline_verdict_name(RIDGE_TIMELINE_NOTHING));
    clip(text, (size_t)ridge_output_columns(output) - LABEL - 12, line, sizeof(line));
    ridge_output_format(
        output, ": %s\n%-*s%s\n", line, LABEL, "next",
        file->window.is_set ? "another part, or the whole"
        : file->info->format == RIDGE_TRACE_KINETO
            ? "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
            : "record with nsys profile -t cuda,nvtx, of the process that launches");
}

void timeline_print_device(const struct timeline_view *view, ridge_output *output)
{
    print_device(view, output);
    print_verdict(view, output);
}

void timeline_print_answer(const struct timeline_view *view, ridge_output *output)
{
    char text[640], line[256];

    if (view->account == NULL) {
        print_nothing(view, output);
        return;
    }
    timeline_print_device(view, output);
    timeline_next_text(view, text, sizeof(text));
    clip(text, (size_t)ridge_output_columns(output) - LABEL, line, sizeof(line));
    if (line[0] != '\0')
        ridge_output_format(output, "%-*s%s\n", LABEL, "next", line);
}
