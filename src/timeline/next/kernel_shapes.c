/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors by the text of an operation's inputs, and the types that kernels have in their names. */
#include "timeline/next/kernel_shapes.h"

#include <string.h>

static bool find_type(const char *text, size_t length, shapes_tensor *out)
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
        out->is_bool = strcmp(types[i].name, "bool") == 0;
        out->element = out->is_known ? (ridge_element)types[i].element : RIDGE_ELEMENT_F32;
        return true;
    }
    return false;
}

/* "bf16[8192,4096]", or "-"; NULL: not that. */
static const char *read_tensor(const char *at, double listed_bytes, shapes_tensor *out)
{
    const char *const open = strchr(at, '[');

    *out = (shapes_tensor){.expansion = 1};
    if (at[0] == '-' && at[1] == ' ')
        return at + 1;
    if (at[0] == '=') {
        out->value = at + 1;
        return at + strcspn(at, " ");
    }
    if (open == NULL)
        return NULL;
    if (open - at == 1 && *at == '?' && listed_bytes > 0) {
        out->size_bytes = listed_bytes;
        out->is_listed = true;
    } else if (!find_type(at, (size_t)(open - at), out)) {
        return NULL;
    }
    for (at = open + 1; *at != ']'; at += *at == ',') {
        double size = 0;

        if (*at < '0' || *at > '9' || out->rank == SHAPES_MOST_DIMENSIONS)
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

size_t shapes_read(const char *shapes, double listed_bytes, shapes_tensor *tensors)
{
    size_t count = 0;

    while (*shapes != '\0') {
        if (count == SHAPES_MOST_TENSORS)
            return 0;
        shapes = read_tensor(shapes, listed_bytes, &tensors[count++]);
        if (shapes == NULL)
            return 0;
        shapes += *shapes == ' ';
    }
    return count;
}

size_t shapes_numbers(const shapes_tensor *of, double *numbers, size_t size)
{
    const char *at = of->value;
    bool is_list;
    size_t count = 0;

    if (at == NULL)
        return 0;
    is_list = *at == '[';
    at += is_list;
    for (;;) {
        double number = 0;

        if (*at < '0' || *at > '9' || count == size)
            return 0;
        for (; *at >= '0' && *at <= '9'; at++)
            number = number * 10 + (*at - '0');
        numbers[count++] = number;
        if (!is_list || *at != ',')
            break;
        at++;
    }
    if (is_list && *at++ != ']')
        return 0;
    return *at == ' ' || *at == '\0' ? count : 0;
}

bool shapes_is(const shapes_tensor *of, const char *value)
{
    const size_t length = strlen(value);

    return of->value != NULL && strncmp(of->value, value, length) == 0 &&
           (of->value[length] == ' ' || of->value[length] == '\0');
}

double shapes_elements(const shapes_tensor *of)
{
    double product = 1;

    for (size_t i = 0; i < of->rank; i++)
        product *= of->dims[i];
    return product;
}

double shapes_bytes(const shapes_tensor *of)
{
    return shapes_elements(of) / of->expansion * of->size_bytes;
}

double shapes_template_bytes(const char *kernel, const char *word, const char **rest)
{
    static const struct {
        const char *name;
        double size_bytes;
    } types[] = {
        {"float", 4},
        {"double", 8},
        {"c10::Half", 2},
        {"c10::BFloat16", 2},
        {"long", 8},
        {"int", 4},
        {"short", 2},
        {"signed char", 1},
        {"unsigned char", 1},
        {"bool", 1},
        {"char", 1},
        {"c10::complex<float>", 8},
        {"OpaqueType<1u>", 1},
        {"OpaqueType<2u>", 2},
        {"OpaqueType<4u>", 4},
        {"OpaqueType<8u>", 8},
        {"OpaqueType<16u>", 16},
        {"OpaqueType<1>", 1},
        {"OpaqueType<2>", 2},
        {"OpaqueType<4>", 4},
        {"OpaqueType<8>", 8},
        {"OpaqueType<16>", 16},
    };
    static const char *const scopes[] = {"at::native::", "(anonymous namespace)::"};
    const char *at = strstr(kernel, word);

    *rest = NULL;
    at = at != NULL ? strchr(at, '<') : NULL;
    if (at == NULL)
        return 0;
    at++;
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
        if (strncmp(at, scopes[i], strlen(scopes[i])) == 0)
            at += strlen(scopes[i]);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i].name);

        if (strncmp(at, types[i].name, length) != 0 || (at[length] != ',' && at[length] != '>'))
            continue;
        *rest = at + length;
        return types[i].size_bytes;
    }
    return 0;
}
