/* SPDX-License-Identifier: Apache-2.0
 *
 * What every command shares: its option table, messages, opening a report, choosing kernels, and
 * the output.
 *
 * A command is one file with its usage line, its option table, its work and
 *
 *     int cmd_<name>(int argc, char **argv)
 *     {
 *         struct cli_output out = {0};
 *         const char *pattern = NULL;
 *         const struct option options[] = {
 *             OPT_STRING('p', "pattern", &pattern, "EXPR", "byte address of each lane"),
 *             OPT_JSON(&out),
 *             OPT_COMMON(&out),
 *             OPT_END,
 *         };
 *         int status;
 *
 *         if (!options_parse(&argc, argv, usage, options, &status))
 *             return status;
 *         if (argc != 2)
 *             return cli_usage_error("expected one FILE");
 *         ... argv[1] to argv[argc - 1] are what is not an option ...
 *     }
 *
 * and a row in main.c. The table also gives --help and the completion scripts, and a test compares
 * it with docs/manual/<name>.md. Commands return the exit status and never call exit(). */
#ifndef RIDGE_CLI_OPTIONS_H
#define RIDGE_CLI_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/hardware.h"
#include "ridge/report.h"
#include "ridge/status.h"
#include "ridge/table.h"

enum cli_exit {
    CLI_DONE = 0,
    CLI_NO = 1,    /* done, and the answer is no */
    CLI_USAGE = 2, /* the command line is wrong */
    /* Others come from a status: ridge_status_exit(). */
};

/* -- options ----------------------------------------------------------------------------------- */

enum option_kind {
    OPTION_END,
    OPTION_FLAG,   /* bool */
    OPTION_STRING, /* const char *: borrowed from argv */
    OPTION_ONCE,   /* the same, which may not be given twice */
    OPTION_COUNT,  /* size_t: a whole number */
    OPTION_NUMBER, /* double: 1.5e12 */
    OPTION_SIZE,   /* uint64_t, bytes: 4096, 64KiB, 1.5GiB, 10MB */
    OPTION_CHOICE, /* int: index into choices */
    OPTION_FORMAT, /* ridge_format: set to format; two different ones are an error */
    OPTION_HELP,
};

/* Variables keep their values when an option is not given, so they start with the default. A
 * long option takes its value as "--name=value" or "--name value", a short one as "-nvalue" or
 * "-n value"; "--" ends the options. */
struct option {
    enum option_kind kind;
    char short_name; /* 0: none */
    const char *long_name;
    void *value;
    const char *argument;       /* name of the value in the help: "FILE"; NULL: takes none */
    const char *help;           /* one sentence without a full stop */
    const char *const *choices; /* ends with NULL; of an OPTION_STRING only what is proposed */
    ridge_format format;
};

#define OPT_FLAG(s, l, variable, help)                                                             \
    {                                                                                              \
        OPTION_FLAG, s, l, variable, NULL, help, NULL, 0                                           \
    }
#define OPT_STRING(s, l, variable, argument, help)                                                 \
    {                                                                                              \
        OPTION_STRING, s, l, variable, argument, help, NULL, 0                                     \
    }
#define OPT_ONCE(s, l, variable, argument, help)                                                   \
    {                                                                                              \
        OPTION_ONCE, s, l, variable, argument, help, NULL, 0                                       \
    }
#define OPT_COUNT(s, l, variable, argument, help)                                                  \
    {                                                                                              \
        OPTION_COUNT, s, l, variable, argument, help, NULL, 0                                      \
    }
#define OPT_NUMBER(s, l, variable, argument, help)                                                 \
    {                                                                                              \
        OPTION_NUMBER, s, l, variable, argument, help, NULL, 0                                     \
    }
#define OPT_SIZE(s, l, variable, help)                                                             \
    {                                                                                              \
        OPTION_SIZE, s, l, variable, "SIZE", help, NULL, 0                                         \
    }
/* The value is any text, but a shell proposes words: in a list, one for each part, where the argument
 * is "ID,..."; without a space behind it, where a word ends with ':'. */
