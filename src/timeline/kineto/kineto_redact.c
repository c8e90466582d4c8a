/* SPDX-License-Identifier: Apache-2.0
 *
 * Kineto traces without what tells who made them: of each event what ridge reads, written anew in
 * the order of the file. Whatever else a profiler put there (environment, jobs, call stacks, process
 * groups) is read for names alone.
 *
 * The file is walked twice, as a stream: names are learned from its members, metadata and texts,
 * then it is written. So memory does not grow with the file. */
#include "timeline/trace_redact_internal.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/redact_names.h"
#include "base/text.h"
#include "timeline/kineto/kineto_internal.h"
#include "timeline/kineto/kineto_redact_id.h"

typedef enum text_kind {
    TEXT_FREE,   /* scrubbed */
    TEXT_FRAME,  /* of Python: "train/model.py(12): forward"; the path may be relative */
    TEXT_PUBLIC, /* the name of a call or kernel: stays */
} text_kind;

typedef struct redactor {
    ridge_trace *trace; /* of the walk at hand; interns the names of calls in the first */
    redact_names names;
    ridge_trace_redaction *summary;
    ridge_text plain, clean; /* a text as read and as written */
    sum_groups id_words;     /* in the texts of processes and threads */
    ridge_text shapes;
    ridge_text line; /* the event at hand */
    ridge_text head; /* members, as they will be written */
    ridge_text devices;
    bool has_fraction;
    gzFile file; /* NULL: the first walk */
    uint64_t written_count;
    bool cannot_write;
} redactor;

static ridge_slice slice_of(const char *text, size_t length)
{
    return (ridge_slice){(const uint8_t *)text, length};
}

/* -- texts ------------------------------------------------------------------------------------- */

/* Where the relative path of a frame ends; 0: there is none, or it is the framework's own. */
static size_t relative_path(const char *text, size_t length)
{
    const char *const open = length > 0 ? memchr(text, '(', length) : NULL;
    const size_t end = open != NULL ? (size_t)(open - text) : 0;

    if (end < 4 || memcmp(open - 3, ".py", 3) != 0 || text[0] == '/' || text[0] == '<' ||
        text[1] == ':' || (end > 6 && memcmp(text, "torch/", 6) == 0))
        return 0;
    return memchr(text, '/', end) != NULL || memchr(text, '\\', end) != NULL ? end : 0;
}

static void paths_of(redactor *to, const char *text, size_t length, text_kind kind, uint8_t *out)
{
    const size_t path = kind == TEXT_FRAME ? relative_path(text, length) : 0;

    if (path > 0)
        redact_path(&to->names, slice_of(text, path), REDACT_END_FILE, out);
    redact_paths_in(&to->names, slice_of(text + path, length - path),
                    out != NULL ? out + path : NULL);
}

static void keep_remaining(redactor *to, size_t count)
{
    const redact_name *const found = to->names.found;

    if (count > 0 && found != NULL && to->summary->remaining_count == 0) {
        const size_t size = found->text.size < sizeof(to->summary->remaining)
                                ? found->text.size
                                : sizeof(to->summary->remaining) - 1;

        memcpy(to->summary->remaining, found->text.data, size);
    }
    to->summary->remaining_count += count;
}

static void read_plain(redactor *to, kineto_slice text)
{
    ridge_text_clear(&to->plain);
    kineto_add_unescaped(&to->plain, text);
}

/* Into clean, as it may be shown. */
static void scrub(redactor *to, kineto_slice text, text_kind kind)
{
    ridge_slice plain;

    read_plain(to, text);
    ridge_text_clear(&to->clean);
    ridge_text_add_bytes(&to->clean, to->plain.data, to->plain.length);
    if (to->clean.failed || to->clean.length == 0)
        return;
    plain = slice_of(to->plain.data, to->plain.length);
    if (kind == TEXT_PUBLIC) {
        keep_remaining(to, redact_mentions(&to->names, plain, NULL));
        return;
    }
    paths_of(to, to->plain.data, to->plain.length, kind, (uint8_t *)to->clean.data);
    to->names.mention_count += redact_mentions(
        &to->names, slice_of(to->clean.data, to->clean.length), (uint8_t *)to->clean.data);
}

