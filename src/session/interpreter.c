/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions with arms of Python. The child becomes an interpreter, which loads the same library and
 * does the same job there: ridge.worker calls ridge_session_serve(). What it has
 * to know stands in FOLDER/request, a file of this process's own structures that only the same
 * version of ridge reads; the black box is FOLDER/box. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "session/session_internal.h"

enum { CASES_MOST = 1 << 20, PATH_BYTES = 320 };

typedef struct interpreter_header {
    char version[32];
    uint32_t size_bytes; /* of this structure */
    int descriptor;
    uint64_t nonce;
    ridge_session_request request; /* its pointers mean nothing, but whether they are NULL */
    int64_t tile[RIDGE_BUFFER_DIMS];
    ridge_roofs roofs;
} interpreter_header;

static bool is_python(const char *arm)
{
    ridge_arm_name name;

    return arm != NULL && ridge_arm_name_parse(arm, &name, NULL) == RIDGE_OK &&
           name.kind == RIDGE_ARM_PYTHON;
}

bool session_needs_python(const ridge_session_request *request)
{
    return is_python(request->arms[0]) || is_python(request->arms[1]);
}

bool session_mixes_python(const ridge_session_request *request)
{
    return request->arms[1] != NULL && is_python(request->arms[0]) != is_python(request->arms[1]);
}

/* "m=3,dtype=f16" */
static bool names_dtype(const char *case_text)
{
    const char *const found = strstr(case_text, "dtype=");

    return found != NULL && (found == case_text || found[-1] == ',');
}

void session_case_shown(const ridge_session_request *request, size_t case_index,
                        const ridge_case *at, ridge_case *out)
{
    const ridge_arm_options *const options = &request->arm_options[0];
    ridge_dtype dtype = RIDGE_DTYPE_COUNT;

    *out = *at;
    if (!session_needs_python(request) || session_mixes_python(request))
        return;
    if (options->python != NULL && options->python->dtype != NULL)
        dtype = options->python->dtype(options->python->context, options->python_arm);
    if (dtype < RIDGE_DTYPE_COUNT || case_index >= request->case_count ||
        !names_dtype(request->case_texts[case_index]))
        out->dtype = dtype;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* The texts of a request in their order; false behind the last. */
static bool text_at(const ridge_session_request *request, size_t index, const char **out)
{
    const char *const fixed[] = {request->device,
                                 request->arms[0],
                                 request->arms[1],
                                 request->arm_names[0],
                                 request->arm_names[1],
                                 request->build_ids[0],
                                 request->build_ids[1],
                                 request->arm_options[0].call,
                                 request->arm_options[0].family,
                                 request->arm_options[1].call,
                                 request->arm_options[1].family};
    const size_t count = sizeof(fixed) / sizeof(fixed[0]);

    const size_t at = index - count, cases = request->case_count;
    const size_t lists = request->confirm_of != NULL ? 2 : 1;

    *out = index < count        ? fixed[index]
           : at < cases         ? request->case_texts[at]
           : at < lists * cases ? request->confirm_of[at - cases]
                                : NULL;
    return index < count || at < lists * cases;
}

static ridge_status write_request(const char *path, const ridge_session_request *request,
                                  const session_child *child, ridge_error *err)
{
    interpreter_header header;
    FILE *const file = fopen(path, "wb");
    const char *text;
    bool is_whole;
    size_t i;

    if (file == NULL)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: %s", path, strerror(errno));
    memset(&header, 0, sizeof(header));
    snprintf(header.version, sizeof(header.version), "%s", ridge_version());
    header.size_bytes = sizeof(header);
    header.descriptor = child->descriptor;
    header.nonce = child->nonce;
    header.request = *request;
    if (request->check.tile != NULL)
        memcpy(header.tile, request->check.tile, sizeof(header.tile));
    if (request->bench.roofs != NULL)
        header.roofs = *request->bench.roofs;
    is_whole = fwrite(&header, sizeof(header), 1, file) == 1;
    for (i = 0; text_at(request, i, &text) && is_whole; i++) {
        const uint32_t length = text != NULL ? (uint32_t)strlen(text) + 1 : 0;

        is_whole = fwrite(&length, sizeof(length), 1, file) == 1 &&
                   (length == 0 || fwrite(text, length, 1, file) == 1);
    }
    if (fclose(file) != 0 || !is_whole)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: %s", path, strerror(errno));
    return RIDGE_OK;
}

/* As -m ridge.worker, with a word on how the package is come by. */
static const char start[] =
    "import sys\n"
    "try:\n"
    "    from ridge.worker import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'{sys.executable} has no package ridge ({error}): '\n"
    "             'pip install bindings/python, or name it in $PYTHONPATH')\n"
    "sys.exit(main(sys.argv[1]))\n";

ridge_status session_become_python(void *context, session_child *child, ridge_error *err)
{
    const ridge_session_request *const request = context;
    const char *const named = getenv("RIDGE_PYTHON"), *const folder = getenv("TMPDIR");
    const char *const interpreter = named != NULL && named[0] != '\0' ? named : "python3";
    char path[PATH_BYTES];
    ridge_status status;

    snprintf(path, sizeof(path), "%s/request", folder);
    status = write_request(path, request, child, err);
    if (status != RIDGE_OK)
        return status;
    fflush(NULL);
    execlp(interpreter, interpreter, "-c", start, folder, (char *)NULL);
    return ridge_fail(err, RIDGE_ERR_IO, "%s: %s; $RIDGE_PYTHON names the interpreter", interpreter,
                      strerror(errno));
}

/* -- reading ----------------------------------------------------------------------------------- */

typedef struct interpreter {
    ridge_file file;
    interpreter_header header;
    const char **cases; /* and behind them what each confirms */
    session_child child;
} interpreter;

static ridge_status malformed(const char *path, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "%s is not of this version of ridge (%s): the command and the Python package "
                      "have to be of one build",
                      path, ridge_version());
}

