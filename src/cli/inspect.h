/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of ridge inspect share: the request, the walk over the kernels of the inputs, the
 * rows that are collected on it. */
#ifndef RIDGE_CLI_INSPECT_H
#define RIDGE_CLI_INSPECT_H

#include <regex.h>

#include "options.h"
#include "ridge/image.h"
#include "ridge/mix.h"
#include "ridge/names.h"
#include "ridge/resources.h"

enum {
    INSPECT_NAME_BYTES = 4096, /* for a short name; what is longer is cut */
    INSPECT_ARCH_BYTES = 24,
    INSPECT_TARGETS_MAX = 32
};

/* -- the request ------------------------------------------------------------------------------- */

/* A chip or compute capability of --cover or --require-arch. */
struct inspect_target {
    char name[32]; /* as given */
    ridge_compute compute;
};

struct inspect_request {
    const char *const *paths;
    size_t path_count;

    const char *pattern; /* --kernel */
    regex_t expression;
    const char *arch; /* --arch: "sm_90" takes sm_90 and sm_90a, "sm_90a" that alone */
    bool functions;   /* device functions as well */
    bool all;         /* every row */
    int sort;
    struct cli_output out;

    /* --occupancy and --gpu */
    bool occupancy;
    int block; /* 0: the launch bound of each kernel */
    int dynamic_shared_bytes;
    struct gpu_choice gpu;

    /* Gates; OPTION_UNSET: not asked for. */
    size_t max_registers, max_spill_bytes, max_local_bytes, min_blocks;
    struct inspect_target required[INSPECT_TARGETS_MAX];
    size_t required_count;
    const char *baseline, *write_baseline;
    bool force;

    struct inspect_target cover[INSPECT_TARGETS_MAX];
    size_t cover_count;
    bool cover_jit_fails;

    bool mix, sass, lines, diff;
    const char *manifest; /* name of a kernel; NULL */
};

/* -- the walk ---------------------------------------------------------------------------------- */

/* An entry while it is loaded. */
struct inspect_entry {
    size_t path_index;
    const char *path;
    ridge_image *image;
    const ridge_entry *entry;
    size_t index; /* in the image */
    ridge_loaded loaded;
    char arch[INSPECT_ARCH_BYTES]; /* "sm_90a", "compute_90" */
};

/* What is called on the way; any may be NULL. A status other than RIDGE_OK ends the walk. */
struct inspect_visitor {
    void *context;
    /* For each image, before its entries; a report has one for each module. */
    ridge_status (*image)(void *context, size_t path_index, ridge_image *image, ridge_error *err);
    /* For each entry that --arch takes, also one without code. */
    ridge_status (*entry)(void *context, const struct inspect_entry *entry, ridge_error *err);
    /* For each kernel that --arch and --kernel take, in the order of names; one of both is NULL. */
    ridge_status (*kernel)(void *context, const struct inspect_entry *entry,
                           const ridge_function *function, const ridge_ptx_kernel *ptx,
                           ridge_error *err);
};

/* Walks over everything, one entry loaded at a time. What cannot be read is reported, and the rest
 * is still visited. Returns an exit status. */
int inspect_walk(const struct inspect_request *request, const struct inspect_visitor *visitor);
/* True for a report of Nsight Compute, by its name or its first bytes. */
bool inspect_is_report(const char *path);
/* The name to show, on one line whatever a damaged file has for a name. */
char *inspect_short_name(const char *name, char *buffer, size_t size);
/* True when --kernel takes the name, mangled or short. */
bool inspect_wants_name(const struct inspect_request *request, const char *name);

/* True when --arch takes "sm_90a": sm_90 and 90 take it with or without a letter. */
bool inspect_wants_arch(const struct inspect_request *request, const char *arch);

/* -- rows -------------------------------------------------------------------------------------- */

/* One kernel for one architecture, kept after its entry has gone. */
struct inspect_row {
    char *name;       /* mangled */
    char *short_name; /* as people write it */
    char arch[INSPECT_ARCH_BYTES];
    size_t path_index;
    int sm;
    ridge_target_suffix suffix;
    bool is_ptx;
    bool is_kernel;
    bool is_relocatable;     /* not linked yet */
    ridge_resources numbers; /* name and arch are those above */
    int max_registers;       /* cap given to the compiler; 255: none */
    int max_threads[3];      /* 0: none */
    bool is_required;        /* the block must be max_threads */
    int min_blocks;          /* -1: not recorded */
    int cluster[3], max_cluster;
    int parameter_bytes;
    bool is_recursive;
    /* Of --occupancy, once asked for: threads 0 when no block is known. */
    int threads;
    bool is_elsewhere;  /* the code does not run on the chip of --gpu */
    bool is_over_bound; /* more threads than the launch bound: the launch fails */
    ridge_occupancy fit;
};

/* How many entries of a kind, architecture and packing an input has. */
struct inspect_census {
    char arch[INSPECT_ARCH_BYTES];
    size_t path_index;
    ridge_entry_kind kind;
    size_t entry_count;
    size_t kernel_count;
    uint64_t code_bytes;
    size_t spilling_count, local_count;                          /* kernels */
    int64_t most_registers, most_spill_bytes, most_shared_bytes; /* of a kernel; -1: none known */
};

enum { INSPECT_CENSUS_MAX = 256 }; /* what comes later is one row "other" */

/* Who built the code, and how many entries say the same. */
struct inspect_provenance {
    char text[400];
    size_t entry_count;
};

