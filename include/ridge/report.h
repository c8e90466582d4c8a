/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of Nsight Compute: the native report (.ncu-rep, every version from 2020.2 on, plain or
 * compressed with zstd or gzip) and the raw page of `ncu --csv`.
 *
 * Life of an object: ridge_report_open() maps the file and reads its frames; kernels, metrics,
 * instances and strings are then read in place, so that memory stays near the file's size.
 * ridge_report_free() ends it; everything a getter returns is borrowed until then.
 *
 * Absent, NAN and zero are three things: a getter returns false for what the report does not
 * hold, and gives NAN where the profiler stored NAN ("not available"). */
#ifndef RIDGE_REPORT_H
#define RIDGE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/binary.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_report ridge_report;
typedef struct ridge_report_kernel ridge_report_kernel;

/* RIDGE_ERR_IO: cannot be read (also a directory or a pipe); RIDGE_ERR_FORMAT: not a report, or
 * no complete block in it. A report that is cut or damaged further on opens with what was intact;
 * ridge_report_warning() says so. */
ridge_status ridge_report_open(const char *path, ridge_report **out, ridge_error *err);
/* The same from memory; data is borrowed and must outlive the report. name is used in messages. */
ridge_status ridge_report_read(const void *data, size_t size_bytes, const char *name,
                               ridge_report **out, ridge_error *err);
void ridge_report_free(ridge_report *report);

/* Things worth saying about the file: cut at byte N, an unknown string id. One line each. */
size_t ridge_report_warning_count(const ridge_report *report);
const char *ridge_report_warning(const ridge_report *report, size_t index);
/* True when bytes contradict the format and something was left out: cut, or damaged. */
bool ridge_report_is_damaged(const ridge_report *report);

/* -- session ----------------------------------------------------------------------------------- */

/* What the report says of the session; NULL: not recorded. */
typedef struct ridge_session {
    const char *profiler_version; /* "2025.3.1.0 (build 36398880) (public-release)" */
    const char *cuda_version;     /* "13.0" */
    const char *driver_version;
    const char *host_name;
    const char *process_name;
    const char *command_line; /* of the profiler */
    const char *operating_system;
    uint64_t created_s; /* Unix time; 0: not recorded */
} ridge_session;

const ridge_session *ridge_report_session(const ridge_report *report);

/* -- values ------------------------------------------------------------------------------------ */

typedef enum ridge_value_kind {
    RIDGE_VALUE_ABSENT,
    RIDGE_VALUE_NUMBER, /* double or float */
    RIDGE_VALUE_COUNT,  /* uint32 or uint64 */
    RIDGE_VALUE_TEXT
} ridge_value_kind;

typedef struct ridge_value {
    ridge_value_kind kind;
    double number; /* also set for counts, rounded to double */
    uint64_t count;
    const char *text; /* not NUL-terminated: text_length bytes of the file; borrowed */
    size_t text_length;
} ridge_value;

typedef struct ridge_metric {
    const char *name;  /* NUL-terminated */
    const char *unit;  /* "%", "byte/s"; "" for none; "?" when the name is not known */
    ridge_value value; /* the aggregate over all instances */
    size_t instance_count;
    const void *data; /* for ridge_instances_of() */
    size_t data_bytes;
} ridge_metric;

typedef struct ridge_instance {
    ridge_value id; /* program counter, opcode text, or absent */
    ridge_value value;
} ridge_instance;

typedef struct ridge_instances {
    const void *position, *end;
} ridge_instances;

/* -- kernels ----------------------------------------------------------------------------------- */

typedef enum ridge_result_kind {
    RIDGE_RESULT_KERNEL,
    RIDGE_RESULT_RANGE,
    RIDGE_RESULT_COMMAND_LIST,
    RIDGE_RESULT_GRAPH
} ridge_result_kind;

typedef struct ridge_report_kernel_info {
    ridge_result_kind kind;
    size_t index;               /* in the report, in order of execution */
    const char *name;           /* short: "w02_kernel" */
    const char *demangled_name; /* with template and parameter types; NULL: none */
    const char *mangled_name;   /* NULL: none */
    const char *gpu_name;       /* NULL: not recorded */
    int cc_major, cc_minor;     /* compute capability; 0: not recorded */
    int sm_count;               /* 0: not recorded */
    uint64_t grid[3], block[3]; /* 0: not recorded */
    uint64_t context_id, stream_id;
    double duration_ns; /* NAN: not recorded */
    int clocks_locked;  /* by the profiler: 1 yes, 0 no, -1 not recorded */
    size_t metric_count;
    size_t rule_count;
} ridge_report_kernel_info;

size_t ridge_report_kernel_count(const ridge_report *report);
/* NULL when index is out of range. */
const ridge_report_kernel *ridge_report_kernel_at(const ridge_report *report, size_t index);
const ridge_report_kernel_info *ridge_report_kernel_get_info(const ridge_report_kernel *kernel);

/* Metrics in the report's order. False when index is out of range. */
bool ridge_report_kernel_metric_at(const ridge_report_kernel *kernel, size_t index,
                                   ridge_metric *out);
/* By name; false when the report does not hold it. */
bool ridge_report_kernel_metric(const ridge_report_kernel *kernel, const char *name,
                                ridge_metric *out);
/* The aggregate as a number. False when absent, without aggregate or a text. */
bool ridge_report_kernel_number(const ridge_report_kernel *kernel, const char *name, double *out);

/* Instances of a metric, in the report's order. */
ridge_instances ridge_instances_of(const ridge_metric *metric);
bool ridge_instances_next(ridge_instances *instances, ridge_instance *out);

/* -- NVIDIA's stored rule results -------------------------------------------------------------- */

typedef struct ridge_rule {
    const char *id;        /* "SOLBottleneck" */
    const char *name;      /* "Bottleneck" */
    const char *section;   /* "SpeedOfLight" */
    const char *title;     /* NULL: none */
    const char *message;   /* NULL: none */
    int type;              /* 1 ok, 2 optimisation, 3 warning, 4 error, as stored; -1: none */
    double speedup_frac;   /* NVIDIA's estimate, 0.5 for 50 %; NAN: none */
    int speedup_is_global; /* 1 global, 0 local, -1 none */
} ridge_rule;

/* Rules of a kernel; false when index is out of range. */
bool ridge_report_kernel_rule_at(const ridge_report_kernel *kernel, size_t index, ridge_rule *out);

/* -- modules: code and sources ------------------------------------------------------------------
 */

typedef struct ridge_source_file {
    const char *path;
    const char *text; /* not NUL-terminated; NULL: not imported */
    size_t text_bytes;
} ridge_source_file;

typedef struct ridge_module {
    uint64_t reference;
    int cc_major, cc_minor;
    const uint8_t *binary; /* the cubin; NULL: none */
    size_t binary_bytes;
    const ridge_source_file *files;
    size_t file_count;
} ridge_module;

size_t ridge_report_module_count(const ridge_report *report);
const ridge_module *ridge_report_module(const ridge_report *report, size_t index);
/* The module a kernel ran from; NULL: not in the report. */
const ridge_module *ridge_report_kernel_module(const ridge_report_kernel *kernel);
/* Where the kernel's code was loaded; false when not recorded. */
bool ridge_report_kernel_code_address(const ridge_report_kernel *kernel, uint64_t *address);
/* The imported source of a path; NULL: not in the module. */
const ridge_source_file *ridge_module_file(const ridge_module *module, const char *path);
/* Line 1-based; length 0 and NULL when there is no such line. Not NUL-terminated. */
const char *ridge_source_line(const ridge_source_file *file, uint32_t line, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
