/* SPDX-License-Identifier: Apache-2.0
 *
 * Python callables as kernels of ridge. A kernel here has no buffers: the callable's tensors are
 * made by Python when a set is prepared, and both arms get the same. On a GPU a set comes with a
 * graph of one call, so that the measuring loop launches graphs and Python is not asked while time
 * is taken; without one every launch is a call of Python. */
#include "ridge_python.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/bench.h"
#include "ridge/check.h"
#include "ridge/device.h"
#include "ridge/kernels/registry.h"
#include "ridge/session.h"
#include "ridge/table.h"

enum { ARMS = 2, PLACEMENTS = 64 };

typedef struct placement_row {
    int placement;
    double value;
} placement_row;

struct ridge_python {
    ridge_device *device;
    ridge_bench_options options;
    ridge_kernel kernels[ARMS];
    char names[ARMS][128];
    ridge_kernel_work work[ARMS];
    int prepared[ARMS];                /* sets that are */
    char cases[ARMS][RIDGE_CASE_TEXT]; /* that an arm of a session was told of */
    bool is_told[ARMS];
    ridge_dtype dtypes[ARMS]; /* of their arrays, where told; RIDGE_DTYPE_COUNT: not known */
    bool is_serving;
    ridge_python_call call;
    ridge_slot *slots;
    size_t slot_count, slot_capacity;
    placement_row placements[PLACEMENTS];
    size_t placement_count;
    ridge_error err;
    char *text;
};

/* Of a set and an arm. */
typedef struct prepared_set {
    int arm, number;
    ridge_graph *graph; /* NULL: host */
} prepared_set;

const char *ridge_python_version(void)
{
    return ridge_version();
}

const char *ridge_python_status_name(int status)
{
    return ridge_status_name((ridge_status)status);
}

/* -- text -------------------------------------------------------------------------------------- */

typedef struct document {
    FILE *stream;
    char *text;
    size_t size;
    ridge_output *output;
    ridge_json *json;
} document;

static ridge_status document_open(document *out, const char *schema, ridge_error *err)
{
    *out = (document){NULL};
    out->stream = open_memstream(&out->text, &out->size);
    if (out->stream != NULL)
        out->output = ridge_output_create(out->stream, 0, false);
    if (out->output != NULL)
        out->json = ridge_json_create(out->output);
    if (out->json == NULL) {
        (void)ridge_output_close(out->output, NULL);
        if (out->stream != NULL)
            fclose(out->stream);
        free(out->text);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a result");
    }
    ridge_json_begin_object(out->json, NULL);
    ridge_json_text(out->json, "schema", schema);
    return RIDGE_OK;
}

