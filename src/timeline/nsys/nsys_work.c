/* SPDX-License-Identifier: Apache-2.0
 *
 * What ran on the GPUs: kernels, copies, sets, whole graphs. */
#include <stdio.h>
#include <string.h>

#include "timeline/nsys/nsys_internal.h"

/* The columns that all work has, in the same places of each table below. */
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PROCESS, COMMON };
#define COMMON_COLUMNS                                                                             \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
#define COMMON_REQUIRED (1u << START | 1u << END | 1u << DEVICE | 1u << STREAM)

/* -- whose the work is --------------------------------------------------------------------------- */

/* Old exports, and stripped ones, do not say. Of one process it is, where one alone called. */
static void see_caller(nsys_reader *reader, const nsys_row *row)
{
    const int64_t pid = nsys_pid_of(row->values[0]);

    if (!nsys_has(row, 0) || (reader->caller_count > 0 && pid == reader->caller))
        return;
    reader->caller = pid;
    reader->caller_count += reader->caller_count < 2;
}

static const nsys_table callers = {"CUPTI_ACTIVITY_KIND_RUNTIME", {"globalTid"}, 0, 0, see_caller};

int64_t nsys_owner(const nsys_reader *reader, const nsys_row *row, unsigned column)
{
    if (nsys_has(row, column))
        return row->values[column];
    return reader->caller_count == 1 ? reader->caller << 24 : 0;
}

static bool names_process(nsys_reader *reader, const nsys_table *table)
{
    return !nsys_has_table(&reader->database, table->name) ||
           nsys_first_is_number(&reader->database, table->name, "globalPid");
}

/* Adds the work when its common columns make sense. */
static void add_work(nsys_reader *reader, const nsys_row *row, ridge_trace_op *op)
{
    nsys_place place = {.global = nsys_owner(reader, row, PROCESS),
                        .device = row->values[DEVICE],
                        .context = nsys_value(row, CONTEXT, 0),
                        .id = row->values[STREAM]};

    op->start_ns = row->values[START];
    op->end_ns = row->values[END];
    op->api = RIDGE_TRACE_NONE;
    if (!nsys_is_time(op->start_ns) || !nsys_is_time(op->end_ns) ||
        !nsys_find_place(reader, &place)) {
        reader->trace->info.skipped_count++;
        return;
    }
    op->stream = place.stream;
    trace_add_op(reader->trace, op,
                 (trace_key){(uint64_t)nsys_value(row, CORRELATION, 0), place.process});
}

/* -- kernels ----------------------------------------------------------------------------------- */

enum {
    DEMANGLED = COMMON,
    SHORT,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    REGISTERS,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    KERNEL_NODE,
    KERNEL_GRAPH
};

static void add_kernel(nsys_reader *reader, const nsys_row *row)
{
    const ridge_trace_config config = {
        .grid = {nsys_small(row, GRID_X), nsys_small(row, GRID_Y), nsys_small(row, GRID_Z)},
        .block = {nsys_small(row, BLOCK_X), nsys_small(row, BLOCK_Y), nsys_small(row, BLOCK_Z)},
        .registers = nsys_small(row, REGISTERS),
        .static_shared_bytes = nsys_small(row, STATIC_SHARED),
        .dynamic_shared_bytes = nsys_small(row, DYNAMIC_SHARED)};
    ridge_trace_op op = {.kind = RIDGE_OP_KERNEL, .bytes = RIDGE_TRACE_BYTES_UNKNOWN};

    op.name = nsys_has(row, DEMANGLED) ? nsys_string_name(reader, row->values[DEMANGLED]) : 0;
    op.short_name = nsys_has(row, SHORT) ? nsys_string_name(reader, row->values[SHORT]) : 0;
    op.name = op.name != 0 ? op.name : op.short_name;
    op.short_name = op.short_name != 0 ? op.short_name : op.name;
    op.config = trace_config(reader->trace, &config);
    op.graph = nsys_small(row, KERNEL_GRAPH);
    if (nsys_value(row, KERNEL_NODE, 0) != 0)
        op.flags |= RIDGE_OP_IN_GRAPH;
    add_work(reader, row, &op);
}

static const nsys_table kernels = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                   {COMMON_COLUMNS, "demangledName", "shortName", "gridX", "gridY",
                                    "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                                    "staticSharedMemory", "dynamicSharedMemory", "graphNodeId",
                                    "graphId"},
                                   COMMON_REQUIRED,
                                   0,
                                   add_kernel};

/* -- copies and sets --------------------------------------------------------------------------- */

