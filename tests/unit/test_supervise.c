/* SPDX-License-Identifier: Apache-2.0
 *
 * The parent against children that do what children do: each job is a few lines that end in their own
 * way. */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/session_internal.h"

/* What the sink saw. */
typedef struct seen {
    char records[2048], output[2048];
    int progress, stop_after, kill_after, asked;
} seen;

static void on_record(void *context, const char *line, size_t length)
{
    seen *const s = context;

    strncat(s->records, line, length < 200 ? length : 200);
    strncat(s->records, "|", 2);
}

static void on_output(void *context, const char *line, size_t length)
{
    seen *const s = context;

    if (strlen(s->output) + length + 2 < sizeof(s->output)) {
        strncat(s->output, line, length);
        strncat(s->output, "|", 2);
    }
}

static void on_progress(void *context, const ridge_session_progress *progress)
{
    seen *const s = context;

    s->progress += progress->done;
}

static bool on_stop(void *context)
{
    seen *const s = context;

    return s->stop_after > 0 && ++s->asked >= s->stop_after;
}

static bool on_kill(void *context)
{
    seen *const s = context;

    /* Not before the child began, however long that takes. */
    return s->kill_after > 0 && s->asked >= s->kill_after && s->records[0] != '\0';
}

static void send_record(session_child *child, const char *text)
{
    session_send(child, SESSION_FRAME_RECORD, text, strlen(text));
}

static void say_where(session_child *child)
{
    atomic_store(&child->box->arm, 1);
    atomic_store(&child->box->call, SESSION_CALL_LAUNCH);
    snprintf(child->box->case_text, sizeof(child->box->case_text), "m=3,n=769");
}

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static ridge_status job_good(void *context, session_child *child, ridge_error *err)
{
    const ridge_session_progress progress = {.done = 3, .total = 5};

    (void)context, (void)err;
    send_record(child, "one");
    session_send(child, SESSION_FRAME_PROGRESS, &progress, sizeof(progress));
    printf("printed\nand more");
    send_record(child, "two");
    return RIDGE_OK;
}

static ridge_status job_fails(void *context, session_child *child, ridge_error *err)
{
    (void)context;
    send_record(child, "one");
    return ridge_fail(err, RIDGE_ERR_FORMAT, "kernel.json: no grid");
}

static ridge_status job_crashes(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    send_record(child, "one");
    printf("last words\n");
    say_where(child);
    raise(SIGSEGV);
    return RIDGE_OK;
}

static ridge_status job_aborts(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    say_where(child);
    abort();
}

static ridge_status job_exits(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    send_record(child, "one");
    say_where(child);
    _exit(0);
}

static ridge_status job_hangs(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    say_where(child);
    send_record(child, "one");
    for (;;)
        pause();
    return RIDGE_OK;
}

/* Slow, but its beats are signs of life. */
static ridge_status job_slow(void *context, session_child *child, ridge_error *err)
{
    int i;

    (void)context, (void)err;
    for (i = 0; i < 60; i++) { /* longer than its timeout_s; a machine under load stalls for less */
        sleep_ms(100);
        session_beat(child);
    }
    return RIDGE_OK;
}

static ridge_status job_scribbles(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    send_record(child, "one");
    if (write(child->descriptor, "0123456789012345678901234567890123456789", 40) != 40)
        _exit(9);
    sleep_ms(5000);
    return RIDGE_OK;
}

static ridge_status job_stops(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    while (!atomic_load(&child->box->stop)) {
        sleep_ms(10);
        session_beat(child);
    }
    send_record(child, "summed up");
    return RIDGE_OK;
}

/* A process of its own that keeps both pipes open. */
static ridge_status job_forks(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    if (fork() == 0) {
        setpgid(0, 0);
        sleep_ms(3000);
        _exit(0);
    }
    send_record(child, "one");
    return RIDGE_OK;
}

/* Comes back twice. */
static ridge_status job_forks_and_returns(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)err;
    fork();
    send_record(child, "one");
    sleep_ms(200);
    send_record(child, "two");
    return RIDGE_OK;
}

static ridge_status job_closes(void *context, session_child *child, ridge_error *err)
{
    int descriptor;

    (void)context, (void)err;
    send_record(child, "one");
    say_where(child);
    for (descriptor = 3; descriptor < 64; descriptor++)
        close(descriptor);
    send_record(child, "two");
    return RIDGE_OK;
}

/* A foreign function that fails and leaves the message as it was. */
static ridge_status job_fails_silently(void *context, session_child *child, ridge_error *err)
{
    (void)context, (void)child, (void)err;
    return RIDGE_ERR_FORMAT;
}

