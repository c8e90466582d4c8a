/* SPDX-License-Identifier: Apache-2.0
 *
 * --gpu and --gpu-file: the one place where a command learns which chip it is about. */
#include <stdio.h>
#include <string.h>

#include "options.h"

enum { MOST_CHIPS = 64 };

const char *const *cli_chip_ids(void)
{
    static const char *ids[MOST_CHIPS + 1];
    size_t i;

    for (i = 0; i < ridge_chip_count() && i < MOST_CHIPS; i++)
        ids[i] = ridge_chip_at(i)->id;
    ids[i] = NULL;
    return ids;
}

/* Every name that --gpu takes, to find the one that was meant. */
static const char *nearest_name(const char *name)
{
    const char *words[4 * MOST_CHIPS + 1];
    const char *const *ids = cli_chip_ids();
    char lower[48];
    size_t count = 0;
    size_t i;

    for (; *ids != NULL; ids++)
        words[count++] = *ids;
    for (i = 0; i < ridge_chip_alias_count() && count < 4 * (size_t)MOST_CHIPS; i++)
        words[count++] = ridge_chip_alias_at(i)->name;
    words[count] = NULL;
    snprintf(lower, sizeof(lower), "%s", name);
    for (i = 0; lower[i] != '\0'; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] - 'A' + 'a');
    return options_nearest(lower, words);
}

/* Says which chips begin like the name, or which is spelled nearly so. */
static int unknown_chip(const char *name)
{
    const ridge_chip *begun[MOST_CHIPS];
    size_t count = ridge_chips_beginning(name, begun, MOST_CHIPS);
    const char *const nearest = nearest_name(name);
    char list[256] = "";
    size_t i;

    if (count > MOST_CHIPS)
        count = MOST_CHIPS;
    for (i = 0; i < count; i++) {
        const size_t used = strlen(list);

        snprintf(list + used, sizeof(list) - used, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 begun[i]->id);
    }
    if (count > 1)
        return cli_usage_error("--gpu '%s' is not one chip: %s", name, list);
    if (count == 1)
        return cli_usage_error("unknown chip '%s', did you mean '%s'?", name, begun[0]->id);
    if (nearest != NULL)
        return cli_usage_error("unknown chip '%s', did you mean '%s'?", name, nearest);
    return cli_usage_error(
        "unknown chip '%s': ridge gpus lists them, 9.0 or sm_90 is any chip of a "
        "compute capability",
        name);
}

bool cli_has_chip(const struct gpu_choice *gpu)
{
    return gpu->name != NULL || gpu->file != NULL;
}

static int open_file(struct gpu_choice *gpu)
{
    ridge_error err;

    if (ridge_chip_file_read(gpu->file, &gpu->opened, &err) != RIDGE_OK)
        return cli_fail(gpu->file, &err);
    gpu->chip = ridge_chip_file_chip(gpu->opened);
    return CLI_DONE;
}

int cli_find_chip(struct gpu_choice *gpu)
{
    int major, minor;
    const ridge_arch *arch;

    gpu->chip = NULL;
    if (!cli_has_chip(gpu))
        return cli_usage_error("which chip? --gpu NAME, see ridge gpus, or --gpu-file FILE");
    if (gpu->name != NULL && gpu->file != NULL)
        return cli_usage_error("--gpu and --gpu-file exclude each other");
    if (gpu->file != NULL)
        return open_file(gpu);
    gpu->chip = ridge_chip_find(gpu->name);
    if (gpu->chip != NULL)
        return CLI_DONE;
    if (strchr(gpu->name, ',') != NULL)
        return cli_usage_error("'%s' are several chips, this command takes one", gpu->name);
    if (!ridge_arch_parse(gpu->name, &major, &minor))
        return unknown_chip(gpu->name);
    arch = ridge_arch_find(major, minor);
    if (arch == NULL)
        return cli_usage_error("unknown compute capability %d.%d, ridge gpus lists the known ones",
                               major, minor);
    ridge_chip_init(&gpu->bare, arch);
    gpu->chip = &gpu->bare;
    return CLI_DONE;
}

void cli_release_chip(struct gpu_choice *gpu)
{
    ridge_chip_file_free(gpu->opened);
    gpu->opened = NULL;
    gpu->chip = NULL;
}
