/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the harness on a GPU, by the functions of ridge/device.h alone. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "device/fill_arithmetic.h"
#include "device/harness.h"

enum {
    BLOCK_THREADS = 256,
    THREADS_PER_SM = 4096, /* two waves: kernels step by the grid */
    CLOCK_SLOTS = 1024,    /* more than any GPU has SMs */
    LOG_BYTES = 2048
};

#define GATE_MOST_NS UINT64_C(2000000000)

struct harness {
    ridge_gpu_module *modules[HARNESS_MODULES];
    ridge_gpu_function *functions[HARNESS_FUNCTION_COUNT]; /* NULL: not for this GPU */
    void *result;                                          /* two 64-bit numbers */
    atomic_uint *gate;                                     /* the last gate that is open */
    void *gate_device;
    unsigned gates; /* closed so far */
    void *clocks;   /* CLOCK_SLOTS of begin, then of end */
    uint64_t epoch; /* of the last begin; 0: none */
};

/* -- modules ----------------------------------------------------------------------------------- */

static ridge_status load_module(ridge_device *device, int module, ridge_error *err)
{
    char log[LOG_BYTES];
    ridge_text text;
    ridge_status status;
    size_t i;

    ridge_text_init(&text);
    for (i = 0; HARNESS_PTX[module][i] != NULL; i++) {
        ridge_text_add(&text, HARNESS_PTX[module][i]);
        ridge_text_add(&text, "\n");
    }
    if (text.failed)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for the harness's code");
    else /* with the NUL, by which the driver finds the end of PTX */
        status = ridge_gpu_module_load(device, text.data, text.length + 1, log, sizeof(log),
                                       &device->harness->modules[module], err);
    ridge_text_release(&text);
    return status;
}

static ridge_status load_functions(ridge_device *device, ridge_error *err)
{
    static const struct {
        const char *name;
        int module;
    } FUNCTIONS[] = {
#define HARNESS_CUDA_FUNCTION(name, module) {"harness_" #name, module},
        HARNESS_FUNCTION_LIST(HARNESS_CUDA_FUNCTION)
#undef HARNESS_CUDA_FUNCTION
    };
    struct harness *const harness = device->harness;
    ridge_status status = RIDGE_OK;
    int i;

    for (i = 0; i < HARNESS_MODULES && status == RIDGE_OK; i++)
        if (device->info.sm_version >= HARNESS_PTX_SM[i])
            status = load_module(device, i, err);
    for (i = 0; i < HARNESS_FUNCTION_COUNT && status == RIDGE_OK; i++)
        if (harness->modules[FUNCTIONS[i].module] != NULL)
            status = ridge_gpu_module_function(harness->modules[FUNCTIONS[i].module],
                                               FUNCTIONS[i].name, &harness->functions[i], err);
    return status;
}

static void cuda_free(ridge_device *device)
{
    struct harness *const harness = device->harness;
    int i;

    for (i = 0; i < HARNESS_MODULES; i++)
        ridge_gpu_module_free(harness->modules[i]);
    ridge_device_release(device, harness->result);
    ridge_device_release(device, harness->clocks);
    if (harness->gate != NULL)
        device->ops->release_shared(device, harness->gate);
    ridge_free(harness);
}

static ridge_status alloc_all(ridge_device *device, ridge_error *err)
{
    static const clock_slot NONE[2 * CLOCK_SLOTS];
    struct harness *const harness = device->harness;
    void *gate = NULL;
    ridge_status status;

    status = ridge_device_alloc(device, 2 * sizeof(uint64_t), &harness->result, err);
    if (status == RIDGE_OK)
        status = ridge_device_alloc(device, sizeof(NONE), &harness->clocks, err);
    if (status == RIDGE_OK)
        status = ridge_device_upload(device, harness->clocks, NONE, sizeof(NONE), err);
    if (status == RIDGE_OK)
        status = device->ops->alloc_shared(device, sizeof(*harness->gate), &gate,
                                           &harness->gate_device, err);
    harness->gate = gate;
    return status;
}

ridge_status harness_prepare(ridge_device *device, ridge_error *err)
{
    ridge_status status;

    if (device->harness != NULL)
        return RIDGE_OK;
    device->harness = ridge_calloc(1, sizeof(*device->harness));
    if (device->harness == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for the harness");
    status = load_functions(device, err);
    if (status == RIDGE_OK)
        status = alloc_all(device, err);
    if (status != RIDGE_OK)
        harness_free(device);
    return status;
}

static ridge_status launch(ridge_device *device, struct CUstream_st *stream,
                           harness_function function, const ridge_gpu_launch *how,
                           void *const *parameters, ridge_error *err)
{
    const ridge_status status = harness_prepare(device, err);

    if (status != RIDGE_OK)
        return status;
    if (device->harness->functions[function] == NULL)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "%s (sm_%d) has not what this kernel needs: sm_%d", device->info.name,
                          device->info.sm_version, HARNESS_PTX_SM[HARNESS_MODULES - 1]);
    return ridge_gpu_function_launch(device->harness->functions[function], how, parameters, stream,
                                     err);
}

