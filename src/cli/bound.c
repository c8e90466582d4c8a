/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound: the least time an operation can take on a chip, before anything is measured.
 *
 * "ridge bound model ..." is bound_model() in bound_model.c, with an option table of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound_cli.h"
#include "bound_model.h"
#include "commands.h"

static const char usage[] = "ridge bound [options] OP NAME=VALUE... [dtype=TYPE]\n"
                            "       ridge bound [options] --bytes SIZE --flop N\n"
                            "       ridge bound [options] --report FILE [OP NAME=VALUE...]\n"
                            "       ridge bound [OP]\n"
                            "       ridge bound model [options] CONFIG.JSON";

/* What the options say, before any of it is understood. */
struct given {
    const char *gpus, *measured, *dtype;
    struct gpu_choice gpu; /* of --gpu-file */
    struct bound_rates rates;
    uint64_t bytes;
    double flop_count;
    const char *svg;
    bool plot, force;
    struct bound_report_request report;
};

/* -- operation, parameters, type --------------------------------------------------------------- */

/* What other libraries call an operation. */
static const char *other_name(const char *name)
{
    static const struct {
        const char *name, *operation;
    } names[] = {
        {"matmul", "gemm"},
        {"mm", "gemm"},
        {"bmm", "gemm"},
        {"linear", "gemm"},
        {"hgemm", "gemm"},
        {"sgemm", "gemm"},
        {"layernorm", "rms_norm"},
        {"layer_norm", "rms_norm"},
        {"flash_attention", "attention"},
        {"flash_attn", "attention"},
        {"sdpa", "attention"},
        {"mha", "attention"},
        {"rope", "rotary"},
        {"swiglu", "silu_and_mul"},
        {"silu", "silu_and_mul"},
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].operation;
    return NULL;
}

static int find_operation(struct bound_request *request, char *name)
{
    char *const slash = strchr(name, '/');
    const char *nearest;

    if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".json") == 0)
        return cli_usage_error("'%s' is no operation; the kernels of a model: ridge bound model %s",
                               name, name);
    if (slash != NULL) {
        *slash = '\0';
        request->kernel = slash + 1;
    }
    request->operation = ridge_operation_find(name);
    if (request->operation != NULL)
        return CLI_DONE;
    nearest = other_name(name);
    if (nearest == NULL)
        nearest = options_nearest(name, cli_operation_names());
    if (strcmp(name, "model") == 0)
        return cli_usage_error("'model' stands before the options: ridge bound model CONFIG.JSON");
    if (strchr(name, '=') != NULL)
        return cli_usage_error("expected an operation before '%s', ridge bound lists them", name);
    if (nearest != NULL)
        return cli_usage_error("unknown operation '%s', did you mean '%s'?", name, nearest);
    return cli_usage_error("unknown operation '%s', ridge bound lists them", name);
}

/* "bf16" or "bf16,fp8" */
static int read_types(struct bound_request *request, const char *text)
{
    char name[24];

    if (request->element_count > 0)
        return cli_usage_error("dtype is given twice");
    for (;;) {
        const size_t length = strcspn(text, ",");
        ridge_element *const element = &request->elements[request->element_count];

        snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name)),
                 text);
        if (!ridge_element_find(name, element))
            return cli_usage_error("unknown type '%s', there are" RIDGE_ELEMENT_NAMES, name);
        request->element_count++;
        if (text[length] == '\0')
            return CLI_DONE;
        if (request->element_count == RIDGE_ELEMENT_COUNT)
            return cli_usage_error("more than %d types", RIDGE_ELEMENT_COUNT);
        text += length + 1;
    }
}

/* The parameter that a misspelled one is near; NULL: none. */
static const char *nearest_parameter(const ridge_operation *operation, const char *text)
{
    const char *names[RIDGE_OPERATION_PARAMETERS + 1];
    char word[24];
    size_t index, i;

    for (i = 0; i < operation->parameter_count; i++)
        names[i] = operation->parameters[i].name;
    names[i] = NULL;
    if (strcspn(text, "=") < 2 || strcspn(text, "=") >= sizeof(word)) /* any letter is near one */
        return NULL;
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, "="), text);
    return ridge_operation_parameter(operation, word, &index) ? NULL : options_nearest(word, names);
}

