/* SPDX-License-Identifier: Apache-2.0
 *
 * Demangles names of functions (Itanium C++ ABI, section 5.1), as far as the names of kernels need
 * it: other expressions than the address of a function, and conversion operators, are not read. A recursive descent; each part of a name is
 * text in one pool of fixed size, so that a name that repeats itself without end is given up. */
#include "ridge/names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    POOL_BYTES = 1 << 16,
    SUBSTITUTIONS_MAX = 512,
    DEPTH_MAX = 64,
};

/* Text in the pool, or a literal. NULL: the name could not be read. */
typedef const char *text;

typedef struct parser {
    const char *at;
    text substitutions[SUBSTITUTIONS_MAX];
    size_t substitution_count;
    int depth;
    size_t used;
    char pool[POOL_BYTES];
} parser;

static text parse_name(parser *p);
static text parse_type(parser *p);
static text parse_arguments(parser *p);

/* ---- text ---- */

static text join_n(parser *p, const char *a, const char *b, size_t b_length, const char *c)
{
    const size_t a_length = a != NULL ? strlen(a) : 0;
    const size_t c_length = c != NULL ? strlen(c) : 0;
    char *const out = p->pool + p->used;

    if (a == NULL || b == NULL || c == NULL ||
        a_length + b_length + c_length + 1 > POOL_BYTES - p->used)
        return NULL;
    memcpy(out, a, a_length);
    memcpy(out + a_length, b, b_length);
    memcpy(out + a_length + b_length, c, c_length);
    out[a_length + b_length + c_length] = '\0';
    p->used += a_length + b_length + c_length + 1;
    return out;
}

static text join(parser *p, const char *a, const char *b, const char *c)
{
    return b != NULL ? join_n(p, a, b, strlen(b), c) : NULL;
}

/* Remembers what a later S_ stands for. */
static text remember(parser *p, text what)
{
    if (what == NULL || p->substitution_count == SUBSTITUTIONS_MAX)
        return NULL;
    p->substitutions[p->substitution_count++] = what;
    return what;
}

/* ---- small parts ---- */

