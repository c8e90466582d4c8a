/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge doctor: what there is on this machine and what is not, what follows from it, and which parts
 * of ridge work here. */
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "doctor.h"
#include "options.h"

static const char usage[] = "ridge doctor [options]";

enum { LABEL_COLUMNS = 21, TEXT_BYTES = 512 };

/* -- what is there ----------------------------------------------------------------------------- */

static bool has_gpu(const struct doctor *seen)
{
    return seen->driver.gpu_count > 0;
}

static bool may_count(const struct doctor *seen)
{
    return seen->counters == DOCTOR_COUNTERS_ALL || seen->counters == DOCTOR_COUNTERS_ADMIN;
}

static bool may_try_counters(const struct doctor *seen)
{
    return seen->counters != DOCTOR_COUNTERS_REFUSED;
}

static bool has_ncu(const struct doctor *seen)
{
    return seen->tools[DOCTOR_NCU].is_found;
}

static bool has_nvcc(const struct doctor *seen)
{
    return seen->tools[DOCTOR_NVCC].is_found;
}

static bool has_sanitizer(const struct doctor *seen)
{
    return seen->tools[DOCTOR_SANITIZER].is_found;
}

static bool has_nvdisasm(const struct doctor *seen)
{
    return seen->tools[DOCTOR_NVDISASM].is_found;
}

static bool has_python(const struct doctor *seen)
{
    return seen->tools[DOCTOR_PYTHON].is_found;
}

static bool has_torch(const struct doctor *seen)
{
    return seen->torch[0] != '\0';
}

static bool has_cupti(const struct doctor *seen)
{
    return seen->has_cupti;
}

/* What --require takes. */
static const struct requirement {
    const char *name;
    bool (*is_met)(const struct doctor *seen);
} requirements[] = {
    {"gpu", has_gpu},           {"counters", may_count},
    {"ncu", has_ncu},           {"nvcc", has_nvcc},
    {"torch", has_torch},       {"python3", has_python},
    {"cupti", has_cupti},       {"compute-sanitizer", has_sanitizer},
    {"nvdisasm", has_nvdisasm},
};

static const char *const requirement_names[] = {
    "gpu",   "counters",          "ncu",      "nvcc", "torch", "python3",
    "cupti", "compute-sanitizer", "nvdisasm", NULL,
};

static const struct requirement *find_requirement(const char *name, size_t length)
{
    size_t i;

    for (i = 0; i < sizeof(requirements) / sizeof(requirements[0]); i++)
        if (strlen(requirements[i].name) == length &&
            strncmp(requirements[i].name, name, length) == 0)
            return &requirements[i];
    return NULL;
}

/* The next name of a list "gpu,torch"; false behind the last. */
static bool next_name(const char **list, const char **name, size_t *length)
{
    *name = *list;
    *length = strcspn(*list, ",");
    *list += *length;
    *list += **list == ',';
    return *length > 0 || *list != *name;
}

static int check_list(const char *list)
{
    const char *name;
    size_t length;

    while (next_name(&list, &name, &length))
        if (find_requirement(name, length) == NULL)
            return cli_usage_error("--require '%.*s', expected gpu, counters, ncu, nvcc, torch, "
                                   "python3, cupti, compute-sanitizer or nvdisasm",
                                   (int)length, name);
    return CLI_DONE;
}

/* The next requirement of the list that is not met; NULL: none is left. */
static const struct requirement *next_missing(const char **list, const struct doctor *seen)
{
    const char *name;
    size_t length;

    while (next_name(list, &name, &length)) {
        const struct requirement *const wanted = find_requirement(name, length);

        if (!wanted->is_met(seen))
            return wanted;
    }
    return NULL;
}

/* -- what follows ------------------------------------------------------------------------------ */

