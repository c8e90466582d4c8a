/* SPDX-License-Identifier: Apache-2.0
 *
 * libridge_collect.so: what `ridge record` puts into the recorded process. The CUDA driver loads it
 * in cuInit(), named by CUDA_INJECTION64_PATH, and NVTX at its first call, named by
 * NVTX_INJECTION64_PATH; whichever comes first starts recording. It turns CUPTI's buffers into a
 * spool file while the program runs, on CUPTI's thread, and flushes at exit. It uses no callback of
 * CUPTI, of which a process can have one client only, and depends on libc alone.
 *
 * Nothing here may disturb the program: no output, no exit, and what fails is a line in the spool
 * file. RIDGE_COLLECT_LOG names a file for the details. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/activity.h"
#include "collect/inject.h"
#include "collect/spool_write.h"

enum {
    BUFFER_BYTES = 2 << 20,
    POOL_MOST = 16,         /* buffers kept for later */
    FLUSH_PERIOD_MS = 1000, /* a process that is killed loses about as much */
    ATTRIBUTE_ZEROED = 5,   /* CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER */
    FLUSH_FORCED = 1
};

enum api_choice { API_NONE, API_WORK, API_ALL };

static struct {
    atomic_int stage; /* 0, 1 while starting, 2 */
    bool is_on;       /* CUPTI is there */
    cupti_calls cupti;
    enum api_choice api;
    long delay_ms, duration_ms;
    pid_t owner;
    atomic_ullong handle_ns;
} collect;

/* -- log --------------------------------------------------------------------------------------- */

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    const char *const path = getenv(COLLECT_LOG);
    char line[1200];
    int length, descriptor;
    va_list arguments;

    if (path == NULL || path[0] == '\0')
        return;
    length = snprintf(line, sizeof(line), "%ld: ", (long)getpid());
    va_start(arguments, format);
    vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
        if (write(descriptor, line, strlen(line)) < 0)
            (void)0; /* a log that cannot be written is none */
        close(descriptor);
    }
}

static const char *result_text(unsigned result, char buffer[32])
{
    const char *text = NULL;

    if (collect.cupti.cuptiGetResultString != NULL &&
        collect.cupti.cuptiGetResultString(result, &text) == CUPTI_OK && text != NULL)
        return text;
    snprintf(buffer, 32, "error %u", result);
    return buffer;
}

/* -- buffers ----------------------------------------------------------------------------------- */

