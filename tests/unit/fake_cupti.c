/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUPTI without a GPU: it hands over buffers of records that a program asks for through
 * fake_cupti_*(), laid out as the real one does. Variables of the environment make it fail:
 * FAKE_CUPTI_VERSION (18), FAKE_CUPTI_REFUSE (a kind), FAKE_CUPTI_DROPPED (records). */
#include "fake_cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cupti_records.h"

enum { KINDS = 64, PAD_BYTES = 64, THREAD_BUFFERS = 32 };

/* One buffer a thread, as CUPTI from 13.0 on has it. */
struct buffer {
    uint8_t *bytes;
    size_t size, used;
};

static struct {
    pthread_mutex_t lock;
    cupti_buffer_request request;
    cupti_buffer_done done;
    int is_on[KINDS];
    int is_muted[2][4]; /* by driver, function */
    struct buffer buffers[THREAD_BUFFERS];
    unsigned long long now_ns;
    unsigned next_correlation;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .now_ns = 1000000000};

static long number_of(const char *name, long otherwise)
{
    const char *const text = getenv(name);

    return text != NULL ? strtol(text, NULL, 10) : otherwise;
}

/* -- the interface ----------------------------------------------------------------------------- */

unsigned cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)number_of("FAKE_CUPTI_VERSION", 130001);
    return 0;
}

unsigned cuptiGetTimestamp(uint64_t *time_ns)
{
    *time_ns = fake.now_ns;
    return 0;
}

unsigned cuptiActivityRegisterCallbacks(cupti_buffer_request request, cupti_buffer_done done)
{
    fake.request = request;
    fake.done = done;
    return 0;
}

