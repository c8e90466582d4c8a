/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of a kernel from the shapes of the PyTorch operation that launched it. Each row
 * says which inputs are read once and what is written; what shapes do not tell (a mask, whether a
 * matrix is added) is taken so that the work gets smaller, or there is none. */
#include "timeline/next_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_TENSORS = 16, MOST_DIMENSIONS = 8 };

typedef struct tensor {
    double size_bytes; /* of an element; 0: a number */
    bool is_known;     /* element is */
    ridge_element element;
    size_t rank;
    double dims[MOST_DIMENSIONS];
    double expansion; /* elements that are one in memory: the product of extents of stride 0 */
} tensor;

/* How the inputs become work. */
typedef enum work_kind {
    WORK_PRODUCT,     /* inputs a and a + 1 are matrices, [.., m, k] and [.., k, n] */
    WORK_LINEAR,      /* [.., k] and [n, k] */
    WORK_ELEMENTWISE, /* all inputs read, their common shape written */
    WORK_ROWS,        /* all inputs read, as much written as the first one is large */
    WORK_COMPARE,     /* elementwise, a byte an element written */
    WORK_REDUCE,      /* the first input read */
    WORK_WRITE_FIRST, /* the first input written, the others read */
    WORK_IN_PLACE_2,  /* all inputs read, the first two written */
    WORK_LOOKUP,      /* rows of the first, chosen by the second, written */
    WORK_PLACE,       /* the last two, index and values, read, the values written into the first */
    WORK_GATHER,      /* elements of the first, chosen one by one by the last, written */
    WORK_ATTENTION,   /* query, key, value as [batch, heads, tokens, dim] */
    WORK_ATTENTION_2  /* the same as [batch, tokens, heads, dim] */
} work_kind;

