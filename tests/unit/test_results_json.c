/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as JSON: what is unknown is null, and memory that runs out is said. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cases.h"
#include "ridge/bench.h"
#include "ridge/check.h"

/* The three objects in one document; *text is new: free(). */
static ridge_status write_all(char **text)
{
    static ridge_mismatch mismatch;
    ridge_comparison comparison;
    ridge_measurement measurement;
    ridge_status status;
    ridge_output *output;
    ridge_json *json;
    size_t size = 0;
    FILE *const stream = open_memstream(text, &size);

    assert_non_null(stream);
    memset(&comparison, 0, sizeof(comparison));
    memset(&measurement, 0, sizeof(measurement));
    comparison.verdict = RIDGE_VERDICT_REGRESSED;
    comparison.interval = (ridge_interval){.centre = log(1.5), .low = 0.4, .high = 0.41};
    comparison.delta = 0.01;
    comparison.sustained.centre = NAN;
    comparison.arms[1].median_ns = 20.5;
    comparison.arms[1].amortized_ns = NAN;
    comparison.mode = RIDGE_MODE_GRAPH;
    snprintf(comparison.path[1], sizeof(comparison.path[1]), "copy");
    measurement.cache = RIDGE_CACHE_HOT;
    mismatch.match = RIDGE_MATCH_WRONG;
    mismatch.ndim = 1;
    mismatch.shape[0] = 7;
    mismatch.worst_out_bits = 0x7fc0;
    mismatch.picture_rows = 1;
    mismatch.picture[0][0] = '#';
    mismatch.period.axis = -1;

    output = ridge_output_create(stream, 0, false);
    json = output != NULL ? ridge_json_create(output) : NULL;
    if (json == NULL) {
        (void)ridge_output_close(output, NULL);
        fclose(stream);
        return RIDGE_ERR_OUT_OF_MEMORY;
    }
    ridge_json_begin_object(json, NULL);
    ridge_comparison_write_json(json, "comparison", &comparison);
    ridge_measurement_write_json(json, "measurement", &measurement);
    ridge_mismatch_write_json(json, "mismatch", &mismatch);
    ridge_json_end_object(json);
    ridge_json_free(json);
    status = ridge_output_close(output, NULL);
    fclose(stream);
    return status;
}

static const char *const members[] = {
    "\"verdict\": \"REGRESSED\"", "\"sustained\": null",
    "\"ln_centre\": 0.40546",     "\"ln_low\": 0.4",
    "\"ln_delta\": 0.01",         "\"ratio\": 1.5",
    "\"median_ns\": 20.5",        "\"amortized_ns\": null",
    "\"mode\": \"graph\"",        "\"a_path\": null",
    "\"b_path\": \"copy\"",       "\"cache\": \"hot\"",
    "\"match\": \"wrong\"",       "\"worst_out_bits\": \"0x7fc0\"",
    "\"period\": null",           "\"invalid_guard\": null",
};

static void writes(void **state)
{
    char *text = NULL;
    size_t i;

    (void)state;
    assert_int_equal(write_all(&text), RIDGE_OK);
    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strstr(text, members[i]) == NULL)
            fail_msg("no %s in %s", members[i], text);
    free(text);
}

static void memory_runs_out(void **state)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth;

    (void)state;
    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        char *text = NULL;

        ridge_memory_fail_at(nth);
        status = write_all(&text);
        ridge_memory_fail_at(0);
        free(text);
        assert_true(nth < 1000);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    static cases list;

    cases_add(&list, "members", writes, NULL);
    cases_add(&list, "memory that runs out", memory_runs_out, NULL);
    return cases_run(&list, "results_json");
}
