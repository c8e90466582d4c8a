/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program that needs the library and the libraries behind it. */
#include <stdio.h>

#include <ridge/report.h>

int main(int argc, char **argv)
{
    ridge_report *report;
    ridge_error err;

    if (ridge_report_open(argc > 1 ? argv[1] : "", &report, &err) != RIDGE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return ridge_status_exit(err.status);
    }
    printf("%zu kernels\n", ridge_report_kernel_count(report));
    ridge_report_free(report);
    return 0;
}