static const struct work_row {
    const char *operation;
    work_kind kind;
    /* Of products the first matrix. Of what reads all inputs, how many there are: one behind them is
     * where the result goes (out=), and is not read. */
    size_t input;
} work_rows[] = {
    {"aten::mm", WORK_PRODUCT, 0},
    {"aten::bmm", WORK_PRODUCT, 0},
    {"aten::matmul", WORK_PRODUCT, 0},
    {"aten::addmm", WORK_PRODUCT, 1},
    {"aten::addmm_", WORK_PRODUCT, 1},
    {"aten::_addmm_activation", WORK_PRODUCT, 1},
    {"aten::baddbmm", WORK_PRODUCT, 1},
    {"aten::baddbmm_", WORK_PRODUCT, 1},
    {"aten::_scaled_mm", WORK_PRODUCT, 0},
    {"aten::_int_mm", WORK_PRODUCT, 0},
    {"aten::linear", WORK_LINEAR, 0},

    {"aten::copy_", WORK_WRITE_FIRST, 0},
    {"aten::fill_", WORK_WRITE_FIRST, 0},
    {"aten::zero_", WORK_WRITE_FIRST, 0},
    {"aten::add", WORK_ELEMENTWISE, 2},
    {"aten::add_", WORK_ELEMENTWISE, 2},
    {"aten::sub", WORK_ELEMENTWISE, 2},
    {"aten::sub_", WORK_ELEMENTWISE, 2},
    {"aten::rsub", WORK_ELEMENTWISE, 2},
    {"aten::mul", WORK_ELEMENTWISE, 2},
    {"aten::mul_", WORK_ELEMENTWISE, 2},
    {"aten::div", WORK_ELEMENTWISE, 2},
    {"aten::div_", WORK_ELEMENTWISE, 2},
    {"aten::addcmul", WORK_ELEMENTWISE, 3},
    {"aten::addcmul_", WORK_ELEMENTWISE, 3},
    {"aten::addcdiv", WORK_ELEMENTWISE, 3},
    {"aten::addcdiv_", WORK_ELEMENTWISE, 3},
    {"aten::lerp", WORK_ELEMENTWISE, 3},
    {"aten::lerp_", WORK_ELEMENTWISE, 3},
    {"aten::pow", WORK_ELEMENTWISE, 2},
    {"aten::sqrt", WORK_ELEMENTWISE, 1},
    {"aten::sqrt_", WORK_ELEMENTWISE, 1},
    {"aten::rsqrt", WORK_ELEMENTWISE, 1},
    {"aten::exp", WORK_ELEMENTWISE, 1},
    {"aten::exp_", WORK_ELEMENTWISE, 1},
    {"aten::log", WORK_ELEMENTWISE, 1},
    {"aten::neg", WORK_ELEMENTWISE, 1},
    {"aten::abs", WORK_ELEMENTWISE, 1},
    {"aten::sin", WORK_ELEMENTWISE, 1},
    {"aten::cos", WORK_ELEMENTWISE, 1},
    {"aten::tanh", WORK_ELEMENTWISE, 1},
    {"aten::sigmoid", WORK_ELEMENTWISE, 1},
    {"aten::sigmoid_", WORK_ELEMENTWISE, 1},
    {"aten::relu", WORK_ELEMENTWISE, 1},
    {"aten::relu_", WORK_ELEMENTWISE, 1},
    {"aten::clamp", WORK_ELEMENTWISE, 3},
    {"aten::clamp_min", WORK_ELEMENTWISE, 2},
    {"aten::clamp_min_", WORK_ELEMENTWISE, 2},
    {"aten::silu", WORK_ELEMENTWISE, 1},
    {"aten::silu_", WORK_ELEMENTWISE, 1},
    {"aten::gelu", WORK_ELEMENTWISE, 1},
    {"aten::maximum", WORK_ELEMENTWISE, 2},
    {"aten::minimum", WORK_ELEMENTWISE, 2},
    {"aten::where", WORK_ELEMENTWISE, 3},
    {"aten::masked_fill", WORK_ELEMENTWISE, 3},
    {"aten::masked_fill_", WORK_ELEMENTWISE, 3},
    {"aten::silu_backward", WORK_ELEMENTWISE, 2},
    {"aten::gelu_backward", WORK_ELEMENTWISE, 2},
    {"aten::sigmoid_backward", WORK_ELEMENTWISE, 2},
    {"aten::tanh_backward", WORK_ELEMENTWISE, 2},
    {"aten::threshold_backward", WORK_ELEMENTWISE, 2},
    {"aten::eq", WORK_COMPARE, 2},
    {"aten::ne", WORK_COMPARE, 2},
    {"aten::lt", WORK_COMPARE, 2},
    {"aten::le", WORK_COMPARE, 2},
    {"aten::gt", WORK_COMPARE, 2},
    {"aten::ge", WORK_COMPARE, 2},

    {"aten::sum", WORK_REDUCE, 0},
    {"aten::mean", WORK_REDUCE, 0},
    {"aten::amax", WORK_REDUCE, 0},
    {"aten::amin", WORK_REDUCE, 0},
    {"aten::max", WORK_REDUCE, 0},
    {"aten::min", WORK_REDUCE, 0},
    {"aten::argmax", WORK_REDUCE, 0},
    {"aten::argmin", WORK_REDUCE, 0},
    {"aten::linalg_vector_norm", WORK_REDUCE, 0},

    {"aten::_softmax", WORK_ROWS, 1},
    {"aten::_log_softmax", WORK_ROWS, 1},
    {"aten::_softmax_backward_data", WORK_ROWS, 2},
    {"aten::_log_softmax_backward_data", WORK_ROWS, 2},
    {"aten::native_layer_norm", WORK_ROWS, 4},
    {"aten::_fused_rms_norm", WORK_ROWS, 3},
    {"aten::rms_norm", WORK_ROWS, 3},
    {"aten::embedding", WORK_LOOKUP, 0},
    {"aten::index_copy_", WORK_PLACE, 0},
    {"aten::gather", WORK_GATHER, 0},
    {"_C::rms_norm", WORK_WRITE_FIRST, 0},
    {"_C::silu_and_mul", WORK_WRITE_FIRST, 0},
    {"_C::gelu_and_mul", WORK_WRITE_FIRST, 0},
    {"_C::fused_add_rms_norm", WORK_IN_PLACE_2, 0},

    {"aten::_scaled_dot_product_flash_attention", WORK_ATTENTION, 0},
    {"aten::_scaled_dot_product_efficient_attention", WORK_ATTENTION, 0},
    {"aten::_scaled_dot_product_cudnn_attention", WORK_ATTENTION, 0},
    {"aten::_cudnn_attention_forward", WORK_ATTENTION, 0},
    {"aten::_flash_attention_forward", WORK_ATTENTION_2, 0},
    {"aten::_efficient_attention_forward", WORK_ATTENTION_2, 0},
    {"flash_attn::_flash_attn_forward", WORK_ATTENTION_2, 0},
};

