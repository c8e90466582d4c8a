/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of PTX what stands outside the bodies: version, target, and each kernel's name, parameters
 * and performance directives. Tokens are split as the PTX ISA's chapter "Syntax" says; whatever
 * stands in braces is skipped, comments and strings in it regarded, so that one pass over the text
 * does. Layout of parameters: each at the next multiple of its alignment ("Kernel Function
 * Parameters"), which gives the sum that ptxas stores in a cubin. */
#include <string.h>

#include "binary/image_internal.h"

enum { KERNELS_FIRST = 16, PARAMETERS_MOST = 256, SIZE_LIMIT = 1 << 24 };

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* ---- tokens ---- */

/* A word with its leading dot, or one other character; size 0 at the end. */
typedef ridge_slice token;

typedef struct scanner {
    const uint8_t *at, *end;
} scanner;

static scanner scanner_of(ridge_slice text)
{
    static const uint8_t nothing[1];
    const uint8_t *const begin = text.data != NULL ? text.data : nothing;
    const scanner in = {begin, begin + (text.data != NULL ? text.size : 0)};

    return in;
}

/* Behind a line comment, a block comment or a string that starts here; NULL: none does. */
static const uint8_t *skip_opaque(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *to;

    if (*at == '"') {
        for (to = at + 1; to < end && *to != '"' && *to != '\n' && *to != '\0'; to++)
            if (*to == '\\' && end - to > 1)
                to++;
        return to < end ? to + 1 : end;
    }
    if (*at != '/' || end - at < 2)
        return NULL;
    if (at[1] == '/') {
        for (to = at; to < end && *to != '\n' && *to != '\0'; to++)
            ;
        return to;
    }
    if (at[1] != '*')
        return NULL;
    for (to = at + 2; to < end; to++)
        if (*to == '/' && to[-1] == '*' && to > at + 2)
            return to + 1;
    return end;
}

static token next_token(scanner *in)
{
    token found;

    while (in->at < in->end) {
        const uint8_t c = *in->at;
        const uint8_t *opaque;

        if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\0') {
            in->at++;
            continue;
        }
        opaque = skip_opaque(in->at, in->end);
        if (opaque == NULL)
            break;
        in->at = opaque;
    }
    found.data = in->at;
    if (in->at < in->end) {
        in->at++;
        if (is_word(*found.data) || *found.data == '.')
            while (in->at < in->end && is_word(*in->at))
                in->at++;
    }
    found.size = (size_t)(in->at - found.data);
    return found;
}

static bool is_char(token found, char c)
{
    return found.size == 1 && found.data[0] == (uint8_t)c;
}

/* Behind the brace that closes the one before in->at. */
static void skip_braces(scanner *in)
{
    static const uint8_t is_special[256] = {['{'] = 1, ['}'] = 1, ['"'] = 1, ['/'] = 1};
    size_t depth = 1;

    while (in->at < in->end) {
        const uint8_t *opaque;

        if (!is_special[*in->at]) {
            in->at++;
            continue;
        }
        opaque = skip_opaque(in->at, in->end);
        if (opaque != NULL) {
            in->at = opaque;
            continue;
        }
        if (*in->at == '{')
            depth++;
        else if (*in->at == '}')
            depth--;
        in->at++;
        if (depth == 0)
            return;
    }
}

/* A decimal number, at most SIZE_LIMIT; 0 for anything else. */
static int number_of(token found)
{
    int value = 0;
    size_t i;

    for (i = 0; i < found.size; i++) {
        if (!is_digit(found.data[i]))
            return 0;
        value = value * 10 + (found.data[i] - '0');
        if (value > SIZE_LIMIT)
            return SIZE_LIMIT;
    }
    return value;
}

/* ---- kernels ---- */

/* One to three numbers with commas between; what is not given of three is 1. */
static void read_three(scanner *in, int out[3])
{
    int i;

    for (i = 0; i < 3; i++) {
        scanner ahead;

        out[i] = number_of(next_token(in));
        ahead = *in;
        if (!is_char(next_token(&ahead), ','))
            break;
        *in = ahead;
    }
    for (i++; i < 3; i++)
        out[i] = 1;
}

