/* SPDX-License-Identifier: Apache-2.0
 *
 * A native report (.ncu-rep) without what tells who made it and where: host names, user names,
 * addresses, command line, operating system builds, directories. The result opens wherever the
 * original did and is diagnosed the same: metrics, instances, rule results, kernel names and code
 * keep every bit, and lines still find their source text.
 *
 * What is removed, and how:
 * - Host names, addresses, the command line and builds stand in fields of their own, which get a
 *   neutral text. Fields of the session that are not known (the settings of an interactive session
 *   with its environment are such) are left out.
 * - In every path each directory is replaced by another name of the same length, the same one
 *   everywhere, "/home/ann/norm.cu" by "/home/___/norm.cu": in sources, in markers and call stacks,
 *   and in all of a cubin but its code, where nothing may move. Base names of files stay, and so do
 *   directories that are called alike everywhere ("usr", "home", "include").
 * - A name that was found like this (a user of /home/NAME, a host, an address) is also replaced
 *   where it is mentioned: in base names, texts of rules, NVTX ranges, source text.
 *
 * Other fields that are not known are searched like texts of rules; what else they say stays.
 *
 * A word that the report's metric names contain ("max"), a word of fewer than three characters, or
 * one that says nothing ("root", "localhost") is no such name; it still goes from its field and
 * from paths. Names of kernels, metrics and sections always stay: when a found name is part of
 * one, ridge_redaction says so. */
#ifndef RIDGE_REDACT_H
#define RIDGE_REDACT_H

#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_redact_flags {
    RIDGE_REDACT_DROP_SOURCES = 1 << 0, /* the imported source text as well */
    RIDGE_REDACT_DROP_HEADERS = 1 << 1  /* that of files below a directory "include": the toolkit's
                                           headers, which have owners of their own */
} ridge_redact_flags;

/* How many were removed of each kind. */
typedef struct ridge_redaction {
    size_t host_count;         /* different host names */
    size_t user_count;         /* different user names, as far as paths tell them */
    size_t address_count;      /* different network addresses */
    size_t command_line_count; /* of the profiler */
    size_t build_count;        /* of the operating system */
    size_t setting_count;      /* unknown fields of the session */
    size_t path_count;         /* places where a path stood */
    size_t mention_count;      /* other places where a name stood */
    size_t source_count;       /* source texts dropped */
    size_t kept_source_count;  /* source texts kept */
    size_t remaining_count;    /* places where a name stands still: in names of kernels */
    char remaining[64];        /* the first of them, perhaps cut; "" when there is none */
} ridge_redaction;

/* Writes the report in data (compressed with zstd or gzip: unpacked) without these things to new
 * memory, *out, freed with ridge_redact_free(). flags: ridge_redact_flags. summary may be NULL.
 * RIDGE_ERR_FORMAT: not a native report, or cut or damaged anywhere, for what is not understood
 * cannot be vouched for. */
ridge_status ridge_report_redact(const void *data, size_t size_bytes, unsigned flags, uint8_t **out,
                                 size_t *out_bytes, ridge_redaction *summary, ridge_error *err);
/* The same from a file. */
ridge_status ridge_report_redact_file(const char *path, unsigned flags, uint8_t **out,
                                      size_t *out_bytes, ridge_redaction *summary,
                                      ridge_error *err);
/* NULL is allowed. */
void ridge_redact_free(uint8_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
