/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound: one bound in detail, many as a table, all as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound_cli.h"

enum { TEXT = 32, MOST_COLUMNS = RIDGE_OPERATION_PARAMETERS + 14 };

static char *number(double value, ridge_unit unit, char *text)
{
    return ridge_number_text(value, unit, text, TEXT);
}

static char *seconds(double value, char *text)
{
    return ridge_number_text(value * 1e9, RIDGE_UNIT_NS, text, TEXT);
}

const char *bound_by_text(const ridge_bound *bound, const ridge_work *work)
{
    switch (bound->by) {
    case RIDGE_BOUND_BY_MEMORY:
        return "memory";
    case RIDGE_BOUND_BY_COMPUTE:
        return ridge_peak_name(work->peak);
    case RIDGE_BOUND_BY_LAUNCH:
        return "launch";
    case RIDGE_BOUND_BY_NOTHING:
        break;
    }
    return "n/a";
}

const char *bound_by_word(const ridge_bound *bound)
{
    static const char *const words[] = {
        [RIDGE_BOUND_BY_NOTHING] = NULL,
        [RIDGE_BOUND_BY_MEMORY] = "memory",
        [RIDGE_BOUND_BY_COMPUTE] = "compute",
        [RIDGE_BOUND_BY_LAUNCH] = "launch",
    };

    return words[bound->by];
}

static bool any_measured(const struct bound_request *request)
{
    size_t i;

    for (i = 0; i < request->chip_count; i++)
        if (request->chips[i].has_measured)
            return true;
    return false;
}

/* -- what all rows have in common -------------------------------------------------------------- */

char *bound_parameters_text(const struct bound_request *request, char *buffer, size_t size)
{
    const ridge_operation *const operation = request->operation;
    size_t used = 0, i;

    buffer[0] = '\0';
    for (i = 0; operation != NULL && i < request->sweep_count && used < size; i++) {
        const ridge_sweep *const sweep = &request->sweeps[i];

        if (sweep->count == 1)
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s%s=%.0f", used > 0 ? " " : "",
                                 operation->parameters[sweep->parameter].name, sweep->values[0]);
    }
    if (request->element_count == 1 && used < size)
        snprintf(buffer + used, size - used, "%sdtype=%s", used > 0 ? " " : "",
                 ridge_element_name(request->elements[0]));
    return buffer;
}

static void print_heading(const struct bound_request *request, ridge_output *output)
{
    char name[120] = "given work";
    char parameters[400];

    if (request->operation != NULL)
        snprintf(name, sizeof(name), "%s%s%s", request->operation->name,
                 request->kernel != NULL ? "/" : "",
                 request->kernel != NULL ? request->kernel : "");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, name);
    ridge_output_format(output, " %s\n",
                        bound_parameters_text(request, parameters, sizeof(parameters)));
}

/* The units of all rows, each once. */
static size_t list_peaks(const struct bound_request *request, ridge_peak *peaks)
{
    size_t count = 0, i, k;

    for (i = 0; i < request->row_count; i++) {
        const ridge_peak peak = request->rows[i].work.peak;

        for (k = 0; k < count && peaks[k] != peak; k++)
            continue;
        if (k == count && peak != RIDGE_PEAK_NONE)
            peaks[count++] = peak;
    }
    return count;
}

/* "NVIDIA H200: 4.800 TB/s, bf16 tensor 989.4 TFLOP/s, ridge point 206.1 FLOP/byte" */
static void print_roofs(const struct bound_request *request, const ridge_roofs *roofs,
                        const char *what, ridge_output *output)
{
    ridge_peak peaks[RIDGE_PEAK_COUNT];
    const size_t count = list_peaks(request, peaks);
    char line[600];
    char text[TEXT];
    size_t used, i;

    used = (size_t)snprintf(line, sizeof(line), "%s: %s", what,
                            number(roofs->dram_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, text));
    for (i = 0; i < count && used < sizeof(line); i++)
        used +=
            (size_t)snprintf(line + used, sizeof(line) - used, ", %s %s", ridge_peak_name(peaks[i]),
                             number(roofs->flop_per_s[peaks[i]], RIDGE_UNIT_FLOP_PER_S, text));
    if (count == 1 && used < sizeof(line))
        used += (size_t)snprintf(
            line + used, sizeof(line) - used, ", ridge point %s FLOP/byte",
            number(roofs->flop_per_s[peaks[0]] / roofs->dram_bytes_per_s, RIDGE_UNIT_NONE, text));
    if (!isnan(roofs->launch_s) && used < sizeof(line))
        snprintf(line + used, sizeof(line) - used, ", launch %s", seconds(roofs->launch_s, text));
    ridge_output_wrap(output, 4, "", line);
}