unsigned cuptiActivityEnable(unsigned kind)
{
    if (kind >= KINDS || kind == (unsigned)number_of("FAKE_CUPTI_REFUSE", 0))
        return 7;
    pthread_mutex_lock(&fake.lock);
    fake.is_on[kind] = 1;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

unsigned cuptiActivityDisable(unsigned kind)
{
    pthread_mutex_lock(&fake.lock);
    fake.is_on[kind % KINDS] = 0;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

/* A record is its kind, its whole size in the last four bytes of 64 behind it: what a version has
 * more than ours. */
static size_t size_of(unsigned kind)
{
    switch (kind) {
    case CUPTI_CONCURRENT_KERNEL:
        return sizeof(cupti_kernel) + PAD_BYTES;
    case CUPTI_MEMCPY:
        return sizeof(cupti_memcpy) + PAD_BYTES;
    case CUPTI_MEMCPY_PEER:
        return sizeof(cupti_memcpy_peer) + PAD_BYTES;
    case CUPTI_MEMSET:
        return sizeof(cupti_memset) + PAD_BYTES;
    case CUPTI_RUNTIME:
    case CUPTI_DRIVER:
        return sizeof(cupti_api);
    case CUPTI_SYNCHRONIZATION:
        return sizeof(cupti_synchronization) + PAD_BYTES;
    case CUPTI_OVERHEAD:
        return sizeof(cupti_overhead) + PAD_BYTES;
    case CUPTI_MARKER:
        return sizeof(cupti_marker);
    case CUPTI_DEVICE:
        return sizeof(cupti_device) + PAD_BYTES;
    case CUPTI_CONTEXT:
        return sizeof(cupti_context_record) + PAD_BYTES;
    case CUPTI_NAME:
        return sizeof(cupti_name);
    default:
        return PAD_BYTES; /* a kind that ridge does not know */
    }
}

unsigned cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_size, void **record)
{
    uint8_t *const at = *record == NULL
                            ? buffer
                            : (uint8_t *)*record + size_of(((const cupti_record *)*record)->kind);

    if (at >= buffer + valid_size)
        return CUPTI_LIMIT_REACHED;
    *record = at;
    return 0;
}

static void hand_over(struct buffer *buffer)
{
    const struct buffer full = *buffer;

    *buffer = (struct buffer){NULL, 0, 0};
    if (full.bytes != NULL)
        fake.done(NULL, 0, full.bytes, full.size, full.used);
}

unsigned cuptiActivityFlushAll(uint32_t flags)
{
    size_t i;

    (void)flags;
    pthread_mutex_lock(&fake.lock);
    for (i = 0; i < THREAD_BUFFERS; i++)
        hand_over(&fake.buffers[i]);
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

unsigned cuptiGetCallbackName(unsigned domain, uint32_t function, const char **name)
{
    static const char *const names[2][4] = {
        {NULL, "cuLaunchKernel", "cuCtxSetCurrent", "cuModuleLoadData"},
        {NULL, "cudaLaunchKernel_v7000", "cudaGetLastError_v3020", "cudaGetDevice_v3020"},
    };

    if (domain < 1 || domain > 2 || function < 1 || function > 3)
        return 1;
    *name = names[domain - 1][function];
    return 0;
}

unsigned cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    static int is_told;

    (void)context, (void)stream;
    *count = is_told ? 0 : (size_t)number_of("FAKE_CUPTI_DROPPED", 0);
    is_told = 1;
    return 0;
}

#ifndef FAKE_OLD
unsigned cuptiActivityEnableDriverApi(uint32_t function, uint8_t is_on)
{
    fake.is_muted[1][function % 4] = !is_on;
    return 0;
}

unsigned cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t is_on)
{
    pthread_mutex_lock(&fake.lock);
    fake.is_muted[0][function % 4] = !is_on;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

unsigned cuptiActivityFlushPeriod(uint32_t period_ms)
{
    (void)period_ms;
    return 0;
}

unsigned cuptiActivitySetAttribute(unsigned attribute, size_t *size, void *value)
{
    (void)attribute, (void)size, (void)value;
    return 0;
}

unsigned cuptiSetThreadIdType(unsigned type)
{
    (void)type;
    return 0;
}

unsigned cuptiGetResultString(unsigned result, const char **text)
{
    *text = result == 7 ? "CUPTI_ERROR_INVALID_KIND" : "CUPTI_ERROR_UNKNOWN";
    return 0;
}

int InitializeInjectionNvtx2(void *get_export_table)
{
    return get_export_table != NULL;
}
#endif

/* -- the program's side ------------------------------------------------------------------------ */

static void add(unsigned thread, const void *record, size_t size)
{
    struct buffer *const buffer = &fake.buffers[thread % THREAD_BUFFERS];
    const unsigned kind = ((const cupti_record *)record)->kind;
    const size_t whole = size_of(kind);

    pthread_mutex_lock(&fake.lock);
    if (kind < KINDS && fake.is_on[kind] &&
        !((kind == CUPTI_RUNTIME || kind == CUPTI_DRIVER) &&
          fake.is_muted[kind == CUPTI_DRIVER][((const cupti_api *)record)->function % 4])) {
        size_t record_count = 0;

        if (buffer->bytes != NULL && whole > buffer->size - buffer->used)
            hand_over(buffer);
        if (buffer->bytes == NULL)
            fake.request(&buffer->bytes, &buffer->size, &record_count);
        memcpy(buffer->bytes + buffer->used, record, size);
        memset(buffer->bytes + buffer->used + size, 0xee, whole - size);
        buffer->used += whole;
    }
    pthread_mutex_unlock(&fake.lock);
}

#define ADD(thread, record) add(thread, &(record), sizeof(record))

void fake_cupti_start(void)
{
    cupti_device device = {.kind = CUPTI_DEVICE,
                           .dram_kb_per_s = 4800000000,
                           .dram_bytes = 1 << 30,
                           .clock_khz = 1980000,
                           .sm_count = 132,
                           .l2_bytes = 1 << 20,
                           .compute_major = 9,
                           .name = "Fake GPU"};
    cupti_context_record context = {
        .kind = CUPTI_CONTEXT, .context = 1, .device = 0, .api_kind = 1, .null_stream = 7};

    ADD(0, device);
    ADD(0, context);
}

void fake_cupti_launch(unsigned thread, const char *name, unsigned graph)
{
    cupti_api call = {.kind = CUPTI_RUNTIME, .function = 1, .process = 1, .thread = thread};
    cupti_api cheap = {.kind = CUPTI_RUNTIME, .function = 2, .process = 1, .thread = thread};
    cupti_kernel kernel = {.kind = CUPTI_CONCURRENT_KERNEL,
                           .registers = 32,
                           .context = 1,
                           .stream = 7,
                           .grid = {10, 2, 1},
                           .block = {128, 1, 1},
                           .static_shared_bytes = 64,
                           .dynamic_shared_bytes = 4096,
                           .name = name,
                           .graph = graph,
                           .graph_node = graph != 0 ? 0x100000001 : 0};
    unsigned long long now;

    pthread_mutex_lock(&fake.lock);
    call.correlation = ++fake.next_correlation;
    cheap.correlation = ++fake.next_correlation;
    now = fake.now_ns;
    fake.now_ns += 20000;
    pthread_mutex_unlock(&fake.lock);
    call.start_ns = now;
    call.end_ns = now + 5000;
    cheap.start_ns = now + 6000;
    cheap.end_ns = now + 6100;
    kernel.correlation = call.correlation;
    kernel.start_ns = now + 7000;
    kernel.end_ns = now + 17000;
    ADD(thread, call);
    ADD(thread, cheap);
    ADD(thread, kernel);
}

/* Until --delay is over, and the cheap calls are left out, or --duration is: everything is off. */
void fake_cupti_wait(int on)
{
    enum { TRIES = 60000 };
    const struct timespec pause = {0, 1000000};
    int i, any = !on;

    for (i = 0; i < TRIES && any != on; i++) {
        size_t kind;

        nanosleep(&pause, NULL);
        pthread_mutex_lock(&fake.lock);
        any = on ? fake.is_muted[0][2] : 0;
        for (kind = 0; !on && kind < KINDS; kind++)
            any |= fake.is_on[kind];
        pthread_mutex_unlock(&fake.lock);
    }
}

void fake_cupti_rest(unsigned thread)
{
    const unsigned long long now = fake.now_ns;
    cupti_memcpy copy = {.kind = CUPTI_MEMCPY,
                         .copy = 1,
                         .source = 2,
                         .destination = 3,
                         .bytes = 4096,
                         .start_ns = now,
                         .end_ns = now + 100,
                         .context = 1,
                         .stream = 13,
                         .correlation = 900};
    cupti_memcpy_peer peer = {.kind = CUPTI_MEMCPY_PEER,
                              .copy = 10,
                              .source = 3,
                              .destination = 3,
                              .bytes = 1 << 20,
                              .start_ns = now + 200,
                              .end_ns = now + 300,
                              .context = 1,
                              .stream = 13,
                              .destination_device = 1,
                              .correlation = 901};
    cupti_memset set = {.kind = CUPTI_MEMSET,
                        .bytes = 512,
                        .start_ns = now + 400,
                        .end_ns = now + 500,
                        .context = 1,
                        .stream = 7,
                        .memory = 3,
                        .correlation = 902};
    cupti_synchronization sync = {.kind = CUPTI_SYNCHRONIZATION,
                                  .type = 3,
                                  .start_ns = now,
                                  .end_ns = now + 600,
                                  .correlation = 903,
                                  .context = 1,
                                  .stream = 7};
    cupti_overhead overhead = {.kind = CUPTI_OVERHEAD,
                               .overhead = 5U << 16,
                               .object_kind = CUPTI_OBJECT_THREAD,
                               .object = {{1, thread, 0}},
                               .start_ns = now,
                               .end_ns = now + 50};
    cupti_kernel untimed = {.kind = CUPTI_CONCURRENT_KERNEL, .context = 1, .name = "untimed"};
    cupti_api slow = {.kind = CUPTI_RUNTIME,
                      .function = 3,
                      .start_ns = now,
                      .end_ns = now + 50000,
                      .thread = thread,
                      .correlation = 905};
    cupti_api driver = {.kind = CUPTI_DRIVER,
                        .function = 3,
                        .start_ns = now,
                        .end_ns = now + 40,
                        .thread = thread,
                        .correlation = 904};
    cupti_name name = {.kind = CUPTI_NAME,
                       .object_kind = CUPTI_OBJECT_THREAD,
                       .object = {{1, thread, 0}},
                       .name = "worker"};
    cupti_record unknown = {.kind = 50};

    ADD(thread, copy);
    ADD(thread, peer);
    ADD(thread, set);
    ADD(thread, sync);
    ADD(thread, overhead);
    ADD(thread, untimed);
    ADD(thread, slow);
    slow.end_ns = now + 500;
    ADD(thread, slow);
    ADD(thread, driver);
    ADD(thread, name);
    ADD(thread, unknown);
}

void fake_cupti_marker(unsigned thread, unsigned id, unsigned flags, unsigned long long at_ns,
                       const char *name, const char *domain)
{
    cupti_marker marker = {.kind = CUPTI_MARKER,
                           .flags = flags,
                           .time_ns = fake.now_ns + at_ns,
                           .id = id,
                           .object_kind = CUPTI_OBJECT_THREAD,
                           .object = {{1, thread, 0}},
                           .name = name,
                           .domain = domain};

    ADD(thread, marker);
}
