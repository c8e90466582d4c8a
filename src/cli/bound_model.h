/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside ridge bound model. bound_model.c reads the command line and holds each kernel against the
 * roofs, bound_model_print.c prints. */
#ifndef RIDGE_CLI_BOUND_MODEL_H
#define RIDGE_CLI_BOUND_MODEL_H

#include "options.h"
#include "ridge/model.h"

/* One kind of kernel with its bound. */
struct model_row {
    const ridge_model_work *kind;
    double bytes;      /* of one launch */
    ridge_bound bound; /* of one launch */
    double total_s;    /* of all launches of the step */
    double share_frac; /* of the step */
    double saves_s; /* of one launch, were nothing moved for its neighbours and what the products'
                          unit does not do done beside them */
    int64_t per_layer; /* launches in one layer */
    bool begins_layer; /* first row of its kind of layer */
};

enum { MODEL_ROWS = 64 };

struct model_answer {
    const char *path;
    ridge_roofs roofs;
    /* With --measured, what it has not. */
    bool is_nominal_bandwidth, is_nominal_peak[RIDGE_PEAK_COUNT];
    double dram_bytes;  /* of the chip; NAN: unknown */
    int least_parallel; /* GPUs that hold weights and cache, a power of two; 0: none found */
    bool is_decode;
    ridge_model_step step;
    ridge_model_facts facts;
    struct model_row rows[MODEL_ROWS];
    size_t row_count;
    double time_s, saves_s; /* of the step; NAN: a roof is not known */
    double bytes, flop_count;
    int64_t launches;
    double compute_s;    /* of time_s, in kernels that compute bounds */
    double launch_s;     /* and in those that the launch does */
    double tokens_per_s; /* all GPUs together */
};

/* ridge bound model: argv[0] is "model". */
int bound_model(int argc, char **argv);

void bound_model_print_text(const struct model_answer *answer, ridge_output *output);
void bound_model_print_table(const struct model_answer *answer, ridge_format format,
                             ridge_output *output);
void bound_model_print_json(const struct model_answer *answer, ridge_output *output);

#endif