static const char *counters_text(const struct doctor *seen)
{
    switch (seen->counters) {
    case DOCTOR_COUNTERS_ALL:
        return "allowed for every user";
    case DOCTOR_COUNTERS_ADMIN:
        return "allowed: for administrators only, which this user is";
    case DOCTOR_COUNTERS_REFUSED:
        return "refused: for administrators only. Run ridge profile as root (a container needs "
               "--cap-add=SYS_ADMIN), or let an administrator load the module nvidia with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    case DOCTOR_COUNTERS_UNKNOWN:
    default:
        return "not known: there is no /proc/driver/nvidia/params; ridge profile will say";
    }
}

/* A tool that is missing: what follows and what to do. */
static const char *const without_tool[DOCTOR_TOOL_COUNT] = {
    [DOCTOR_NCU] = "ridge profile needs it: install Nsight Compute or the CUDA toolkit",
    [DOCTOR_NVCC] = "it compiles kernels in CUDA C++: install the CUDA toolkit; ridge needs none",
    [DOCTOR_SANITIZER] =
        "it finds bad accesses and races in a kernel; it comes with the CUDA toolkit",
    [DOCTOR_NVDISASM] = "optional, ridge inspect reads machine code by itself",
    [DOCTOR_PYTHON] = "Python on a GPU needs it, with torch",
};

static const char *tool_text(const struct doctor *seen, enum doctor_tool_id id,
                             char text[TEXT_BYTES])
{
    const struct doctor_tool *const tool = &seen->tools[id];
    const char *const place = tool->is_on_path ? "" : " (installed, not on PATH)";

    if (!tool->is_found)
        snprintf(text, TEXT_BYTES, "not found; %s", without_tool[id]);
    else if (tool->is_silent)
        snprintf(text, TEXT_BYTES,
                 "found%s; no version in time: the machine is busy, or try --wait 20", place);
    else
        snprintf(text, TEXT_BYTES, "%s%s", tool->version[0] != '\0' ? tool->version : "found",
                 place);
    return text;
}

/* A part of ridge and what it needs: the first that is missing is the reason. */
struct need {
    bool (*is_met)(const struct doctor *seen);
    const char *otherwise;
};

static const struct part {
    const char *name, *key;
    struct need needs[3];
    const char *why; /* it works */
    const char *cpu; /* what is left without its needs; NULL: nothing */
} parts[] = {
    {"bound, occupancy, banks", "bound", {{NULL}}, "computes from the numbers of a chip", NULL},
    {"diagnose, diff, source", "diagnose", {{NULL}}, "reads reports", NULL},
    {"timeline, redact", "timeline", {{NULL}}, "reads traces; redact reports too", NULL},
    {"inspect", "inspect", {{NULL}}, "reads compiled code", NULL},
    {"check on the CPU", "check_cpu", {{NULL}}, "kernels with code for the CPU device", NULL},
    {"check on a GPU", "check_gpu", {{has_gpu, "no GPU"}}, "on cuda:0", NULL},
    {"bench, compare", "bench", {{has_gpu, "no GPU"}}, "on cuda:0", "on the CPU device"},
    {"Python on the CPU",
     "python_cpu",
     {{has_python, "no python3"}},
     "callables on host memory: ctypes, array, torch",
     NULL},
    {"Python on a GPU",
     "python",
     {{has_gpu, "no GPU"}, {has_python, "no python3"}, {has_torch, "no torch in python3"}},
     "with torch",
     NULL},
    {"profile",
     "profile",
     {{has_gpu, "no GPU"}, {has_ncu, "no ncu"}, {may_try_counters, "counters are refused"}},
     "with ncu",
     NULL},
    {"record", "record", {{has_gpu, "no GPU"}, {has_cupti, "no CUPTI"}}, "with CUPTI", NULL},
};

enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]) };

/* NULL: nothing is missing. */
static const char *missing_for(const struct part *part, const struct doctor *seen)
{
    size_t i;

    for (i = 0; i < sizeof(part->needs) / sizeof(part->needs[0]); i++)
        if (part->needs[i].is_met != NULL && !part->needs[i].is_met(seen))
            return part->needs[i].otherwise;
    return NULL;
}

