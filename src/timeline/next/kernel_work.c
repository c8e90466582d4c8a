/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of a kernel from the shapes of the PyTorch operation that launched it. Each row
 * says which inputs are read once and what is written; what shapes do not tell (a mask, whether a
 * matrix is added) is taken so that the work gets smaller, or there is none. */
#include "timeline/next/kernel_loops.h"
#include "timeline/next/kernel_rows.h"
#include "timeline/next/kernel_shapes.h"
#include "timeline/next/next_internal.h"

#include <math.h>
#include <string.h>

/* -- kinds of work ----------------------------------------------------------------------------- */

/* Less to read than an operation of the library counts, which knows no strides. */
static void subtract_expansion(ridge_work *work, const shapes_tensor *of)
{
    const double more = shapes_elements(of) * of->size_bytes - shapes_bytes(of);

    work->read_bytes = work->read_bytes > more ? work->read_bytes - more : 0;
}

/* Elements of the shape that all tensors are stretched to; 0: they do not fit. */
static double stretched(const shapes_tensor *tensors, size_t count)
{
    double product = 1;

    for (size_t back = 0; back < SHAPES_MOST_DIMENSIONS; back++) {
        double size = 1;

        for (size_t i = 0; i < count; i++) {
            const double one =
                back < tensors[i].rank ? tensors[i].dims[tensors[i].rank - 1 - back] : 1;

            if (one != 1 && size != 1 && one != size)
                return 0;
            size = one != 1 ? one : size;
        }
        product *= size;
    }
    return product;
}

/* Of the result, where types mix: no larger than it is. What is true or false takes the other's. */
static double least_size(const shapes_tensor *tensors, size_t count)
{
    double size_bytes = INFINITY, bool_bytes = INFINITY;

    for (size_t i = 0; i < count; i++) {
        double *const least = tensors[i].is_bool ? &bool_bytes : &size_bytes;

        if (tensors[i].rank > 0 && shapes_elements(&tensors[i]) > 0 && tensors[i].size_bytes > 0 &&
            tensors[i].size_bytes < *least)
            *least = tensors[i].size_bytes;
    }
    if (isinf(size_bytes))
        size_bytes = bool_bytes;
    return isinf(size_bytes) ? tensors[0].size_bytes : size_bytes;
}

