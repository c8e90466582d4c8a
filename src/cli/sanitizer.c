/* SPDX-License-Identifier: Apache-2.0
 *
 * compute-sanitizer is asked for by name and must answer: a tool that is missing, ends otherwise than
 * expected or says nothing that is known is a failed check, since silence has passed for success
 * before (rapidsai/cudf #12530). */
#include "sanitizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const tools[] = {"memcheck", "racecheck", "synccheck", "initcheck"};

enum { FOUND_EXIT = 9, MISSING_EXIT = 127, ARGUMENTS = 24 };

enum sanitizer_verdict sanitizer_line(const char *line, size_t *count)
{
    /* memcheck, synccheck, initcheck: "========= ERROR SUMMARY: 0 errors"; racecheck: "=========
     * RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", "1 hazard displayed". */
    static const char *const marks[] = {"ERROR SUMMARY: ", "RACECHECK SUMMARY: "};
    size_t i;

    *count = 0;
    for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const char *const mark = strstr(line, marks[i]);
        char *end;

        if (mark == NULL)
            continue;
        *count = strtoul(mark + strlen(marks[i]), &end, 10);
        if (end == mark + strlen(marks[i]) ||
            (strncmp(end, " error", 6) != 0 && strncmp(end, " hazard", 7) != 0))
            return SANITIZER_UNKNOWN;
        return *count == 0 ? SANITIZER_CLEAN : SANITIZER_ERRORS;
    }
    return SANITIZER_UNKNOWN;
}

/* Path of this program. */
static bool find_self(char *path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);

    if (length <= 0)
        return false;
    path[length] = '\0';
    return true;
}

static void exec_tool(const struct measure *m, const char *cases, const char *tool,
                      const char *self)
{
    char seed[24];
    const char *arguments[ARGUMENTS] = {"compute-sanitizer",
                                        "--tool",
                                        tool,
                                        "--error-exitcode",
                                        "9",
                                        self,
                                        "check",
                                        m->arms[0],
                                        "--in-process",
                                        "--no-shrink",
                                        "--device",
                                        m->device != NULL ? m->device : "cuda",
                                        "--seed",
                                        seed,
                                        "--case",
                                        cases};
    char *copies[ARGUMENTS] = {NULL};
    size_t count = 16, i;

    snprintf(seed, sizeof(seed), "%zu", m->seed);
    if (m->call != NULL) {
        arguments[count++] = "--call";
        arguments[count++] = m->call;
    }
    if (m->family != NULL) {
        arguments[count++] = "--family";
        arguments[count++] = m->family;
    }
    /* execvp() takes what it does not change as if it might. */
    for (i = 0; i < count; i++)
        copies[i] = strdup(arguments[i]);
    execvp(copies[0], copies);
    _exit(MISSING_EXIT);
}

/* Reads all that a tool says; the last summary counts. */
static enum sanitizer_verdict read_tool(int descriptor, size_t *count)
{
    FILE *const stream = fdopen(descriptor, "r");
    enum sanitizer_verdict verdict = SANITIZER_UNKNOWN;
    char line[1024];

    if (stream == NULL) {
        close(descriptor);
        return verdict;
    }
    while (fgets(line, sizeof(line), stream) != NULL) {
        size_t found;
        const enum sanitizer_verdict said = sanitizer_line(line, &found);

        if (said == SANITIZER_UNKNOWN)
            continue;
        verdict = said;
        *count = found;
    }
    fclose(stream);
    return verdict;
}

static bool run_tool(const struct measure *m, const char *cases, const char *tool, const char *self,
                     char *said, size_t size)
{
    enum sanitizer_verdict verdict;
    int ends[2], exit_status;
    size_t count = 0;
    pid_t child;

    if (pipe(ends) != 0) {
        snprintf(said, size, "%s: %s", tool, strerror(errno));
        return false;
    }
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        exec_tool(m, cases, tool, self);
    }
    close(ends[1]);
    verdict = read_tool(ends[0], &count);
    if (child < 0 || waitpid(child, &exit_status, 0) != child || !WIFEXITED(exit_status)) {
        snprintf(said, size, "%s did not end by itself", tool);
        return false;
    }
    exit_status = WEXITSTATUS(exit_status);
    if (exit_status == MISSING_EXIT)
        snprintf(said, size, "compute-sanitizer is not installed (part of the CUDA toolkit)");
    else if (verdict == SANITIZER_ERRORS || exit_status == FOUND_EXIT)
        snprintf(said, size, "%s found %zu problem%s", tool, count, count == 1 ? "" : "s");
    else if (verdict == SANITIZER_UNKNOWN)
        snprintf(said, size, "%s: no summary that is known (exit status %d)", tool, exit_status);
    else
        snprintf(said, size, "%s clean", tool);
    return verdict == SANITIZER_CLEAN && exit_status != FOUND_EXIT;
}

bool sanitizer_run(const struct measure *m, const char *cases, char *summary, size_t size)
{
    char self[1024], said[120];
    size_t used = 0, i;
    bool is_clean = true;

    if (!find_self(self, sizeof(self))) {
        snprintf(summary, size, "this program is not found, so no tool can run it");
        return false;
    }
    for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        const bool is_good = run_tool(m, cases, tools[i], self, said, sizeof(said));

        is_clean = is_clean && is_good;
        used += (size_t)snprintf(summary + used, used < size ? size - used : 0, "%s%s",
                                 i > 0 ? ", " : "", said);
        if (used >= size || strstr(said, "not installed") != NULL)
            break;
    }
    return is_clean;
}