static const struct work_row *find_row(const char *operation)
{
    for (size_t i = 0; i < sizeof(work_rows) / sizeof(work_rows[0]); i++)
        if (strcmp(work_rows[i].operation, operation) == 0)
            return &work_rows[i];
    return NULL;
}

bool kernel_is_product(const char *operation)
{
    const struct work_row *const row = find_row(operation);

    return row != NULL && (row->kind == WORK_PRODUCT || row->kind == WORK_LINEAR ||
                           row->kind == WORK_ATTENTION || row->kind == WORK_ATTENTION_2);
}

/* -- shapes ------------------------------------------------------------------------------------ */

static bool find_type(const char *text, size_t length, tensor *out)
{
    static const struct {
        const char *name;
        double size_bytes;
        int element; /* -1: no unit multiplies it */
    } types[] = {
        {"bf16", 2, RIDGE_ELEMENT_BF16},
        {"f16", 2, RIDGE_ELEMENT_F16},
        {"f32", 4, RIDGE_ELEMENT_F32},
        {"f64", 8, RIDGE_ELEMENT_F64},
        {"e4m3", 1, RIDGE_ELEMENT_FP8},
        {"e5m2", 1, RIDGE_ELEMENT_FP8},
        {"i8", 1, RIDGE_ELEMENT_INT8},
        {"u8", 1, -1},
        {"bool", 1, -1},
        {"i16", 2, -1},
        {"i32", 4, -1},
        {"u32", 4, -1},
        {"i64", 8, -1},
        {"c64", 8, -1},
        {"c128", 16, -1},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strlen(types[i].name) != length || memcmp(types[i].name, text, length) != 0)
            continue;
        out->size_bytes = types[i].size_bytes;
        out->is_known = types[i].element >= 0;
        out->element = out->is_known ? (ridge_element)types[i].element : RIDGE_ELEMENT_F32;
        return true;
    }
    return false;
}

/* "bf16[8192,4096]", or "-"; NULL: not that. */
static const char *read_tensor(const char *at, tensor *out)
{
    const char *const open = strchr(at, '[');

    *out = (tensor){.expansion = 1};
    if (at[0] == '-' && at[1] == ' ')
        return at + 1;
    if (open == NULL || !find_type(at, (size_t)(open - at), out))
        return NULL;
    for (at = open + 1; *at != ']'; at += *at == ',') {
        double size = 0;

        if (*at < '0' || *at > '9' || out->rank == MOST_DIMENSIONS)
            return NULL;
        for (; *at >= '0' && *at <= '9'; at++)
            size = size * 10 + (*at - '0');
        if (*at == '*') {
            out->expansion *= size > 0 ? size : 1;
            at++;
        }
        if (*at != ',' && *at != ']')
            return NULL;
        out->dims[out->rank++] = size;
    }
    return at + 1;
}

/* 0 when any of them cannot be read: bytes would be missing. */
static size_t read_shapes(const char *shapes, tensor *tensors)
{
    size_t count = 0;

    while (*shapes != '\0') {
        if (count == MOST_TENSORS)
            return 0;
        shapes = read_tensor(shapes, &tensors[count++]);
        if (shapes == NULL)
            return 0;
        shapes += *shapes == ' ';
    }
    return count;
}

static double elements_of(const tensor *of)
{
    double product = 1;

    for (size_t i = 0; i < of->rank; i++)
        product *= of->dims[i];
    return product;
}

/* Of what is stored: an element that is stretched along a dimension is there once. */
static double bytes_of(const tensor *of)
{
    return elements_of(of) / of->expansion * of->size_bytes;
}

/* Less to read than an operation of the library counts, which knows no strides. */
static void subtract_expansion(ridge_work *work, const tensor *of)
{
    const double more = elements_of(of) * of->size_bytes - bytes_of(of);

    work->read_bytes = work->read_bytes > more ? work->read_bytes - more : 0;
}

/* -- kinds of work ----------------------------------------------------------------------------- */

