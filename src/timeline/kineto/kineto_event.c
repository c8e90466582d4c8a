/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: one pass over the members in whatever order they come. What no row needs is passed over
 * by its brackets. An event that cannot be read is left out and counted, and scanning goes on where
 * the next one seems to begin. */
#include "timeline/kineto/kineto_internal.h"

/* An event being read. */
typedef struct event_text {
    kineto_event *event;
    kineto_slice arguments; /* args that came before cat */
    bool is_complete;       /* ph is X */
    bool is_metadata;       /* ph is M */
    bool is_begin;          /* ph is B */
    bool has_phase, has_category, has_start, is_bad_time;
    bool has_fraction;
} event_text;

/* -- categories -------------------------------------------------------------------------------- */

static bool ends_with(kineto_slice text, const char *end)
{
    const size_t length = strlen(end);

    return text.size >= length && memcmp(text.data + text.size - length, end, length) == 0;
}

/* The first names are those of 2021. Other makers: hip work has the same names as CUDA's, Intel
 * xpu_*, Meta mtia_*, Habana hpu_op, privateuse1_* the rest. */
static kineto_class class_of(kineto_slice category)
{
    static const struct {
        const char *name;
        kineto_class class;
    } table[] = {
        {"cpu_op", KINETO_OP},         {"kernel", KINETO_KERNEL},
        {"cuda_runtime", KINETO_API},  {"python_function", KINETO_PYTHON},
        {"cuda_driver", KINETO_API},   {"gpu_memcpy", KINETO_MEMCPY},
        {"gpu_memset", KINETO_MEMSET}, {"user_annotation", KINETO_ANNOTATION},
        {"overhead", KINETO_OVERHEAD}, {"cuda_sync", KINETO_SYNC},
        {"Operator", KINETO_OP},       {"Kernel", KINETO_KERNEL},
        {"Runtime", KINETO_API},       {"Memcpy", KINETO_MEMCPY},
        {"Memset", KINETO_MEMSET},     {"mtia_ccp_events", KINETO_KERNEL},
        {"hpu_op", KINETO_KERNEL},     {"xpu_sync", KINETO_SYNC},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (kineto_is(category, table[i].name))
            return table[i].class;
    if (ends_with(category, "_runtime") || ends_with(category, "_driver"))
        return KINETO_API;
    return KINETO_OTHER;
}

static bool has_arguments(const kineto_event *event, const ridge_trace_options *options)
{
    switch (event->class) {
    case KINETO_KERNEL:
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
    case KINETO_API:
    case KINETO_SYNC:
        return true;
    case KINETO_OP:
        return !options->no_shapes;
    default:
        return false;
    }
}

/* -- arguments --------------------------------------------------------------------------------- */

/* What is behind the opening bracket, with the closing one. */
static kineto_slice inside(kineto_slice container)
{
    if (container.size < 2 || container.data[0] != '[')
        return (kineto_slice){NULL, 0};
    return (kineto_slice){container.data + 1, container.size - 1};
}

static void read_work_argument(kineto_event *event, kineto_slice key, kineto_slice value)
{
    switch (key.data[0]) {
    case 'b':
        if (kineto_is(key, "block"))
            event->block = inside(value);
        else if (kineto_is(key, "bytes"))
            event->has_bytes = kineto_integer(value, &event->bytes);
        break;
    case 'c':
        if (kineto_is(key, "correlation"))
            kineto_integer(value, &event->correlation);
        else if (kineto_is(key, "context"))
            kineto_integer(value, &event->context);
        else if (kineto_is(key, "cuda_sync_kind"))
            event->kind = value;
        break;
    case 'C':
        event->is_collective |= kineto_is(key, "Collective name");
        break;
    case 'd':
        if (kineto_is(key, "device"))
            event->has_device = kineto_integer(value, &event->device);
        break;
    case 'g':
        if (kineto_is(key, "grid"))
            event->grid = inside(value);
        else if (kineto_is(key, "graph id"))
            event->has_graph = kineto_integer(value, &event->graph);
        else if (kineto_is(key, "graph node id"))
            kineto_integer(value, &event->graph_node);
        break;
    case 'k':
        if (kineto_is(key, "kind"))
            event->kind = value;
        break;
    case 'r':
        if (kineto_is(key, "registers per thread"))
            kineto_integer(value, &event->registers);
        break;
    case 's':
        if (kineto_is(key, "stream"))
            event->has_stream = kineto_integer(value, &event->stream);
        else if (kineto_is(key, "shared memory"))
            kineto_integer(value, &event->shared_bytes);
        break;
    default:
        break;
    }
}

/* From behind the opening bracket to behind the closing one. */
static const char *read_arguments(const char *at, const char *end, kineto_event *event)
{
    for (;;) {
        kineto_slice key, value;
        bool is_text, has_escape;

        at = kineto_space(at, end);
        if (at == end)
            return kineto_cut;
        if (*at == ',') {
            at++;
            continue;
        }
        if (*at == '}')
            return at + 1;
        if (*at != '"')
            return kineto_bad;
        at = kineto_key(at + 1, end, &key);
        if (kineto_failed(at))
            return at;
        at = kineto_value(at, end, &value, &is_text, &has_escape);
        if (kineto_failed(at))
            return at;
        if (key.size == 0)
            continue;
        if (event->class == KINETO_OP) {
            if (kineto_is(key, "Input Dims"))
                event->dims = inside(value);
            else if (kineto_is(key, "Input type"))
                event->types = inside(value);
            else if (kineto_is(key, "Input Strides"))
                event->strides = inside(value);
            else if (kineto_is(key, "Concrete Inputs"))
                event->values = inside(value);
        } else if (event->class == KINETO_API) {
            if (kineto_is(key, "correlation"))
                kineto_integer(value, &event->correlation);
        } else {
            read_work_argument(event, key, value);
        }
    }
}

/* -- members ----------------------------------------------------------------------------------- */

static bool read_time(event_text *text, kineto_slice value, int64_t *out)
{
    const bool is_time = kineto_decimal(value, 3, out, &text->has_fraction);

    text->is_bad_time |= !is_time;
    return is_time;
}

static void read_member(event_text *text, kineto_slice key, kineto_slice value, bool has_escape)
{
    kineto_event *const event = text->event;

    switch (key.size) {
    case 2:
        if (memcmp(key.data, "ph", 2) == 0) {
            text->has_phase = true;
            text->is_complete = value.size == 1 && value.data[0] == 'X';
            text->is_metadata = value.size == 1 && value.data[0] == 'M';
            text->is_begin = value.size == 1 && value.data[0] == 'B';
        } else if (memcmp(key.data, "ts", 2) == 0) {
            text->has_start = read_time(text, value, &event->start_ns);
        }
        break;
    case 3:
        if (memcmp(key.data, "cat", 3) == 0) {
            text->has_category = true;
            event->class = (uint8_t)class_of(value);
        } else if (memcmp(key.data, "dur", 3) == 0) {
            event->has_duration = read_time(text, value, &event->duration_ns);
        } else if (memcmp(key.data, "pid", 3) == 0) {
            event->pid = value;
        } else if (memcmp(key.data, "tid", 3) == 0) {
            event->tid = value;
        }
        break;
    case 4:
        if (memcmp(key.data, "name", 4) == 0) {
            event->name = value;
            event->name_has_escape = has_escape;
        }
        break;
    default:
        break;
    }
}

/* Nothing of the rest matters: no row comes of it. */
static bool is_useless(const event_text *text, const ridge_trace_options *options)
{
    if (text->is_metadata)
        return false;
    if (text->is_begin && !text->has_category) /* counted where it is work */
        return false;
    return (text->has_phase && !text->is_complete) ||
           (text->has_category && (text->event->class == KINETO_OTHER ||
                                   (text->event->class == KINETO_PYTHON && options->no_python)));
}

/* Past the rest of an object, from between two of its members. */
static const char *skip_rest(const char *at, const char *end)
{
    for (;;) {
        kineto_slice text;
        bool has_escape;

        at = kineto_find_bracket(at, end);
        if (at == end)
            return kineto_cut;
        if (*at == '}')
            return at + 1;
        if (*at == ']')
            return kineto_bad;
        at = *at == '"' ? kineto_text(at + 1, end, &text, &has_escape) : kineto_container(at, end);
        if (kineto_failed(at))
            return at;
    }
}

static const char *read_value(const char *at, const char *end, kineto_slice key, event_text *text,
                              const ridge_trace_options *options)
{
    kineto_slice value;
    bool is_text, has_escape = false;

    if (kineto_is(key, "args") && *at == '{' && text->has_category &&
        has_arguments(text->event, options))
        return read_arguments(at + 1, end, text->event);
    at = kineto_value(at, end, &value, &is_text, &has_escape);
    if (kineto_failed(at))
        return at;
    if (kineto_is(key, "args"))
        text->arguments = value;
    else
        read_member(text, key, value, has_escape);
    return at;
}

/* From the opening bracket to behind the closing one. */
static const char *read_event(const char *at, const char *end, event_text *text,
                              const ridge_trace_options *options)
{
    at++;
    for (;;) {
        kineto_slice key;

        at = kineto_space(at, end);
        if (at == end)
            return kineto_cut;
        if (*at == ',') {
            at++;
            continue;
        }
        if (*at == '}')
            break;
        if (*at != '"')
            return kineto_bad;
        at = kineto_key(at + 1, end, &key);
        if (kineto_failed(at))
            return at;
        if (at == end)
            return kineto_cut;
        at = read_value(at, end, key, text, options);
        if (kineto_failed(at))
            return at;
        if (is_useless(text, options))
            return skip_rest(at, end);
    }
    if (text->arguments.size > 0 && text->arguments.data[0] == '{' &&
        has_arguments(text->event, options)) {
        const char *const arguments = text->arguments.data;

        read_arguments(arguments + 1, arguments + text->arguments.size, text->event);
    }
    return at + 1;
}

/* -- recovery ---------------------------------------------------------------------------------- */

/* Is this the first member of an event, going by its key? */
static bool is_event_key(const char *at, const char *end)
{
    static const char *const keys[] = {"\"ph\"",  "\"name\"", "\"cat\"", "\"ts\"",
                                       "\"pid\"", "\"tid\"",  "\"dur\"", "\"args\""};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const size_t length = strlen(keys[i]);

        if ((size_t)(end - at) > length && memcmp(at, keys[i], length) == 0) {
            at = kineto_space(at + length, end);
            return at < end && *at == ':';
        }
    }
    return false;
}

