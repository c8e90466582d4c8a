/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound --report: what kernels of a profile moved and computed, under the roofs of the chip
 * and, when an operation is named, against the least it takes; and the points of a roofline. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound_cli.h"
#include "ridge/measured.h"

enum { TEXT = 32 };

/* A kernel of the report with what it did, and what that means. */
struct measured {
    const ridge_report_kernel_info *info;
    ridge_measured_work work;
    double bytes, flop_count; /* NAN: unknown; flop_count of the unit that did most */
    double flop_per_byte, flop_per_s, bytes_per_s;
    double bandwidth_frac, peak_frac; /* of the roofs */
    /* Against the least work; NAN without an operation. */
    double read_ratio, written_ratio, bytes_ratio, time_ratio;
};

struct context {
    const struct bound_request *request;
    const struct bound_chip *chip; /* NULL: unknown */
    const struct bound_row *least; /* NULL: no operation */
    struct measured *kernels;
    size_t count;
    const char *path;
};

static const ridge_roofs *best_roofs(const struct bound_chip *chip)
{
    return chip->has_measured ? &chip->measured : &chip->nominal;
}

/* -- measuring --------------------------------------------------------------------------------- */

static void derive(const struct context *context, struct measured *out)
{
    const ridge_measured_work *const work = &out->work;
    const ridge_work *const least = context->least != NULL ? &context->least->work : NULL;

    out->bytes = work->dram_read_bytes + work->dram_written_bytes;
    out->flop_count = work->is_complete ? 0 : (double)NAN;
    if (work->peak != RIDGE_PEAK_NONE)
        out->flop_count = work->flop_count[work->peak];
    out->flop_per_byte = out->flop_count / out->bytes;
    out->flop_per_s = out->flop_count / work->duration_s;
    out->bytes_per_s = out->bytes / work->duration_s;
    out->bandwidth_frac = out->peak_frac = NAN;
    out->read_ratio = out->written_ratio = out->bytes_ratio = out->time_ratio = NAN;
    if (context->chip != NULL) {
        const ridge_roofs *const roofs = best_roofs(context->chip);

        out->bandwidth_frac = out->bytes_per_s / roofs->dram_bytes_per_s;
        out->peak_frac = out->flop_per_s / roofs->flop_per_s[work->peak];
    }
    if (least == NULL)
        return;
    out->read_ratio = work->dram_read_bytes / least->read_bytes;
    out->written_ratio = work->dram_written_bytes / least->written_bytes;
    out->bytes_ratio = out->bytes / (least->read_bytes + least->written_bytes);
    if (context->chip != NULL)
        out->time_ratio =
            work->duration_s / (context->chip->has_measured ? context->least->measured.time_s
                                                            : context->least->nominal.time_s);
}

