/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of ridge timeline in three lines: where the time goes, the verdict, what next. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timeline_cli.h"

enum { LABEL = TIMELINE_LABEL, WORD = 32 };

/* Length of what stands in front of the first ';' or sentence's end that no bracket holds. */
static size_t first_clause(const char *text)
{
    size_t at;
    int depth = 0;

    for (at = 0; text[at] != '\0'; at++) {
        if (depth == 0 && (text[at] == ';' || (text[at] == '.' && text[at + 1] == ' ')))
            break;
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    }
    return at;
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
    static const char maker[] = "NVIDIA ";
    char label[WORD], head[512], text[128], span[WORD], kernels[WORD], copies[WORD], idle[WORD];
    const char *name = timeline_device_name(trace, account);
    size_t taken;

    snprintf(label, sizeof(label), "device %" PRId64, timeline_device_id(trace, account));
    timeline_percent((double)account->idle_ns, span_ns, idle, sizeof(idle));
    snprintf(text, sizeof(text), "span %s = kernels %s + copies only %s + idle ",
             timeline_time(span_ns, span, sizeof(span)),
             timeline_percent((double)account->kernel_ns, span_ns, kernels, sizeof(kernels)),
             timeline_percent((double)account->copy_only_ns, span_ns, copies, sizeof(copies)));
    snprintf(head, sizeof(head), "%-*s%s%s", LABEL, label, strlen(label) >= LABEL - 1 ? " " : "",
             name);
    taken = strlen(head) + 2 + strlen(text) + strlen(idle);
    if (taken > columns && strncmp(name, maker, strlen(maker)) == 0) {
        name += strlen(maker);
        taken -= strlen(maker);
    }
    if (taken > columns) {
        snprintf(head, sizeof(head), "%s%s%s%s", name, name[0] != '\0' ? ", " : "", text, idle);
        timeline_labelled(output, label, head);
        return;
    }
    snprintf(head, sizeof(head), "%-*s%s%s", LABEL, label, strlen(label) >= LABEL - 1 ? " " : "",
             name);
    ridge_output_format(output, "%s%s%s", head, name[0] != '\0' ? "  " : "", text);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, idle);
    ridge_output_text(output, "\n");
}

/* ", unreliable (orphans)": the warnings that hold for this device. INCOMPLETE says it itself. */
static void write_doubt(const struct timeline_view *view, char *text, size_t size)
{
    const ridge_device_account *const account = view->account;
    size_t count, used = 0, i;
    const ridge_trace_fault *const faults = ridge_timeline_faults(view->file->timeline, &count);

    text[0] = '\0';
    for (i = 0; i < count && account->verdict != RIDGE_TIMELINE_INCOMPLETE; i++) {
        const char *const name = ridge_trace_fault_name(faults[i].kind);

        if (!faults[i].is_unreliable ||
            (faults[i].device != RIDGE_TRACE_NONE && faults[i].device != account->device))
            continue;
        if (used + strlen(name) + 20 > size)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used > 0 ? ", " : ", unreliable (", name);
    }
    if (used > 0)
        snprintf(text + used, size - used, ")");
}

static void print_verdict(const struct timeline_view *view, ridge_output *output)
{
    const ridge_device_account *const account = view->account;
    const char *const verdict = ridge_timeline_verdict_name(account->verdict);
    const char *const pace = ridge_pace_name(account->pace);
    char text[480], doubt[128];
    const char *first; /* behind the verdict: ", " */

    write_doubt(view, doubt, sizeof(doubt));
    first = pace[0] != '\0' ? pace : doubt[0] != '\0' ? doubt + 2 : "";
    snprintf(text, sizeof(text), "%s%s%s%s", first, pace[0] != '\0' ? doubt : "",
             account->reason[0] != '\0' ? ": " : "", account->reason);
    ridge_output_format(output, "%-*s", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(account->verdict), verdict);
    if (first[0] != '\0')
        ridge_output_text(output, ", ");
    ridge_output_wrap_on(output, LABEL, LABEL + strlen(verdict) + (first[0] != '\0' ? 2 : 0), text);
}

/* Of a long name the template arguments go, then its middle: the table has more of it. */
static void write_name(const char *recorded, char *name, size_t size)
{
    enum { LONG = 60, HEAD = 36, TAIL = LONG - HEAD - 3 };
    size_t length;

    timeline_short_name(recorded, name, size);
    length = strcspn(name, "<");
    if (strlen(name) > LONG && length + sizeof("<...>") <= size && name[length] == '<')
        strcpy(name + length, "<...>");
    length = strlen(name);
    if (length <= LONG)
        return;
    memcpy(name + HEAD, "...", 3);
    memmove(name + HEAD + 3, name + length - TAIL, TAIL + 1);
}

void timeline_kernel_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_kernel_rank *const worst = view->next.worst;
    char name[TIMELINE_NAME], share[WORD], ratio[64] = ", no least time";

    buffer[0] = '\0';
    if (worst == NULL)
        return;
    write_name(worst->sum.name, name, sizeof(name));
    if (!isnan(worst->ratio))
        snprintf(ratio, sizeof(ratio), ", %.3gx %s", worst->ratio,
                 worst->is_tiny ? "an empty kernel's time" : "its least time");
    snprintf(buffer, size, "profile %.160s: %s of the kernels' time%s", name,
             timeline_percent(worst->share_frac, 1, share, sizeof(share)), ratio);
}

/* The first thing to do, in words. */
static void next_text(const struct timeline_view *view, char *buffer, size_t size)
{
    const ridge_timeline_next *const next = &view->next;

    if (next->exposed[0] != '\0')
        snprintf(buffer, size, "%s", next->exposed);
    else if (next->worst != NULL && (next->is_inside || next->fix[0] == '\0'))
        timeline_kernel_text(view, buffer, size);
    else
        snprintf(buffer, size, "%s", next->fix[0] != '\0' ? next->fix : next->note);
}