/* -- text -------------------------------------------------------------------------------------- */

static void write_labelled(ridge_output *output, const char *label, const char *format, ...)
    RIDGE_PRINTF(3, 4);
static void write_labelled(ridge_output *output, const char *label, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_labelled(output, LABEL_COLUMNS, label, text);
}

static const char *number(double value, ridge_unit unit, char buffer[32])
{
    return ridge_number_text(value, unit, buffer, 32);
}

/* Why a clock is where it is; "" for no reason. */
static const char *reasons_text(unsigned reasons, char text[TEXT_BYTES])
{
    static const struct {
        unsigned bit;
        const char *text;
    } rows[] = {
        {RIDGE_CLOCK_IDLE, "idle"},
        {RIDGE_CLOCK_POWER_CAP, "held down by the power limit"},
        {RIDGE_CLOCK_THERMAL, "held down by heat"},
        {RIDGE_CLOCK_LOCKED, "set by nvidia-smi"},
        {RIDGE_CLOCK_OTHER, "held down"},
    };
    size_t i;

    text[0] = '\0';
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((reasons & rows[i].bit) != 0)
            snprintf(text + strlen(text), TEXT_BYTES - strlen(text), "%s%s",
                     text[0] != '\0' ? ", " : " (", rows[i].text);
    if (text[0] != '\0')
        snprintf(text + strlen(text), TEXT_BYTES - strlen(text), ")");
    return text;
}

static void write_clocks(ridge_output *output, const struct doctor_gpu *gpu)
{
    const ridge_device_info *const info = &gpu->info;
    char a[32], b[32], reasons[TEXT_BYTES];

    if (!info->has_clocks) {
        write_labelled(output, "  clocks",
                       "not known: NVML (libnvidia-ml.so.1) does not answer; "
                       "comparisons run, but say nothing of clocks");
        return;
    }
    write_labelled(
        output, "  clocks", "%s now%s, up to %s%s", number(gpu->clocks.sm_hz, RIDGE_UNIT_HZ, a),
        reasons_text(gpu->clocks.reasons, reasons), number(info->clock_hz, RIDGE_UNIT_HZ, b),
        (gpu->clocks.reasons & RIDGE_CLOCK_LOCKED) != 0 ? "" : "; not locked, as far as NVML says");
    if (!isnan(gpu->clocks.power_w))
        write_labelled(output, "  power", "%.0f of %.0f W, %.0f C", gpu->clocks.power_w,
                       info->power_limit_w, gpu->clocks.temperature_c);
}

static void write_gpu(ridge_output *output, const struct doctor_gpu *gpu, bool verbose)
{
    const ridge_device_info *const info = &gpu->info;
    char label[24], a[32], b[32];

    snprintf(label, sizeof(label), "cuda:%d", info->index);
    write_labelled(output, label, "%s, sm_%d, %d SMs, %s at %s%s%s", info->name, info->sm_version,
                   info->sm_count, number((double)info->memory_bytes, RIDGE_UNIT_BYTES, a),
                   number(info->memory_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, b),
                   info->virtualization[0] != '\0' ? ", in a virtual machine: " : "",
                   info->virtualization);
    if (verbose)
        write_labelled(output, "  uuid", "%s", info->uuid[0] != '\0' ? info->uuid : "n/a");
    write_clocks(output, gpu);
    write_labelled(output, "  ECC, MIG", "ECC %s, MIG %s", info->is_ecc ? "on" : "off",
                   info->is_mig ? "on: a part of the GPU, whose roofs are not the chip's" : "off");
    if (gpu->processes > 0)
        write_labelled(output, "  other processes",
                       "%d: they disturb what is measured, see nvidia-smi", gpu->processes);
    else
        write_labelled(output, "  other processes", "%s",
                       gpu->processes == 0 ? "none" : "not known: NVML does not say");
}

