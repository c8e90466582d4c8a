/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a diagnosis in words, as the screen and Markdown print them. */
#include <math.h>
#include <stdio.h>

#include "diagnose/diagnose_internal.h"

static void add_extent(ridge_text *text, const uint64_t extent[3])
{
    ridge_text_format(text, "%llu", (unsigned long long)extent[0]);
    if (extent[1] > 1 || extent[2] > 1)
        ridge_text_format(text, "x%llu", (unsigned long long)extent[1]);
    if (extent[2] > 1)
        ridge_text_format(text, "x%llu", (unsigned long long)extent[2]);
}

const char *words_plural(double count)
{
    return count == 1 ? "" : "s";
}

static double product(const uint64_t extent[3])
{
    return (double)extent[0] * (double)extent[1] * (double)extent[2];
}

void words_launch(ridge_text *text, const ridge_diagnosis *diagnosis)
{
    char number[48];

    ridge_text_add(
        text, ridge_number_text(diagnosis->duration_ns, RIDGE_UNIT_NS, number, sizeof(number)));
    if (diagnosis->gpu != NULL)
        ridge_text_format(text, " on %s", diagnosis->gpu);
    if (diagnosis->grid[0] > 0) {
        ridge_text_add(text, ", ");
        add_extent(text, diagnosis->grid);
        ridge_text_format(text, " block%s of ", words_plural(product(diagnosis->grid)));
        add_extent(text, diagnosis->block);
        ridge_text_format(text, " thread%s", words_plural(product(diagnosis->block)));
    }
    if (!isnan(diagnosis->registers_per_thread))
        ridge_text_format(text, ", %.0f registers", diagnosis->registers_per_thread);
    if (diagnosis->shared_bytes_per_block > 0)
        ridge_text_format(text, ", %s shared",
                          ridge_number_text(diagnosis->shared_bytes_per_block, RIDGE_UNIT_BYTES,
                                            number, sizeof(number)));
}

static const char *ratio(double value, char text[32])
{
    snprintf(text, 32, value < 100 ? "%.2g" : "%.0f", value);
    return text;
}

void words_bound(ridge_text *text, const ridge_diagnosis *diagnosis, const ridge_finding *finding)
{
    char least[32], most[32];

    if (isnan(finding->speedup_bound[1]))
        return;
    if (finding->speedup_bound[1] < 1.05)
        ridge_text_add(text, "at most a few per cent");
    else if (finding->speedup_bound[0] < 1.05)
        ridge_text_format(text, "up to %s times as fast", ratio(finding->speedup_bound[1], most));
    else
        ridge_text_format(text, "%s to %s times as fast", ratio(finding->speedup_bound[0], least),
                          ratio(finding->speedup_bound[1], most));
    if (finding->next_wall != RIDGE_WALL_UNKNOWN && finding->next_wall != diagnosis->verdict.wall)
        ridge_text_format(text, "; then %s limits", ridge_wall_words(finding->next_wall));
}

void words_waiting(ridge_text *text, const ridge_diagnosis *diagnosis)
{
    const size_t start = text->length;
    size_t i;

    for (i = 0; i < diagnosis->stall_count; i++)
        if (diagnosis->stalls[i].share_frac >= 0.05)
            ridge_text_format(text, "%s%s %.0f %%", text->length > start ? ", " : "",
                              ridge_stall_name(diagnosis->stalls[i].stall),
                              diagnosis->stalls[i].share_frac * 100);
}

void words_warps(ridge_text *text, const ridge_diagnosis *diagnosis)
{
    const size_t start = text->length;

    if (!isnan(diagnosis->occupancy_theoretical_frac))
        ridge_text_format(text, "%.1f %% of the warps fit",
                          diagnosis->occupancy_theoretical_frac * 100);
    if (!isnan(diagnosis->occupancy_achieved_frac))
        ridge_text_format(text, "%s%.1f %% were resident", text->length > start ? ", " : "",
                          diagnosis->occupancy_achieved_frac * 100);
    if (!isnan(diagnosis->waves))
        ridge_text_format(
            text, diagnosis->waves < 1000 ? "%s%.3g wave%s of blocks" : "%s%.0f wave%s of blocks",
            text->length > start ? ", " : "", diagnosis->waves, words_plural(diagnosis->waves));
}
