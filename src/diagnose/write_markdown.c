/* SPDX-License-Identifier: Apache-2.0
 *
 * A diagnosis as Markdown, for an issue or a pull request. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ridge/diagnose.h"

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

static void write_finding(const ridge_finding *finding, ridge_output *output)
{
    size_t i;

    ridge_output_format(output, "\n### %d `%s`\n\n", finding->rank, finding->id);
    write_item(output, "why", finding->sentence);
    for (i = 0; i < finding->where_count; i++)
        write_place(&finding->where[i], output);
    write_item(output, "change", finding->advice);
    if (!isnan(finding->speedup_bound[1]))
        ridge_output_format(output, "- **gain:** %.2g to %.2g times as fast at most; then %s\n",
                            finding->speedup_bound[0], finding->speedup_bound[1],
                            ridge_wall_words(finding->next_wall));
    if (finding->evidence_count > 0) {
        ridge_output_text(output, "\n| evidence | value | unit | metric |\n"
                                  "| :--- | ---: | :--- | :--- |\n");
        for (i = 0; i < finding->evidence_count; i++) {
            ridge_output_text(output, "| ");
            write_escaped(output, finding->evidence[i].label);
            ridge_output_format(output, " | %.6g | %s | `%s` |\n", finding->evidence[i].value,
                                finding->evidence[i].unit, finding->evidence[i].metric);
        }
    }
}

void ridge_diagnosis_write_markdown(const ridge_diagnosis *diagnosis, bool all,
                                    ridge_output *output)
{
    char number[48];
    size_t i;

    ridge_output_text(output, "## ");
    write_escaped(output, diagnosis->name);
    ridge_output_text(output, "\n\n");
    ridge_output_format(
        output, "%s%s%s\n\n**",
        ridge_number_text(diagnosis->duration_ns, RIDGE_UNIT_NS, number, sizeof(number)),
        diagnosis->gpu != NULL ? " on " : "", diagnosis->gpu != NULL ? diagnosis->gpu : "");
    write_escaped(output, diagnosis->verdict.sentence);
    ridge_output_text(output, "**\n");
    write_bars(diagnosis, output);
    for (i = 0; i < diagnosis->finding_count; i++)
        if (all || (i < 3 && !diagnosis->findings[i].is_minor))
            write_finding(&diagnosis->findings[i], output);
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
