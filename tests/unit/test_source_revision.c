/* SPDX-License-Identifier: Apache-2.0
 *
 * Revisions of work trees that are written here, file by file, and of one that git makes. */
#include "cases.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source_revision.h"

#define A "0123456789abcdef0123456789abcdef01234567"
#define B "fedcba9876543210fedcba9876543210fedcba98"
#define LONG A "0123456789abcdef01234567"

static char folder[64];

static void sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *format, ...)
{
    char command[2048], whole[2200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    snprintf(whole, sizeof(whole), "cd %s && { %s; }", folder, command);
    if (system(whole) != 0)
        fail_msg("%s", whole);
}

static void begin(void)
{
    snprintf(folder, sizeof(folder), "/tmp/ridge-revision.XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void end(void)
{
    sh("rm -rf %s", folder);
}

/* Files of a repository, and what is read of it. A mark stands behind it: git finds no repository in
 * what is no whole one, so whether it was changed is not known. */
static struct layout {
    const char *name, *commands, *expected;
} layouts[] = {
    {"loose",
     "mkdir -p .git/refs/heads; echo 'ref: refs/heads/main' >.git/HEAD; "
     "echo " A " >.git/refs/heads/main",
     A "?"},
    {"detached", "mkdir .git; echo " B " >.git/HEAD", B "?"},
    {"packed",
     "mkdir .git; echo 'ref: refs/heads/main' >.git/HEAD; printf '# pack-refs with: peeled\\n" B
     " refs/heads/main2\\n" A " refs/heads/main\\n^" B "\\n' >.git/packed-refs",
     A "?"},
    {"loose before packed",
     "mkdir -p .git/refs/heads; echo 'ref: refs/heads/main' >.git/HEAD; "
     "echo " A " >.git/refs/heads/main; echo '" B " refs/heads/main' >.git/packed-refs",
     A "?"},
    {"SHA-256", "mkdir .git; echo " LONG " >.git/HEAD", LONG "?"},
    {"a work tree beside others",
     "mkdir -p main/.git/worktrees/x main/.git/refs/heads; echo 'gitdir: main/.git/worktrees/x' "
     ">.git; "
     "echo '../..' >main/.git/worktrees/x/commondir; "
     "echo 'ref: refs/heads/side' >main/.git/worktrees/x/HEAD; echo " B
     " >main/.git/refs/heads/side",
     B "?"},
    {"a ref that names a ref",
     "mkdir -p .git/refs/heads; echo 'ref: refs/heads/a' >.git/HEAD; "
     "echo 'ref: refs/heads/b' >.git/refs/heads/a; echo " A " >.git/refs/heads/b",
     A "?"},
    {"a ref that names itself",
     "mkdir -p .git/refs/heads; echo 'ref: refs/heads/a' >.git/HEAD; "
     "echo 'ref: refs/heads/a' >.git/refs/heads/a",
     ""},
    {"no commit yet", "mkdir .git; echo 'ref: refs/heads/main' >.git/HEAD", ""},
    {"no HEAD", "mkdir .git", ""},
    {"an empty HEAD", "mkdir .git; : >.git/HEAD", ""},
    {"a HEAD that leads elsewhere",
     "mkdir .git; echo " A " >secret; echo 'ref: refs/../../secret' >.git/HEAD", ""},
    {"a HEAD of nonsense", "mkdir .git; head -c 5000 /dev/zero | tr '\\0' a >.git/HEAD", ""},
    {"a short revision", "mkdir .git; echo 0123abc >.git/HEAD", ""},
    {"a HEAD that is a pipe", "mkdir .git; mkfifo .git/HEAD", ""},
    {"a file .git of nonsense", "echo hello >.git", ""},
    {"a file .git that names nothing", "echo 'gitdir: nowhere' >.git", ""},
    {"packed refs of nonsense",
     "mkdir .git; echo 'ref: refs/heads/main' >.git/HEAD; "
     "printf 'zz refs/heads/main\\n refs/heads/main\\n\\n' >.git/packed-refs",
     ""},
    {"none", ":", ""},
};

static void reads(void **state)
{
    struct layout *const test = *state;
    char path[128], out[CLI_REVISION_BYTES];

    begin();
    sh("mkdir -p sub/deep; echo x >sub/deep/k.so; %s", test->commands);
    snprintf(path, sizeof(path), "%s/sub/deep/k.so", folder);
    assert_string_equal(cli_source_revision(path, out), test->expected);
    snprintf(path, sizeof(path), "%s/sub/deep", folder);
    assert_string_equal(cli_source_revision(path, out), test->expected);
    end();
}

static void answers_nothing(void **state)
{
    char out[CLI_REVISION_BYTES], other[CLI_REVISION_BYTES];

    (void)state;
    assert_string_equal(cli_source_revision("/no/such/file", out), "");
    assert_string_equal(cli_source_revision("/", out), "");
    assert_string_equal(cli_arm_revision("", out), "");
    assert_string_equal(cli_arm_revision("no_such_thing", out),
                        cli_arm_revision("rms_norm:x", other));
}

/* A repository of git's own: clean, changed, staged, with an untracked file; and one whose
 * configuration would run a program. */
static void marks_changes(void **state)
{
    char out[CLI_REVISION_BYTES];

    (void)state;
    if (system("git --version >/dev/null 2>&1") != 0)
        skip();
    begin();
    sh("git init -q . && echo 1 >k.cu && git add k.cu && "
       "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m first");
    assert_int_equal(strlen(cli_source_revision(folder, out)), 40);
    sh("echo x >new.so");
    assert_int_equal(strlen(cli_source_revision(folder, out)), 40);
    sh("touch -d '2001-01-01' k.cu"); /* other times, the same content */
    assert_int_equal(strlen(cli_source_revision(folder, out)), 40);
    sh("echo 2 >k.cu");
    assert_string_equal(cli_source_revision(folder, out) + 40, "-dirty");
    sh("git add k.cu");
    assert_string_equal(cli_source_revision(folder, out) + 40, "-dirty");
    sh("git config filter.x.clean 'touch ran' && echo 'k.cu filter=x' >.gitattributes && "
       "git config core.fsmonitor \"$PWD/monitor\" && printf '#!/bin/sh\\ntouch ran\\n' >monitor "
       "&& "
       "chmod +x monitor && echo 3 >k.cu");
    assert_string_equal(cli_source_revision(folder, out) + 40, "?");
    sh("test ! -e ran");
    end();
}

int main(void)
{
    static cases list;

    /* No hooks, templates, signatures or monitors of whoever runs this. */
    setenv("HOME", "/nonexistent", 1);
    unsetenv("XDG_CONFIG_HOME");
    CASES_ADD_ROWS(&list, reads, layouts);
    cases_add(&list, "answers nothing", answers_nothing, NULL);
    cases_add(&list, "marks changes", marks_changes, NULL);
    return cases_run(&list, "source_revision");
}
