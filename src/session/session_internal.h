/* SPDX-License-Identifier: Apache-2.0
 *
 * The two sides of a session. The parent supervises, the child does a job and sends frames through a
 * pipe; a page of memory that both see is the black box that says what the child was doing when it
 * died, and carries the wish to stop. */
#ifndef RIDGE_SESSION_INTERNAL_H
#define RIDGE_SESSION_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/text.h"
#include "ridge/session.h"

/* -- frames ------------------------------------------------------------------------------------ */

typedef enum session_frame_kind {
    SESSION_FRAME_RECORD,
    SESSION_FRAME_PROGRESS,
    SESSION_FRAME_SLOT,
    SESSION_FRAME_BASE,
    SESSION_FRAME_BUILD, /* a ridge_session_build, then the image */
    SESSION_FRAME_CHECK,
    SESSION_FRAME_SHRUNK,
    SESSION_FRAME_MEASUREMENT,
    SESSION_FRAME_COMPARISON,
    SESSION_FRAME_ERROR,
    SESSION_FRAME_DONE,
    SESSION_FRAME_COUNT
} session_frame_kind;

enum {
    SESSION_IMAGE_BYTES_MOST = 64 * 1024 * 1024,
    SESSION_FRAME_BYTES_MOST = SESSION_IMAGE_BYTES_MOST + 64 * 1024
};

/* Before each payload. The nonce is drawn for a session: what a kernel writes into descriptors that
 * are not its own is no frame. */
typedef struct session_frame {
    uint64_t nonce;
    uint32_t kind, size_bytes;
} session_frame;

typedef struct session_slot {
    size_t case_index;
    ridge_slot slot;
} session_slot;

typedef struct session_base {
    ridge_case at;
    char code_hash[40];
    int arm;
} session_base;

/* Collects bytes and hands out whole frames. */
typedef struct session_reader {
    uint64_t nonce;
    char *bytes;
    size_t size_bytes, capacity_bytes, taken_bytes;
} session_reader;

/* Room for at least this much more; NULL when out of memory. */
char *session_reader_room(session_reader *reader, size_t size_bytes);
/* The next frame; its payload is borrowed until the next call of either function. *is_whole is false
 * when more bytes are needed. RIDGE_ERR_FORMAT: no frame of this session. */
ridge_status session_reader_next(session_reader *reader, bool *is_whole, session_frame *frame,
                                 const void **payload, ridge_error *err);
void session_reader_release(session_reader *reader);

/* Calls what the sink has for a frame; other kinds do nothing. */
void session_deliver(const session_frame *frame, const void *payload,
                     const ridge_session_sink *sink);

/* -- the black box ----------------------------------------------------------------------------- */

/* What of an arm, or of ridge, is running. X(name, text) */
/* clang-format off */
#define SESSION_CALL_LIST(X)                                                                       \
    X(NONE, "") X(DEVICE, "opening the device") X(OPEN, "loading") X(DESCRIBE, "describe()")       \
    X(WORK, "work()") X(PREPARE, "prepare()") X(LAUNCH, "launch()") X(FINISH, "finish()")          \
    X(REFERENCE, "reference()") X(PLAIN, "plain()") X(FILL, "fill()") X(CLOSE, "unloading")
/* clang-format on */
typedef enum session_call {
#define SESSION_CALL_ENUM(name, text) SESSION_CALL_##name,
    SESSION_CALL_LIST(SESSION_CALL_ENUM)
#undef SESSION_CALL_ENUM
        SESSION_CALL_COUNT
} session_call;

typedef struct session_box {
    atomic_bool stop;
    atomic_bool is_cut; /* the child cannot send: somebody has closed its descriptor */
    atomic_ulong beats; /* changes while the child lives */
    atomic_int call;    /* session_call */
    atomic_int arm;     /* that call is of, or was last of; -1: none */
    atomic_int phase;   /* ridge_phase; -1: none */
    char case_text[RIDGE_CASE_TEXT];
    atomic_int case_number; /* that runs; -1: none */
    atomic_bool is_told;    /* its result has been sent */
    ridge_case at;          /* it, before case_number names it */
} session_box;

/* -- the child --------------------------------------------------------------------------------- */

typedef struct session_child {
    const ridge_session_sink *direct; /* not NULL: there is no child, frames go here */
    int descriptor;
    uint64_t nonce;
    session_box *box;
    pid_t owner; /* who may send: not a process that a kernel forked */
} session_child;

/* Ends the child when the parent is gone. */
void session_send(session_child *child, session_frame_kind kind, const void *payload,
                  size_t size_bytes);
/* The same with a payload in two parts. */
void session_send_two(session_child *child, session_frame_kind kind, const void *first,
                      size_t first_bytes, const void *second, size_t second_bytes);
void session_beat(session_child *child);

