/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge gpus: the chips that ridge knows, or everything about one, each number with its source. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "ridge/occupancy.h"

static const char usage[] = "ridge gpus [options] [NAME]";

enum { LABEL_COLUMNS = 24, MOST_CHIPS = 64 };

static bool is_peak(ridge_chip_field field)
{
    return RIDGE_CHIP_FP64 <= field && field <= RIDGE_CHIP_FP4;
}

/* The order in which people read the fields. */
static const ridge_chip_field reading_order[RIDGE_CHIP_FIELD_COUNT] = {
    RIDGE_CHIP_SM_COUNT, RIDGE_CHIP_SM_CLOCK, RIDGE_CHIP_BASE_CLOCK,  RIDGE_CHIP_TENSOR_CLOCK,
    RIDGE_CHIP_L2,       RIDGE_CHIP_DRAM,     RIDGE_CHIP_BUS,         RIDGE_CHIP_BANDWIDTH,
    RIDGE_CHIP_FP64,     RIDGE_CHIP_FP32,     RIDGE_CHIP_FP64_TENSOR, RIDGE_CHIP_TF32,
    RIDGE_CHIP_FP16,     RIDGE_CHIP_BF16,     RIDGE_CHIP_FP8,         RIDGE_CHIP_INT8,
    RIDGE_CHIP_FP4,
};

static const char *capability(const ridge_chip *chip, char *buffer, size_t size)
{
    snprintf(buffer, size, "%d.%d", chip->arch->major, chip->arch->minor);
    return buffer;
}

/* -- the list ---------------------------------------------------------------------------------- */

/* What people see of a chip, in the units of data sheets so that a row fits a line. */
static const struct list_column {
    ridge_chip_field field;
    double unit;
    ridge_column column;
} list_columns[] = {
    {RIDGE_CHIP_SM_COUNT, 1, {"sm_count", "SMs", RIDGE_UNIT_NONE, false, 0, 0}},
    {RIDGE_CHIP_SM_CLOCK, 1e6, {"sm_clock_hz", "MHz", RIDGE_UNIT_NONE, false, 0, 3}},
    {RIDGE_CHIP_DRAM, 0x1p30, {"dram_bytes", "GiB", RIDGE_UNIT_NONE, false, 0, 4}},
    {RIDGE_CHIP_BANDWIDTH, 1e9, {"dram_bytes_per_s", "GB/s", RIDGE_UNIT_NONE, false, 0, 0}},
    {RIDGE_CHIP_BF16, 1e12, {"bf16_flop_per_s", "bf16 TFLOP/s", RIDGE_UNIT_NONE, false, 0, 1}},
    {RIDGE_CHIP_FP8, 1e12, {"fp8_flop_per_s", "fp8 TFLOP/s", RIDGE_UNIT_NONE, false, 0, 2}},
};

static const ridge_column name_columns[] = {
    {"id", "Id", RIDGE_UNIT_NONE, true, 0, 0},
    {"name", "Name", RIDGE_UNIT_NONE, true, 14, 5},
    {"compute_capability", "CC", RIDGE_UNIT_NONE, true, 0, 0},
};

enum {
    NAME_COLUMNS = sizeof(name_columns) / sizeof(name_columns[0]),
    LIST_COLUMNS = sizeof(list_columns) / sizeof(list_columns[0])
};

/* Programs get every number, in base units. */
static size_t columns_of(ridge_format format, struct list_column *columns)
{
    size_t i;

    if (format == RIDGE_FORMAT_TEXT || format == RIDGE_FORMAT_MARKDOWN) {
        memcpy(columns, list_columns, sizeof(list_columns));
        return LIST_COLUMNS;
    }
    for (i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++) {
        const ridge_chip_field_info *const info = ridge_chip_field_at((ridge_chip_field)i);

        columns[i] =
            (struct list_column){(ridge_chip_field)i, 1, {.key = info->key, .title = info->title}};
    }
    return RIDGE_CHIP_FIELD_COUNT;
}

