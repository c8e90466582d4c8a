/* SPDX-License-Identifier: Apache-2.0
 *
 * HEAD and refs as gitrepository-layout(5) has them, and one question to git. */
#include "source_revision.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ridge/arm.h"

enum {
    PATH_BYTES = 4096,
    LINE_BYTES = 1024,
    DIGITS = 40,      /* of SHA-1; */
    MORE_DIGITS = 64, /* of SHA-256 */
    SYMBOLIC = 5,     /* refs that name refs, as git follows them */
    PARENTS = 128,
    PATIENCE_MS = 5000
};

extern char **environ;

/* -- HEAD and refs ----------------------------------------------------------------------------- */

/* False: does not fit. */
static bool join(char *out, size_t size, const char *folder, const char *name)
{
    return snprintf(out, size, "%s/%s", folder, name) < (int)size;
}

/* The first line of a regular file of folder, without its end. */
static bool first_line(const char *folder, const char *name, char line[LINE_BYTES])
{
    char path[PATH_BYTES];
    struct stat info;
    FILE *file;

    line[0] = '\0';
    if (!join(path, sizeof(path), folder, name) || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, LINE_BYTES, file) == NULL)
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    return line[0] != '\0';
}

static bool is_revision(const char *text, size_t length)
{
    return (length == DIGITS || length == MORE_DIGITS) &&
           strspn(text, "0123456789abcdef") >= length;
}

/* "refs/heads/main", and nothing that leads elsewhere. */
static bool is_ref(const char *name)
{
    return strncmp(name, "refs/", 5) == 0 && strstr(name, "..") == NULL;
}