static ridge_status job_litters(void *context, session_child *child, ridge_error *err)
{
    char path[400];
    FILE *file;

    (void)context, (void)err;
    snprintf(path, sizeof(path), "%s/sub", getenv("TMPDIR"));
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/sub/file", getenv("TMPDIR"));
    file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
    send_record(child, getenv("TMPDIR"));
    raise(SIGKILL);
    return RIDGE_OK;
}

static ridge_status job_floods(void *context, session_child *child, ridge_error *err)
{
    int i;

    (void)context, (void)err;
    for (i = 0; i < 20000; i++) {
        printf("a line of a kernel that says too much\n");
        if (i % 100 == 0)
            session_beat(child);
    }
    send_record(child, "one");
    return RIDGE_OK;
}

static struct child_case {
    const char *name;
    session_job job;
    double timeout_s;
    ridge_status status;
    const char *message; /* part of it */
    const char *records, *output;
    int stop_after, kill_after;
} child_cases[] = {
    {"all is well", job_good, 60, RIDGE_OK, "", "one|two|", "printed|and more|"},
    {"its own error", job_fails, 60, RIDGE_ERR_FORMAT, "kernel.json: no grid", "one|", ""},
    {"crash", job_crashes, 60, RIDGE_ERR_CUDA,
     "crashed with SIGSEGV (invalid memory access) in launch() of ./b.so:two, case m=3,n=769",
     "one|", "last words|"},
    {"abort", job_aborts, 60, RIDGE_ERR_CUDA, "crashed with SIGABRT", "", NULL},
    {"exit", job_exits, 60, RIDGE_ERR_CUDA, "ended the process with exit(0) in launch() of ./b.so",
     "one|", ""},
    {"hang", job_hangs, 5, RIDGE_ERR_CUDA, "in launch() of ./b.so:two, case m=3", "one|", ""},
    {"slow is no hang", job_slow, 5, RIDGE_OK, "", "", ""},
    {"writes into the channel", job_scribbles, 60, RIDGE_ERR_CUDA, "channel of results", "one|",
     ""},
    {"stop", job_stops, 60, RIDGE_OK, "", "summed up|", "", 2},
    {"second interrupt", job_hangs, 60, RIDGE_ERR_CUDA, "killed by the second interrupt", "one|",
     "", 2, 4},
    {"a process left behind", job_forks, 60, RIDGE_OK, "", "one|", ""},
    {"a process that comes back twice", job_forks_and_returns, 60, RIDGE_OK, "", "one|two|", ""},
    {"closes the channel", job_closes, 60, RIDGE_ERR_CUDA,
     "the channel of results was closed in launch() of ./b.so:two, case m=3", "one|", ""},
    {"fails without a word", job_fails_silently, 60, RIDGE_ERR_FORMAT, "", "", ""},
    {"prints without end", job_floods, 60, RIDGE_OK, "", "one|", NULL},
};

static ridge_status supervise(session_job job, double timeout_s, seen *s, ridge_error *err)
{
    const session_plan plan = {job, NULL, timeout_s, {"./a.so:one", "./b.so:two"}};
    const ridge_session_sink sink = {.record = on_record,
                                     .progress = on_progress,
                                     .output = on_output,
                                     .should_stop = on_stop,
                                     .should_kill = on_kill,
                                     .context = s};

    err->text[0] = '\0';
    return session_supervise(&plan, &sink, err);
}

static void follows(void **state)
{
    const struct child_case *const test = *state;
    seen s = {.stop_after = test->stop_after, .kill_after = test->kill_after};
    ridge_error err;

    assert_int_equal(supervise(test->job, test->timeout_s, &s, &err), test->status);
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
    assert_string_equal(s.records, test->records);
    if (test->output != NULL)
        assert_string_equal(s.output, test->output);
}

static void leaves_nothing_behind(void **state)
{
    seen s = {{0}};
    ridge_error err;
    struct stat left;
    char *const end = (supervise(job_litters, 5, &s, &err), strchr(s.records, '|'));

    (void)state;
    assert_non_null(strstr(err.text, "SIGKILL"));
    assert_non_null(end);
    *end = '\0';
    assert_int_not_equal(stat(s.records, &left), 0);
}

/* Folders of base that begin with "ridge.", and have a file of this name unless it is NULL. */
static int count_folders_with(const char *base, const char *name)
{
    DIR *const folders = opendir(base);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(folders);
    while ((entry = readdir(folders)) != NULL) {
        char path[600];

        snprintf(path, sizeof(path), "%s/%s/%s", base, entry->d_name, name != NULL ? name : "");
        count +=
            strncmp(entry->d_name, "ridge.", 6) == 0 && (name == NULL || access(path, F_OK) == 0);
    }
    closedir(folders);
    return count;
}

static int count_folders(const char *base)
{
    return count_folders_with(base, NULL);
}

