/* SPDX-License-Identifier: Apache-2.0
 *
 * Option tables: parsing, help and the nearest name. The state of this file is what one run of the
 * program has once: the command whose options were parsed, and a visitor that wants to see the
 * table instead. */
#include "options.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *current_command = "ridge";
static const struct command *visited;
static command_visitor *visitor;
static void *visitor_context;

const char *const cli_colour_choices[] = {"auto", "always", "never", NULL};

void command_visit(const struct command *command, command_visitor *visit, void *context)
{
    char name[64];
    char *argv[2] = {name, NULL};

    snprintf(name, sizeof(name), "%s", command->name);
    visited = command;
    visitor = visit;
    visitor_context = context;
    command->run(1, argv); /* comes to options_parse() and returns */
    visitor = NULL;
}

const char *options_command(void)
{
    return current_command;
}

/* -- the nearest name -------------------------------------------------------------------------- */

enum { LONGEST_WORD = 40 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) from one word to another. */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);
    size_t rows[3][LONGEST_WORD + 1]; /* two before, one before, this one: in turn */
    size_t i;
    size_t k;

    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD)
        return LONGEST_WORD;
    for (k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (i = 1; i <= a_length; i++) {
        const size_t *const older = rows[(i + 1) % 3];
        const size_t *const old = rows[(i + 2) % 3];
        size_t *const row = rows[i % 3];

        row[0] = i;
        for (k = 1; k <= b_length; k++) {
            const size_t replaced = old[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);

            row[k] = smaller(replaced, smaller(old[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], older[k - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *options_nearest(const char *word, const char *const *words)
{
    const size_t length = strlen(word);
    const char *nearest = NULL;
    size_t least = 1 + length / 3; /* farther is no typing mistake */

    for (; *words != NULL; words++) {
        const bool begins = length >= 3 && strncmp(word, *words, length) == 0;
        const bool is_part = length >= 4 && strstr(*words, word) != NULL;
        const size_t distance = begins ? 1 : is_part ? 2 : edit_distance(word, *words);

        if (distance <= least && (nearest == NULL || distance < least)) {
            nearest = *words;
            least = distance;
        }
    }
    return nearest;
}

static const char *nearest_option(const char *name, const struct option *options)
{
    const char *words[64];
    size_t count = 0;

    for (; options->kind != OPTION_END && count < 63; options++)
        words[count++] = options->long_name;
    words[count] = NULL;
    return options_nearest(name, words);
}

/* -- values ------------------------------------------------------------------------------------ */

/* Reads a decimal number without sign ("12", "1.5", with exponent when allowed) and returns where
 * it ends; NULL: there is none. strtod() alone takes hexadecimal and "nan" too. */
static const char *read_number(const char *text, bool exponent, double *value)
{
    char *end;
    char digits[64];
    size_t length = strspn(text, "0123456789.");

    if (length == 0 || length >= sizeof(digits) - 8)
        return NULL;
    if (exponent && (text[length] == 'e' || text[length] == 'E')) {
        const size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 2 : 1;
        const size_t more = strspn(text + length + sign, "0123456789");

        if (more == 0 || more > 4)
            return NULL;
        length += sign + more;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    *value = strtod(digits, &end);
    return *end == '\0' && end != digits ? text + length : NULL;
}

bool options_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        {"", 1},     {"B", 1},    {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
        {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6},   {"GB", 1e9},      {"TB", 1e12},
    };
    double value, whole;
    const char *const unit = read_number(text, false, &value);
    size_t i;

    if (unit == NULL)
        return false;
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        value *= units[i].bytes;
        whole = round(value);
        /* 8.05 is no binary number: times 1000 it is 8050 but for the last bit. */
        if (fabs(value - whole) > 4 * DBL_EPSILON * whole || whole >= 0x1p63)
            return false;
        *bytes = (uint64_t)whole;
        return true;
    }
    return false;
}

#define FASTEST_PER_S 1e18 /* beyond any chip there is, as in files of roofs */

bool options_rate(const char *text, const char *unit, double *per_s)
{
    static const char prefixes[] = "kMGTP";
    double value;
    const char *at = read_number(text, true, &value);
    const char *prefix;

    if (at == NULL || *at == '\0')
        return false;
    prefix = strcmp(at, unit) != 0 ? strchr(prefixes, *at) : NULL;
    if (prefix != NULL) {
        value *= pow(1000, (double)(prefix - prefixes + 1));
        at++;
    }
    if (strcmp(at, unit) != 0 || !(value > 0) || value >= FASTEST_PER_S)
        return false;
    *per_s = value;
    return true;
}

/* What stands behind a number multiplies it: k, M, G, T (thousands) or Ki, Mi, Gi, Ti (1024), as in
 * the parameters of an operation. 0: something else does. */
static uint64_t suffix_factor(const char *text)
{
    static const char letters[] = "kMGT";
    const char *const letter = *text != '\0' ? strchr(letters, *text == 'K' ? 'k' : *text) : NULL;
    uint64_t factor = 1;
    ptrdiff_t i;

    if (*text == '\0')
        return 1;
    if (letter == NULL || (text[1] != '\0' && strcmp(text + 1, "i") != 0))
        return 0;
    for (i = 0; i <= letter - letters; i++)
        factor *= text[1] == 'i' ? 1024 : 1000;
    return factor;
}

static bool read_count(const char *text, size_t *count)
{
    char *end;
    unsigned long long value;
    uint64_t factor;

    if (strspn(text, "0123456789") == 0)
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    factor = suffix_factor(end);
    if (errno != 0 || factor == 0 || value >= SIZE_MAX / factor)
        return false;
    *count = (size_t)(value * factor);
    return true;
}

static bool read_choice(const char *text, const char *const *choices, int *index)
{
    int i;

    for (i = 0; choices[i] != NULL; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* Stores a value; prints why not and returns false when it is none. */
static bool store(const struct option *option, const char *text)
{
    double number;
    const char *end;

    switch (option->kind) {
    case OPTION_STRING:
        *(const char **)option->value = text;
        return true;
    case OPTION_ONCE:
        if (*(const char **)option->value != NULL) {
            cli_usage_error("--%s is given twice; several go into one, apart by ';'",
                            option->long_name);
            return false;
        }
        *(const char **)option->value = text;
        return true;
    case OPTION_COUNT:
        if (read_count(text, option->value))
            return true;
        cli_usage_error("--%s needs a whole number, not '%s'", option->long_name, text);
        return false;
    case OPTION_NUMBER:
        end = read_number(text, true, &number);
        if (end != NULL)
            number *= (double)suffix_factor(end);
        if (end != NULL && suffix_factor(end) > 0 && !isinf(number)) {
            *(double *)option->value = number;
            return true;
        }
        cli_usage_error("--%s needs a number, not '%s'", option->long_name, text);
        return false;
    case OPTION_SIZE:
        if (options_size(text, option->value))
            return true;
        cli_usage_error("--%s needs a size (4096, 64KiB, 1.5GiB, 10MB), not '%s'",
                        option->long_name, text);
        return false;
    case OPTION_CHOICE:
        if (read_choice(text, option->choices, option->value))
            return true;
        cli_usage_error("--%s needs one of %s, not '%s'", option->long_name, option->argument,
                        text);
        return false;
    case OPTION_END:
    case OPTION_FLAG:
    case OPTION_FORMAT:
    case OPTION_HELP:
        break;
    }
    return false;
}

/* -- help -------------------------------------------------------------------------------------- */

static void print_option(ridge_output *output, const struct option *option)
{
    enum { HELP_COLUMN = 30 };
    char left[HELP_COLUMN + 64];
    char first[HELP_COLUMN + 64];
    char short_name[8] = "    ";

    if (option->short_name != 0)
        snprintf(short_name, sizeof(short_name), "-%c, ", option->short_name);
    snprintf(left, sizeof(left), "  %s--%s%s%s", short_name, option->long_name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    if (strlen(left) + 2 > HELP_COLUMN) {
        ridge_output_format(output, "%s\n", left);
        left[0] = '\0';
    }
    snprintf(first, sizeof(first), "%-*s", HELP_COLUMN, left);
    ridge_output_wrap(output, HELP_COLUMN, first, option->help);
}

static int print_help(const char *usage, const struct option *options)
{
    const struct cli_output plain = {0};
    const struct command *const command = command_find(current_command);
    ridge_output *const output = cli_open(&plain);
    char page[64];
    size_t i;

    ridge_output_format(output, "usage: %s\n\n", usage);
    if (command != NULL)
        ridge_output_format(output, "%s.\n\n", command->summary);
    for (; options->kind != OPTION_END; options++)
        print_option(output, options);
    snprintf(page, sizeof(page), "%s", current_command);
    for (i = 0; page[i] != '\0'; i++) /* the page of "bound model" */
        page[i] = page[i] == ' ' ? '-' : page[i];
    ridge_output_format(output, "\nMore: ridge help %s\n", page);
    return cli_close(output, CLI_DONE);
}

/* -- parsing ----------------------------------------------------------------------------------- */

/* Handles one option with its value, if it takes one. Returns false when parsing ends here. */
static bool apply(const struct option *option, const char *value,
                  const struct option **format_given, int *status)
{
    *status = CLI_USAGE;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->value = true;
        return true;
    case OPTION_FORMAT:
        if (*format_given != NULL && (*format_given)->format != option->format) {
            cli_usage_error("--%s and --%s exclude each other", (*format_given)->long_name,
                            option->long_name);
            return false;
        }
        *format_given = option;
        *(ridge_format *)option->value = option->format;
        return true;
    default:
        return value != NULL && store(option, value);
    }
}

static const struct option *find_long(const char *name, size_t length, const struct option *options)
{
    for (; options->kind != OPTION_END; options++)
        if (strlen(options->long_name) == length && strncmp(options->long_name, name, length) == 0)
            return options;
    return NULL;
}

static const struct option *find_short(char name, const struct option *options)
{
    for (; options->kind != OPTION_END; options++)
        if (options->short_name == name)
            return options;
    return NULL;
}

/* Prints that there is no such option, with the nearest one. */
static void unknown_option(const char *argument, const struct option *options)
{
    char name[LONGEST_WORD + 1];
    const char *nearest;

    snprintf(name, sizeof(name), "%.*s", (int)smaller(strcspn(argument + 2, "="), LONGEST_WORD),
             argument + 2);
    nearest = nearest_option(name, options);
    if (nearest != NULL)
        cli_usage_error("unknown option '--%s', did you mean '--%s'?", name, nearest);
    else
        cli_usage_error("unknown option '--%s'", name);
}

/* State of one options_parse(). */
struct parse {
    int argc;
    char **argv;
    int at; /* next argument */
    const char *usage;
    const struct option *options;
    const struct option *format_given;
    int status;
};

/* An option was found; attached is its value in the same argument, NULL: none there. */
static bool take(struct parse *parse, const struct option *option, const char *attached)
{
    const char *value = attached;

    if (option->kind == OPTION_HELP) {
        parse->status = print_help(parse->usage, parse->options);
        return false;
    }
    parse->status = CLI_USAGE;
    if (option->argument == NULL && attached != NULL) {
        cli_usage_error("--%s takes no value", option->long_name);
        return false;
    }
    if (option->argument != NULL && value == NULL) {
        if (parse->at == parse->argc) {
            cli_usage_error("--%s needs a value: %s", option->long_name, option->argument);
            return false;
        }
        value = parse->argv[parse->at++];
    }
    return apply(option, value, &parse->format_given, &parse->status);
}

static bool take_long(struct parse *parse, const char *argument)
{
    const size_t length = strcspn(argument + 2, "=");
    const struct option *const option = find_long(argument + 2, length, parse->options);

    if (option == NULL) {
        parse->status = CLI_USAGE;
        unknown_option(argument, parse->options);
        return false;
    }
    return take(parse, option, argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL);
}

/* "-k VALUE", "-kVALUE", or several that take no value: "-ab". */
static bool take_short(struct parse *parse, const char *argument)
{
    const char *letter;

    for (letter = argument + 1; *letter != '\0'; letter++) {
        const struct option *const option = find_short(*letter, parse->options);

        if (option == NULL) {
            parse->status = CLI_USAGE;
            cli_usage_error("unknown option '-%c'", *letter);
            return false;
        }
        if (option->argument != NULL)
            return take(parse, option, letter[1] != '\0' ? letter + 1 : NULL);
        if (!take(parse, option, NULL))
            return false;
    }
    return true;
}

bool options_parse(int *argc, char **argv, const char *usage, const struct option *options,
                   int *status)
{
    struct parse parse = {*argc, argv, 1, usage, options, NULL, CLI_DONE};
    bool only_arguments = false; /* after "--" */
    int kept = 1;

    if (visitor != NULL) {
        visitor(visited, usage, options, visitor_context);
        *status = CLI_DONE;
        return false;
    }
    current_command = argv[0];
    while (parse.at < parse.argc) {
        char *const argument = argv[parse.at++];
        bool ok = true;

        if (only_arguments || argument[0] != '-' || argument[1] == '\0')
            argv[kept++] = argument;
        else if (strcmp(argument, "--") == 0)
            only_arguments = true;
        else if (argument[1] == '-')
            ok = take_long(&parse, argument);
        else
            ok = take_short(&parse, argument);
        if (!ok) {
            *status = parse.status;
            return false;
        }
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}