bool kineto_is_event(const char *at, const char *begin, const char *end)
{
    const char *before = at;

    if (at == end || *at != '{' || !is_event_key(kineto_space(at + 1, end), end))
        return false;
    /* Not the value of a member: args of metadata have a name, too. */
    while (before > begin && kineto_space(before - 1, before) == before)
        before--;
    return before == begin || before[-1] != ':';
}

const char *kineto_find_event(const char *at, const char *begin, const char *end)
{
    while (at < end && (at = memchr(at, '{', (size_t)(end - at))) != NULL) {
        if (kineto_is_event(at, begin, end))
            return at;
        at++;
    }
    return end;
}

/* -- the array --------------------------------------------------------------------------------- */

static kineto_event *new_row(kineto_events *out)
{
    if (out->count == out->capacity) {
        const size_t capacity = out->capacity == 0 ? 256 : out->capacity * 2;
        kineto_event *const rows = ridge_realloc_array(out->rows, capacity, sizeof(*rows));

        if (rows == NULL) {
            out->failed = true;
            return NULL;
        }
        out->rows = rows;
        out->capacity = capacity;
    }
    return &out->rows[out->count];
}

/* Keeps the row when it is one. False: the event says nothing of use where it should. */
static bool keep_row(kineto_events *out, const event_text *text, const ridge_trace_options *options)
{
    if (text->is_begin) {
        out->begin_count += text->event->class == KINETO_KERNEL ||
                            text->event->class == KINETO_MEMCPY ||
                            text->event->class == KINETO_MEMSET;
        return true;
    }
    if (is_useless(text, options))
        return true;
    if (text->is_metadata) {
        text->event->class = KINETO_METADATA;
        text->event->arguments = text->arguments;
        out->count++;
        return true;
    }
    if (!text->has_phase || (text->is_complete && !text->has_category))
        return text->has_phase; /* complete without a category: not ours */
    if (!text->has_start || text->is_bad_time)
        return false;
    out->has_fraction |= text->has_fraction;
    out->count++;
    return true;
}

