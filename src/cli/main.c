/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: one table of commands, and what stands before a command. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"

const struct command commands[] = {
    {"bound", "Compute the least time an operation or a model can take", cmd_bound, GROUP_LIMIT,
     COMMAND_OPERATIONS},
    {"occupancy", "Say how many blocks fit an SM and what the next one costs", cmd_occupancy,
     GROUP_LIMIT, 0},
    {"gpus", "List the chips, or every number of one with its source", cmd_gpus, GROUP_LIMIT,
     COMMAND_CHIPS},
    {"banks", "Simulate shared-memory accesses and find layouts without conflicts", cmd_banks,
     GROUP_LIMIT, COMMAND_FILES},
    {"timeline", "Say whether time is lost between the kernels or inside them", cmd_timeline,
     GROUP_EXPLAIN, COMMAND_FILES},
    {"diagnose", "Say which wall a kernel hits, why, and what to change", cmd_diagnose,
     GROUP_EXPLAIN, COMMAND_FILES},
    {"profile", "Run a program under Nsight Compute and diagnose the report", cmd_profile,
     GROUP_EXPLAIN, 0},
    {"record", "Record what a program runs on the GPU and when, by CUPTI", cmd_record,
     GROUP_EXPLAIN, 0},
    {"diff", "Compare two reports: did it help, did the wall move", cmd_diff, GROUP_EXPLAIN,
     COMMAND_FILES},
    {"source", "Show the hottest source lines and instructions", cmd_source, GROUP_EXPLAIN,
     COMMAND_FILES},
    {"explain", "Explain a finding: what it means, how it is decided", cmd_explain, GROUP_EXPLAIN,
     COMMAND_TOPICS},
    {"kernels", "List the kernels of a report, sorted by time", cmd_kernels, GROUP_REPORT,
     COMMAND_FILES},
    {"metrics", "Print metrics of a report with their exact values", cmd_metrics, GROUP_REPORT,
     COMMAND_FILES},
    {"redact", "Write a report or trace without names, addresses and paths", cmd_redact,
     GROUP_REPORT, COMMAND_FILES},
    {"inspect", "List the kernels of compiled code and what they take", cmd_inspect, GROUP_CODE,
     COMMAND_FILES},
    {"check", "Say whether a kernel is right, and where it is wrong", cmd_check, GROUP_PROVE,
     COMMAND_FILES},
    {"bench", "Time a kernel against what bounds it", cmd_bench, GROUP_PROVE, COMMAND_FILES},
    {"compare", "Say whether kernel B is faster than kernel A", cmd_compare, GROUP_PROVE,
     COMMAND_FILES},
    {"step", "Make one change at a time: predict, build, keep or reject", cmd_step, GROUP_CAMPAIGN,
     0},
    {"ledger", "Say what a campaign tried and found; exchange its rows", cmd_ledger, GROUP_CAMPAIGN,
     COMMAND_FILES},
    {"evidence", "Write the page a reviewer asks for, from the ledger", cmd_evidence,
     GROUP_CAMPAIGN, 0},
    {"doctor", "Say what this machine has and which parts of ridge work here", cmd_doctor,
     GROUP_HELP, 0},
    {"help", "Print the manual page of a command", cmd_help, GROUP_HELP, COMMAND_NAMES},
    {"completion", "Print a completion script for bash or zsh", cmd_completion, GROUP_HELP, 0},
    {NULL, NULL, NULL, GROUP_COUNT, 0},
};

const struct command *command_find(const char *name)
{
    const struct command *command;

    for (command = commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

const char *command_nearest(const char *word)
{
    const char *words[sizeof(commands) / sizeof(commands[0])];
    size_t i;

    for (i = 0; commands[i].name != NULL; i++)
        words[i] = commands[i].name;
    words[i] = NULL;
    return options_nearest(word, words);
}

static int print_version(void)
{
    const struct cli_output plain = {0};
    ridge_output *const output = cli_open(&plain);
    char built_with[128];

    ridge_output_format(output, "ridge %s\n%s\n", ridge_version(),
                        ridge_built_with(built_with, sizeof(built_with)));
    return cli_close(output, CLI_DONE);
}

static int unknown_command(const char *word)
{
    const char *const nearest = command_nearest(word);

    if (word[0] == '-')
        cli_message(NULL, "unknown option '%s', see ridge help", word);
    else if (nearest != NULL)
        cli_message(NULL, "unknown command '%s', did you mean '%s'?", word, nearest);
    else if (strpbrk(word, "./") != NULL)
        cli_message(NULL, "'%s' is no command; to explain a report: ridge diagnose %s", word, word);
    else
        cli_message(NULL, "unknown command '%s', see ridge help", word);
    return CLI_USAGE;
}

/* To standard error: a script that lost its command must not take this for a result. */
static int no_command(void)
{
    ridge_output *const output =
        ridge_output_create(stderr, ridge_terminal_columns(stderr), ridge_terminal_colour(stderr));

    help_commands(output);
    return cli_close(output, CLI_USAGE);
}

/* Reports are mapped: reading where the file has been cut meanwhile raises this signal. */
static void say_file_shrank(int number)
{
    static const char message[] = "ridge: a file became shorter while it was read\n";

    (void)number;
    if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
        _exit(ridge_status_exit(RIDGE_ERR_INTERNAL));
    _exit(ridge_status_exit(RIDGE_ERR_IO));
}

/* Or the next file that is opened, a ledger say, would be standard output. Opened the wrong way
 * round, so that writing is the error that it was. */
static void fill_standard_descriptors(void)
{
    int descriptor;

    for (descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 &&
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
            _exit(ridge_status_exit(RIDGE_ERR_IO));
}

int main(int argc, char **argv)
{
    const struct command *command;

    fill_standard_descriptors();
    signal(SIGBUS, say_file_shrank);
    /* A limit of the file size is an error of write() like any other. */
    signal(SIGXFSZ, SIG_IGN);
    /* A reader that has seen enough, as head(1), ends the program without a word. A parent may
     * have left the signal ignored. */
    signal(SIGPIPE, SIG_DFL);
    if (argc < 2)
        return no_command();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        char name[] = "help";
        char *arguments[2] = {name, NULL};

        return cmd_help(1, arguments);
    }
    command = command_find(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
