/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of Kineto in four steps: bytes come in and are unpacked (input), cut into blocks that end
 * between two events (blocks), scanned into events (event), and become rows (rows); document.c
 * leads. The first three run beside each other in threads of their own; only the last touches the
 * trace. */
#ifndef RIDGE_KINETO_INTERNAL_H
#define RIDGE_KINETO_INTERNAL_H

#include "base/text.h"
#include "timeline/kineto/kineto_scan.h"
#include "timeline/timeline_internal.h"

/* -- bytes ------------------------------------------------------------------------------------- */

typedef struct kineto_input kineto_input;

/* Exactly one of path and memory. */
ridge_status kineto_input_open(const char *path, const void *memory, size_t size_bytes,
                               kineto_input **out, ridge_error *err);
void kineto_input_free(kineto_input *input);
/* Up to capacity unpacked bytes; less at the end alone, which may come early: see damage. */
size_t kineto_input_read(kineto_input *input, char *out, size_t capacity);
/* Why the bytes ended before the data did; NULL. Asked after the last read. */
const char *kineto_input_damage(const kineto_input *input);
bool kineto_input_is_packed(const kineto_input *input);
uint64_t kineto_input_size(const kineto_input *input); /* as stored */

/* An event or member of the document that is waited for. */
enum { KINETO_LARGEST_BYTES = 16 << 20 };

/* -- events ------------------------------------------------------------------------------------ */

typedef enum kineto_class {
    KINETO_OTHER, /* counted, not kept */
    KINETO_KERNEL,
    KINETO_MEMCPY,
    KINETO_MEMSET,
    KINETO_API,
    KINETO_OP,
    KINETO_ANNOTATION,
    KINETO_PYTHON,
    KINETO_OVERHEAD,
    KINETO_SYNC,
    KINETO_METADATA /* of a thread or process: no row of its own */
} kineto_class;

/* An event that becomes a row. Slices point into the block. */
typedef struct kineto_event {
    int64_t start_ns, duration_ns;
    kineto_slice name, tid, pid;
    kineto_slice dims, types, strides; /* of an operation's inputs: behind the opening bracket */
    kineto_slice values;               /* of those that are numbers, likewise */
    kineto_slice arguments;            /* of metadata */
    kineto_slice kind;                 /* of a copy or synchronisation */
    kineto_slice grid, block;          /* of a kernel: behind the opening bracket */
    int64_t correlation, device, stream, context, bytes, graph, graph_node;
    int64_t registers, shared_bytes;
    uint8_t class; /* kineto_class */
    bool name_has_escape, has_device, has_stream, has_bytes, has_graph, is_collective;
    bool has_duration;
} kineto_event;

typedef enum kineto_stop {
    KINETO_STOP_END,   /* all bytes were read, the last one between two events */
    KINETO_STOP_CUT,   /* an event begins at stop_at and does not end */
    KINETO_STOP_CLOSED /* the array ended before stop_at */
} kineto_stop;

/* What a piece of the array of events holds. */
typedef struct kineto_events {
    kineto_event *rows;
    size_t count, capacity;
    size_t event_count;   /* of every kind, with the malformed */
    size_t skipped_count; /* malformed */
    size_t begin_count;   /* events that begin work of a GPU which others end: not read */
    size_t first_skipped; /* offset; SIZE_MAX */
    size_t stop_at;
    kineto_stop stop;
    bool has_fraction; /* a time has decimals */
    bool failed;       /* out of memory */
} kineto_events;

/* Scans from between two events. is_last: nothing comes after these bytes, so that an event which
 * does not end is looked through for whole ones, as is one of more than KINETO_LARGEST_BYTES. */
void kineto_scan_events(const char *bytes, size_t size, const ridge_trace_options *options,
                        bool is_last, kineto_events *out);
/* Does an event seem to begin here? Where does one, from here on; end: nowhere. A guess: it may be
 * inside another. begin bounds the look back. */
bool kineto_is_event(const char *at, const char *begin, const char *end);
const char *kineto_find_event(const char *at, const char *begin, const char *end);