/* CUPTI is told that they are zero, which saves the program's threads from clearing them. */
static struct {
    pthread_mutex_t lock;
    uint8_t *free[POOL_MOST];
    size_t count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void give_buffer(uint8_t **buffer, size_t *size, size_t *record_count)
{
    uint8_t *found = NULL;

    pthread_mutex_lock(&pool.lock);
    if (pool.count > 0)
        found = pool.free[--pool.count];
    pthread_mutex_unlock(&pool.lock);
    if (found == NULL)
        found = calloc(1, BUFFER_BYTES); /* aligned for any type, so to 8 bytes and more */
    *buffer = found;
    *size = found != NULL ? BUFFER_BYTES : 0;
    *record_count = 0; /* as many as fit */
}

static void take_back(uint8_t *buffer, size_t used)
{
    memset(buffer, 0, used);
    pthread_mutex_lock(&pool.lock);
    if (pool.count < POOL_MOST) {
        pool.free[pool.count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    free(buffer);
}

/* -- buffers that are full --------------------------------------------------------------------- */

static unsigned long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t valid_size)
{
    const unsigned long long began_ns = now_ns();
    void *record = NULL;
    size_t count = 0, dropped = 0;

    (void)size;
    if (buffer == NULL)
        return;
    if (spool_is_mine()) {
        spool_lock();
        while (valid_size > 0 &&
               collect.cupti.cuptiActivityGetNextRecord(buffer, valid_size, &record) == CUPTI_OK) {
            activity_add(record);
            count++;
        }
        if (collect.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
                CUPTI_OK &&
            dropped > 0) {
            const spool_dropped row = {dropped};

            spool_add(SPOOL_DROPPED, &row, sizeof(row));
        }
        spool_unlock();
    }
    take_back(buffer, valid_size < BUFFER_BYTES ? valid_size : BUFFER_BYTES);
    atomic_fetch_add(&collect.handle_ns, now_ns() - began_ns);
    note("buffer: %zu bytes, %zu records, %zu dropped", valid_size, count, dropped);
}

/* -- on and off -------------------------------------------------------------------------------- */

static void fault(const char *line)
{
    note("%s", line);
    spool_lock();
    spool_add_fault(line);
    spool_unlock();
}

static void enable(bool is_early)
{
    size_t i;

    for (i = 0; i < ACTIVITY_KIND_COUNT; i++) {
        char line[256], buffer[32];
        unsigned result;

        if (activity_kinds[i].is_early != is_early || activity_kinds[i].kind == CUPTI_KERNEL ||
            (activity_kinds[i].is_api && collect.api == API_NONE))
            continue;
        result = collect.cupti.cuptiActivityEnable(activity_kinds[i].kind);
        note("enable kind %u: %u", activity_kinds[i].kind, result);
        if (result == CUPTI_OK)
            continue;
        snprintf(line, sizeof(line), "CUPTI refuses records of kind %u: %s", activity_kinds[i].kind,
                 result_text(result, buffer));
        fault(line);
    }
    if (!is_early && collect.api == API_WORK) {
        const size_t muted = activity_mute_cheap_calls();

        note("%zu cheap calls are not recorded", muted);
    }
}

static void disable(void)
{
    size_t i;

    for (i = 0; i < ACTIVITY_KIND_COUNT; i++)
        if (activity_kinds[i].kind != CUPTI_KERNEL)
            collect.cupti.cuptiActivityDisable(activity_kinds[i].kind);
}

static void flush(uint32_t flags)
{
    const unsigned result = collect.cupti.cuptiActivityFlushAll(flags);

    note("flush: %u", result);
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

/* Since this process was started, by field 22 of proc(5)'s stat; 0: not known. */
static uint64_t process_age_ns(void)
{
    enum { START_TIME = 22 - 3 }; /* fields behind the one behind the name */
    char text[1024];
    const int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t length = descriptor >= 0 ? read(descriptor, text, sizeof(text) - 1) : -1;
    const long ticks_per_s = sysconf(_SC_CLK_TCK);
    struct timespec now;
    const char *at;
    uint64_t started_ns, now_ns;
    int i;

    if (descriptor >= 0)
        close(descriptor);
    if (length <= 0 || ticks_per_s <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    text[length] = '\0';
    at = strrchr(text, ')'); /* a name may hold anything */
    if (at == NULL || at[1] == '\0')
        return 0;
    at += 2;
    for (i = 0; i < START_TIME && at != NULL; i++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return 0;
    started_ns = (uint64_t)strtoull(at, NULL, 10) * (1000000000 / (uint64_t)ticks_per_s);
    now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return now_ns > started_ns ? now_ns - started_ns : 0;
}

static void note_begin(void)
{
    const spool_begin begin = {.since_process_ns = process_age_ns()};

    spool_lock();
    spool_add(SPOOL_BEGIN, &begin, sizeof(begin));
    spool_unlock();
}

/* --delay and --duration. */
static void *keep_time(void *unused)
{
    (void)unused;
    sleep_ms(collect.delay_ms);
    if (collect.delay_ms > 0) {
        note_begin();
        enable(false);
    }
    if (collect.duration_ms > 0) {
        sleep_ms(collect.duration_ms);
        disable();
        flush(0);
    }
    return NULL;
}

static void start_clock(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    if (pthread_create(&thread, NULL, keep_time, NULL) == 0)
        pthread_detach(thread);
    else
        fault("no thread for --delay and --duration: nothing was recorded");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At exit, before CUPTI's own end: registered after it was loaded. */
static void finish(void)
{
    spool_end end = {0};

    if (collect.owner != getpid() || !spool_is_mine())
        return;
    flush(FLUSH_FORCED);
    disable();
    if (collect.cupti.cuptiGetTimestamp(&end.end_ns) != CUPTI_OK)
        end.end_ns = 0;
    end.handle_ns = atomic_load(&collect.handle_ns);
    spool_lock();
    spool_add(SPOOL_END, &end, sizeof(end));
    spool_unlock();
    note("%.3f ms were spent on buffers", (double)end.handle_ns * 1e-6);
}

/* -- start ------------------------------------------------------------------------------------- */

static long milliseconds(const char *name)
{
    const char *const text = getenv(name);
    const long value = text != NULL ? strtol(text, NULL, 10) : 0;

    return value > 0 ? value : 0;
}

static void read_wishes(void)
{
    const char *const api = getenv(COLLECT_API);

    collect.api = api == NULL                ? API_WORK
                  : strcmp(api, "none") == 0 ? API_NONE
                  : strcmp(api, "all") == 0  ? API_ALL
                                             : API_WORK;
    collect.delay_ms = milliseconds(COLLECT_DELAY);
    collect.duration_ms = milliseconds(COLLECT_DURATION);
}

static bool open_spool(const char *folder)
{
    spool_header header = {.magic = {0}, .pid = (uint32_t)getpid()};
    struct timespec now;

    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    header.cupti_version = collect.cupti.version;
    if (collect.is_on && collect.cupti.cuptiGetTimestamp(&header.start_ns) != CUPTI_OK)
        header.start_ns = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    header.epoch_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return spool_open(folder, &header);
}

static void set_up_cupti(void)
{
    char line[160], buffer[32];
    uint8_t is_zeroed = 1;
    size_t size = sizeof(is_zeroed);
    unsigned result;

    if (collect.cupti.cuptiSetThreadIdType != NULL) {
        result = collect.cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
        note("thread ids: %u", result);
    }
    if (collect.cupti.cuptiActivitySetAttribute != NULL) {
        result = collect.cupti.cuptiActivitySetAttribute(ATTRIBUTE_ZEROED, &size, &is_zeroed);
        note("zeroed buffers: %u", result);
    }
    activity_init(&collect.cupti, collect.api == API_ALL);
    result = collect.cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    note("register: %u", result);
    if (result != CUPTI_OK) {
        snprintf(line, sizeof(line), "CUPTI does not start: %s", result_text(result, buffer));
        fault(line);
        return;
    }
    if (collect.cupti.cuptiActivityFlushPeriod != NULL) {
        result = collect.cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS);
        note("flush period: %u", result);
    }
    enable(true);
    if (collect.delay_ms == 0)
        enable(false);
    if (collect.delay_ms > 0 || collect.duration_ms > 0)
        start_clock();
}

/* Once a process; whoever comes again, from CUPTI's own start too, goes on at once. */
static void start(void)
{
    const char *const folder = getenv(COLLECT_SPOOLS);
    const char *const paths = getenv(COLLECT_CUPTI);
    char why[1400] = "";
    int none = 0;

    if (folder == NULL || !atomic_compare_exchange_strong(&collect.stage, &none, 1))
        return;
    collect.owner = getpid();
    read_wishes();
    collect.is_on = cupti_load(&collect.cupti, paths != NULL ? paths : "", why, sizeof(why));
    note("CUPTI %u, %s", collect.cupti.version, collect.is_on ? collect.cupti.path : why);
    if (!open_spool(folder)) {
        note("no spool file in %s", folder);
        collect.is_on = false;
    } else if (!collect.is_on) {
        fault(why);
    } else {
        set_up_cupti();
        atexit(finish);
    }
    atomic_store(&collect.stage, 2);
}

int InitializeInjection(void)
{
    start();
    return 1;
}

/* NVTX asks for one tool; CUPTI is it, the copy that records. */
int InitializeInjectionNvtx2(void *get_export_table)
{
    int (*next)(void *get_export_table) = NULL;
    void *address;
    int i;

    start();
    for (i = 0; i < 5000 && atomic_load(&collect.stage) == 1; i++)
        sleep_ms(1); /* another thread is at it */
    if (!collect.is_on)
        return 0;
    address = dlsym(collect.cupti.library, "InitializeInjectionNvtx2");
    memcpy(&next, &address, sizeof(address));
    note("NVTX: %s", next != NULL ? "on" : "CUPTI has no InitializeInjectionNvtx2");
    return next != NULL ? next(get_export_table) : 0;
}
