/* SPDX-License-Identifier: Apache-2.0
 *
 * A diagnosis on one screen. The first lines are enough to act on: which kernel, which wall, what
 * to change first and how much that can give. What follows is why, where and what to leave alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

enum {
    LABEL_COLUMNS = 11,
    GATE_COLUMNS = 15,
    BAR_COLUMNS = 30,
    FINDINGS_SHOWN = 3,
    BARS_SHOWN = 5
};

/* "  why     " and the like: a label in a column of its own. */
static const char *label(char buffer[32], const char *text)
{
    snprintf(buffer, 32, "  %-*s", LABEL_COLUMNS - 2, text);
    return buffer;
}

static void write_labelled(ridge_output *output, const char *name, const char *text)
{
    char buffer[32];

    ridge_output_wrap(output, LABEL_COLUMNS, label(buffer, name), text);
}

/* Names of generated kernels can be longer than a line: both ends say most. */
static void write_name(const char *name, ridge_output *output)
{
    const size_t room = (size_t)ridge_output_columns(output);
    const size_t length = strlen(name);
    ridge_text text;

    if (length <= room || room < 20) {
        ridge_output_styled(output, RIDGE_STYLE_STRONG, name);
        return;
    }
    ridge_text_init(&text);
    ridge_text_add_bytes(&text, name, room / 2);
    ridge_text_add(&text, "...");
    ridge_text_add(&text, name + length - (room - room / 2 - 3));
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text.data);
    ridge_text_release(&text);
}

/* "w02_kernel  8192 blocks x 128 threads, 20 registers, 73.00 KiB shared, NVIDIA H200". */
static void write_heading(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    ridge_text text;

    ridge_text_init(&text);
    write_name(diagnosis->name, output);
    ridge_text_add(&text, "  ");
    words_launch(&text, diagnosis);
    if (ridge_text_columns(diagnosis->name, strlen(diagnosis->name)) + text.length >
        (size_t)ridge_output_columns(output)) {
        ridge_output_text(output, "\n");
        ridge_output_wrap(output, 2, "", text.data);
    } else {
        ridge_output_format(output, "%s\n", text.data);
    }
    ridge_text_release(&text);
}

static void write_verdict(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    ridge_text text;

    write_labelled(output, "verdict", diagnosis->verdict.sentence);
    if (diagnosis->finding_count == 0)
        return;
    write_labelled(output, "change", diagnosis->findings[0].advice);
    ridge_text_init(&text);
    words_bound(&text, diagnosis, &diagnosis->findings[0]);
    if (text.length > 0)
        write_labelled(output, "gain", text.data);
    ridge_text_release(&text);
}

static void write_bars(const ridge_diagnosis *diagnosis, bool all, ridge_output *output)
{
    size_t i, shown = 0;

    if (diagnosis->bar_count == 0)
        return;
    ridge_output_text(output, "\n");
    for (i = 0; i < diagnosis->bar_count; i++) {
        const ridge_bar *const bar = &diagnosis->bars[i];
        const int filled = (int)(fmin(1, fmax(0, bar->busy_frac)) * BAR_COLUMNS + 0.5);
        char cells[BAR_COLUMNS * 3 + 1];
        char *p = cells;
        int c;

        if (!all && (shown >= BARS_SHOWN || (shown > 0 && bar->busy_frac < 0.05)))
            break;
        for (c = 0; c < BAR_COLUMNS; c++)
            *p++ = c < filled ? '#' : '.';
        *p = '\0';
        ridge_output_format(output, "  %-9s%-18s", shown == 0 ? "busy" : "", bar->label);
        ridge_output_styled(output,
                            bar->busy_frac >= 0.8   ? RIDGE_STYLE_BAD
                            : bar->busy_frac >= 0.6 ? RIDGE_STYLE_WARN
                                                    : RIDGE_STYLE_GOOD,
                            cells);
        ridge_output_format(output, " %5.1f %%\n", bar->busy_frac * 100);
        shown++;
    }
}