/* -- one bound --------------------------------------------------------------------------------- */

static void print_answer(const struct bound_row *row, const struct bound_chip *chip,
                         ridge_output *output)
{
    const ridge_bound *const bound = chip->has_measured ? &row->measured : &row->nominal;
    char time[TEXT], other[TEXT];
    char line[200];

    if (isnan(bound->time_s)) {
        ridge_output_format(output, "no bound: the roof it is held against is not known of %s\n",
                            chip->nominal.name);
        return;
    }
    snprintf(line, sizeof(line), "at least %s, bound by %s", seconds(bound->time_s, time),
             bound_by_text(bound, &row->work));
    ridge_output_styled(output, RIDGE_STYLE_STRONG, line);
    if (bound->by == RIDGE_BOUND_BY_MEMORY && bound->compute_s > 0)
        ridge_output_format(output, "; the FLOP alone take %s", seconds(bound->compute_s, other));
    if (bound->by == RIDGE_BOUND_BY_COMPUTE && bound->memory_s > 0)
        ridge_output_format(output, "; the bytes alone take %s", seconds(bound->memory_s, other));
    if (bound->by == RIDGE_BOUND_BY_MEMORY && isnan(bound->compute_s))
        ridge_output_format(output, " as far as is known: the peak of %s is n/a",
                            row->work.peak != RIDGE_PEAK_NONE ? ridge_peak_name(row->work.peak)
                                                              : "its unit");
    if (bound->by == RIDGE_BOUND_BY_COMPUTE && isnan(bound->memory_s))
        ridge_output_text(output, " as far as is known: the bandwidth is n/a");
    ridge_output_text(output, "\n");
}

static void print_work(const ridge_work *work, bool is_given, ridge_output *output)
{
    char bytes[TEXT], other[TEXT];
    const double moved = work->read_bytes + work->written_bytes;

    if (is_given) {
        ridge_output_format(output, "bytes      %s\n", number(moved, RIDGE_UNIT_BYTES, bytes));
    } else {
        ridge_output_format(output, "read       %s",
                            number(work->read_bytes, RIDGE_UNIT_BYTES, bytes));
        if (work->weight_bytes > 0)
            ridge_output_format(output, ", weights %s of it",
                                number(work->weight_bytes, RIDGE_UNIT_BYTES, other));
        ridge_output_format(output, "\nwritten    %s\n",
                            number(work->written_bytes, RIDGE_UNIT_BYTES, bytes));
        ridge_output_format(output, "bytes      %s", number(moved, RIDGE_UNIT_BYTES, bytes));
        if (work->cache_bytes > 0)
            ridge_output_format(output, ", keys, values and states %s of it",
                                number(work->cache_bytes, RIDGE_UNIT_BYTES, other));
        ridge_output_text(output, "\n");
    }
    ridge_output_format(output, "work       %s", number(work->flop_count, RIDGE_UNIT_FLOP, bytes));
    if (work->flop_count > 0)
        ridge_output_format(output, " on %s",
                            work->peak != RIDGE_PEAK_NONE ? ridge_peak_name(work->peak)
                                                          : "a unit of unknown rate");
    ridge_output_format(
        output, "\nintensity  %s FLOP/byte\n",
        number(moved > 0 ? work->flop_count / moved : (double)INFINITY, RIDGE_UNIT_NONE, bytes));
}