#define OPT_WORDS(s, l, variable, argument, words, help)                                           \
    {                                                                                              \
        OPTION_STRING, s, l, variable, argument, help, words, 0                                    \
    }
/* argument is what the help shows: "stall|conflict". */
#define OPT_CHOICE(s, l, variable, argument, choices, help)                                        \
    {                                                                                              \
        OPTION_CHOICE, s, l, variable, argument, help, choices, 0                                  \
    }
#define OPT_JSON(out)                                                                              \
    {                                                                                              \
        OPTION_FORMAT, 0, "json", &(out)->format, NULL, "print JSON", NULL, RIDGE_FORMAT_JSON      \
    }
#define OPT_MARKDOWN(out)                                                                          \
    {                                                                                              \
        OPTION_FORMAT, 0, "markdown", &(out)->format, NULL, "print Markdown", NULL,                \
            RIDGE_FORMAT_MARKDOWN                                                                  \
    }
#define OPT_CSV(out)                                                                               \
    {                                                                                              \
        OPTION_FORMAT, 0, "csv", &(out)->format, NULL, "print CSV", NULL, RIDGE_FORMAT_CSV         \
    }
/* The three forms of a table besides text. */
#define OPT_TABLE(out) OPT_JSON(out), OPT_MARKDOWN(out), OPT_CSV(out)
/* What every command that prints has: --color and --help. */
#define OPT_COMMON(out)                                                                            \
    OPT_CHOICE(0, "color", &(out)->colour, "auto|always|never", cli_colour_choices,                \
               "colour the output: on a terminal (the default), always or never"),                 \
        OPT_HELP
#define OPT_HELP                                                                                   \
    {                                                                                              \
        OPTION_HELP, 'h', "help", NULL, NULL, "print this help", NULL, 0                           \
    }
#define OPT_END                                                                                    \
    {                                                                                              \
        OPTION_END, 0, NULL, NULL, NULL, NULL, NULL, 0                                             \
    }

/* Value of an OPTION_COUNT that was not given. */
#define OPTION_UNSET SIZE_MAX

/* Sets the variables of the options in argv and takes the options out of it: argv[0] stays, then
 * come the other arguments, *argc in all. False when the command ends here, with *status as its
 * exit status: after --help and after a wrong option, which is reported. usage is one or more
 * lines without "usage: ". */
bool options_parse(int *argc, char **argv, const char *usage, const struct option *options,
                   int *status);

/* Name of the command whose options were parsed last; "ridge" before. */
const char *options_command(void);

/* Bytes of "4096", "64KiB", "1.5GiB", "10MB"; false for anything else. */
bool options_size(const char *text, uint64_t *bytes);

/* The rate of "2.0TB/s", "312TFLOP/s", "4.8e12B/s": a number, a prefix of thousands, and unit. False
 * for anything else, for 0 and from 1e18 on. */
bool options_rate(const char *text, const char *unit, double *per_s);

/* The most similar of a list of words that ends with NULL; NULL when none is similar. */
const char *options_nearest(const char *word, const char *const *words);

/* -- commands ---------------------------------------------------------------------------------- */

enum command_group {
    GROUP_LIMIT,    /* what physics and the chip allow: needs no profile */
    GROUP_EXPLAIN,  /* what a report says */
    GROUP_REPORT,   /* what is in a report */
    GROUP_CODE,     /* what is in compiled code */
    GROUP_PROVE,    /* runs kernels: right, how fast, faster */
    GROUP_CAMPAIGN, /* what was tried, and the evidence for it */
    GROUP_HELP,
    GROUP_COUNT
};

enum command_flags {
    COMMAND_FILES = 1 << 0,      /* takes files: completed as such */
    COMMAND_GPU = 1 << 1,        /* needs a GPU */
    COMMAND_NAMES = 1 << 2,      /* takes names of commands */
    COMMAND_TOPICS = 1 << 3,     /* takes identifiers of findings */
    COMMAND_CHIPS = 1 << 4,      /* takes names of chips */
    COMMAND_OPERATIONS = 1 << 5, /* takes names of operations */
};

struct command {
    const char *name;
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
    enum command_group group;
    unsigned flags;
};

