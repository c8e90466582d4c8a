/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one kernel of kernels.cu once on random data and checks samples of its result on the CPU.
 * This is the program behind the example reports:
 *
 *     nvcc -fatbin -arch=sm_90 -lineinfo kernels.cu -o kernels.fatbin
 *     cc -std=c17 -O2 launch.c -o launch -ldl -lm
 *     ncu --set full --import-source yes --clock-control none -o rms_norm_wide \
 *         ./launch kernels.fatbin rms_norm_wide
 *
 * The driver is found at run time and the few declarations used are written out below, so that
 * building this needs no CUDA. Exit status: 0 done, 1 wrong result, 2 usage, 4 CUDA failure, 5 out
 * of memory.
 */

#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_MISMATCH = 1,
    EXIT_USAGE = 2,
    EXIT_CUDA = 4,
    EXIT_MEMORY = 5,
};

/* What the kernels are launched on. ROW_ELEMENTS stands in kernels.cu as well. */
enum {
    ROW_ELEMENTS = 4096,
    ROWS = 65536,
    MATRIX_SIDE = 8192,
    NARROW_SHARED_BYTES = 73 * 1024, /* three blocks an SM of 228 KiB */
};

static const float EPSILON = 1e-6f;

/* ---- the CUDA driver ---- */

typedef int cu_result; /* CUresult; 0 is success */
typedef int cu_device;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef unsigned long long cu_pointer; /* CUdeviceptr */

enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuGetErrorName, (cu_result result, const char **name))                                       \
    X(cuDeviceGet, (cu_device * device, int ordinal))                                              \
    X(cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))                          \
    X(cuDevicePrimaryCtxRelease_v2, (cu_device device))                                            \
    X(cuCtxSetCurrent, (cu_context context))                                                       \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuModuleLoad, (cu_module * module, const char *path))                                        \
    X(cuModuleUnload, (cu_module module))                                                          \
    X(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name))           \
    X(cuFuncSetAttribute, (cu_function function, int attribute, int value))                        \
    X(cuMemAlloc_v2, (cu_pointer * pointer, size_t size_bytes))                                    \
    X(cuMemFree_v2, (cu_pointer pointer))                                                          \
    X(cuMemcpyHtoD_v2, (cu_pointer to, const void *from, size_t size_bytes))                       \
    X(cuMemcpyDtoH_v2, (void *to, cu_pointer from, size_t size_bytes))                             \
    X(cuLaunchKernel, (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,    \
                       unsigned block_x, unsigned block_y, unsigned block_z,                       \
                       unsigned shared_bytes, cu_stream stream, void **parameters, void **extra))

#define DECLARE(name, arguments) static cu_result(*name) arguments;
DRIVER_FUNCTIONS(DECLARE)

static void die(int status, const char *what, const char *why)
{
    fprintf(stderr, "launch: %s: %s\n", what, why);
    exit(status);
}

static void check(cu_result result, const char *call)
{
    const char *name = NULL;

    if (result == 0)
        return;
    if (cuGetErrorName(result, &name) != 0 || name == NULL)
        name = "unknown CUDA error";
    die(EXIT_CUDA, call, name);
}

#define CHECK(call) check((call), #call)

static void load_symbol(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);

    if (address == NULL)
        die(EXIT_CUDA, name, "not in this driver");
    memcpy(function, &address, sizeof(address)); /* C has no cast from object to function */
}

static void load_driver(void)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL)
        die(EXIT_CUDA, "libcuda.so.1", dlerror());
#define LOAD(name, arguments) load_symbol(library, #name, &name);
    DRIVER_FUNCTIONS(LOAD)
}

/* ---- host data ---- */

static void *allocate(size_t size_bytes)
{
    void *const memory = malloc(size_bytes);

    if (memory == NULL)
        die(EXIT_MEMORY, "malloc", "out of memory");
    return memory;
}

static uint32_t random_state = 0x9e3779b9u;

/* xorshift32 (Marsaglia 2003): never zero. */
static uint32_t random_u32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Uniform in (-1, 1), never zero. */
static float random_float(void)
{
    const uint32_t bits = random_u32();
    const float magnitude = (float)((bits >> 9) + 1) / 8388609.0f;

    return bits & 1 ? magnitude : -magnitude;
}

static float float_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float bf16_to_float(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

/* Round to nearest even; the values here are finite. */
static uint16_t float_to_bf16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static cu_pointer upload(const void *data, size_t size_bytes)
{
    cu_pointer pointer = 0;

    CHECK(cuMemAlloc_v2(&pointer, size_bytes));
    CHECK(cuMemcpyHtoD_v2(pointer, data, size_bytes));
    return pointer;
}

static uint16_t *random_bf16(size_t count)
{
    uint16_t *const data = allocate(count * sizeof(*data));

    for (size_t i = 0; i < count; i++)
        data[i] = float_to_bf16(random_float());
    return data;
}

/* ---- the kernels ---- */

typedef struct launch_shape {
    unsigned grid[2];
    unsigned block[2];
    unsigned shared_bytes;
} launch_shape;

static void launch(cu_function function, const launch_shape *shape, void **parameters)
{
    if (shape->shared_bytes > 0)
        CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)shape->shared_bytes));
    CHECK(cuLaunchKernel(function, shape->grid[0], shape->grid[1], 1, shape->block[0],
                         shape->block[1], 1, shape->shared_bytes, NULL, parameters, NULL));
    CHECK(cuCtxSynchronize());
}

/* Compares one row with the formula in double. The sum is exact in bf16, up to the one rounding
 * that both sides do; the result may differ by one unit in the last place (2^-8, relative). */
