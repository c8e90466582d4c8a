/* SPDX-License-Identifier: Apache-2.0
 *
 * The output of `ncu --csv`: every value of whatever opens is read. */
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "report/report_internal.h"
#include "ridge/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static volatile char sink; /* so that the reads happen */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    const ridge_slice bytes = {data, size_bytes};
    ridge_report *report = NULL;

    if (!csv_report_recognise(bytes)) /* the other readers have targets of their own */
        return 0;
    if (ridge_report_read(data, size_bytes, "fuzz", &report, NULL) != RIDGE_OK)
        return 0;
    for (size_t k = 0; k < ridge_report_kernel_count(report); k++) {
        const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, k);
        ridge_metric metric;

        for (size_t i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++)
            for (size_t c = 0; c < metric.value.text_length; c++)
                sink = metric.value.text[c];
    }
    ridge_report_free(report);
    return 0;
}
