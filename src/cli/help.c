/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge help: the commands in groups, or one page of the manual. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "manual.h"
#include "options.h"

static const char usage[] = "ridge help [options] [COMMAND]";

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_LIMIT] = "Know the limit",
    [GROUP_EXPLAIN] = "Explain a report",
    [GROUP_REPORT] = "Look into a report",
    [GROUP_CODE] = "Look into compiled code",
    [GROUP_PROVE] = "Prove it",
    [GROUP_CAMPAIGN] = "Keep a campaign",
    [GROUP_HELP] = "Help",
};

void help_commands(ridge_output *output)
{
    int group;

    ridge_output_text(
        output, "usage: ridge COMMAND [options] FILE\n"
                "       ridge --version\n\n"
                "A workbench for CUDA kernels, without a GPU: where the time of a trace goes, "
                "the least time\nphysics allows, which wall a kernel hits in its Nsight "
                "Compute report and what to change\nfirst, what its code takes.\n");
    for (group = 0; group < GROUP_COUNT; group++) {
        const struct command *command;
        bool headed = false;

        for (command = commands; command->name != NULL; command++) {
            if ((int)command->group != group)
                continue;
            if (!headed) {
                ridge_output_text(output, "\n");
                ridge_output_styled(output, RIDGE_STYLE_STRONG, group_titles[group]);
                ridge_output_text(output, "\n");
                headed = true;
            }
            ridge_output_format(output, "  %-12s%s\n", command->name, command->summary);
        }
    }
    ridge_output_text(output, "\nOptions of a command: ridge COMMAND --help\n"
                              "Its manual page: ridge help COMMAND\n");
}

static int print_page(const char *name, bool man, const struct cli_output *out)
{
    const struct manual_page *const page = manual_find(name);
    const char *const nearest = command_nearest(name);
    ridge_output *output;

    if (page == NULL) {
        if (nearest != NULL && manual_find(nearest) != NULL)
            return cli_usage_error("no page '%s', did you mean '%s'?", name, nearest);
        return cli_usage_error("no page '%s', see ridge help", name);
    }
    output = cli_open(out);
    if (man)
        manual_print_man(output, page);
    else
        manual_print(output, page);
    return cli_close(output, CLI_DONE);
}

int cmd_help(int argc, char **argv)
{
    struct cli_output out = {0};
    bool man = false;
    ridge_output *output;
    char name[64];
    const struct option options[] = {
        OPT_FLAG(0, "man", &man, "print the page as input of man(1)"),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc > 3)
        return cli_usage_error("expected at most one COMMAND, got %d", argc - 1);
    if (argc == 3) { /* "bound model" is a command in a command */
        snprintf(name, sizeof(name), "%s-%s", argv[1], argv[2]);
        return print_page(name, man, &out);
    }
    if (argc == 2 || man)
        return print_page(argc == 2 ? argv[1] : "ridge", man, &out);
    output = cli_open(&out);
    help_commands(output);
    return cli_close(output, CLI_DONE);
}
