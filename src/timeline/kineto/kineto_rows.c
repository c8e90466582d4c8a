/* SPDX-License-Identifier: Apache-2.0
 *
 * Events become rows. Threads, streams and names repeat from event to event, so the last ones are
 * remembered; what is derived from a name is derived once for each. */
#include "timeline/kineto/kineto_internal.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/text.h"
#include "ridge/trace_sums.h"

/* What is known of a name. */
typedef struct name_facts {
    uint32_t short_name; /* 0: not asked yet */
} name_facts;

typedef struct thread_memory {
    kineto_slice pid, tid; /* into text */
    char text[64];
    uint32_t thread;
    bool is_known;
} thread_memory;

typedef struct group_memory {
    char pid[32];
    size_t size;
    uint32_t group; /* 0: not asked yet */
} group_memory;

typedef struct stream_memory {
    int64_t device, context, stream;
    uint32_t row;
    bool is_known;
} stream_memory;

typedef struct shape_memory {
    uint64_t dims, types, strides, values; /* hashes */
    uint32_t text;
} shape_memory;

enum { SHAPE_SLOTS = 1 << 14 };

struct kineto_rows {
    ridge_trace *trace;
    const ridge_trace_options *options;
    name_facts *facts;
    size_t fact_capacity;
    thread_memory thread;
    stream_memory stream;
    group_memory group;
    kineto_labels labels;
    shape_memory *shapes; /* the newest of each slot */
    ridge_text text;
    kineto_chip chips[KINETO_CHIPS];
    const char *chip_names[KINETO_CHIPS];
    size_t chip_count;
    char version[64];
};

/* -- names ------------------------------------------------------------------------------------- */

static uint32_t intern(kineto_rows *rows, kineto_slice text, bool has_escape)
{
    if (!has_escape)
        return trace_intern(rows->trace, text.data, text.size);
    ridge_text_clear(&rows->text);
    kineto_add_unescaped(&rows->text, text);
    rows->trace->failed |= rows->text.failed;
    return trace_intern(rows->trace, rows->text.data, rows->text.length);
}

/* The copy is of a length that names of kernels stay far below. */
static uint32_t short_name_of(kineto_rows *rows, uint32_t name)
{
    char buffer[1024];
    const char *const text =
        ridge_kernel_base_name(ridge_trace_name(rows->trace, name, NULL), buffer, sizeof(buffer));

    return text[0] != '\0' ? trace_intern(rows->trace, text, strlen(text)) : name;
}

static const name_facts *facts_of(kineto_rows *rows, uint32_t name)
{
    static const name_facts none = {0};
    name_facts *facts;

    if (name >= rows->fact_capacity) {
        const size_t capacity = (size_t)name * 2 + 256;

        facts = ridge_realloc_array(rows->facts, capacity, sizeof(*facts));
        if (facts == NULL) {
            rows->trace->failed = true;
            return &none;
        }
        memset(facts + rows->fact_capacity, 0, (capacity - rows->fact_capacity) * sizeof(*facts));
        rows->facts = facts;
        rows->fact_capacity = capacity;
    }
    facts = &rows->facts[name];
    if (facts->short_name == 0)
        facts->short_name = short_name_of(rows, name);
    return facts;
}

/* -- threads and streams ----------------------------------------------------------------------- */

