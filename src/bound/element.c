/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types, the names people give them, and the unit that multiplies each. */
#include <string.h>

#include "ridge/bound.h"

static const struct element {
    const char *name;
    double bits;
} elements[RIDGE_ELEMENT_COUNT] = {
#define ELEMENT_ROW(name, text, bits) [RIDGE_ELEMENT_##name] = {text, bits},
    RIDGE_ELEMENT_LIST(ELEMENT_ROW)
#undef ELEMENT_ROW
};

static const char *const peaks[RIDGE_PEAK_COUNT] = {
#define PEAK_ROW(name, text) [RIDGE_PEAK_##name] = text,
    RIDGE_PEAK_LIST(PEAK_ROW)
#undef PEAK_ROW
};

static const struct other_name {
    const char *name;
    ridge_element element;
} other_names[] = {
    {"fp64", RIDGE_ELEMENT_F64},      {"float64", RIDGE_ELEMENT_F64}, {"double", RIDGE_ELEMENT_F64},
    {"fp32", RIDGE_ELEMENT_F32},      {"float32", RIDGE_ELEMENT_F32}, {"float", RIDGE_ELEMENT_F32},
    {"fp16", RIDGE_ELEMENT_F16},      {"float16", RIDGE_ELEMENT_F16}, {"half", RIDGE_ELEMENT_F16},
    {"bfloat16", RIDGE_ELEMENT_BF16}, {"e4m3", RIDGE_ELEMENT_FP8},    {"e5m2", RIDGE_ELEMENT_FP8},
    {"f8", RIDGE_ELEMENT_FP8},        {"i32", RIDGE_ELEMENT_INT32},   {"i8", RIDGE_ELEMENT_INT8},
    {"i4", RIDGE_ELEMENT_INT4},       {"f4", RIDGE_ELEMENT_FP4},      {"e2m1", RIDGE_ELEMENT_FP4},
    {"nvfp4", RIDGE_ELEMENT_FP4},     {"mxfp4", RIDGE_ELEMENT_FP4},
};

const char *ridge_element_name(ridge_element element)
{
    return (unsigned)element < RIDGE_ELEMENT_COUNT ? elements[element].name : "unknown";
}

double ridge_element_bytes(ridge_element element)
{
    return (unsigned)element < RIDGE_ELEMENT_COUNT ? elements[element].bits / 8 : 0;
}

bool ridge_element_find(const char *name, ridge_element *out)
{
    size_t i;

    for (i = 0; i < RIDGE_ELEMENT_COUNT; i++) {
        if (strcmp(elements[i].name, name) == 0) {
            *out = (ridge_element)i;
            return true;
        }
    }
    for (i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
        if (strcmp(other_names[i].name, name) == 0) {
            *out = other_names[i].element;
            return true;
        }
    }
    return false;
}

const char *ridge_peak_name(ridge_peak peak)
{
    return (unsigned)peak < RIDGE_PEAK_COUNT ? peaks[peak] : "unknown";
}

bool ridge_peak_find(const char *name, ridge_peak *out)
{
    size_t i;

    for (i = 0; i < RIDGE_PEAK_COUNT; i++) {
        if (strcmp(peaks[i], name) == 0) {
            *out = (ridge_peak)i;
            return true;
        }
    }
    return false;
}

ridge_peak ridge_peak_of_element(ridge_element element)
{
    switch (element) {
    case RIDGE_ELEMENT_F64:
        return RIDGE_PEAK_TENSOR_FP64;
    case RIDGE_ELEMENT_F32:
        return RIDGE_PEAK_FP32;
    case RIDGE_ELEMENT_TF32:
        return RIDGE_PEAK_TENSOR_TF32;
    case RIDGE_ELEMENT_F16:
        return RIDGE_PEAK_TENSOR_FP16;
    case RIDGE_ELEMENT_BF16:
        return RIDGE_PEAK_TENSOR_BF16;
    case RIDGE_ELEMENT_FP8:
        return RIDGE_PEAK_TENSOR_FP8;
    case RIDGE_ELEMENT_INT8:
    case RIDGE_ELEMENT_INT4:
        return RIDGE_PEAK_TENSOR_INT8;
    case RIDGE_ELEMENT_FP4:
        return RIDGE_PEAK_TENSOR_FP4;
    case RIDGE_ELEMENT_INT32:
    case RIDGE_ELEMENT_COUNT:
        break;
    }
    return RIDGE_PEAK_NONE;
}
