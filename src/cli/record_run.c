/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge record: run a program with libridge_collect.so in it, then put what its processes left into
 * one SQLite file. The program keeps its standard input, output and error; ours is one line to
 * standard error at the end. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "find_cupti.h"
#include "find_program.h"
#include "options.h"
#include "ridge/collect.h"

static const char usage[] = "ridge record [options] -- COMMAND [ARGUMENT...]";

enum { CUPTI_PATHS_BYTES = 1 << 14, SECONDS_MOST = 1000000 };

enum api_choice { API_NONE, API_WORK, API_ALL };
static const char *const api_choices[] = {"none", "work", "all", NULL};

struct request {
    const char *output, *cupti;
    int api;
    double delay_s, duration_s;
    bool force;
    char **command; /* ends with NULL */
    size_t command_count;
};

/* How the program ended. */
struct ending {
    int exit_status, signal_number;
};

/* -- what is needed ---------------------------------------------------------------------------- */

/* The program may change its folder before CUDA looks. */
static bool absolute_path(const char *given, char path[CLI_PATH_BYTES])
{
    char *const whole = realpath(given, NULL);
    const bool fits = whole != NULL && strlen(whole) < CLI_PATH_BYTES;

    if (fits)
        strcpy(path, whole);
    free(whole);
    return fits;
}

/* Beside this program: in its build tree, or installed. */
static bool find_collector(char path[CLI_PATH_BYTES])
{
    static const char *const places[] = {"/../collect/libridge_collect.so", "/libridge_collect.so",
                                         "/../lib/ridge/libridge_collect.so",
                                         "/../lib64/ridge/libridge_collect.so",
                                         "/../lib/*-linux-gnu/ridge/libridge_collect.so"};
    const char *const given = getenv("RIDGE_COLLECT");
    char self[CLI_PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    size_t i;

    if (given != NULL && given[0] != '\0')
        return absolute_path(given, path);
    if (length <= 0)
        return false;
    self[length] = '\0';
    *strrchr(self, '/') = '\0'; /* absolute, so it has one */
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (cli_find_file(self, places[i], path))
            return true;
    return false;
}

static const char no_driver[] = "there is no NVIDIA driver (libcuda.so.1) here, see ridge doctor";

/* Loaded and left: nothing of CUDA is started. */
static bool has_driver(void)
{
    const char *const named = getenv("RIDGE_CUDA_LIBRARY");
    void *const library =
        dlopen(named != NULL && named[0] != '\0' ? named : "libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

static int find_parts(const struct request *request, char collector[CLI_PATH_BYTES],
                      char cupti[CUPTI_PATHS_BYTES])
{
    if (getenv("CUDA_INJECTION64_PATH") != NULL) {
        cli_message(NULL, "another tool is attached already (CUDA_INJECTION64_PATH is set): a "
                          "process has room for one");
        return ridge_status_exit(RIDGE_ERR_CUDA);
    }
    if (!find_collector(collector)) {
        cli_message(getenv("RIDGE_COLLECT"),
                    "libridge_collect.so was not found, expected beside ridge or in "
                    "../lib/ridge; RIDGE_COLLECT names it");
        return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
    }
    if (request->cupti != NULL) {
        char whole[CLI_PATH_BYTES];

        if (!absolute_path(request->cupti, whole)) {
            cli_message(request->cupti, "no library there, expected libcupti.so (--cupti)");
            return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
        }
        snprintf(cupti, CUPTI_PATHS_BYTES, "%s\n", whole);
        return CLI_DONE;
    }
    if (cli_find_cupti("", request->command[0], cupti, CUPTI_PATHS_BYTES))
        return CLI_DONE;
    if (!has_driver()) {
        cli_message(NULL, "nothing can be recorded: %s", no_driver);
        return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
    }
    cli_message(NULL, "CUPTI (libcupti.so.11.8, .12 or .13) was not found; it comes with the CUDA "
                      "toolkit and with PyTorch, or: pip install nvidia-cuda-cupti-cu12; "
                      "--cupti FILE names one");
    return ridge_status_exit(RIDGE_ERR_NO_DEVICE);
}

/* -- running ----------------------------------------------------------------------------------- */

static void set_milliseconds(const char *name, double seconds)
{
    char text[32];

    snprintf(text, sizeof(text), "%.0f", seconds * 1e3);
    setenv(name, text, 1);
}

/* What tells the driver, NVTX and the library what to do; see src/collect/spool.h. */
static void set_environment(const struct request *request, const char *folder,
                            const char *collector, const char *cupti)
{
    setenv("CUDA_INJECTION64_PATH", collector, 1);
    setenv("NVTX_INJECTION64_PATH", collector, 1);
    setenv("RIDGE_COLLECT_SPOOLS", folder, 1);
    setenv("RIDGE_COLLECT_CUPTI", cupti, 1);
    setenv("RIDGE_COLLECT_API", api_choices[request->api], 1);
    set_milliseconds("RIDGE_COLLECT_DELAY", request->delay_s);
    set_milliseconds("RIDGE_COLLECT_DURATION", request->duration_s);
}

static volatile sig_atomic_t running; /* the program; 0: none */

/* timeout(1) and batch systems end the command with these: the program gets them, and what it left is
 * kept. Interrupts of a terminal go to the whole group, so those are only ignored. */
static void pass_on(int number)
{
    if (running > 0)
        kill((pid_t)running, number);
}

static const struct signal_row {
    int number;
    void (*on)(int number);
} signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, pass_on}, {SIGHUP, pass_on}};

enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

static void take_signals(struct sigaction before[SIGNAL_COUNT])
{
    size_t i;

    for (i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = signals[i].on, .sa_flags = SA_RESTART};

        sigemptyset(&action.sa_mask);
        sigaction(signals[i].number, NULL, &before[i]);
        /* nohup(1) has them ignored, which stays. */
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i].number, &action, NULL);
    }
}