static int read_parameter(struct bound_request *request, const char *text)
{
    ridge_sweep *const sweep = &request->sweeps[request->sweep_count];
    ridge_error err;
    size_t i;

    if (strncmp(text, "dtype=", 6) == 0)
        return read_types(request, text + 6);
    if (request->sweep_count == RIDGE_OPERATION_PARAMETERS)
        return cli_usage_error("more than %d parameters", RIDGE_OPERATION_PARAMETERS);
    if (ridge_sweep_parse(request->operation, text, strlen(text), sweep, &err) != RIDGE_OK) {
        const char *const nearest = nearest_parameter(request->operation, text);

        return nearest != NULL ? cli_usage_error("%s; did you mean '%s'?", err.text, nearest)
                               : cli_usage_error("%s", err.text);
    }
    for (i = 0; i < request->sweep_count; i++)
        if (request->sweeps[i].parameter == sweep->parameter)
            return cli_usage_error("%s is given twice",
                                   request->operation->parameters[sweep->parameter].name);
    request->sweep_count++;
    return CLI_DONE;
}

static int read_arguments(struct bound_request *request, int argc, char **argv)
{
    int status = CLI_DONE;
    int i;

    if (argc > 1)
        status = find_operation(request, argv[1]);
    for (i = 2; i < argc && status == CLI_DONE; i++)
        status = read_parameter(request, argv[i]);
    return status;
}

/* -- chips and roofs --------------------------------------------------------------------------- */

/* A chip by name, or the one of a file. */
static int add_chip(struct bound_request *request, const char *name, const char *file)
{
    struct gpu_choice gpu = {.name = name, .file = file};
    struct bound_chip *const chip = &request->chips[request->chip_count];
    int status;

    if (request->chip_count == BOUND_CHIPS)
        return cli_usage_error("more than %d chips", BOUND_CHIPS);
    status = cli_find_chip(&gpu);
    if (status == CLI_DONE) {
        snprintf(chip->id, sizeof(chip->id), "%s", gpu.chip->id);
        ridge_roofs_of_chip(gpu.chip, &chip->nominal);
        request->chip_count++;
    }
    cli_release_chip(&gpu);
    return status;
}

static int add_chips(struct bound_request *request, const char *names)
{
    char name[64];
    int status = CLI_DONE;

    while (status == CLI_DONE) {
        const size_t length = strcspn(names, ",");

        snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name)),
                 names);
        status = add_chip(request, name, NULL);
        if (names[length] == '\0')
            break;
        names += length + 1;
    }
    return status;
}

/* A chip of which only what the options say is known. */
static struct bound_chip *add_nameless(struct bound_request *request, const char *name)
{
    struct bound_chip *const chip = &request->chips[request->chip_count++];

    ridge_roofs_init(&chip->nominal);
    snprintf(chip->nominal.name, sizeof(chip->nominal.name), "%s", name);
    return chip;
}

bool bound_is_measured_on(const ridge_roofs *measured, const char *chip_name)
{
    const ridge_chip *const of = ridge_chip_find(measured->name);

    return measured->name[0] == '\0' || strcmp(measured->name, chip_name) == 0 ||
           (of != NULL && strcmp(of->name, chip_name) == 0);
}

/* The measured roofs, to the chip they are of. */
static int attach_measured(struct bound_request *request, const char *path)
{
    const ridge_chip *of;
    ridge_roofs roofs;
    ridge_error err;
    const size_t given_count = request->chip_count;
    size_t attached = 0, i;

    if (ridge_roofs_read(path, &roofs, &err) != RIDGE_OK)
        return cli_fail(path, &err);
    of = roofs.name[0] != '\0' ? ridge_chip_find(roofs.name) : NULL;
    if (request->chip_count == 0 && of != NULL) {
        const int status = add_chip(request, of->id, NULL);

        if (status != CLI_DONE)
            return status;
    }
    request->is_measured_chip = given_count == 0 && of != NULL;
    if (request->chip_count == 0)
        add_nameless(request, roofs.name[0] != '\0' ? roofs.name : "measured chip");
    for (i = 0; i < request->chip_count; i++) {
        struct bound_chip *const chip = &request->chips[i];

        if (!bound_is_measured_on(&roofs, chip->nominal.name))
            continue;
        chip->measured = roofs;
        memcpy(chip->measured.name, chip->nominal.name, sizeof(chip->measured.name));
        chip->has_measured = true;
        attached++;
    }
    if (attached > 0)
        return CLI_DONE;
    cli_message(path, "was measured on %s, which is not the chip of --gpu", roofs.name);
    return CLI_USAGE;
}