/* Elements of the shape that all tensors are stretched to; 0: they do not fit. */
static double stretched(const tensor *tensors, size_t count)
{
    double product = 1;

    for (size_t back = 0; back < MOST_DIMENSIONS; back++) {
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

/* Of the result, where types mix: no larger than it is. */
static double least_size(const tensor *tensors, size_t count)
{
    double size_bytes = INFINITY;

    for (size_t i = 0; i < count; i++)
        if (tensors[i].rank > 0 && tensors[i].size_bytes < size_bytes)
            size_bytes = tensors[i].size_bytes;
    return isinf(size_bytes) ? tensors[0].size_bytes : size_bytes;
}

static bool contains(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/* Floats are multiplied by the fp32 unit only where the kernel's name says so: TF32 is faster. */
static ridge_element element_of(const tensor *of, const char *kernel)
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

static bool product_work(const tensor *a, const tensor *b, bool is_linear, const char *kernel,
                         ridge_work *out)
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

/* Causal where nothing else can be: the smaller of both. */
static bool attention_work(const tensor *tensors, size_t count, bool heads_first, ridge_work *out)
{
    static const char *const names[] = {"queries", "heads", "head_dim", "keys", "kv_heads",
                                        "v_dim",   "batch", "causal",   "lse"};
    const tensor *const q = &tensors[0], *const k = &tensors[1], *const v = &tensors[2];
    const size_t heads = heads_first ? 1 : 2, tokens = heads_first ? 2 : 1;

    if (count < 3 || !q->is_known || q->rank != 4 || k->rank != 4 || v->rank != 4 ||
        k->dims[tokens] != v->dims[tokens] || k->dims[heads] != v->dims[heads] ||
        q->dims[0] != k->dims[0] || q->dims[tokens] > k->dims[tokens] || q->dims[3] != k->dims[3] ||
        q->size_bytes != k->size_bytes || q->size_bytes != v->size_bytes)
        return false;
    {
        const double numbers[] = {q->dims[tokens],
                                  q->dims[heads],
                                  q->dims[3],
                                  k->dims[tokens],
                                  k->dims[heads],
                                  v->dims[3],
                                  q->dims[0],
                                  1,
                                  0};

        if (!call_operation("attention", names, numbers, 9, q->element, out))
            return false;
    }
    for (size_t i = 0; i < 3; i++)
        subtract_expansion(out, &tensors[i]);
    return true;
}

static bool moved(ridge_work *out, double read_bytes, double written_bytes)
{
    *out = (ridge_work){.read_bytes = read_bytes, .written_bytes = written_bytes};
    return read_bytes + written_bytes > 0;
}

static double read_all(const tensor *tensors, size_t from, size_t count)
{
    double sum = 0;

    for (size_t i = from; i < count; i++)
        sum += bytes_of(&tensors[i]);
    return sum;
}

static bool placed_work(const tensor *tensors, size_t count, ridge_work *out)
{
    const tensor *const values = &tensors[count - 1];

    return count >= 3 && values->size_bytes > 0 && values->size_bytes == tensors[0].size_bytes &&
           moved(out, read_all(tensors, count - 2, count),
                 elements_of(values) * values->size_bytes);
}

bool kernel_work_of(const char *operation, const char *shapes, const char *kernel, ridge_work *out)
{
    const struct work_row *const row = find_row(operation);
    tensor tensors[MOST_TENSORS];
    size_t count, inputs;

    if (row == NULL)
        return false;
    count = read_shapes(shapes, tensors);
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
                     elements_of(&tensors[0]) * least_size(tensors, count));
    case WORK_REDUCE:
        return moved(out, bytes_of(&tensors[0]), 0);
    case WORK_WRITE_FIRST:
        return moved(out, read_all(tensors, 1, count), bytes_of(&tensors[0]));
    case WORK_IN_PLACE_2:
        return count >= 2 && moved(out, read_all(tensors, 0, count), read_all(tensors, 0, 2));
    case WORK_LOOKUP: /* which rows are read, and how often the same one, is not known */
        return count >= 2 && tensors[0].rank == 2 &&
               moved(out, bytes_of(&tensors[1]),
                     elements_of(&tensors[1]) * tensors[0].dims[1] * tensors[0].size_bytes);
    case WORK_PLACE:
        return placed_work(tensors, count, out);
    case WORK_GATHER: /* the same element may be read again and again */
        return count >= 2 && tensors[0].size_bytes > 0 &&
               moved(out, bytes_of(&tensors[count - 1]),
                     elements_of(&tensors[count - 1]) * tensors[0].size_bytes);
    case WORK_ATTENTION:
    case WORK_ATTENTION_2:
        break;
    }
    return attention_work(tensors, count, row->kind == WORK_ATTENTION, out);
}