/* Bytes of ".u64", ".f32", ".b8"; 0 for what is no type. */
static int type_bytes(token found)
{
    static const char *const references[] = {".texref", ".samplerref", ".surfref"};
    size_t i;

    for (i = 0; i < sizeof(references) / sizeof(references[0]); i++)
        if (ridge_slice_is(found, references[i]))
            return 8;
    if (found.size < 3 || found.data[0] != '.' || strchr("busf", found.data[1]) == NULL ||
        found.data[1] == '\0')
        return 0;
    found.data += 2;
    found.size -= 2;
    return number_of(found) / 8;
}

typedef struct parameter {
    int alignment, element, count;
    bool is_pointer; /* an .align from now on is of what it points to */
} parameter;

static int end_of_parameter(const parameter *of, int offset)
{
    const int alignment = of->alignment > of->element ? of->alignment : of->element;
    const int64_t size = (int64_t)of->element * of->count;
    int64_t end = offset;

    if (alignment > 1)
        end = (end + alignment - 1) / alignment * alignment;
    end += size;
    return end < SIZE_LIMIT ? (int)end : SIZE_LIMIT;
}

/* The parameters of one kernel. */
typedef struct parameter_list {
    ridge_kernel_parameter rows[PARAMETERS_MOST];
    size_t count; /* may be more than rows */
} parameter_list;

static void add_parameter(parameter_list *list, const parameter *one, int end)
{
    const int64_t size = (int64_t)one->element * one->count;

    if (list->count < PARAMETERS_MOST && size <= end)
        list->rows[list->count] =
            (ridge_kernel_parameter){(uint32_t)(end - (int)size), (uint32_t)size};
    list->count++;
}

/* From behind the "(" to behind the ")". */
static int read_parameters(scanner *in, parameter_list *list)
{
    parameter one = {0, 0, 1, false};
    int bytes = 0;

    for (;;) {
        const token found = next_token(in);

        if (found.size == 0 || is_char(found, ')') || is_char(found, ',')) {
            if (one.element > 0) {
                bytes = end_of_parameter(&one, bytes);
                add_parameter(list, &one, bytes);
            }
            if (!is_char(found, ','))
                return bytes;
            one = (parameter){0, 0, 1, false};
        } else if (ridge_slice_is(found, ".ptr")) {
            one.is_pointer = true;
        } else if (ridge_slice_is(found, ".align")) {
            const int alignment = number_of(next_token(in));

            if (!one.is_pointer)
                one.alignment = alignment;
        } else if (is_char(found, '[')) {
            one.count = number_of(next_token(in));
        } else if (found.data[0] == '.' && one.element == 0) {
            one.element = type_bytes(found);
        }
    }
}

static void read_directive(scanner *in, token found, ridge_ptx_kernel *kernel)
{
    if (ridge_slice_is(found, ".maxntid"))
        read_three(in, kernel->max_threads);
    else if (ridge_slice_is(found, ".reqntid"))
        read_three(in, kernel->required_threads);
    else if (ridge_slice_is(found, ".reqnctapercluster"))
        read_three(in, kernel->required_cluster);
    else if (ridge_slice_is(found, ".minnctapersm"))
        kernel->min_blocks = number_of(next_token(in));
    else if (ridge_slice_is(found, ".maxnreg"))
        kernel->max_registers = number_of(next_token(in));
    else if (ridge_slice_is(found, ".maxclusterrank"))
        kernel->max_cluster = number_of(next_token(in));
    else if (ridge_slice_is(found, ".explicitcluster"))
        kernel->needs_cluster = true;
}

static ridge_status add_kernel(ptx_module *module, const ridge_ptx_kernel *kernel, ridge_error *err)
{
    if (module->kernel_count == module->kernel_capacity) {
        const size_t capacity =
            module->kernel_capacity > 0 ? module->kernel_capacity * 2 : KERNELS_FIRST;
        ridge_ptx_kernel *const grown =
            ridge_realloc_array(module->kernels, capacity, sizeof(*grown));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading PTX");
        module->kernels = grown;
        module->kernel_capacity = capacity;
    }
    module->kernels[module->kernel_count++] = *kernel;
    return RIDGE_OK;
}

static void skip_pragma(scanner *in)
{
    token found;

    do
        found = next_token(in);
    while (found.size != 0 && !is_char(found, ';'));
}

