/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge check found, case by case, and how it is printed. */
#ifndef RIDGE_CLI_CHECK_PRINT_H
#define RIDGE_CLI_CHECK_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "ridge/check.h"
#include "ridge/table.h"

enum { CHECK_FAILURES = 64, CHECK_REASONS = 16, CHECK_EXTENTS = 64 };

/* A case that failed, or a reason for which some were refused or skipped. */
struct check_failure {
    char case_text[RIDGE_CASE_TEXT];
    ridge_test test;
    ridge_outcome outcome;
    char text[200];
};
struct check_reason {
    char text[200], masked[200];
    ridge_test test;
    ridge_outcome outcome; /* REFUSED or SKIPPED */
    size_t count;          /* cases */
    bool varies;           /* in numbers; text and case are the first's */
    char case_text[RIDGE_CASE_TEXT];
};

/* Cases in which an axis had this value. */
struct check_extent {
    int64_t value;
    size_t passed, failed;
};

/* What all cases together say, which no single one does: it fails in some layouts alone, or where an
 * extent is no multiple of a power of two. */
enum check_cause { CHECK_CAUSE_NONE, CHECK_CAUSE_LAYOUTS, CHECK_CAUSE_EXTENTS };

/* Starts as zero; grows no further than its arrays. */
struct check_summary {
    const char *kernel; /* as named on the command line */
    const char
        *no_axes; /* why generated cases have one shape when they have no axes; NULL: none is */
    /* Of the command that reproduces: the kernel as a shell takes it, " --call '...'". */
    const char *word, *options;
    size_t case_count, passed, suspicious, failed, refused, skipped, unverified;
    size_t tests_passed[RIDGE_TEST_COUNT], tests_failed[RIDGE_TEST_COUNT];
    size_t layouts_passed[RIDGE_LAYOUT_COUNT], layouts_failed[RIDGE_LAYOUT_COUNT]; /* cases */
    struct check_extent extents[RIDGE_CASE_AXES][CHECK_EXTENTS]; /* ascending, of each axis */
    size_t extent_count[RIDGE_CASE_AXES];
    bool has_more_extents[RIDGE_CASE_AXES]; /* than fit */
    double worst_scaled_error;              /* NAN: nothing was bounded */
    bool has_bound;
    struct check_failure failures[CHECK_FAILURES]; /* suspicious ones behind the failed */
    size_t failure_count;
    struct check_reason reasons[CHECK_REASONS];
    size_t reason_count;
    bool has_first, has_shrunk;
    ridge_check_result first, shrunk; /* the first that failed, else was suspicious */
    double duration_s;
    bool has_axes; /* some case */
    bool is_interrupted;
    int stop_exit;       /* of the error that ended the check before its last case; 0: none */
    char sanitizer[400]; /* summary of compute-sanitizer; "" when not asked for */
    bool sanitizer_failed;
};

void check_summary_add(struct check_summary *summary, const ridge_check_result *result);
void check_summary_shrunk(struct check_summary *summary, const ridge_check_result *result);
/* 0, or 1: a case failed, or none passed; 4: interrupted before any was wrong; that of the error
 * which ended the check. */
int check_summary_exit(const struct check_summary *summary);
/* check_cause.c */
void check_extents_add(struct check_summary *summary, const ridge_check_result *result);
enum check_cause check_summary_cause(const struct check_summary *summary, char *text, size_t size);
void check_write_text(ridge_output *output, const struct check_summary *summary);
void check_write_json(ridge_output *output, const struct check_summary *summary);

#endif