int bound_read_rates(const struct bound_rates *rates, double *bytes_per_s, double *flop_per_s)
{
    *bytes_per_s = NAN;
    *flop_per_s = NAN;
    if (rates->bandwidth != NULL && !options_rate(rates->bandwidth, "B/s", bytes_per_s))
        return cli_usage_error("--bandwidth needs a rate with its unit, such as 2.0TB/s, not '%s'",
                               rates->bandwidth);
    if (rates->peak != NULL && !options_rate(rates->peak, "FLOP/s", flop_per_s))
        return cli_usage_error("--peak needs a rate with its unit, such as 312TFLOP/s, not '%s'",
                               rates->peak);
    return CLI_DONE;
}

static void put_rates(const struct bound_request *request, double bytes_per_s, double flop_per_s,
                      ridge_roofs *roofs)
{
    size_t i;

    if (!isnan(bytes_per_s))
        roofs->dram_bytes_per_s = bytes_per_s;
    for (i = 0; i < request->element_count && !isnan(flop_per_s); i++)
        if (ridge_peak_of_element(request->elements[i]) != RIDGE_PEAK_NONE)
            roofs->flop_per_s[ridge_peak_of_element(request->elements[i])] = flop_per_s;
}

/* --bandwidth and --peak stand before nominal and measured roofs; the peak is that of the types'
 * unit. */
static int override(struct bound_request *request, const struct given *given)
{
    double bytes_per_s, flop_per_s;
    const int status = bound_read_rates(&given->rates, &bytes_per_s, &flop_per_s);
    size_t i;

    if (status != CLI_DONE || (isnan(bytes_per_s) && isnan(flop_per_s)))
        return status;
    if (request->chip_count == 0)
        add_nameless(request, "roofs as given");
    for (i = 0; i < request->chip_count; i++) {
        put_rates(request, bytes_per_s, flop_per_s, &request->chips[i].nominal);
        if (request->chips[i].has_measured)
            put_rates(request, bytes_per_s, flop_per_s, &request->chips[i].measured);
    }
    return CLI_DONE;
}

/* What was not measured is taken as sold, or a bound would miss a roof. */
static void fill_unmeasured(struct bound_chip *chip)
{
    size_t i;

    if (isnan(chip->measured.dram_bytes_per_s)) {
        chip->measured.dram_bytes_per_s = chip->nominal.dram_bytes_per_s;
        chip->is_nominal_bandwidth = true;
    }
    for (i = 0; i < RIDGE_PEAK_COUNT; i++) {
        if (isnan(chip->measured.flop_per_s[i])) {
            chip->measured.flop_per_s[i] = chip->nominal.flop_per_s[i];
            chip->is_nominal_peak[i] = true;
        }
    }
}

static int read_roofs(struct bound_request *request, const struct given *given)
{
    int status = CLI_DONE;
    size_t i;

    if (given->gpus != NULL)
        status = add_chips(request, given->gpus);
    if (status == CLI_DONE && given->gpu.file != NULL)
        status = add_chip(request, NULL, given->gpu.file);
    if (status == CLI_DONE && given->measured != NULL)
        status = attach_measured(request, given->measured);
    if (status == CLI_DONE)
        status = override(request, given);
    for (i = 0; i < request->chip_count && status == CLI_DONE; i++)
        if (request->chips[i].has_measured)
            fill_unmeasured(&request->chips[i]);
    return status;
}

/* -- the command ------------------------------------------------------------------------------- */

static int check_combination(const struct bound_request *request, const struct given *given)
{
    const bool has_work = given->bytes != UINT64_MAX || !isnan(given->flop_count);

    if (request->operation != NULL && has_work)
        return cli_usage_error("--bytes and --flop stand for an operation, not beside %s",
                               request->operation->name);
    if (has_work && (given->bytes == 0 || given->bytes == UINT64_MAX) && !(given->flop_count > 0))
        return cli_usage_error("neither bytes nor FLOP: no work has no bound");
    if (request->operation == NULL && !has_work && given->report.path == NULL)
        return cli_usage_error("expected an operation, --bytes and --flop, or --report");
    if (given->report.path != NULL && has_work)
        return cli_usage_error("--bytes and --flop do not go with --report: name an operation");
    if (given->report.path == NULL &&
        (given->report.filter.pattern != NULL || given->report.filter.launch != OPTION_UNSET))
        return cli_usage_error("--kernel and --launch need --report");
    if (given->force && given->svg == NULL)
        return cli_usage_error("--force needs --svg");
    if ((given->svg != NULL || given->plot) && request->chip_count == 0 &&
        given->report.path == NULL)
        return cli_usage_error("a roofline needs roofs: --gpu, --bandwidth and --peak, or "
                               "--measured");
    if ((given->svg != NULL || given->plot) && request->chip_count > RIDGE_ROOFLINE_CHIPS)
        return cli_usage_error("a roofline shows at most %d chips, %zu are given",
                               RIDGE_ROOFLINE_CHIPS, request->chip_count);
    return given->svg != NULL ? cli_check_target(given->svg, NULL, given->force) : CLI_DONE;
}

