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

#include "collect/cupti_load.h"
#include "collect/inject.h"
#include "collect/spool_write.h"

enum {
    BUFFER_BYTES = 2 << 20,
    POOL_MOST = 16,         /* buffers kept for later */
    FLUSH_PERIOD_MS = 1000, /* a process that is killed loses about as much */
    FUNCTIONS_MOST = 4096,
    ATTRIBUTE_ZEROED = 5, /* CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER */
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

/* -- names of functions ------------------------------------------------------------------------ */

/* Calls that do no work and come by the thousand; `--api work` leaves them out. Compared up to the
 * version. */
static const char *const cheap_calls[] = {
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDevicePrimaryCtxGetState",
    "cuDriverGetVersion",
    "cuFuncGetAttribute",
    "cuGetProcAddress",
    "cuKernelGetAttribute",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuStreamGetCtx",
    "cuStreamIsCapturing",
    "cuStreamGetCaptureInfo",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDriverGetVersion",
    "cudaFuncGetAttributes",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetLastError",
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaStreamGetCaptureInfo",
    "cudaStreamGetPriority",
    "cudaStreamIsCapturing",
};

static bool is_cheap(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(cheap_calls) / sizeof(cheap_calls[0]); i++) {
        const size_t length = strlen(cheap_calls[i]);

        if (strncmp(name, cheap_calls[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '_'))
            return true;
    }
    return false;
}

/* Under the lock of the spool file. text: 0 not asked for yet. */
static struct function_name {
    uint32_t text;
    bool is_cheap;
} function_names[2][FUNCTIONS_MOST];

static struct function_name name_of(bool is_driver, uint32_t function)
{
    struct function_name *const known =
        function < FUNCTIONS_MOST ? &function_names[is_driver][function] : NULL;
    struct function_name found = {0};
    const char *name = NULL;
    char number[32];

    if (known != NULL && known->text != 0)
        return *known;
    if (collect.cupti.cuptiGetCallbackName(is_driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME,
                                           function, &name) != CUPTI_OK ||
        name == NULL) {
        snprintf(number, sizeof(number), "%s call %u", is_driver ? "driver" : "runtime", function);
        name = number;
    }
    found = (struct function_name){spool_text_of(name), is_cheap(name)};
    if (known != NULL)
        *known = found;
    return found;
}

/* -- records ----------------------------------------------------------------------------------- */

static void add_kernel(const void *record)
{
    const cupti_kernel *const from = record;
    const spool_kernel row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .graph_node = from->graph_node,
        .grid_id = from->grid_id,
        .device = from->device,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .graph = from->graph,
        .name = spool_text_of(from->name),
        .grid = {(uint32_t)from->grid[0], (uint32_t)from->grid[1], (uint32_t)from->grid[2]},
        .block = {(uint32_t)from->block[0], (uint32_t)from->block[1], (uint32_t)from->block[2]},
        .registers = from->registers,
        .static_shared_bytes = (uint32_t)from->static_shared_bytes,
        .dynamic_shared_bytes = (uint32_t)from->dynamic_shared_bytes,
        .local_per_thread_bytes = from->local_per_thread_bytes,
        .local_total_bytes = from->local_total_bytes,
        .shared_executed_bytes = from->shared_executed_bytes,
        .launch_type = from->launch_type,
    };

    spool_add(SPOOL_KERNEL, &row, sizeof(row));
}

static void add_copy(const void *record)
{
    const cupti_memcpy *const from = record;
    const spool_copy row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .bytes = from->bytes,
        .graph_node = from->graph_node,
        .device = from->device,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .graph = from->graph,
        .source_device = UINT32_MAX,
        .destination_device = UINT32_MAX,
        .copy = from->copy,
        .source = from->source,
        .destination = from->destination,
        .flags = from->flags,
    };

    spool_add(SPOOL_COPY, &row, sizeof(row));
}

static void add_peer_copy(const void *record)
{
    const cupti_memcpy_peer *const from = record;
    const spool_copy row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .bytes = from->bytes,
        .graph_node = from->graph_node,
        .device = from->device,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .graph = from->graph,
        .source_device = from->source_device,
        .destination_device = from->destination_device,
        .copy = from->copy,
        .source = from->source,
        .destination = from->destination,
        .flags = from->flags,
    };

    spool_add(SPOOL_COPY, &row, sizeof(row));
}

static void add_set(const void *record)
{
    const cupti_memset *const from = record;
    const spool_set row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .bytes = from->bytes,
        .graph_node = from->graph_node,
        .device = from->device,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .graph = from->graph,
        .value = from->value,
        .memory = from->memory,
    };

    spool_add(SPOOL_SET, &row, sizeof(row));
}

static void add_call(const void *record)
{
    const cupti_api *const from = record;
    const bool is_driver = from->kind == CUPTI_DRIVER;
    const struct function_name name = name_of(is_driver, from->function);
    const spool_call row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .thread = from->thread,
        .correlation = from->correlation,
        .result = from->result,
        .name = name.text,
        .is_driver = is_driver,
    };

    if (collect.api == API_ALL || !name.is_cheap)
        spool_add(SPOOL_CALL, &row, sizeof(row));
}

static void add_sync(const void *record)
{
    const cupti_synchronization *const from = record;
    const spool_sync row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .event = from->event,
        .type = from->type,
    };

    spool_add(SPOOL_SYNC, &row, sizeof(row));
}

