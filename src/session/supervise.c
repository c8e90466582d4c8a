/* SPDX-License-Identifier: Apache-2.0
 *
 * The parent: starts a child in a process group of its own, reads what it sends, looks ten times a
 * second whether it lives and whether it shall stop, and says what became of it. The CUDA driver is
 * never used here: a context does not survive fork(). */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/memory.h"
#include "base/text.h"
#include "session/session_internal.h"

enum {
    DESCRIPTORS = 1024, /* that a child inherits at most; they are closed */
    LINE_BYTES = 512,   /* of what a kernel prints, at a time */
    READ_BYTES = 64 * 1024,
    TICK_MS = 100,
};

/* How much longer than an arm what is ridge's own may be silent: a reference is plain loops on one
 * core, and roofs are measured with kernels that are no arms. */
static const double own_patience = 10;
static const double own_patience_least_s = 300;
/* Seconds for a child that has said that it is done to end. */
static const double end_patience_s = 5;

typedef struct supervisor {
    const session_plan *plan;
    const ridge_session_sink *sink;
    session_box *box;
    char folder[256];
    int lock; /* of the folder; -1: none */
    pid_t child;
    int results, output; /* ends to read from; -1: closed */
    session_reader reader;
    char line[LINE_BYTES];
    size_t line_bytes;
    unsigned long beats;
    double heard_s;  /* when the child last showed that it lives */
    double silent_s; /* why it was killed; 0: it was not */
    bool is_killed, is_spoilt, is_done, is_ended;
    int exit_status; /* of waitpid() */
    ridge_error job_error;
} supervisor;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* -- folder and box ---------------------------------------------------------------------------- */

/* The box is a page of a file of the session's folder, so that a child that becomes another program
 * finds it again. */