static int measure(struct context *context, const ridge_report_kernel **kernels, size_t count)
{
    ridge_error err;
    size_t i;

    context->kernels = calloc(count, sizeof(*context->kernels));
    if (context->kernels == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    for (i = 0; i < count; i++) {
        struct measured *const out = &context->kernels[i];

        out->info = ridge_report_kernel_get_info(kernels[i]);
        if (ridge_measured_work_of(kernels[i], &out->work, &err) != RIDGE_OK)
            return cli_fail(context->path, &err);
        derive(context, out);
    }
    context->count = count;
    return CLI_DONE;
}

/* Without --gpu: the chip that the report was made on. Roofs measured on another one do not hold
 * for it. */
static int chip_of_report(struct bound_request *request, const ridge_report_kernel_info *info,
                          const char *path)
{
    const ridge_chip *const chip = info->gpu_name != NULL ? ridge_chip_find(info->gpu_name) : NULL;

    if (request->is_measured_chip && chip != NULL && strcmp(chip->id, request->chips[0].id) != 0) {
        cli_message(path, "was made on %s, the roofs of --measured on %s", chip->name,
                    request->chips[0].nominal.name);
        return CLI_USAGE;
    }
    if (request->chip_count > 0 || chip == NULL)
        return CLI_DONE;
    snprintf(request->chips[0].id, sizeof(request->chips[0].id), "%s", chip->id);
    ridge_roofs_of_chip(chip, &request->chips[0].nominal);
    request->chip_count = 1;
    return CLI_DONE;
}

/* -- text -------------------------------------------------------------------------------------- */

static char *number(double value, ridge_unit unit, char *text)
{
    return ridge_number_text(value, unit, text, TEXT);
}

/* "reads 2.300x, writes 1.000x the compulsory bytes; takes 2.500x the least time" */
static void print_verdict(const struct context *context, const struct measured *kernel,
                          ridge_output *output)
{
    char read[TEXT], written[TEXT], time[TEXT], least[TEXT], intensity[TEXT];
    char line[300];

    if (context->least == NULL)
        return;
    snprintf(line, sizeof(line), "reads %s, writes %s the compulsory bytes",
             number(kernel->read_ratio, RIDGE_UNIT_RATIO, read),
             number(kernel->written_ratio, RIDGE_UNIT_RATIO, written));
    ridge_output_styled(output, RIDGE_STYLE_STRONG, line);
    if (!isnan(kernel->time_ratio))
        ridge_output_format(output, "; takes %s the least time",
                            number(kernel->time_ratio, RIDGE_UNIT_RATIO, time));
    ridge_output_format(output, "\n%s FLOP/byte measured, %s with the least bytes",
                        number(kernel->flop_per_byte, RIDGE_UNIT_NONE, intensity),
                        number(context->least->nominal.flop_per_byte, RIDGE_UNIT_NONE, least));
    if (kernel->bytes_ratio < 0.95)
        ridge_output_text(output, "; less than the work needs: part was in L2 already, or the "
                                  "launch is not this work");
    ridge_output_text(output, "\n");
}

static void add_line(ridge_table *table, const char *what, double measured, double least,
                     ridge_unit unit, bool has_least)
{
    char text[TEXT];

    ridge_table_text(table, what);
    ridge_table_text(table, number(measured, unit, text));
    if (!has_least)
        return;
    ridge_table_text(table, number(least, unit, text));
    ridge_table_text(table, number(measured / least, RIDGE_UNIT_RATIO, text));
}

static void print_details(const struct context *context, const struct measured *kernel,
                          ridge_output *output)
{
    static const ridge_column columns[] = {
        {"what", "", RIDGE_UNIT_NONE, true, 0, 0},
        {"measured", "measured", RIDGE_UNIT_NONE, false, 0, 0},
        {"least", "least", RIDGE_UNIT_NONE, false, 0, 0},
        {"ratio", "ratio", RIDGE_UNIT_NONE, false, 0, 0},
    };
    const bool has_least = context->least != NULL;
    const ridge_bound *const bound =
        has_least
            ? (context->chip != NULL && context->chip->has_measured ? &context->least->measured
                                                                    : &context->least->nominal)
            : NULL;
    const ridge_work *const least = has_least ? &context->least->work : NULL;
    ridge_table *const table = ridge_table_create(columns, has_least ? 4 : 2);
    char text[TEXT];
    char work[80];

    snprintf(work, sizeof(work), "work%s%s", kernel->work.peak != RIDGE_PEAK_NONE ? ", " : "",
             kernel->work.peak != RIDGE_PEAK_NONE ? ridge_peak_name(kernel->work.peak) : "");
    add_line(table, "time", kernel->work.duration_s * 1e9, has_least ? bound->time_s * 1e9 : 0,
             RIDGE_UNIT_NS, has_least);
    add_line(table, "DRAM read", kernel->work.dram_read_bytes, has_least ? least->read_bytes : 0,
             RIDGE_UNIT_BYTES, has_least);
    add_line(table, "DRAM written", kernel->work.dram_written_bytes,
             has_least ? least->written_bytes : 0, RIDGE_UNIT_BYTES, has_least);
    add_line(table, work, kernel->flop_count, has_least ? least->flop_count : 0, RIDGE_UNIT_FLOP,
             has_least);
    add_line(table, "intensity, FLOP/byte", kernel->flop_per_byte,
             has_least ? bound->flop_per_byte : 0, RIDGE_UNIT_NONE, has_least);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    if (isnan(kernel->bytes) && isnan(kernel->flop_count))
        return;
    ridge_output_format(output, "\n%s", number(kernel->bytes_per_s, RIDGE_UNIT_BYTES_PER_S, text));
    if (!isnan(kernel->bandwidth_frac))
        ridge_output_format(output, ", %s of the bandwidth",
                            number(kernel->bandwidth_frac, RIDGE_UNIT_FRAC, text));
    ridge_output_format(output, "; %s", number(kernel->flop_per_s, RIDGE_UNIT_FLOP_PER_S, text));
    if (!isnan(kernel->peak_frac))
        ridge_output_format(output, ", %s of the %s peak",
                            number(kernel->peak_frac, RIDGE_UNIT_FRAC, text),
                            ridge_peak_name(kernel->work.peak));
    ridge_output_text(output, "\n");
}

static void print_kernels(const struct context *context, ridge_format format, ridge_output *output)
{
    const bool is_csv = format == RIDGE_FORMAT_CSV;
    const ridge_column columns[] = {
        {"launch", "ID", RIDGE_UNIT_NONE, false, 0, 0},
        {"name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0},
        {"duration_s", "Time", is_csv ? RIDGE_UNIT_NONE : RIDGE_UNIT_NS, false, 0, 0},
        {"bytes", "DRAM", RIDGE_UNIT_BYTES, false, 0, 5},
        {"bandwidth_frac", "Bandwidth", RIDGE_UNIT_FRAC, false, 0, 1},
        {"peak", "Unit", RIDGE_UNIT_NONE, true, 0, 6},
        {"flop_per_s", "Rate", RIDGE_UNIT_FLOP_PER_S, false, 0, 4},
        {"peak_frac", "Peak", RIDGE_UNIT_FRAC, false, 0, 2},
        {"flop_per_byte", "FLOP/byte", RIDGE_UNIT_NONE, false, 0, 3},
        {"bytes_ratio", "x bytes", RIDGE_UNIT_RATIO, false, 0, 0},
        {"time_ratio", "x time", RIDGE_UNIT_RATIO, false, 0, 0},
    };
    const size_t all = sizeof(columns) / sizeof(columns[0]);
    ridge_table *const table = ridge_table_create(columns, context->least != NULL ? all : all - 2);
    char name[400];
    size_t i;

    for (i = 0; i < context->count; i++) {
        const struct measured *const kernel = &context->kernels[i];

        ridge_table_count(table, kernel->info->index);
        ridge_table_text(table, cli_short_name(kernel->info, name, sizeof(name)));
        ridge_table_number(table, kernel->work.duration_s * (is_csv ? 1 : 1e9));
        ridge_table_number(table, kernel->bytes);
        ridge_table_number(table, kernel->bandwidth_frac);
        ridge_table_text(table, kernel->work.peak != RIDGE_PEAK_NONE
                                    ? ridge_peak_name(kernel->work.peak)
                                    : NULL);
        ridge_table_number(table, kernel->flop_per_s);
        ridge_table_number(table, kernel->peak_frac);
        ridge_table_number(table, kernel->flop_per_byte);
        if (context->least != NULL) {
            ridge_table_number(table, kernel->bytes_ratio);
            ridge_table_number(table, kernel->time_ratio);
        }
    }
    ridge_table_write(table, format, output, NULL, NULL);
    ridge_table_free(table);
}

static void print_text(const struct context *context, ridge_output *output)
{
    char parameters[400], bandwidth[TEXT];

    if (context->count == 1)
        cli_print_name(output, context->kernels[0].info);
    if (context->least != NULL)
        ridge_output_format(
            output, "against %s %s\n", context->least->work.name,
            bound_parameters_text(context->request, parameters, sizeof(parameters)));
    if (context->chip != NULL) {
        const ridge_roofs *const roofs = best_roofs(context->chip);

        ridge_output_format(output, "%s%s: %s\n", roofs->name,
                            context->chip->has_measured ? ", measured" : "",
                            number(roofs->dram_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, bandwidth));
    } else {
        ridge_output_format(output, "%s: no roofs known, --gpu NAME says which to use\n",
                            context->kernels[0].info->gpu_name != NULL
                                ? context->kernels[0].info->gpu_name
                                : "chip not recorded");
    }
    if (context->count > 1) {
        ridge_output_text(output, "\n");
        print_kernels(context, RIDGE_FORMAT_TEXT, output);
        return;
    }
    print_verdict(context, &context->kernels[0], output);
    ridge_output_text(output, "\n");
    print_details(context, &context->kernels[0], output);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_flop_counts(ridge_json *json, const ridge_measured_work *work)
{
    size_t i;

    ridge_json_begin_object(json, "flop_count_by_unit");
    for (i = 0; i < RIDGE_PEAK_COUNT; i++)
        if (!isnan(work->flop_count[i]))
            ridge_json_number(json, ridge_peak_name((ridge_peak)i), work->flop_count[i]);
    ridge_json_end_object(json);
}

static void write_kernel(ridge_json *json, const struct context *context,
                         const struct measured *kernel)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_count(json, "launch", kernel->info->index);
    ridge_json_text(json, "name", cli_kernel_name(kernel->info));
    ridge_json_number(json, "duration_s", kernel->work.duration_s);
    ridge_json_number(json, "dram_read_bytes", kernel->work.dram_read_bytes);
    ridge_json_number(json, "dram_written_bytes", kernel->work.dram_written_bytes);
    ridge_json_text(json, "peak",
                    kernel->work.peak != RIDGE_PEAK_NONE ? ridge_peak_name(kernel->work.peak)
                                                         : NULL);
    ridge_json_number(json, "flop_count", kernel->flop_count);
    write_flop_counts(json, &kernel->work);
    ridge_json_number(json, "flop_per_byte", kernel->flop_per_byte);
    ridge_json_number(json, "bytes_per_s", kernel->bytes_per_s);
    ridge_json_number(json, "flop_per_s", kernel->flop_per_s);
    ridge_json_number(json, "bandwidth_frac", kernel->bandwidth_frac);
    ridge_json_number(json, "peak_frac", kernel->peak_frac);
    if (context->least != NULL) {
        ridge_json_number(json, "read_ratio", kernel->read_ratio);
        ridge_json_number(json, "written_ratio", kernel->written_ratio);
        ridge_json_number(json, "bytes_ratio", kernel->bytes_ratio);
        ridge_json_number(json, "time_ratio", kernel->time_ratio);
    }
    ridge_json_end_object(json);
}

static void print_json(const struct context *context, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    const struct bound_row *const least = context->least;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-bound-report/1");
    ridge_json_text(json, "file", context->path);
    ridge_json_text(json, "gpu", context->chip != NULL ? context->chip->nominal.name : NULL);
    ridge_json_bool(json, "is_measured_roof", context->chip != NULL && context->chip->has_measured);
    if (least != NULL) {
        ridge_json_begin_object(json, "least");
        ridge_json_text(json, "operation", context->request->operation->name);
        ridge_json_text(json, "kernel", least->work.name);
        ridge_json_number(json, "read_bytes", least->work.read_bytes);
        ridge_json_number(json, "written_bytes", least->work.written_bytes);
        ridge_json_number(json, "flop_count", least->work.flop_count);
        ridge_json_number(json, "flop_per_byte", least->nominal.flop_per_byte);
        ridge_json_number(json, "time_s",
                          context->chip != NULL && context->chip->has_measured
                              ? least->measured.time_s
                              : least->nominal.time_s);
        ridge_json_end_object(json);
    } else {
        ridge_json_null(json, "least");
    }
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < context->count; i++)
        write_kernel(json, context, &context->kernels[i]);
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the roofline ------------------------------------------------------------------------------ */

void bound_begin_picture(const struct bound_chip *chips, size_t chip_count,
                         struct bound_picture *out)
{
    size_t i;

    out->roofline = (ridge_roofline){
        .title = out->title,
        .nominal = chip_count > 1 ? best_roofs(&chips[0]) : &chips[0].nominal,
        .measured = chip_count == 1 && chips[0].has_measured ? &chips[0].measured : NULL,
        .points = out->points,
    };
    snprintf(out->title, sizeof(out->title), "%s", chips[0].nominal.name);
    for (i = 1; i < chip_count && i < RIDGE_ROOFLINE_CHIPS; i++) {
        const size_t used = strlen(out->title);

        snprintf(out->title + used, sizeof(out->title) - used, ", %s", chips[i].nominal.name);
        out->roofline.others[out->roofline.other_count++] = best_roofs(&chips[i]);
    }
}

void bound_plot(const struct bound_picture *picture, ridge_output *output)
{
    ridge_output_text(output, "\n");
    ridge_roofline_write_text(&picture->roofline, output);
}

static void write_svg(ridge_output *output, const void *context)
{
    ridge_roofline_write_svg(context, output);
}

int bound_write_svg(const struct bound_picture *picture, const char *path, bool force)
{
    return cli_write_output(path, write_svg, &picture->roofline, force);
}

/* Where the least of a row lies: on the roof, at its intensity. */
static void least_point(const struct bound_request *request, const struct bound_row *row,
                        ridge_roofline_point *point, char *label, size_t size)
{
    const struct bound_chip *const chip = &request->chips[row->chip];
    const ridge_bound *const bound = chip->has_measured ? &row->measured : &row->nominal;
    const size_t chip_count = request->chip_count;
    size_t used, i;

    used = (size_t)snprintf(label, size, "%s%s%s", row->work.name, chip_count > 1 ? " " : "",
                            chip_count > 1 ? chip->id : "");
    for (i = 0; i < request->sweep_count && used < size; i++)
        if (request->sweeps[i].count > 1)
            used +=
                (size_t)snprintf(label + used, size - used, " %s=%.0f",
                                 request->operation->parameters[request->sweeps[i].parameter].name,
                                 row->values[request->sweeps[i].parameter]);
    if (request->element_count > 1 && used < size)
        snprintf(label + used, size - used, " %s", ridge_element_name(row->element));
    point->label = label;
    point->flop_per_byte = bound->flop_per_byte;
    point->flop_per_s = row->work.flop_count / bound->time_s;
    point->chip = row->chip;
    point->peak = row->work.peak;
    point->is_measured = false;
}

void bound_add_least(const struct bound_request *request, struct bound_picture *picture)
{
    size_t *const count = &picture->roofline.point_count;
    size_t i;

    for (i = 0; i < request->row_count && *count < RIDGE_ROOFLINE_POINTS; i++) {
        least_point(request, &request->rows[i], &picture->points[*count], picture->labels[*count],
                    sizeof(picture->labels[0]));
        (*count)++;
    }
}

/* The kernels, then the least. */
static void make_picture(const struct context *context, struct bound_picture *out)
{
    size_t *const count = &out->roofline.point_count;
    size_t i;

    bound_begin_picture(context->chip, 1, out);
    for (i = 0; i < context->count && *count < RIDGE_ROOFLINE_POINTS - 1; i++) {
        const struct measured *const kernel = &context->kernels[i];
        ridge_roofline_point *const point = &out->points[*count];

        point->label = cli_short_name(kernel->info, out->labels[*count], sizeof(out->labels[0]));
        point->flop_per_byte = kernel->flop_per_byte;
        point->flop_per_s = kernel->flop_per_s;
        point->chip = 0;
        point->peak = kernel->work.peak;
        point->is_measured = true;
        (*count)++;
    }
    if (context->least != NULL)
        bound_add_least(context->request, out);
}

/* -- the command ------------------------------------------------------------------------------- */

/* How many kernels lack what a roofline needs; *known_count has the bytes or the operations. */
static size_t count_missing(const struct context *context, size_t *known_count)
{
    size_t missing = 0, i;

    *known_count = 0;
    for (i = 0; i < context->count; i++) {
        const struct measured *const kernel = &context->kernels[i];

        missing += isnan(kernel->bytes) || isnan(kernel->flop_count);
        *known_count += !isnan(kernel->bytes) || !isnan(kernel->flop_count);
    }
    return missing;
}

static void print_missing(const struct context *context, size_t missing, ridge_output *output)
{
    if (context->count == 1)
        ridge_output_text(output, "\nthe report lacks bytes of device memory or operations");
    else
        ridge_output_format(output,
                            "\n%zu of %zu launches lack bytes of device memory or operations",
                            missing, context->count);
    ridge_output_text(output, "; collect them with:\n  ncu --section MemoryWorkloadAnalysis "
                              "--section SpeedOfLight_HierarchicalTensorRooflineChart \\\n"
                              "      --section SourceCounters ...\n");
}

static int show(const struct context *context, const char *svg_path, bool plot, bool force,
                const struct cli_output *out)
{
    struct bound_picture picture;
    ridge_output *output;
    size_t known_count;
    const size_t missing = count_missing(context, &known_count);
    int status = CLI_DONE;

    if ((plot || svg_path != NULL) && context->chip == NULL)
        return cli_usage_error("a roofline needs roofs: the report's chip is not known, --gpu");
    if (plot || svg_path != NULL)
        make_picture(context, &picture);
    if (svg_path != NULL)
        status = bound_write_svg(&picture, svg_path, force);
    if (status != CLI_DONE)
        return status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        print_json(context, output);
    else if (out->format == RIDGE_FORMAT_TEXT)
        print_text(context, output);
    else
        print_kernels(context, out->format, output);
    if (out->format == RIDGE_FORMAT_TEXT && missing > 0)
        print_missing(context, missing, output);
    if (plot)
        bound_plot(&picture, output);
    return cli_close(output, known_count > 0 ? CLI_DONE : CLI_NO);
}

static int make_least(struct bound_request *request, struct context *context)
{
    int status;

    if (request->operation == NULL)
        return CLI_DONE;
    status = bound_make_rows(request);
    if (status != CLI_DONE)
        return status;
    if (request->work_count > 1)
        return cli_usage_error("%s is several kernels, name one: %s/%s", request->operation->name,
                               request->operation->name, request->rows[0].work.name);
    if (request->row_count > 1)
        return cli_usage_error("a profile is held against one set of parameters");
    context->least = &request->rows[0];
    return CLI_DONE;
}

int bound_report(const struct bound_report_request *report, struct bound_request *request,
                 const char *svg_path, bool plot, bool force, const struct cli_output *out)
{
    struct context context = {.request = request, .path = report->path};
    const ridge_report_kernel **kernels = NULL;
    ridge_report *file;
    size_t count = 0;
    int status;

    if (request->chip_count > 1)
        return cli_usage_error("a profile is of one chip, --gpu names %zu", request->chip_count);
    if (plot && out->format != RIDGE_FORMAT_TEXT)
        return cli_usage_error("--plot is text: it does not go with another format");
    status = cli_open_metrics(report->path, &file);
    if (status != CLI_DONE)
        return status;
    status = cli_select_kernels(file, report->path, &report->filter, &kernels, &count);
    if (status == CLI_DONE) {
        status = chip_of_report(request, ridge_report_kernel_get_info(kernels[0]), report->path);
        context.chip = request->chip_count > 0 ? &request->chips[0] : NULL;
    }
    if (status == CLI_DONE)
        status = make_least(request, &context);
    if (status == CLI_DONE)
        status = measure(&context, kernels, count);
    if (status == CLI_DONE)
        status = show(&context, svg_path, plot, force, out);
    free(context.kernels);
    free(kernels);
    ridge_report_free(file);
    return status;
}