/* The text becomes the result of self. */
static ridge_status document_close(document *doc, ridge_python *self)
{
    ridge_status status;

    ridge_json_end_object(doc->json);
    ridge_json_free(doc->json);
    status = ridge_output_close(doc->output, &self->err);
    if (fclose(doc->stream) != 0 && status == RIDGE_OK)
        status = ridge_fail(&self->err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a result");
    if (status != RIDGE_OK) {
        free(doc->text);
        return status;
    }
    free(self->text);
    self->text = doc->text;
    return RIDGE_OK;
}

static void write_device(ridge_json *json, const ridge_device_info *info)
{
    ridge_json_begin_object(json, "device");
    ridge_json_text(json, "kind", info->kind == RIDGE_DEVICE_CUDA ? "cuda" : "cpu");
    ridge_json_text(json, "name", info->name);
    ridge_json_text(json, "uuid", info->uuid[0] != '\0' ? info->uuid : NULL);
    ridge_json_text(json, "driver", info->driver[0] != '\0' ? info->driver : NULL);
    ridge_json_integer(json, "sm_version", info->sm_version);
    ridge_json_integer(json, "sm_count", info->sm_count);
    ridge_json_count(json, "l2_bytes", info->l2_bytes);
    ridge_json_number(json, "clock_hz", info->clock_hz);
    ridge_json_number(json, "memory_bytes_per_s", info->memory_bytes_per_s);
    ridge_json_number(json, "power_limit_w", info->power_limit_w);
    ridge_json_end_object(json);
}

static void write_records(ridge_json *json, const ridge_python *self)
{
    size_t i;

    ridge_json_begin_array(json, "placement_values");
    for (i = 0; i < self->placement_count; i++)
        ridge_json_number(json, NULL, self->placements[i].value);
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "records");
    for (i = 0; i < self->slot_count; i++) {
        const ridge_slot *const slot = &self->slots[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_integer(json, "placement", slot->placement);
        ridge_json_integer(json, "block", slot->block);
        ridge_json_integer(json, "position", slot->position);
        ridge_json_integer(json, "arm", slot->arm);
        ridge_json_integer(json, "launches", slot->launches);
        ridge_json_number(json, "start_s", slot->start_s);
        ridge_json_number(json, "median_ns", slot->median_ns);
        ridge_json_number(json, "p10_ns", slot->p10_ns);
        ridge_json_number(json, "p90_ns", slot->p90_ns);
        ridge_json_number(json, "least_ns", slot->least_ns);
        ridge_json_number(json, "sm_hz", slot->sm_hz);
        ridge_json_number(json, "power_w", slot->power_w);
        ridge_json_number(json, "temperature_c", slot->temperature_c);
        ridge_json_count(json, "clock_reasons", slot->clock_reasons);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

/* -- a callable as a kernel -------------------------------------------------------------------- */

static ridge_python *self_of(const ridge_kernel *kernel)
{
    return kernel->context;
}

static int arm_of(const ridge_kernel *kernel)
{
    return kernel == &self_of(kernel)->kernels[1] ? 1 : 0;
}

static ridge_status describe(const ridge_kernel *kernel, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)kernel;
    (void)at;
    (void)buffers;
    (void)err;
    *count = 0;
    return RIDGE_OK;
}

/* Asks Python; a failure's text becomes the message. */
static ridge_status ask(ridge_python *self, int event, int arm, int number, uint64_t stream,
                        uint64_t values[2], ridge_error *err)
{
    char text[400] = "";
    const int answer = self->call(event, arm, number, stream, values, text, sizeof(text));

    if (answer == 0)
        return RIDGE_OK;
    text[sizeof(text) - 1] = '\0';
    return ridge_fail(err, answer > 0 ? (ridge_status)answer : RIDGE_ERR_INTERNAL, "%s", text);
}

static double of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* An arm of a session learns its case; what it costs comes back. */
static ridge_status tell_case(ridge_python *self, int arm, const ridge_case *at, ridge_error *err)
{
    char text[RIDGE_CASE_TEXT];
    uint64_t values[4] = {0, 0, 0, 0};
    int answer;

    ridge_case_text(at, text, sizeof(text));
    if (self->is_told[arm] && strcmp(self->cases[arm], text) == 0)
        return RIDGE_OK;
    memcpy(self->cases[arm], text, sizeof(text));
    answer = self->call(RIDGE_PYTHON_CASE, arm, 0, 0, values, text, sizeof(text));
    self->is_told[arm] = answer == 0;
    if (answer != 0)
        return ridge_fail(err, (ridge_status)answer, "%.400s", text);
    self->work[arm] = (ridge_kernel_work){.flop_count = of_bits(values[0]),
                                          .read_bytes = of_bits(values[1]),
                                          .written_bytes = of_bits(values[2]),
                                          .footprint_bytes = of_bits(values[3])};
    if (!ridge_dtype_find(text, &self->dtypes[arm]))
        self->dtypes[arm] = RIDGE_DTYPE_COUNT;
    return RIDGE_OK;
}

static ridge_status work(const ridge_kernel *kernel, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    ridge_python *const self = self_of(kernel);
    const ridge_status status =
        self->is_serving ? tell_case(self, arm_of(kernel), at, err) : RIDGE_OK;

    *out = self->work[arm_of(kernel)];
    return status;
}

static void *address_of(uint64_t number)
{
    const uintptr_t bits = (uintptr_t)number;
    void *address;

    static_assert(sizeof(bits) == sizeof(address), "an address has the size of its number");
    memcpy(&address, &bits, sizeof(address));
    return address;
}

static ridge_status prepare(const ridge_kernel *kernel, const ridge_case *at,
                            const ridge_view *view, void **state, struct CUstream_st *stream,
                            ridge_error *err)
{
    ridge_python *const self = self_of(kernel);
    const int arm = arm_of(kernel);
    prepared_set *const set = calloc(1, sizeof(*set));
    uint64_t natives[2] = {0, 0};
    ridge_status status;

    (void)at;
    *state = NULL;
    if (set == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a set");
    *set = (prepared_set){arm, self->prepared[arm], NULL};
    status = ask(self, RIDGE_PYTHON_PREPARE, arm, set->number, (uint64_t)(uintptr_t)stream, natives,
                 err);
    if (status == RIDGE_OK) {
        self->prepared[arm]++;
        if (natives[0] != 0 || natives[1] != 0)
            status = ridge_graph_of_natives(view->device, address_of(natives[0]),
                                            address_of(natives[1]), &set->graph, err);
        if (status != RIDGE_OK) {
            self->prepared[arm]--;
            (void)ask(self, RIDGE_PYTHON_FINISH, arm, set->number, 0, natives, NULL);
        }
    }
    if (status != RIDGE_OK) {
        free(set);
        return status;
    }
    *state = set;
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *kernel, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const prepared_set *const set = state;
    uint64_t values[2] = {0, 0};

    (void)at;
    (void)view;
    if (set->graph != NULL)
        return ridge_graph_launch_native(set->graph, stream, err);
    return ask(self_of(kernel), RIDGE_PYTHON_LAUNCH, set->arm, set->number,
               (uint64_t)(uintptr_t)stream, values, err);
}

static void finish(const ridge_kernel *kernel, void *state)
{
    prepared_set *const set = state;
    uint64_t values[2] = {0, 0};

    if (set == NULL)
        return;
    ridge_graph_free(set->graph);
    self_of(kernel)->prepared[set->arm]--;
    (void)ask(self_of(kernel), RIDGE_PYTHON_FINISH, set->arm, set->number, 0, values, NULL);
    free(set);
}

/* -- life -------------------------------------------------------------------------------------- */

ridge_python *ridge_python_create(void)
{
    ridge_python *const self = calloc(1, sizeof(*self));
    int arm;

    for (arm = 0; self != NULL && arm < ARMS; arm++) {
        self->kernels[arm] = (ridge_kernel){.struct_size = sizeof(ridge_kernel),
                                            .name = "python",
                                            .describe = describe,
                                            .work = work,
                                            .prepare = prepare,
                                            .launch = launch,
                                            .finish = finish,
                                            .context = self};
        self->work[arm] =
            (ridge_kernel_work){.flop_count = NAN, .read_bytes = NAN, .written_bytes = NAN};
    }
    return self;
}

void ridge_python_free(ridge_python *self)
{
    if (self == NULL)
        return;
    ridge_device_free(self->device);
    free(self->slots);
    free(self->text);
    free(self);
}

const char *ridge_python_error(const ridge_python *self)
{
    return self->err.text;
}

const char *ridge_python_text(const ridge_python *self)
{
    return self->text != NULL ? self->text : "";
}

int ridge_python_open(ridge_python *self, const char *device)
{
    ridge_device *opened = NULL;
    document doc;
    ridge_status status = ridge_device_open(device, &opened, &self->err);

    if (status != RIDGE_OK)
        return (int)status;
    ridge_device_free(self->device);
    self->device = opened;
    status = document_open(&doc, "ridge-device/1", &self->err);
    if (status != RIDGE_OK)
        return (int)status;
    write_device(doc.json, ridge_device_get_info(opened));
    return (int)document_close(&doc, self);
}

/* -- settings ---------------------------------------------------------------------------------- */

typedef enum setting_kind { IS_DOUBLE, IS_INT, IS_BOOL, IS_SEED, IS_ENUM } setting_kind;

static const struct setting {
    const char *name;
    setting_kind kind;
    size_t offset;
} settings[] = {
    {"delta", IS_DOUBLE, offsetof(ridge_bench_options, delta)},
    {"budget_s", IS_DOUBLE, offsetof(ridge_bench_options, budget_s)},
    {"pilot", IS_INT, offsetof(ridge_bench_options, pilot)},
    {"blocks", IS_INT, offsetof(ridge_bench_options, blocks)},
    {"most", IS_INT, offsetof(ridge_bench_options, most)},
    {"cache", IS_ENUM, offsetof(ridge_bench_options, cache)},
    {"mode", IS_ENUM, offsetof(ridge_bench_options, mode)},
    {"regime", IS_ENUM, offsetof(ridge_bench_options, regime)},
    {"null_control", IS_BOOL, offsetof(ridge_bench_options, null_control)},
    {"measure_roofs", IS_BOOL, offsetof(ridge_bench_options, measure_roofs)},
    {"seed", IS_SEED, offsetof(ridge_bench_options, seed)},
};
static_assert(sizeof(ridge_mode) == sizeof(int) && sizeof(ridge_cache) == sizeof(int) &&
                  sizeof(ridge_regime) == sizeof(int),
              "enums are set as ints");

static bool set_guard(ridge_python *self, const char *name, bool is_off)
{
    int guard;

    for (guard = 0; guard < RIDGE_GUARD_COUNT; guard++)
        if (strcmp(name, ridge_guard_name((ridge_guard)guard)) == 0) {
            self->options.without &= ~((uint64_t)1 << guard);
            self->options.without |= (uint64_t)is_off << guard;
            return true;
        }
    return false;
}

int ridge_python_set(ridge_python *self, const char *name, double value)
{
    size_t i;

    if (strncmp(name, "without.", 8) == 0 && set_guard(self, name + 8, value != 0))
        return RIDGE_OK;
    for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        char *const field = (char *)&self->options + settings[i].offset;
        const int whole = (int)value;
        const uint64_t seed = (uint64_t)value;
        const bool flag = value != 0;

        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (settings[i].kind == IS_DOUBLE)
            memcpy(field, &value, sizeof(value));
        else if (settings[i].kind == IS_SEED)
            memcpy(field, &seed, sizeof(seed));
        else if (settings[i].kind == IS_BOOL)
            memcpy(field, &flag, sizeof(flag));
        else
            memcpy(field, &whole, sizeof(whole));
        return RIDGE_OK;
    }
    return (int)ridge_fail(&self->err, RIDGE_ERR_INVALID_ARGUMENT, "'%.60s' is no setting", name);
}

int ridge_python_arm(ridge_python *self, int arm, const char *name)
{
    if (arm < 0 || arm >= ARMS)
        return (int)ridge_fail(&self->err, RIDGE_ERR_INVALID_ARGUMENT, "arm %d of 2", arm);
    snprintf(self->names[arm], sizeof(self->names[arm]), "%s", name);
    return RIDGE_OK;
}

int ridge_python_work(ridge_python *self, int arm, double flop_count, double read_bytes,
                      double written_bytes, double footprint_bytes)
{
    if (arm < 0 || arm >= ARMS)
        return (int)ridge_fail(&self->err, RIDGE_ERR_INVALID_ARGUMENT, "arm %d of 2", arm);
    self->work[arm] = (ridge_kernel_work){.flop_count = flop_count,
                                          .read_bytes = read_bytes,
                                          .written_bytes = written_bytes,
                                          .footprint_bytes = footprint_bytes};
    return RIDGE_OK;
}

/* -- measuring --------------------------------------------------------------------------------- */

static void on_slot(void *context, const ridge_slot *slot)
{
    ridge_python *const self = context;

    if (slot->block < 0)
        return;
    if (self->slot_count == self->slot_capacity) {
        const size_t capacity = self->slot_capacity * 2 + 256;
        ridge_slot *const grown = realloc(self->slots, capacity * sizeof(*grown));

        if (grown == NULL)
            return; /* a record less; the result has its sums */
        self->slots = grown;
        self->slot_capacity = capacity;
    }
    self->slots[self->slot_count] = *slot;
    self->slots[self->slot_count++].samples_ns = NULL;
}

static void on_placement(void *context, int placement, uint64_t address_hash, double value)
{
    ridge_python *const self = context;

    (void)address_hash;
    if (self->placement_count < PLACEMENTS)
        self->placements[self->placement_count++] = (placement_row){placement, value};
}

static void on_progress(void *context, ridge_phase phase, int done, int total, double remaining_s)
{
    ridge_python *const self = context;
    uint64_t values[2] = {done > 0 ? (uint64_t)done : 0, total > 0 ? (uint64_t)total : 0};
    char text[64];

    (void)remaining_s;
    snprintf(text, sizeof(text), "%s", ridge_phase_name(phase));
    (void)self->call(RIDGE_PYTHON_PROGRESS, 0, (int64_t)phase, 0, values, text, sizeof(text));
}

static bool on_should_stop(void *context)
{
    ridge_python *const self = context;
    uint64_t values[2] = {0, 0};
    char text[8] = "";

    return self->call(RIDGE_PYTHON_STOP, 0, 0, 0, values, text, sizeof(text)) != 0;
}

/* What there is nothing to look at for, as the harness has no buffers: Python checks before. */
#define WITHOUT_BUFFERS ((uint64_t)1 << RIDGE_GUARD_CHECK)

static ridge_status begin(ridge_python *self, ridge_python_call call)
{
    self->call = call;
    self->slot_count = self->placement_count = 0;
    self->prepared[0] = self->prepared[1] = 0;
    self->options.without |= WITHOUT_BUFFERS;
    if (self->device == NULL)
        return ridge_fail(&self->err, RIDGE_ERR_INVALID_ARGUMENT, "no device was opened");
    return RIDGE_OK;
}

static const struct own_guard {
    ridge_guard guard;
    uint64_t bit;
} own_guards[] = {
    {RIDGE_GUARD_REFILL, RIDGE_PYTHON_REFILL},
    {RIDGE_GUARD_OUTPUTS, RIDGE_PYTHON_OUTPUTS},
    {RIDGE_GUARD_SHARED, RIDGE_PYTHON_SHARED},
};
enum { OWN_GUARDS = sizeof(own_guards) / sizeof(own_guards[0]) };

static ridge_status on_behind(void *context, int arm, uint64_t without, ridge_error *err)
{
    uint64_t values[4] = {0, 0, 0, 0};

    for (int i = 0; i < OWN_GUARDS; i++)
        if ((without >> own_guards[i].guard & 1) == 0)
            values[0] |= own_guards[i].bit;
    return ask(context, RIDGE_PYTHON_BEHIND, arm, 0, 0, values, err);
}

static ridge_status on_after(void *context, ridge_guard *guard, char *cause, size_t size,
                             ridge_error *err)
{
    ridge_python *const self = context;
    uint64_t values[4] = {0, 0, 0, 0};
    const int answer = self->call(RIDGE_PYTHON_AFTER, 0, 0, 0, values, cause, size);

    for (int i = 0; i < OWN_GUARDS; i++)
        if (values[0] == own_guards[i].bit)
            *guard = own_guards[i].guard;
    if (answer == 0)
        return RIDGE_OK;
    ridge_fail(err, (ridge_status)answer, "%.400s", cause);
    cause[0] = '\0';
    return (ridge_status)answer;
}

static ridge_bench_sink sink_of(ridge_python *self)
{
    return (ridge_bench_sink){.slot = on_slot,
                              .placement = on_placement,
                              .progress = on_progress,
                              .should_stop = on_should_stop,
                              .context = self,
                              .behind = on_behind,
                              .after = on_after};
}

int ridge_python_compare(ridge_python *self, ridge_python_call call)
{
    const ridge_bench_arm a = {&self->kernels[0], self->names[0], ""};
    const ridge_bench_arm b = {&self->kernels[1], self->names[1], ""};
    const ridge_bench_sink sink = sink_of(self);
    ridge_comparison result;
    ridge_case at;
    document doc;
    ridge_status status = begin(self, call);

    ridge_case_init(&at);
    if (status == RIDGE_OK)
        status = ridge_bench_compare(self->device, &a, &b, &at, &self->options, &sink, &result,
                                     &self->err);
    if (status == RIDGE_OK)
        status = document_open(&doc, "ridge-comparison/1", &self->err);
    if (status != RIDGE_OK)
        return (int)status;
    write_device(doc.json, &result.device);
    ridge_comparison_write_json(doc.json, "comparison", &result);
    write_records(doc.json, self);
    return (int)document_close(&doc, self);
}

int ridge_python_measure(ridge_python *self, ridge_python_call call)
{
    const ridge_bench_arm arm = {&self->kernels[0], self->names[0], ""};
    const ridge_bench_sink sink = sink_of(self);
    ridge_measurement result;
    ridge_case at;
    document doc;
    ridge_status status = begin(self, call);

    ridge_case_init(&at);
    if (status == RIDGE_OK)
        status = ridge_bench_measure(self->device, &arm, &at, &self->options, &sink, &result,
                                     &self->err);
    if (status == RIDGE_OK)
        status = document_open(&doc, "ridge-measurement/1", &self->err);
    if (status != RIDGE_OK)
        return (int)status;
    write_device(doc.json, &result.device);
    ridge_measurement_write_json(doc.json, "measurement", &result);
    write_records(doc.json, self);
    return (int)document_close(&doc, self);
}

/* -- sessions of a command --------------------------------------------------------------------- */

static ridge_status serve_open(void *context, int arm, const char *module, const char *function,
                               ridge_case *base, const ridge_kernel **kernel, ridge_error *err)
{
    ridge_python *const self = context;
    uint64_t values[4] = {0, 0, 0, 0};
    char text[RIDGE_CASE_TEXT];
    int answer;

    (void)base;
    snprintf(text, sizeof(text), "%s:%s", module, function);
    self->is_told[arm] = false;
    answer = self->call(RIDGE_PYTHON_OPEN, arm, 0, 0, values, text, sizeof(text));
    if (answer != 0)
        return ridge_fail(err, (ridge_status)answer, "%.400s", text);
    *kernel = &self->kernels[arm];
    return RIDGE_OK;
}

static void serve_close(void *context, int arm)
{
    ridge_python *const self = context;
    uint64_t values[4] = {0, 0, 0, 0};
    char text[8] = "";

    (void)self->call(RIDGE_PYTHON_CLOSE, arm, 0, 0, values, text, sizeof(text));
}

static ridge_status serve_agree(void *context, char *cause, size_t size, ridge_error *err)
{
    ridge_python *const self = context;
    uint64_t values[4] = {0, 0, 0, 0};
    const int answer = self->call(RIDGE_PYTHON_AGREE, 0, 0, 0, values, cause, size);

    return answer == 0 ? RIDGE_OK : ridge_fail(err, (ridge_status)answer, "%.400s", cause);
}

static ridge_status serve_after(void *context, int *guard, char *cause, size_t size,
                                ridge_error *err)
{
    ridge_guard found = (ridge_guard)*guard;
    const ridge_status status = on_after(context, &found, cause, size, err);

    *guard = (int)found;
    return status;
}

static ridge_dtype serve_dtype(void *context, int arm)
{
    const ridge_python *const self = context;

    return self->is_told[arm] ? self->dtypes[arm] : RIDGE_DTYPE_COUNT;
}

int ridge_python_serve(ridge_python *self, const char *folder, ridge_python_call call)
{
    const ridge_arm_python python = {serve_open, serve_close, self,       serve_agree,
                                     on_behind,  serve_after, serve_dtype};

    self->call = call;
    self->is_serving = true;
    return (int)ridge_session_serve(folder, ridge_kernels_families(), &python, &self->err);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static double *doubles_of(ridge_dtype dtype, const void *elements, int64_t count)
{
    double *const out = calloc((size_t)count + 1, sizeof(*out));
    int64_t i;

    for (i = 0; out != NULL && i < count; i++)
        out[i] = ridge_dtype_load(dtype, elements, i);
    return out;
}

static bool *unwritten_of(ridge_dtype dtype, const void *elements, int64_t count, uint64_t poison)
{
    bool *const out = calloc((size_t)count + 1, sizeof(*out));
    int64_t i;

    for (i = 0; out != NULL && i < count; i++)
        out[i] = ridge_dtype_bits(dtype, elements, i) == poison;
    return out;
}

/* Elements of a shape, or -1. */
static int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t count = 1;
    int i;

    if (ndim < 0 || ndim > RIDGE_BUFFER_DIMS)
        return -1;
    for (i = 0; i < ndim; i++) {
        if (shape[i] < 0 || (shape[i] > 0 && count > (INT64_MAX >> 4) / shape[i]))
            return -1;
        count *= shape[i];
    }
    return count;
}

static ridge_status compare_arrays(ridge_python *self, const ridge_comparand *pair)
{
    ridge_mismatch *const mismatch = calloc(1, sizeof(*mismatch));
    ridge_status status;
    document doc;

    if (mismatch == NULL)
        return ridge_fail(&self->err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a comparison");
    status = ridge_compare_arrays(pair, mismatch, &self->err);
    if (status == RIDGE_OK)
        status = document_open(&doc, "ridge-mismatch/1", &self->err);
    if (status == RIDGE_OK) {
        ridge_mismatch_write_json(doc.json, "mismatch", mismatch);
        status = document_close(&doc, self);
    }
    free(mismatch);
    return status;
}

int ridge_python_compare_arrays(ridge_python *self, const char *name, const char *dtype,
                                const void *out, const char *ref_dtype, const void *ref,
                                const void *previous, int ndim, const int64_t *shape,
                                int64_t accumulate_length, double accumulate_unit, int is_exact,
                                double ulp_most, const int64_t *tile, int has_poison,
                                uint64_t poison)
{
    const int64_t count = count_of(ndim, shape);
    ridge_comparand pair = {.name = name,
                            .ndim = ndim,
                            .accumulate_length = accumulate_length,
                            .accumulate_unit = accumulate_unit,
                            .is_exact = is_exact != 0,
                            .ulp_most = ulp_most};
    double *values[3] = {NULL, NULL, NULL};
    bool *unwritten = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_dtype of_ref;
    int i;

    if (!ridge_dtype_find(dtype, &pair.dtype) || !ridge_dtype_find(ref_dtype, &of_ref))
        return (int)ridge_fail(&self->err, RIDGE_ERR_UNSUPPORTED,
                               "%s: no element type '%.40s' or '%.40s', there are%s", name, dtype,
                               ref_dtype, RIDGE_DTYPE_NAMES);
    if (count < 0)
        return (int)ridge_fail(&self->err, RIDGE_ERR_UNSUPPORTED,
                               "%s: a shape of %d axes, expected at most %d", name, ndim,
                               RIDGE_BUFFER_DIMS);
    for (i = 0; i < ndim; i++) {
        pair.shape[i] = shape[i];
        pair.tile[i] = tile != NULL ? tile[i] : 0;
    }
    pair.out = values[0] = doubles_of(pair.dtype, out, count);
    pair.ref = values[1] = doubles_of(of_ref, ref, count);
    if (previous != NULL)
        pair.previous = values[2] = doubles_of(pair.dtype, previous, count);
    if (has_poison) {
        pair.is_unwritten = unwritten = unwritten_of(pair.dtype, out, count, poison);
        pair.poison = NAN;
    }
    if (values[0] != NULL && values[1] != NULL && (previous == NULL || values[2] != NULL) &&
        (!has_poison || unwritten != NULL))
        status = compare_arrays(self, &pair);
    else
        ridge_fail(&self->err, status, "%s: out of memory for %lld elements", name,
                   (long long)count);
    free(unwritten);
    for (i = 0; i < 3; i++)
        free(values[i]);
    return (int)status;
}