static int print_list(const ridge_chip *const *chips, size_t chip_count,
                      const struct cli_output *out)
{
    struct list_column fields[RIDGE_CHIP_FIELD_COUNT];
    ridge_column columns[NAME_COLUMNS + RIDGE_CHIP_FIELD_COUNT];
    const size_t field_count = columns_of(out->format, fields);
    ridge_output *const output = cli_open(out);
    ridge_table *table;
    ridge_json *json = NULL;
    size_t row, i;

    memcpy(columns, name_columns, sizeof(name_columns));
    for (i = 0; i < field_count; i++)
        columns[NAME_COLUMNS + i] = fields[i].column;
    table = ridge_table_create(columns, NAME_COLUMNS + field_count);
    for (row = 0; row < chip_count; row++) {
        char cc[16];

        ridge_table_text(table, chips[row]->id);
        ridge_table_text(table, chips[row]->name);
        ridge_table_text(table, capability(chips[row], cc, sizeof(cc)));
        for (i = 0; i < field_count; i++)
            ridge_table_number(table,
                               ridge_chip_value(chips[row], fields[i].field) / fields[i].unit);
    }
    if (out->format == RIDGE_FORMAT_JSON) {
        json = ridge_json_create(output);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-gpus/1");
    }
    ridge_table_write(table, out->format, output, json, "gpus");
    ridge_json_end_object(json);
    ridge_json_free(json);
    ridge_table_free(table);
    return cli_close(output, CLI_DONE);
}

/* -- one chip ---------------------------------------------------------------------------------- */

/* A number with its ridge point and source: one row for each that is known or of which it is known
 * why not. A clock at which tensor peaks are quoted stands only where there is one. */
static ridge_table *numbers_table(const ridge_chip *chip)
{
    static const ridge_column columns[] = {
        {"title", "Number", RIDGE_UNIT_NONE, true, 0, 0},
        {"value", "Value", RIDGE_UNIT_NONE, false, 0, 0},
        {"flop_per_byte", "FLOP/byte", RIDGE_UNIT_NONE, false, 0, 1},
        {"source", "Source", RIDGE_UNIT_NONE, true, 20, 2},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++) {
        const ridge_chip_field field = reading_order[i];
        const ridge_chip_field_info *const info = ridge_chip_field_at(field);
        const double value = ridge_chip_value(chip, field);
        const char *const reason = ridge_chip_unknown_of(chip, field);
        const char *const source = ridge_chip_source_of(chip, field);
        char text[32], ratio[32] = "";

        if (field == RIDGE_CHIP_TENSOR_CLOCK && isnan(value))
            continue;
        if (is_peak(field))
            ridge_number_text(ridge_chip_flop_per_byte(chip, field), RIDGE_UNIT_NONE, ratio,
                              sizeof(ratio));
        ridge_table_text(table, info->title);
        ridge_table_text(table,
                         ridge_number_text(value, (ridge_unit)info->unit, text, sizeof(text)));
        ridge_table_text(table, ratio);
        ridge_table_text(table, reason != NULL ? reason : source != NULL ? source : "");
    }
    return table;
}

static void write_number(ridge_output *output, const char *label, double value, ridge_unit unit,
                         const char *rest)
{
    char number[32], text[160];

    if (isnan(value))
        return;
    snprintf(text, sizeof(text), "%s%s", ridge_number_text(value, unit, number, sizeof(number)),
             rest);
    cli_labelled(output, LABEL_COLUMNS, label, text);
}

static void write_derived(ridge_output *output, const ridge_chip *chip)
{
    ridge_in_flight flight;
    char low[32], high[32], text[160];

    ridge_in_flight_of(chip, 0, 0, 0, &flight);
    write_number(output, "memory bytes", ridge_chip_dram_bytes_per_cycle(chip), RIDGE_UNIT_NONE,
                 " a cycle and SM");
    write_number(output, "shared memory", ridge_chip_shared_bytes_per_s(chip),
                 RIDGE_UNIT_BYTES_PER_S, ", 128 bytes a cycle and SM");
    if (isnan(flight.needed_high_bytes))
        return;
    snprintf(
        text, sizeof(text), "%s to %s bytes an SM keep device memory busy (600 to 800 cycles)",
        ridge_number_text(round(flight.needed_low_bytes), RIDGE_UNIT_COUNT, low, sizeof(low)),
        ridge_number_text(round(flight.needed_high_bytes), RIDGE_UNIT_COUNT, high, sizeof(high)));
    cli_labelled(output, LABEL_COLUMNS, "in flight", text);
}

