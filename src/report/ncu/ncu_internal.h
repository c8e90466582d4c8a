/* SPDX-License-Identifier: Apache-2.0
 *
 * The native Nsight Compute report, read in place. docs/formats/ncu-rep.md describes the bytes;
 * the enums below are the field numbers of its protobuf messages. */
#ifndef RIDGE_NCU_INTERNAL_H
#define RIDGE_NCU_INTERNAL_H

#include "report/report_internal.h"

enum ncu_block_header_field {
    NCU_BLOCK_SOURCES = 1,
    NCU_BLOCK_RESULTS = 2,
    NCU_BLOCK_SESSION = 3,
    NCU_BLOCK_STRINGS = 4,
    NCU_BLOCK_PAYLOAD_BYTES = 5,
    NCU_BLOCK_PROCESS = 6,
    NCU_BLOCK_RANGES = 7,
    NCU_BLOCK_COMMAND_LISTS = 8,
    NCU_BLOCK_GRAPHS = 9
};

/* Fields of the results; those that all kinds have stand under other numbers in each. */
enum ncu_result_field {
    NCU_KERNEL_METRIC = 13,
    NCU_KERNEL_SOURCE = 15,
    NCU_KERNEL_SECTION = 17,
    NCU_KERNEL_RULE = 19,
    NCU_KERNEL_CONTEXT = 22,
    NCU_KERNEL_STREAM = 23,
    NCU_KERNEL_CLOCKS = 25,
    NCU_RANGE_METRIC = 4,
    NCU_RANGE_SECTION = 7,
    NCU_RANGE_CONTEXT = 11,
    NCU_RANGE_CLOCKS = 12,
    NCU_RANGE_SOURCE = 15,
    NCU_RANGE_RULE = 20,
    NCU_GRAPH_METRIC = 4,
    NCU_GRAPH_SECTION = 7,
    NCU_GRAPH_CONTEXT = 11,
    NCU_GRAPH_STREAM = 12,
    NCU_GRAPH_CLOCKS = 13,
    NCU_GRAPH_SOURCE = 17,
    NCU_GRAPH_RULE = 22
};

/* Fields that only a kernel's result has. */
enum ncu_kernel_field {
    NCU_KERNEL_MANGLED_NAME = 5,
    NCU_KERNEL_FUNCTION_NAME = 6,
    NCU_KERNEL_DEMANGLED_NAME = 7,
    NCU_KERNEL_GRID = 10,
    NCU_KERNEL_BLOCK = 11,
    NCU_KERNEL_RENAMED = 31
};

enum ncu_metric_field { NCU_METRIC_NAME = 1, NCU_METRIC_VALUE = 2, NCU_METRIC_INSTANCE = 3 };

enum ncu_value_field {
    NCU_VALUE_TEXT = 1,
    NCU_VALUE_FLOAT = 2,
    NCU_VALUE_DOUBLE = 3,
    NCU_VALUE_UINT32 = 4,
    NCU_VALUE_UINT64 = 5
};

/* The first message after the magic: its only field so far, and its value in every version. */
enum { NCU_FILE_VERSION_FIELD = 1 };

/* Adds what one result message holds; kind says which of the four it is. False when out of
 * memory. A malformed message adds a warning and no kernel. */
bool ncu_result_read(ridge_report *report, ridge_slice message, ridge_result_kind kind);

/* Merges one SessionDetails message. False when out of memory. */
bool ncu_session_read(ridge_report *report, ridge_slice message);
/* Merges the Process message of a block header. */
bool ncu_process_read(ridge_report *report, ridge_slice message);
/* Adds one SourceData message: a cubin, its sources, where its functions were loaded. */
bool ncu_source_read(ridge_report *report, ridge_slice message);

/* A Value message into *out. */
void ncu_value_read(ridge_slice message, ridge_value *out);

/* The offset of a slice in the file, for messages. */
size_t ncu_offset(const ridge_report *report, ridge_slice slice);

#endif