static void add_quoted(ridge_text *out, const char *text, size_t length)
{
    ridge_text_add(out, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            ridge_text_format(out, "\\%c", c);
        else if (c < 0x20)
            ridge_text_format(out, "\\u%04x", c);
        else
            ridge_text_add_bytes(out, &text[i], 1);
    }
    ridge_text_add(out, "\"");
}

static void add_text(redactor *to, ridge_text *out, kineto_slice text, text_kind kind)
{
    scrub(to, text, kind);
    add_quoted(out, to->clean.data, to->clean.length);
}

/* A process or thread: a number as one, of anything else the words that are known. */
static void add_id(redactor *to, const char *key, kineto_slice value)
{
    ridge_text *const out = &to->line;
    int64_t number;

    if (value.data == NULL)
        return;
    ridge_text_format(out, ", \"%s\": ", key);
    if (kineto_integer(value, &number)) {
        ridge_text_format(out, "%" PRId64, number);
        return;
    }
    read_plain(to, value);
    ridge_text_clear(&to->clean);
    if (to->plain.failed || !kineto_add_redacted_id(&to->clean, &to->id_words,
                                                    slice_of(to->plain.data, to->plain.length),
                                                    &to->names.mention_count))
        to->trace->failed = true;
    else
        add_quoted(out, to->clean.data, to->clean.length);
}

/* -- learning ---------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t size = strlen(end);

    if (length < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[length - size + i];

        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != end[i])
            return false;
    }
    return true;
}

/* What a member says when its key ends so: "host_name", "tw_user", "HOSTNAME". */
static const struct {
    const char *key;
    redact_kind kind;
} keys[] = {
    {"hostname", REDACT_HOST},       {"host_name", REDACT_HOST},
    {"host", REDACT_HOST},           {"nodename", REDACT_HOST},
    {"node_name", REDACT_HOST},      {"computername", REDACT_HOST},
    {"user", REDACT_USER},           {"username", REDACT_USER},
    {"user_name", REDACT_USER},      {"logname", REDACT_USER},
    {"owner", REDACT_USER},          {"author", REDACT_USER},
    {"started_by", REDACT_USER},     {"submitted_by", REDACT_USER},
    {"ssh_client", REDACT_ADDRESS},  {"ssh_connection", REDACT_ADDRESS},
    {"master_addr", REDACT_ADDRESS}, {"ip_address", REDACT_ADDRESS},
};

/* A text of a member or of metadata. What stands in two words is no name. */
static void learn_text(redactor *to, kineto_slice key, kineto_slice text)
{
    size_t word = 0;

    read_plain(to, text);
    if (to->plain.failed)
        return;
    redact_paths_in(&to->names, slice_of(to->plain.data, to->plain.length), NULL);
    while (word < to->plain.length && (unsigned char)to->plain.data[word] > ' ')
        word++;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (ends_with(key.data, key.size, keys[i].key) &&
            (word == to->plain.length || keys[i].kind == REDACT_ADDRESS) &&
            memchr(to->plain.data, '/', word) == NULL)
            redact_learn_name(&to->names, keys[i].kind, slice_of(to->plain.data, word));
}

static bool is_environment(kineto_slice key)
{
    return ends_with(key.data, key.size, "environment") ||
           ends_with(key.data, key.size, "environ") || ends_with(key.data, key.size, "env");
}

/* All texts in a value, with the key that stands last before each. */
static void learn_value(redactor *to, kineto_slice key, kineto_slice value)
{
    const char *at = value.data, *const end = kineto_end(value);
    const char *variables_end = is_environment(key) ? end : at;

    while ((at = kineto_find_quote(at, end)) < end) {
        kineto_slice text;
        bool has_escape;

        if (*at++ != '"')
            continue;
        at = kineto_text(at, end, &text, &has_escape);
        if (kineto_failed(at))
            break;
        at = kineto_space(at, end);
        if (at == end || *at != ':') {
            learn_text(to, key, text);
            continue;
        }
        key = text;
        at = kineto_space(at + 1, end);
        if (at < variables_end) {
            to->summary->environment_count++;
        } else if (is_environment(key) && at < end && *at == '{') {
            const char *const behind = kineto_container(at, end);

            variables_end = kineto_failed(behind) ? end : behind;
        }
    }
}