/* A number with its thousands apart; each in an expression needs a buffer of its own. */
static const char *count_text(int value, char buffer[32])
{
    return ridge_number_text(value, RIDGE_UNIT_COUNT, buffer, 32);
}

/* What an SM of the compute capability holds. */
static void write_arch(ridge_output *output, const ridge_arch *arch)
{
    char a[32], b[32], c[32], text[400];
    size_t i;

    snprintf(text, sizeof(text),
             "%d warps, %d blocks, %s registers (%d a thread), %s threads a block",
             arch->warps_per_sm, arch->blocks_per_sm, count_text(arch->registers_per_sm, a),
             arch->registers_per_thread, count_text(arch->threads_per_block, b));
    if (arch->barriers_per_sm > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %d named barriers",
                 arch->barriers_per_sm);
    if (arch->cluster_blocks > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 ", clusters of %d (%d where a kernel asks for it)", arch->portable_cluster,
                 arch->cluster_blocks);
    cli_labelled(output, LABEL_COLUMNS, "an SM holds", text);
    snprintf(text, sizeof(text), "%s bytes, %s a block", count_text(arch->shared_per_sm_bytes, a),
             count_text(arch->shared_per_block_bytes, b));
    if (arch->shared_reserved_bytes > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " and %s for the driver",
                 count_text(arch->shared_reserved_bytes, c));
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             ", in units of %d; configurations of", arch->shared_unit_bytes);
    for (i = 0; i < arch->carveout_count && arch->carveouts_bytes[i] <= arch->shared_per_sm_bytes;
         i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d",
                 arch->carveouts_bytes[i] / 1024);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), " KiB");
    cli_labelled(output, LABEL_COLUMNS, "its shared memory", text);
}

static void write_aliases(ridge_output *output, const ridge_chip *chip)
{
    char text[256] = "";
    size_t i;

    for (i = 0; i < ridge_chip_alias_count(); i++) {
        const ridge_chip_alias *const alias = ridge_chip_alias_at(i);

        if (strcmp(alias->id, chip->id) == 0 && strchr(alias->name, '*') == NULL)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     text[0] != '\0' ? ", " : "", alias->name);
    }
    if (text[0] != '\0')
        cli_labelled(output, LABEL_COLUMNS, "also called", text);
}

static void write_chip(ridge_output *output, const ridge_chip *chip, bool is_bare)
{
    char heading[160];
    ridge_table *table;

    snprintf(heading, sizeof(heading), "%s: %s, compute capability %d.%d%s%s", chip->id,
             is_bare ? chip->arch->family : chip->name, chip->arch->major, chip->arch->minor,
             chip->dram_type != NULL ? ", " : "", chip->dram_type != NULL ? chip->dram_type : "");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, heading);
    ridge_output_text(output, "\n");
    write_aliases(output, chip);
    if (chip->remark != NULL)
        cli_labelled(output, LABEL_COLUMNS, "remark", chip->remark);
    write_arch(output, chip->arch);
    write_derived(output, chip);
    if (is_bare)
        return;
    ridge_output_text(output, "\n");
    table = numbers_table(chip);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* -- JSON: what --gpu-file reads --------------------------------------------------------------- */

static void json_arch(ridge_json *json, const ridge_arch *arch)
{
    size_t i;

    ridge_json_begin_object(json, "arch");
    ridge_json_text(json, "family", arch->family);
    ridge_json_text(json, "sm", arch->sm);
    for (i = 0; i < ridge_arch_limit_count(); i++)
        ridge_json_integer(json, ridge_arch_limit_at(i)->key, ridge_arch_limit(arch, i));
    ridge_json_end_object(json);
}

