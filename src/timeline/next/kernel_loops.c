/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that numbers decide as well as tensors: convolutions (padding, stride, dilation, groups) and
 * kernels that torch.compile writes for Triton (how often their loops run). */
#include <math.h>
#include <string.h>

#include "timeline/next/kernel_loops.h"

/* -- Triton ------------------------------------------------------------------------------------ */

static bool has_word(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

/* How often the loops run: "triton_poi" over elements, the last number; "triton_red" and "triton_per" over
 * rows and what is reduced, the last two. Before them stand further loops or extents that were not known
 * beforehand: loops where a tensor has as many elements. 0: not known. */
static double loop_count(const char *operation, const shapes_tensor *tensors, size_t count)
{
    static const char *const heads[] = {"triton_poi_", "triton_red_", "triton_per_"};
    const bool is_elements = strncmp(operation, heads[0], strlen(heads[0])) == 0;
    double product = 1, found = 0;

    if (!is_elements && strncmp(operation, heads[1], strlen(heads[1])) != 0 &&
        strncmp(operation, heads[2], strlen(heads[2])) != 0)
        return 0;
    for (size_t numbers = 1; numbers <= 3 && numbers <= count; numbers++) {
        double number;

        if (shapes_numbers(&tensors[count - numbers], &number, 1) != 1)
            break;
        product *= number;
        if (numbers == (is_elements ? 1 : 2))
            found = product;
        for (size_t i = 0; found > 0 && i < count; i++)
            if (tensors[i].rank > 0 && shapes_elements(&tensors[i]) == product && product > 0)
                found = product;
    }
    return found;
}

/* Each tensor is read or written once, as far as that is sure. */
bool loops_triton_work(const char *operation, const char *kernel, const shapes_tensor *tensors,
                       size_t count, ridge_work *out)
{
    /* Elements are chosen by others: how many are touched is not known. */
    static const char *const chosen[] = {
        "index",   "gather",   "embedding", "scatter",  "pad",  "triu",     "tril",     "unfold",
        "strided", "diagonal", "upsample",  "pool",     "grid", "take",     "nll_loss", "sort",
        "bucket",  "search",   "nonzero",   "masked_s", "roll", "histogram"};
    /* A part of a tensor: one that is as large as the loop is whole all the same. */
    static const char *const parts[] = {"slice", "select", "split", "unbind",
                                        "chunk", "cat",    "stack", "narrow"};
    const bool is_part = has_word(operation, parts, sizeof(parts) / sizeof(parts[0]));
    const double loops = loop_count(operation, tensors, count);
    double bytes = 0;

    if (!(loops > 0) || strcmp(operation, kernel) != 0 ||
        has_word(operation, chosen, sizeof(chosen) / sizeof(chosen[0])))
        return false;
    for (size_t i = 0; i < count; i++) {
        const double elements = shapes_elements(&tensors[i]);

        if (tensors[i].size_bytes > 0 && (is_part ? elements == loops : elements <= loops))
            bytes += shapes_bytes(&tensors[i]);
    }
    *out = (ridge_work){.read_bytes = bytes};
    return bytes > 0;
}

/* -- convolutions ------------------------------------------------------------------------------ */

enum { MOST_AXES = 3, MOST_TAPS = 4096 };

typedef struct axis {
    double in, taps, padding, stride, dilation;
    double out;     /* outputs */
    double pairs;   /* of an output and a tap that lies inside */
    double touched; /* inputs, at least */
} axis;

static bool measure_axis(axis *of)
{
    const double reach = of->dilation * (of->taps - 1) + 1;

    of->out = floor((of->in + 2 * of->padding - reach) / of->stride) + 1;
    if (!(of->stride > 0) || !(of->dilation > 0) || !(of->taps > 0) || of->taps > MOST_TAPS ||
        !(of->out > 0) || !isfinite(of->out))
        return false;
    of->pairs = 0;
    for (size_t tap = 0; tap < (size_t)of->taps; tap++) {
        const double shift = of->padding - (double)tap * of->dilation;
        const double first = fmax(ceil(shift / of->stride), 0);
        const double last = fmin(floor((of->in - 1 + shift) / of->stride), of->out - 1);

        of->pairs += fmax(last - first + 1, 0);
    }
    if (of->dilation == 1 && of->stride <= of->taps) /* without holes */
        of->touched = fmin(of->in, (of->out - 1) * of->stride - of->padding + of->taps);
    else if (of->stride >= reach) /* none twice */
        of->touched = of->pairs;
    else
        of->touched = of->pairs / of->taps;
    of->touched = fmax(of->touched, 0);
    return true;
}

/* A number for each axis, or one for all. */
static bool read_axes(const shapes_tensor *of, size_t axes, double numbers[MOST_AXES])
{
    const size_t count = shapes_numbers(of, numbers, MOST_AXES);

    if (count == 1)
        for (size_t i = 1; i < axes; i++)
            numbers[i] = numbers[0];
    return count == axes || count == 1;
}

/* Does the kernel multiply as the definition says? Winograd's and Fourier's ways multiply less. */
static bool is_direct(const char *kernel, const double *taps, size_t axes)
{
    static const char *const direct[] = {"implicit", "fprop", "scudnn", "hcudnn",
                                         "conv2d",   "1688",  "16816",  "884"};
    static const char *const fewer[] = {"winograd", "Winograd", "fft"};
    bool is_point = true;

    for (size_t i = 0; i < axes; i++)
        is_point = is_point && taps[i] == 1;
    return is_point || (has_word(kernel, direct, sizeof(direct) / sizeof(direct[0])) &&
                        !has_word(kernel, fewer, sizeof(fewer) / sizeof(fewer[0])));
}

bool loops_convolution_work(const shapes_tensor *tensors, size_t count, const size_t places[4],
                            const char *kernel, ridge_element element, ridge_work *out)
{
    const shapes_tensor *const in = &tensors[0], *const weight = &tensors[1];
    const size_t axes = in->rank - 2;
    double padding[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES], taps[MOST_AXES], groups;
    double outputs, pairs = 1, touched;

    for (size_t i = 0; i < 4; i++)
        if (places[i] >= count)
            return false;
    if (in->rank < 3 || axes > MOST_AXES || weight->rank != in->rank || !in->is_known ||
        !weight->is_known || in->size_bytes != weight->size_bytes ||
        !read_axes(&tensors[places[0]], axes, padding) ||
        !read_axes(&tensors[places[1]], axes, stride) ||
        !read_axes(&tensors[places[2]], axes, dilation) ||
        shapes_numbers(&tensors[places[3]], &groups, 1) != 1 ||
        in->dims[1] != weight->dims[1] * groups)
        return false;
    outputs = in->dims[0] * weight->dims[0];
    touched = in->dims[0] * in->dims[1];
    for (size_t i = 0; i < axes; i++) {
        axis of = {
            in->dims[i + 2], weight->dims[i + 2], padding[i], stride[i], dilation[i], 0, 0, 0};

        if (!measure_axis(&of))
            return false;
        taps[i] = of.taps;
        outputs *= of.out;
        pairs *= of.pairs;
        touched *= of.touched;
    }
    *out = (ridge_work){
        .read_bytes = touched / in->expansion * in->size_bytes + shapes_bytes(weight),
        .written_bytes = outputs * in->size_bytes,
    };
    if (is_direct(kernel, taps, axes)) {
        out->flop_count = 2 * in->dims[0] * weight->dims[0] * weight->dims[1] * pairs;
        out->peak = ridge_peak_of_element(element);
    }
    return out->read_bytes + out->written_bytes > 0;
}