/* So that none comes while it is not yet known which program is to have it. */
static void hold_signals(sigset_t *before)
{
    sigset_t held;
    size_t i;

    sigemptyset(&held);
    for (i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&held, signals[i].number);
    sigprocmask(SIG_BLOCK, &held, before);
}

static void give_signals_back(const struct sigaction before[SIGNAL_COUNT])
{
    size_t i;

    for (i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i].number, &before[i], NULL);
}

/* Does not return. The number of an error goes through the pipe, which a program that starts
 * closes. */
static void run_child(const struct request *request, const char *folder, const char *collector,
                      const char *cupti, const struct sigaction *before, const sigset_t *mask,
                      int to)
{
    int number;

    give_signals_back(before);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGXFSZ, SIG_DFL);
    set_environment(request, folder, collector, cupti);
    execvp(request->command[0], request->command);
    number = errno;
    if (write(to, &number, sizeof(number)) < 0)
        _exit(126);
    _exit(127);
}

/* Interrupts go to the whole group: the program ends, and what it left is kept. */
static int run(const struct request *request, const char *folder, const char *collector,
               const char *cupti, struct ending *out)
{
    struct sigaction before[SIGNAL_COUNT];
    sigset_t mask;
    siginfo_t about;
    int ends[2] = {-1, -1}, number = 0, state = 0;
    pid_t child = -1;

    take_signals(before);
    hold_signals(&mask);
    if (pipe(ends) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0)
        child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(request, folder, collector, cupti, before, &mask, ends[1]);
    }
    if (child < 0)
        number = errno;
    running = (sig_atomic_t)child;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (child > 0) {
        if (read(ends[0], &number, sizeof(number)) != (ssize_t)sizeof(number))
            number = 0;
        /* Its number is its own until it is taken off, behind which nothing is sent to it. */
        while (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR)
            ;
    }
    running = 0; /* signals stay taken: the file is made now */
    if (child > 0)
        waitpid(child, &state, 0);
    close(ends[0]);
    if (number != 0) {
        cli_message(request->command[0], "cannot be run: %s", strerror(number));
        return ridge_status_exit(RIDGE_ERR_IO);
    }
    out->exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
    out->signal_number = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return CLI_DONE;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* The C++ runtime's demangler, where there is one. It stays loaded. */
static void find_demangler(ridge_collect_options *options)
{
    void *const library = dlopen("libstdc++.so.6", RTLD_NOW);
    void *const address = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;

    memcpy(&options->demangle, &address, sizeof(address));
}

static bool is_empty(const ridge_collect_totals *totals)
{
    return totals->kernel_count == 0 && totals->copy_count == 0 && totals->call_count == 0 &&
           totals->range_count == 0;
}

/* A file without records takes no other's place. Where another program made the file while this one was
 * recorded, both stay: written receives the name under which the recording is, or "" for output. */