static ridge_status make_box(supervisor *s, ridge_error *err)
{
    const char *const base = getenv("TMPDIR");
    char path[sizeof(s->folder) + 16];
    void *page = MAP_FAILED;
    int descriptor, full;

    session_remove_stale(base != NULL && base[0] != '\0' && strlen(base) < 200 ? base : "/tmp");
    snprintf(s->folder, sizeof(s->folder), "%s/ridge.XXXXXX",
             base != NULL && base[0] != '\0' && strlen(base) < 200 ? base : "/tmp");
    if (mkdtemp(s->folder) == NULL) {
        const int number = errno;
        const ridge_status status = ridge_fail(err, RIDGE_ERR_IO, "no temporary folder %s: %s",
                                               s->folder, strerror(number));

        s->folder[0] = '\0';
        return status;
    }
    s->lock = session_lock_folder(s->folder);
    snprintf(path, sizeof(path), "%s/box", s->folder);
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    full = descriptor >= 0 ? posix_fallocate(descriptor, 0, sizeof(session_box)) : errno;
    if (full == 0)
        page = mmap(NULL, sizeof(session_box), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (page == MAP_FAILED)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: %s", s->folder, strerror(full));
    s->box = page;
    atomic_store(&s->box->arm, -1);
    atomic_store(&s->box->phase, -1);
    atomic_store(&s->box->case_number, -1);
    return RIDGE_OK;
}

static uint64_t draw_nonce(void)
{
    const int descriptor = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    uint64_t nonce = (uint64_t)(now_s() * 1e9) ^ (uint64_t)getpid() << 40;
    uint64_t random;

    if (descriptor >= 0) {
        if (read(descriptor, &random, sizeof(random)) == (ssize_t)sizeof(random))
            nonce ^= random;
        close(descriptor);
    }
    return nonce;
}

/* -- the child --------------------------------------------------------------------------------- */

/* What a kernel does to itself shall end the child as it would end any program; Ctrl-C is for the
 * parent to understand. */
static void reset_signals(pid_t parent)
{
    static const int deadly[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
                                 SIGTERM, SIGPIPE, SIGALRM, SIGHUP, SIGCHLD};
    size_t i;

    for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        signal(deadly[i], SIG_DFL);
    signal(SIGINT, SIG_IGN);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(0); /* it died before that */
}

/* Leaves results, and output as standard output and error; input is empty. */
static void arrange_descriptors(int results, int output)
{
    static char buffer[BUFSIZ]; /* one that was used before would keep its mode */
    const int nothing = open("/dev/null", O_RDONLY);
    int descriptor;

    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    for (descriptor = STDERR_FILENO + 1; descriptor < DESCRIPTORS; descriptor++)
        if (descriptor != results)
            close(descriptor);
    /* Lines of a kernel that crashes later are worth having. */
    setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
}

_Noreturn static void run_child(const supervisor *s, pid_t parent, int results, int output)
{
    session_child child = {NULL, results, s->reader.nonce, s->box, getpid()};
    ridge_error err = {RIDGE_OK, ""};
    ridge_status status;

    setpgid(0, 0);
    reset_signals(parent);
    arrange_descriptors(results, output);
    setenv("TMPDIR", s->folder, 1);
    status = s->plan->job(s->plan->context, &child, &err);
    err.status = status; /* what is sent is what is exited with, whoever wrote the message */
    if (status != RIDGE_OK)
        session_send(&child, SESSION_FRAME_ERROR, &err, sizeof(err));
    fflush(NULL);
    session_send(&child, SESSION_FRAME_DONE, "", 0);
    /* No handlers of exit(): the driver's and a plug-in's have nothing left to do. */
    _exit(0);
}

static ridge_status start(supervisor *s, ridge_error *err)
{
    const pid_t parent = getpid();
    int results[2] = {-1, -1}, output[2] = {-1, -1};
    int number = 0;

    if (pipe(results) != 0 || pipe(output) != 0)
        number = errno;
    fflush(NULL); /* or the child would print it again */
    if (number == 0) {
        s->child = fork();
        number = s->child < 0 ? errno : 0;
    }
    if (number == 0 && s->child == 0) {
        close(results[0]);
        close(output[0]);
        run_child(s, parent, results[1], output[1]);
    }
    if (results[1] >= 0)
        close(results[1]);
    if (output[1] >= 0)
        close(output[1]);
    s->results = results[0];
    s->output = output[0];
    if (number != 0)
        return ridge_fail(err, number == ENOMEM ? RIDGE_ERR_OUT_OF_MEMORY : RIDGE_ERR_IO,
                          "no child process: %s", strerror(number));
    setpgid(s->child, s->child); /* both sides, whoever is first */
    fcntl(s->results, F_SETFL, O_NONBLOCK);
    fcntl(s->output, F_SETFL, O_NONBLOCK);
    fcntl(s->results, F_SETFD, FD_CLOEXEC);
    fcntl(s->output, F_SETFD, FD_CLOEXEC);
    s->heard_s = now_s();
    return RIDGE_OK;
}

/* -- reading ----------------------------------------------------------------------------------- */

static void kill_child(supervisor *s)
{
    if (!s->is_ended)
        kill(-s->child, SIGKILL);
    s->is_killed = true;
}

static void put_line(supervisor *s)
{
    if (s->line_bytes > 0 && s->sink->output != NULL)
        s->sink->output(s->sink->context, s->line, s->line_bytes);
    s->line_bytes = 0;
}

/* Closes *descriptor at its end. */
static ssize_t read_some(int *descriptor, char *to, size_t size_bytes)
{
    const ssize_t got = *descriptor >= 0 ? read(*descriptor, to, size_bytes) : 0;

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return got;
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
    return 0;
}

static bool read_output(supervisor *s)
{
    char bytes[4096];
    const ssize_t got = read_some(&s->output, bytes, sizeof(bytes));
    ssize_t i;

    for (i = 0; i < got; i++) {
        if (bytes[i] != '\n')
            s->line[s->line_bytes++] = bytes[i];
        if (bytes[i] == '\n' || s->line_bytes == sizeof(s->line))
            put_line(s);
    }
    return got > 0;
}

static ridge_status read_results(supervisor *s, bool *has_more, ridge_error *err)
{
    char *const room = session_reader_room(&s->reader, READ_BYTES);
    const void *payload;
    session_frame frame;
    bool is_whole;
    ssize_t got;

    *has_more = false;
    if (room == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for what the child sends");
    got = read_some(&s->results, room, READ_BYTES);
    if (got <= 0)
        return RIDGE_OK;
    *has_more = true;
    s->heard_s = now_s();
    s->reader.size_bytes += (size_t)got;
    for (;;) {
        if (session_reader_next(&s->reader, &is_whole, &frame, &payload, NULL) != RIDGE_OK) {
            s->is_spoilt = true;
            kill_child(s);
            return RIDGE_OK;
        }
        if (!is_whole)
            return RIDGE_OK;
        if (frame.kind == SESSION_FRAME_ERROR) {
            memcpy(&s->job_error, payload, sizeof(s->job_error));
            s->job_error.text[sizeof(s->job_error.text) - 1] = '\0';
        }
        s->is_done = s->is_done || frame.kind == SESSION_FRAME_DONE;
        session_deliver(&frame, payload, s->sink);
    }
}

/* -- watching ---------------------------------------------------------------------------------- */

/* Whether it is an arm that is silent. */
static bool is_own_work(const session_box *box)
{
    const int call = atomic_load(&box->call);

    return call == SESSION_CALL_REFERENCE || call == SESSION_CALL_PLAIN ||
           (call == SESSION_CALL_NONE && atomic_load(&box->phase) == RIDGE_PHASE_FLOORS);
}

static void watch(supervisor *s)
{
    const ridge_session_sink *const sink = s->sink;
    const unsigned long beats = atomic_load(&s->box->beats);
    const double patience_s = is_own_work(s->box)
                                  ? fmax(own_patience * s->plan->timeout_s, own_patience_least_s)
                                  : s->plan->timeout_s;
    const double now = now_s();

    siginfo_t about = {0};

    /* It is taken off last: until then its number, and that of its group, are nobody else's. */
    if (!s->is_ended && waitid(P_PID, (id_t)s->child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        about.si_pid == s->child) {
        kill(-s->child, SIGKILL); /* what it has started itself */
        s->is_ended = waitpid(s->child, &s->exit_status, 0) == s->child;
    }
    if (s->is_ended)
        return;
    if (beats != s->beats)
        s->heard_s = now;
    s->beats = beats;
    if (sink->should_stop != NULL && sink->should_stop(sink->context))
        atomic_store(&s->box->stop, true);
    if (sink->should_kill != NULL && sink->should_kill(sink->context))
        kill_child(s);
    if (now - s->heard_s > (s->is_done ? end_patience_s : patience_s) && !s->is_killed) {
        s->silent_s = now - s->heard_s;
        kill_child(s);
    }
}

static ridge_status follow(supervisor *s, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    double watched_s = 0;
    bool has_more = true;

    while (status == RIDGE_OK) {
        struct pollfd waits[2] = {{s->results, POLLIN, 0}, {s->output, POLLIN, 0}};
        const bool had_ended = s->is_ended;

        /* Without pipes poll() only waits, and a dead child is noticed at the next tick. */
        if (!had_ended)
            poll(waits, 2, s->results < 0 ? 5 : TICK_MS);
        has_more = read_output(s);
        if (!s->is_spoilt && s->results >= 0) {
            bool more;

            status = read_results(s, &more, err);
            has_more = has_more || more;
        }
        if (now_s() - watched_s >= TICK_MS * 1e-3 || s->results < 0) {
            watch(s);
            watched_s = now_s();
        }
        /* Whoever may still hold the pipes is no part of the session. */
        if (had_ended && !has_more)
            break;
    }
    if (status != RIDGE_OK)
        kill_child(s);
    if (!s->is_ended)
        waitpid(s->child, &s->exit_status, 0);
    s->is_ended = true;
    put_line(s);
    return status;
}

/* -- what became of it ------------------------------------------------------------------------- */

static const char *signal_text(int number, char *buffer, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV (invalid memory access)"},
        {SIGBUS, "SIGBUS (invalid memory access)"},
        {SIGABRT, "SIGABRT (abort(), a failed assertion)"},
        {SIGFPE, "SIGFPE (integer division by zero)"},
        {SIGILL, "SIGILL (illegal instruction)"},
        {SIGKILL, "SIGKILL (somebody killed it; out of memory?)"},
        {SIGTERM, "SIGTERM"},
        {SIGTRAP, "SIGTRAP"},
        {SIGPIPE, "SIGPIPE"},
        {SIGSYS, "SIGSYS"},
        {SIGALRM, "SIGALRM (a timer that it set)"},
        {SIGHUP, "SIGHUP"},
        {SIGXCPU, "SIGXCPU (ulimit -t)"},
        {SIGXFSZ, "SIGXFSZ (ulimit -f)"},
        {SIGUSR1, "SIGUSR1"},
        {SIGUSR2, "SIGUSR2"},
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(buffer, size, "signal %d", number);
    return buffer;
}

static const char *call_text(int call)
{
    static const char *const texts[SESSION_CALL_COUNT] = {
#define CALL_TEXT(name, text) text,
        SESSION_CALL_LIST(CALL_TEXT)
#undef CALL_TEXT
    };

    return call > 0 && call < SESSION_CALL_COUNT ? texts[call] : "";
}

/* "in launch() of ./libmine.so:copy, while measuring, case m=3": from the black box. */
static void describe_place(const supervisor *s, char *out, size_t size)
{
    const session_box *const box = s->box;
    const int arm = atomic_load(&box->arm);
    const int phase = atomic_load(&box->phase);
    const char *const call = call_text(atomic_load(&box->call));
    const bool is_function = strchr(call, '(') != NULL;
    char case_text[RIDGE_CASE_TEXT], name[124] = "";
    size_t used = 0;

    if (arm >= 0 && arm < 2 && s->plan->arm_names[arm] != NULL)
        ridge_text_end(name, sizeof(name), s->plan->arm_names[arm]);
    memcpy(case_text, box->case_text, sizeof(case_text));
    case_text[sizeof(case_text) - 1] = '\0';
    if (call[0] != '\0')
        used = (size_t)snprintf(out, size, "%s%s%s%s", is_function ? " in " : " while ", call,
                                name[0] == '\0' ? ""
                                : is_function   ? " of "
                                                : " ",
                                name);
    else if (name[0] != '\0')
        used = (size_t)snprintf(out, size, " after a call of %s", name);
    if (used < size && phase >= 0)
        used += (size_t)snprintf(out + used, size - used, ", while %s",
                                 ridge_phase_name((ridge_phase)phase));
    if (used < size && case_text[0] != '\0')
        snprintf(out + used, size - used, ", case %.160s", case_text);
}

static ridge_status verdict(const supervisor *s, ridge_error *err)
{
    char place[400] = "", buffer[32];

    if (s->job_error.status != RIDGE_OK)
        return ridge_fail(err, s->job_error.status, "%s", s->job_error.text);
    if (s->is_done)
        return RIDGE_OK;
    describe_place(s, place, sizeof(place));
    if (s->is_spoilt)
        return ridge_fail(err, RIDGE_ERR_CUDA,
                          "something wrote into the channel of results%s: it closes or writes "
                          "descriptors that are not its own",
                          place);
    if (s->silent_s > 0)
        return ridge_fail(err, RIDGE_ERR_CUDA, "hung: no sign of life for %.0f s%s; killed",
                          s->silent_s, place);
    if (atomic_load(&s->box->is_cut))
        return ridge_fail(err, RIDGE_ERR_CUDA,
                          "the channel of results was closed%s: it closes descriptors that are not "
                          "its own",
                          place);
    if (s->is_killed)
        return ridge_fail(err, RIDGE_ERR_CUDA, "killed by the second interrupt%s", place);
    if (WIFSIGNALED(s->exit_status))
        return ridge_fail(err, RIDGE_ERR_CUDA, "crashed with %s%s",
                          signal_text(WTERMSIG(s->exit_status), buffer, sizeof(buffer)), place);
    return ridge_fail(err, RIDGE_ERR_CUDA, "ended the process with exit(%d)%s",
                      WIFEXITED(s->exit_status) ? WEXITSTATUS(s->exit_status) : -1, place);
}

/* Whether a fresh child can go on behind the case at hand. */
static void note_loss(const supervisor *s)
{
    session_loss *const loss = s->plan->loss;
    const session_box *const box = s->box;

    if (loss == NULL)
        return;
    loss->case_number = atomic_load(&box->case_number);
    loss->is_told = atomic_load(&box->is_told);
    loss->at = box->at;
    loss->is_lost = !s->is_spoilt && !atomic_load(&box->stop) &&
                    (s->job_error.status != RIDGE_OK ? s->job_error.status == RIDGE_ERR_CUDA
                                                     : s->silent_s > 0 || !s->is_killed);
}

ridge_status session_supervise(const session_plan *plan, const ridge_session_sink *sink,
                               ridge_error *err)
{
    static const ridge_session_sink none;
    supervisor s = {
        .plan = plan, .sink = sink != NULL ? sink : &none, .results = -1, .output = -1, .lock = -1};
    ridge_status status;

    s.reader.nonce = draw_nonce();
    status = make_box(&s, err);
    if (status == RIDGE_OK)
        status = start(&s, err);
    if (status == RIDGE_OK)
        status = follow(&s, err);
    if (status == RIDGE_OK) {
        status = verdict(&s, err);
        if (status != RIDGE_OK)
            note_loss(&s);
    }
    if (s.results >= 0)
        close(s.results);
    if (s.output >= 0)
        close(s.output);
    session_reader_release(&s.reader);
    if (s.box != NULL)
        munmap(s.box, sizeof(*s.box));
    if (s.folder[0] != '\0')
        session_remove_folder(s.folder);
    if (s.lock >= 0)
        close(s.lock);
    return status;
}