static bool is_same(kineto_slice a, kineto_slice b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Numbers are those of the system; anything else is a name: "stream 7", "PyTorch Profiler". */
static uint32_t thread_of(kineto_rows *rows, const kineto_event *event)
{
    const kineto_slice none = {"", 0};
    const kineto_slice pid = event->pid.data != NULL ? event->pid : none;
    const kineto_slice tid = event->tid.data != NULL ? event->tid : none;
    thread_memory *const memory = &rows->thread;
    int64_t thread = -1;
    uint32_t name = 0;

    if (memory->is_known && is_same(memory->pid, pid) && is_same(memory->tid, tid))
        return memory->thread;
    if (!kineto_integer(tid, &thread) || thread == -1) {
        thread = -1;
        name = intern(rows, tid, true);
    }
    memory->thread =
        trace_thread(rows->trace, kineto_process(&rows->labels, rows->trace, pid), thread, name);
    memory->is_known = pid.size + tid.size <= sizeof(memory->text);
    if (memory->is_known) {
        memcpy(memory->text, pid.data, pid.size);
        memcpy(memory->text + pid.size, tid.data, tid.size);
        memory->pid = (kineto_slice){memory->text, pid.size};
        memory->tid = (kineto_slice){memory->text + pid.size, tid.size};
    }
    return memory->thread;
}

static int64_t number_in(kineto_slice text, int64_t otherwise)
{
    int64_t number;

    while (text.size > 0 && (*text.data < '0' || *text.data > '9') && *text.data != '-')
        text.data++, text.size--;
    return kineto_integer(text, &number) ? number : otherwise;
}

/* Work names its device and stream in its arguments, or else by pid and tid. */
static uint32_t stream_of(kineto_rows *rows, const kineto_event *event)
{
    const int64_t device = event->has_device ? event->device : number_in(event->pid, 0);
    const int64_t stream = event->has_stream ? event->stream : number_in(event->tid, 0);
    const int64_t context = event->context > 0 && event->context <= UINT32_MAX ? event->context : 0;
    stream_memory *const memory = &rows->stream;

    if (memory->is_known && memory->device == device && memory->stream == stream &&
        memory->context == context)
        return memory->row;
    *memory = (stream_memory){device, context, stream, 0, true};
    memory->row =
        trace_stream(rows->trace, trace_device(rows->trace, device), 0, (uint32_t)context, stream);
    return memory->row;
}

/* Work stands under the number of its device, behind the rank's label where ranks were merged. */
static uint32_t group_of(kineto_rows *rows, kineto_slice pid)
{
    group_memory *const memory = &rows->group;

    if (memory->group != 0 && memory->size == pid.size &&
        memcmp(memory->pid, pid.data, pid.size) == 0)
        return memory->group;
    memory->group = pid.data != NULL ? kineto_group(rows->trace, pid) : 0;
    memory->size = pid.size;
    if (pid.size <= sizeof(memory->pid) && memory->group != 0)
        memcpy(memory->pid, pid.data, pid.size);
    else
        memory->size = SIZE_MAX;
    return memory->group;
}

/* -- work -------------------------------------------------------------------------------------- */

static bool read_three(kineto_slice text, uint32_t out[3])
{
    const char *at = text.data, *const end = kineto_end(text);
    kineto_slice value;
    int count = 0;

    while (count < 3 && text.data != NULL) {
        int64_t number;

        at = kineto_space(at, end);
        value.data = at;
        while (at < end && *at != ',' && *at != ']' && kineto_space(at, at + 1) == at)
            at++;
        value.size = (size_t)(at - value.data);
        if (!kineto_integer(value, &number))
            break;
        out[count++] = kineto_u32(number);
        at = kineto_space(at, end);
        if (at == end || *at++ != ',')
            break;
    }
    return count > 0;
}

static uint32_t config_of(kineto_rows *rows, const kineto_event *event)
{
    ridge_trace_config config = {.grid = {0}};
    const bool has_grid = read_three(event->grid, config.grid);
    const bool has_block = read_three(event->block, config.block);

    if (!has_grid && !has_block)
        return RIDGE_TRACE_NONE;
    config.registers = kineto_u32(event->registers);
    /* Static and dynamic together: the file has one number. */
    config.static_shared_bytes = kineto_u32(event->shared_bytes);
    return trace_config(rows->trace, &config);
}

static bool starts_with(kineto_slice text, const char *start)
{
    const size_t length = strlen(start);

    return text.size >= length && memcmp(text.data, start, length) == 0;
}

static bool contains(kineto_slice text, const char *part)
{
    const size_t length = strlen(part);

    for (size_t i = 0; i + length <= text.size; i++)
        if (memcmp(text.data + i, part, length) == 0)
            return true;
    return false;
}

static ridge_copy direction_of(const kineto_event *event)
{
    const kineto_slice name = event->name;

    for (unsigned copy = RIDGE_COPY_HTOD; copy <= RIDGE_COPY_PTOP; copy++)
        if (contains(name, ridge_copy_name(copy)) ||
            (event->kind.data != NULL && kineto_is(event->kind, ridge_copy_name(copy))))
            return (ridge_copy)copy;
    if (contains(name, "HostToDevice"))
        return RIDGE_COPY_HTOD;
    if (contains(name, "DeviceToHost"))
        return RIDGE_COPY_DTOH;
    return contains(name, "DeviceToDevice") ? RIDGE_COPY_DTOD : RIDGE_COPY_UNKNOWN;
}

static ridge_memory_place place_of(kineto_slice word)
{
    if (starts_with(word, "Pageable"))
        return RIDGE_PLACE_PAGEABLE;
    if (starts_with(word, "Pinned"))
        return RIDGE_PLACE_PINNED;
    if (starts_with(word, "Device"))
        return RIDGE_PLACE_DEVICE;
    if (starts_with(word, "Array"))
        return RIDGE_PLACE_ARRAY;
    return starts_with(word, "Managed") ? RIDGE_PLACE_MANAGED : RIDGE_PLACE_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)", "Memset (Device)" */
static void read_places(const kineto_event *event, ridge_trace_op *op)
{
    const char *const end = kineto_end(event->name);
    const char *open =
        event->name.size > 0 ? memchr(event->name.data, '(', event->name.size) : NULL;
    const char *arrow;

    if (open == NULL)
        return;
    open++;
    op->destination = place_of((kineto_slice){open, (size_t)(end - open)}) & 15;
    if (event->class != KINETO_MEMCPY)
        return;
    op->source = op->destination;
    op->destination = RIDGE_PLACE_UNKNOWN;
    for (arrow = open; end - arrow > 4; arrow++)
        if (memcmp(arrow, "-> ", 3) == 0)
            op->destination = place_of((kineto_slice){arrow + 3, (size_t)(end - arrow - 3)}) & 15;
}

static void add_work(kineto_rows *rows, const kineto_event *event, uint32_t name)
{
    static const ridge_op_kind kinds[] = {[KINETO_KERNEL] = RIDGE_OP_KERNEL,
                                          [KINETO_MEMCPY] = RIDGE_OP_MEMCPY,
                                          [KINETO_MEMSET] = RIDGE_OP_MEMSET};
    ridge_trace_op op = {
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + event->duration_ns,
        .bytes = event->has_bytes && event->bytes >= 0 ? (uint64_t)event->bytes
                                                       : RIDGE_TRACE_BYTES_UNKNOWN,
        .name = name,
        .short_name = name,
        .api = RIDGE_TRACE_NONE,
        .config = RIDGE_TRACE_NONE,
        .graph = RIDGE_TRACE_NONE,
        .kind = (uint8_t)kinds[event->class],
    };
    /* The group stands where the process will: see kineto_assign_processes(). */
    const trace_key key = {.correlation = event->correlation > 0 ? (uint64_t)event->correlation : 0,
                           .process = group_of(rows, event->pid)};

    op.stream = stream_of(rows, event);
    if (event->has_graph && event->graph > 0) {
        op.graph = kineto_u32(event->graph);
        op.flags |= RIDGE_OP_IN_GRAPH;
    }
    if (event->graph_node > 0)
        op.flags |= RIDGE_OP_IN_GRAPH;
    if (event->class == KINETO_KERNEL) {
        const name_facts *const facts = facts_of(rows, name);

        op.short_name = facts->short_name;
        op.config = config_of(rows, event);
        op.bytes = RIDGE_TRACE_BYTES_UNKNOWN;
        if (event->is_collective)
            op.flags |= RIDGE_OP_COLLECTIVE;
    } else {
        if (event->class == KINETO_MEMCPY)
            op.copy = (uint8_t)direction_of(event);
        read_places(event, &op);
    }
    if (!event->has_duration)
        op.end_ns = op.start_ns - 1;
    trace_add_op(rows->trace, &op, key);
}

/* -- the host ---------------------------------------------------------------------------------- */

static uint64_t hash_of(kineto_slice text)
{
    return text.data != NULL ? ridge_hash64(text.data, text.size) : 0;
}

static uint32_t shapes_of(kineto_rows *rows, const kineto_event *event)
{
    shape_memory wanted = {0};
    shape_memory *known;

    if (event->dims.data == NULL || rows->options->no_shapes)
        return 0;
    if (rows->shapes == NULL)
        rows->shapes = ridge_calloc(SHAPE_SLOTS, sizeof(*rows->shapes));
    if (rows->shapes == NULL) {
        rows->trace->failed = true;
        return 0;
    }
    wanted.dims = hash_of(event->dims);
    wanted.types = hash_of(event->types);
    wanted.strides = hash_of(event->strides);
    wanted.values = kineto_needs_values(event) ? hash_of(event->values) : 0;
    known = &rows->shapes[(wanted.dims ^ wanted.types * 31 ^ wanted.strides * 37 ^ wanted.values) %
                          SHAPE_SLOTS];
    if (known->dims != wanted.dims || known->types != wanted.types ||
        known->strides != wanted.strides || known->values != wanted.values) {
        ridge_text_clear(&rows->text);
        kineto_add_shapes(&rows->text, event);
        rows->trace->failed |= rows->text.failed;
        wanted.text = trace_intern(rows->trace, rows->text.data, rows->text.length);
        *known = wanted;
    }
    rows->trace->info.has_shapes |= known->text != 0;
    return known->text;
}

/* "ProfilerStep#12": profilers of 2021 write it as an operator. */
static bool is_step(kineto_slice name)
{
    static const char step[] = "ProfilerStep#";
    const size_t length = sizeof(step) - 1;
    size_t i;

    if (name.size <= length || memcmp(name.data, step, length) != 0)
        return false;
    for (i = length; i < name.size; i++)
        if (name.data[i] < '0' || name.data[i] > '9')
            return false;
    return true;
}

static void add_range(kineto_rows *rows, const kineto_event *event, uint32_t name)
{
    static const ridge_range_kind kinds[] = {[KINETO_OP] = RIDGE_RANGE_OP,
                                             [KINETO_ANNOTATION] = RIDGE_RANGE_ANNOTATION,
                                             [KINETO_PYTHON] = RIDGE_RANGE_PYTHON};
    const ridge_trace_range range = {
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + event->duration_ns,
        .name = name,
        .thread = thread_of(rows, event),
        .shapes = shapes_of(rows, event),
        .kind = (uint8_t)kinds[event->class],
    };

    rows->trace->info.has_stacks |= event->class == KINETO_PYTHON;
    trace_add_range(rows->trace, &range);
}

static void add_api(kineto_rows *rows, const kineto_event *event, uint32_t name)
{
    const ridge_trace_api api = {
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + event->duration_ns,
        .name = name,
        .thread = thread_of(rows, event),
    };

    trace_add_api(rows->trace, &api, event->correlation > 0 ? (uint64_t)event->correlation : 0);
}

static ridge_overhead_kind overhead_of(kineto_slice name)
{
    static const struct {
        const char *part;
        ridge_overhead_kind kind;
    } table[] = {
        {"Command Buffer Full", RIDGE_OVERHEAD_QUEUE_FULL},
        {"Lazy Function Loading", RIDGE_OVERHEAD_LAZY},
        {"Module Loading", RIDGE_OVERHEAD_MODULE},
        {"Driver Compiler", RIDGE_OVERHEAD_JIT},
        {"Buffer Flush", RIDGE_OVERHEAD_FLUSH},
        {"Instrumentation", RIDGE_OVERHEAD_INSTRUMENTATION},
        {"Resource", RIDGE_OVERHEAD_RESOURCE},
        {"Activity Buffer Request", RIDGE_OVERHEAD_PROFILER},
        {"UVM Activity Init", RIDGE_OVERHEAD_PROFILER},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (contains(name, table[i].part))
            return table[i].kind;
    return RIDGE_OVERHEAD_OTHER;
}

static void add_overhead(kineto_rows *rows, const kineto_event *event, uint32_t name)
{
    const ridge_trace_overhead overhead = {
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + event->duration_ns,
        .name = name,
        .thread = number_in(event->pid, -1) > 0 ? thread_of(rows, event) : RIDGE_TRACE_NONE,
        .kind = (uint8_t)overhead_of(event->name),
    };

    trace_add_overhead(rows->trace, &overhead);
}

static void add_sync(kineto_rows *rows, const kineto_event *event)
{
    const kineto_slice text = event->kind.data != NULL ? event->kind : event->name;
    ridge_trace_sync sync = {
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + event->duration_ns,
        .stream = RIDGE_TRACE_NONE,
        .api = RIDGE_TRACE_NONE,
    };
    const trace_key key = {.correlation = event->correlation > 0 ? (uint64_t)event->correlation : 0,
                           .process = group_of(rows, event->pid)};

    if (contains(text, "Wait"))
        sync.kind = 2;
    else if (contains(text, "Event"))
        sync.kind = 1;
    else if (contains(text, "Stream"))
        sync.kind = 3;
    else if (contains(text, "Context") || contains(text, "Device"))
        sync.kind = 4;
    if (event->has_stream && event->stream >= 0 && event->stream < UINT32_MAX && event->has_device)
        sync.stream = stream_of(rows, event);
    trace_add_sync(rows->trace, &sync, key);
}

void kineto_rows_add(kineto_rows *rows, const kineto_event *event)
{
    kineto_event row = *event;
    const bool has_name = row.class != KINETO_SYNC && row.class != KINETO_METADATA;
    const uint32_t name = has_name ? intern(rows, row.name, row.name_has_escape) : 0;

    switch (row.class) {
    case KINETO_KERNEL:
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
        add_work(rows, &row, name);
        return;
    default:
        break;
    }
    /* What ends before it starts on the host: profilers themselves now write 0. */
    if (row.duration_ns < 0)
        row.duration_ns = 0;
    if (row.class == KINETO_OP && is_step(row.name))
        row.class = KINETO_ANNOTATION;
    switch (row.class) {
    case KINETO_API:
        add_api(rows, &row, name);
        break;
    case KINETO_OP:
    case KINETO_ANNOTATION:
    case KINETO_PYTHON:
        add_range(rows, &row, name);
        break;
    case KINETO_OVERHEAD:
        add_overhead(rows, &row, name);
        break;
    case KINETO_SYNC:
        add_sync(rows, &row);
        break;
    default:
        break;
    }
}

/* -- the document ------------------------------------------------------------------------------ */

/* X(key): members that are kept. Names of hosts, users and jobs are not among them. */
static const char *const wanted[] = {"deviceProperties",    "distributedInfo", "schemaVersion",
                                     "baseTimeNanoseconds", "cupti_version",   "roctracer_version",
                                     "rocprofiler_version", "with_stack",      "record_shapes"};

bool kineto_rows_wants(kineto_slice key)
{
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (kineto_is(key, wanted[i]))
            return true;
    return false;
}

static void add_chip(kineto_rows *rows, kineto_slice object)
{
    kineto_chip *const chip = &rows->chips[rows->chip_count];

    if (rows->chip_count == KINETO_CHIPS || !kineto_read_chip(object, rows->chip_count, chip))
        return;
    ridge_text_clear(&rows->text);
    kineto_add_unescaped(&rows->text, chip->name);
    rows->trace->failed |= rows->text.failed;
    rows->chip_names[rows->chip_count++] =
        rows->text.length > 0 ? trace_text(rows->trace, rows->text.data, rows->text.length) : NULL;
}

static int small_number(kineto_slice value)
{
    int64_t number;

    return kineto_integer(value, &number) && number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

void kineto_rows_metadata(kineto_rows *rows, kineto_slice key, kineto_slice value)
{
    ridge_trace_info *const info = &rows->trace->info;
    const char *at = value.data + 1, *const end = value.data + value.size;
    kineto_slice inner_key, inner;
    int64_t number = 0;

    if (value.size == 0)
        return;
    kineto_integer(value, &number);
    if (kineto_is(key, "deviceProperties")) {
        while (value.data[0] == '[' && kineto_member(&at, end, NULL, &inner))
            add_chip(rows, inner);
    } else if (kineto_is(key, "distributedInfo")) {
        while (value.data[0] == '{' && kineto_member(&at, end, &inner_key, &inner)) {
            if (kineto_is(inner_key, "rank"))
                info->rank = small_number(inner);
            else if (kineto_is(inner_key, "world_size"))
                info->world_size = small_number(inner);
        }
    } else if (kineto_is(key, "schemaVersion")) {
        info->schema = trace_text(rows->trace, value.data, value.size < 32 ? value.size : 32);
    } else if (kineto_is(key, "baseTimeNanoseconds")) {
        info->base_ns = number;
    } else if (kineto_is(key, "with_stack")) {
        info->has_stacks |= number != 0;
    } else if (kineto_is(key, "record_shapes")) {
        info->has_shapes |= number != 0;
    } else if (kineto_rows_wants(key)) {
        const char *const maker = kineto_is(key, "cupti_version") ? "CUPTI" : "ROCm tracer";

        snprintf(rows->version, sizeof(rows->version), "%s %.*s", maker,
                 (int)(value.size < 24 ? value.size : 24), value.data);
    }
}

/* -- the end ----------------------------------------------------------------------------------- */

/* The numbers of the devices that worked. Where numbers of the two differ, as on a node of which
 * a job sees a part, one kind of chip in all is enough to tell. */
static void name_devices(kineto_rows *rows)
{
    bool is_one_kind = rows->chip_count > 0;

    for (size_t i = 1; i < rows->chip_count; i++)
        is_one_kind &= rows->chip_names[i] != NULL && rows->chip_names[0] != NULL &&
                       strcmp(rows->chip_names[i], rows->chip_names[0]) == 0;
    for (size_t d = 0; d < rows->trace->devices.count; d++) {
        ridge_trace_device *const device = trace_device_at(rows->trace, (uint32_t)d);
        size_t found = is_one_kind ? 0 : rows->chip_count;

        for (size_t i = 0; i < rows->chip_count; i++)
            if (rows->chips[i].id == device->id)
                found = i;
        if (found == rows->chip_count)
            continue;
        device->name = rows->chip_names[found] != NULL ? rows->chip_names[found] : "";
        device->sm_count = rows->chips[found].sm_count;
        device->compute_major = rows->chips[found].major;
        device->compute_minor = rows->chips[found].minor;
    }
}

void kineto_rows_finish(kineto_rows *rows)
{
    const ridge_trace *const trace = rows->trace;
    const bool is_ours = trace->info.schema[0] != '\0' ||
                         trace->ops.count + trace->apis.count + trace->ranges.count > 0;
    char producer[96];

    name_devices(rows);
    kineto_assign_processes(rows->trace, &rows->labels);
    if (rows->version[0] != '\0')
        snprintf(producer, sizeof(producer), "PyTorch profiler (%s)", rows->version);
    else
        snprintf(producer, sizeof(producer), is_ours ? "PyTorch profiler" : "Chrome trace");
    rows->trace->info.producer = trace_text(rows->trace, producer, strlen(producer));
}

kineto_rows *kineto_rows_create(ridge_trace *trace, const ridge_trace_options *options)
{
    kineto_rows *const rows = ridge_calloc(1, sizeof(*rows));

    if (rows == NULL)
        return NULL;
    rows->trace = trace;
    rows->options = options;
    ridge_text_init(&rows->text);
    return rows;
}

void kineto_rows_free(kineto_rows *rows)
{
    if (rows == NULL)
        return;
    ridge_text_release(&rows->text);
    ridge_free(rows->shapes);
    ridge_free(rows->labels.rows);
    ridge_free(rows->facts);
    ridge_free(rows);
}
