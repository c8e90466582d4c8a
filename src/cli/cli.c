/* SPDX-License-Identifier: Apache-2.0
 *
 * What commands share besides options: messages, output, opening reports, choosing kernels. */
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "ridge/regex_guard.h"

/* -- messages ---------------------------------------------------------------------------------- */

/* One line to stderr that no input can spread over the terminal: ridge_fail() makes control
 * characters '?'. */
static void print_line(const char *input, const char *text)
{
    ridge_error line;

    ridge_fail(&line, RIDGE_ERR_INTERNAL, "ridge: %s%s%s", input != NULL ? input : "",
               input != NULL ? ": " : "", text);
    fprintf(stderr, "%s\n", line.text);
}

int cli_fail(const char *input, const ridge_error *err)
{
    print_line(input, err->text);
    return ridge_status_exit(err->status);
}

void cli_message(const char *input, const char *format, ...)
{
    char text[480];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    print_line(input, text);
}

int cli_usage_error(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    print_line(options_command(), text);
    return CLI_USAGE;
}

char *cli_quote_word(const char *word, char *out, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-./:=,+@%";
    size_t length = 0;

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        snprintf(out, size, "%s", word);
        return out;
    }
    out[length++] = '\'';
    for (; *word != '\0' && length + 6 < size; word++)
        if (*word == '\'')
            length += (size_t)snprintf(out + length, size - length, "'\\''");
        else
            out[length++] = *word;
    out[length++] = '\'';
    out[length] = '\0';
    return out;
}

void cli_add_option(char *text, size_t size, const char *name, const char *value)
{
    const size_t used = strlen(text);
    char word[CLI_WORD_BYTES];

    if (value != NULL && value[0] != '\0')
        snprintf(text + used, size - used, " --%s %s", name,
                 cli_quote_word(value, word, sizeof(word)));
}

void cli_advise(const char *what, const char *command)
{
    const char *at;

    fprintf(stderr, "ridge: %s: ", what);
    for (at = command; *at != '\0'; at++)
        fputc((unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at, stderr);
    fputc('\n', stderr);
}

/* -- output ------------------------------------------------------------------------------------ */

ridge_output *cli_open(const struct cli_output *out)
{
    const bool colour = out->colour == 0 ? ridge_terminal_colour(stdout) : out->colour == 1;

    return ridge_output_create(stdout, ridge_terminal_columns(stdout), colour);
}

ridge_output *cli_open_whole(const struct cli_output *out)
{
    const char *const columns = getenv("COLUMNS");

    if (isatty(fileno(stdout)) == 1 || (columns != NULL && *columns != '\0'))
        return cli_open(out);
    return ridge_output_create(stdout, RIDGE_COLUMNS_WHOLE, out->colour == 1);
}

void cli_labelled(ridge_output *output, int columns, const char *label, const char *text)
{
    char first[48];

    if (text[0] == '\0')
        return;
    snprintf(first, sizeof(first), "  %-*s", columns - 2, label);
    ridge_output_wrap(output, columns, first, text);
}

/* Some report of this run was cut or damaged: what was intact is printed, and the exit status says
 * so. */
static bool read_damaged_report;

int cli_status(int status)
{
    return read_damaged_report && (status == CLI_DONE || status == CLI_NO)
               ? ridge_status_exit(RIDGE_ERR_FORMAT)
               : status;
}

int cli_close(ridge_output *output, int status)
{
    ridge_error err;

    if (ridge_output_close(output, &err) != RIDGE_OK)
        return cli_fail(NULL, &err);
    return cli_status(status);
}

/* -- reports ----------------------------------------------------------------------------------- */

int cli_open_report(const char *path, ridge_report **out)
{
    ridge_error err;
    size_t count;

    if (ridge_report_open(path, out, &err) != RIDGE_OK)
        return cli_fail(path, &err);
    count = ridge_report_warning_count(*out);
    read_damaged_report = read_damaged_report || ridge_report_is_damaged(*out);
    if (count == 1)
        cli_message(path, "%s", ridge_report_warning(*out, 0));
    else if (count > 1)
        cli_message(path, "%s (and %zu more)", ridge_report_warning(*out, 0), count - 1);
    return CLI_DONE;
}

static bool has_metrics(const ridge_report *report)
{
    ridge_metric metric;
    size_t i;

    for (i = 0; i < ridge_report_kernel_count(report); i++)
        if (ridge_report_kernel_metric_at(ridge_report_kernel_at(report, i), 0, &metric))
            return true;
    return false;
}

int cli_open_metrics(const char *path, ridge_report **out)
{
    const int status = cli_open_report(path, out);

    /* A native report without metrics is told from this: there the sections to collect help. */
    if (status != CLI_DONE || ridge_report_warning_count(*out) == 0 || has_metrics(*out))
        return status;
    ridge_report_free(*out);
    *out = NULL;
    return ridge_status_exit(RIDGE_ERR_UNSUPPORTED);
}

const char *cli_base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const backslash = strrchr(path, '\\');
    const char *const last = slash != NULL && slash > backslash ? slash : backslash;

    return last != NULL ? last + 1 : path;
}