static void make_file(const char *base, const char *folder, const char *name, const char *text)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", base, folder);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%s/%s", base, folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static ridge_status job_waits(void *context, session_child *child, ridge_error *err)
{
    char path[400];

    (void)context, (void)child, (void)err;
    snprintf(path, sizeof(path), "%s/here", getenv("TMPDIR"));
    close(open(path, O_WRONLY | O_CREAT, 0600));
    for (;;)
        pause();
    return RIDGE_OK;
}

/* A parent that is killed leaves its folder; the next session removes it, and nothing that is another's
 * or still in use. */
static void removes_what_was_left(void **state)
{
    char base[] = "/tmp/ridge-test.XXXXXX", live[300], command[300];
    const char *const before = getenv("TMPDIR");
    char *const kept = before != NULL ? strdup(before) : NULL;
    int lock, i;
    pid_t parent;

    (void)state;
    assert_non_null(mkdtemp(base));
    setenv("TMPDIR", base, 1);
    parent = fork();
    if (parent == 0) {
        seen s = {{0}};
        ridge_error err;

        supervise(job_waits, 600, &s, &err);
        _exit(0);
    }
    for (i = 0; i < 6000 && count_folders_with(base, "here") == 0; i++)
        sleep_ms(10);
    assert_int_equal(count_folders_with(base, "here"), 1); /* its child is there */
    session_remove_stale(base);
    assert_int_equal(count_folders(base), 1); /* in use */
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_int_equal(count_folders(base), 1);

    make_file(base, "ridge.nolock", "data", "x");
    make_file(base, "ridge.others", "lock", "of another program\n");
    make_file(base, "ridge.longer_name", "lock", "ridge session\n");
    make_file(base, "ridge.inuse1", "data", "x");
    snprintf(live, sizeof(live), "%s/ridge.inuse1", base);
    lock = session_lock_folder(live);
    assert_true(lock >= 0);
    make_file(base, "elsewhere", "lock", "ridge session\n");
    snprintf(command, sizeof(command), "ln -s elsewhere %s/ridge.linked", base);
    assert_int_equal(system(command), 0);
    assert_int_equal(count_folders(base), 6);
    for (i = 0; i < 6000 && count_folders(base) > 5; i++) { /* the child of the dead one ends too */
        session_remove_stale(base);
        sleep_ms(10);
    }
    assert_int_equal(count_folders(base), 5);
    close(lock);
    session_remove_stale(base);
    assert_int_equal(count_folders(base), 4);
    session_remove_stale("/no/such/folder");
    session_remove_folder(base);
    if (kept != NULL)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

/* -- frames ------------------------------------------------------------------------------------ */

static void reads_frames_in_pieces(void **state)
{
    session_reader reader = {.nonce = 7};
    const session_frame frame = {7, SESSION_FRAME_RECORD, 3};
    char bytes[sizeof(frame) + 3];
    session_frame got;
    const void *payload;
    bool is_whole;
    size_t i;

    memcpy(bytes, &frame, sizeof(frame));
    memcpy(bytes + sizeof(frame), "abc", 3);
    for (i = 0; i < sizeof(bytes); i++) {
        *session_reader_room(&reader, 1) = bytes[i];
        reader.size_bytes++;
        assert_int_equal(session_reader_next(&reader, &is_whole, &got, &payload, NULL), RIDGE_OK);
        assert_int_equal(is_whole, i + 1 == sizeof(bytes));
    }
    assert_memory_equal(payload, "abc", 3);
    session_reader_release(&reader);
    (void)state;
}

static struct bad_frame {
    const char *name;
    session_frame frame;
} bad_frames[] = {
    {"another nonce", {8, SESSION_FRAME_RECORD, 3}},
    {"unknown kind", {7, SESSION_FRAME_COUNT, 3}},
    {"too long", {7, SESSION_FRAME_RECORD, UINT32_MAX}},
    {"structure of another size", {7, SESSION_FRAME_CHECK, 3}},
    {"build cut short", {7, SESSION_FRAME_BUILD, 3}},
};

static void refuses_frames(void **state)
{
    const struct bad_frame *const bad = *state;
    session_reader reader = {.nonce = 7};
    session_frame got;
    const void *payload;
    bool is_whole;

    memcpy(session_reader_room(&reader, sizeof(bad->frame)), &bad->frame, sizeof(bad->frame));
    reader.size_bytes = sizeof(bad->frame);
    assert_int_equal(session_reader_next(&reader, &is_whole, &got, &payload, NULL),
                     RIDGE_ERR_FORMAT);
    assert_false(is_whole);
    session_reader_release(&reader);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, follows, child_cases);
    CASES_ADD_ROWS(&list, refuses_frames, bad_frames);
    cases_add(&list, "temporary files go", leaves_nothing_behind, NULL);
    cases_add(&list, "what a killed parent left goes", removes_what_was_left, NULL);
    cases_add(&list, "frames in pieces", reads_frames_in_pieces, NULL);
    return cases_run(&list, "supervise");
}