static int print_bounds(struct bound_request *request, const struct given *given,
                        const struct cli_output *out)
{
    struct bound_picture picture;
    ridge_output *output;
    int status = bound_make_rows(request);

    if (status != CLI_DONE)
        return status;
    if (given->plot && out->format != RIDGE_FORMAT_TEXT)
        return cli_usage_error("--plot is text: it does not go with another format");
    if (given->plot || given->svg != NULL) {
        bound_begin_picture(request->chips, request->chip_count, &picture);
        bound_add_least(request, &picture);
    }
    /* Before the text: what fails is found before anything is said. */
    if (given->svg != NULL)
        status = bound_write_svg(&picture, given->svg, given->force);
    if (status != CLI_DONE)
        return status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        bound_print_json(request, output);
    else if (out->format == RIDGE_FORMAT_TEXT)
        bound_print_text(request, output);
    else
        bound_print_table(request, out->format, output);
    if (given->plot)
        bound_plot(&picture, output);
    return cli_close(output, CLI_DONE);
}

static int describe(const struct bound_request *request, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);

    if (request->operation != NULL)
        bound_print_operation(request->operation, out->format, output);
    else
        bound_print_operations(out->format, output);
    return cli_close(output, CLI_DONE);
}

/* "ridge bound" and "ridge bound OP" ask what there is. */
static bool asks_what_there_is(const struct bound_request *request, const struct given *given,
                               int argc)
{
    if (argc > 2 || given->report.path != NULL)
        return false;
    return request->operation != NULL ||
           (given->bytes == UINT64_MAX && isnan(given->flop_count) && given->gpus == NULL &&
            given->gpu.file == NULL && given->measured == NULL);
}

static int bound(struct bound_request *request, const struct given *given, int argc, char **argv,
                 const struct cli_output *out)
{
    int status = read_arguments(request, argc, argv);

    if (status != CLI_DONE)
        return status;
    if (asks_what_there_is(request, given, argc))
        return describe(request, out);
    if (given->dtype != NULL)
        status = read_types(request, given->dtype);
    if (request->element_count == 0)
        request->elements[request->element_count++] = RIDGE_ELEMENT_BF16;
    if (status == CLI_DONE)
        status = read_roofs(request, given);
    if (status == CLI_DONE)
        status = check_combination(request, given);
    if (status != CLI_DONE)
        return status;
    request->bytes = given->bytes != UINT64_MAX ? (double)given->bytes : (double)NAN;
    request->flop_count = given->flop_count;
    if (given->report.path != NULL)
        return bound_report(&given->report, request, given->svg, given->plot, given->force, out);
    return print_bounds(request, given, out);
}

int cmd_bound(int argc, char **argv)
{
    struct cli_output out = {0};
    struct given given = {
        .bytes = UINT64_MAX, .flop_count = NAN, .report = {NULL, KERNEL_FILTER_ALL}};
    struct bound_request *request;
    const struct option options[] = {
        OPT_WORDS(0, "gpu", &given.gpus, "NAME,...", cli_chip_ids(),
                  "the chips: h200, a100, \"NVIDIA H200\" (ridge gpus lists them)"),
        OPT_GPU_FILE(&given.gpu),
        OPT_RATES(&given.rates),
        OPT_STRING(0, "measured", &given.measured, "FILE",
                   "also against roofs measured on the machine (JSON)"),
        OPT_SIZE(0, "bytes", &given.bytes, "bytes that the work moves at least, no operation"),
        OPT_NUMBER(0, "flop", &given.flop_count, "N", "floating-point operations of the work"),
        OPT_STRING(0, "dtype", &given.dtype, "TYPE,...", "type of the tensors instead of bf16"),
        OPT_STRING(0, "report", &given.report.path, "FILE",
                   "kernels of a profile under the roofs; with OP against the least work"),
        OPT_KERNELS(&given.report.filter),
        OPT_FLAG(0, "plot", &given.plot, "draw the roofline in the terminal"),
        OPT_STRING(0, "svg", &given.svg, "FILE", "draw the roofline into a new file"),
        OPT_FLAG('f', "force", &given.force, "replace FILE of --svg when it exists"),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (argc > 1 && strcmp(argv[1], "model") == 0)
        return bound_model(argc - 1, argv + 1);
    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    request = calloc(1, sizeof(*request));
    if (request == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    status = bound(request, &given, argc, argv, &out);
    free(request->rows);
    free(request);
    return status;
}