ridge_status harness_launch(ridge_device *device, struct CUstream_st *stream,
                            harness_function function, uint64_t threads, unsigned block,
                            void *const *parameters, ridge_error *err)
{
    const uint64_t blocks = threads / block + (threads % block != 0 ? 1 : 0);
    const ridge_gpu_launch how = {.grid = {blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX, 1, 1},
                                  .block = {block, 1, 1}};

    return launch(device, stream, function, &how, parameters, err);
}

/* For kernels whose speed is not what is measured: no more threads than fill the GPU. */
static ridge_status launch_items(ridge_device *device, ridge_stream *stream,
                                 harness_function function, uint64_t items, void *const *parameters,
                                 ridge_error *err)
{
    const uint64_t most = (uint64_t)device->info.sm_count * THREADS_PER_SM;

    return harness_launch(device, ridge_stream_native(stream), function,
                          items < most ? items : most, BLOCK_THREADS, parameters, err);
}

/* -- memory ------------------------------------------------------------------------------------ */

static ridge_status cuda_fill(ridge_device *device, ridge_stream *stream,
                              const ridge_buffer_desc *buffer, ridge_values values, void *data,
                              uint64_t seed, ridge_error *err)
{
    const int last = buffer->ndim - 1;
    const int64_t elements = ridge_buffer_elements(buffer);
    fill_tensor tensor = {.columns = last >= 0 ? buffer->shape[last] : 1,
                          .column_stride = last >= 0 ? buffer->stride[last] : 0,
                          .row_axes = last >= 0 ? last : 0,
                          .dtype = (int32_t)buffer->dtype,
                          .values = (int32_t)values,
                          .seed = seed};
    void *const parameters[] = {(void *)&data, &tensor};
    int i;

    tensor.rows = elements / tensor.columns;
    for (i = 0; i < tensor.row_axes; i++) {
        tensor.shape[i] = buffer->shape[i];
        tensor.stride[i] = buffer->stride[i];
    }
    return launch_items(device, stream, HARNESS_fill, (uint64_t)elements, parameters, err);
}

static ridge_status cuda_set_words(ridge_device *device, ridge_stream *stream, void *data,
                                   size_t size_bytes, uint32_t value, ridge_error *err)
{
    uint64_t size = size_bytes;
    void *const parameters[] = {(void *)&data, &size, &value};

    return launch_items(device, stream, HARNESS_set_words, size / 16 + 1, parameters, err);
}

static ridge_status cuda_pattern(ridge_device *device, ridge_stream *stream, void *data,
                                 size_t size_bytes, uint64_t seed, ridge_error *err)
{
    uint64_t size = size_bytes;
    void *const parameters[] = {(void *)&data, &size, &seed};

    return launch_items(device, stream, HARNESS_pattern, size / 8 + 1, parameters, err);
}

/* result holds what the kernel begins with, then what it left. */
static ridge_status launch_result(ridge_device *device, ridge_stream *stream,
                                  harness_function function, uint64_t items,
                                  void *const *parameters, uint64_t result[2], ridge_error *err)
{
    void *const on_device = device->harness->result;
    ridge_status status = ridge_device_upload(device, on_device, result, 2 * sizeof(*result), err);

    if (status == RIDGE_OK)
        status = launch_items(device, stream, function, items, parameters, err);
    if (status == RIDGE_OK)
        status = stream != NULL ? ridge_stream_synchronize(stream, err)
                                : ridge_device_synchronize(device, err);
    if (status == RIDGE_OK)
        status = ridge_device_download(device, result, on_device, 2 * sizeof(*result), err);
    return status;
}

static ridge_status cuda_pattern_check(ridge_device *device, ridge_stream *stream, const void *data,
                                       size_t size_bytes, uint64_t seed, uint64_t *wrong_bytes,
                                       uint64_t *first_offset, ridge_error *err)
{
    uint64_t size = size_bytes, result[2] = {0, UINT64_MAX};
    ridge_status status = harness_prepare(device, err);

    if (status != RIDGE_OK)
        return status;
    {
        void *const parameters[] = {(void *)&data, &size, &seed, (void *)&device->harness->result};

        status = launch_result(device, stream, HARNESS_pattern_check, size / 8 + 1, parameters,
                               result, err);
    }
    if (status == RIDGE_OK && result[0] > 0) {
        *wrong_bytes = result[0];
        *first_offset = result[1];
    }
    return status;
}