static void write_head(ridge_output *output, const struct doctor *seen)
{
    const struct doctor_driver *const driver = &seen->driver;
    char text[TEXT_BYTES];

    if (driver->gpu_count == 0) {
        snprintf(text, sizeof(text), "No GPU here: %s.", driver->why);
        ridge_output_wrap(output, 0, "", text);
        ridge_output_wrap(output, 0, "",
                          "check, compare and bench run on the CPU device; what reads files or "
                          "computes from a chip's numbers needs no GPU.");
        return;
    }
    snprintf(text, sizeof(text), "%d GPU%s: %s, sm_%d", driver->gpu_count,
             driver->gpu_count == 1 ? "" : "s", driver->gpus[0].info.name,
             driver->gpus[0].info.sm_version);
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text);
    ridge_output_text(output, "\n");
}

static void write_machine(ridge_output *output, const struct doctor *seen, bool verbose)
{
    const struct doctor_driver *const driver = &seen->driver;
    char text[TEXT_BYTES];
    int i;

    ridge_output_text(output, "\n");
    if (driver->gpu_count > 0)
        write_labelled(output, "driver", "%s, CUDA %d.%d",
                       driver->gpus[0].info.driver[0] != '\0' ? driver->gpus[0].info.driver
                                                              : "version n/a",
                       driver->gpus[0].info.cuda_driver_version / 1000,
                       driver->gpus[0].info.cuda_driver_version % 1000 / 10);
    for (i = 0; i < driver->gpu_count && i < DOCTOR_GPUS_MOST; i++)
        if (driver->gpus[i].info.index == i)
            write_gpu(output, &driver->gpus[i], verbose);
    if (driver->gpu_count > 0 || seen->counters != DOCTOR_COUNTERS_UNKNOWN)
        write_labelled(output, "counters", "%s", counters_text(seen));
    for (i = 0; i < DOCTOR_TOOL_COUNT; i++)
        write_labelled(output, doctor_tool_name((enum doctor_tool_id)i), "%s",
                       tool_text(seen, (enum doctor_tool_id)i, text));
    if (has_python(seen))
        write_labelled(output, "torch", "%s",
                       has_torch(seen) ? seen->torch
                       : seen->tools[DOCTOR_PYTHON].is_silent
                           ? "not known: python3 did not answer in time, try --wait 20"
                           : "not in python3: kernels that are Python callables need it");
    write_labelled(output, "CUPTI", "%s%s%s%s",
                   !seen->has_cupti ? "not found; ridge record needs it: it comes with the CUDA "
                                      "toolkit and with torch, or pip install "
                                      "nvidia-cuda-cupti-cu12"
                   : seen->cupti_version[0] != '\0' ? seen->cupti_version
                                                    : "found",
                   seen->cupti_path[0] != '\0' ? ", " : "", seen->cupti_path, "");
    if (verbose)
        write_labelled(output, "ridge", "%s, %s, sqlite %s", ridge_version(),
                       ridge_built_with(text, sizeof(text)), sqlite3_libversion());
}

static const ridge_column part_columns[] = {
    {"name", "What works here", RIDGE_UNIT_NONE, true, 0, 0},
    {"works", "Works", RIDGE_UNIT_NONE, true, 0, 0},
    {"why", "Why", RIDGE_UNIT_NONE, true, 0, 0},
};