static void write_waiting(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    ridge_text text;

    ridge_text_init(&text);
    words_waiting(&text, diagnosis);
    if (text.length > 0)
        write_labelled(output, "waiting", text.data);
    ridge_text_clear(&text);
    words_warps(&text, diagnosis);
    if (text.length > 0)
        write_labelled(output, "warps", text.data);
    ridge_text_release(&text);
}

static void add_place(ridge_text *text, const char *file, uint32_t line, uint64_t offset)
{
    const char *const slash = file != NULL ? strrchr(file, '/') : NULL;

    if (file != NULL && line > 0)
        ridge_text_format(text, "%s:%u", slash != NULL ? slash + 1 : file, line);
    else
        ridge_text_format(text, "+0x%llx", (unsigned long long)offset);
}

static void write_where(const ridge_where *where, bool first, ridge_output *output)
{
    const int columns = ridge_output_columns(output);
    ridge_text text;
    size_t used;

    ridge_text_init(&text);
    add_place(&text, where->file, where->line, where->offset);
    if (where->caller_file != NULL) {
        ridge_text_add(&text, " in ");
        add_place(&text, where->caller_file, where->caller_line, 0);
    }
    if (where->opcode != NULL)
        ridge_text_format(&text, " %s", where->opcode);
    if (!isnan(where->share_frac))
        ridge_text_format(&text, ", %.0f %% of the %s", where->share_frac * 100, where->of);
    if (where->producer_opcode != NULL) {
        ridge_text_format(&text, ", waits for %s at ", where->producer_opcode);
        add_place(&text, where->producer_file, where->producer_line, where->producer_offset);
    }
    write_labelled(output, first ? "where" : "", text.data);
    used = LABEL_COLUMNS + 4;
    if (where->source != NULL && columns > 60) {
        size_t length = strlen(where->source);
        const size_t room = (size_t)columns - used;

        ridge_text_clear(&text);
        ridge_text_add_repeat(&text, " ", used);
        if (length > room) {
            ridge_text_add_bytes(&text, where->source, room - 3);
            ridge_text_add(&text, "...");
        } else {
            ridge_text_add(&text, where->source);
        }
        ridge_output_styled(output, RIDGE_STYLE_DIM, text.data);
        ridge_output_text(output, "\n");
    }
    ridge_text_release(&text);
}

static void write_evidence(const ridge_finding *finding, bool all, ridge_output *output)
{
    ridge_text text;
    size_t i;

    if (all) {
        for (i = 0; i < finding->evidence_count; i++) {
            char number[48];

            ridge_quantity_text(finding->evidence[i].value, finding->evidence[i].unit, number,
                                sizeof(number));
            ridge_text_init(&text);
            ridge_text_format(&text, "%s: %s (%s)", finding->evidence[i].label, number,
                              finding->evidence[i].metric);
            write_labelled(output, i == 0 ? "evidence" : "", text.data);
            ridge_text_release(&text);
        }
        return;
    }
    ridge_text_init(&text);
    for (i = 0; i < finding->evidence_count && i < 4; i++) {
        char number[48];

        ridge_quantity_text(finding->evidence[i].value, finding->evidence[i].unit, number,
                            sizeof(number));
        ridge_text_format(&text, "%s%s %s", i > 0 ? "; " : "", finding->evidence[i].label, number);
    }
    if (text.length > 0)
        write_labelled(output, "evidence", text.data);
    ridge_text_release(&text);
}

static void write_finding(const ridge_diagnosis *diagnosis, const ridge_finding *finding, bool all,
                          ridge_output *output)
{
    ridge_text text;
    size_t i;

    ridge_output_text(output, "\n");
    ridge_text_init(&text);
    ridge_text_format(&text, "%d %s", finding->rank, finding->id);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text.data);
    ridge_output_text(output, "\n");
    write_labelled(output, "why", finding->sentence);
    write_evidence(finding, all, output);
    for (i = 0; i < finding->where_count; i++)
        if (all || i < 2)
            write_where(&finding->where[i], i == 0, output);
    if (finding->rank > 1 || all) /* the first one's stands at the top */
        write_labelled(output, "change", finding->advice);
    ridge_text_clear(&text);
    if (all)
        words_bound(&text, diagnosis, finding);
    if (text.length > 0)
        write_labelled(output, "gain", text.data);
    ridge_text_release(&text);
}