static bool take(parser *p, char c)
{
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number in base 10, or 36 for substitutions; false: none, or too large. */
static bool parse_number(parser *p, unsigned base, size_t *out)
{
    const char *const start = p->at;
    size_t value = 0;

    for (;; p->at++) {
        unsigned digit;

        if (is_digit(*p->at))
            digit = (unsigned)(*p->at - '0');
        else if (base > 10 && *p->at >= 'A' && *p->at <= 'Z')
            digit = (unsigned)(*p->at - 'A') + 10;
        else
            break;
        if (value > POOL_BYTES)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return p->at != start;
}

/* "_" is 0, "0_" is 1, ... */
static bool parse_sequence(parser *p, unsigned base, size_t *out)
{
    *out = 0;
    if (take(p, '_'))
        return true;
    if (!parse_number(p, base, out) || !take(p, '_'))
        return false;
    (*out)++;
    return true;
}

static text parse_source_name(parser *p)
{
    static const char anonymous[] = "_GLOBAL__N_";
    size_t length;
    text name;

    if (!parse_number(p, 10, &length) || length == 0 || strnlen(p->at, length) < length)
        return NULL;
    if (length >= sizeof(anonymous) - 1 && strncmp(p->at, anonymous, sizeof(anonymous) - 1) == 0)
        name = "(anonymous namespace)";
    else
        name = join_n(p, "", p->at, length, "");
    p->at += length;
    return name;
}

/* Ut_ and UlvE_: what has no name. */
static text parse_unnamed(parser *p)
{
    const char *const what = p->at[1] == 'l' ? "{lambda}" : "{unnamed}";
    size_t number;

    if (p->at[1] != 't' && p->at[1] != 'l')
        return NULL;
    p->at += 2;
    if (what[1] == 'l') {
        while (*p->at != 'E')
            if (parse_type(p) == NULL)
                return NULL;
        p->at++;
    }
    return parse_sequence(p, 10, &number) ? what : NULL;
}

/* One name without what it stands in. */
static text parse_unqualified(parser *p)
{
    text name;

    take(p, 'L'); /* internal linkage */
    if (*p->at == 'U')
        name = parse_unnamed(p);
    else if (p->at[0] == 'c' && p->at[1] == 'l') {
        p->at += 2;
        name = "operator()";
    } else
        name = parse_source_name(p);
    while (name != NULL && take(p, 'B')) /* tags, not shown */
        if (parse_source_name(p) == NULL)
            return NULL;
    return name;
}

/* Behind an 'S' that is not "St". */
static text parse_substitution(parser *p)
{
    static const struct {
        char code;
        const char *name;
    } known[] = {{'a', "std::allocator"}, {'b', "std::basic_string"}, {'s', "std::string"},
                 {'i', "std::istream"},   {'o', "std::ostream"},      {'d', "std::iostream"}};
    size_t index, i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (take(p, known[i].code))
            return known[i].name;
    if (!parse_sequence(p, 36, &index) || index >= p->substitution_count)
        return NULL;
    return p->substitutions[index];
}

/* T_: of parameters alone, which are not shown; a letter stands for it. */
static text parse_parameter(parser *p)
{
    size_t index;

    return take(p, 'T') && parse_sequence(p, 10, &index) ? "T" : NULL;
}

/* ---- template arguments ---- */

/* Li4E, Lb1E, LN3foo4KindE2E, L_Z1fvE behind the 'L'. */
static text parse_literal(parser *p)
{
    const char *start;
    bool is_negative;
    char type;
    text value;

    if (p->at[0] == '_' && p->at[1] == 'Z') {
        p->at += 2;
        value = parse_name(p);
        while (value != NULL && *p->at != 'E')
            if (parse_type(p) == NULL)
                return NULL;
        return take(p, 'E') ? value : NULL;
    }
    type = *p->at;
    if (parse_type(p) == NULL)
        return NULL;
    is_negative = take(p, 'n');
    start = p->at;
    p->at += strcspn(p->at, "E_");
    if (*p->at != 'E')
        return NULL;
    if (type == 'b')
        value = *start == '1' ? "true" : "false";
    else
        value = join_n(p, is_negative ? "-" : "", start, (size_t)(p->at - start), "");
    p->at++;
    return value;
}

static text parse_argument(parser *p)
{
    text list = "";

    if (take(p, 'L'))
        return parse_literal(p);
    if (strncmp(p->at, "XadL", 4) == 0) { /* the address of a function */
        p->at += 4;
        list = parse_literal(p);
        return take(p, 'E') ? list : NULL;
    }
    if (!take(p, 'J'))
        return parse_type(p);
    while (list != NULL && !take(p, 'E')) {
        const text argument = parse_argument(p);

        list = argument == NULL || argument[0] == '\0'
                   ? (argument != NULL ? list : NULL)
                   : join(p, list, list[0] != '\0' ? ", " : "", argument);
    }
    return list;
}

/* Behind an 'I'. */
static text parse_arguments(parser *p)
{
    text list = "<";

    while (list != NULL && !take(p, 'E')) {
        const text argument = *p->at != '\0' ? parse_argument(p) : NULL;

        if (argument == NULL)
            return NULL;
        if (argument[0] != '\0')
            list = join(p, list, list[1] != '\0' ? ", " : "", argument);
    }
    return join(p, list, ">", "");
}

/* ---- names ---- */

/* Behind an 'N', to its 'E'. */
static text parse_nested(parser *p)
{
    text name = "";
    bool is_remembered = false;

    while (take(p, 'r') || take(p, 'V') || take(p, 'K') || take(p, 'R') || take(p, 'O'))
        ;
    while (name != NULL && !take(p, 'E')) {
        if (p->at[0] == 'S' && p->at[1] == 't' && name[0] == '\0') {
            p->at += 2;
            name = "std";
            continue;
        }
        if (*p->at == 'S' && name[0] == '\0') {
            p->at++;
            name = parse_substitution(p);
            is_remembered = false;
            continue;
        }
        if (*p->at == 'I' && name[0] != '\0') {
            p->at++;
            name = join(p, name, parse_arguments(p), "");
        } else if (*p->at == 'T' && name[0] == '\0')
            name = parse_parameter(p);
        else
            name = join(p, name, name[0] != '\0' ? "::" : "", parse_unqualified(p));
        name = remember(p, name);
        is_remembered = true;
    }
    if (name != NULL && is_remembered)
        p->substitution_count--; /* the whole is remembered by who uses it as a type */
    return name;
}

/* Behind a 'Z': a name inside a function. */
static text parse_local(parser *p)
{
    text function = parse_name(p);

    while (function != NULL && *p->at != 'E')
        if (parse_type(p) == NULL)
            return NULL;
    if (function == NULL || !take(p, 'E') || *p->at == 's')
        return NULL;
    return join(p, function, "::", parse_name(p));
}

static text parse_unscoped(parser *p)
{
    text name;
    bool is_known = false;

    if (p->at[0] == 'S' && p->at[1] == 't') {
        p->at += 2;
        name = join(p, "std::", parse_unqualified(p), "");
    } else if (take(p, 'S')) {
        name = parse_substitution(p);
        is_known = true;
    } else
        name = parse_unqualified(p);
    if (name == NULL || *p->at != 'I')
        return name;
    if (!is_known && remember(p, name) == NULL)
        return NULL;
    p->at++;
    return join(p, name, parse_arguments(p), "");
}

static text parse_name(parser *p)
{
    text name;

    if (++p->depth > DEPTH_MAX)
        return NULL;
    if (take(p, 'N'))
        name = parse_nested(p);
    else if (take(p, 'Z'))
        name = parse_local(p);
    else
        name = parse_unscoped(p);
    p->depth--;
    return name;
}

/* ---- types ---- */

static text builtin_type(parser *p)
{
    static const struct {
        const char *code, *name;
    } types[] = {
        {"v", "void"},
        {"w", "wchar_t"},
        {"b", "bool"},
        {"c", "char"},
        {"a", "signed char"},
        {"h", "unsigned char"},
        {"s", "short"},
        {"t", "unsigned short"},
        {"i", "int"},
        {"j", "unsigned int"},
        {"l", "long"},
        {"m", "unsigned long"},
        {"x", "long long"},
        {"y", "unsigned long long"},
        {"n", "__int128"},
        {"o", "unsigned __int128"},
        {"f", "float"},
        {"d", "double"},
        {"e", "long double"},
        {"g", "__float128"},
        {"z", "..."},
        {"Dn", "std::nullptr_t"},
        {"Di", "char32_t"},
        {"Ds", "char16_t"},
        {"Du", "char8_t"},
        {"Dh", "half"},
        {"Da", "auto"},
        {"DF16_", "_Float16"},
        {"DF16b", "std::bfloat16_t"},
    };
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i].code);

        if (strncmp(p->at, types[i].code, length) == 0) {
            p->at += length;
            return types[i].name;
        }
    }
    return NULL;
}