/* The roofs and what they give: a column each for nominal and measured. */
static void print_roof_table(const struct bound_row *row, const struct bound_chip *chip,
                             ridge_output *output)
{
    static const ridge_column columns[] = {
        {"what", "", RIDGE_UNIT_NONE, true, 0, 0},
        {"nominal", "nominal", RIDGE_UNIT_NONE, false, 0, 0},
        {"measured", "measured", RIDGE_UNIT_NONE, false, 0, 0},
    };
    const ridge_peak peak = row->work.peak;
    const struct {
        const char *what;
        double nominal, measured;
        ridge_unit unit;
        bool is_shown;
    } lines[] = {
        {"bandwidth", chip->nominal.dram_bytes_per_s, chip->measured.dram_bytes_per_s,
         RIDGE_UNIT_BYTES_PER_S, true},
        {ridge_peak_name(peak), chip->nominal.flop_per_s[peak], chip->measured.flop_per_s[peak],
         RIDGE_UNIT_FLOP_PER_S, peak != RIDGE_PEAK_NONE},
        {"ridge point, FLOP/byte", row->nominal.ridge_flop_per_byte,
         row->measured.ridge_flop_per_byte, RIDGE_UNIT_NONE, peak != RIDGE_PEAK_NONE},
        {"time of the bytes", row->nominal.memory_s * 1e9, row->measured.memory_s * 1e9,
         RIDGE_UNIT_NS, true},
        {"time of the FLOP", row->nominal.compute_s * 1e9, row->measured.compute_s * 1e9,
         RIDGE_UNIT_NS, peak != RIDGE_PEAK_NONE},
        {"empty kernel", chip->nominal.launch_s * 1e9, chip->measured.launch_s * 1e9, RIDGE_UNIT_NS,
         !isnan(chip->measured.launch_s) && chip->has_measured},
        {"least time", row->nominal.time_s * 1e9, row->measured.time_s * 1e9, RIDGE_UNIT_NS, true},
    };
    ridge_table *const table = ridge_table_create(columns, chip->has_measured ? 3 : 2);
    char text[TEXT];
    size_t i;

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!lines[i].is_shown)
            continue;
        ridge_table_text(table, lines[i].what);
        ridge_table_text(table, number(lines[i].nominal, lines[i].unit, text));
        if (chip->has_measured)
            ridge_table_text(table, number(lines[i].measured, lines[i].unit, text));
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* A roof that was not measured is the nominal one. */
static void print_missing(const struct bound_row *row, const struct bound_chip *chip,
                          ridge_output *output)
{
    const ridge_peak peak = row->work.peak;

    if (!chip->has_measured)
        return;
    if (chip->is_nominal_bandwidth)
        ridge_output_text(output, "bandwidth was not measured: it is the nominal one\n");
    if (chip->is_nominal_peak[peak] && peak != RIDGE_PEAK_NONE)
        ridge_output_format(output, "%s was not measured: it is the nominal peak\n",
                            ridge_peak_name(peak));
}

static void print_one(const struct bound_request *request, ridge_output *output)
{
    const struct bound_row *const row = &request->rows[0];
    const struct bound_chip *const chip = &request->chips[row->chip];

    print_heading(request, output);
    if (request->chip_count > 0) {
        ridge_output_format(output, "%s%s\n",
                            chip->nominal.name[0] != '\0' ? chip->nominal.name
                                                          : chip->measured.name,
                            chip->has_measured ? ", against the measured roofs" : "");
        print_answer(row, chip, output);
    }
    ridge_output_text(output, "\n");
    print_work(&row->work, request->operation == NULL, output);
    ridge_output_text(output, "\n");
    if (request->chip_count > 0) {
        print_roof_table(row, chip, output);
        print_missing(row, chip, output);
    } else {
        ridge_output_text(output, "--gpu NAME gives the time, ridge help bound the other ways\n");
    }
}

/* -- many -------------------------------------------------------------------------------------- */

static void add_column(ridge_column *columns, size_t *count, const char *key, const char *title,
                       ridge_unit unit, bool is_text, unsigned char leave_out)
{
    const ridge_column column = {key, title, unit, is_text, 0, leave_out};

    columns[(*count)++] = column;
}

/* Programs get seconds, people the unit that suits. */
static size_t make_columns(const struct bound_request *request, bool is_csv, ridge_column *columns)
{
    const ridge_unit unit = is_csv ? RIDGE_UNIT_NONE : RIDGE_UNIT_NS;
    size_t count = 0, i;

    if (request->chip_count > 1)
        add_column(columns, &count, "gpu", "Chip", RIDGE_UNIT_NONE, true, 0);
    if (request->element_count > 1)
        add_column(columns, &count, "dtype", "dtype", RIDGE_UNIT_NONE, true, 0);
    for (i = 0; i < request->sweep_count; i++) {
        const char *const name = request->operation->parameters[request->sweeps[i].parameter].name;

        if (request->sweeps[i].count > 1)
            add_column(columns, &count, name, name, RIDGE_UNIT_NONE, false, 0);
    }
    if (request->work_count > 1)
        add_column(columns, &count, "kernel", "Kernel", RIDGE_UNIT_NONE, true, 0);
    add_column(columns, &count, "read_bytes", "Read", RIDGE_UNIT_BYTES, false, 3);
    add_column(columns, &count, "written_bytes", "Written", RIDGE_UNIT_BYTES, false, 4);
    add_column(columns, &count, "flop_count", "Work", RIDGE_UNIT_FLOP, false, 5);
    add_column(columns, &count, "flop_per_byte", "FLOP/byte", RIDGE_UNIT_NONE, false, 2);
    if (request->chip_count == 0)
        return count;
    add_column(columns, &count, "ridge_flop_per_byte", "Ridge", RIDGE_UNIT_NONE, false, 6);
    add_column(columns, &count, "by", "Bound by", RIDGE_UNIT_NONE, true, 1);
    add_column(columns, &count, "time_s", "Least time", unit, false, 0);
    if (any_measured(request))
        add_column(columns, &count, "measured_time_s", "Measured roofs", unit, false, 0);
    return count;
}