static void add_overhead(const void *record)
{
    const cupti_overhead *const from = record;
    const spool_overhead row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .thread = from->object_kind == CUPTI_OBJECT_THREAD ? from->object.id[1] : 0,
        .overhead = from->overhead,
    };

    spool_add(SPOOL_OVERHEAD, &row, sizeof(row));
}

static void add_marker(const void *record)
{
    const cupti_marker *const from = record;
    const spool_marker row = {
        .time_ns = from->time_ns,
        .id = from->id,
        .thread = from->object_kind == CUPTI_OBJECT_THREAD ? from->object.id[1] : 0,
        .flags = from->flags,
        .name = spool_text_of(from->name),
        .domain = spool_text_of(from->domain),
    };

    spool_add(SPOOL_MARKER, &row, sizeof(row));
}

static void add_device(const void *record)
{
    const cupti_device *const from = record;
    const spool_device row = {
        .dram_bytes_per_s = from->dram_kb_per_s * 1000,
        .dram_bytes = from->dram_bytes,
        .clock_hz = (uint64_t)from->clock_khz * 1000,
        .id = from->id,
        .name = spool_text_of(from->name),
        .sm_count = from->sm_count,
        .compute_major = from->compute_major,
        .compute_minor = from->compute_minor,
        .l2_bytes = from->l2_bytes,
    };

    spool_add(SPOOL_DEVICE, &row, sizeof(row));
}

static void add_context(const void *record)
{
    const cupti_context_record *const from = record;
    const spool_context row = {from->context, from->device, from->null_stream, 0};

    spool_add(SPOOL_CONTEXT, &row, sizeof(row));
}

static void add_name(const void *record)
{
    const cupti_name *const from = record;
    const spool_name row = {from->object.id[1], spool_text_of(from->name)};

    if (from->object_kind == CUPTI_OBJECT_THREAD)
        spool_add(SPOOL_NAME, &row, sizeof(row));
}

static const struct kind_row {
    unsigned kind;
    void (*add)(const void *record);
    bool is_early; /* enabled before --delay: what others refer to */
    bool is_api;
} kinds[] = {
    {CUPTI_DEVICE, add_device, true, false},
    {CUPTI_CONTEXT, add_context, true, false},
    {CUPTI_NAME, add_name, true, false},
    {CUPTI_CONCURRENT_KERNEL, add_kernel, false, false},
    {CUPTI_KERNEL, add_kernel, true, false}, /* only read: enabling it would serialise kernels */
    {CUPTI_MEMCPY, add_copy, false, false},
    {CUPTI_MEMCPY_PEER, add_peer_copy, false, false},
    {CUPTI_MEMSET, add_set, false, false},
    {CUPTI_RUNTIME, add_call, false, true},
    {CUPTI_DRIVER, add_call, false, true},
    {CUPTI_SYNCHRONIZATION, add_sync, false, false},
    {CUPTI_OVERHEAD, add_overhead, false, false},
    {CUPTI_MARKER, add_marker, false, false},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static void add_record(const void *record)
{
    const uint32_t kind = ((const cupti_record *)record)->kind;
    size_t i;

    for (i = 0; i < KIND_COUNT; i++)
        if (kinds[i].kind == kind) {
            kinds[i].add(record);
            return;
        }
}

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
            add_record(record);
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

    for (i = 0; i < KIND_COUNT; i++) {
        char line[256], buffer[32];
        unsigned result;

        if (kinds[i].is_early != is_early || kinds[i].kind == CUPTI_KERNEL ||
            (kinds[i].is_api && collect.api == API_NONE))
            continue;
        result = collect.cupti.cuptiActivityEnable(kinds[i].kind);
        note("enable kind %u: %u", kinds[i].kind, result);
        if (result == CUPTI_OK)
            continue;
        snprintf(line, sizeof(line), "CUPTI refuses records of kind %u: %s", kinds[i].kind,
                 result_text(result, buffer));
        fault(line);
    }
}

static void disable(void)
{
    size_t i;

    for (i = 0; i < KIND_COUNT; i++)
        if (kinds[i].kind != CUPTI_KERNEL)
            collect.cupti.cuptiActivityDisable(kinds[i].kind);
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

/* --delay and --duration. */
static void *keep_time(void *unused)
{
    (void)unused;
    sleep_ms(collect.delay_ms);
    if (collect.delay_ms > 0)
        enable(false);
    if (collect.duration_ms > 0) {
        sleep_ms(collect.duration_ms);
        disable();
        note("flush: %u", collect.cupti.cuptiActivityFlushAll(0));
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
    note("at exit: flush: %u", collect.cupti.cuptiActivityFlushAll(FLUSH_FORCED));
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
    unsigned result;

    if (collect.cupti.cuptiSetThreadIdType != NULL)
        note("thread ids: %u", collect.cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM));
    if (collect.cupti.cuptiActivitySetAttribute != NULL) {
        uint8_t is_zeroed = 1;
        size_t size = sizeof(is_zeroed);

        note("zeroed buffers: %u",
             collect.cupti.cuptiActivitySetAttribute(ATTRIBUTE_ZEROED, &size, &is_zeroed));
    }
    result = collect.cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    note("register: %u", result);
    if (result != CUPTI_OK) {
        snprintf(line, sizeof(line), "CUPTI does not start: %s", result_text(result, buffer));
        fault(line);
        return;
    }
    if (collect.cupti.cuptiActivityFlushPeriod != NULL)
        note("flush period: %u", collect.cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS));
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