/* The table in main.c; ends with name NULL. */
extern const struct command commands[];
const struct command *command_find(const char *name);
/* The name most similar to a word; NULL: none is. */
const char *command_nearest(const char *word);

/* The identifiers that ridge explain knows; ends with NULL. */
const char *const *cli_topic_ids(void);

/* The operations of ridge bound, and "model"; ends with NULL. */
const char *const *cli_operation_names(void);

/* Calls visit with the usage and option table of a command, which is not run. */
typedef void command_visitor(const struct command *command, const char *usage,
                             const struct option *options, void *context);
void command_visit(const struct command *command, command_visitor *visit, void *context);

/* -- messages ---------------------------------------------------------------------------------- */

/* Prints "ridge: <input>: <message>" to stderr and returns the exit status for it. input may be
 * NULL. */
int cli_fail(const char *input, const ridge_error *err);
void cli_message(const char *input, const char *format, ...) RIDGE_PRINTF(2, 3);
/* Prints "ridge: <command>: <message>" and returns CLI_USAGE. The command is the one whose options
 * were parsed last. */
int cli_usage_error(const char *format, ...) RIDGE_PRINTF(1, 2);

/* -- command lines that are printed, to be pasted ----------------------------------------------- */

enum { CLI_WORD_BYTES = 2048 };

/* A word as a shell reads it back, into out, which is returned; cut when it does not fit. */
char *cli_quote_word(const char *word, char *out, size_t size);
/* Adds " --name value" to text; nothing for a value that is NULL or "". */
void cli_add_option(char *text, size_t size, const char *name, const char *value);
/* "ridge: <what>: <command>" to standard error, whole however long the command is. */
void cli_advise(const char *what, const char *command);

/* -- output ------------------------------------------------------------------------------------ */

extern const char *const cli_colour_choices[];

/* What the common options set. Zero: text, colour on a terminal. */
struct cli_output {
    ridge_format format;
    int colour; /* index into cli_colour_choices */
};

/* Output to stdout, as wide as the terminal; NULL when out of memory, which cli_close() says. */
ridge_output *cli_open(const struct cli_output *out);
/* The same for what is searched rather than read: in a pipe or a file, where no COLUMNS asks for a
 * width, cells of tables are whole. */
ridge_output *cli_open_whole(const struct cli_output *out);
/* "  label   text": the text filled behind so many columns; nothing for an empty text. */
void cli_labelled(ridge_output *output, int columns, const char *label, const char *text);
/* Ends the output. Returns status, or the exit status of a failure to write, after saying so. */
int cli_close(ridge_output *output, int status);

/* Refuses, with a message and an exit status, a path at which something stands that may not be
 * replaced: anything but a regular file, a file without force, the input itself (NULL: none). */
int cli_check_target(const char *path, const char *input, bool force);
/* Moves a complete file to its place, with the mode of a new one. Returns 0, or an exit status after
 * saying why not; then the temporary file is still there. */
int cli_place_file(const char *temporary, const char *path, bool force);
/* The same without a word: false with errno, EEXIST where something was made there meanwhile. */
bool cli_try_to_place(const char *temporary, const char *path, bool force);
/* Writes a file as a whole or not at all. Returns 0, or an exit status after saying why. */
int cli_write_file(const char *path, const void *bytes, size_t size_bytes, bool force);
/* The same with a file of this name, its ending included, that write() makes in a folder of its own;
 * it returns 0 or an exit status. */
int cli_write_through(const char *path, int (*write)(const char *temporary, void *context),
                      void *context, bool force);
/* The same with what write() prints, whole in memory first. */
int cli_write_output(const char *path, void (*write)(ridge_output *output, const void *context),
                     const void *context, bool force);
/* status, or 3 instead of 0 and 1 when a report of this run was damaged. */
int cli_status(int status);

/* -- chips ------------------------------------------------------------------------------------- */

/* Which chip a command is about: --gpu or --gpu-file. Starts as zero. */
struct gpu_choice {
    const char *name;       /* as given; NULL: not */
    const char *file;       /* the same */
    const ridge_chip *chip; /* set by cli_find_chip(), until cli_release_chip() */
    ridge_chip bare;        /* of a compute capability alone: no other number is known */
    ridge_chip_file *opened;
};
#define OPT_GPU_FILE(gpu)                                                                          \
    OPT_STRING(0, "gpu-file", &(gpu)->file, "FILE", "a chip of one's own, see ridge help gpus")