/* -- blocks ------------------------------------------------------------------------------------ */

typedef struct kineto_block {
    char *bytes; /* with KINETO_GUARD_BYTES behind */
    size_t size;
    bool is_scanned; /* as if it began between two events, which is for the reader to find out */
    bool is_last, failed;
    kineto_events events;
} kineto_block;

typedef struct kineto_blocks kineto_blocks;

ridge_status kineto_blocks_open(kineto_input *input, const ridge_trace_options *options,
                                kineto_blocks **out, ridge_error *err);
void kineto_blocks_free(kineto_blocks *blocks); /* stops the threads */
/* The next block, good until the next call; NULL after the last. */
kineto_block *kineto_blocks_next(kineto_blocks *blocks);

/* -- texts ------------------------------------------------------------------------------------- */

/* A text with its escapes resolved; what is none stays. */
void kineto_add_unescaped(ridge_text *out, kineto_slice text);
/* Do the numbers among the inputs decide what is to do, as strides of a convolution? */
bool kineto_needs_values(const kineto_event *event);
/* The inputs, as in ridge_trace_range.shapes; of a list of tensors each. */
void kineto_add_shapes(ridge_text *out, const kineto_event *event);

/* Of deviceProperties. */
typedef struct kineto_chip {
    int64_t id;
    kineto_slice name; /* with its escapes */
    uint32_t sm_count, major, minor;
} kineto_chip;

enum { KINETO_CHIPS = 64 }; /* at most */

/* number: its id when it has none. */
bool kineto_read_chip(kineto_slice object, size_t number, kineto_chip *out);
uint32_t kineto_u32(int64_t value); /* clamped */

/* -- processes --------------------------------------------------------------------------------- */

/* A process whose pid is a text: tools that merge the traces of ranks write "[TP00] 4711". */
typedef struct kineto_label {
    uint32_t label; /* a name: what all events of the rank share */
    uint32_t process;
    int64_t number;
} kineto_label;

typedef struct kineto_labels {
    kineto_label *rows; /* KINETO_LABELS */
    size_t count;
} kineto_labels;

enum { KINETO_LABELS = 512 }; /* at most; others are of no process */

/* The row of the process that this pid means. */
uint32_t kineto_process(kineto_labels *labels, ridge_trace *trace, kineto_slice pid);
/* A name for all work whose events have such a pid: the label, or the number. */
uint32_t kineto_group(ridge_trace *trace, kineto_slice pid);

/* -- rows -------------------------------------------------------------------------------------- */

typedef struct kineto_rows kineto_rows;

kineto_rows *kineto_rows_create(ridge_trace *trace, const ridge_trace_options *options);
void kineto_rows_free(kineto_rows *rows);
void kineto_rows_add(kineto_rows *rows, const kineto_event *event);
/* A member of the document that is not the events: deviceProperties, ... */
bool kineto_rows_wants(kineto_slice key);
void kineto_rows_metadata(kineto_rows *rows, kineto_slice key, kineto_slice value);
/* After the last: devices, processes, the producer. */
void kineto_rows_finish(kineto_rows *rows);

/* Work has no process of its own in the file: finds that of its call. Where several processes called
 * the GPU, a stream that they share by number becomes one of each. */
void kineto_assign_processes(ridge_trace *trace, const kineto_labels *labels);

/* -- walking ----------------------------------------------------------------------------------- */

/* Sees the file in place of the rows, in its order. What it is given is good for the call. */
typedef struct kineto_sink {
    void *context;
    void (*event)(void *context, const kineto_event *event);
    /* Every member beside the events that is not too large; is_known: kineto_rows_wants() it. */
    void (*member)(void *context, kineto_slice key, kineto_slice value, bool is_known);
} kineto_sink;

/* Fills in trace->info alone; setting trace->failed ends the walk. */
ridge_status kineto_walk_file(ridge_trace *trace, const char *path, const kineto_sink *sink,
                              ridge_error *err);

#endif