static void write_parts(ridge_output *output, const struct doctor *seen)
{
    ridge_table *const table = ridge_table_create(part_columns, 3);
    size_t i;

    for (i = 0; i < PART_COUNT; i++) {
        const char *const missing = missing_for(&parts[i], seen);
        char why[96];

        ridge_table_text(table, parts[i].name);
        ridge_table_bool(table, missing == NULL || parts[i].cpu != NULL);
        snprintf(why, sizeof(why), "%s%s%s",
                 missing == NULL || parts[i].cpu == NULL ? "" : parts[i].cpu,
                 missing == NULL || parts[i].cpu == NULL ? "" : ": ",
                 missing == NULL ? parts[i].why : missing);
        ridge_table_text(table, why);
    }
    ridge_output_text(output, "\n");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

static void write_missing(ridge_output *output, const struct doctor *seen, const char *required)
{
    const struct requirement *missing = next_missing(&required, seen);
    const char *before = "\nRequired and missing: ";

    if (missing == NULL)
        return;
    for (; missing != NULL; missing = next_missing(&required, seen)) {
        ridge_output_format(output, "%s%s", before, missing->name);
        before = ", ";
    }
    ridge_output_text(output, "\n");
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void json_gpu(ridge_json *json, const struct doctor_gpu *gpu, bool verbose)
{
    const ridge_device_info *const info = &gpu->info;

    ridge_json_begin_object(json, NULL);
    ridge_json_integer(json, "index", info->index);
    ridge_json_text(json, "name", info->name);
    if (verbose)
        ridge_json_text(json, "uuid", info->uuid[0] != '\0' ? info->uuid : NULL);
    ridge_json_integer(json, "sm_version", info->sm_version);
    ridge_json_integer(json, "sm_count", info->sm_count);
    ridge_json_count(json, "memory_bytes", info->memory_bytes);
    ridge_json_number(json, "memory_bytes_per_s", info->memory_bytes_per_s);
    ridge_json_count(json, "l2_bytes", info->l2_bytes);
    ridge_json_number(json, "clock_hz", info->clock_hz);
    ridge_json_number(json, "sm_hz", gpu->clocks.sm_hz);
    ridge_json_number(json, "memory_hz", gpu->clocks.memory_hz);
    ridge_json_bool(json, "is_locked", (gpu->clocks.reasons & RIDGE_CLOCK_LOCKED) != 0);
    ridge_json_number(json, "power_w", gpu->clocks.power_w);
    ridge_json_number(json, "power_limit_w", info->power_limit_w);
    ridge_json_number(json, "temperature_c", gpu->clocks.temperature_c);
    ridge_json_bool(json, "is_ecc", info->is_ecc);
    ridge_json_bool(json, "is_mig", info->is_mig);
    ridge_json_bool(json, "has_clocks", info->has_clocks);
    ridge_json_bool(json, "has_virtual_memory", info->has_virtual_memory);
    ridge_json_text(json, "virtualization", info->virtualization);
    if (gpu->processes >= 0)
        ridge_json_integer(json, "other_processes", gpu->processes);
    else
        ridge_json_null(json, "other_processes");
    ridge_json_end_object(json);
}

static void json_driver(ridge_json *json, const struct doctor *seen, bool verbose)
{
    const struct doctor_driver *const driver = &seen->driver;
    const ridge_device_info *const first = &driver->gpus[0].info;
    int i;

    ridge_json_begin_object(json, "driver");
    ridge_json_text(json, "version",
                    driver->gpu_count > 0 && first->driver[0] != '\0' ? first->driver : NULL);
    if (driver->gpu_count > 0)
        ridge_json_integer(json, "cuda_driver_version", first->cuda_driver_version);
    else
        ridge_json_null(json, "cuda_driver_version");
    ridge_json_text(json, "why_no_gpu", driver->gpu_count > 0 ? NULL : driver->why);
    ridge_json_end_object(json);
    ridge_json_begin_array(json, "gpus");
    for (i = 0; i < driver->gpu_count && i < DOCTOR_GPUS_MOST; i++)
        if (driver->gpus[i].info.index == i)
            json_gpu(json, &driver->gpus[i], verbose);
    ridge_json_end_array(json);
    ridge_json_begin_object(json, "counters");
    if (seen->counters == DOCTOR_COUNTERS_UNKNOWN)
        ridge_json_null(json, "is_allowed");
    else
        ridge_json_bool(json, "is_allowed", may_count(seen));
    ridge_json_text(json, "why", counters_text(seen));
    ridge_json_end_object(json);
}

static void json_tools(ridge_json *json, const struct doctor *seen)
{
    int i;

    ridge_json_begin_array(json, "tools");
    for (i = 0; i < DOCTOR_TOOL_COUNT; i++) {
        const struct doctor_tool *const tool = &seen->tools[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", doctor_tool_name((enum doctor_tool_id)i));
        ridge_json_bool(json, "is_found", tool->is_found);
        ridge_json_bool(json, "is_on_path", tool->is_on_path);
        ridge_json_text(json, "version", tool->version[0] != '\0' ? tool->version : NULL);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_text(json, "torch", has_torch(seen) ? seen->torch : NULL);
    ridge_json_bool(json, "has_cupti", seen->has_cupti);
    ridge_json_text(json, "cupti_path", seen->cupti_path[0] != '\0' ? seen->cupti_path : NULL);
    ridge_json_text(json, "cupti_version",
                    seen->cupti_version[0] != '\0' ? seen->cupti_version : NULL);
}

static void write_json(ridge_output *output, const struct doctor *seen, bool verbose,
                       const char *required)
{
    ridge_json *const json = ridge_json_create(output);
    const struct requirement *missing;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-doctor/1");
    json_driver(json, seen, verbose);
    json_tools(json, seen);
    ridge_json_begin_array(json, "parts");
    for (i = 0; i < PART_COUNT; i++) {
        const char *const reason = missing_for(&parts[i], seen);

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", parts[i].key);
        ridge_json_bool(json, "works", reason == NULL || parts[i].cpu != NULL);
        ridge_json_text(json, "missing", reason);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "missing");
    while ((missing = next_missing(&required, seen)) != NULL)
        ridge_json_text(json, NULL, missing->name);
    ridge_json_end_array(json);
    if (verbose) {
        char text[128];

        ridge_json_text(json, "ridge", ridge_version());
        ridge_json_text(json, "built_with", ridge_built_with(text, sizeof(text)));
        ridge_json_text(json, "sqlite", sqlite3_libversion());
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the command ------------------------------------------------------------------------------- */

enum { WAIT_MOST_S = 600 };

int cmd_doctor(int argc, char **argv)
{
    static struct doctor seen;
    struct cli_output out = {0};
    const char *required = "";
    double wait_s = 1.8;
    bool verbose = false;
    const struct option options[] = {
        OPT_WORDS(0, "require", &required, "WHAT,...", requirement_names,
                  "exit with 1 when one of these is missing: gpu, counters, ncu, nvcc, torch, "
                  "python3, cupti, compute-sanitizer, nvdisasm"),
        OPT_NUMBER(0, "wait", &wait_s, "SECONDS",
                   "wait so long for the driver and the programs; 1.8"),
        OPT_FLAG('v', "verbose", &verbose, "also identifiers of GPUs and versions of libraries"),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    const char *list;
    ridge_output *output;
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc > 1)
        return cli_usage_error("expected no argument, got '%s'", argv[1]);
    if (!(wait_s > 0 && wait_s <= WAIT_MOST_S))
        return cli_usage_error("--wait %g, expected more than 0, up to %d seconds", wait_s,
                               WAIT_MOST_S);
    status = check_list(required);
    if (status != CLI_DONE)
        return status;
    doctor_look(&seen, wait_s);

    output = cli_open(&out);
    if (out.format == RIDGE_FORMAT_JSON) {
        write_json(output, &seen, verbose, required);
    } else {
        write_head(output, &seen);
        write_machine(output, &seen, verbose);
        write_parts(output, &seen);
        write_missing(output, &seen, required);
    }
    list = required;
    return cli_close(output, next_missing(&list, &seen) != NULL ? CLI_NO : CLI_DONE);
}
