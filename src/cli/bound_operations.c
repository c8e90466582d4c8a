/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound: the operations there are, and the parameters of one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound_cli.h"

enum { TEXT = 32, MOST_OPERATIONS = 64 };

const char *const *cli_operation_names(void)
{
    static const char *names[MOST_OPERATIONS + 2];
    size_t i;

    for (i = 0; i < ridge_operation_count() && i < MOST_OPERATIONS; i++)
        names[i] = ridge_operation_at(i)->name;
    names[i++] = "model"; /* stands in an operation's place */
    names[i] = NULL;
    return names;
}

static void write_operation(ridge_json *json, const ridge_operation *operation)
{
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "name", operation->name);
    ridge_json_text(json, "summary", operation->summary);
    ridge_json_text(json, "formula", operation->formula);
    ridge_json_begin_array(json, "parameters");
    for (i = 0; i < operation->parameter_count; i++) {
        const ridge_parameter *const parameter = &operation->parameters[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", parameter->name);
        ridge_json_text(json, "help", parameter->help);
        ridge_json_number(json, "default_value", parameter->default_value);
        ridge_json_number(json, "least", parameter->least);
        ridge_json_number(json, "most", parameter->most);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

static void print_operations_json(const ridge_operation *only, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-operations/1");
    ridge_json_begin_array(json, "operations");
    for (i = 0; i < ridge_operation_count(); i++)
        if (only == NULL || ridge_operation_at(i) == only)
            write_operation(json, ridge_operation_at(i));
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* "m n k": those that must be given. */
static char *needed_names(const ridge_operation *operation, char *text, size_t size)
{
    size_t used = 0, i;

    text[0] = '\0';
    for (i = 0; i < operation->parameter_count && used < size; i++)
        if (isnan(operation->parameters[i].default_value))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "",
                                     operation->parameters[i].name);
    return text;
}

void bound_print_operations(ridge_format format, ridge_output *output)
{
    enum { NAME = 16, NEEDED = 26 };
    char names[NEEDED], first[NAME + NEEDED + 1];
    size_t i;

    if (format == RIDGE_FORMAT_JSON) {
        print_operations_json(NULL, output);
        return;
    }
    for (i = 0; i < ridge_operation_count(); i++) {
        const ridge_operation *const operation = ridge_operation_at(i);

        snprintf(first, sizeof(first), "%-*s%-*s", NAME, operation->name, NEEDED,
                 needed_names(operation, names, sizeof(names)));
        ridge_output_wrap(output, NAME + NEEDED, first, operation->summary);
    }
    ridge_output_text(output, "\nridge bound OP explains all parameters, also those not needed; "
                              "--bytes SIZE --flop N take any work\n"
                              "ridge bound model CONFIG.JSON is about all kernels of a model\n");
}

void bound_print_operation(const ridge_operation *operation, ridge_format format,
                           ridge_output *output)
{
    static const ridge_column columns[] = {
        {"name", "Parameter", RIDGE_UNIT_NONE, true, 0, 0},
        {"default_value", "Default", RIDGE_UNIT_NONE, false, 0, 0},
        {"help", "Meaning", RIDGE_UNIT_NONE, true, 20, 0},
    };
    ridge_table *table;
    char text[TEXT];
    size_t i;

    if (format == RIDGE_FORMAT_JSON) {
        print_operations_json(operation, output);
        return;
    }
    ridge_output_styled(output, RIDGE_STYLE_STRONG, operation->name);
    ridge_output_format(output, ": %s\n", operation->summary);
    ridge_output_wrap(output, 0, "", operation->formula);
    ridge_output_text(output, "\n");
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < operation->parameter_count; i++) {
        const ridge_parameter *const parameter = &operation->parameters[i];

        ridge_table_text(table, parameter->name);
        ridge_table_text(table, isnan(parameter->default_value)
                                    ? "needed"
                                    : ridge_number_text(parameter->default_value, RIDGE_UNIT_NONE,
                                                        text, sizeof(text)));
        ridge_table_text(table, parameter->help);
    }
    ridge_table_text(table, "dtype");
    ridge_table_text(table, "bf16");
    ridge_table_text(table, "type of the tensors");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    ridge_output_wrap(output, 2, "", "dtypes:" RIDGE_ELEMENT_NAMES);
}
