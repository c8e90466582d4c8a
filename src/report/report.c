/* SPDX-License-Identifier: Apache-2.0
 *
 * A report in memory: names, kernels, metrics and modules as the readers of src/report/ncu and
 * src/report/csv fill them, and the getters of include/ridge/report.h.
 *
 * A kernel finds a metric in two steps: the name in one hash table of the report, then the metric
 * in a dense table of the kernel, since all kernels of a report share their names. */
#include "report/report_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/units.h"

/* -- filling ----------------------------------------------------------------------------------- */

bool report_grow(ridge_arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
    void *old;
    void *bigger;
    size_t bigger_capacity;

    if (count < *capacity)
        return true;
    bigger_capacity = *capacity == 0 ? 8 : *capacity * 2;
    bigger = ridge_alloc_array(arena, bigger_capacity, size);
    if (bigger == NULL)
        return false;
    memcpy(&old, array, sizeof(old)); /* array is the address of a pointer of any type */
    if (count > 0)
        memcpy(bigger, old, count * size);
    memcpy(array, &bigger, sizeof(bigger));
    *capacity = bigger_capacity;
    return true;
}

static void add_warning(ridge_report *report, const char *format, va_list arguments)
    RIDGE_PRINTF(2, 0);

static void add_warning(ridge_report *report, const char *format, va_list arguments)
{
    ridge_error line;
    char text[sizeof(line.text)];

    vsnprintf(text, sizeof(text), format, arguments);
    ridge_fail(&line, RIDGE_ERR_FORMAT, "%s", text); /* takes control characters out */
    if (report->warning_count < REPORT_WARNINGS) {
        const char *const copy = ridge_alloc_text(&report->arena, line.text, strlen(line.text));

        report->warnings[report->warning_count] = copy != NULL ? copy : "out of memory";
    }
    report->warning_count++;
}

void report_warn(ridge_report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_warning(report, format, arguments);
    va_end(arguments);
}

void report_damage(ridge_report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_warning(report, format, arguments);
    va_end(arguments);
    report->is_damaged = true;
}

static size_t hash_of(const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    size_t i;

    for (i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 32));
}