/* "int (float, float)" behind an 'F'; between goes in front of the arguments: "(*)". */
static text parse_function_type(parser *p, const char *between)
{
    text list;

    take(p, 'Y'); /* extern "C" */
    list = join(p, parse_type(p), " ", between);
    list = join(p, list, "(", "");
    if (p->at[0] == 'v' && p->at[1] == 'E')
        p->at++;
    while (list != NULL && !take(p, 'E')) {
        const text argument = *p->at != '\0' ? parse_type(p) : NULL;
        const size_t length = strlen(list);

        list = join(p, list, list[length - 1] == '(' ? "" : ", ", argument);
    }
    return join(p, list, ")", "");
}

/* Behind an 'A': "int [4]". */
static text parse_array(parser *p)
{
    const char *const start = p->at;
    const size_t length = strspn(start, "0123456789");
    text element;

    p->at += length;
    if (!take(p, '_'))
        return NULL;
    element = join(p, parse_type(p), " [", "");
    return element != NULL ? join_n(p, element, start, length, "]") : NULL;
}

static text parse_pointer(parser *p, const char *mark)
{
    p->at++;
    if (mark[0] == '*' && *p->at == 'F') {
        text function;

        p->at++;
        function = remember(p, parse_function_type(p, "(*)"));
        return remember(p, function);
    }
    return remember(p, join(p, parse_type(p), mark, ""));
}

/* "T const" for KT: the qualifiers together are one thing to remember. */
static text parse_qualified(parser *p)
{
    const bool is_restrict = take(p, 'r');
    const bool is_volatile = take(p, 'V');
    const bool is_const = take(p, 'K');
    text type = parse_type(p);

    if (is_const)
        type = join(p, type, " const", "");
    if (is_volatile)
        type = join(p, type, " volatile", "");
    if (is_restrict)
        type = join(p, type, " __restrict__", "");
    return remember(p, type);
}

static text parse_compound(parser *p)
{
    text type;

    switch (*p->at) {
    case 'P':
        return parse_pointer(p, "*");
    case 'R':
        return parse_pointer(p, "&");
    case 'O':
        return parse_pointer(p, "&&");
    case 'K':
    case 'V':
    case 'r':
        return parse_qualified(p);
    case 'F':
        p->at++;
        return remember(p, parse_function_type(p, ""));
    case 'A':
        p->at++;
        return remember(p, parse_array(p));
    case 'D':
        if (p->at[1] != 'p')
            return NULL;
        p->at += 2;
        return remember(p, join(p, parse_type(p), "...", ""));
    case 'T':
        type = remember(p, parse_parameter(p));
        break;
    case 'S':
        if (p->at[1] == 't')
            return remember(p, parse_name(p));
        p->at++;
        type = parse_substitution(p);
        break;
    default:
        return remember(p, parse_name(p));
    }
    if (type == NULL || *p->at != 'I')
        return type;
    p->at++;
    return remember(p, join(p, type, parse_arguments(p), ""));
}

static text parse_type(parser *p)
{
    text type;

    if (++p->depth > DEPTH_MAX || *p->at == '\0')
        return NULL;
    type = builtin_type(p);
    if (type == NULL)
        type = parse_compound(p);
    p->depth--;
    return type;
}

/* ---- public ---- */

/* "__nv_static_32__b4148644_10_onerank_cu_fdf47990__Z...": names of static functions. */
static const char *skip_static(const char *name)
{
    static const char prefix[] = "__nv_static_";
    const char *inner;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return name;
    inner = strstr(name, "__Z");
    return inner != NULL ? inner + 1 : name;
}

bool ridge_name_short(const char *mangled, char *buffer, size_t size)
{
    const char *const name = skip_static(mangled);
    parser p;
    text out = NULL;

    p.at = name + 2;
    p.substitution_count = 0;
    p.depth = 0;
    p.used = 0;
    if (name[0] == '_' && name[1] == 'Z')
        out = parse_name(&p);
    snprintf(buffer, size, "%s", out != NULL ? out : mangled);
    return out != NULL;
}