#define OPT_GPU(gpu)                                                                               \
    OPT_WORDS(0, "gpu", &(gpu)->name, "NAME", cli_chip_ids(),                                      \
              "the chip: h200, a100, \"NVIDIA H200\" (ridge gpus lists them), or a compute "       \
              "capability: 9.0, sm_90"),                                                           \
        OPT_GPU_FILE(gpu)

/* The ids of the chips, for completion; ends with NULL. */
const char *const *cli_chip_ids(void);

/* Sets gpu->chip. Returns 0, or an exit status after saying what is wrong: no chip given, a name
 * that is none (with the nearest one) or several (with all of them), a file that cannot be read. A
 * command to which the chip is optional calls it when cli_has_chip(). */
bool cli_has_chip(const struct gpu_choice *gpu);
int cli_find_chip(struct gpu_choice *gpu);
/* Frees what cli_find_chip() opened, also after its failure. */
void cli_release_chip(struct gpu_choice *gpu);

/* -- reports ----------------------------------------------------------------------------------- */

/* Opens a report and prints its warnings as one line; when it is damaged, cli_close() turns a
 * status of CLI_DONE into that of RIDGE_ERR_FORMAT. On failure prints the message, *out is NULL,
 * and the exit status is returned; else 0. */
int cli_open_report(const char *path, ridge_report **out);
/* The same, but refuses a report of which no metric could be taken, such as the details page of
 * ncu --csv: the warnings say what to export instead. */
int cli_open_metrics(const char *path, ridge_report **out);

/* Which kernels of a report a command is about: --kernel and --launch. */
struct kernel_filter {
    const char *pattern; /* extended regular expression, in the name as a whole or in part */
    size_t launch;       /* index in the report */
};
#define KERNEL_FILTER_ALL                                                                          \
    {                                                                                              \
        NULL, OPTION_UNSET                                                                         \
    }
#define OPT_KERNELS(filter)                                                                        \
    OPT_STRING('k', "kernel", &(filter)->pattern, "REGEX", "only kernels whose name matches"),     \
        OPT_COUNT('l', "launch", &(filter)->launch, "N",                                           \
                  "only launch N, as numbered by ridge kernels")

/* The kernels of a report that the filter takes, in the report's order; *out is new, freed with
 * free(). Returns 0, or an exit status after printing why: a bad expression, no such launch
 * (CLI_USAGE), no kernel of that name (CLI_NO). */
int cli_select_kernels(const ridge_report *report, const char *path,
                       const struct kernel_filter *filter, const ridge_report_kernel ***out,
                       size_t *count);

/* Compiles the value of --kernel. Returns 0, then regfree() is due, or CLI_USAGE after saying what is
 * wrong with it. */
int cli_compile_pattern(const char *pattern, regex_t *expression);

/* The name behind the last '/' or '\\'. */
const char *cli_base_name(const char *path);
/* A kernel as it was given, "./libmine.so:mine"; what is behind the last slash of a name that is longer
 * than a column of a table has. */
enum { CLI_ARM_COLUMNS = 32 };
const char *cli_arm_name(const char *name);

/* The name to show: demangled where there is one. */
const char *cli_kernel_name(const ridge_report_kernel_info *info);
/* Length of a demangled name without its parameters: up to the '(' that belongs to the ')' at its
 * end. */
size_t cli_length_without_parameters(const char *name);
/* Prints the name as a heading of its own line, or lines. */
void cli_print_name(ridge_output *output, const ridge_report_kernel_info *info);
/* The same without "void ", without the parameters and without the types of template arguments
 * that are numbers, for tables. size is not 0. */
char *cli_short_name(const ridge_report_kernel_info *info, char *buffer, size_t size);
/* "132x4" without trailing ones; "n/a" when not recorded. */
char *cli_extent(const uint64_t extent[3], char *buffer, size_t size);

#endif
