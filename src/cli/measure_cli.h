/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge check, bench and compare share: the kernels they take, the session they run, where its
 * records go, progress and Ctrl-C. */
#ifndef RIDGE_CLI_MEASURE_CLI_H
#define RIDGE_CLI_MEASURE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "filing.h"
#include "ledger_option.h"
#include "options.h"
#include "progress.h"
#include "ridge/session.h"

/* What the common options set; starts as MEASURE_DEFAULTS. */
struct measure {
    const char *device, *call, *family, *ledger_path, *records_path;
    size_t seed;
    double timeout_s;

    /* Of a run: measure_open() to measure_close(). */
    const char *names[2], *arms[2]; /* as named; what is opened: a build's is its file */
    char build_files[2][512], arm_texts[2][640];
    char folder[64]; /* of those files; "": none */
    char **cases;
    size_t case_count;
    ridge_ledger *ledger; /* results are filed there */
    ridge_ledger *source; /* of builds: the same, or one that can only be read */
    const char *ledger_name;
    char family_builds[2][40];  /* that a variant of a family has to be; "": any */
    char build_ids[2][40];      /* of the arms, as filed in the ledger; "": none */
    bool is_for_step;           /* the command itself says what becomes of the build */
    size_t result_count;        /* of cases */
    ridge_status ledger_status; /* the first failure of a row, or RIDGE_OK */
    ridge_error ledger_error;
    struct filing filing;
    bool keeps_comparisons;    /* for measure_amend(), which adds to their rows */
    struct filing comparisons; /* those rows */
    FILE *records;
    bool records_failed;
    size_t record_count;
    size_t output_lines; /* that a kernel printed */
    struct progress progress;
    size_t shown_done, shown_total; /* cases of the whole command, behind a session's */
};
#define MEASURE_DEFAULTS                                                                           \
    {                                                                                              \
        .seed = OPTION_UNSET, .timeout_s = 60                                                      \
    }

#define OPT_MEASURE(m)                                                                             \
    OPT_WORDS('d', "device", &(m)->device, "cpu|cuda[:N]", measure_devices,                        \
              "where to run: the first GPU, or the CPU where there is none, is the default"),      \
        OPT_STRING(0, "call", &(m)->call, "SIGNATURE",                                             \
                   "the kernel is a plain function: \"f(ptr:y:out:f32[n], ptr:x:in:f32[n], "       \
                   "i32:n, stream) with n=4096\"; ptr:x alone with --family"),                     \
        OPT_STRING(0, "family", &(m)->family, "NAME",                                              \
                   "family whose reference and cases hold for a kernel that has none"),            \
        OPT_COUNT(0, "seed", &(m)->seed, "N", "seed of values, order and extents (1)"),            \
        OPT_NUMBER(0, "timeout", &(m)->timeout_s, "S",                                             \
                   "kill the kernel after so many seconds without a sign of life (60)"),           \
        OPT_LEDGER(&(m)->ledger_path),                                                             \
        OPT_STRING(0, "records", &(m)->records_path, "FILE",                                       \
                   "append every row to FILE: lines of JSON, ridge-bench/1")

extern const char *const measure_devices[];
extern const char *const measure_modes[]; /* of --mode, in the order of ridge_mode */

/* Checks what was given, opens ledger and records, unpacks builds, expands the cases of cases (NULL:
 * none; sweeps, separated by ';'). A ledger that cannot be written is refused where --ledger names it or
 * the command is about it; one that merely is there keeps nobody from an answer, and measure_close()
 * says that it has none of it. arms[1] may be NULL. Returns 0, or an exit status after a message;
 * measure_close() is due either way and returns status, or the exit status of a failure to file what
 * was measured, after saying so. It says which builds were filed, and gives that of the last kernel
 * to the open step that has none. */
int measure_open(struct measure *m, const char *const arms[2], const char *cases);
int measure_close(struct measure *m, int status);

/* " --device cpu --call 'f(...)'": the options that open the same kernel again, for a command that is
 * printed; "" for none. */
char *measure_options_text(const struct measure *m, char *out, size_t size);

/* A request with what the common options say. */
void measure_request(const struct measure *m, ridge_session_kind kind, ridge_session_request *out);
/* Runs a session; sink's record, build, progress, output and stopping are filled in, the rest is the
 * caller's. Returns the status of the session, after its message; *exit_status is what it means. */
ridge_status measure_run(struct measure *m, const ridge_session_request *request,
                         const ridge_session_sink *sink, int *exit_status);
/* A number that became known later, as a member of the row of a comparison: the row is written again with
 * it, to ledger and records. Rows in the order they came in; *cursor starts as 0. What fails is said
 * by measure_close(). */
void measure_amend(struct measure *m, size_t *cursor, const char *id, const char *member,
                   double value);
/* True when Ctrl-C, or a signal to end, came. */
bool measure_is_interrupted(void);

/* What the cases of a table have in common, said once above it. Starts as zero. */
struct measure_span {
    ridge_case first;
    bool has_first, varies_dtype, varies_layout, varies_values, varies_place;
    bool varies[RIDGE_CASE_AXES];
};
void measure_span_add(struct measure_span *span, const ridge_case *at);
/* What is common to all, or what of a case is not; "" when there is none. */
char *measure_span_common(const struct measure_span *span, char *buffer, size_t size);
char *measure_span_rest(const struct measure_span *span, const ridge_case *at, char *buffer,
                        size_t size);

/* "m=4096 n=5120 bf16": a case as tables show it; what is as by default is left out. */
char *measure_case_text(const ridge_case *at, char *buffer, size_t size);
/* "values,guards" to bits of their places in names; NULL: none. what they are is for the message.
 * Returns 0, or CLI_USAGE after it. */
int measure_names(const char *text, const char *const *names, const char *what, uint64_t *bits);
/* "1 %", "1.5", "0.5%" to 0.01; false for anything else and from 100 % on. */
bool measure_percent(const char *text, double *frac);
/* "run under the power cap, clocks locked": reasons of RIDGE_CLOCK_...; "" for none. */
char *measure_clock_text(unsigned reasons, char *buffer, size_t size);
/* The time that a mode is about: of launches back to back, or of one between events. */
double measure_time_ns(const ridge_arm_summary *arm, ridge_mode mode);
/* "norm_kernel<float>: 256x256 blocks of 32x8 threads" for a path of the measuring loop; a part that
 * is no kernel stays as it is. */
char *measure_path_text(const char *path, char *buffer, size_t size);
/* What of a kernel and a case a program wants to know: keys of an open object. */
void measure_write_case(ridge_json *json, const ridge_case *at);
void measure_write_device(ridge_json *json, const ridge_device_info *device);

#endif
