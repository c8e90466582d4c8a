/* SPDX-License-Identifier: Apache-2.0
 *
 * What is on this machine: programs by their --version, the driver through ridge/device.h, each in a
 * process of its own. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "find_cupti.h"
#include "find_program.h"

enum { OUTPUT_BYTES = 4096 };

/* -- files ------------------------------------------------------------------------------------- */

static const char *root(void)
{
    const char *const set = getenv("RIDGE_DOCTOR_ROOT");

    return set != NULL ? set : "";
}

/* -- programs ---------------------------------------------------------------------------------- */

/* torch is not imported, which takes seconds: its version stands in a file. CUPTI comes with it. */
static const char python_script[] =
    "import sys, glob, os, importlib.util as u\n"
    "s = u.find_spec('torch')\n"
    "v = {}\n"
    "d = os.path.dirname(s.origin) if s and s.origin else ''\n"
    "try: exec(open(os.path.join(d, 'version.py')).read(), v)\n"
    "except Exception: pass\n"
    "c = d and glob.glob(os.path.join(d, '..', 'nvidia', '*', 'lib', 'libcupti.so*'))\n"
    "print('python', sys.version.split()[0], 'torch', v.get('__version__') if d else None,\n"
    "      'cupti', bool(c))\n"
    "if c: print('cupti-path', os.path.normpath(sorted(c)[-1]))\n";

static const struct tool_row {
    const char *name;
    const char *arguments[2]; /* for the version */
} tool_rows[DOCTOR_TOOL_COUNT] = {
    [DOCTOR_NCU] = {"ncu", {"--version"}},
    [DOCTOR_NVCC] = {"nvcc", {"--version"}},
    [DOCTOR_SANITIZER] = {"compute-sanitizer", {"--version"}},
    [DOCTOR_NVDISASM] = {"nvdisasm", {"--version"}},
    [DOCTOR_PYTHON] = {"python3", {"-c", python_script}},
};

const char *doctor_tool_name(enum doctor_tool_id tool)
{
    return tool_rows[tool].name;
}

static bool find_tool(const struct tool_row *row, struct doctor_tool *out,
                      char path[CLI_PATH_BYTES])
{
    out->is_found = cli_find_program(row->name, root(), path, &out->is_on_path);
    return out->is_found;
}

/* The number behind the last of a word: "Version 2025.3.1.0 (build 1)", "release 13.0, V13.0.88". */
static void copy_version(const char *text, const char *before, char out[DOCTOR_TEXT])
{
    const char *at = text, *found = NULL;
    size_t length = 0;

    while ((at = strstr(at, before)) != NULL) {
        at += strlen(before);
        if (isalnum((unsigned char)*at))
            found = at;
    }
    out[0] = '\0';
    if (found == NULL)
        return;
    while (isalnum((unsigned char)found[length]) ||
           (found[length] != '\0' && strchr(".+-_", found[length]) != NULL))
        length++;
    snprintf(out, DOCTOR_TEXT, "%.*s", (int)length, found);
}

static void read_version(struct doctor *out, enum doctor_tool_id id, const char *text)
{
    static const char before[] = "\ncupti-path ";
    struct doctor_tool *const tool = &out->tools[id];
    const char *const path = strstr(text, before);

    if (id == DOCTOR_PYTHON) {
        copy_version(text, "python ", tool->version);
        copy_version(text, "torch ", out->torch);
        if (strcmp(out->torch, "None") == 0)
            out->torch[0] = '\0';
        out->has_cupti = out->has_cupti || strstr(text, "cupti True") != NULL;
        if (path != NULL && out->cupti_path[0] == '\0')
            snprintf(out->cupti_path, sizeof(out->cupti_path), "%.*s",
                     (int)strcspn(path + sizeof(before) - 1, "\n"), path + sizeof(before) - 1);
        return;
    }
    copy_version(text, "Version ", tool->version);
    if (tool->version[0] == '\0')
        copy_version(text, ", V", tool->version);
}

