/* SPDX-License-Identifier: Apache-2.0
 *
 * The base name of a demangled kernel: what nsys calls its short name and `ncu -k` compares with.
 * One pass over the text: at the top level "::" and spaces begin a new name, template arguments,
 * lambdas and "(anonymous namespace)" are jumped over, and the first parentheses that no "::"
 * follows are the parameters and end it. Every byte is looked at a fixed number of times. */
#include <stdbool.h>
#include <string.h>

#include "ridge/trace_sums.h"

enum { DEPTH_KNOWN = 256 }; /* deeper brackets are counted, not matched by kind */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "operator" ends here, so that what follows is no bracket. */
static bool is_operator(const char *first, const char *end)
{
    return end - first >= 8 && memcmp(end - 8, "operator", 8) == 0 &&
           (end - first == 8 || !is_word(end[-9]));
}

/* The end of the symbol behind "operator": "()", "[]", "<<", "->", " new[]", " bool". */
static const char *skip_operator(const char *at)
{
    if (starts(at, "()") || starts(at, "[]"))
        return at + 2;
    if (*at == ' ' && at[1] != '(' && at[1] != '<') { /* new, delete, a type */
        while (*at != '\0' && *at != '(' && *at != '<')
            at++;
        return at;
    }
    if (starts(at, "<=>") || starts(at, "<<=") || starts(at, ">>=") || starts(at, "->*"))
        return at + 3;
    if (*at != '\0' && strchr("<>-+&|=", *at) != NULL && at[1] == *at)
        return at + 2;
    if (starts(at, "->") || (*at != '\0' && strchr("<>!=+-*/%^&|", *at) != NULL && at[1] == '='))
        return at + 2;
    return *at != '\0' && strchr("<>!=+-*/%^&|~,", *at) != NULL ? at + 1 : at;
}

static char closing(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}

/* Behind the bracket that closes the one at `open`, or the end of the text. A ">" inside
 * parentheses is a comparison, and what such a "<" opened goes with its parentheses. */
static const char *skip_group(const char *open)
{
    char stack[DEPTH_KNOWN];
    size_t depth = 0;
    size_t deeper = 0;

    for (const char *at = open; *at != '\0'; at++) {
        const char *const behind = is_operator(open, at) ? skip_operator(at) : at;
        const char c = *at;

        if (behind > at) {
            at = behind - 1;
        } else if (c == '(' || c == '[' || c == '{' || c == '<') {
            if (depth < DEPTH_KNOWN)
                stack[depth++] = closing(c);
            else
                deeper++;
        } else if (c == ')' || c == ']' || c == '}' || (c == '>' && at[-1] != '-')) {
            if (deeper > 0) {
                deeper--;
                continue;
            }
            if (c != '>') {
                while (depth > 1 && stack[depth - 1] == '>')
                    depth--;
            }
            if (depth > 0 && stack[depth - 1] == c && --depth == 0)
                return at + 1;
        }
    }
    return open + strlen(open);
}

struct part {
    const char *first, *end; /* NULL: nothing found yet */
    bool is_open;            /* the next byte of a word belongs to it */
};

static bool is_text(const struct part *part, const char *text)
{
    const size_t length = strlen(text);

    return part->first != NULL && (size_t)(part->end - part->first) == length &&
           memcmp(part->first, text, length) == 0;
}

/* Parentheses behind a name: its parameters, unless a scope follows ("f(int)::{lambda()#1}"). */
static bool is_scope(const char *behind)
{
    if (starts(behind, " const"))
        behind += 6;
    return starts(behind, "::");
}

static struct part find_base(const char *name)
{
    struct part part = {NULL, NULL, false};
    const char *at = name;

    while (*at != '\0') {
        if (starts(at, "::")) {
            part.is_open = false;
            at += 2;
        } else if (*at == ' ') {
            part.is_open = false;
            at++;
        } else if (*at == '(' && part.first != NULL && !starts(at, "(anonymous ") &&
                   !is_text(&part, "decltype")) {
            at = skip_group(at);
            if (!is_scope(at))
                break;
            part.is_open = false;
        } else if (*at == '(' || *at == '<' || *at == '[' || *at == '{') {
            at = skip_group(at);
            part.is_open = false;
        } else {
            if (!part.is_open)
                part = (struct part){at, at, true};
            part.end = ++at;
            if (is_operator(part.first, at) && !is_word(*at)) {
                at = skip_operator(at);
                part.end = at;
                part.is_open = false;
            }
        }
    }
    return part;
}

char *ridge_kernel_base_name(const char *demangled, char *buffer, size_t size)
{
    struct part part = find_base(demangled);
    size_t length;

    if (part.first == NULL)
        part = (struct part){demangled, demangled + strlen(demangled), false};
    length = (size_t)(part.end - part.first);
    if (size == 0)
        return buffer;
    if (length > size - 1)
        length = size - 1;
    memcpy(buffer, part.first, length);
    buffer[length] = '\0';
    return buffer;
}