static bool contains(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/* Floats are multiplied by the fp32 unit only where the kernel's name says so: TF32 is faster. */
static ridge_element element_of(const shapes_tensor *of, const char *kernel)
{
    const bool is_plain = (contains(kernel, "sgemm") || contains(kernel, "simt") ||
                           contains(kernel, "gemv") || contains(kernel, "ffma")) &&
                          !contains(kernel, "tf32") && !contains(kernel, "tensorop") &&
                          !contains(kernel, "1688");

    return of->element == RIDGE_ELEMENT_F32 && !is_plain ? RIDGE_ELEMENT_TF32 : of->element;
}

/* Through the library's own operation: parameters by name. */
static bool call_operation(const char *name, const char *const *parameters, const double *numbers,
                           size_t count, ridge_element element, ridge_work *out)
{
    const ridge_operation *const operation = ridge_operation_find(name);
    double values[RIDGE_OPERATION_PARAMETERS];
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t work_count;

    if (operation == NULL)
        return false;
    for (size_t i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        size_t index;

        if (!ridge_operation_parameter(operation, parameters[i], &index))
            return false;
        values[index] = numbers[i];
    }
    if (ridge_operation_work(operation, values, element, works, &work_count, NULL) != RIDGE_OK ||
        work_count != 1)
        return false;
    *out = works[0];
    return true;
}

static bool product_work(const shapes_tensor *a, const shapes_tensor *b, bool is_linear,
                         const char *kernel, ridge_work *out)
{
    static const char *const names[] = {"m", "n", "k", "batch"};
    double numbers[4] = {1, 1, 1, 1};

    if (!a->is_known || !b->is_known || a->size_bytes != b->size_bytes || a->rank < 2 ||
        b->rank < 2)
        return false;
    numbers[2] = a->dims[a->rank - 1];
    numbers[0] = a->dims[a->rank - 2];
    numbers[1] = is_linear ? b->dims[b->rank - 2] : b->dims[b->rank - 1];
    if (numbers[2] != (is_linear ? b->dims[b->rank - 1] : b->dims[b->rank - 2]))
        return false;
    if (b->rank == 2) { /* the rows of all batches against one matrix */
        for (size_t i = 0; i + 2 < a->rank; i++)
            numbers[0] *= a->dims[i];
    } else {
        if (a->rank != b->rank)
            return false;
        for (size_t i = 0; i + 2 < a->rank; i++) {
            if (a->dims[i] != b->dims[i])
                return false;
            numbers[3] *= a->dims[i];
        }
    }
    if (!call_operation("gemm", names, numbers, 4, element_of(a, kernel), out))
        return false;
    subtract_expansion(out, a);
    subtract_expansion(out, b);
    return true;
}

/* A window leaves most pairs out. Its sides stand at two places, -1 where there is none. */
static bool may_have_window(const shapes_tensor *tensors, size_t count, size_t place, bool is_told)
{
    for (size_t i = place; i < place + 2; i++)
        if (i < count && tensors[i].value != NULL ? !shapes_is(&tensors[i], "-1") : is_told)
            return true;
    return false;
}

/* Causal unless the trace says no: the smaller of both. Where a mask of fewer queries than keys begins
 * is the kernel's affair. first: the query. */
static bool attention_work(const work_row *row, const shapes_tensor *tensors, size_t count,
                           size_t first, bool heads_first, ridge_work *out)
{
    static const char *const names[] = {"queries", "heads", "head_dim", "keys", "kv_heads",
                                        "v_dim",   "batch", "causal",   "lse"};
    const shapes_tensor *const q = &tensors[first], *const k = q + 1, *const v = q + 2;
    const size_t heads = heads_first ? 1 : 2, tokens = heads_first ? 2 : 1;
    const shapes_tensor *const mask = row->input < count ? &tensors[row->input] : NULL;
    const bool is_full = mask != NULL && (shapes_is(mask, "False") || shapes_is(mask, "0"));
    const bool is_causal = mask != NULL && mask->value != NULL && !is_full;

    if (count < first + 3 || !q->is_known || q->rank != 4 || k->rank != 4 || v->rank != 4 ||
        k->dims[tokens] != v->dims[tokens] || k->dims[heads] != v->dims[heads] ||
        q->dims[0] != k->dims[0] || q->dims[3] != k->dims[3] || q->size_bytes != k->size_bytes ||
        q->size_bytes != v->size_bytes)
        return false;
    if ((q->dims[tokens] > k->dims[tokens] && !is_full) ||
        (q->dims[tokens] < k->dims[tokens] && is_causal))
        return false;
    {
        const double numbers[] = {q->dims[tokens], q->dims[heads],  q->dims[3],
                                  k->dims[tokens], k->dims[heads],  v->dims[3],
                                  q->dims[0],      is_full ? 0 : 1, 0};

        if (!call_operation("attention", names, numbers, 9, q->element, out))
            return false;
    }
    for (size_t i = first; i < first + 3; i++)
        subtract_expansion(out, &tensors[i]);
    return true;
}

static bool moved(ridge_work *out, double read_bytes, double written_bytes)
{
    *out = (ridge_work){.read_bytes = read_bytes, .written_bytes = written_bytes};
    return read_bytes + written_bytes > 0;
}

static double read_all(const shapes_tensor *tensors, size_t from, size_t count)
{
    double sum = 0;

    for (size_t i = from; i < count; i++)
        sum += shapes_bytes(&tensors[i]);
    return sum;
}

/* Five products where the attention has two: scores again, the gradients of the weights, of value, of
 * query and key. What is written may be a helper's. */
static bool backward_work(const work_row *row, const shapes_tensor *tensors, size_t count,
                          bool heads_first, ridge_work *out)
{
    if (!attention_work(row, tensors, count, 1, heads_first, out))
        return false;
    out->flop_count *= 2.5;
    out->read_bytes += shapes_bytes(&tensors[0]);
    out->written_bytes = 0;
    return true;
}

static bool convolution_work(const work_row *row, const shapes_tensor *tensors, size_t count,
                             const char *kernel, ridge_work *out)
{
    static const size_t plain[] = {2, 3, 4, 5}, fused[] = {4, 3, 5, 6};

    return count > 2 &&
           loops_convolution_work(tensors, count, row->kind == WORK_CONVOLUTION ? plain : fused,
                                  kernel, element_of(&tensors[0], kernel), out);
}

static bool placed_work(const shapes_tensor *tensors, size_t count, ridge_work *out)
{
    const shapes_tensor *const values = &tensors[count - 1];

    return count >= 3 && !values->is_listed && values->size_bytes > 0 &&
           values->size_bytes == tensors[0].size_bytes &&
           moved(out, read_all(tensors, count - 2, count),
                 shapes_elements(values) * values->size_bytes);
}

/* Along which dimension is not in the shapes: the one that leaves least. */
static bool selected_work(const shapes_tensor *tensors, size_t count, ridge_work *out)
{
    const shapes_tensor *const from = &tensors[0], *const index = &tensors[count - 1];
    double longest = 1;

    if (count < 2 || from->rank == 0 || index->is_known)
        return false;
    for (size_t i = 0; i < from->rank; i++)
        if (from->dims[i] > longest)
            longest = from->dims[i];
    return moved(out, shapes_bytes(index),
                 shapes_elements(from) / longest * shapes_elements(index) * from->size_bytes);
}

/* The index may be smaller than the source. */
static bool scattered_work(const shapes_tensor *tensors, size_t count, ridge_work *out)
{
    const shapes_tensor *const index = &tensors[count - 2], *const source = &tensors[count - 1];
    double read_bytes;

    if (count < 3 || index->size_bytes < 4 || index->is_known ||
        source->size_bytes != tensors[0].size_bytes)
        return false;
    read_bytes = shapes_bytes(source);
    if (index->rank == source->rank)
        read_bytes = fmin(read_bytes, shapes_elements(index) * source->size_bytes);
    return moved(out, shapes_bytes(index) + read_bytes, 0);
}

static double listed_bytes(const shapes_tensor *tensors, size_t count, bool is_written)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        if (tensors[i].is_listed)
            sum += is_written ? shapes_elements(&tensors[i]) * tensors[i].size_bytes
                              : shapes_bytes(&tensors[i]);
    return sum;
}