enum { INSPECT_PROVENANCES = 8 };

struct inspect_rows {
    const struct inspect_request *request;
    struct inspect_row *rows;
    size_t count, capacity;
    struct inspect_census *census; /* by kind, architecture, input */
    size_t census_count, census_capacity;
    struct inspect_provenance provenance[INSPECT_PROVENANCES]; /* the first that were met */
    size_t provenance_count;
    size_t other_provenance_count; /* entries */
    const char **kinds;            /* of each input: "shared library"; NULL: not read */
    size_t zstd_count, entry_count, lto_count, stub_count, debug_count;
    bool is_cuda12; /* some entry was built before CUDA 13 */
};

/* Collects all rows of the inputs, sorted by short name, architecture, input. Relocatable code is
 * left out where the same kernel is there linked, as nvcc keeps both. Returns an exit status;
 * inspect_rows_release() in any case. */
int inspect_collect(const struct inspect_request *request, struct inspect_rows *out);
void inspect_rows_release(struct inspect_rows *rows);

/* The sum over all inputs of the next kind and architecture; *at starts with 0. */
bool inspect_next_census(const struct inspect_rows *rows, size_t *at, struct inspect_census *sum);
/* Bytes spilled, stored and loaded; -1: not recorded, unless nothing is in local memory at all. */
int64_t inspect_spill_bytes(const struct inspect_row *row);
/* Threads of "x, y, z"; 0 when not set. */
int inspect_product(const int extent[3]);
/* The rows with machine code, of kernels or of device functions as well, as a sorted set; *out is
 * new. Prints what is wrong. */
int inspect_set_of(const struct inspect_rows *rows, bool functions, ridge_resource_set **out);
/* Sets fit and threads; a kernel whose code does not run on the chip of --gpu gets none. */
void inspect_fit(const struct inspect_request *request, struct inspect_row *row);
/* "registers, shared"; "" for none. */
char *inspect_limiters(unsigned limiters, char *buffer, size_t size);

/* -- the table ----------------------------------------------------------------------------------- */

enum { INSPECT_COLUMNS_MAX = 32 };

/* What decides which rows and columns are shown. */
struct inspect_listing {
    const struct inspect_request *request;
    const struct inspect_rows *rows;
    const struct inspect_row **shown;
    size_t shown_count, all_count;
    size_t elsewhere_count; /* rows whose code does not run on the chip of --gpu */
    size_t unbound_count;   /* kernels of which no block is known */
    bool spills, local, shared, clusters, bounds, files, barriers;
};

/* JSON and CSV: all rows and columns, exact. */
bool inspect_is_for_programs(const struct inspect_request *request);
/* A cell that is a number; negative: not recorded. */
void inspect_add_integer(ridge_table *table, int64_t value);
/* The table of the shown rows; columns has room for INSPECT_COLUMNS_MAX and outlives it. */
ridge_table *inspect_make_table(const struct inspect_listing *listing, ridge_column *columns);

/* -- one function at a time ------------------------------------------------------------------- */

/* What --mix, --sass and --lines are given of a function while its entry is loaded. */
struct inspect_function {
    const struct inspect_request *request;
    const struct inspect_entry *entry;
    const ridge_function *function;
    int sm;
    size_t instruction_count; /* without padding */
    size_t padding_count;
    ridge_loops loops;
    const ridge_line *lines; /* NULL: none */
    size_t line_count;
    ridge_spills spills;
    const ridge_helper *helpers; /* in its code */
    size_t helper_count;
};

/* Each prints to the output or, when json is not NULL, writes members of an open object. */
ridge_status inspect_print_mix(ridge_output *output, ridge_json *json,
                               const struct inspect_function *at, ridge_error *err);
ridge_status inspect_print_sass(ridge_output *output, ridge_json *json,
                                const struct inspect_function *at, ridge_error *err);
ridge_status inspect_print_lines(ridge_output *output, ridge_json *json,
                                 const struct inspect_function *at, ridge_error *err);

/* --mix of many kernels: a line each. */
struct inspect_mix_row;
struct inspect_mix_summary {
    struct inspect_mix_row *rows;
    size_t count, capacity;
};

ridge_status inspect_add_mix(struct inspect_mix_summary *summary, const struct inspect_function *at,
                             ridge_error *err);
void inspect_print_mix_summary(ridge_output *output, struct inspect_mix_summary *summary);
void inspect_mix_summary_release(struct inspect_mix_summary *summary);

/* "k.cu:33", with "< 40" where it was inlined into another line of the file, "< main.cu:40" else;
 * "" when there is none. */
char *inspect_place(const struct inspect_function *at, const ridge_line *line, char *buffer,
                    size_t size);

/* Adds an item of a list that fills lines, items whole, with a comma between them. *column is 0 for
 * the first, which stands where the cursor is: in column indent. */
void inspect_add_item(ridge_output *output, size_t *column, size_t indent, const char *text);

/* -- what is printed, one file each ------------------------------------------------------------ */

int inspect_table(const struct inspect_request *request);
int inspect_manifest(const struct inspect_request *request);
int inspect_code(const struct inspect_request *request); /* --mix, --sass, --lines */
int inspect_cover(const struct inspect_request *request);
int inspect_diff(const struct inspect_request *request);
int inspect_gates(const struct inspect_request *request);
bool inspect_has_gates(const struct inspect_request *request);

#endif