/* A text that ends in 0; NULL when there is none. */
static bool take_text(const ridge_file *file, size_t *at, const char **out)
{
    const unsigned char *const bytes = file->bytes.data;
    uint32_t length;

    *out = NULL;
    if (file->bytes.size - *at < sizeof(length))
        return false;
    memcpy(&length, bytes + *at, sizeof(length));
    *at += sizeof(length);
    if (length == 0)
        return true;
    if (file->bytes.size - *at < length || bytes[*at + length - 1] != '\0')
        return false;
    *out = (const char *)(bytes + *at);
    *at += length;
    return true;
}

static ridge_status take_request(interpreter *self, const char *path, ridge_error *err)
{
    ridge_session_request *const request = &self->header.request;
    const char **const fixed[] = {&request->device,
                                  &request->arms[0],
                                  &request->arms[1],
                                  &request->arm_names[0],
                                  &request->arm_names[1],
                                  &request->build_ids[0],
                                  &request->build_ids[1],
                                  &request->arm_options[0].call,
                                  &request->arm_options[0].family,
                                  &request->arm_options[1].call,
                                  &request->arm_options[1].family};
    size_t at = sizeof(self->header), i;

    if (self->file.bytes.size < sizeof(self->header))
        return malformed(path, err);
    memcpy(&self->header, self->file.bytes.data, sizeof(self->header));
    if (self->header.size_bytes != sizeof(self->header) ||
        strncmp(self->header.version, ridge_version(), sizeof(self->header.version)) != 0 ||
        request->case_count > CASES_MOST)
        return malformed(path, err);
    self->cases = ridge_calloc(2 * request->case_count + 1, sizeof(*self->cases));
    if (self->cases == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu cases",
                          request->case_count);
    for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        if (!take_text(&self->file, &at, fixed[i]))
            return malformed(path, err);
    for (i = 0; i < request->case_count; i++)
        if (!take_text(&self->file, &at, &self->cases[i]) || self->cases[i] == NULL)
            return malformed(path, err);
    for (i = 0; i < request->case_count && request->confirm_of != NULL; i++)
        if (!take_text(&self->file, &at, &self->cases[request->case_count + i]))
            return malformed(path, err);
    request->case_texts = self->cases;
    request->confirm_of = request->confirm_of != NULL ? self->cases + request->case_count : NULL;
    request->check.tile = request->check.tile != NULL ? self->header.tile : NULL;
    request->bench.roofs = request->bench.roofs != NULL ? &self->header.roofs : NULL;
    return RIDGE_OK;
}

static ridge_status map_box(interpreter *self, const char *path, ridge_error *err)
{
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    void *page = MAP_FAILED;

    if (descriptor >= 0) {
        page = mmap(NULL, sizeof(session_box), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        close(descriptor);
    }
    if (page == MAP_FAILED)
        return ridge_fail(err, RIDGE_ERR_IO, "%s: %s", path, strerror(errno));
    self->child.box = page;
    return RIDGE_OK;
}

ridge_status ridge_session_serve(const char *folder, const ridge_family *const *families,
                                 const ridge_arm_python *python, ridge_error *err)
{
    interpreter self = {.child = {.descriptor = -1}};
    ridge_error job_err = {RIDGE_OK, ""};
    char path[PATH_BYTES];
    ridge_status status;
    int arm;

    snprintf(path, sizeof(path), "%s/request", folder);
    status = ridge_file_open(path, &self.file, err);
    if (status != RIDGE_OK)
        return status;
    status = take_request(&self, path, err);
    snprintf(path, sizeof(path), "%s/box", folder);
    if (status == RIDGE_OK)
        status = map_box(&self, path, err);
    if (status == RIDGE_OK) {
        self.child.descriptor = self.header.descriptor;
        self.child.nonce = self.header.nonce;
        self.child.owner = getpid();
        fcntl(self.child.descriptor, F_SETFD, FD_CLOEXEC);
        for (arm = 0; arm < 2; arm++) {
            self.header.request.arm_options[arm].families = families;
            self.header.request.arm_options[arm].python = python;
            self.header.request.arm_options[arm].python_arm = arm;
        }
        if (session_work(&self.header.request, &self.child, &job_err) != RIDGE_OK)
            session_send(&self.child, SESSION_FRAME_ERROR, &job_err, sizeof(job_err));
        fflush(NULL);
        session_send(&self.child, SESSION_FRAME_DONE, "", 0);
        munmap(self.child.box, sizeof(session_box));
    }
    ridge_free(self.cases);
    ridge_file_release(&self.file);
    return status;
}