static void write_gates(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    static const char *const outcomes[] = {"passed", "closed", "undecided", "skipped"};
    size_t i;

    ridge_output_text(output, "\n");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, "gates");
    ridge_output_text(output, "\n");
    for (i = 0; i < diagnosis->gate_count; i++) {
        const ridge_gate_note *const gate = &diagnosis->gates[i];
        char name[32];
        ridge_text text;

        ridge_text_init(&text);
        ridge_text_format(&text, "%s %s: %s.", gate->question, outcomes[gate->outcome],
                          gate->reasoning);
        snprintf(name, sizeof(name), "  %-*s", GATE_COLUMNS - 2, gate->name);
        ridge_output_wrap(output, GATE_COLUMNS, name, text.data);
        ridge_text_release(&text);
    }
}

static void write_steps(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    size_t i;

    if (diagnosis->step_count == 0)
        return;
    ridge_output_text(output, "\n");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, "staircase");
    ridge_output_text(output, "\n  blocks/SM  warps/SM  shared memory up to  registers up to\n");
    for (i = 0; i < diagnosis->step_count; i++) {
        const ridge_diagnosis_step *const step = &diagnosis->steps[i];

        ridge_output_format(output, "  %9d  %8d  %13d bytes  %15d%s\n", step->blocks_per_sm,
                            step->warps_per_sm, step->largest_shared_bytes,
                            step->largest_registers_per_thread, step->is_current ? "  <- now" : "");
    }
}

/* A command line broken before options, with a backslash, so that it can be copied. */
static void write_command(const char *command, ridge_output *output)
{
    const size_t room = (size_t)ridge_output_columns(output) - LABEL_COLUMNS - 4;
    const char *p = command;
    char buffer[32];

    ridge_output_text(output, label(buffer, "collect"));
    while (strlen(p) > room) {
        size_t length = 0, i;

        for (i = 1; i < room; i++)
            if (p[i] == ' ' && p[i + 1] == '-')
                length = i;
        if (length == 0)
            break;
        ridge_output_format(output, "%.*s \\\n", (int)length, p);
        p += length + 1;
        ridge_output_format(output, "%*s", LABEL_COLUMNS + 2, "");
    }
    ridge_output_format(output, "%s\n", p);
}

static void write_rest(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    size_t i;

    if (diagnosis->not_now_count > 0)
        ridge_output_text(output, "\n");
    for (i = 0; i < diagnosis->not_now_count; i++) {
        ridge_text text;

        ridge_text_init(&text);
        ridge_text_format(&text, "%s: %s.", diagnosis->not_now[i].id, diagnosis->not_now[i].reason);
        write_labelled(output, i == 0 ? "not now" : "", text.data);
        ridge_text_release(&text);
    }
    if (diagnosis->note_count + diagnosis->missing_count > 0)
        ridge_output_text(output, "\n");
    for (i = 0; i < diagnosis->note_count; i++)
        write_labelled(output, i == 0 ? "note" : "", diagnosis->notes[i]);
    for (i = 0; i < diagnosis->missing_count; i++)
        write_labelled(output, i == 0 ? "missing" : "", diagnosis->missing[i]);
    if (diagnosis->collect != NULL)
        write_command(diagnosis->collect, output);
}

void ridge_diagnosis_write_text(const ridge_diagnosis *diagnosis, bool all, ridge_output *output)
{
    size_t i;

    write_heading(diagnosis, output);
    write_verdict(diagnosis, output);
    write_bars(diagnosis, all, output);
    write_waiting(diagnosis, output);
    for (i = 0; i < diagnosis->finding_count; i++)
        if (all || (i < FINDINGS_SHOWN && !diagnosis->findings[i].is_minor))
            write_finding(diagnosis, &diagnosis->findings[i], all, output);
    if (all) {
        write_gates(diagnosis, output);
        write_steps(diagnosis, output);
    }
    write_rest(diagnosis, output);
}
