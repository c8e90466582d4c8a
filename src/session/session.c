/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs in the child: opens device and arms, then checks or measures case after case, and sends
 * what comes of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "session/session_internal.h"

/* Seconds between two frames of progress. */
static const double progress_every_s = 0.05;

typedef struct worker {
    const ridge_session_request *request;
    session_child *child;
    ridge_device *device;
    ridge_arm *arms[2];
    session_watched watched[2];
    char hashes[2][RIDGE_HASH_TEXT]; /* of the arms' code; "" unknown */
    int arm_count;
    ridge_arm_name name;
    session_records records;
    ridge_case *cases;
    size_t case_count, case_index;
    ridge_check_memory checked; /* of the kernel */
    bool owns_matrix;           /* cases are ridge_check_matrix()'s */
    bool has_shrunk;
    ridge_roofs roofs; /* measured with the first case, then used by all */
    bool has_roofs;
    double progress_s; /* when the last one was sent */
    ridge_phase progress_phase;
} worker;

static void note(worker *w, session_call call, int arm)
{
    atomic_store(&w->child->box->arm, arm);
    atomic_store(&w->child->box->call, call);
    session_beat(w->child);
}

static bool is_stopped(const worker *w)
{
    const ridge_session_sink *const direct = w->child->direct;

    if (direct != NULL)
        return direct->should_stop != NULL && direct->should_stop(direct->context);
    return atomic_load_explicit(&w->child->box->stop, memory_order_relaxed);
}

/* -- what the measuring loop tells ------------------------------------------------------------- */

static void on_slot(void *context, const ridge_slot *slot)
{
    worker *const w = context;
    session_slot bare = {w->case_index, *slot};

    bare.slot.samples_ns = NULL;
    session_send(w->child, SESSION_FRAME_SLOT, &bare, sizeof(bare));
    session_records_slot(&w->records, slot);
}

static void on_placement(void *context, int placement, uint64_t address_hash, double value)
{
    session_records_placement(&((worker *)context)->records, placement, address_hash, value);
}

static void on_floors(void *context, const ridge_floors *floors)
{
    session_records_floors(&((worker *)context)->records, floors);
}

static void on_roofs(void *context, const ridge_roofs *roofs)
{
    worker *const w = context;

    if (!w->has_roofs)
        session_records_roofs(&w->records, roofs);
    w->roofs = *roofs;
    w->has_roofs = true;
}

static void on_progress(void *context, ridge_phase phase, int done, int total, double remaining_s)
{
    worker *const w = context;
    struct timespec now;
    double now_s;
    ridge_session_progress progress;

    session_beat(w->child);
    atomic_store(&w->child->box->phase, (int)phase);
    clock_gettime(CLOCK_MONOTONIC, &now);
    now_s = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    if (phase == w->progress_phase && now_s - w->progress_s < progress_every_s)
        return;
    w->progress_s = now_s;
    w->progress_phase = phase;
    progress = (ridge_session_progress){.phase = phase,
                                        .case_index = w->case_index,
                                        .case_count = w->case_count,
                                        .done = done,
                                        .total = total,
                                        .remaining_s = remaining_s};
    session_send(w->child, SESSION_FRAME_PROGRESS, &progress, sizeof(progress));
}

static bool on_should_stop(void *context)
{
    return is_stopped(context);
}

/* For messages. */
static const char *shown_name(const ridge_session_request *request, int arm)
{
    const int index = request->arms[1] != NULL ? arm : 0;

    return request->arm_names[index] != NULL ? request->arm_names[index] : request->arms[index];
}

/* As it is called, which is not the name of a file that a ledger's build was unpacked to. */
static const char *name_of(const worker *w, int arm)
{
    const char *const given = w->request->arm_names[w->request->arms[1] != NULL ? arm : 0];

    return given != NULL ? given : ridge_arm_text(w->arms[arm]);
}

/* -- opening ----------------------------------------------------------------------------------- */

