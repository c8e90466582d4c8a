/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge profile: run a program under Nsight Compute with the sections that a diagnosis needs, then
 * diagnose the report. What the program prints goes to standard error, so that standard output is
 * the diagnosis alone; ncu's own messages go to a file, whose errors are put into words. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "find_program.h"
#include "ledger_option.h"
#include "ledger_views.h"
#include "options.h"

static const char usage[] = "ridge profile [options] -- COMMAND [ARGUMENT...]";

enum { WORDS_MOST = 96 };

/* What each gate of a diagnosis reads; see docs/diagnosis.md. */
static const char *const sections[] = {
    "SpeedOfLight",
    "LaunchStats",
    "Occupancy",
    "SchedulerStats",
    "WarpStateStats",
    "WorkloadDistribution",
    "ComputeWorkloadAnalysis",
    "InstructionStats",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Tables",
    "SourceCounters",
};

struct request {
    const char *ncu, *output, *kernel, *nvtx, *ledger, *build;
    size_t skip, count, step;
    bool full, force, dry_run, no_diagnosis;
    struct cli_output out;
    char **command; /* ends with NULL */
};

/* -- ncu --------------------------------------------------------------------------------------- */

static int find_ncu(const struct request *request, char *path)
{
    const char *const given = request->ncu != NULL ? request->ncu : getenv("RIDGE_NCU");

    if (given != NULL && given[0] != '\0') {
        if (strlen(given) < CLI_PATH_BYTES && cli_is_program(given)) {
            strcpy(path, given);
            return CLI_DONE;
        }
        cli_message(given, "no program there, expected ncu of Nsight Compute (--ncu, RIDGE_NCU)");
        return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
    }
    if (cli_find_program("ncu", "", path, NULL))
        return CLI_DONE;
    if (request->dry_run) {
        strcpy(path, "ncu"); /* where the command will be pasted there is one */
        return CLI_DONE;
    }
    cli_message(NULL,
                "ncu was found neither on PATH nor below /usr/local/cuda and /opt/nvidia; it comes "
                "with the CUDA toolkit (package cuda-nsight-compute-*), --ncu FILE names one");
    return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
}

/* -- the command line -------------------------------------------------------------------------- */

struct words {
    const char *word[WORDS_MOST];
    size_t count;
    bool too_many;
};

static void add(struct words *words, const char *word)
{
    if (words->count + 1 < WORDS_MOST)
        words->word[words->count++] = word;
    else
        words->too_many = true;
}

/* Text that a command line is made of lives as long as the request. */
struct command_text {
    char kernel[512], nvtx[512], skip[24], count[24];
};

static bool build_words(const struct request *request, const char *ncu, const char *report,
                        const char *log, struct command_text *text, struct words *words)
{
    size_t i;

    add(words, ncu);
    add(words, "--clock-control");
    add(words, "none");
    add(words, "--target-processes");
    add(words, "all");
    if (request->full) {
        add(words, "--set");
        add(words, "full");
    }
    for (i = 0; !request->full && i < sizeof(sections) / sizeof(sections[0]); i++) {
        add(words, "--section");
        add(words, sections[i]);
    }
    add(words, "--import-source");
    add(words, "yes");
    if (request->kernel != NULL) {
        snprintf(text->kernel, sizeof(text->kernel), "regex:%s", request->kernel);
        add(words, "--kernel-name");
        add(words, text->kernel);
    }
    if (request->nvtx != NULL) {
        /* A range that was pushed and popped, on any thread. */
        snprintf(text->nvtx, sizeof(text->nvtx), "%s%s", request->nvtx,
                 strchr(request->nvtx, '/') != NULL ? "" : "/");
        add(words, "--nvtx");
        add(words, "--nvtx-include");
        add(words, text->nvtx);
    }
    if (request->skip > 0) {
        snprintf(text->skip, sizeof(text->skip), "%zu", request->skip);
        add(words, "--launch-skip");
        add(words, text->skip);
    }
    if (request->count > 0) {
        snprintf(text->count, sizeof(text->count), "%zu", request->count);
        add(words, "--launch-count");
        add(words, text->count);
    }
    if (log != NULL) {
        add(words, "--log-file");
        add(words, log);
    }
    add(words, "--force-overwrite");
    add(words, "--export");
    add(words, report);
    for (i = 0; request->command[i] != NULL; i++)
        add(words, request->command[i]);
    words->word[words->count] = NULL;
    return !words->too_many;
}