/* -- processes --------------------------------------------------------------------------------- */

/* A child and what it has written so far. */
struct child {
    pid_t pid; /* 0: none */
    int from;  /* -1: nothing more comes */
    char *text;
    size_t length, capacity; /* one byte is left for a NUL */
};

typedef void child_work(const void *context, int to);

static void child_start(struct child *child, child_work *work, const void *context, char *text,
                        size_t capacity)
{
    int ends[2];

    *child = (struct child){.from = -1, .text = text, .capacity = capacity};
    if (pipe(ends) != 0)
        return;
    child->pid = fork();
    if (child->pid == 0) {
        setpgid(0, 0); /* a script's children go with it */
        close(ends[0]);
        work(context, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child->pid < 0) {
        child->pid = 0;
        close(ends[0]);
        return;
    }
    setpgid(child->pid, child->pid);
    child->from = ends[0];
}

static void child_read(struct child *child)
{
    char rest[256];
    const size_t room = child->capacity - 1 - child->length;
    const ssize_t size = room > 0 ? read(child->from, child->text + child->length, room)
                                  : read(child->from, rest, sizeof(rest));

    if (size > 0 && room > 0)
        child->length += (size_t)size;
    if (size <= 0) {
        close(child->from);
        child->from = -1;
    }
}

/* Ends what still runs; true: it had ended by itself. */
static bool child_end(struct child *child)
{
    const bool had_ended = child->pid != 0 && child->from < 0;

    if (child->from >= 0)
        close(child->from);
    if (child->pid != 0) {
        if (!had_ended)
            kill(-child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    child->text[child->length] = '\0';
    return had_ended;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void wait_for_all(struct child *children, size_t count, double wait_s)
{
    const double end = seconds() + wait_s;

    for (;;) {
        struct pollfd ready[DOCTOR_TOOL_COUNT + 1];
        const double left_s = end - seconds();
        size_t i, open_count = 0;

        for (i = 0; i < count; i++) {
            ready[i] = (struct pollfd){.fd = children[i].from, .events = POLLIN};
            open_count += children[i].from >= 0;
        }
        if (open_count == 0 || left_s <= 0 ||
            poll(ready, (nfds_t)count, (int)(left_s * 1e3) + 1) < 0)
            return;
        for (i = 0; i < count; i++)
            if (ready[i].fd >= 0 && ready[i].revents != 0)
                child_read(&children[i]);
    }
}

/* -- what the children do ---------------------------------------------------------------------- */

struct command {
    const char *path;
    const struct tool_row *row;
};

static void run_tool(const void *context, int to)
{
    const struct command *const command = context;
    const int null = open("/dev/null", O_RDWR);
    char *words[4] = {NULL};

    memcpy(&words[0], &command->path, sizeof(words[0]));
    memcpy(&words[1], command->row->arguments, sizeof(command->row->arguments));
    dup2(null, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(command->path, words);
}

static void write_all(int to, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        const ssize_t part = write(to, at, size);

        if (part <= 0)
            return;
        at += part;
        size -= (size_t)part;
    }
}

/* The driver may print and may crash: its words go nowhere. */
static void ask_driver(const void *context, int to)
{
    static struct doctor_driver found;
    const int null = open("/dev/null", O_RDWR);
    const char *why = "";
    int i;

    (void)context;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    found.gpu_count = ridge_device_gpu_count(&why);
    if (found.gpu_count == 0)
        snprintf(found.why, sizeof(found.why), "%s", why);
    for (i = 0; i < found.gpu_count && i < DOCTOR_GPUS_MOST; i++) {
        struct doctor_gpu *const gpu = &found.gpus[i];

        if (ridge_device_look(i, &gpu->info, &gpu->clocks, &gpu->processes, NULL) != RIDGE_OK)
            gpu->info.index = -1;
    }
    write_all(to, &found, sizeof(found));
}

/* -- counters ---------------------------------------------------------------------------------- */

/* A line "name: value" of a file of /proc; false: not there. */
static bool read_line(const char *path, const char *name, char *out, size_t size)
{
    char rooted[CLI_PATH_BYTES], line[256];
    bool is_found = false;
    FILE *file;

    snprintf(rooted, sizeof(rooted), "%s%s", root(), path);
    file = fopen(rooted, "r");
    if (file == NULL)
        return false;
    while (!is_found && fgets(line, sizeof(line), file) != NULL) {
        const size_t length = strlen(name);

        is_found = strncmp(line, name, length) == 0 && line[length] == ':';
        if (is_found)
            snprintf(out, size, "%s", line + length + 1);
    }
    fclose(file);
    return is_found;
}

/* The driver asks for CAP_SYS_ADMIN, which root in a container may lack. */
static enum doctor_counters look_at_counters(void)
{
    enum { CAP_SYS_ADMIN_BIT = 21 };
    char text[64];

    if (!read_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly", text, sizeof(text)))
        return DOCTOR_COUNTERS_UNKNOWN;
    if (strtol(text, NULL, 10) == 0)
        return DOCTOR_COUNTERS_ALL;
    if (!read_line("/proc/self/status", "CapEff", text, sizeof(text)))
        return geteuid() == 0 ? DOCTOR_COUNTERS_ADMIN : DOCTOR_COUNTERS_REFUSED;
    return (strtoull(text, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1) != 0 ? DOCTOR_COUNTERS_ADMIN
                                                                    : DOCTOR_COUNTERS_REFUSED;
}

static void look_for_cupti(struct doctor *out)
{
    static char paths[1 << 14];

    out->has_cupti = cli_find_cupti(root(), NULL, paths, sizeof(paths));
    snprintf(out->cupti_path, sizeof(out->cupti_path), "%.*s", (int)strcspn(paths, "\n"), paths);
    cli_cupti_version(paths, out->cupti_version, sizeof(out->cupti_version));
}

/* -- all --------------------------------------------------------------------------------------- */

void doctor_look(struct doctor *out, double wait_s)
{
    static char paths[DOCTOR_TOOL_COUNT][CLI_PATH_BYTES], texts[DOCTOR_TOOL_COUNT][OUTPUT_BYTES];
    static char driver_bytes[sizeof(struct doctor_driver) + 1];
    struct child children[DOCTOR_TOOL_COUNT + 1];
    size_t i;

    memset(out, 0, sizeof(*out));
    child_start(&children[DOCTOR_TOOL_COUNT], ask_driver, NULL, driver_bytes, sizeof(driver_bytes));
    for (i = 0; i < DOCTOR_TOOL_COUNT; i++) {
        const struct command command = {paths[i], &tool_rows[i]};

        children[i] = (struct child){.from = -1, .text = texts[i], .capacity = OUTPUT_BYTES};
        if (find_tool(&tool_rows[i], &out->tools[i], paths[i]))
            child_start(&children[i], run_tool, &command, texts[i], OUTPUT_BYTES);
    }
    out->counters = look_at_counters();
    look_for_cupti(out);
    wait_for_all(children, DOCTOR_TOOL_COUNT + 1, wait_s);

    if (!child_end(&children[DOCTOR_TOOL_COUNT]))
        snprintf(
            out->driver.why, sizeof(out->driver.why), "%s",
            "the driver did not answer in time (a GPU that sleeps wakes slowly: try --wait 20)");
    else if (children[DOCTOR_TOOL_COUNT].length == sizeof(out->driver))
        memcpy(&out->driver, driver_bytes, sizeof(out->driver));
    else
        snprintf(out->driver.why, sizeof(out->driver.why), "%s",
                 "the driver crashed when it was asked, see dmesg");
    for (i = 0; i < DOCTOR_TOOL_COUNT; i++) {
        out->tools[i].is_silent = !child_end(&children[i]) && out->tools[i].is_found;
        read_version(out, (enum doctor_tool_id)i, texts[i]);
    }
}