static void send_build(worker *w, int arm, const char *hash)
{
    const ridge_code *const code = ridge_arm_code(w->arms[arm]);
    ridge_session_build build = {.arm = arm, .code = *code};
    const void *image = NULL;
    const char *kind = NULL;
    char digits[RIDGE_HASH_TEXT];
    size_t size_bytes = 0;

    ridge_arm_image(w->arms[arm], &image, &size_bytes, &kind);
    if (hash[0] == '\0' && size_bytes == 0)
        return; /* nothing that a row could stand for */
    if (hash[0] != '\0')
        snprintf(build.code_hash, sizeof(build.code_hash), "%s", hash);
    else
        snprintf(build.code_hash, sizeof(build.code_hash), "opaque:%s",
                 ridge_hash_text(image, size_bytes, digits));
    if (strncmp(name_of(w, arm), "build:", 6) != 0) /* the build has its name */
        ridge_text_end(build.kernel, sizeof(build.kernel), name_of(w, arm));
    snprintf(build.image_kind, sizeof(build.image_kind), "%s", kind != NULL ? kind : "");
    if (w->request->kind != RIDGE_SESSION_DESCRIBE)
        session_records_build(&w->records, &build);
    if (!w->request->archive || size_bytes > SESSION_IMAGE_BYTES_MOST)
        size_bytes = 0;
    if (w->child->direct == NULL) /* in one process nothing is archived */
        session_send_two(w->child, SESSION_FRAME_BUILD, &build, sizeof(build), image, size_bytes);
}

/* Where code has no hash, arms of one name are still the same code. */
static void take_hash(worker *w, int index)
{
    const char *const code = ridge_arm_code_hash(w->arms[index]);
    const char *const text = ridge_arm_text(w->arms[index]);

    if (code[0] != '\0')
        snprintf(w->hashes[index], sizeof(w->hashes[index]), "%s", code);
    else if (w->request->arms[1] != NULL && strcmp(w->request->arms[0], w->request->arms[1]) == 0)
        ridge_hash_text(text, strlen(text), w->hashes[index]);
}

static ridge_status open_arm(worker *w, int index, const char *text,
                             const ridge_arm_options *options, ridge_error *err)
{
    session_base base = {.arm = index};
    ridge_error why = {RIDGE_OK, ""};
    char shown[124];
    ridge_status status;

    note(w, SESSION_CALL_OPEN, index);
    status = ridge_arm_open(w->device, text, options, &w->arms[index], &why);
    if (status != RIDGE_OK && strstr(why.text, text) == NULL)
        return ridge_fail(err, status, "%s: %s",
                          ridge_text_end(shown, sizeof(shown), shown_name(w->request, index)),
                          why.text);
    if (status != RIDGE_OK)
        return ridge_fail(err, status, "%s", why.text);
    session_watch(&w->watched[index], ridge_arm_kernel(w->arms[index]), w->child, index);
    take_hash(w, index);
    w->arm_count = index + 1;
    note(w, SESSION_CALL_NONE, -1);
    ridge_arm_case(w->arms[index], &base.at);
    snprintf(base.code_hash, sizeof(base.code_hash), "%s", w->hashes[index]);
    session_send(w->child, SESSION_FRAME_BASE, &base, sizeof(base));
    if (w->request->kind != RIDGE_SESSION_DESCRIBE || w->request->archive)
        send_build(w, index, w->hashes[index]);
    return RIDGE_OK;
}

static ridge_status open_all(worker *w, ridge_error *err)
{
    const ridge_session_request *const request = w->request;
    const bool is_comparison = request->kind == RIDGE_SESSION_COMPARE;
    const int second = request->arms[1] != NULL ? 1 : 0;
    ridge_status status;

    note(w, SESSION_CALL_DEVICE, -1);
    status = ridge_device_open(request->device, &w->device, err);
    note(w, SESSION_CALL_NONE, -1);
    if (status != RIDGE_OK)
        return status;
    if (request->kind != RIDGE_SESSION_DESCRIBE)
        session_records_open(&w->records, w->child, ridge_device_get_info(w->device), request);
    status = open_arm(w, 0, request->arms[0], &request->arm_options[0], err);
    /* A null control: the same again, loaded apart. */
    if (status == RIDGE_OK && is_comparison)
        status = open_arm(w, 1, request->arms[second], &request->arm_options[second], err);
    return status;
}

/* -- cases ------------------------------------------------------------------------------------- */

/* The plain case of a family is one that a GPU is busy with; one core needs minutes. */
static void make_smaller(ridge_case *base)
{
    for (;;) {
        double product = 1;
        size_t greatest = 0, i;

        for (i = 0; i < base->axis_count; i++) {
            product *= base->axes[i].value > 0 ? (double)base->axes[i].value : 1;
            if (base->axes[i].value > base->axes[greatest].value)
                greatest = i;
        }
        if (product <= 1 << 20)
            return;
        base->axes[greatest].value /= 2;
    }
}

