/* SPDX-License-Identifier: Apache-2.0
 *
 * What the readers of all report formats share: the objects behind include/ridge/report.h and the
 * calls that fill them. A reader adds modules and kernels to a report, and metrics to a kernel;
 * report.c answers the getters. */
#ifndef RIDGE_REPORT_INTERNAL_H
#define RIDGE_REPORT_INTERNAL_H

#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "ridge/report.h"

enum {
    REPORT_WARNINGS = 16,           /* kept; further ones are counted only */
    REPORT_UNPACKED_FACTOR = 128,   /* a compressed report may unpack to so many times its size */
    REPORT_UNPACKED_LEAST = 8 << 20 /* or to this many bytes where that is more; measured: 14 */
};

/* A metric as stored. data is what ridge_instances_next() walks: the message in a native report;
 * empty for other formats. */
struct report_metric {
    uint32_t name_index;
    size_t instance_count;
    ridge_value value;
    ridge_slice data;
};

/* Where a function of a module was loaded. */
struct report_address {
    const char *function; /* mangled */
    uint64_t address;
};

struct report_module {
    ridge_module shown;
    ridge_source_file *files;
    size_t file_capacity;
    struct report_address *addresses;
    size_t address_count, address_capacity;
    struct report_address *by_address; /* the same, sorted; of equal ones the first only */
    size_t by_address_count;
};

struct ridge_report_kernel {
    ridge_report *report;
    ridge_report_kernel_info info;
    struct report_metric *metrics;
    size_t metric_capacity;
    uint32_t *metric_slots; /* hash table of metric index plus 1; size a power of two */
    size_t metric_slot_count;
    ridge_rule *rules; /* NVIDIA's stored rule results */
    size_t rule_capacity;
    uint64_t module_reference;
    bool has_module;
    size_t module_index; /* SIZE_MAX: not yet seen */
};

struct ridge_report {
    ridge_arena arena;
    ridge_file file;
    const char *name; /* for messages */
    ridge_session session;
    const char **names; /* of metrics, by index */
    size_t name_count, name_capacity;
    uint32_t *name_slots; /* hash table of name index plus 1; size a power of two */
    size_t name_slot_count;
    bool has_repeated_names;      /* the table holds some name twice */
    ridge_report_kernel *kernels; /* not in the arena */
    size_t kernel_count, kernel_capacity;
    struct report_module *modules;
    size_t module_count, module_capacity;
    uint32_t *module_slots; /* hash table of module index plus 1, the latest of a reference */
    size_t module_slot_count;
    const char *device_name; /* of the session, for results that do not name theirs */
    int device_cc_major, device_cc_minor, device_sm_count;
    const char *warnings[REPORT_WARNINGS];
    size_t warning_count;
    bool is_damaged;
};

/* All of these return false only when out of memory. */

/* Grows an array in the arena to hold one more element. */
bool report_grow(ridge_arena *arena, void *array, size_t count, size_t *capacity, size_t size);
void report_warn(ridge_report *report, const char *format, ...) RIDGE_PRINTF(2, 3);
/* The same for bytes that contradict the format: something was left out. */
void report_damage(ridge_report *report, const char *format, ...) RIDGE_PRINTF(2, 3);
/* Adds a name to the list; the index is the position. Names are copied. */
bool report_add_name(ridge_report *report, ridge_slice name);
/* The index of a name, adding it when new. */
bool report_intern_name(ridge_report *report, const char *name, size_t length, uint32_t *index);
/* A new kernel with every "not recorded" value set; valid until the next one is added. */
bool report_add_kernel(ridge_report *report, ridge_report_kernel **kernel);
/* Room for so many metrics, so that adding them leaves nothing behind in the arena; once, before
 * the first. */
bool report_reserve_metrics(ridge_report_kernel *kernel, size_t count);
/* Room for one more metric, zeroed; the caller fills it. A second metric of the same name
 * replaces the first, as in NVIDIA's reader. name_index must be < name_count. */
bool report_add_metric(ridge_report_kernel *kernel, uint32_t name_index,
                       struct report_metric **metric);
/* A new module, zeroed, the latest of its reference; valid until the next one is added. */
bool report_add_module(ridge_report *report, uint64_t reference, struct report_module **module);
/* To be called when all modules were read: report_find_function() works from then on. */
bool report_finish_modules(ridge_report *report);
/* The latest module of a reference; SIZE_MAX: none. References are unique in a process only, so a
 * result belongs to the latest one before it. */
size_t report_find_module(const ridge_report *report, uint64_t reference);
/* The function of the kernel's module that was loaded nearest below a program counter. */
bool report_find_function(const ridge_report_kernel *kernel, uint64_t pc, const char **name,
                          uint64_t *address);
/* Fills info from the metrics where the result itself does not say (device, duration). To be
 * called when all metrics of the kernel were added. */
void report_finish_kernel(ridge_report_kernel *kernel);
/* A NUL-terminated copy in the arena; NULL for empty text and when out of memory. */
const char *report_copy(ridge_report *report, ridge_slice text);

/* The readers. bytes is the unpacked file, valid as long as the report. */
ridge_status ncu_report_read(ridge_report *report, ridge_slice bytes, ridge_error *err);
ridge_status csv_report_read(ridge_report *report, ridge_slice bytes, ridge_error *err);
/* True when the bytes can be the raw page of `ncu --csv`. */
bool csv_report_recognise(ridge_slice bytes);

#endif