enum { BYTES = COMMON, NODE, KIND, SOURCE, DESTINATION };

/* The tool's numbers of kinds of memory (ENUM_CUDA_MEM_KIND) are not CUPTI's. */
static uint8_t place_of(const nsys_row *row, unsigned column)
{
    static const uint8_t places[] = {RIDGE_PLACE_PAGEABLE, RIDGE_PLACE_PINNED,  RIDGE_PLACE_DEVICE,
                                     RIDGE_PLACE_ARRAY,    RIDGE_PLACE_MANAGED, RIDGE_PLACE_DEVICE,
                                     RIDGE_PLACE_MANAGED};
    const int64_t kind = nsys_value(row, column, -1);

    return kind >= 0 && kind < (int64_t)sizeof(places) ? places[kind] : RIDGE_PLACE_UNKNOWN;
}

static void fill_copy(const nsys_row *row, ridge_trace_op *op)
{
    const int64_t bytes = nsys_value(row, BYTES, -1);

    op->bytes = bytes >= 0 ? (uint64_t)bytes : RIDGE_TRACE_BYTES_UNKNOWN;
    op->config = RIDGE_TRACE_NONE;
    if (nsys_value(row, NODE, 0) != 0)
        op->flags |= RIDGE_OP_IN_GRAPH;
}

static void add_memcpy(nsys_reader *reader, const nsys_row *row)
{
    const int64_t kind = nsys_value(row, KIND, 0);
    ridge_trace_op op = {.kind = RIDGE_OP_MEMCPY};
    char name[64];

    fill_copy(row, &op);
    op.copy = kind >= 0 && kind <= RIDGE_COPY_UNIFIED_DTOD ? (uint8_t)kind : RIDGE_COPY_UNKNOWN;
    op.source = place_of(row, SOURCE) & 0xfu;
    op.destination = place_of(row, DESTINATION) & 0xfu;
    snprintf(name, sizeof(name), "[CUDA memcpy %s]", ridge_copy_name(op.copy));
    op.name = op.short_name = trace_intern(reader->trace, name, strlen(name));
    add_work(reader, row, &op);
}

static void add_memset(nsys_reader *reader, const nsys_row *row)
{
    static const char name[] = "[CUDA memset]";
    ridge_trace_op op = {.kind = RIDGE_OP_MEMSET};

    fill_copy(row, &op);
    op.destination = place_of(row, KIND) & 0xfu;
    op.name = op.short_name = trace_intern(reader->trace, name, sizeof(name) - 1);
    add_work(reader, row, &op);
}

static const nsys_table copies = {
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    {COMMON_COLUMNS, "bytes", "graphNodeId", "copyKind", "srcKind", "dstKind"},
    COMMON_REQUIRED,
    0,
    add_memcpy};

static const nsys_table sets = {"CUPTI_ACTIVITY_KIND_MEMSET",
                                {COMMON_COLUMNS, "bytes", "graphNodeId", "memKind"},
                                COMMON_REQUIRED,
                                0,
                                add_memset};

/* -- graphs as a whole ------------------------------------------------------------------------- */

enum { GRAPH = COMMON, GRAPH_EXEC };

static void add_graph(nsys_reader *reader, const nsys_row *row)
{
    ridge_trace_op op = {.kind = RIDGE_OP_GRAPH,
                         .bytes = RIDGE_TRACE_BYTES_UNKNOWN,
                         .config = RIDGE_TRACE_NONE,
                         .graph = nsys_small(row, GRAPH)};
    char name[64];

    if (nsys_has(row, GRAPH_EXEC))
        snprintf(name, sizeof(name), "[CUDA graph %u exec %u]", op.graph,
                 nsys_small(row, GRAPH_EXEC));
    else
        snprintf(name, sizeof(name), "[CUDA graph %u]", op.graph);
    op.name = op.short_name = trace_intern(reader->trace, name, strlen(name));
    add_work(reader, row, &op);
}

static const nsys_table graphs = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                  {COMMON_COLUMNS, "graphId", "graphExecId"},
                                  COMMON_REQUIRED,
                                  0,
                                  add_graph};

void nsys_read_work(nsys_reader *reader)
{
    if (!names_process(reader, &kernels) || !names_process(reader, &copies) ||
        !names_process(reader, &sets) || !names_process(reader, &graphs)) {
        nsys_scan(reader, &callers);
        reader->trace->info.has_several_callers = reader->caller_count > 1;
    }
    nsys_scan(reader, &kernels);
    nsys_scan(reader, &copies);
    nsys_scan(reader, &sets);
    nsys_scan(reader, &graphs);
}
