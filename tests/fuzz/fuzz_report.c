/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds bytes to the report readers (native, CSV, packed) and then does all that a command would:
 * every metric and instance, rules, sources, the join with code, the diagnosis and its writers,
 * and the comparison of the report with itself. */
#include <stdio.h>
#include <stdlib.h>

#include "ridge/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KERNELS = 4 }; /* looked at; each further one is the same code again */

static void read_metrics(const ridge_report_kernel *kernel)
{
    ridge_metric metric;
    size_t i;

    for (i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++) {
        ridge_instances instances = ridge_instances_of(&metric);
        ridge_instance instance;
        size_t count = 0;

        while (ridge_instances_next(&instances, &instance))
            count++;
        if (metric.data != NULL && count != metric.instance_count)
            abort();
    }
}

static void read_rules(const ridge_report_kernel *kernel)
{
    ridge_rule rule;
    size_t i;

    for (i = 0; ridge_report_kernel_rule_at(kernel, i, &rule); i++)
        if (rule.type < -1)
            abort();
}

static void read_profile(const ridge_report_kernel *kernel)
{
    ridge_profile *profile;
    size_t i;

    if (ridge_profile_create(kernel, &profile, NULL) != RIDGE_OK)
        return;
    for (i = 0; i < profile->row_count && i < 4096; i++)
        if (ridge_profile_producer(profile, i) > profile->row_count)
            abort();
    ridge_profile_free(profile);
}

static void write_diagnosis(const ridge_report *report, size_t index, FILE *sink)
{
    ridge_diagnosis *diagnosis;
    ridge_output *output;
    ridge_json *json;

    if (ridge_diagnose(report, index, NULL, &diagnosis, NULL) != RIDGE_OK)
        return;
    output = ridge_output_create(sink, 100, true);
    ridge_diagnosis_write_text(diagnosis, true, output);
    ridge_diagnosis_write_markdown(diagnosis, true, output);
    json = ridge_json_create(output);
    ridge_diagnosis_write_json(diagnosis, json);
    ridge_json_free(json);
    if (ridge_output_close(output, NULL) != RIDGE_OK)
        abort();
    ridge_diagnosis_free(diagnosis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *sink;
    ridge_report *report;
    ridge_diff *diff;
    size_t i;

    if (sink == NULL)
        sink = fopen("/dev/null", "w");
    if (sink == NULL || ridge_report_read(data, size, "fuzz", &report, NULL) != RIDGE_OK)
        return 0;
    for (i = 0; i < ridge_report_kernel_count(report) && i < KERNELS; i++) {
        const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, i);

        read_metrics(kernel);
        read_rules(kernel);
        read_profile(kernel);
        write_diagnosis(report, i, sink);
    }
    if (ridge_report_kernel_count(report) <= KERNELS &&
        ridge_diff_create(report, report, &diff, NULL) == RIDGE_OK)
        ridge_diff_free(diff);
    ridge_report_free(report);
    return 0;
}
