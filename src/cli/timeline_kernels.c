/* SPDX-License-Identifier: Apache-2.0
 *
 * Short names of kernels. A template that applies a function to every element is named with the
 * function: of PyTorch's kernels that is what tells one from the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

/* -- a function in a template ------------------------------------------------------------------ */

static bool is_applied(const char *name, size_t length)
{
    static const char *const ends[] = {"elementwise_kernel", "reduce_kernel"};
    size_t i;

    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (length >= strlen(ends[i]) &&
            memcmp(name + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return true;
    return false;
}

static int depth_of(char c)
{
    return strchr("<({[", c) != NULL ? 1 : strchr(">)}]", c) != NULL ? -1 : 0;
}

/* Length of an argument of a template: up to the ',' or '>' that ends it. */
static size_t argument_length(const char *text)
{
    size_t at;
    int depth = 0;

    for (at = 0; text[at] != '\0'; at++) {
        if (depth == 0 && (text[at] == ',' || text[at] == '>'))
            break;
        depth += depth_of(text[at]);
    }
    return at;
}

/* Behind arguments that are numbers and in front of what "gpu_kernel_impl<...>" or a reduction of a
 * type holds. NULL: nothing but numbers. */
static const char *find_function(const char *arguments)
{
    static const char reduction[] = "ReduceOp<";

    while (*arguments >= '0' && *arguments <= '9') {
        arguments += argument_length(arguments);
        arguments += strspn(arguments, ", ");
    }
    if (strncmp(arguments, "gpu_", 4) == 0 && arguments[strcspn(arguments, "<(,>")] == '<')
        arguments += strcspn(arguments, "<") + 1;
    if (strncmp(arguments, reduction, sizeof(reduction) - 1) == 0) {
        arguments += sizeof(reduction) - 1;
        arguments += argument_length(arguments);
        arguments += strspn(arguments, ", ");
    }
    return *arguments != '\0' && *arguments != '>' ? arguments : NULL;
}

/* Length of a qualified name with its template arguments. */
static size_t function_length(const char *text, size_t length)
{
    size_t at;
    int depth = 0;

    for (at = 0; at < length; at++) {
        if (depth == 0 && (text[at] == '(' || text[at] == ' '))
            break;
        depth += depth_of(text[at]);
    }
    return at;
}

/* The parameters of the last lambda that has some: the type that a function is for. "": none. */
static void find_type(const char *text, size_t length, char *out, size_t size)
{
    static const char lambda[] = "{lambda(";
    const size_t head = sizeof(lambda) - 1;
    size_t at;

    out[0] = '\0';
    for (at = 0; at + head < length; at++) {
        size_t type;

        if (memcmp(text + at, lambda, head) != 0)
            continue;
        type = strcspn(text + at + head, ")");
        if (type > 0 && type + 3 < size && at + head + type < length)
            snprintf(out, size, "(%.*s)", (int)type, text + at + head);
    }
}

/* "BinaryFunctor<A, B, C, MulFunctor<float> >" as "BinaryFunctor<A, ..., MulFunctor<float>>". */
static void write_function(const char *text, size_t length, char *out, size_t size)
{
    size_t first = 0, last = 0, count = 0, to = 0, at;
    int depth = 0;

    for (at = 0; at < length; at++) {
        if (depth == 1 && text[at] == ',') {
            first = count == 0 ? at : first;
            last = at;
            count++;
        }
        depth += depth_of(text[at]);
    }
    for (at = 0; at < length && to + 8 < size; at++) {
        if (count > 2 && at == first) {
            memcpy(out + to, ", ...", 5);
            to += 5;
            at = last;
        }
        if (text[at] != ' ' || at + 1 >= length || text[at + 1] != '>')
            out[to++] = text[at];
    }
    out[to] = '\0';
}

char *timeline_short_name(const char *name, char *buffer, size_t size)
{
    char text[4096], function[160], type[64];
    const char *argument;
    size_t base, length, name_length;

    timeline_kernel_name(name, false, text, sizeof(text));
    base = strcspn(text, "<");
    argument = is_applied(text, base) && text[base] == '<' ? find_function(text + base + 1) : NULL;
    if (argument == NULL) {
        snprintf(buffer, size, "%s", text);
        return buffer;
    }
    length = argument_length(argument);
    name_length = function_length(argument, length);
    write_function(argument, name_length, function, sizeof(function));
    find_type(argument + name_length, length - name_length, type, sizeof(type));
    snprintf(buffer, size, "%.*s %s%s", (int)base, text, function, type);
    return buffer;
}

/* -- names of a table -------------------------------------------------------------------------- */

struct row_name {
    char *name;
    size_t row;
};

static int by_name(const void *left, const void *right)
{
    const struct row_name *const a = left, *const b = right;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : a->row < b->row ? -1 : 1;
}

/* Those that are like another one in their longer form. */
static void tell_apart(char **names, const char *const *recorded, size_t count)
{
    struct row_name *const order = calloc(count + 1, sizeof(*order));
    char name[TIMELINE_NAME];
    size_t i;

    for (i = 0; order != NULL && i < count; i++)
        order[i] = (struct row_name){names[i], i};
    if (order != NULL)
        qsort(order, count, sizeof(*order), by_name);
    for (i = 0; order != NULL && i < count; i++) {
        const size_t row = order[i].row;
        char *longer;

        if (!(i > 0 && strcmp(order[i].name, order[i - 1].name) == 0) &&
            !(i + 1 < count && strcmp(order[i].name, order[i + 1].name) == 0))
            continue;
        longer = strdup(timeline_kernel_name(recorded[row], false, name, sizeof(name)));
        if (longer != NULL)
            names[row] = longer;
    }
    for (i = 0; order != NULL && i < count; i++)
        if (names[order[i].row] != order[i].name)
            free(order[i].name);
    free(order);
}

char **timeline_row_names(const char *const *recorded, size_t count, bool whole)
{
    char **const names = calloc(count + 1, sizeof(*names));
    char name[TIMELINE_NAME];
    size_t i;

    for (i = 0; names != NULL && i < count; i++) {
        names[i] =
            strdup(whole ? recorded[i] : timeline_short_name(recorded[i], name, sizeof(name)));
        if (names[i] == NULL) {
            timeline_free_names(names);
            return NULL;
        }
    }
    if (names != NULL && !whole)
        tell_apart(names, recorded, count);
    return names;
}

void timeline_free_names(char **names)
{
    size_t i;

    for (i = 0; names != NULL && names[i] != NULL; i++)
        free(names[i]);
    free(names);
}