/* Chrome's format has many writers. */
static bool is_of_another_program(const struct timeline_file *file)
{
    size_t calls, ranges;

    ridge_trace_apis(file->trace, &calls);
    ridge_trace_ranges(file->trace, &ranges);
    return file->info->format == RIDGE_TRACE_KINETO && file->info->schema[0] == '\0' &&
           calls + ranges == 0;
}

/* Calls that give a GPU work. */
static size_t count_launches(const struct timeline_file *file)
{
    size_t count, launches = 0, i;
    const ridge_trace_api *const calls = ridge_trace_apis(file->trace, &count);

    for (i = 0; i < count; i++)
        launches += ridge_trace_call_is_launch(ridge_trace_name(file->trace, calls[i].name, NULL));
    return launches;
}

enum { WORDS = 512 };

/* Why a trace has no work of a GPU, and what to do: not what was done already. */
static void explain_nothing(const struct timeline_file *file, char text[WORDS], char advice[WORDS])
{
    const ridge_trace_info *const info = file->info;
    const bool is_empty = info->event_count + info->skipped_count == 0;
    const size_t launches = count_launches(file);
    size_t calls;

    ridge_trace_apis(file->trace, &calls);
    if (file->window.is_set) {
        snprintf(text, WORDS, "no work of a GPU in this part of the trace");
        snprintf(advice, WORDS, "another part, or the whole");
    } else if (info->begin_count > 0) {
        snprintf(text, WORDS,
                 "%" PRIu64 " pieces of work (kernel, gpu_memcpy, gpu_memset) begin in one event "
                 "and end in another (ph B and E): not read, complete events are (ph X)",
                 info->begin_count);
        snprintf(advice, WORDS, "write each piece of work as one event with ph X and dur");
    } else if (is_of_another_program(file)) {
        snprintf(text, WORDS, "%s",
                 is_empty ? "the file holds no event"
                          : "no event of PyTorch's profiler: traces that other programs (XLA, "
                            "TensorFlow, browsers) write in this format are not read");
        snprintf(advice, WORDS,
                 "an export of Nsight Systems (nsys export --type sqlite), a trace of PyTorch's "
                 "profiler, or ridge record -- COMMAND");
    } else if (launches > 0) {
        snprintf(text, WORDS,
                 "calls were recorded (%zu of %zu launch or copy), but no work of a GPU", launches,
                 calls);
        snprintf(advice, WORDS,
                 "calls were recorded, so the switch for it was on: look at the driver's version "
                 "against the tool's, at permissions, at WSL and virtual GPUs");
    } else if (calls > 0) {
        snprintf(text, WORDS,
                 "no work of a GPU was recorded, nor a call that launches or copies (of %zu)",
                 calls);
        snprintf(advice, WORDS, "record the process that launches, and a part in which it does");
    } else {
        snprintf(text, WORDS, "%s",
                 is_empty ? "the file holds no event" : "no work of a GPU was recorded");
        snprintf(advice, WORDS, "record with %s",
                 info->format == RIDGE_TRACE_KINETO
                     ? "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
                 : info->format == RIDGE_TRACE_RECORD
                     ? "ridge record, of the process that launches"
                     : "nsys profile -t cuda,nvtx, of the process that launches");
    }
}

/* The worst that the recording tool said of itself; NULL. */
static const ridge_trace_diagnostic *worst_complaint(const ridge_trace *trace)
{
    size_t count, i;
    const ridge_trace_diagnostic *const said = ridge_trace_diagnostics(trace, &count);
    const ridge_trace_diagnostic *worst = NULL;

    for (i = 0; i < count; i++)
        if (said[i].severity >= 2 && (worst == NULL || said[i].severity > worst->severity))
            worst = &said[i];
    return worst;
}

static void print_nothing(const struct timeline_view *view, ridge_output *output)
{
    const struct timeline_file *const file = view->file;
    const ridge_trace_diagnostic *const worst = worst_complaint(file->trace);
    const char *const verdict = ridge_timeline_verdict_name(RIDGE_TIMELINE_NOTHING);
    char text[WORDS], advice[WORDS];

    explain_nothing(file, text, advice);
    if (worst != NULL && !file->window.is_set)
        snprintf(text, sizeof(text), "the recording tool said: %.400s%s", worst->text,
                 strlen(worst->text) > 400 ? "..." : "");
    timeline_labelled(output, "device", "none");
    ridge_output_format(output, "%-*s", LABEL, "verdict");
    ridge_output_styled(output, verdict_style(RIDGE_TIMELINE_NOTHING), verdict);
    ridge_output_text(output, ": ");
    ridge_output_wrap_on(output, LABEL, LABEL + strlen(verdict) + 2, text);
    timeline_labelled(output, "next", advice);
}

void timeline_print_device(const struct timeline_view *view, ridge_output *output)
{
    print_device(view, output);
    print_verdict(view, output);
}

void timeline_print_answer(const struct timeline_view *view, ridge_output *output)
{
    char text[640];

    if (view->account == NULL) {
        print_nothing(view, output);
        return;
    }
    timeline_print_device(view, output);
    next_text(view, text, sizeof(text));
    /* Longer than a line: its first clause. The whole of it stands at the end. */
    if (strlen(text) > (size_t)ridge_output_columns(output) - LABEL)
        text[first_clause(text)] = '\0';
    timeline_labelled(output, "next", text);
    timeline_print_gain(view, output);
}
