/* SPDX-License-Identifier: Apache-2.0
 *
 * A diagnosis as Markdown, for an issue or a pull request. */
#include <math.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

/* Text with what Markdown and HTML would read as markup escaped. */
static void write_escaped(ridge_output *output, const char *text)
{
    static const char special[] = "\\`*_<>|[]#";
    ridge_text escaped;
    const char *p;

    ridge_text_init(&escaped);
    for (p = text; *p != '\0'; p++) {
        if (strchr(special, *p) != NULL)
            ridge_text_add(&escaped, "\\");
        ridge_text_add_bytes(&escaped, p, 1);
    }
    ridge_output_text(output, escaped.data);
    ridge_text_release(&escaped);
}

static void write_item(ridge_output *output, const char *label, const char *text)
{
    ridge_output_format(output, "- **%s:** ", label);
    write_escaped(output, text);
    ridge_output_text(output, "\n");
}

static void write_bars(const ridge_diagnosis *diagnosis, ridge_output *output)
{
    size_t i;

    if (diagnosis->bar_count == 0)
        return;
    ridge_output_text(output, "\n| unit | busy |\n| :--- | ---: |\n");
    for (i = 0; i < diagnosis->bar_count && i < 5; i++) {
        ridge_output_text(output, "| ");
        write_escaped(output, diagnosis->bars[i].label);
        ridge_output_format(output, " | %.1f %% |\n", diagnosis->bars[i].busy_frac * 100);
    }
}

static void write_place(const ridge_where *where, ridge_output *output)
{
    const char *const slash = where->file != NULL ? strrchr(where->file, '/') : NULL;

    ridge_output_text(output, "- **where:** ");
    if (where->file != NULL)
        ridge_output_format(output, "`%s:%u`", slash != NULL ? slash + 1 : where->file,
                            where->line);
    else
        ridge_output_format(output, "`+0x%llx`", (unsigned long long)where->offset);
    if (where->opcode != NULL)
        ridge_output_format(output, " `%s`", where->opcode);
    if (!isnan(where->share_frac))
        ridge_output_format(output, ", %.0f %% of the %s", where->share_frac * 100, where->of);
    if (where->producer_opcode != NULL)
        ridge_output_format(output, ", waits for `%s`", where->producer_opcode);
    ridge_output_text(output, "\n");
}

static void write_gain(ridge_output *output, const ridge_diagnosis *diagnosis,
                       const ridge_finding *finding)
{
    ridge_text text;

    ridge_text_init(&text);
    words_bound(&text, diagnosis, finding);
    if (text.length > 0)
        write_item(output, "gain", text.data);
    ridge_text_release(&text);
}

/* Time and launch; what the warps do. */
static void write_words(ridge_output *output, const ridge_diagnosis *diagnosis,
                        void (*words)(ridge_text *, const ridge_diagnosis *), const char *label)
{
    ridge_text text;

    ridge_text_init(&text);
    words(&text, diagnosis);
    if (text.length > 0)
        write_item(output, label, text.data);
    ridge_text_release(&text);
}

static void write_finding(const ridge_diagnosis *diagnosis, const ridge_finding *finding,
                          ridge_output *output)
{
    char number[48];
    size_t i;

    ridge_output_format(output, "\n### %d `%s`\n\n", finding->rank, finding->id);
    write_item(output, "why", finding->sentence);
    for (i = 0; i < finding->where_count; i++)
        write_place(&finding->where[i], output);
    if (finding->rank > 1) { /* the first one's stands at the top */
        write_item(output, "change", finding->advice);
        write_gain(output, diagnosis, finding);
    }
    if (finding->evidence_count > 0) {
        ridge_output_text(output, "\n| evidence | value | metric |\n| :--- | ---: | :--- |\n");
        for (i = 0; i < finding->evidence_count; i++) {
            ridge_output_text(output, "| ");
            write_escaped(output, finding->evidence[i].label);
            ridge_output_format(output, " | %s | `%s` |\n",
                                ridge_quantity_text(finding->evidence[i].value,
                                                    finding->evidence[i].unit, number,
                                                    sizeof(number)),
                                finding->evidence[i].metric);
        }
    }
}

void ridge_diagnosis_write_markdown(const ridge_diagnosis *diagnosis, bool all,
                                    ridge_output *output)
{
    size_t i;

    ridge_output_text(output, "## ");
    write_escaped(output, diagnosis->name);
    ridge_output_text(output, "\n\n**");
    write_escaped(output, diagnosis->verdict.sentence);
    ridge_output_text(output, "**\n\n");
    if (diagnosis->finding_count > 0) {
        write_item(output, "change", diagnosis->findings[0].advice);
        write_gain(output, diagnosis, &diagnosis->findings[0]);
    }
    write_words(output, diagnosis, words_launch, "kernel");
    write_words(output, diagnosis, words_waiting, "waiting");
    write_words(output, diagnosis, words_warps, "warps");
    write_bars(diagnosis, output);
    for (i = 0; i < diagnosis->finding_count; i++)
        if (all || (i < 3 && !diagnosis->findings[i].is_minor))
            write_finding(diagnosis, &diagnosis->findings[i], output);
    if (diagnosis->not_now_count > 0)
        ridge_output_text(output, "\n### Not now\n\n");
    for (i = 0; i < diagnosis->not_now_count; i++)
        write_item(output, diagnosis->not_now[i].id, diagnosis->not_now[i].reason);
    if (diagnosis->missing_count > 0 || diagnosis->note_count > 0)
        ridge_output_text(output, "\n### To know\n\n");
    for (i = 0; i < diagnosis->note_count; i++)
        write_item(output, "note", diagnosis->notes[i]);
    for (i = 0; i < diagnosis->missing_count; i++)
        write_item(output, "missing", diagnosis->missing[i]);
    if (diagnosis->collect != NULL)
        ridge_output_format(output, "\n```sh\n%s\n```\n", diagnosis->collect);
}