static int merge(const struct request *request, const char *folder, const char *output,
                 char written[CLI_PATH_BYTES + 16], ridge_collect_totals *totals)
{
    ridge_collect_options options = {.command_count = request->command_count,
                                     .command = (const char *const *)request->command,
                                     .skips_cheap_calls = request->api != API_ALL};
    char temporary[CLI_PATH_BYTES + 16];
    ridge_error err;
    int status = CLI_DONE;
    int descriptor;

    written[0] = '\0';
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", output);
    descriptor = mkstemp(temporary);
    if (descriptor < 0) {
        cli_message(output, "cannot be written: %s", strerror(errno));
        return ridge_status_exit(RIDGE_ERR_IO);
    }
    close(descriptor);
    find_demangler(&options);
    if (ridge_collect_merge(folder, temporary, &options, totals, &err) != RIDGE_OK)
        status = cli_fail(output, &err);
    else if (!is_empty(totals) && !cli_try_to_place(temporary, output, request->force)) {
        if (errno == EEXIST) {
            snprintf(written, sizeof(temporary), "%s", temporary);
            return CLI_DONE;
        }
        cli_message(output, "cannot be written: %s", strerror(errno));
        status = ridge_status_exit(RIDGE_ERR_IO);
    }
    unlink(temporary); /* nothing is there when it was moved */
    return status;
}

/* -- the last line ----------------------------------------------------------------------------- */

static const char *how_it_ended(const struct ending *ending, char text[64])
{
    if (ending->signal_number != 0)
        snprintf(text, 64, "was ended by signal %d", ending->signal_number);
    else
        snprintf(text, 64, "ended with status %d", ending->exit_status);
    return text;
}

/* Nothing was recorded: why. */
static int say_nothing(const struct request *request, const ridge_collect_totals *totals,
                       const struct ending *ending)
{
    char text[64];

    if (totals->fault[0] != '\0')
        cli_message(NULL, "nothing was recorded: %s", totals->fault);
    else if (ending->signal_number != 0 || ending->exit_status != 0)
        cli_message(NULL, "nothing was recorded: '%s' %s", request->command[0],
                    how_it_ended(ending, text));
    else if (totals->process_count == 0)
        cli_message(NULL, "nothing was recorded: '%s' did not use CUDA%s%s", request->command[0],
                    has_driver() ? "" : "; ", has_driver() ? "" : no_driver);
    else
        cli_message(NULL,
                    "nothing was recorded: '%s' started CUDA but ran nothing in the time that was "
                    "recorded, uses CUPTI itself (torch.profiler does), or ended by _exit()",
                    request->command[0]);
    return ridge_status_exit(RIDGE_ERR_CUDA);
}

/* What is wrong with what was recorded; "" when nothing is. */
static void describe_loss(const struct request *request, const ridge_collect_totals *totals,
                          const struct ending *ending, char *out, size_t size)
{
    /* What is killed while it writes leaves half a record too. */
    const bool is_killed = (ending->signal_number != 0 || ending->exit_status != 0) &&
                           totals->unended_count >= totals->damaged_count;
    char text[64];

    out[0] = '\0';
    if (totals->fault[0] != '\0')
        snprintf(out, size, "%s", totals->fault);
    else if (totals->damaged_count > 0 && !is_killed)
        snprintf(out, size, "the records of %zu of %zu processes are cut, is the disk full?",
                 totals->damaged_count, totals->process_count);
    else if (totals->unended_count > 0)
        snprintf(
            out, size,
            "'%s' %s: %zu of %zu processes did not end in order, of which the last seconds may "
            "be missing",
            request->command[0], how_it_ended(ending, text), totals->unended_count,
            totals->process_count);
    else if (totals->dropped_count > 0)
        snprintf(out, size,
                 "CUPTI dropped records for want of memory: --delay and --duration "
                 "record less");
}

/* "1,280 kernels" */
static const char *count_text(uint64_t count, const char *one, const char *many, char buffer[64])
{
    char number[32];

    snprintf(buffer, 64, "%s %s", ridge_number_text((double)count, RIDGE_UNIT_COUNT, number, 32),
             count == 1 ? one : many);
    return buffer;
}

static int say_what(const struct request *request, const char *output,
                    const ridge_collect_totals *totals, const struct ending *ending)
{
    char kernels[64], copies[64], calls[64], dropped[32], span[32], loss[480], text[64];

    describe_loss(request, totals, ending, loss, sizeof(loss));
    cli_message(output, "%s, %s, %s, %s dropped, %s; %s%s",
                count_text(totals->kernel_count, "kernel", "kernels", kernels),
                count_text(totals->copy_count, "copy", "copies", copies),
                count_text(totals->call_count, "call", "calls", calls),
                ridge_number_text((double)totals->dropped_count, RIDGE_UNIT_COUNT, dropped, 32),
                ridge_number_text((double)totals->span_ns, RIDGE_UNIT_NS, span, sizeof(span)),
                loss[0] != '\0' ? "incomplete: " : "ridge timeline ",
                loss[0] != '\0' ? loss : output);
    if (loss[0] == '\0' && ending->exit_status != 0)
        cli_message(NULL, "'%s' %s", request->command[0], how_it_ended(ending, text));
    return loss[0] != '\0' ? ridge_status_exit(RIDGE_ERR_FORMAT) : CLI_DONE;
}