static void learn_member(redactor *to, kineto_slice key, kineto_slice value, bool is_known)
{
    if (value.size > 0 && (value.data[0] == '{' || value.data[0] == '['))
        learn_value(to, key, value);
    else
        learn_text(to, key, value);
    to->summary->part_count += !is_known;
}

static void learn_id(redactor *to, kineto_slice id)
{
    int64_t number;

    if (id.data == NULL || kineto_integer(id, &number))
        return;
    read_plain(to, id);
    if (!to->plain.failed)
        kineto_learn_id(&to->names, slice_of(to->plain.data, to->plain.length));
}

static void learn_event(redactor *to, const kineto_event *event)
{
    learn_id(to, event->pid);
    switch (event->class) {
    case KINETO_METADATA:
        if (event->arguments.size > 0)
            learn_value(to, (kineto_slice){"", 0}, event->arguments);
        break;
    case KINETO_KERNEL:
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
        break;
    case KINETO_API: /* for their words, see learn_words() */
        trace_intern(to->trace, event->name.data, event->name.size);
        break;
    default:
        read_plain(to, event->name);
        if (to->plain.failed)
            break;
        paths_of(to, to->plain.data, to->plain.length,
                 event->class == KINETO_PYTHON ? TEXT_FRAME : TEXT_FREE, NULL);
        if (event->class == KINETO_OP && to->plain.length > 6 &&
            memcmp(to->plain.data, "aten::", 6) == 0)
            trace_intern(to->trace, to->plain.data, to->plain.length);
    }
}

/* Words of CUDA's calls, PyTorch's operations and the profiler's own texts are no names. */
static void learn_words(redactor *to)
{
    static const char words[] =
        "ProfilerStep# enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ "
        "Optimizer.step#zero_grad nccl: all_reduce all_gather Event Sync Stream Wait Context "
        "Device stream PyTorch Profiler Command Buffer Full Lazy Function Module Loading Driver "
        "Compiler Flush Instrumentation Resource Activity Request UVM Init torch forward backward";
    const size_t count = ridge_trace_name_count(to->trace);

    redact_learn_common(&to->names, slice_of(words, sizeof(words) - 1));
    for (uint32_t i = 1; i <= count; i++) {
        size_t length;
        const char *const text = ridge_trace_name(to->trace, i, &length);

        redact_learn_common(&to->names, slice_of(text, length));
    }
}

/* -- events ------------------------------------------------------------------------------------ */

static void write_text(redactor *to, ridge_text *text)
{
    if (!text->failed && text->length > 0 &&
        gzwrite(to->file, text->data, (unsigned)text->length) != (int)text->length)
        to->cannot_write = to->trace->failed = true;
    to->trace->failed |= text->failed;
}

/* Microseconds with the digits that the file had. */
static void add_time(redactor *to, const char *key, int64_t ns)
{
    const uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;

    ridge_text_format(&to->line, ", \"%s\": %s%" PRIu64, key, ns < 0 ? "-" : "", size / 1000);
    if (to->has_fraction)
        ridge_text_format(&to->line, ".%03" PRIu64, size % 1000);
}

static void add_number(ridge_text *out, const char *key, int64_t number)
{
    ridge_text_format(out, ", \"%s\": %" PRId64, key, number);
}

static void add_three(ridge_text *out, const char *key, kineto_slice text)
{
    const char *at = text.data, *const end = kineto_end(text);
    kineto_slice value;
    int64_t number;
    int count = 0;

    if (at == NULL)
        return;
    ridge_text_format(out, ", \"%s\": [", key);
    while (count < 3 && kineto_member(&at, end, NULL, &value) && kineto_integer(value, &number))
        ridge_text_format(out, "%s%" PRId64, count++ > 0 ? ", " : "", number);
    ridge_text_add(out, "]");
}

/* What tells the stream and the call, of work and synchronisation. */
static void add_place(redactor *to, const kineto_event *event)
{
    ridge_text *const out = &to->line;

    if (event->has_device)
        add_number(out, "device", event->device);
    if (event->has_stream)
        add_number(out, "stream", event->stream);
    if (event->context != 0)
        add_number(out, "context", event->context);
    if (event->correlation != 0)
        add_number(out, "correlation", event->correlation);
}