static ridge_status make_cases(worker *w, ridge_error *err)
{
    const ridge_session_request *const request = w->request;
    const size_t count = request->case_count > 0 ? request->case_count : 1;
    ridge_case base;
    size_t dtype_count = 0, i;

    ridge_arm_case(w->arms[0], &base);
    if (request->seed != 0)
        base.seed = request->seed;
    if (request->kind == RIDGE_SESSION_CHECK &&
        (request->case_count == 0 || request->full_matrix)) {
        const ridge_dtype *const dtypes = ridge_arm_dtypes(w->arms[0], &dtype_count);

        w->owns_matrix = true;
        if (ridge_device_get_info(w->device)->kind == RIDGE_DEVICE_CPU)
            make_smaller(&base);
        return ridge_check_matrix(&base, dtypes, dtype_count, ridge_arm_tile(w->arms[0]),
                                  request->full_matrix, request->seed, &w->cases, &w->case_count,
                                  err);
    }
    w->cases = ridge_calloc(count, sizeof(w->cases[0]));
    if (w->cases == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu cases", count);
    w->case_count = count;
    for (i = 0; i < count; i++) {
        w->cases[i] = base;
        if (i < request->case_count) {
            const ridge_status status = ridge_case_parse(request->case_texts[i], &w->cases[i], err);

            if (status != RIDGE_OK)
                return status;
        }
    }
    return RIDGE_OK;
}

/* -- checking ---------------------------------------------------------------------------------- */

typedef struct shrinking {
    worker *w;
    uint64_t tests;
    const ridge_mismatch *failed; /* of the case to start from */
} shrinking;

/* A smaller case with another cause is another fault; one that is wrong all over no longer shows
 * where a fault of some elements is. */
static bool is_same_fault(const ridge_mismatch *first, const ridge_mismatch *found)
{
    return strcmp(first->cause_id, found->cause_id) == 0 &&
           (first->wrong_count == 0 || first->wrong_count == first->element_count ||
            found->wrong_count < found->element_count);
}

static bool still_fails(void *context, const ridge_case *at)
{
    const shrinking *const s = context;
    ridge_check_options options = s->w->request->check;
    ridge_check_result result;

    session_beat(s->w->child);
    ridge_case_text(at, s->w->child->box->case_text, RIDGE_CASE_TEXT);
    options.tests = s->tests;
    return !is_stopped(s->w) &&
           ridge_check_kernel(s->w->device, &s->w->watched[0].kernel, at, &options, &result,
                              NULL) == RIDGE_OK &&
           result.outcome == RIDGE_OUTCOME_FAIL && is_same_fault(s->failed, &result.mismatch);
}

/* Where the same in contiguous memory is right, the layout is the cause, wherever its wrong elements
 * lie. */
static void blame_layout(const worker *w, const ridge_check_options *options,
                         ridge_check_result *failed)
{
    ridge_mismatch *const wrong = &failed->mismatch;
    const char *const mistake = ridge_layout_mistake(failed->at.layout);
    ridge_case at = failed->at;
    ridge_check_result plain;

    at.layout = RIDGE_LAYOUT_CONTIGUOUS;
    if (mistake == NULL || is_stopped(w))
        return;
    ridge_case_text(&at, w->child->box->case_text, RIDGE_CASE_TEXT);
    if (ridge_check_kernel(w->device, &w->watched[0].kernel, &at, options, &plain, NULL) !=
            RIDGE_OK ||
        (plain.outcome != RIDGE_OUTCOME_PASS && plain.outcome != RIDGE_OUTCOME_SUSPICIOUS))
        return;
    snprintf(wrong->cause, sizeof(wrong->cause),
             "only with layout=%s, the same in contiguous memory is right: %s",
             ridge_layout_name(failed->at.layout), mistake);
    snprintf(wrong->cause_id, sizeof(wrong->cause_id), "layout");
}

/* Shrinks with the test that failed alone, which keeps the fault the same and the tries short. */
static void shrink(worker *w, const ridge_check_result *failed)
{
    shrinking s = {w, 0, &failed->mismatch};
    ridge_check_options options = w->request->check;
    ridge_check_result result;
    ridge_case at = failed->at;
    size_t i;

    for (i = 0; i < failed->test_count && s.tests == 0; i++)
        if (failed->tests[i].outcome == RIDGE_OUTCOME_FAIL)
            s.tests = UINT64_C(1) << failed->tests[i].test;
    ridge_case_shrink(&at, still_fails, &s);
    options.tests = s.tests | UINT64_C(1) << RIDGE_TEST_REPEAT; /* whether a race is likely */
    /* What fails now and then may not do so now: the first one is shown. */
    if (!is_stopped(w) &&
        ridge_check_kernel(w->device, &w->watched[0].kernel, &at, &options, &result, NULL) ==
            RIDGE_OK &&
        result.outcome == RIDGE_OUTCOME_FAIL) {
        blame_layout(w, &options, &result);
        session_send(w->child, SESSION_FRAME_SHRUNK, &result, sizeof(result));
    }
}

static ridge_status check_case(worker *w, const ridge_case *at, ridge_error *err)
{
    ridge_check_options options = w->request->check;
    ridge_check_result result;
    ridge_status status;

    options.memory = &w->checked;
    options.should_stop = on_should_stop;
    options.context = w;
    on_progress(w, RIDGE_PHASE_CHECK, (int)w->case_index, (int)w->case_count, NAN);
    status = ridge_check_kernel(w->device, &w->watched[0].kernel, at, &options, &result, err);
    if (status != RIDGE_OK)
        return status;
    /* Of a case that was cut short only what is wrong is known. */
    if (is_stopped(w) && result.outcome != RIDGE_OUTCOME_FAIL)
        return RIDGE_OK;
    session_records_check(&w->records, &result, name_of(w, 0));
    session_send(w->child, SESSION_FRAME_CHECK, &result, sizeof(result));
    atomic_store(&w->child->box->is_told, true);
    if (w->request->shrink && !w->has_shrunk && result.outcome == RIDGE_OUTCOME_FAIL) {
        w->has_shrunk = true;
        shrink(w, &result);
    }
    return RIDGE_OK;
}

/* -- measuring --------------------------------------------------------------------------------- */

static ridge_bench_arm bench_arm(const worker *w, int index)
{
    return (ridge_bench_arm){.kernel = &w->watched[index].kernel,
                             .name = name_of(w, index),
                             .code_hash = w->hashes[index]};
}

static ridge_status on_agree(void *context, char *cause, size_t size, ridge_error *err)
{
    const worker *const w = context;
    const ridge_arm_python *const python = w->request->arm_options[0].python;

    if (python == NULL || python->agree == NULL || w->arm_count < 2 ||
        w->request->bench.null_control)
        return RIDGE_OK;
    return python->agree(python->context, cause, size, err);
}

static const ridge_arm_python *looking_python(const worker *w)
{
    return w->request->bench.null_control ? NULL : w->request->arm_options[0].python;
}

static ridge_status on_behind(void *context, int arm, uint64_t without, ridge_error *err)
{
    const ridge_arm_python *const python = looking_python(context);

    return python != NULL && python->behind != NULL
               ? python->behind(python->context, arm, without, err)
               : RIDGE_OK;
}

static ridge_status on_after(void *context, ridge_guard *guard, char *cause, size_t size,
                             ridge_error *err)
{
    const ridge_arm_python *const python = looking_python(context);
    int found = (int)*guard;
    const ridge_status status = python != NULL && python->after != NULL
                                    ? python->after(python->context, &found, cause, size, err)
                                    : RIDGE_OK;

    *guard = (ridge_guard)found;
    return status;
}

static ridge_status measure_case(worker *w, const ridge_case *at, const ridge_case *shown,
                                 ridge_error *err)
{
    const ridge_bench_sink sink = {on_slot,     on_placement,   on_floors, on_roofs,
                                   on_progress, on_should_stop, w,         on_agree,
                                   on_behind,   on_after};
    const ridge_bench_arm arms[2] = {bench_arm(w, 0),
                                     w->arm_count > 1 ? bench_arm(w, 1) : (ridge_bench_arm){0}};
    ridge_bench_options options = w->request->bench;
    ridge_status status;

    options.seed = w->request->seed;
    if (w->has_roofs) {
        options.roofs = &w->roofs;
        options.measure_roofs = false;
    }
    session_records_arm(&w->records, 0, w->arm_count > 1 ? "self" : "candidate", arms[0].name, "");
    if (w->arm_count > 1) {
        ridge_comparison result;

        session_records_arm(&w->records, 1, options.null_control ? "null" : "candidate",
                            arms[1].name, "");
        status =
            ridge_bench_compare(w->device, &arms[0], &arms[1], at, &options, &sink, &result, err);
        session_records_flush(&w->records);
        if (status != RIDGE_OK)
            return status;
        result.at = *shown;
        session_records_comparison(
            &w->records, &result, &options,
            w->request->confirm_of != NULL ? w->request->confirm_of[w->case_index] : NULL);
        session_send(w->child, SESSION_FRAME_COMPARISON, &result, sizeof(result));
    } else {
        ridge_measurement result;

        status = ridge_bench_measure(w->device, &arms[0], at, &options, &sink, &result, err);
        session_records_flush(&w->records);
        if (status != RIDGE_OK)
            return status;
        result.at = *shown;
        session_records_measurement(&w->records, &result, &options);
        session_send(w->child, SESSION_FRAME_MEASUREMENT, &result, sizeof(result));
    }
    return RIDGE_OK;
}

/* The operation that a case is of, so that cases of different arms are one. */
static const char *family_of(worker *w)
{
    const char *const given = w->request->arm_options[0].family;

    if (given != NULL)
        return given;
    if (ridge_arm_name_parse(w->request->arms[0], &w->name, NULL) == RIDGE_OK &&
        w->name.kind == RIDGE_ARM_FAMILY)
        return w->name.path;
    return w->watched[0].kernel.name;
}

static ridge_status run_case(worker *w, const ridge_case *at, ridge_error *err)
{
    char case_text[RIDGE_CASE_TEXT];
    ridge_kernel_work work;
    ridge_case shown;
    ridge_error ignored, why = {RIDGE_OK, ""};
    ridge_status status;

    ridge_case_text(at, case_text, sizeof(case_text));
    ridge_case_text(at, w->child->box->case_text, RIDGE_CASE_TEXT);
    atomic_store(&w->child->box->case_number, -1);
    w->child->box->at = *at;
    atomic_store(&w->child->box->is_told, false);
    atomic_store(&w->child->box->case_number, (int)w->case_index);
    session_beat(w->child);
    if (ridge_kernel_work_of(&w->watched[0].kernel, at, &work, &ignored) != RIDGE_OK)
        work = (ridge_kernel_work){NAN, NAN, NAN, NAN, 0, 0};
    session_case_shown(w->request, w->case_index, at, &shown);
    session_records_case(&w->records, family_of(w), &shown, &work);
    if (w->request->kind == RIDGE_SESSION_CHECK) {
        status = check_case(w, at, &why);
        /* The result of a case names it, which one of CUDA becomes; other errors end the check. */
        if (status == RIDGE_OK)
            return RIDGE_OK;
        return status == RIDGE_ERR_CUDA
                   ? ridge_fail(err, status, "%s", why.text)
                   : ridge_fail(err, status, "%s, case %.120s", why.text, case_text);
    }
    status = measure_case(w, at, &shown, &why);
    return status == RIDGE_OK ? RIDGE_OK
                              : ridge_fail(err, status, "case %.120s: %s", case_text, why.text);
}

/* -- the job ----------------------------------------------------------------------------------- */

ridge_status session_work(void *request, session_child *child, ridge_error *err)
{
    worker w = {.request = request, .child = child, .progress_phase = RIDGE_PHASE_AFTER};
    ridge_status status = open_all(&w, err);
    int arm;

    if (status == RIDGE_OK && w.request->kind != RIDGE_SESSION_DESCRIBE)
        status = make_cases(&w, err);
    w.case_index = w.request->first_case;
    for (; status == RIDGE_OK && w.case_index < w.case_count && !is_stopped(&w); w.case_index++)
        status = run_case(&w, &w.cases[w.case_index], err);
    if (w.records.session_id[0] != '\0')
        session_records_close(&w.records);
    if (status == RIDGE_OK && w.records.status != RIDGE_OK)
        status = ridge_fail(err, w.records.status, "out of memory for the records");
    session_records_release(&w.records);
    if (w.owns_matrix)
        ridge_cases_free(w.cases);
    else
        ridge_free(w.cases);
    for (arm = w.arm_count - 1; arm >= 0; arm--) {
        note(&w, SESSION_CALL_CLOSE, arm);
        ridge_arm_free(w.arms[arm]);
    }
    note(&w, SESSION_CALL_NONE, -1);
    ridge_device_free(w.device);
    return status;
}

/* The case that a child was lost with, as one that failed. */
static void deliver_loss(const ridge_session_request *request, const session_loss *loss,
                         const ridge_error *why, const ridge_session_sink *sink)
{
    ridge_check_result *const result = ridge_calloc(1, sizeof(*result));
    const char *said = why->text; /* behind the name of the test, where it has one */
    /* Nothing else was looked for: a fault is what the fence is there for. */
    const bool is_fence =
        request->check.tests == UINT64_C(1) << RIDGE_TEST_FENCE &&
        (strstr(why->text, "SIGSEGV") != NULL || strstr(why->text, "SIGBUS") != NULL ||
         strstr(why->text, "ILLEGAL_ADDRESS") != NULL);

    if (result != NULL && !loss->is_told && sink != NULL && sink->check != NULL) {
        result->at = loss->at;
        result->outcome = RIDGE_OUTCOME_FAIL;
        result->test_count = 1;
        result->tests[0].test = is_fence ? RIDGE_TEST_FENCE : RIDGE_TEST_VALUES;
        result->tests[0].outcome = RIDGE_OUTCOME_FAIL;
        for (int test = 0; test < RIDGE_TEST_COUNT; test++) {
            const char *const name = ridge_test_name((ridge_test)test);
            const size_t length = strlen(name);

            if (strncmp(said, name, length) != 0 || strncmp(said + length, ": ", 2) != 0)
                continue;
            result->tests[0].test = (ridge_test)test;
            said += length + 2;
            break;
        }
        snprintf(result->tests[0].text, sizeof(result->tests[0].text), "%s%.150s",
                 is_fence ? "the fence caught an access beside a buffer: " : "", said);
        result->worst_scaled_error = NAN;
        result->mismatch.period.axis = -1;
        result->mismatch.worst_index = -1;
        sink->check(sink->context, result);
    }
    ridge_free(result);
}

/* A check, in one child after another when cases end theirs. */
static ridge_status check_on(ridge_session_request *request, session_plan *plan,
                             const ridge_session_sink *sink, ridge_error *err)
{
    ridge_error why = {RIDGE_OK, ""};
    session_loss loss;
    ridge_status status;

    plan->loss = &loss;
    for (int crashes = 0;; crashes++) {
        loss = (session_loss){.case_number = -1};
        status = session_supervise(plan, sink, &why);
        if (status == RIDGE_OK || !loss.is_lost || loss.case_number < 0)
            return status == RIDGE_OK ? RIDGE_OK : ridge_fail(err, status, "%s", why.text);
        deliver_loss(request, &loss, &why, sink);
        if (crashes + 1 == RIDGE_SESSION_CRASHES)
            return ridge_fail(err, status, "stopped after %d cases that ended the process: %s",
                              RIDGE_SESSION_CRASHES, why.text);
        request->first_case = (size_t)loss.case_number + 1;
        request->shrink = false; /* or the next one is shrunk into the same crash */
    }
}

ridge_status ridge_session_run(const ridge_session_request *request, const ridge_session_sink *sink,
                               ridge_error *err)
{
    ridge_session_request copy = *request;
    const bool needs_python = session_needs_python(request);
    session_plan plan = {.job = needs_python ? session_become_python : session_work,
                         .context = &copy,
                         .timeout_s = request->timeout_s > 0 ? request->timeout_s : 60,
                         .arm_names = {shown_name(request, 0), shown_name(request, 1)}};

    if (request->arms[0] == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no kernel given");
    if (needs_python && request->kind == RIDGE_SESSION_CHECK)
        return ridge_fail(
            err, RIDGE_ERR_UNSUPPORTED,
            "callables are checked in Python, where their tensors are: ridge.check()");
    /* Outputs of the two are in different places: nothing to hold those of one against. Of two that
     * are Python's the package looks at them. */
    if (session_mixes_python(request))
        copy.bench.without |= UINT64_C(1) << RIDGE_GUARD_CHECK | UINT64_C(1) << RIDGE_GUARD_REFILL |
                              UINT64_C(1) << RIDGE_GUARD_OUTPUTS |
                              UINT64_C(1) << RIDGE_GUARD_SHARED;
    if (request->in_process) {
        static const ridge_session_sink none;
        session_box *const box = ridge_calloc(1, sizeof(*box));
        session_child child = {sink != NULL ? sink : &none, -1, 0, box, 0};
        ridge_status status;

        if (box == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a session");
        status = session_work(&copy, &child, err);
        ridge_free(box);
        return status;
    }
    if (copy.kind == RIDGE_SESSION_CHECK)
        return check_on(&copy, &plan, sink, err);
    return session_supervise(&plan, sink, err);
}