/* Lines "<digits> <ref>" of packed-refs. */
static bool packed(const char *folder, const char *ref, char line[LINE_BYTES])
{
    char path[PATH_BYTES];
    FILE *const file = join(path, sizeof(path), folder, "packed-refs") ? fopen(path, "re") : NULL;
    bool found = false;

    while (file != NULL && !found && fgets(line, LINE_BYTES, file) != NULL) {
        const size_t digits = strcspn(line, " ");

        line[strcspn(line, "\r\n")] = '\0';
        found =
            line[digits] == ' ' && strcmp(line + digits + 1, ref) == 0 && is_revision(line, digits);
        if (found)
            line[digits] = '\0';
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* common: of a work tree beside others the folder that all of them share, else the same. */
static bool resolve(const char *folder, const char *common, char *out)
{
    char line[LINE_BYTES], ref[LINE_BYTES];
    int depth;

    if (!first_line(folder, "HEAD", line))
        return false;
    for (depth = 0; depth < SYMBOLIC && strncmp(line, "ref: ", 5) == 0; depth++) {
        memmove(ref, line + 5, strlen(line + 5) + 1);
        if (!is_ref(ref) || (!first_line(folder, ref, line) && !first_line(common, ref, line) &&
                             !packed(common, ref, line)))
            return false;
    }
    if (!is_revision(line, strlen(line)))
        return false;
    memcpy(out, line, strlen(line) + 1);
    return true;
}

/* The folder of the repository of root: root/.git, or what a file of that name says. */
static bool find_repository(const char *root, char folder[PATH_BYTES])
{
    char line[LINE_BYTES];
    struct stat info;

    if (!join(folder, PATH_BYTES, root, ".git") || stat(folder, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode))
        return true;
    if (!first_line(root, ".git", line) || strncmp(line, "gitdir: ", 8) != 0)
        return false;
    return line[8] == '/' ? snprintf(folder, PATH_BYTES, "%s", line + 8) < PATH_BYTES
                          : join(folder, PATH_BYTES, root, line + 8);
}

static void find_common(const char *folder, char common[PATH_BYTES])
{
    char line[LINE_BYTES];

    snprintf(common, PATH_BYTES, "%s", folder);
    if (!first_line(folder, "commondir", line))
        return;
    if (line[0] == '/')
        snprintf(common, PATH_BYTES, "%s", line);
    else if (!join(common, PATH_BYTES, folder, line))
        snprintf(common, PATH_BYTES, "%s", folder);
}

/* -- what was not committed -------------------------------------------------------------------- */

/* Whether the configuration of a repository names programs that git status would run, or files that
 * might. What is in the user's own is the user's. */
static bool names_programs(const char *folder, const char *name)
{
    static const char *const words[] = {"filter", "fsmonitor", "include", "worktreeconfig"};
    char path[PATH_BYTES], line[LINE_BYTES];
    FILE *const file = join(path, sizeof(path), folder, name) ? fopen(path, "re") : NULL;
    bool found = false;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        char *at;
        size_t i;

        for (at = line; *at != '\0'; at++)
            for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                found = found || strncasecmp(at, words[i], strlen(words[i])) == 0;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

_Noreturn static void exec_git(const char *root, int output)
{
    const char *const words[] = {"git",
                                 "-C",
                                 root,
                                 "-c",
                                 "core.fsmonitor=false",
                                 "status",
                                 "--porcelain",
                                 "--untracked-files=no",
                                 "--ignore-submodules=all",
                                 NULL};
    static char no_locks[] = "GIT_OPTIONAL_LOCKS=0";
    char *copies[sizeof(words) / sizeof(words[0])];
    const char *const path = getenv("PATH"), *const home = getenv("HOME");
    char *keep[4] = {no_locks, NULL, NULL, NULL};
    static char path_text[PATH_BYTES], home_text[PATH_BYTES];
    const int null = open("/dev/null", O_RDWR);
    size_t count = 1;

    /* Not GIT_DIR and the like of a hook that ridge was called in. */
    if (path != NULL && snprintf(path_text, sizeof(path_text), "PATH=%s", path) < PATH_BYTES)
        keep[count++] = path_text;
    if (home != NULL && snprintf(home_text, sizeof(home_text), "HOME=%s", home) < PATH_BYTES)
        keep[count++] = home_text;
    environ = keep;
    setpgid(0, 0);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    memcpy(copies, words,
           sizeof(words)); /* execvp() takes what it does not change as if it might */
    execvp(copies[0], copies);
    _exit(127);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What git has to say until its end, or until it takes too long: whether it said something. */
static bool read_answer(int descriptor, bool *is_late)
{
    const int64_t until = now_ms() + PATIENCE_MS;
    char bytes[4096];
    bool any = false;

    *is_late = false;
    for (;;) {
        struct pollfd wait = {descriptor, POLLIN, 0};
        const int64_t left = until - now_ms();
        ssize_t got;

        if (left <= 0 || poll(&wait, 1, (int)left) <= 0) {
            *is_late = true;
            return any;
        }
        got = read(descriptor, bytes, sizeof(bytes));
        if (got <= 0)
            return any;
        any = true;
    }
}

/* "", "-dirty" or "?". */
static const char *ask_git(const char *root)
{
    int ends[2], exit_status = 0;
    bool is_late, any;
    pid_t child;

    if (pipe(ends) != 0)
        return "?";
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    child = fork();
    if (child == 0)
        exec_git(root, ends[1]);
    close(ends[1]);
    if (child > 0)
        setpgid(child, child); /* both sides, whoever is first */
    if (child < 0) {
        close(ends[0]);
        return "?";
    }
    any = read_answer(ends[0], &is_late);
    close(ends[0]);
    if (is_late)
        kill(-child, SIGKILL);
    if (waitpid(child, &exit_status, 0) != child || is_late || !WIFEXITED(exit_status) ||
        WEXITSTATUS(exit_status) != 0)
        return "?";
    return any ? "-dirty" : "";
}

/* -- of a path --------------------------------------------------------------------------------- */

/* The innermost work tree that a path is in; root: its folder, as path/../.. */
static bool find_root(const char *path, char root[PATH_BYTES], char folder[PATH_BYTES])
{
    struct stat info, above;
    int i;

    if (stat(path, &info) != 0 || strlen(path) + (size_t)3 * PARENTS + 8 > PATH_BYTES)
        return false;
    memcpy(root, path, strlen(path) + 1);
    if (!S_ISDIR(info.st_mode)) {
        char *const slash = strrchr(root, '/');

        if (slash != NULL)
            slash[slash == root ? 1 : 0] = '\0';
        else
            memcpy(root, ".", 2);
    }
    for (i = 0; i < PARENTS; i++) {
        if (find_repository(root, folder))
            return true;
        if (stat(root, &info) != 0)
            return false;
        memcpy(root + strlen(root), "/..", 4);
        if (stat(root, &above) != 0 || (above.st_dev == info.st_dev && above.st_ino == info.st_ino))
            return false;
    }
    return false;
}

char *cli_source_revision(const char *path, char out[CLI_REVISION_BYTES])
{
    char root[PATH_BYTES], folder[PATH_BYTES], common[PATH_BYTES];
    char revision[LINE_BYTES];
    const char *mark;

    out[0] = '\0';
    if (!find_root(path, root, folder))
        return out;
    find_common(folder, common);
    if (!resolve(folder, common, revision))
        return out;
    mark = names_programs(common, "config") || names_programs(folder, "config.worktree")
               ? "?"
               : ask_git(root);
    snprintf(out, CLI_REVISION_BYTES, "%.64s%s", revision, mark);
    return out;
}

char *cli_arm_revision(const char *arm, char out[CLI_REVISION_BYTES])
{
    ridge_arm_name name;
    char self[PATH_BYTES];
    ssize_t length;

    out[0] = '\0';
    if (ridge_arm_name_parse(arm, &name, NULL) != RIDGE_OK)
        return out;
    switch (name.kind) {
    case RIDGE_ARM_PLUGIN:
    case RIDGE_ARM_CALL:
    case RIDGE_ARM_MANIFEST:
        return cli_source_revision(name.path, out);
    case RIDGE_ARM_PYTHON:
        return cli_source_revision(".", out);
    case RIDGE_ARM_FAMILY:
        length = readlink("/proc/self/exe", self, sizeof(self) - 1);
        if (length <= 0)
            return out;
        self[length] = '\0';
        return cli_source_revision(self, out);
    }
    return out;
}