static void add_identity(ridge_table *table, const struct bound_request *request,
                         const struct bound_row *row, const char *kernel)
{
    size_t i;

    if (request->chip_count > 1)
        ridge_table_text(table, request->chips[row->chip].id);
    if (request->element_count > 1)
        ridge_table_text(table, ridge_element_name(row->element));
    for (i = 0; i < request->sweep_count; i++)
        if (request->sweeps[i].count > 1)
            ridge_table_number(table, row->values[request->sweeps[i].parameter]);
    if (request->work_count > 1)
        ridge_table_text(table, kernel);
}

/* is_sum: of several kernels, which have no one roof. per_s: times are in so many to a second. */
static void add_row(ridge_table *table, const struct bound_request *request,
                    const struct bound_row *row, bool is_sum, double per_s)
{
    const bool has_measured = request->chip_count > 0 && request->chips[row->chip].has_measured;

    add_identity(table, request, row, row->work.name);
    ridge_table_number(table, row->work.read_bytes);
    ridge_table_number(table, row->work.written_bytes);
    ridge_table_number(table, row->work.flop_count);
    ridge_table_number(table, row->nominal.flop_per_byte);
    if (request->chip_count == 0)
        return;
    if (is_sum) {
        ridge_table_text(table, "");
        ridge_table_text(table, "");
    } else {
        ridge_table_number(table, row->nominal.ridge_flop_per_byte);
        ridge_table_text(table,
                         bound_by_text(has_measured ? &row->measured : &row->nominal, &row->work));
    }
    ridge_table_number(table, row->nominal.time_s * per_s);
    if (any_measured(request))
        ridge_table_number(table, has_measured ? row->measured.time_s * per_s : (double)NAN);
}

/* The kernels of one call together: they run one after the other. */
static void add_sum(ridge_table *table, const struct bound_request *request,
                    const struct bound_row *rows, double per_s)
{
    struct bound_row sum = rows[0];
    size_t i;

    for (i = 1; i < request->work_count; i++) {
        sum.work.read_bytes += rows[i].work.read_bytes;
        sum.work.written_bytes += rows[i].work.written_bytes;
        sum.work.flop_count += rows[i].work.flop_count;
        sum.nominal.time_s += rows[i].nominal.time_s;
        sum.measured.time_s += rows[i].measured.time_s;
    }
    snprintf(sum.work.name, sizeof(sum.work.name), "sum");
    sum.nominal.flop_per_byte =
        sum.work.flop_count / (sum.work.read_bytes + sum.work.written_bytes);
    add_row(table, request, &sum, true, per_s);
}

void bound_print_table(const struct bound_request *request, ridge_format format,
                       ridge_output *output)
{
    const bool is_csv = format == RIDGE_FORMAT_CSV;
    const double per_s = is_csv ? 1 : 1e9;
    ridge_column columns[MOST_COLUMNS];
    ridge_table *const table = ridge_table_create(columns, make_columns(request, is_csv, columns));
    size_t i;

    for (i = 0; i < request->row_count; i++) {
        add_row(table, request, &request->rows[i], false, per_s);
        if (request->work_count > 1 && (i + 1) % request->work_count == 0)
            add_sum(table, request, &request->rows[i + 1 - request->work_count], per_s);
    }
    ridge_table_write(table, format, output, NULL, NULL);
    ridge_table_free(table);
}

/* "h200: memory up to m=318, bf16 tensor from m=319": every turn between two rows of a chip. */
static void print_turns_between(const struct bound_request *request, size_t parameter,
                                const struct bound_row *first, const struct bound_row *last,
                                ridge_output *output)
{
    const struct bound_chip *const chip = &request->chips[first->chip];
    const char *const name = request->operation->parameters[parameter].name;
    struct bound_row before = *first, after = *last;

    while (bound_of_row(request, &before)->by != bound_of_row(request, last)->by) {
        bound_find_turn(request, parameter, &before, &after);
        ridge_output_format(output, "%s: %s up to %s=%.0f, %s from %s=%.0f\n",
                            chip->id[0] != '\0' ? chip->id : chip->nominal.name,
                            bound_by_text(bound_of_row(request, &before), &before.work), name,
                            before.values[parameter],
                            bound_by_text(bound_of_row(request, &after), &after.work), name,
                            after.values[parameter]);
        before = after;
        after = *last;
    }
}