static const char functor[] = "Functor<";

/* One digit behind a comma; 0: something else. */
static size_t read_digit(const char **at)
{
    const char *digit = *at;

    if (digit == NULL || *digit++ != ',')
        return 0;
    digit += *digit == ' ';
    if (*digit < '1' || *digit > '9' || (digit[1] >= '0' && digit[1] <= '9'))
        return 0;
    *at = digit + 1;
    return (size_t)(*digit - '0');
}

/* "BinaryOpListAlphaFunctor<float, 2, 2, 0>": of 2 lists 2 are read, one is written.
 * "FusedAdamMathFunctor<float, 4, ...": of 4 lists the gradients alone are not written; a first step of
 * SGD reads no momentum. */
static bool listed_work(const char *kernel, const shapes_tensor *tensors, size_t count,
                        ridge_work *out)
{
    const double bytes = listed_bytes(tensors, count, false);
    const char *rest;
    size_t depth, read_count;

    shapes_template_bytes(kernel, functor, &rest);
    depth = read_digit(&rest);
    if (depth == 0)
        return false;
    if (contains(kernel, "FusedAdam"))
        return moved(out, bytes, bytes * (double)(depth - 1) / (double)depth);
    if (contains(kernel, "FusedSgd"))
        return depth >= 2 &&
               moved(out, bytes * 2 / (double)depth, bytes * (double)(depth - 1) / (double)depth);
    read_count = read_digit(&rest);
    return read_count > 0 && read_count <= depth && moved(out, bytes, bytes / (double)read_count);
}

/* Of tensors in lists, whose types a trace does not tell: the kernel's name does. */
static double listed_size(const work_row *row, const char *kernel)
{
    const char *rest;

    switch (row->kind) {
    case WORK_JOIN:
        return shapes_template_bytes(kernel, "CatArrayBatchedCopy", &rest);
    case WORK_LISTS:
        return shapes_template_bytes(kernel, functor, &rest);
    case WORK_PLACE: /* an index, no smaller than a mask's */
        return 1;
    default:
        return 0;
    }
}