/* The command over lines that can be pasted as they are. An option stays with its value. */
static int print_words(const struct words *words)
{
    static char text[4 * CLI_PATH_BYTES];
    size_t i, column = 0;

    for (i = 0; i < words->count; i++) {
        const bool begins = strncmp(words->word[i], "--", 2) == 0;

        cli_quote_word(words->word[i], text, sizeof(text));
        if (i > 0 && column + strlen(text) > (begins ? 70 : 92)) {
            fputs(" \\\n   ", stdout);
            column = 3;
        }
        fprintf(stdout, "%s%s", i > 0 ? " " : "", text);
        column += strlen(text) + 1;
    }
    fputc('\n', stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? CLI_DONE : ridge_status_exit(RIDGE_ERR_IO);
}

/* -- running ----------------------------------------------------------------------------------- */

static size_t count_in_file(const char *path, const char *needle)
{
    FILE *const stream = fopen(path, "r");
    char line[1024];
    size_t count = 0;

    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL)
        count += strstr(line, needle) != NULL;
    if (stream != NULL)
        fclose(stream);
    return count;
}

static void show_progress(const char *log, time_t began)
{
    fprintf(stderr, "\rridge: %zu kernels profiled, %.0f s ",
            count_in_file(log, "==PROF== Profiling"), difftime(time(NULL), began));
    fflush(stderr);
}

/* Starts ncu and waits. An interrupt goes to the whole group; ncu then writes what it has, so the
 * parent waits on. */
static int run_words(const struct words *words, const char *log, int *exit_status)
{
    const bool is_shown = isatty(STDERR_FILENO) == 1;
    const struct timespec pause = {0, 200000000};
    const time_t began = time(NULL);
    void (*const before)(int) = signal(SIGINT, SIG_IGN);
    const pid_t child = fork();
    int state = 0;

    if (child < 0) {
        cli_message(words->word[0], "%s", strerror(errno));
        signal(SIGINT, before);
        return ridge_status_exit(RIDGE_ERR_IO);
    }
    if (child == 0) {
        char *arguments[WORDS_MOST];
        size_t i;

        for (i = 0; i <= words->count; i++)
            memcpy(&arguments[i], &words->word[i], sizeof(arguments[i])); /* execv's type */
        signal(SIGINT, SIG_DFL);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
            execv(arguments[0], arguments);
        cli_message(arguments[0], "%s", strerror(errno));
        _exit(127);
    }
    while (waitpid(child, &state, WNOHANG) == 0) {
        nanosleep(&pause, NULL);
        if (is_shown)
            show_progress(log, began);
    }
    if (is_shown)
        fprintf(stderr, "\r\033[K");
    signal(SIGINT, before);
    *exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return CLI_DONE;
}

/* -- what went wrong --------------------------------------------------------------------------- */

