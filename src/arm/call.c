/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of functions whose prototype is known at run time only, without assembly or libffi.
 *
 * Both conventions that ridge calls by (System V for x86-64, AAPCS64) give whole numbers and
 * pointers the integer registers in their order, and floating-point numbers the vector registers in
 * theirs; which comes before which in the prototype does not matter as long as all stand in
 * registers. So one prototype serves them all:
 *
 *     long f(uint64_t x 6 or 8, double x 8)
 *
 * Registers that the function does not take are scratch at a call and may hold anything. A float
 * takes the low 32 bits of its register, so it is passed as a double whose low 32 bits are its own.
 * A whole number shorter than 64 bits is extended by its sign or with zeros: x86-64 compilers rely on
 * 32 bits of that, AAPCS64 on none. The result of an int function is the low 32 bits of the first
 * integer register, of a void function there is none and what is read is not looked at. ISO C does
 * not define such a call, the two conventions do. */
#include <dlfcn.h>
#include <string.h>

#include "arm/arm_internal.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "calls of plain functions know x86-64 and AArch64 only"
#endif

/* -- registers --------------------------------------------------------------------------------- */

static uint64_t extended(ridge_dtype dtype, const void *value)
{
    const uint64_t bits = ridge_dtype_bits(dtype, value, 0);

    switch (dtype) {
    case RIDGE_DTYPE_I32:
        return (uint64_t)(int64_t)(int32_t)bits;
    case RIDGE_DTYPE_I16:
        return (uint64_t)(int64_t)(int16_t)bits;
    case RIDGE_DTYPE_I8:
        return (uint64_t)(int64_t)(int8_t)bits;
    default:
        return bits;
    }
}

bool arm_registers_add(arm_registers *registers, ridge_dtype dtype, const void *value)
{
    if (!ridge_dtype_is_float(dtype)) {
        if (registers->integer_count == ARM_CALL_INTEGERS)
            return false;
        registers->integers[registers->integer_count++] = extended(dtype, value);
        return true;
    }
    if (registers->float_count == ARM_CALL_FLOATS)
        return false;
    /* Little endian, as both machines are: the low bytes come first. */
    registers->floats[registers->float_count] = 0;
    memcpy(&registers->floats[registers->float_count++], value, ridge_dtype_bytes(dtype));
    return true;
}

bool arm_registers_add_pointer(arm_registers *registers, const void *value)
{
    if (registers->integer_count == ARM_CALL_INTEGERS)
        return false;
    registers->integers[registers->integer_count++] = (uint64_t)(uintptr_t)value;
    return true;
}

int32_t arm_call_function(void *function, const arm_registers *registers)
{
    const uint64_t *const i = registers->integers;
    const double *const f = registers->floats;
#if defined(__aarch64__)
    long (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                 double, double, double, double, double, double, double, double);

    memcpy(&call, &function, sizeof(call));
    return (int32_t)call(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], f[0], f[1], f[2], f[3],
                         f[4], f[5], f[6], f[7]);
#else
    long (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double, double, double,
                 double, double, double, double, double);

    memcpy(&call, &function, sizeof(call));
    return (int32_t)call(i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5],
                         f[6], f[7]);
#endif
}

ridge_status arm_call_check(const arm_call *call, ridge_error *err)
{
    const arm_signature *const signature = &call->signature;
    size_t integers = 0, floats = 0;

    for (size_t i = 0; i < signature->parameter_count; i++) {
        const arm_parameter *const parameter = &signature->parameters[i];
        const arm_piece *const piece = &signature->pieces[parameter->first_piece];
        const bool is_scalar = parameter->piece_count > 0 && piece->kind == ARM_PIECE_SCALAR;
        const bool is_float = is_scalar && ridge_dtype_is_float(piece->dtype);

        if (is_float && piece->dtype != RIDGE_DTYPE_F32 && piece->dtype != RIDGE_DTYPE_F64)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s: %s by value is passed in many ways, expected f32 or f64",
                              parameter->path, ridge_dtype_name(piece->dtype));
        integers += !is_float;
        floats += is_float;
        if (integers > ARM_CALL_INTEGERS)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s: more than %d pointers and whole numbers, which are passed in "
                              "registers; wrap the function, or export ridge_plugin()",
                              parameter->path, ARM_CALL_INTEGERS);
        if (floats > ARM_CALL_FLOATS)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s: more than %d floating-point numbers, which are passed in "
                              "registers; wrap the function, or export ridge_plugin()",
                              parameter->path, ARM_CALL_FLOATS);
    }
    return RIDGE_OK;
}

/* -- the kernel -------------------------------------------------------------------------------- */

typedef struct maker {
    ridge_kernel kernel;
    arm_call call;
    void *function;
} maker;

typedef struct prepared {
    arm_registers registers;
    int stream_register; /* -1: it takes none */
} prepared;