/* The slot of a name, or the empty one where it belongs. There is always an empty one. */
static size_t slot_of(const ridge_report *report, const char *name, size_t length)
{
    const size_t mask = report->name_slot_count - 1;
    size_t slot = hash_of(name, length) & mask;

    while (report->name_slots[slot] != 0) {
        const char *const other = report->names[report->name_slots[slot] - 1];

        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Keeps a hash table at most half full with one entry more. *is_new: it is empty, to be filled.
 * False: out of memory. */
static bool grow_slots(ridge_arena *arena, uint32_t **slots, size_t *slot_count, size_t entries,
                       size_t least, bool *is_new)
{
    size_t wanted = *slot_count == 0 ? least : *slot_count;

    while (wanted / 2 < entries + 1)
        wanted *= 2;
    *is_new = wanted != *slot_count;
    if (!*is_new)
        return true;
    *slots = ridge_alloc_array(arena, wanted, sizeof(**slots));
    *slot_count = *slots != NULL ? wanted : 0;
    return *slots != NULL;
}

static bool make_slots(ridge_report *report)
{
    bool is_new;
    size_t i;

    if (!grow_slots(&report->arena, &report->name_slots, &report->name_slot_count,
                    report->name_count, 1024, &is_new))
        return false;
    for (i = 0; is_new && i < report->name_count; i++) {
        const size_t slot = slot_of(report, report->names[i], strlen(report->names[i]));

        if (report->name_slots[slot] == 0) /* the first of equal names keeps the slot */
            report->name_slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

bool report_add_name(ridge_report *report, ridge_slice name)
{
    size_t slot;
    const char *copy;

    if (report->name_count >= UINT32_MAX - 1 || !make_slots(report) ||
        !report_grow(&report->arena, &report->names, report->name_count, &report->name_capacity,
                     sizeof(report->names[0])))
        return false;
    copy = ridge_alloc_text(&report->arena, (const char *)name.data, name.size);
    if (copy == NULL)
        return false;
    report->names[report->name_count++] = copy;
    slot = slot_of(report, copy, strlen(copy));
    if (report->name_slots[slot] == 0)
        report->name_slots[slot] = (uint32_t)report->name_count;
    else
        report->has_repeated_names = true;
    return true;
}

/* A table may repeat a name; its metrics go by the first index, by which the name is found. */
static uint32_t first_index(const ridge_report *report, uint32_t name_index)
{
    const char *const name = report->names[name_index];

    if (!report->has_repeated_names)
        return name_index;
    return report->name_slots[slot_of(report, name, strlen(name))] - 1;
}

bool report_intern_name(ridge_report *report, const char *name, size_t length, uint32_t *index)
{
    const ridge_slice slice = {(const uint8_t *)name, length};

    if (report->name_slot_count > 0) {
        const size_t slot = slot_of(report, name, length);

        if (report->name_slots[slot] != 0) {
            *index = report->name_slots[slot] - 1;
            return true;
        }
    }
    *index = (uint32_t)report->name_count;
    return report_add_name(report, slice);
}

bool report_add_kernel(ridge_report *report, ridge_report_kernel **out)
{
    ridge_report_kernel *kernel;

    /* Not in the arena, where each smaller array would stay. */
    if (report->kernel_count == report->kernel_capacity) {
        const size_t capacity = report->kernel_capacity == 0 ? 4 : report->kernel_capacity * 2;
        ridge_report_kernel *const kernels =
            ridge_realloc_array(report->kernels, capacity, sizeof(report->kernels[0]));

        if (kernels == NULL)
            return false;
        report->kernels = kernels;
        report->kernel_capacity = capacity;
    }
    kernel = &report->kernels[report->kernel_count];
    memset(kernel, 0, sizeof(*kernel));
    kernel->report = report;
    kernel->info.index = report->kernel_count++;
    kernel->info.name = "?";
    kernel->info.duration_ns = NAN;
    kernel->info.clocks_locked = -1;
    kernel->module_index = SIZE_MAX;
    *out = kernel;
    return true;
}

bool report_reserve_metrics(ridge_report_kernel *kernel, size_t count)
{
    ridge_arena *const arena = &kernel->report->arena;
    size_t slot_count = 4;

    while (slot_count / 2 < count)
        slot_count *= 2;
    kernel->metrics = ridge_alloc_array(arena, count, sizeof(kernel->metrics[0]));
    kernel->metric_slots = ridge_alloc_array(arena, slot_count, sizeof(uint32_t));
    if (kernel->metrics == NULL || kernel->metric_slots == NULL)
        return false;
    kernel->metric_capacity = count;
    kernel->metric_slot_count = slot_count;
    return true;
}

/* The slot of a kernel's metric, or the empty one where it belongs. */
static size_t metric_slot_of(const ridge_report_kernel *kernel, uint32_t name_index)
{
    const size_t mask = kernel->metric_slot_count - 1;
    size_t slot = (name_index * 2654435761u >> 7) & mask; /* Knuth's multiplicative hash */

    while (kernel->metric_slots[slot] != 0 &&
           kernel->metrics[kernel->metric_slots[slot] - 1].name_index != name_index)
        slot = (slot + 1) & mask;
    return slot;
}

/* Keeps the hash table at most half full. */
static bool make_metric_slots(ridge_report_kernel *kernel)
{
    size_t slot_count = kernel->metric_slot_count == 0 ? 16 : kernel->metric_slot_count;
    size_t i;

    while (slot_count / 2 < kernel->info.metric_count)
        slot_count *= 2;
    if (slot_count == kernel->metric_slot_count)
        return true;
    kernel->metric_slots = ridge_alloc_array(&kernel->report->arena, slot_count, sizeof(uint32_t));
    kernel->metric_slot_count = kernel->metric_slots != NULL ? slot_count : 0;
    if (kernel->metric_slots == NULL)
        return false;
    for (i = 0; i < kernel->info.metric_count; i++)
        kernel->metric_slots[metric_slot_of(kernel, kernel->metrics[i].name_index)] =
            (uint32_t)i + 1;
    return true;
}

bool report_add_metric(ridge_report_kernel *kernel, uint32_t name_index, struct report_metric **out)
{
    struct report_metric *metric;
    size_t slot;

    if (!make_metric_slots(kernel))
        return false;
    name_index = first_index(kernel->report, name_index);
    slot = metric_slot_of(kernel, name_index);
    if (kernel->metric_slots[slot] != 0) {
        metric = &kernel->metrics[kernel->metric_slots[slot] - 1];
    } else {
        if (!report_grow(&kernel->report->arena, &kernel->metrics, kernel->info.metric_count,
                         &kernel->metric_capacity, sizeof(kernel->metrics[0])))
            return false;
        metric = &kernel->metrics[kernel->info.metric_count++];
        kernel->metric_slots[slot] = (uint32_t)kernel->info.metric_count;
    }
    memset(metric, 0, sizeof(*metric));
    metric->name_index = name_index;
    *out = metric;
    return true;
}

/* The finalizer of splitmix64, from where the report lies in memory: who writes the file cannot
 * choose references that collide. */
static uint64_t mix(const ridge_report *report, uint64_t reference)
{
    uint64_t h = reference ^ (uint64_t)(uintptr_t)report * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static size_t module_slot_of(const ridge_report *report, uint64_t reference)
{
    const size_t mask = report->module_slot_count - 1;
    size_t slot = (size_t)mix(report, reference) & mask;

    while (report->module_slots[slot] != 0 &&
           report->modules[report->module_slots[slot] - 1].shown.reference != reference)
        slot = (slot + 1) & mask;
    return slot;
}

static bool make_module_slots(ridge_report *report)
{
    bool is_new;
    size_t i;

    if (!grow_slots(&report->arena, &report->module_slots, &report->module_slot_count,
                    report->module_count, 16, &is_new))
        return false;
    for (i = 0; is_new && i < report->module_count; i++)
        report->module_slots[module_slot_of(report, report->modules[i].shown.reference)] =
            (uint32_t)i + 1;
    return true;
}

bool report_add_module(ridge_report *report, uint64_t reference, struct report_module **module)
{
    if (report->module_count >= UINT32_MAX - 1 || !make_module_slots(report) ||
        !report_grow(&report->arena, &report->modules, report->module_count,
                     &report->module_capacity, sizeof(report->modules[0])))
        return false;
    *module = &report->modules[report->module_count++];
    memset(*module, 0, sizeof(**module));
    (*module)->shown.reference = reference;
    report->module_slots[module_slot_of(report, reference)] = (uint32_t)report->module_count;
    return true;
}

size_t report_find_module(const ridge_report *report, uint64_t reference)
{
    if (report->module_slot_count == 0)
        return SIZE_MAX;
    /* An empty slot holds 0. */
    return (size_t)report->module_slots[module_slot_of(report, reference)] - 1;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct report_address *const a = left;
    const struct report_address *const b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->function, b->function);
}

bool report_finish_modules(ridge_report *report)
{
    size_t m, i;

    for (m = 0; m < report->module_count; m++) {
        struct report_module *const module = &report->modules[m];
        size_t count = 0;

        if (module->address_count == 0)
            continue;
        module->by_address =
            ridge_alloc_array(&report->arena, module->address_count, sizeof(module->by_address[0]));
        if (module->by_address == NULL)
            return false;
        memcpy(module->by_address, module->addresses,
               module->address_count * sizeof(module->by_address[0]));
        qsort(module->by_address, module->address_count, sizeof(module->by_address[0]),
              compare_addresses);
        for (i = 0; i < module->address_count; i++)
            if (count == 0 ||
                module->by_address[i].address != module->by_address[count - 1].address)
                module->by_address[count++] = module->by_address[i];
        module->by_address_count = count;
    }
    return true;
}

const char *report_copy(ridge_report *report, ridge_slice text)
{
    return text.size == 0 ? NULL
                          : ridge_alloc_text(&report->arena, (const char *)text.data, text.size);
}

/* An aggregate that is a small whole number, else the fallback. */
static int small_number(const ridge_report_kernel *kernel, const char *name, int fallback)
{
    double value;

    if (!ridge_report_kernel_number(kernel, name, &value) || !(value >= 0 && value <= 1e6))
        return fallback;
    return (int)value;
}

static void fill_extent(const ridge_report_kernel *kernel, const char *prefix, uint64_t extent[3])
{
    size_t i;

    for (i = 0; i < 3; i++) {
        char name[48];
        ridge_metric metric;

        snprintf(name, sizeof(name), "launch__%s_dim_%c", prefix, (char)('x' + (int)i));
        if (ridge_report_kernel_metric(kernel, name, &metric) &&
            metric.value.kind == RIDGE_VALUE_COUNT)
            extent[i] = metric.value.count;
    }
}

void report_finish_kernel(ridge_report_kernel *kernel)
{
    ridge_report *const report = kernel->report;
    ridge_report_kernel_info *const info = &kernel->info;
    ridge_metric metric;
    double value;

    if (info->gpu_name == NULL &&
        ridge_report_kernel_metric(kernel, "device__attribute_display_name", &metric) &&
        metric.value.kind == RIDGE_VALUE_TEXT && metric.value.text_length > 0)
        info->gpu_name =
            ridge_alloc_text(&report->arena, metric.value.text, metric.value.text_length);
    if (info->gpu_name == NULL)
        info->gpu_name = report->device_name;
    if (info->cc_major == 0) {
        info->cc_major = small_number(kernel, "device__attribute_compute_capability_major",
                                      report->device_cc_major);
        info->cc_minor = small_number(kernel, "device__attribute_compute_capability_minor",
                                      report->device_cc_minor);
    }
    if (info->cc_major == 0) {
        const ridge_module *const module = ridge_report_kernel_module(kernel);

        if (module != NULL) {
            info->cc_major = module->cc_major;
            info->cc_minor = module->cc_minor;
        }
    }
    info->sm_count =
        small_number(kernel, "device__attribute_multiprocessor_count",
                     small_number(kernel, "launch__sm_count", report->device_sm_count));
    /* Of several kernels these metrics give the largest extent on each axis. */
    if (info->kind == RIDGE_RESULT_KERNEL && info->grid[0] == 0)
        fill_extent(kernel, "grid", info->grid);
    if (info->kind == RIDGE_RESULT_KERNEL && info->block[0] == 0)
        fill_extent(kernel, "block", info->block);
    if (ridge_report_kernel_number(kernel, "gpu__time_duration.sum", &value) ||
        ridge_report_kernel_number(kernel, "gpu__time_duration.avg", &value))
        info->duration_ns = value;
}

/* -- opening ----------------------------------------------------------------------------------- */

static ridge_status report_create(const char *name, ridge_report **out, ridge_error *err)
{
    ridge_report *const report = ridge_calloc(1, sizeof(*report));

    if (report == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    ridge_arena_init(&report->arena);
    report->name = ridge_alloc_text(&report->arena, name, strlen(name));
    if (report->name == NULL) {
        ridge_report_free(report);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    *out = report;
    return RIDGE_OK;
}

/* Unpacks and reads report->file. */
static ridge_status report_load(ridge_report *report, ridge_error *err)
{
    const size_t packed_bytes = report->file.bytes.size;
    size_t largest_bytes = REPORT_UNPACKED_LEAST;
    ridge_status status;

    if (packed_bytes > largest_bytes / REPORT_UNPACKED_FACTOR)
        largest_bytes = packed_bytes <= SIZE_MAX / REPORT_UNPACKED_FACTOR
                            ? packed_bytes * REPORT_UNPACKED_FACTOR
                            : SIZE_MAX;
    if (packed_bytes == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the file is empty, expected a report");
    status = ridge_file_unpack(&report->file, report->name, largest_bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (csv_report_recognise(report->file.bytes))
        status = csv_report_read(report, report->file.bytes, err);
    else
        status = ncu_report_read(report, report->file.bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (report->kernel_count == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the report holds no kernel result%s%s",
                          report->warning_count > 0 ? ": " : "",
                          report->warning_count > 0 ? report->warnings[0] : "");
    return RIDGE_OK;
}

ridge_status ridge_report_open(const char *path, ridge_report **out, ridge_error *err)
{
    ridge_report *report = NULL;
    ridge_status status;

    *out = NULL;
    status = report_create(path, &report, err);
    if (status != RIDGE_OK)
        return status;
    status = ridge_file_open(path, &report->file, err);
    if (status == RIDGE_OK)
        status = report_load(report, err);
    if (status != RIDGE_OK) {
        ridge_report_free(report);
        return status;
    }
    *out = report;
    return RIDGE_OK;
}

ridge_status ridge_report_read(const void *data, size_t size_bytes, const char *name,
                               ridge_report **out, ridge_error *err)
{
    ridge_report *report = NULL;
    ridge_status status;

    *out = NULL;
    status = report_create(name, &report, err);
    if (status != RIDGE_OK)
        return status;
    report->file.bytes.data = data;
    report->file.bytes.size = size_bytes;
    status = report_load(report, err);
    if (status != RIDGE_OK) {
        ridge_report_free(report);
        return status;
    }
    *out = report;
    return RIDGE_OK;
}

void ridge_report_free(ridge_report *report)
{
    if (report == NULL)
        return;
    ridge_file_release(&report->file);
    ridge_free(report->kernels);
    ridge_arena_release(&report->arena);
    ridge_free(report);
}

/* -- getters ----------------------------------------------------------------------------------- */

size_t ridge_report_warning_count(const ridge_report *report)
{
    return report->warning_count;
}

const char *ridge_report_warning(const ridge_report *report, size_t index)
{
    if (index >= report->warning_count)
        return NULL;
    return index < REPORT_WARNINGS ? report->warnings[index] : "further damage not listed";
}

bool ridge_report_is_damaged(const ridge_report *report)
{
    return report->is_damaged;
}

const ridge_session *ridge_report_session(const ridge_report *report)
{
    return &report->session;
}

size_t ridge_report_kernel_count(const ridge_report *report)
{
    return report->kernel_count;
}

const ridge_report_kernel *ridge_report_kernel_at(const ridge_report *report, size_t index)
{
    return index < report->kernel_count ? &report->kernels[index] : NULL;
}

const ridge_report_kernel_info *ridge_report_kernel_get_info(const ridge_report_kernel *kernel)
{
    return &kernel->info;
}

bool ridge_report_kernel_metric_at(const ridge_report_kernel *kernel, size_t index,
                                   ridge_metric *out)
{
    const struct report_metric *metric;

    memset(out, 0, sizeof(*out));
    if (index >= kernel->info.metric_count)
        return false;
    metric = &kernel->metrics[index];
    out->name = kernel->report->names[metric->name_index];
    out->unit = ridge_metric_unit(out->name);
    out->value = metric->value;
    out->instance_count = metric->instance_count;
    out->data = metric->data.data;
    out->data_bytes = metric->data.size;
    return true;
}

/* The metric of a name; NULL: none. */
static const struct report_metric *find_metric(const ridge_report_kernel *kernel, const char *name)
{
    const ridge_report *const report = kernel->report;
    size_t slot;

    if (report->name_slot_count == 0 || kernel->metric_slot_count == 0)
        return NULL;
    slot = slot_of(report, name, strlen(name));
    if (report->name_slots[slot] == 0)
        return NULL;
    slot = metric_slot_of(kernel, report->name_slots[slot] - 1);
    return kernel->metric_slots[slot] != 0 ? &kernel->metrics[kernel->metric_slots[slot] - 1]
                                           : NULL;
}

bool ridge_report_kernel_metric(const ridge_report_kernel *kernel, const char *name,
                                ridge_metric *out)
{
    const struct report_metric *const metric = find_metric(kernel, name);

    if (metric == NULL) {
        memset(out, 0, sizeof(*out));
        return false;
    }
    return ridge_report_kernel_metric_at(kernel, (size_t)(metric - kernel->metrics), out);
}

bool ridge_report_kernel_number(const ridge_report_kernel *kernel, const char *name, double *out)
{
    const struct report_metric *const metric = find_metric(kernel, name);

    if (metric == NULL ||
        (metric->value.kind != RIDGE_VALUE_NUMBER && metric->value.kind != RIDGE_VALUE_COUNT))
        return false;
    *out = metric->value.number;
    return true;
}

bool ridge_report_kernel_rule_at(const ridge_report_kernel *kernel, size_t index, ridge_rule *out)
{
    if (index >= kernel->info.rule_count) {
        memset(out, 0, sizeof(*out));
        return false;
    }
    *out = kernel->rules[index];
    return true;
}

size_t ridge_report_module_count(const ridge_report *report)
{
    return report->module_count;
}

const ridge_module *ridge_report_module(const ridge_report *report, size_t index)
{
    return index < report->module_count ? &report->modules[index].shown : NULL;
}

static const struct report_module *module_of(const ridge_report_kernel *kernel)
{
    const ridge_report *const report = kernel->report;
    size_t index = kernel->module_index;

    if (kernel->has_module && index == SIZE_MAX)
        index = report_find_module(report, kernel->module_reference);
    return index < report->module_count ? &report->modules[index] : NULL;
}

const ridge_module *ridge_report_kernel_module(const ridge_report_kernel *kernel)
{
    const struct report_module *const module = module_of(kernel);

    return module != NULL ? &module->shown : NULL;
}

bool report_find_function(const ridge_report_kernel *kernel, uint64_t pc, const char **name,
                          uint64_t *address)
{
    const struct report_module *const module = module_of(kernel);
    size_t below = 0, above = module != NULL ? module->by_address_count : 0;

    while (below <
           above) { /* entries before below start at or before pc, those from above behind */
        const size_t middle = below + (above - below) / 2;

        if (module->by_address[middle].address <= pc)
            below = middle + 1;
        else
            above = middle;
    }
    if (below == 0)
        return false;
    *name = module->by_address[below - 1].function;
    *address = module->by_address[below - 1].address;
    return true;
}

/* The program counters at which the functions of a launch start; the kernel's own comes first. */
static bool first_function_pc(const ridge_report_kernel *kernel, uint64_t *address)
{
    ridge_metric metric;
    ridge_instances instances;
    ridge_instance instance;

    if (!ridge_report_kernel_metric(kernel, "launch__function_pcs", &metric))
        return false;
    instances = ridge_instances_of(&metric);
    if (!ridge_instances_next(&instances, &instance) || instance.value.kind != RIDGE_VALUE_COUNT)
        return false;
    *address = instance.value.count;
    return true;
}

bool ridge_report_kernel_code_address(const ridge_report_kernel *kernel, uint64_t *address)
{
    const struct report_module *const module = module_of(kernel);
    size_t i;

    if (module == NULL || kernel->info.mangled_name == NULL)
        return false;
    for (i = 0; i < module->address_count; i++)
        if (strcmp(module->addresses[i].function, kernel->info.mangled_name) == 0) {
            *address = module->addresses[i].address;
            return true;
        }
    /* Before 2022.4 the sources of a report did not say where functions were loaded. */
    return first_function_pc(kernel, address);
}

/* Writes a path without "." and "directory/.." in it; paths that do not fit are cut. */
static void write_plain_path(const char *path, char *plain, size_t size)
{
    size_t length = 0;

    while (*path != '\0' && length + 1 < size) {
        const size_t part = strcspn(path, "/");

        if (part == 2 && path[0] == '.' && path[1] == '.' && length > 1) {
            length--; /* the slash behind the directory that goes */
            while (length > 0 && plain[length - 1] != '/')
                length--;
        } else if (!(part == 1 && path[0] == '.')) {
            const size_t room = size - 1 - length;
            const size_t with_slash = part + (path[part] == '/');
            const size_t copied = with_slash < room ? with_slash : room;

            memcpy(plain + length, path, copied);
            length += copied;
        }
        path += part + (path[part] == '/');
    }
    plain[length] = '\0';
}

const ridge_source_file *ridge_module_file(const ridge_module *module, const char *path)
{
    char wanted[1024], found[1024];
    size_t i;

    for (i = 0; i < module->file_count; i++)
        if (strcmp(module->files[i].path, path) == 0)
            return &module->files[i];
    if (strstr(path, "/.") == NULL)
        return NULL;
    /* The line table has paths as the compiler was given them, the import as the system sees
     * them. */
    write_plain_path(path, wanted, sizeof(wanted));
    for (i = 0; i < module->file_count; i++) {
        write_plain_path(module->files[i].path, found, sizeof(found));
        if (strcmp(wanted, found) == 0)
            return &module->files[i];
    }
    return NULL;
}

const char *ridge_source_line(const ridge_source_file *file, uint32_t line, size_t *length)
{
    const char *position = file->text;
    const char *end;
    const char *newline;

    *length = 0;
    if (position == NULL || line == 0)
        return NULL;
    end = position + file->text_bytes;
    for (; line > 1; line--) {
        newline = position < end ? memchr(position, '\n', (size_t)(end - position)) : NULL;
        if (newline == NULL)
            return NULL;
        position = newline + 1;
    }
    if (position >= end)
        return NULL;
    newline = memchr(position, '\n', (size_t)(end - position));
    *length = (size_t)((newline != NULL ? newline : end) - position);
    if (*length > 0 && position[*length - 1] == '\r')
        --*length;
    return position;
}