/* What ncu says, and what to do about it. */
static const struct complaint {
    const char *found, *advice;
} complaints[] = {
    {"ERR_NVGPUCTRPERM", "the driver lets only administrators read counters; run as root, or have "
                         "an administrator load "
                         "the driver with NVreg_RestrictProfilingToAdminUsers=0 (a file in "
                         "/etc/modprobe.d, then reboot); "
                         "in a container add --cap-add=SYS_ADMIN"},
    {"ERR_NVGPUCTRBUSY",
     "another tool holds the counters, such as DCGM; dcgmi profiling --pause frees them"},
    {"LibraryNotLoaded",
     "ncu cannot reach the driver's profiling library here; some containers and "
     "virtual machines do not offer it"},
    {"Profiling is not supported on this device",
     "this GPU, or its virtual function, offers no counters"},
    {"Failed to find metric", "this ncu does not know a section; --full takes its own full set"},
    {"Failed to prepare kernel for profiling",
     "try fewer launches with --launch-count 1, or a smaller problem"},
    {"out of memory",
     "saving and restoring device memory between passes needs room; try a smaller problem"},
};

/* A line without its end and its full stop, which a message of ours goes on after. */
static void copy_sentence(const char *line, char *out, size_t size)
{
    size_t length = strcspn(line, "\n");

    while (length > 0 && line[length - 1] == '.')
        length--;
    snprintf(out, size, "%.*s", length < size ? (int)length : (int)size - 1, line);
}

static int explain_failure(const char *log, const char *report, const char *program,
                           int exit_status)
{
    FILE *const stream = fopen(log, "r");
    char line[1024], error[400] = "";
    const struct complaint *known = NULL;

    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL) {
        size_t i;

        for (i = 0; known == NULL && i < sizeof(complaints) / sizeof(complaints[0]); i++)
            if (strstr(line, complaints[i].found) != NULL)
                known = &complaints[i];
        if (error[0] == '\0' && strncmp(line, "==ERROR==", 9) == 0)
            copy_sentence(line + 9, error, sizeof(error));
    }
    if (stream != NULL)
        fclose(stream);
    if (known != NULL)
        cli_message(NULL, "ncu:%s: %s", error[0] != '\0' ? error : known->found, known->advice);
    else if (exit_status == 127)
        return ridge_status_exit(RIDGE_ERR_NO_DEVICE); /* said by the child */
    else if (access(report, R_OK) != 0 && error[0] == '\0' && exit_status == 0)
        cli_message(NULL,
                    "no kernel was profiled: '%s' launched none that --kernel, --nvtx and "
                    "--launch-skip let through",
                    program);
    else
        cli_message(NULL, "ncu ended with status %d%s%s", exit_status, error[0] != '\0' ? ":" : "",
                    error);
    return ridge_status_exit(RIDGE_ERR_CUDA);
}

static int diagnose(const struct request *request, char *report)
{
    static char name[] = "diagnose", json[] = "--json", markdown[] = "--markdown";
    char *arguments[8];
    int count = 0;

    arguments[count++] = name;
    if (request->out.format == RIDGE_FORMAT_JSON)
        arguments[count++] = json;
    if (request->out.format == RIDGE_FORMAT_MARKDOWN)
        arguments[count++] = markdown;
    arguments[count++] = report;
    arguments[count] = NULL;
    return cmd_diagnose(count, arguments);
}

/* Files the report. A ledger that merely is there takes one launch and no complaint. */
static int file_report(const struct request *request, const char *report)
{
    const bool is_asked =
        request->ledger != NULL || request->build != NULL || request->step != OPTION_UNSET;
    const struct cli_profile_request filing = {.path = report,
                                               .build = request->build,
                                               .step = request->step,
                                               .launch = OPTION_UNSET,
                                               .is_aside = true};
    ridge_ledger *ledger;
    int status;

    if (!is_asked && !cli_ledger_is_wanted(NULL))
        return CLI_DONE;
    status = cli_ledger_open(request->ledger, RIDGE_LEDGER_WRITE, &ledger);
    if (status == CLI_DONE)
        status = cli_ledger_add_profile(ledger, cli_ledger_path(request->ledger), &filing);
    ridge_ledger_free(ledger);
    if (status == CLI_DONE || is_asked)
        return status;
    cli_message(cli_ledger_path(NULL), "the report is not filed there, ridge ledger add-profile "
                                       "can do that");
    return CLI_DONE;
}

