/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bench --roofs: what this machine reaches, beside what its data sheet says. */
#include "bench_roofs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ridge/bench.h"

struct answer {
    ridge_device_info device;
    ridge_floors floors;
    ridge_roofs measured, nominal;
};

static ridge_status measure(const char *device_name, struct answer *out, ridge_error *err)
{
    ridge_device *device = NULL;
    ridge_status status = ridge_device_open(device_name, &device, err);
    const ridge_chip *chip;

    if (status != RIDGE_OK)
        return status;
    out->device = *ridge_device_get_info(device);
    status = ridge_bench_floors(device, &out->floors, err);
    if (status == RIDGE_OK)
        status = ridge_bench_roofs(device, &out->measured, err);
    ridge_device_free(device);
    chip = out->device.kind == RIDGE_DEVICE_CUDA ? ridge_chip_find(out->device.name) : NULL;
    ridge_roofs_init(&out->nominal);
    if (chip != NULL)
        ridge_roofs_of_chip(chip, &out->nominal);
    else
        out->nominal.dram_bytes_per_s = out->device.memory_bytes_per_s;
    return status;
}

/* -- the file that ridge bound --measured reads ------------------------------------------------ */

static void write_rates(ridge_json *json, const ridge_roofs *roofs)
{
    int peak;

    ridge_json_number(json, "dram_bytes_per_s", roofs->dram_bytes_per_s);
    ridge_json_begin_object(json, "flop_per_s");
    for (peak = RIDGE_PEAK_NONE + 1; peak < RIDGE_PEAK_COUNT; peak++)
        if (!isnan(roofs->flop_per_s[peak]))
            ridge_json_number(json, ridge_peak_name((ridge_peak)peak), roofs->flop_per_s[peak]);
    ridge_json_end_object(json);
}

static void write_source(ridge_json *json, const struct answer *answer)
{
    char text[120];

    snprintf(text, sizeof(text), "ridge bench --roofs%s%s",
             answer->device.driver[0] != '\0' ? ", driver " : "", answer->device.driver);
    ridge_json_text(json, "gpu", answer->measured.name);
    ridge_json_text(json, "source", text);
}

static void write_file(ridge_output *output, const void *context)
{
    const struct answer *const answer = context;
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-roofs/1");
    write_source(json, answer);
    write_rates(json, &answer->measured);
    ridge_json_number(json, "launch_s", answer->measured.launch_s);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- for people and programs ------------------------------------------------------------------- */

static void write_json(ridge_output *output, const struct answer *answer)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-bench-roofs/1");
    write_source(json, answer);
    ridge_json_begin_object(json, "measured");
    write_rates(json, &answer->measured);
    ridge_json_end_object(json);
    ridge_json_begin_object(json, "nominal");
    write_rates(json, &answer->nominal);
    ridge_json_end_object(json);
    ridge_json_begin_object(json, "floors");
    ridge_json_number(json, "event_ns", answer->floors.event_ns);
    ridge_json_number(json, "kernel_ns", answer->floors.kernel_ns);
    ridge_json_number(json, "graph_ns", answer->floors.graph_ns);
    ridge_json_end_object(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static void add_row(ridge_table *table, const char *name, ridge_unit unit, double measured,
                    double nominal)
{
    char text[48];

    if (isnan(measured) && isnan(nominal))
        return;
    ridge_table_text(table, name);
    ridge_table_text(table, ridge_number_text(measured, unit, text, sizeof(text)));
    ridge_table_text(table, ridge_number_text(nominal, unit, text, sizeof(text)));
    ridge_table_number(table, measured / nominal);
}

static void write_text(ridge_output *output, const struct answer *answer)
{
    static const ridge_column columns[] = {
        {"roof", "Roof", RIDGE_UNIT_NONE, true, 0, 0},
        {"measured", "Measured", RIDGE_UNIT_NONE, true, 0, 0},
        {"nominal", "Nominal", RIDGE_UNIT_NONE, true, 0, 0},
        {"share", "Of nominal", RIDGE_UNIT_FRAC, false, 0, 0},
    };
    const struct {
        const char *name;
        double ns;
    } floors[] = {
        {"two events", answer->floors.event_ns},
        {"an empty kernel", answer->floors.kernel_ns},
        {"one of a graph", answer->floors.graph_ns},
    };
    ridge_table *table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    char text[48];
    size_t i;
    int peak;

    ridge_output_styled(output, RIDGE_STYLE_STRONG, answer->measured.name);
    ridge_output_text(output, "\n");
    add_row(table, "bandwidth", RIDGE_UNIT_BYTES_PER_S, answer->measured.dram_bytes_per_s,
            answer->nominal.dram_bytes_per_s);
    for (peak = RIDGE_PEAK_NONE + 1; peak < RIDGE_PEAK_COUNT; peak++)
        add_row(table, ridge_peak_name((ridge_peak)peak), RIDGE_UNIT_FLOP_PER_S,
                answer->measured.flop_per_s[peak], answer->nominal.flop_per_s[peak]);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    ridge_output_text(output, "\nfloors");
    for (i = 0; i < sizeof(floors) / sizeof(floors[0]); i++)
        if (isfinite(floors[i].ns))
            ridge_output_format(output, "%s %s %s", i == 0 ? " " : ",", floors[i].name,
                                ridge_number_text(floors[i].ns, RIDGE_UNIT_NS, text, sizeof(text)));
    ridge_output_text(output, "\n");
}

int bench_roofs(const char *device, const char *save_path, bool force, const struct cli_output *out)
{
    struct answer answer;
    ridge_output *output;
    ridge_error err;
    int status = save_path != NULL ? cli_check_target(save_path, NULL, force) : CLI_DONE;

    if (status != CLI_DONE)
        return status;
    if (measure(device, &answer, &err) != RIDGE_OK)
        return cli_fail(NULL, &err);
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        write_json(output, &answer);
    else
        write_text(output, &answer);
    status = cli_close(output, CLI_DONE);
    if (status == CLI_DONE && save_path != NULL)
        status = cli_write_output(save_path, write_file, &answer, force);
    return status;
}
