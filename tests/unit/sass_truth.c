/* SPDX-License-Identifier: Apache-2.0 */
#include "sass_truth.h"

truth_file truth_files[TRUTH_FILE_COUNT] = {
    {"sm_100a one-instruction kernels", "truth/k2_100a.sass.tsv.gz", 100, 3008, 138},
    {"sm_120a one-instruction kernels", "truth/k2_120a.sass.tsv.gz", 120, 2976, 130},
    {"sm_75 one-instruction kernels", "truth/k2_75.sass.tsv.gz", 75, 1232, 88},
    {"sm_80 one-instruction kernels", "truth/k2_80.sass.tsv.gz", 80, 2104, 102},
    {"sm_89 one-instruction kernels", "truth/k2_89.sass.tsv.gz", 89, 2160, 104},
    {"sm_90a one-instruction kernels", "truth/k2_90a.sass.tsv.gz", 90, 2848, 126},
    {"sm_100 kernels", "truth/k_100.sass.tsv.gz", 100, 2920, 55},
    {"sm_103 kernels", "truth/k_103.sass.tsv.gz", 103, 3040, 55},
    {"sm_110 kernels", "truth/k_110.sass.tsv.gz", 110, 2392, 55},
    {"sm_120 kernels", "truth/k_120.sass.tsv.gz", 120, 2408, 57},
    {"sm_75 kernels", "truth/k_75.sass.tsv.gz", 75, 1696, 56},
    {"sm_80 kernels", "truth/k_80.sass.tsv.gz", 80, 2384, 54},
    {"sm_86 kernels", "truth/k_86.sass.tsv.gz", 86, 1744, 54},
    {"sm_89 kernels", "truth/k_89.sass.tsv.gz", 89, 1624, 44},
    {"sm_90 kernels", "truth/k_90.sass.tsv.gz", 90, 2480, 48},
};

static const char *skip_guard(const char *text)
{
    if (*text != '@')
        return text;
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

void truth_split(const char *text, sass_row *row)
{
    const char *const start = skip_guard(text);
    const size_t whole = strcspn(start, " ");
    const size_t base = strcspn(start, ". ");

    assert_true(base < sizeof(row->name) && whole < sizeof(row->modifiers));
    memcpy(row->name, start, base);
    row->name[base] = '\0';
    memcpy(row->modifiers, start + base, whole - base);
    row->modifiers[whole - base] = '\0';
    row->operands = start + whole;
}

void truth_words(sass_row *row, const char *low, const char *high)
{
    store_u64(row->word, strtoull(low, NULL, 16));
    store_u64(row->word + 8, strtoull(high, NULL, 16));
}

bool truth_has_modifier(const sass_row *row, const char *modifier)
{
    const size_t length = strlen(modifier);
    const char *at = row->modifiers;

    while ((at = strstr(at, modifier)) != NULL) {
        if (at[-1] == '.' && (at[length] == '.' || at[length] == '\0'))
            return true;
        at += length;
    }
    return false;
}

unsigned truth_width(const sass_row *row)
{
    static const char *const names[] = {"LDG", "STG", "LD",   "ST",   "LDS",  "STS",   "LDL",
                                        "STL", "LDC", "LDCU", "ULDC", "STAS", "LDGSTS"};
    static const struct {
        const char *modifier;
        unsigned bytes;
    } widths[] = {{"U8", 1}, {"S8", 1},   {"U16", 2}, {"S16", 2},
                  {"64", 8}, {"128", 16}, {"256", 32}};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]) && strcmp(names[i], row->name) != 0; i++)
        ;
    if (i == sizeof(names) / sizeof(names[0]))
        return 0;
    for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (truth_has_modifier(row, widths[i].modifier))
            return widths[i].bytes;
    return 4;
}

bool truth_next(char **rest, const char **section, sass_row *row)
{
    char *const line = strtok_r(NULL, "\n", rest);
    char *fields;
    const char *low;

    if (line == NULL)
        return false;
    *section = strtok_r(line, "\t", &fields);
    row->offset = (uint32_t)strtoul(strtok_r(NULL, "\t", &fields), NULL, 16);
    low = strtok_r(NULL, "\t", &fields);
    truth_words(row, low, strtok_r(NULL, "\t", &fields));
    truth_split(fields, row);
    return true;
}
