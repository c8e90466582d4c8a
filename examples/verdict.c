/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict REPORT: prints the verdict on each kernel of a report. All there is to the library in one
 * page: open, ask, free, and one way to fail.
 *
 *     cc -std=c17 verdict.c $(pkg-config --static --cflags --libs ridge) -o verdict */
#include <stdio.h>

#include "ridge/diagnose.h"
#include "ridge/report.h"

static ridge_status print_verdicts(const ridge_report *report, ridge_error *err)
{
    for (size_t i = 0; i < ridge_report_kernel_count(report); i++) {
        ridge_diagnosis *diagnosis;
        const ridge_status status = ridge_diagnose(report, i, NULL, &diagnosis, err);

        if (status != RIDGE_OK)
            return status;
        printf("%s: %s\n", diagnosis->name, diagnosis->verdict.sentence);
        ridge_diagnosis_free(diagnosis);
    }
    return RIDGE_OK;
}

int main(int argc, char **argv)
{
    ridge_report *report = NULL;
    ridge_error err;
    ridge_status status;

    if (argc != 2) {
        fprintf(stderr, "usage: verdict REPORT\n");
        return 2;
    }
    status = ridge_report_open(argv[1], &report, &err);
    if (status == RIDGE_OK)
        status = print_verdicts(report, &err);
    if (status != RIDGE_OK)
        fprintf(stderr, "%s: %s\n", argv[1], err.text);
    for (size_t i = 0; report != NULL && i < ridge_report_warning_count(report); i++)
        fprintf(stderr, "%s: %s\n", argv[1], ridge_report_warning(report, i));
    ridge_report_free(report);
    return ridge_status_exit(status);
}