const char *cli_arm_name(const char *name)
{
    return strlen(name) > CLI_ARM_COLUMNS ? cli_base_name(name) : name;
}

const char *cli_kernel_name(const ridge_report_kernel_info *info)
{
    if (info->demangled_name != NULL)
        return info->demangled_name;
    return info->name != NULL ? info->name : "n/a";
}

size_t cli_length_without_parameters(const char *name)
{
    size_t at = strlen(name);
    size_t depth = 0;

    if (at == 0 || name[at - 1] != ')')
        return at;
    while (at-- > 0) {
        depth += name[at] == ')' ? 1 : 0;
        depth -= name[at] == '(' ? 1 : 0;
        if (depth == 0)
            break;
    }
    return at > 0 && at < strlen(name) ? at : strlen(name);
}

/* Length of a cast that a demangler writes before a number, "(int)" in "(int)128"; else 0. */
static size_t cast_length(const char *text)
{
    const size_t length = text[0] == '(' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz ") : 0;

    if (length == 0 || text[1 + length] != ')' || text[length + 2] == '\0')
        return 0;
    return strchr("-0123456789", text[length + 2]) != NULL ? length + 2 : 0;
}

char *cli_short_name(const ridge_report_kernel_info *info, char *buffer, size_t size)
{
    const char *name = cli_kernel_name(info);
    const char *end;
    size_t to = 0;

    if (strncmp(name, "void ", 5) == 0)
        name += 5;
    end = name + cli_length_without_parameters(name);
    while (name < end && to < size - 1) {
        name += cast_length(name);
        buffer[to++] = *name++;
    }
    buffer[to] = '\0';
    return buffer;
}

void cli_print_name(ridge_output *output, const ridge_report_kernel_info *info)
{
    const char *const name = cli_kernel_name(info);

    if (strlen(name) > (size_t)ridge_output_columns(output)) {
        ridge_output_wrap(output, 4, "", name);
        return;
    }
    ridge_output_styled(output, RIDGE_STYLE_STRONG, name);
    ridge_output_text(output, "\n");
}

char *cli_extent(const uint64_t extent[3], char *buffer, size_t size)
{
    if (extent[0] == 0)
        snprintf(buffer, size, "n/a");
    else if (extent[2] > 1)
        snprintf(buffer, size, "%" PRIu64 "x%" PRIu64 "x%" PRIu64, extent[0], extent[1], extent[2]);
    else if (extent[1] > 1)
        snprintf(buffer, size, "%" PRIu64 "x%" PRIu64, extent[0], extent[1]);
    else
        snprintf(buffer, size, "%" PRIu64, extent[0]);
    return buffer;
}

/* True when the expression is found in the name, as shown or as short. */
static bool name_matches(const regex_t *expression, const ridge_report_kernel_info *info)
{
    if (regexec(expression, cli_kernel_name(info), 0, NULL, 0) == 0)
        return true;
    return info->name != NULL && regexec(expression, info->name, 0, NULL, 0) == 0;
}

int cli_compile_pattern(const char *pattern, regex_t *expression)
{
    ridge_error err = {0};
    char reason[160];
    int failure;

    if (ridge_regex_check(pattern, &err) != RIDGE_OK)
        return cli_usage_error("--kernel '%s': %s", pattern, err.text);
    failure = regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB);
    if (failure == 0)
        return CLI_DONE;
    regerror(failure, expression, reason, sizeof(reason));
    return cli_usage_error("--kernel '%s': %s", pattern, reason);
}

int cli_select_kernels(const ridge_report *report, const char *path,
                       const struct kernel_filter *filter, const ridge_report_kernel ***out,
                       size_t *count)
{
    const size_t kernel_count = ridge_report_kernel_count(report);
    const ridge_report_kernel **kernels;
    regex_t expression;
    size_t i;

    *out = NULL;
    *count = 0;
    if (filter->launch != OPTION_UNSET && filter->launch >= kernel_count) {
        if (ridge_report_is_damaged(report)) /* it may be in what is lost, and a line said so */
            return ridge_status_exit(RIDGE_ERR_FORMAT);
        cli_message(path, "no launch %zu, the report holds 0 to %zu", filter->launch,
                    kernel_count - 1);
        return CLI_USAGE;
    }
    if (filter->pattern != NULL && cli_compile_pattern(filter->pattern, &expression) != CLI_DONE)
        return CLI_USAGE;
    kernels = calloc(kernel_count + 1, sizeof(*kernels));
    for (i = 0; kernels != NULL && i < kernel_count; i++) {
        const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, i);

        if (filter->launch != OPTION_UNSET && filter->launch != i)
            continue;
        if (filter->pattern != NULL &&
            !name_matches(&expression, ridge_report_kernel_get_info(kernel)))
            continue;
        kernels[(*count)++] = kernel;
    }
    if (filter->pattern != NULL)
        regfree(&expression);
    if (kernels == NULL) {
        cli_message(path, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    if (*count == 0) {
        free(kernels);
        if (!ridge_report_is_damaged(report))
            cli_message(path, "no kernel matches '%s', see ridge kernels", filter->pattern);
        return cli_status(CLI_NO);
    }
    *out = kernels;
    return CLI_DONE;
}