static void add_work(redactor *to, const kineto_event *event)
{
    ridge_text *const out = &to->line;

    add_place(to, event);
    if (event->has_bytes)
        add_number(out, "bytes", event->bytes);
    if (event->has_graph)
        add_number(out, "graph id", event->graph);
    if (event->graph_node != 0)
        add_number(out, "graph node id", event->graph_node);
    if (event->is_collective)
        ridge_text_add(out, ", \"Collective name\": \"\"");
    if (event->class == KINETO_MEMCPY && event->kind.data != NULL) {
        ridge_text_add(out, ", \"kind\": ");
        add_text(to, out, event->kind, TEXT_FREE);
    }
    add_three(out, "grid", event->grid);
    add_three(out, "block", event->block);
    if (event->registers != 0)
        add_number(out, "registers per thread", event->registers);
    if (event->shared_bytes != 0)
        add_number(out, "shared memory", event->shared_bytes);
}

enum { LISTS = 4 };

/* One input of the list at hand: dimensions, strides (0 or not), type or value. */
static void add_input(ridge_text *out, const char *at, size_t length, int list)
{
    const char *const open = memchr(at, '[', length);
    const size_t type = open != NULL ? (size_t)(open - at) : length;

    if (list == 3 || (at[0] == '=' && list == 2)) {
        add_quoted(out, at + 1, at[0] == '=' && list == 3 ? length - 1 : 0);
        return;
    }
    if (at[0] == '=') {
        ridge_text_add(out, "[]");
        return;
    }
    if (list == 2) {
        add_quoted(out, at, open != NULL ? type : 0);
        return;
    }
    if (open == NULL)
        ridge_text_add(out, "[]");
    for (size_t i = type; i < length; i++) {
        const bool is_digit = (at[i] >= '0' && at[i] <= '9') || at[i] == '-';

        if (list == 0 ? at[i] != '*' : !is_digit && at[i] != '*')
            ridge_text_add_bytes(out, &at[i], 1);
        else if (list == 1 && is_digit && i + 1 < length && strchr("*,]", at[i + 1]) != NULL)
            ridge_text_add(out, at[i + 1] == '*' ? "0" : "1");
    }
}

/* "bf16[8,4*] - ?[2]" as the lists that it was read from. */
static void add_shapes(redactor *to, const kineto_event *event)
{
    static const char *const lists[LISTS] = {", \"Input Dims\": [", "], \"Input Strides\": [",
                                             "], \"Input type\": [", "], \"Concrete Inputs\": ["};
    ridge_text *const out = &to->line;

    ridge_text_clear(&to->shapes);
    kineto_add_shapes(&to->shapes, event);
    to->trace->failed |= to->shapes.failed;
    for (int list = 0; list < LISTS; list++) {
        ridge_text_add(out, lists[list]);
        for (const char *at = to->shapes.data; *at != '\0';) {
            const size_t length = strcspn(at, " ");

            ridge_text_add(out, at == to->shapes.data ? "" : ", ");
            add_input(out, at, length, list);
            at += length;
            at += *at == ' ';
        }
    }
    ridge_text_add(out, "]");
}

static void add_arguments(redactor *to, const kineto_event *event)
{
    ridge_text *const out = &to->line;
    const size_t begin = out->length;
    static const char open[] = ", \"args\": {";

    ridge_text_add(out, open);
    switch (event->class) {
    case KINETO_KERNEL:
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
        add_work(to, event);
        break;
    case KINETO_SYNC:
        add_place(to, event);
        break;
    case KINETO_API:
        if (event->correlation != 0)
            add_number(out, "correlation", event->correlation);
        break;
    default:
        if (event->dims.data != NULL)
            add_shapes(to, event);
    }
    if (out->failed)
        return;
    if (out->length == begin + strlen(open)) { /* none */
        out->length = begin;
        out->data[begin] = '\0';
        return;
    }
    /* Without the comma of the first one. */
    memmove(out->data + begin + strlen(open), out->data + begin + strlen(open) + 2,
            out->length - begin - strlen(open) - 1);
    out->length -= 2;
    ridge_text_add(out, "}");
}