typedef ridge_status (*session_job)(void *context, session_child *child, ridge_error *err);

/* Runs a job in a child and delivers what it sends. arm_names (either may be NULL) are for messages.
 * Returns the status of the job, or what became of the child. */
/* What was lost with a child that crashed, hung, or spoilt its GPU context. */
typedef struct session_loss {
    bool is_lost;
    int case_number; /* -1: before the first */
    bool is_told;
    ridge_case at;
} session_loss;

typedef struct session_plan {
    session_job job;
    void *context;
    double timeout_s;
    const char *arm_names[2];
    session_loss *loss; /* NULL: not asked for */
} session_plan;
ridge_status session_supervise(const session_plan *plan, const ridge_session_sink *sink,
                               ridge_error *err);

/* interpreter.c: whether an arm is a Python callable, and the job of a child that becomes an
 * interpreter; returns only when it could not. */
bool session_needs_python(const ridge_session_request *request);
/* Beside an arm that is none: the buffers of each are its own. */
bool session_mixes_python(const ridge_session_request *request);
/* A case as its results name it. What Python arms compute with is theirs to say: the type of their
 * arrays, the one that was asked for where that is not known, else none. */
void session_case_shown(const ridge_session_request *request, size_t case_index,
                        const ridge_case *at, ridge_case *out);
ridge_status session_become_python(void *request, session_child *child, ridge_error *err);

/* session_folder.c: a lock in the folder, held until its descriptor is closed; -1: it cannot be had. A
 * child shall not keep it. */
int session_lock_folder(const char *folder);
/* Removes folders of sessions in base whose parents were killed. */
void session_remove_stale(const char *base);
/* Removes a folder and all in it, links not followed. */
void session_remove_folder(const char *path);

/* -- the job ----------------------------------------------------------------------------------- */

ridge_status session_work(void *request, session_child *child, ridge_error *err);

/* A kernel that notes each call in the black box and passes it on. */
typedef struct session_watched {
    ridge_kernel kernel;
    const ridge_kernel *inner;
    session_child *child;
    int arm;
} session_watched;
void session_watch(session_watched *watched, const ridge_kernel *inner, session_child *child,
                   int arm);

/* -- records ----------------------------------------------------------------------------------- */

enum { SESSION_SLOTS_HELD = 256 };

/* Slots that wait for their placement, whose row names the addresses. */
typedef struct session_held {
    ridge_slot slot; /* samples_ns: an own copy */
    float *samples_ns;
} session_held;

/* Writes the rows of ridge-bench/1, each behind those that it refers to. Out of memory: rows are
 * missing, and status says so. */
typedef struct session_records {
    session_child *child;
    ridge_status status; /* the first failure */
    char gpu_id[RIDGE_HASH_TEXT], env_id[RIDGE_HASH_TEXT], session_id[RIDGE_HASH_TEXT];
    char kase_id[RIDGE_HASH_TEXT], arm_ids[2][RIDGE_HASH_TEXT], build_ids[2][RIDGE_HASH_TEXT];
    char started[40];
    const ridge_session_request *request; /* borrowed */
    double shared_frac;
    bool is_busy;
    double null_centre, null_half_width;
    int launches; /* of the last slot: k of the policy */
    int blocks;   /* the greatest block number of a placement, and one: m of the policy */
    session_held *held;
    size_t held_count, held_capacity;
} session_records;

void session_records_open(session_records *records, session_child *child,
                          const ridge_device_info *info, const ridge_session_request *request);
/* The row of an arm's machine code, and its id for arm. */
void session_records_build(session_records *records, const ridge_session_build *build);
void session_records_case(session_records *records, const char *family, const ridge_case *at,
                          const ridge_kernel_work *work);
/* role: "candidate", "self", "rival", "null". Before the slots, and again when the path is known. */
void session_records_arm(session_records *records, int arm, const char *role, const char *launcher,
                         const char *path);
void session_records_slot(session_records *records, const ridge_slot *slot);
void session_records_placement(session_records *records, int placement, uint64_t address_hash,
                               double value);
void session_records_floors(session_records *records, const ridge_floors *floors);
void session_records_roofs(session_records *records, const ridge_roofs *roofs);
/* Fills comparison->record_id. confirm_of: the comparison that it repeats; NULL. */
void session_records_comparison(session_records *records, ridge_comparison *comparison,
                                const ridge_bench_options *options, const char *confirm_of);
void session_records_measurement(session_records *records, const ridge_measurement *measurement,
                                 const ridge_bench_options *options);
void session_records_check(session_records *records, const ridge_check_result *result,
                           const char *launcher);
/* Slots of which no placement was told: what an interruption leaves. */
void session_records_flush(session_records *records);
/* The end of the session. */
void session_records_close(session_records *records);
void session_records_release(session_records *records);

#endif