static void json_texts(ridge_json *json, const char *key, const ridge_chip *chip,
                       const char *text_of(const ridge_chip *, ridge_chip_field))
{
    size_t i;

    ridge_json_begin_object(json, key);
    for (i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++) {
        const char *const text = text_of(chip, (ridge_chip_field)i);

        if (text != NULL)
            ridge_json_text(json, ridge_chip_field_at((ridge_chip_field)i)->key, text);
    }
    ridge_json_end_object(json);
}

static void json_derived(ridge_json *json, const ridge_chip *chip)
{
    ridge_in_flight flight;
    size_t i;

    ridge_in_flight_of(chip, 0, 0, 0, &flight);
    ridge_json_begin_object(json, "derived");
    ridge_json_begin_object(json, "flop_per_byte");
    for (i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++)
        if (is_peak((ridge_chip_field)i))
            ridge_json_number(json, ridge_chip_field_at((ridge_chip_field)i)->title,
                              ridge_chip_flop_per_byte(chip, (ridge_chip_field)i));
    ridge_json_end_object(json);
    ridge_json_number(json, "dram_bytes_per_cycle", ridge_chip_dram_bytes_per_cycle(chip));
    ridge_json_number(json, "shared_bytes_per_s", ridge_chip_shared_bytes_per_s(chip));
    ridge_json_number(json, "needed_low_bytes", flight.needed_low_bytes);
    ridge_json_number(json, "needed_high_bytes", flight.needed_high_bytes);
    ridge_json_end_object(json);
}

static void write_json(ridge_output *output, const ridge_chip *chip)
{
    ridge_json *const json = ridge_json_create(output);
    char cc[16];
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-chip/1");
    ridge_json_text(json, "id", chip->id);
    ridge_json_text(json, "name", chip->name);
    ridge_json_text(json, "compute_capability", capability(chip, cc, sizeof(cc)));
    for (i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++)
        ridge_json_number(json, ridge_chip_field_at((ridge_chip_field)i)->key,
                          ridge_chip_value(chip, (ridge_chip_field)i));
    ridge_json_text(json, "dram_type", chip->dram_type);
    ridge_json_text(json, "remark", chip->remark);
    json_arch(json, chip->arch);
    json_texts(json, "sources", chip, ridge_chip_source_of);
    json_texts(json, "unknowns", chip, ridge_chip_unknown_of);
    json_derived(json, chip);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the command ------------------------------------------------------------------------------- */

static int print_chip(const struct gpu_choice *gpu, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);

    if (out->format == RIDGE_FORMAT_JSON)
        write_json(output, gpu->chip);
    else
        write_chip(output, gpu->chip, gpu->chip == &gpu->bare);
    return cli_close(output, CLI_DONE);
}

int cmd_gpus(int argc, char **argv)
{
    struct cli_output out = {0};
    struct gpu_choice gpu = {0};
    const ridge_chip *chips[MOST_CHIPS];
    size_t count = 0;
    const struct option options[] = {
        OPT_GPU_FILE(&gpu),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc > 2)
        return cli_usage_error("expected at most one NAME, got %d", argc - 1);
    if (argc == 2)
        gpu.name = argv[1];
    if (!cli_has_chip(&gpu))
        for (; count < ridge_chip_count() && count < MOST_CHIPS; count++)
            chips[count] = ridge_chip_at(count);
    else if (gpu.name != NULL && ridge_chip_find(gpu.name) == NULL)
        count = ridge_chips_beginning(gpu.name, chips, MOST_CHIPS);
    if (count > 0)
        return print_list(chips, count < MOST_CHIPS ? count : MOST_CHIPS, &out);
    status = cli_find_chip(&gpu);
    if (status == CLI_DONE &&
        (out.format == RIDGE_FORMAT_CSV || out.format == RIDGE_FORMAT_MARKDOWN))
        status = print_list(&gpu.chip, 1, &out);
    else if (status == CLI_DONE)
        status = print_chip(&gpu, &out);
    cli_release_chip(&gpu);
    return status;
}