/* Where another roof binds, for one parameter with several values. */
static void print_turns(const struct bound_request *request, ridge_output *output)
{
    size_t swept = 0, swept_count = 0, i;

    for (i = 0; i < request->sweep_count; i++) {
        if (request->sweeps[i].count > 1) {
            swept = request->sweeps[i].parameter;
            swept_count++;
        }
    }
    if (swept_count != 1 || request->element_count != 1 || request->work_count != 1 ||
        request->chip_count == 0)
        return;
    for (i = 1; i < request->row_count; i++) {
        const struct bound_row *const row = &request->rows[i], *const last = row - 1;
        const bool is_falling = row->values[swept] < last->values[swept];

        if (row->chip == last->chip)
            print_turns_between(request, swept, is_falling ? row : last, is_falling ? last : row,
                                output);
    }
}

void bound_print_text(const struct bound_request *request, ridge_output *output)
{
    size_t i;

    if (request->row_count == 1) {
        print_one(request, output);
        return;
    }
    print_heading(request, output);
    for (i = 0; i < request->chip_count && request->chip_count == 1; i++) {
        const struct bound_chip *const chip = &request->chips[i];

        print_roofs(request, &chip->nominal, chip->nominal.name, output);
        if (chip->has_measured)
            print_roofs(request, &chip->measured, "measured", output);
    }
    ridge_output_text(output, "\n");
    bound_print_table(request, RIDGE_FORMAT_TEXT, output);
    print_turns(request, output);
    if (request->chip_count == 0)
        ridge_output_text(output, "--gpu NAME gives the time, ridge help bound the other ways\n");
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_bound(ridge_json *json, const char *key, const ridge_bound *bound,
                        const ridge_roofs *roofs, ridge_peak peak)
{
    ridge_json_begin_object(json, key);
    ridge_json_number(json, "dram_bytes_per_s", roofs->dram_bytes_per_s);
    ridge_json_number(json, "flop_per_s", roofs->flop_per_s[peak]);
    ridge_json_number(json, "launch_s", roofs->launch_s);
    ridge_json_number(json, "memory_s", bound->memory_s);
    ridge_json_number(json, "compute_s", bound->compute_s);
    ridge_json_number(json, "time_s", bound->time_s);
    ridge_json_number(json, "ridge_flop_per_byte", bound->ridge_flop_per_byte);
    ridge_json_text(json, "by", bound_by_word(bound));
    ridge_json_end_object(json);
}

static void write_work(ridge_json *json, const ridge_work *work)
{
    ridge_json_text(json, "kernel", work->name);
    ridge_json_number(json, "read_bytes", work->read_bytes);
    ridge_json_number(json, "written_bytes", work->written_bytes);
    ridge_json_number(json, "weight_bytes", work->weight_bytes);
    ridge_json_number(json, "cache_bytes", work->cache_bytes);
    ridge_json_number(json, "flop_count", work->flop_count);
    ridge_json_text(json, "peak", ridge_peak_name(work->peak));
}

static void write_parameters(ridge_json *json, const struct bound_request *request,
                             const struct bound_row *row)
{
    const ridge_operation *const operation = request->operation;
    size_t i;

    ridge_json_begin_object(json, "parameters");
    for (i = 0; operation != NULL && i < operation->parameter_count; i++)
        ridge_json_number(json, operation->parameters[i].name,
                          isnan(row->values[i]) ? operation->parameters[i].default_value
                                                : row->values[i]);
    ridge_json_end_object(json);
}

void bound_print_json(const struct bound_request *request, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-bound/1");
    ridge_json_text(json, "operation",
                    request->operation != NULL ? request->operation->name : NULL);
    ridge_json_begin_array(json, "rows");
    for (i = 0; i < request->row_count; i++) {
        const struct bound_row *const row = &request->rows[i];
        const struct bound_chip *const chip = &request->chips[row->chip];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "gpu", request->chip_count > 0 ? chip->nominal.name : NULL);
        ridge_json_text(json, "dtype", ridge_element_name(row->element));
        write_parameters(json, request, row);
        write_work(json, &row->work);
        ridge_json_number(json, "flop_per_byte", row->nominal.flop_per_byte);
        if (request->chip_count > 0)
            write_bound(json, "nominal", &row->nominal, &chip->nominal, row->work.peak);
        else
            ridge_json_null(json, "nominal");
        if (request->chip_count > 0 && chip->has_measured)
            write_bound(json, "measured", &row->measured, &chip->measured, row->work.peak);
        else
            ridge_json_null(json, "measured");
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}