/* XLA, and whoever writes a comma behind every event, ends the array with {}. */
static bool is_empty(const char *begin, const char *end)
{
    return *begin == '{' && kineto_space(begin + 1, end) == end - 1;
}

static void skip_event(kineto_events *out, const char *bytes, const char *at)
{
    out->event_count++;
    if (out->skipped_count++ == 0)
        out->first_skipped = (size_t)(at - bytes);
}

void kineto_scan_events(const char *bytes, size_t size, const ridge_trace_options *options,
                        bool is_last, kineto_events *out)
{
    const char *at = bytes, *const end = bytes + size;

    out->count = out->event_count = out->skipped_count = out->begin_count = 0;
    out->first_skipped = SIZE_MAX;
    out->stop = KINETO_STOP_END;
    out->has_fraction = false;
    while (!out->failed) {
        const char *const begin = at = kineto_space(at, end);
        event_text text = {0};

        if (at == end)
            break;
        if (*at == ',') {
            at++;
            continue;
        }
        if (*at == ']') {
            at++;
            out->stop = KINETO_STOP_CLOSED;
            break;
        }
        text.event = new_row(out);
        if (text.event == NULL)
            break;
        *text.event = (kineto_event){.name = {"", 0}};
        at = *at == '{' ? read_event(at, end, &text, options) : kineto_bad;
        if (!kineto_failed(at)) {
            if (keep_row(out, &text, options))
                out->event_count++;
            else if (!is_empty(begin, at))
                skip_event(out, bytes, begin);
            continue;
        }
        if (at == kineto_cut && !is_last && end - begin < KINETO_LARGEST_BYTES) {
            out->stop = KINETO_STOP_CUT;
            at = begin;
            break;
        }
        if (at == kineto_cut && is_last && kineto_find_event(begin + 1, bytes, end) == end) {
            out->stop = KINETO_STOP_CUT;
            at = end;
            break;
        }
        skip_event(out, bytes, begin);
        at = kineto_find_event(begin + 1, bytes, end);
    }
    out->stop_at = (size_t)(at - bytes);
}