kernel_scope kernel_scope_of(const char *operation, const char *kernel)
{
    const work_row *const row = work_row_find(operation, kernel);

    if (row == NULL)
        return KERNEL_SCOPE_NONE;
    if (row->kernel != NULL)
        return KERNEL_SCOPE_OWN;
    switch (row->kind) {
    case WORK_PRODUCT:
    case WORK_LINEAR:
    case WORK_ATTENTION:
    case WORK_ATTENTION_2:
    case WORK_BACKWARD:
    case WORK_BACKWARD_2:
    case WORK_FLASH:
    case WORK_WINDOWED:
    case WORK_CONVOLUTION:
    case WORK_FUSED_CONVOLUTION:
        return KERNEL_SCOPE_MAIN;
    case WORK_TRITON:
        return KERNEL_SCOPE_OWN;
    default:
        return KERNEL_SCOPE_ALL;
    }
}

bool kernel_work_of(const char *operation, const char *shapes, const char *kernel, ridge_work *out)
{
    const work_row *const row = work_row_find(operation, kernel);
    shapes_tensor tensors[SHAPES_MOST_TENSORS];
    size_t count, inputs;

    if (row == NULL)
        return false;
    count = shapes_read(shapes, listed_size(row, kernel), tensors);
    if (count == 0)
        return false;
    inputs = row->input < count ? row->input : count;
    switch (row->kind) {
    case WORK_PRODUCT:
    case WORK_LINEAR:
        return count >= row->input + 2 &&
               product_work(&tensors[row->input], &tensors[row->input + 1],
                            row->kind == WORK_LINEAR, kernel, out);
    case WORK_ELEMENTWISE:
        return stretched(tensors, count) > 0 &&
               moved(out, read_all(tensors, 0, inputs),
                     stretched(tensors, count) * least_size(tensors, count));
    case WORK_COMPARE:
        return stretched(tensors, count) > 0 &&
               moved(out, read_all(tensors, 0, inputs), stretched(tensors, inputs));
    case WORK_ROWS:
        return moved(out, read_all(tensors, 0, inputs),
                     shapes_elements(&tensors[0]) * least_size(tensors, count));
    case WORK_REDUCE:
        return moved(out, shapes_bytes(&tensors[0]), 0);
    case WORK_WRITE_FIRST:
        return moved(out, read_all(tensors, 1, count), shapes_bytes(&tensors[0]));
    case WORK_IN_PLACE_2:
        return count >= 2 && moved(out, read_all(tensors, 0, count), read_all(tensors, 0, 2));
    case WORK_LOOKUP: /* which rows are read, and how often the same one, is not known */
        return count >= 2 && tensors[0].rank == 2 &&
               moved(out, shapes_bytes(&tensors[1]),
                     shapes_elements(&tensors[1]) * tensors[0].dims[1] * tensors[0].size_bytes);
    case WORK_PLACE:
        return placed_work(tensors, count, out);
    case WORK_GATHER: /* the same element may be read again and again */
        return count >= 2 && tensors[0].size_bytes > 0 &&
               moved(out, shapes_bytes(&tensors[count - 1]),
                     shapes_elements(&tensors[count - 1]) * tensors[0].size_bytes);
    case WORK_SELECT:
        return selected_work(tensors, count, out);
    case WORK_SCATTER:
        return scattered_work(tensors, count, out);
    case WORK_READ:
        return moved(out, read_all(tensors, 0, inputs), 0);
    case WORK_WRITTEN:
        return moved(out, 0, shapes_elements(&tensors[0]) * tensors[0].size_bytes);
    case WORK_JOIN:
        return moved(out, listed_bytes(tensors, count, false), listed_bytes(tensors, count, true));
    case WORK_LISTS:
        return listed_work(kernel, tensors, count, out);
    case WORK_CONVOLUTION:
    case WORK_FUSED_CONVOLUTION:
        return convolution_work(row, tensors, count, kernel, out);
    case WORK_TRITON:
        return loops_triton_work(operation, kernel, tensors, count, out);
    case WORK_BACKWARD:
    case WORK_BACKWARD_2:
        return backward_work(row, tensors, count, row->kind == WORK_BACKWARD, out);
    case WORK_FLASH:
        return !may_have_window(tensors, count, row->input + 3, false) &&
               attention_work(row, tensors, count, 0, false, out);
    case WORK_WINDOWED:
        return !may_have_window(tensors, count, row->input + 1, true) &&
               attention_work(row, tensors, count, 0, false, out);
    case WORK_ATTENTION:
    case WORK_ATTENTION_2:
        break;
    }
    return attention_work(row, tensors, count, 0, row->kind == WORK_ATTENTION, out);
}