static int profile(const struct request *request, const char *ncu)
{
    char report[CLI_PATH_BYTES + 16], log[CLI_PATH_BYTES + 32];
    struct command_text text;
    struct words words = {.count = 0};
    int status, exit_status = 0;

    snprintf(report, sizeof(report), "%s", request->output);
    snprintf(log, sizeof(log), "%s.log", request->output);
    if (!build_words(request, ncu, report, request->dry_run ? NULL : log, &text, &words))
        return cli_usage_error("the command has more than %d words", WORDS_MOST - 40);
    if (request->dry_run)
        return print_words(&words);
    status = cli_check_target(report, NULL, request->force);
    if (status != CLI_DONE)
        return status;
    unlink(log);
    status = run_words(&words, log, &exit_status);
    if (status == CLI_DONE && access(report, R_OK) != 0)
        status = explain_failure(log, report, request->command[0], exit_status);
    else if (status == CLI_DONE && exit_status != 0)
        cli_message(NULL, "'%s' ended with status %d; what was profiled until then is diagnosed",
                    request->command[0], exit_status);
    unlink(log);
    if (status != CLI_DONE)
        return status;
    cli_message(NULL, "the report is %s", report);
    status = file_report(request, report);
    if (!request->no_diagnosis) {
        const int diagnosed = diagnose(request, report);

        status = status == CLI_DONE ? diagnosed : status;
    }
    return status;
}

int cmd_profile(int argc, char **argv)
{
    struct request request = {.output = "ridge-profile.ncu-rep", .step = OPTION_UNSET};
    const struct option options[] = {
        OPT_STRING('o', "output", &request.output, "FILE", "write the report there"),
        OPT_FLAG('f', "force", &request.force, "replace the report when it exists"),
        OPT_STRING('k', "kernel", &request.kernel, "REGEX", "only kernels whose name matches"),
        OPT_STRING(0, "nvtx", &request.nvtx, "RANGE", "only kernels inside this NVTX range"),
        OPT_COUNT(0, "launch-skip", &request.skip, "N", "pass over the first N kernels that match"),
        OPT_COUNT('c', "launch-count", &request.count, "N", "stop after N kernels; default: all"),
        OPT_FLAG(0, "full", &request.full, "every section that ncu has, which takes longer"),
        OPT_STRING(0, "ncu", &request.ncu, "FILE", "the ncu to run, else $RIDGE_NCU, PATH"),
        OPT_FLAG(0, "no-diagnosis", &request.no_diagnosis, "only write the report"),
        OPT_COUNT(0, "step", &request.step, "N", "file it under the build of step N"),
        OPT_STRING(0, "build", &request.build, "ID", "file it under this build of the ledger"),
        OPT_LEDGER(&request.ledger),
        OPT_FLAG('n', "dry-run", &request.dry_run, "print the ncu command and do nothing"),
        OPT_JSON(&request.out),
        OPT_MARKDOWN(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    char ncu[CLI_PATH_BYTES];
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc < 2)
        return cli_usage_error("expected -- and the command to profile");
    if (strlen(request.output) == 0 || strlen(request.output) >= CLI_PATH_BYTES)
        return cli_usage_error("--output needs the name of a file");
    if (strlen(request.output) < 8 ||
        strcmp(request.output + strlen(request.output) - 8, ".ncu-rep") != 0)
        return cli_usage_error("--output needs a name that ends in .ncu-rep, as ncu would add it");
    if ((request.kernel != NULL && strlen(request.kernel) > 500) ||
        (request.nvtx != NULL && strlen(request.nvtx) > 500))
        return cli_usage_error("a filter has at most 500 characters");
    if (request.build != NULL && request.step != OPTION_UNSET)
        return cli_usage_error("--build and --step name two builds, expected one of them");
    request.command = argv + 1;
    status = find_ncu(&request, ncu);
    return status == CLI_DONE ? profile(&request, ncu) : status;
}