static void write_event(redactor *to, const kineto_event *event)
{
    static const char *const categories[] = {[KINETO_KERNEL] = "kernel",
                                             [KINETO_MEMCPY] = "gpu_memcpy",
                                             [KINETO_MEMSET] = "gpu_memset",
                                             [KINETO_API] = "cuda_runtime",
                                             [KINETO_OP] = "cpu_op",
                                             [KINETO_ANNOTATION] = "user_annotation",
                                             [KINETO_PYTHON] = "python_function",
                                             [KINETO_OVERHEAD] = "overhead",
                                             [KINETO_SYNC] = "cuda_sync"};
    static const text_kind kinds[] = {
        [KINETO_KERNEL] = TEXT_PUBLIC, [KINETO_MEMCPY] = TEXT_PUBLIC, [KINETO_MEMSET] = TEXT_PUBLIC,
        [KINETO_API] = TEXT_PUBLIC,    [KINETO_PYTHON] = TEXT_FRAME,  [KINETO_SYNC] = TEXT_FREE};
    const bool has_kind = event->class == KINETO_SYNC && event->kind.data != NULL;

    if (event->class == KINETO_METADATA || event->class == KINETO_OTHER)
        return;
    ridge_text_clear(&to->line);
    ridge_text_format(&to->line, "%s  {\"ph\": \"X\", \"cat\": \"%s\", \"name\": ",
                      to->written_count > 0 ? ",\n" : "", categories[event->class]);
    add_text(to, &to->line, has_kind ? event->kind : event->name, kinds[event->class]);
    add_time(to, "ts", event->start_ns);
    if (event->has_duration)
        add_time(to, "dur", event->duration_ns);
    add_id(to, "pid", event->pid);
    add_id(to, "tid", event->tid);
    add_arguments(to, event);
    ridge_text_add(&to->line, "}");
    write_text(to, &to->line);
    to->written_count++;
}

/* -- the document ------------------------------------------------------------------------------ */

/* Members of which nothing but numbers is kept; the rest by name. */
static void keep_member(redactor *to, kineto_slice key, kineto_slice value)
{
    static const char *const numbers[] = {
        "schemaVersion",       "baseTimeNanoseconds", "cupti_version", "roctracer_version",
        "rocprofiler_version", "with_stack",          "record_shapes"};
    const char *at = value.data + 1, *const end = value.data + value.size;
    kineto_slice inner_key, inner;
    int64_t number;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (kineto_is(key, numbers[i]) && kineto_integer(value, &number))
            ridge_text_format(&to->head, "  \"%s\": %.*s,\n", numbers[i], (int)value.size,
                              value.data);
    if (!kineto_is(key, "distributedInfo") || value.size == 0 || value.data[0] != '{')
        return;
    ridge_text_add(&to->head, "  \"distributedInfo\": {");
    for (bool is_first = true; kineto_member(&at, end, &inner_key, &inner);) {
        const char *const name = kineto_is(inner_key, "rank")         ? "rank"
                                 : kineto_is(inner_key, "world_size") ? "world_size"
                                                                      : NULL;

        if (name == NULL || !kineto_integer(inner, &number))
            continue;
        ridge_text_format(&to->head, "%s\"%s\": %" PRId64, is_first ? "" : ", ", name, number);
        is_first = false;
    }
    ridge_text_add(&to->head, "},\n");
}

/* The chips, whose names are scrubbed when all names are known. */
static void write_devices(redactor *to)
{
    const char *at = to->devices.data + 1, *const end = to->devices.data + to->devices.length;
    kineto_slice object;
    size_t count = 0;

    ridge_text_add(&to->line, "  \"deviceProperties\": [");
    while (to->devices.length > 0 && *to->devices.data == '[' &&
           kineto_member(&at, end, NULL, &object)) {
        kineto_chip chip;

        if (!kineto_read_chip(object, count, &chip))
            continue;
        ridge_text_format(&to->line, "%s{\"id\": %" PRId64 ", \"name\": ", count++ > 0 ? ", " : "",
                          chip.id);
        add_text(to, &to->line, chip.name, TEXT_FREE);
        ridge_text_format(&to->line,
                          ", \"computeMajor\": %u, \"computeMinor\": %u, \"numSms\": %u}",
                          chip.major, chip.minor, chip.sm_count);
    }
    ridge_text_add(&to->line, "],\n");
}

static void write_head(redactor *to)
{
    ridge_text_clear(&to->line);
    ridge_text_add(&to->line, "{\n");
    ridge_text_add_bytes(&to->line, to->head.data, to->head.length);
    if (to->devices.length > 0)
        write_devices(to);
    ridge_text_add(&to->line, "  \"traceEvents\": [\n");
    to->trace->failed |= to->head.failed || to->devices.failed;
    write_text(to, &to->line);
}