/* Buffers that only the family describes. */
static ridge_status describe_by_family(const arm_call *call, const ridge_case *at,
                                       ridge_buffer_desc *buffers, ridge_error *err)
{
    ridge_buffer_desc known[RIDGE_KERNEL_BUFFERS];
    ridge_case family_case;
    size_t count = 0;
    ridge_status status;

    arm_case_like(&call->family->default_case, at, &family_case);
    status =
        ridge_kernel_describe(arm_family_source(call->family), &family_case, known, &count, err);
    for (size_t i = 0; i < call->signature.buffer_count && status == RIDGE_OK; i++) {
        const char *const name = call->signature.buffers[i].name;
        size_t k = 0;

        if (!call->signature.buffers[i].is_of_family)
            continue;
        while (k < count && strcmp(known[k].name, name) != 0)
            k++;
        if (k == count)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s: family %s has no buffer '%s'",
                              call->signature.buffers[i].path, call->family->name, name);
        buffers[i] = known[k];
        buffers[i].alias_of = 0;
        buffers[i].keeps_layout = !call->signature.buffers[i].takes_strides;
        memset(buffers[i].stride, 0, sizeof(buffers[i].stride));
    }
    return status;
}

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const arm_call *const call = &((const maker *)self->context)->call;
    ridge_status status = arm_signature_describe(&call->signature, at, buffers, count, err);

    if (status == RIDGE_OK && call->family != NULL)
        status = describe_by_family(call, at, buffers, err);
    return status;
}

/* All fit: arm_call_check(). */
static void load_registers(const arm_call *call, const arm_packed *packed, prepared *out)
{
    const arm_signature *const signature = &call->signature;

    out->stream_register = -1;
    for (size_t i = 0; i < signature->parameter_count; i++) {
        const arm_piece *const piece = &signature->pieces[signature->parameters[i].first_piece];
        const void *pointer = NULL;

        if ((int)i == call->stream_at) {
            out->stream_register = (int)out->registers.integer_count;
            (void)arm_registers_add_pointer(&out->registers, NULL);
        } else if (piece->kind == ARM_PIECE_SCALAR) {
            (void)arm_registers_add(&out->registers, piece->dtype, packed->parameters[i]);
        } else {
            memcpy(&pointer, packed->parameters[i], sizeof(pointer));
            (void)arm_registers_add_pointer(&out->registers, pointer);
        }
    }
}

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    const arm_call *const call = &((const maker *)self->context)->call;
    arm_values values;
    arm_packed packed;
    prepared *ready;
    ridge_status status = arm_values_of(&call->signature, at, view->buffers, &values, err);

    (void)stream;
    *state = NULL;
    if (status == RIDGE_OK)
        status = arm_signature_pack(&call->signature, &values, NULL, view->data, &packed, err);
    if (status != RIDGE_OK)
        return status;
    ready = ridge_calloc(1, sizeof(*ready));
    if (ready == NULL)
        status = arm_out_of_memory(err);
    else
        load_registers(call, &packed, ready);
    arm_packed_release(&packed);
    *state = ready;
    return status;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const maker *const made = self->context;
    prepared *const ready = state;
    int32_t result;

    (void)at;
    (void)view;
    if (ready->stream_register >= 0)
        ready->registers.integers[ready->stream_register] = (uint64_t)(uintptr_t)stream;
    result = arm_call_function(made->function, &ready->registers);
    if (made->call.returns == ARM_RETURN_I32 && result != 0)
        return ridge_fail(err, RIDGE_ERR_CUDA, "%s() returned %d, expected 0", made->call.function,
                          result);
    return RIDGE_OK;
}

static void finish(const ridge_kernel *self, void *state)
{
    (void)self;
    ridge_free(state);
}

ridge_status arm_open_call(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    maker *const made = ridge_alloc(&arm->arena, sizeof(*made));
    const ridge_family *family = NULL;
    ridge_status status;

    if (made == NULL)
        return arm_out_of_memory(err);
    status = arm_family_of(options, NULL, &family, err);
    if (status == RIDGE_OK)
        status = arm_call_read(options->call, family, &arm->arena, &made->call, err);
    if (status == RIDGE_OK)
        status = arm_library_open(arm, err);
    if (status != RIDGE_OK)
        return status;
    made->function = dlsym(arm->library, made->call.function);
    if (made->function == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "exports no function '%.80s' (a C++ function has a mangled name: declare "
                          "it extern \"C\")",
                          made->call.function);
    made->kernel = (ridge_kernel){.struct_size = sizeof(ridge_kernel),
                                  .name = made->call.function,
                                  .describe = describe,
                                  .prepare = prepare,
                                  .launch = launch,
                                  .finish = finish,
                                  .context = made};
    arm_library_name_code(arm, made->call.function);
    arm->kernel = &made->kernel;
    arm->signature = &made->call.signature;
    arm->dtype = made->call.signature.dtype;
    arm->dtypes = &arm->dtype;
    arm->dtype_count = 1;
    arm_signature_case(arm->signature, &arm->base);
    return arm_borrow_family(arm, family, err);
}
