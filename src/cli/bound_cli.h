/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside ridge bound. bound.c reads the command line, bound_rows.c makes rows of it (a row is one
 * kernel with one set of parameters on one chip), bound_report.c compares them with a profile, and
 * bound_print.c prints. */
#ifndef RIDGE_CLI_BOUND_CLI_H
#define RIDGE_CLI_BOUND_CLI_H

#include "options.h"
#include "ridge/bound.h"
#include "ridge/roofline.h"

/* Roofs as given, which stand before the chip's. */
struct bound_rates {
    const char *bandwidth, *peak; /* as typed; NULL: not given */
};
#define OPT_RATES(rates)                                                                           \
    OPT_STRING(0, "bandwidth", &(rates)->bandwidth, "RATE",                                        \
               "of device memory instead of the chip's: 2.0TB/s"),                                 \
        OPT_STRING(0, "peak", &(rates)->peak, "RATE",                                              \
                   "of the unit that multiplies dtype, instead of the chip's: 312TFLOP/s")
/* NAN for what is not given. Returns 0, or an exit status after a message. */
int bound_read_rates(const struct bound_rates *rates, double *bytes_per_s, double *flop_per_s);

/* Whether roofs were measured on the chip of that name; roofs that name none are of any. */
bool bound_is_measured_on(const ridge_roofs *measured, const char *chip_name);

/* "memory", "bf16 tensor", "launch", "n/a"; for JSON "memory", "compute", "launch", NULL. */
const char *bound_by_text(const ridge_bound *bound, const ridge_work *work);
const char *bound_by_word(const ridge_bound *bound);

enum { BOUND_CHIPS = 16, BOUND_ROWS = 4096 };

/* One chip with its roofs: as sold or as given, and as measured. */
struct bound_chip {
    char id[64]; /* "h200"; "" when there is none, as with --bandwidth alone */
    ridge_roofs nominal, measured;
    bool has_measured;
    /* Roofs that were not measured are nominal in both. */
    bool is_nominal_bandwidth, is_nominal_peak[RIDGE_PEAK_COUNT];
};

struct bound_row {
    size_t chip; /* index into chips */
    double values[RIDGE_OPERATION_PARAMETERS];
    ridge_element element;
    ridge_work work;
    ridge_bound nominal, measured; /* measured: only where the chip has it */
};

/* What the command line asks for. */
struct bound_request {
    const ridge_operation *operation; /* NULL: --bytes and --flop, or a report alone */
    const char *kernel;               /* of an operation with several; NULL: all */
    ridge_sweep sweeps[RIDGE_OPERATION_PARAMETERS];
    size_t sweep_count;
    ridge_element elements[RIDGE_ELEMENT_COUNT];
    size_t element_count;
    double bytes, flop_count; /* NAN: not given */
    struct bound_chip chips[BOUND_CHIPS];
    size_t chip_count;     /* 0: only the work can be told */
    bool is_measured_chip; /* the one chip is that of --measured, nobody named it */
    struct bound_row *rows;
    size_t row_count;
    size_t work_count; /* kernels of one call: so many rows belong together */
};

/* Fills the rows; freed by the caller with free(). Returns 0 or an exit status after a message. */
int bound_make_rows(struct bound_request *request);

/* Against the measured roofs where the chip has them. */
const ridge_bound *bound_of_row(const struct bound_request *request, const struct bound_row *row);

/* Moves two rows of one operation and chip that differ in a parameter and in what bounds them
 * towards each other, until a step of 1 lies between them or there is no value between. */
void bound_find_turn(const struct bound_request *request, size_t parameter,
                     struct bound_row *before, struct bound_row *after);

void bound_print_text(const struct bound_request *request, ridge_output *output);
void bound_print_table(const struct bound_request *request, ridge_format format,
                       ridge_output *output);
void bound_print_json(const struct bound_request *request, ridge_output *output);
/* All operations, or one with its parameters. */
void bound_print_operations(ridge_format format, ridge_output *output);
void bound_print_operation(const ridge_operation *operation, ridge_format format,
                           ridge_output *output);
/* "m=8192 n=6144 k=4096 dtype=bf16": what all rows have in common. */
char *bound_parameters_text(const struct bound_request *request, char *buffer, size_t size);

/* ridge bound --report: kernels of a profile under the roofs, and against the work when rows has
 * one. Returns an exit status. */
struct bound_report_request {
    const char *path;
    struct kernel_filter filter;
};
int bound_report(const struct bound_report_request *report, struct bound_request *request,
                 const char *svg_path, bool plot, bool force, const struct cli_output *out);

/* A roofline with the points that it shows; not to be moved or copied. */
struct bound_picture {
    ridge_roofline roofline;
    ridge_roofline_point points[RIDGE_ROOFLINE_POINTS];
    char labels[RIDGE_ROOFLINE_POINTS][64];
    char title[200];
};

/* The roofs alone. */
void bound_begin_picture(const struct bound_chip *chips, size_t chip_count,
                         struct bound_picture *out);
/* Adds the least of the rows, as far as there is room. */
void bound_add_least(const struct bound_request *request, struct bound_picture *picture);
void bound_plot(const struct bound_picture *picture, ridge_output *output);
/* Returns 0 or an exit status after a message. */
int bound_write_svg(const struct bound_picture *picture, const char *path, bool force);

#endif