/* -- the walks --------------------------------------------------------------------------------- */

static void see_event(void *context, const kineto_event *event)
{
    redactor *const to = context;

    if (to->file == NULL)
        learn_event(to, event);
    else
        write_event(to, event);
    to->trace->failed |= to->names.out_of_memory || to->plain.failed || to->clean.failed;
}

static void see_member(void *context, kineto_slice key, kineto_slice value, bool is_known)
{
    redactor *const to = context;

    if (to->file != NULL)
        return;
    learn_member(to, key, value, is_known);
    keep_member(to, key, value);
    if (kineto_is(key, "deviceProperties")) {
        const char guard[KINETO_GUARD_BYTES] = {0};

        ridge_text_clear(&to->devices);
        ridge_text_add_bytes(&to->devices, value.data, value.size);
        ridge_text_add_bytes(&to->devices, guard, sizeof(guard));
        if (!to->devices.failed)
            to->devices.length = value.size;
    }
    to->trace->failed |= to->names.out_of_memory || to->plain.failed;
}

static ridge_status walk(redactor *to, const char *path, ridge_error *err)
{
    const kineto_sink sink = {to, see_event, see_member};
    ridge_status status;

    ridge_trace_free(to->trace);
    to->trace = trace_create();
    if (to->trace == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = kineto_walk_file(to->trace, path, &sink, err);
    if (status != RIDGE_OK)
        return status;
    if (to->trace->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (to->trace->info.is_partial)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "not redacted, for it is damaged: %s",
                          to->trace->info.partial);
    if (to->names.too_many)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "more than %d names of users, hosts and places",
                          REDACT_NAMES);
    return RIDGE_OK;
}

static ridge_status write_file(redactor *to, const char *path, const char *out_path,
                               ridge_error *err)
{
    const size_t length = strlen(out_path);
    const bool is_packed = length > 3 && strcmp(out_path + length - 3, ".gz") == 0;
    ridge_status status = RIDGE_OK;

    to->file = gzopen(out_path, is_packed ? "wb6" : "wbT");
    if (to->file == NULL)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: cannot be written", out_path);
    write_head(to);
    status = to->trace->failed ? RIDGE_ERR_OUT_OF_MEMORY : walk(to, path, err);
    ridge_text_clear(&to->line);
    ridge_text_add(&to->line, "\n  ]\n}\n");
    if (status == RIDGE_OK)
        write_text(to, &to->line);
    to->cannot_write |= gzclose(to->file) != Z_OK;
    if (to->cannot_write)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: cannot be written", out_path);
    if (status == RIDGE_ERR_OUT_OF_MEMORY || to->trace == NULL || to->trace->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    return status;
}

static void summarise(redactor *to)
{
    ridge_trace_redaction *const summary = to->summary;
    const uint64_t count = to->trace->info.event_count;

    summary->format = RIDGE_TRACE_KINETO;
    summary->host_count = to->names.kind_count[REDACT_HOST];
    summary->user_count = to->names.kind_count[REDACT_USER];
    summary->address_count = to->names.kind_count[REDACT_ADDRESS];
    summary->path_count = to->names.path_count;
    summary->mention_count = to->names.mention_count;
    summary->row_count = count > to->written_count ? count - to->written_count : 0;
}

ridge_status kineto_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                           ridge_error *err)
{
    redactor *const to = ridge_calloc(1, sizeof(*to));
    ridge_status status;

    if (to == NULL || !redact_names_init(&to->names)) {
        ridge_free(to);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    to->names.copies_text = true;
    to->summary = summary;
    ridge_text *const texts[] = {&to->plain, &to->clean, &to->shapes,
                                 &to->line,  &to->head,  &to->devices};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ridge_text_init(texts[i]);
    status = walk(to, path, err);
    if (status == RIDGE_OK) {
        to->has_fraction = to->trace->info.resolution_ns == 1;
        learn_words(to);
        status = write_file(to, path, out_path, err);
    }
    if (status == RIDGE_OK)
        summarise(to);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ridge_text_release(texts[i]);
    redact_names_release(&to->names);
    sum_groups_release(&to->id_words);
    ridge_trace_free(to->trace);
    ridge_free(to);
    return status;
}