static ridge_status cuda_hash(ridge_device *device, ridge_stream *stream, const void *data,
                              size_t size_bytes, uint64_t *out, ridge_error *err)
{
    uint64_t size = size_bytes, result[2] = {0, 0};
    ridge_status status = harness_prepare(device, err);

    if (status != RIDGE_OK)
        return status;
    {
        void *const parameters[] = {(void *)&data, &size, (void *)&device->harness->result};

        status = launch_result(device, stream, HARNESS_hash, size / 8 + 1, parameters, result, err);
    }
    if (status == RIDGE_OK)
        *out = result[0];
    return status;
}

/* -- order and time ---------------------------------------------------------------------------- */

static ridge_status cuda_gate_close(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    const ridge_gpu_launch how = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t most_ns = GATE_MOST_NS;
    uint32_t wanted;
    ridge_status status = harness_prepare(device, err);

    if (status != RIDGE_OK)
        return status;
    wanted = device->harness->gates + 1;
    {
        void *const parameters[] = {(void *)&device->harness->gate_device, &wanted, &most_ns};

        status = launch(device, ridge_stream_native(stream), HARNESS_gate, &how, parameters, err);
    }
    if (status == RIDGE_OK)
        device->harness->gates = wanted;
    return status;
}

static void cuda_gate_open(ridge_device *device)
{
    if (device->harness != NULL)
        atomic_store(device->harness->gate, device->harness->gates);
}

static ridge_status cuda_empty(ridge_device *device, ridge_stream *stream, unsigned grid,
                               unsigned block, ridge_error *err)
{
    const ridge_gpu_launch how = {.grid = {grid, 1, 1}, .block = {block, 1, 1}};

    return launch(device, ridge_stream_native(stream), HARNESS_empty, &how, NULL, err);
}

/* A block takes all of an SM's shared memory that one can have, so each SM gets one at a time. */
static ridge_status cuda_scrub_shared(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    const ridge_gpu_launch how = {.grid = {2 * (unsigned)device->info.sm_count, 1, 1},
                                  .block = {BLOCK_THREADS, 1, 1},
                                  .dynamic_shared_bytes = device->info.shared_per_block_bytes};
    uint32_t words = (uint32_t)(how.dynamic_shared_bytes / sizeof(uint32_t));
    void *const parameters[] = {&words};

    return launch(device, ridge_stream_native(stream), HARNESS_scrub, &how, parameters, err);
}

static ridge_status cuda_clock_note(ridge_device *device, ridge_stream *stream, bool end,
                                    ridge_error *err)
{
    /* Two blocks for each SM, so that none stays without one. */
    const ridge_gpu_launch how = {.grid = {2 * (unsigned)device->info.sm_count, 1, 1},
                                  .block = {32, 1, 1}};
    ridge_status status = harness_prepare(device, err);
    uint32_t slot_count = CLOCK_SLOTS;
    clock_slot *slots;

    if (status != RIDGE_OK)
        return status;
    slots = (clock_slot *)device->harness->clocks + (end ? CLOCK_SLOTS : 0);
    if (!end)
        device->harness->epoch++;
    {
        void *const parameters[] = {(void *)&slots, &slot_count, &device->harness->epoch};

        return launch(device, ridge_stream_native(stream), HARNESS_clock, &how, parameters, err);
    }
}

static double cuda_clock_read(ridge_device *device, ridge_stream *stream)
{
    static const double UNKNOWN = (double)NAN;
    struct harness *const harness = device->harness;
    double cycles = 0, ns = 0;
    clock_slot *slots;
    size_t i;

    if (harness == NULL || harness->epoch == 0)
        return UNKNOWN;
    slots = ridge_calloc((size_t)2 * CLOCK_SLOTS, sizeof(*slots));
    if (slots == NULL)
        return UNKNOWN;
    if ((stream != NULL ? ridge_stream_synchronize(stream, NULL)
                        : ridge_device_synchronize(device, NULL)) == RIDGE_OK &&
        ridge_device_download(device, slots, harness->clocks,
                              (size_t)2 * CLOCK_SLOTS * sizeof(*slots), NULL) == RIDGE_OK)
        for (i = 0; i < CLOCK_SLOTS; i++) {
            const clock_slot *const begin = &slots[i], *const finish = &slots[CLOCK_SLOTS + i];

            if (begin->epoch != harness->epoch || finish->epoch != harness->epoch)
                continue;
            cycles += (double)(finish->cycles - begin->cycles);
            ns += (double)(finish->ns - begin->ns);
        }
    ridge_free(slots);
    return ns > 0 ? cycles / ns * 1e9 : UNKNOWN;
}

const harness_ops HARNESS_CUDA = {.fill = cuda_fill,
                                  .set_words = cuda_set_words,
                                  .pattern = cuda_pattern,
                                  .pattern_check = cuda_pattern_check,
                                  .hash = cuda_hash,
                                  .gate_close = cuda_gate_close,
                                  .gate_open = cuda_gate_open,
                                  .empty = cuda_empty,
                                  .scrub_shared = cuda_scrub_shared,
                                  .clock_note = cuda_clock_note,
                                  .clock_read = cuda_clock_read,
                                  .free = cuda_free};
