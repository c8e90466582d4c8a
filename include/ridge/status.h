/* SPDX-License-Identifier: Apache-2.0
 *
 * Status and error: the one idiom of both libraries.
 *
 * Everything that can fail returns a ridge_status and takes a ridge_error as its last parameter
 * (NULL allowed). Who detects the fault writes the message, once, with ridge_fail(); callers pass
 * the status on unchanged. On success *err is untouched; on failure every output is NULL or zero
 * and nothing is left allocated. Libraries never print, exit or keep a last error. */
#ifndef RIDGE_STATUS_H
#define RIDGE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RIDGE_PRINTF(format_index, first_index)                                                    \
    __attribute__((format(printf, format_index, first_index)))
#else
#define RIDGE_PRINTF(format_index, first_index)
#endif

/* X(name, exit status of the command line, meaning) */
#define RIDGE_STATUS_LIST(X)                                                                       \
    X(OK, 0, "done")                                                                               \
    X(ERR_INVALID_ARGUMENT, 2, "an argument is outside what the function accepts")                 \
    X(ERR_UNSUPPORTED, 3, "well formed, but not handled by this version")                          \
    X(ERR_MISALIGNED, 2, "a pointer or stride is not aligned as required")                         \
    X(ERR_ALIAS, 2, "buffers overlap that must not")                                               \
    X(ERR_OVERFLOW, 2, "a size does not fit its type")                                             \
    X(ERR_WORKSPACE, 2, "the workspace is missing or too small")                                   \
    X(ERR_NO_DEVICE, 4, "no suitable GPU")                                                         \
    X(ERR_ARCH, 4, "no code for this GPU's architecture")                                          \
    X(ERR_CUDA, 4, "the CUDA driver reported a failure")                                           \
    X(ERR_OUT_OF_MEMORY, 5, "out of memory")                                                       \
    X(ERR_INTERNAL, 70, "a bug in ridge")                                                          \
    X(ERR_IO, 3, "a file could not be read or written")                                            \
    X(ERR_FORMAT, 3, "the bytes contradict the format")

typedef enum ridge_status {
#define RIDGE_STATUS_ENUM(name, exit_status, meaning) RIDGE_##name,
    RIDGE_STATUS_LIST(RIDGE_STATUS_ENUM)
#undef RIDGE_STATUS_ENUM
} ridge_status;

/* One line of text, without the program's name and without a newline. */
typedef struct ridge_error {
    ridge_status status;
    char text[480];
} ridge_error;

/* Fills *err when it is not NULL and returns status. Control characters in the message become
 * '?', so that a hostile file cannot steer a terminal. */
ridge_status ridge_fail(ridge_error *err, ridge_status status, const char *format, ...)
    RIDGE_PRINTF(3, 4);

/* "RIDGE_ERR_FORMAT"; "unknown" for a value outside the list. */
const char *ridge_status_name(ridge_status status);

/* The exit status of the command line for a status: 0, 2, 3, 4, 5; 70 for a bug. */
int ridge_status_exit(ridge_status status);

/* "0.1.0", the version of the library that is linked. */
const char *ridge_version(void);

/* "zstd 1.5.4, zlib 1.2.13", the libraries that unpack, as loaded. Writes into buffer (128 bytes
 * are enough) and returns it. */
const char *ridge_built_with(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