/* From behind ".entry" to behind its body; a declaration without one is no kernel. */
static ridge_status read_entry(scanner *in, ptx_module *module, ridge_error *err)
{
    ridge_ptx_kernel kernel = {.name = NULL};
    parameter_list list = {.count = 0};
    const token name = next_token(in);

    if (name.size == 0 || !is_word(name.data[0]))
        return RIDGE_OK;
    for (;;) {
        const token found = next_token(in);

        if (found.size == 0 || is_char(found, ';'))
            return RIDGE_OK;
        if (is_char(found, '{'))
            break;
        if (is_char(found, '('))
            kernel.parameter_bytes = read_parameters(in, &list);
        else if (ridge_slice_is(found, ".pragma")) /* the one directive with a semicolon */
            skip_pragma(in);
        else
            read_directive(in, found, &kernel);
    }
    skip_braces(in);
    kernel.name = ridge_alloc_text(&module->names, (const char *)name.data, name.size);
    if (kernel.name == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading PTX");
    if (list.count > 0 && list.count <= PARAMETERS_MOST) {
        ridge_kernel_parameter *const rows =
            ridge_alloc_array(&module->names, list.count, sizeof(*rows));

        if (rows == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading PTX");
        memcpy(rows, list.rows, list.count * sizeof(*rows));
        kernel.parameters = rows;
        kernel.parameter_count = list.count;
    }
    return add_kernel(module, &kernel, err);
}

/* ---- module ---- */

bool ptx_target(ridge_slice text, int *sm, ridge_target_suffix *suffix)
{
    static const char *const prefixes[] = {"sm_", "compute_"};
    token digits = {text.data, 0};
    size_t i;

    for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const size_t length = strlen(prefixes[i]);

        if (text.size > length && memcmp(text.data, prefixes[i], length) == 0)
            digits.data = text.data + length;
    }
    if (digits.data == text.data)
        return false;
    while (digits.data + digits.size < text.data + text.size && digits.size < 4 &&
           is_digit(digits.data[digits.size]))
        digits.size++;
    *sm = number_of(digits);
    *suffix = RIDGE_TARGET_PLAIN;
    if (digits.data + digits.size < text.data + text.size) {
        if (digits.data[digits.size] == 'a')
            *suffix = RIDGE_TARGET_ARCH;
        else if (digits.data[digits.size] == 'f')
            *suffix = RIDGE_TARGET_FAMILY;
    }
    return *sm > 0;
}

/* "9.0": the scanner gives the words "9" and ".0". */
static void read_version(scanner *in, ptx_module *module)
{
    const token major = next_token(in);
    scanner ahead = *in;
    token minor = next_token(&ahead);

    if (number_of(major) == 0 || number_of(major) > 999 || minor.size < 2 || minor.data[0] != '.')
        return;
    *in = ahead;
    minor.data++;
    minor.size--;
    module->isa_major = number_of(major);
    module->isa_minor = number_of(minor) < 999 ? number_of(minor) : 0;
}

/* "sm_90a, texmode_independent, debug" */
static void read_target(scanner *in, ptx_module *module)
{
    for (;;) {
        scanner ahead = *in;
        const token found = next_token(in);

        if (ridge_slice_is(found, "debug"))
            module->is_debug = true;
        else if (module->sm == 0)
            ptx_target(found, &module->sm, &module->suffix);
        ahead = *in;
        if (found.size == 0 || !is_char(next_token(&ahead), ','))
            return;
        *in = ahead;
    }
}

ridge_status ptx_read(ridge_slice text, ptx_module *out, ridge_error *err)
{
    scanner in = scanner_of(text);
    ridge_status status = RIDGE_OK;

    memset(out, 0, sizeof(*out));
    ridge_arena_init(&out->names);
    while (status == RIDGE_OK) {
        const token found = next_token(&in);

        if (found.size == 0)
            break;
        if (is_char(found, '{'))
            skip_braces(&in);
        else if (ridge_slice_is(found, ".entry"))
            status = read_entry(&in, out, err);
        else if (ridge_slice_is(found, ".version"))
            read_version(&in, out);
        else if (ridge_slice_is(found, ".target"))
            read_target(&in, out);
    }
    return status;
}

void ptx_release(ptx_module *module)
{
    ridge_free(module->kernels);
    module->kernels = NULL;
    module->kernel_count = module->kernel_capacity = 0;
    ridge_arena_release(&module->names);
}

bool ptx_is_text(ridge_slice text)
{
    /* Blanks and comments in front of .version: a large file of zeros is not searched for it. */
    enum { FRONT_BYTES = 1 << 20 };
    scanner in = scanner_of(text);

    if (text.size > FRONT_BYTES)
        in.end = in.at + FRONT_BYTES;
    return text.size > 0 && ridge_slice_is(next_token(&in), ".version");
}
