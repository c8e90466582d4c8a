/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge doctor finds on a machine. Everything is looked at at once, in processes of its own
 * with one deadline: a driver that hangs or crashes costs an answer, not the command. */
#ifndef RIDGE_CLI_DOCTOR_H
#define RIDGE_CLI_DOCTOR_H

#include <stdbool.h>

#include "ridge/device.h"

enum { DOCTOR_GPUS_MOST = 16, DOCTOR_TEXT = 64 };

struct doctor_gpu {
    ridge_device_info info;
    ridge_clock_reading clocks;
    int processes; /* that compute on it; -1: not known */
};

/* What a process of the driver reports; plain data, sent through a pipe. */
struct doctor_driver {
    int gpu_count;
    char why[256]; /* there is none, or it hung or crashed */
    struct doctor_gpu gpus[DOCTOR_GPUS_MOST];
};

enum doctor_tool_id {
    DOCTOR_NCU,
    DOCTOR_NVCC,
    DOCTOR_SANITIZER,
    DOCTOR_NVDISASM,
    DOCTOR_PYTHON,
    DOCTOR_TOOL_COUNT
};

struct doctor_tool {
    bool is_found, is_silent;  /* silent: no version in time */
    bool is_on_path;           /* else in a usual place */
    char version[DOCTOR_TEXT]; /* "" unknown */
};

enum doctor_counters {
    DOCTOR_COUNTERS_UNKNOWN, /* no driver, or one that does not say */
    DOCTOR_COUNTERS_ALL,     /* every user may read them */
    DOCTOR_COUNTERS_ADMIN,   /* only an administrator, which this process is */
    DOCTOR_COUNTERS_REFUSED
};

struct doctor {
    struct doctor_driver driver;
    struct doctor_tool tools[DOCTOR_TOOL_COUNT];
    char torch[DOCTOR_TEXT]; /* version; "" none */
    bool has_cupti;
    char cupti_version[DOCTOR_TEXT]; /* "13"; "" not known */
    char cupti_path[1024];           /* of the first; "" none */
    enum doctor_counters counters;
};

/* Looks for wait_s seconds at most. RIDGE_DOCTOR_ROOT, for tests, is put before the absolute paths
 * that are looked at. */
void doctor_look(struct doctor *out, double wait_s);
const char *doctor_tool_name(enum doctor_tool_id tool);

#endif
