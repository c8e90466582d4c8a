/* SPDX-License-Identifier: Apache-2.0
 *
 * A session: arms are opened, checked and measured in a child process, so that a kernel that
 * crashes, hangs or spoils its GPU context takes nothing with it. Results come back as they are
 * made, as lines of ridge-bench/1 (docs/formats/ridge-bench.md) and as plain structures; what was
 * measured before an interruption is kept. */
#ifndef RIDGE_SESSION_H
#define RIDGE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/arm.h"
#include "ridge/bench.h"
#include "ridge/check.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_session_kind {
    RIDGE_SESSION_CHECK,   /* arms[0] on every case */
    RIDGE_SESSION_BENCH,   /* arms[0] on every case */
    RIDGE_SESSION_COMPARE, /* arms[0] baseline, arms[1] candidate; NULL: a null control */
    /* Opens arms[0] and answers with its base case, and with its build when archive is set. */
    RIDGE_SESSION_DESCRIBE
} ridge_session_kind;

typedef struct ridge_session_request {
    ridge_session_kind kind;
    const char *device; /* ridge_device_open() */
    const char *arms[2];
    const char *arm_names[2]; /* for records, results and messages: "build:3f21"; NULL: arms */
    ridge_arm_options arm_options[2];
    const char *const *case_texts; /* changes to the base case; none: the base case, or for a check
                                      the matrix */
    size_t case_count;
    size_t first_case; /* those before it are left out */
    /* NULL, or for each case text the record_id of the comparison that this one repeats with another
     * seed. */
    const char *const *confirm_of;
    bool full_matrix;
    bool shrink;
    uint64_t seed;
    ridge_check_options check;
    ridge_bench_options bench;
    double timeout_s;         /* without any sign of life the child is killed; 0: 60 */
    const char *build_ids[2]; /* of the ledger, for the records; NULL */
    bool archive;             /* sink.build gets the image, up to 64 MiB */
    bool
        in_process; /* no child: for debuggers and sanitizers; nothing is caught, nothing watched */
} ridge_session_request;

typedef struct ridge_session_progress {
    ridge_phase phase;
    size_t case_index, case_count;
    int done, total;
    double remaining_s;
} ridge_session_progress;

/* The machine code of an arm; borrowed during the callback. */
typedef struct ridge_session_build {
    int arm;
    char kernel[1024];  /* as named, "..." and the end of a longer one; "": by its build */
    char code_hash[48]; /* "opaque:" and the hash of the file where the code's is not known */
    ridge_code code;    /* its hash "" where the code is not known */
    char image_kind[16];
    const void *image; /* NULL: not asked for */
    size_t image_bytes;
} ridge_session_build;

/* Called in the parent. Any may be NULL. */
typedef struct ridge_session_sink {
    void (*record)(void *context, const char *line, size_t length); /* without its newline */
    void (*progress)(void *context, const ridge_session_progress *progress);
    /* Without its samples, which the records have. */
    void (*slot)(void *context, size_t case_index, const ridge_slot *slot);
    void (*base_case)(void *context, const ridge_case *at, const char *code_hash, int arm);
    void (*build)(void *context, const ridge_session_build *build);
    void (*check)(void *context, const ridge_check_result *result);
    /* The least case found that fails as the first failing one did. */
    void (*shrunk)(void *context, const ridge_check_result *result);
    void (*measurement)(void *context, const ridge_measurement *result);
    void (*comparison)(void *context, const ridge_comparison *result);
    /* A line that the child printed, without its newline; longer ones come in pieces. What a kernel
     * prints is no result. */
    void (*output)(void *context, const char *line, size_t length);
    /* Asked ten times a second. The first ends the run after the slot at hand, with what was
     * measured; the second kills the child. */
    bool (*should_stop)(void *context);
    bool (*should_kill)(void *context);
    void *context;
} ridge_session_sink;

enum { RIDGE_SESSION_CRASHES = 3 };

/* Returns when the child has ended. A check whose child crashes, hangs or spoils its GPU context in a
 * case has that case fail with what happened, and goes on in a fresh child, up to
 * RIDGE_SESSION_CRASHES times. Else a child that crashed: RIDGE_ERR_CUDA with the signal, the arm and
 * what was being done; that hung: the same with the time; results so far have been delivered. The
 * child's temporary files (its $TMPDIR is its own) are gone by then. */
ridge_status ridge_session_run(const ridge_session_request *request, const ridge_session_sink *sink,
                               ridge_error *err);

/* An arm that is a Python callable makes the child an interpreter ($RIDGE_PYTHON, else python3) that
 * runs the module ridge.worker with a folder of the session as its argument. It calls this, which
 * does what the child would have done and returns when all is sent: failures of the job too, so a
 * status is about the session itself. Not for anybody else. */
ridge_status ridge_session_serve(const char *folder, const ridge_family *const *families,
                                 const ridge_arm_python *python, ridge_error *err);

/* -- saved times --------------------------------------------------------------------------------- */

/* A file of ridge bench --save, schema ridge-bench-save/1 (docs/formats/ridge-bench.md). */
typedef struct ridge_saved_case {
    char text[RIDGE_CASE_TEXT]; /* ridge_case_text() */
    double median_ns, p10_ns, p90_ns;
} ridge_saved_case;

typedef struct ridge_saved {
    char kernel[1024], gpu[96], cache[40], mode[8];
    ridge_saved_case *cases;
    size_t case_count;
} ridge_saved;

/* RIDGE_ERR_IO; RIDGE_ERR_FORMAT says which member is missing or wrong. */
ridge_status ridge_saved_read(const char *path, ridge_saved *out, ridge_error *err);
ridge_status ridge_saved_parse(const void *text, size_t size_bytes, ridge_saved *out,
                               ridge_error *err);
const ridge_saved_case *ridge_saved_find(const ridge_saved *saved, const char *case_text);
void ridge_saved_release(ridge_saved *saved);

/* -- sweeps ------------------------------------------------------------------------------------ */

enum { RIDGE_SWEEP_CASES = 4096 };

/* Every combination of "m=1:8192:x2,n=5120,7168,dtype=bf16,f16", the last axis fastest, as changes to
 * a base case: "m=1,n=5120,dtype=bf16". Values are whole numbers (k, M, G, Ki, Mi, Gi), ranges
 * FROM:TO:xFACTOR or FROM:TO:+STEP, or words; what stands behind a comma without a name is another
 * value of the axis before it. *out is new: ridge_sweep_cases_free(). RIDGE_ERR_INVALID_ARGUMENT:
 * malformed, an axis twice, more than RIDGE_SWEEP_CASES; whether the kernel has such axes is for
 * ridge_case_parse() to say. */
ridge_status ridge_sweep_cases(const char *text, char ***out, size_t *count, ridge_error *err);
void ridge_sweep_cases_free(char **cases);

#ifdef __cplusplus
}
#endif
#endif