static int check_rms_norm_row(size_t row, const uint16_t *x_in, const uint16_t *residual_in,
                              const uint16_t *weight, const uint16_t *x_out,
                              const uint16_t *residual_out)
{
    double sum[ROW_ELEMENTS];
    double square_sum = 0;

    for (size_t i = 0; i < ROW_ELEMENTS; i++) {
        const float s = bf16_to_float(x_in[i]) + bf16_to_float(residual_in[i]);

        if (residual_out[i] != float_to_bf16(s)) {
            printf("row %zu, residual %zu: %g, expected %g\n", row, i,
                   (double)bf16_to_float(residual_out[i]), (double)s);
            return EXIT_MISMATCH;
        }
        sum[i] = s;
        square_sum += sum[i] * sum[i];
    }
    for (size_t i = 0; i < ROW_ELEMENTS; i++) {
        const double expected = sum[i] / sqrt(square_sum / ROW_ELEMENTS + (double)EPSILON) *
                                (double)bf16_to_float(weight[i]);
        const double found = (double)bf16_to_float(x_out[i]);

        if (!(fabs(found - expected) <= fabs(expected) / 256)) {
            printf("row %zu, x %zu: %g, expected %g\n", row, i, found, expected);
            return EXIT_MISMATCH;
        }
    }
    return 0;
}

static int run_rms_norm(cu_function function, const launch_shape *shape)
{
    const size_t count = (size_t)ROWS * ROW_ELEMENTS;
    const size_t sampled_rows[] = {0, 1, ROWS / 2, ROWS - 1};
    uint16_t *const x = random_bf16(count);
    uint16_t *const residual = random_bf16(count);
    uint16_t *const weight = random_bf16(ROW_ELEMENTS);
    uint16_t x_out[ROW_ELEMENTS], residual_out[ROW_ELEMENTS];
    cu_pointer x_device = upload(x, count * sizeof(*x));
    cu_pointer residual_device = upload(residual, count * sizeof(*residual));
    cu_pointer weight_device = upload(weight, ROW_ELEMENTS * sizeof(*weight));
    float epsilon = EPSILON;
    void *parameters[] = {&x_device, &residual_device, &weight_device, &epsilon};
    int status = 0;

    launch(function, shape, parameters);
    for (size_t i = 0; status == 0 && i < sizeof(sampled_rows) / sizeof(sampled_rows[0]); i++) {
        const size_t row = sampled_rows[i];
        const size_t first = row * ROW_ELEMENTS;
        const cu_pointer offset_bytes = first * sizeof(*x);

        CHECK(cuMemcpyDtoH_v2(x_out, x_device + offset_bytes, sizeof(x_out)));
        CHECK(cuMemcpyDtoH_v2(residual_out, residual_device + offset_bytes, sizeof(residual_out)));
        status = check_rms_norm_row(row, x + first, residual + first, weight, x_out, residual_out);
    }

    CHECK(cuMemFree_v2(weight_device));
    CHECK(cuMemFree_v2(residual_device));
    CHECK(cuMemFree_v2(x_device));
    free(weight);
    free(residual);
    free(x);
    return status;
}

static int run_transpose(cu_function function, const launch_shape *shape)
{
    const size_t n = MATRIX_SIDE;
    const size_t size_bytes = n * n * sizeof(float);
    float *const in = allocate(size_bytes);
    float *const out = allocate(size_bytes);
    cu_pointer in_device, out_device;
    int side = MATRIX_SIDE;
    void *parameters[] = {&in_device, &out_device, &side};
    int status = 0;

    for (size_t i = 0; i < n * n; i++) {
        in[i] = random_float();
        out[i] = NAN;
    }
    in_device = upload(in, size_bytes);
    out_device = upload(out, size_bytes); /* NAN shows what the kernel left out */
    launch(function, shape, parameters);
    CHECK(cuMemcpyDtoH_v2(out, out_device, size_bytes));

    for (size_t sample = 0; status == 0 && sample < 1000000; sample++) {
        const size_t row = random_u32() % n;
        const size_t column = random_u32() % n;

        if (out[column * n + row] != in[row * n + column]) {
            printf("row %zu, column %zu: %g, expected %g\n", column, row,
                   (double)out[column * n + row], (double)in[row * n + column]);
            status = EXIT_MISMATCH;
        }
    }

    CHECK(cuMemFree_v2(out_device));
    CHECK(cuMemFree_v2(in_device));
    free(out);
    free(in);
    return status;
}

static const struct kernel {
    const char *name;
    launch_shape shape;
    int (*run)(cu_function function, const launch_shape *shape);
} kernels[] = {
    {"rms_norm_narrow", {{ROWS, 1}, {128, 1}, NARROW_SHARED_BYTES}, run_rms_norm},
    {"rms_norm_wide", {{ROWS, 1}, {64, 1}, 0}, run_rms_norm},
    {"transpose_conflict", {{MATRIX_SIDE / 32, MATRIX_SIDE / 32}, {32, 8}, 0}, run_transpose},
};

int main(int argc, char **argv)
{
    const struct kernel *kernel = NULL;
    cu_device device = 0;
    cu_context context = NULL;
    cu_module module = NULL;
    cu_function function = NULL;
    int status;

    for (size_t i = 0; argc == 3 && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(kernels[i].name, argv[2]) == 0)
            kernel = &kernels[i];
    }
    if (kernel == NULL) {
        fprintf(stderr, "usage: launch MODULE KERNEL\n"
                        "MODULE is a cubin or fatbin of kernels.cu, KERNEL one of\n");
        for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
            fprintf(stderr, "  %s\n", kernels[i].name);
        return EXIT_USAGE;
    }

    load_driver();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&function, module, kernel->name));

    status = kernel->run(function, &kernel->shape);
    if (status == 0)
        printf("ok\n");

    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease_v2(device));
    return status;
}