/* -- all --------------------------------------------------------------------------------------- */

/* Spool files and nothing else. */
static void remove_folder(const char *folder)
{
    char path[CLI_PATH_BYTES];

    while (cli_find_file(folder, "/*.spool", path) && unlink(path) == 0)
        ;
    rmdir(folder);
}

static int record(const struct request *request, const char *output)
{
    const char *const place = getenv("TMPDIR");
    char collector[CLI_PATH_BYTES], cupti[CUPTI_PATHS_BYTES], folder[CLI_PATH_BYTES];
    char beside[CLI_PATH_BYTES + 16] = "";
    ridge_collect_totals totals = {0};
    struct ending ending = {0, 0};
    int status = find_parts(request, collector, cupti);

    if (status == CLI_DONE)
        status = cli_check_target(output, NULL, request->force);
    if (status != CLI_DONE)
        return status;
    snprintf(folder, sizeof(folder), "%s/ridge-record-XXXXXX",
             place != NULL && place[0] != '\0' ? place : "/tmp");
    if (mkdtemp(folder) == NULL) {
        cli_message(folder, "cannot be made: %s (TMPDIR)", strerror(errno));
        return ridge_status_exit(RIDGE_ERR_IO);
    }
    status = run(request, folder, collector, cupti, &ending);
    if (status == CLI_DONE)
        status = merge(request, folder, output, beside, &totals);
    remove_folder(folder);
    if (status != CLI_DONE)
        return status;
    if (is_empty(&totals))
        return say_nothing(request, &totals, &ending);
    status = say_what(request, beside[0] != '\0' ? beside : output, &totals, &ending);
    if (beside[0] == '\0')
        return status;
    cli_message(output, "exists, another program made it meanwhile: the recording is in %s",
                beside);
    return ridge_status_exit(RIDGE_ERR_IO);
}

/* "decoder.sqlite" for "python3 examples/decoder.py decode": the script, else the program. */
static void default_output(char **command, char *out, size_t size)
{
    const char *name = command[0];
    size_t i, length;

    for (i = 1; command[i] != NULL; i++) {
        length = strlen(command[i]);
        if (length > 3 && strcmp(command[i] + length - 3, ".py") == 0) {
            name = command[i];
            break;
        }
    }
    name = cli_base_name(name);
    length = strcspn(name, ".");
    snprintf(out, size, "%.*s.sqlite", length > 0 ? (int)length : (int)strlen(name), name);
}

int cmd_record(int argc, char **argv)
{
    struct request request = {.api = API_WORK};
    const struct option options[] = {
        OPT_STRING('o', "output", &request.output, "FILE",
                   "write there; default: the program's name and .sqlite"),
        OPT_FLAG('f', "force", &request.force, "replace the file when it exists"),
        OPT_CHOICE(0, "api", &request.api, "none|work|all", api_choices,
                   "calls of the host: those that do work (the default), all, or none"),
        OPT_NUMBER(0, "delay", &request.delay_s, "SECONDS",
                   "begin so long after the program first uses CUDA"),
        OPT_NUMBER(0, "duration", &request.duration_s, "SECONDS",
                   "record so long; the program runs on to its end"),
        OPT_STRING(0, "cupti", &request.cupti, "FILE",
                   "the libcupti.so to load, else $RIDGE_CUPTI"),
        OPT_HELP,
        OPT_END,
    };
    char output[CLI_PATH_BYTES];
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc < 2)
        return cli_usage_error("expected -- and the command to record");
    if (!(request.delay_s >= 0 && request.delay_s <= SECONDS_MOST) ||
        !(request.duration_s >= 0 && request.duration_s <= SECONDS_MOST))
        return cli_usage_error("--delay and --duration take 0 to %d seconds", SECONDS_MOST);
    request.command = argv + 1;
    request.command_count = (size_t)argc - 1;
    if (request.output != NULL)
        snprintf(output, sizeof(output), "%s", request.output);
    else
        default_output(request.command, output, sizeof(output));
    if (output[0] == '\0' || (request.output != NULL && strlen(request.output) >= sizeof(output)))
        return cli_usage_error("--output needs the name of a file");
    return record(&request, output);
}
