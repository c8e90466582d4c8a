/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside ridge timeline --csv. timeline_csv.c has the reports and those that the sums of the library
 * give, timeline_csv_groups.c those that need every instance. */
#ifndef RIDGE_CLI_TIMELINE_CSV_H
#define RIDGE_CLI_TIMELINE_CSV_H

#include "timeline_cli.h"

struct csv {
    const struct timeline_file *file;
    uint32_t device; /* row; RIDGE_TRACE_NONE: all */
    ridge_output *output;
    ridge_error *err;
};

#define CSV_COLUMN(title)                                                                          \
    {                                                                                              \
        title, title, RIDGE_UNIT_NONE, true, 0, 0                                                  \
    }

#define CSV_STATISTICS(count)                                                                      \
    CSV_COLUMN("Time (%)"), CSV_COLUMN("Total Time (ns)"), CSV_COLUMN(count),                      \
        CSV_COLUMN("Avg (ns)"), CSV_COLUMN("Med (ns)"), CSV_COLUMN("Min (ns)"),                    \
        CSV_COLUMN("Max (ns)"), CSV_COLUMN("StdDev (ns)")

#define CSV_CREATE(columns) ridge_table_create(columns, sizeof(columns) / sizeof((columns)[0]))

/* Empty for NAN. */
void csv_add_decimal(ridge_table *table, double value, int decimals);
void csv_add_whole(ridge_table *table, int64_t value);
/* Prints and frees. */
ridge_status csv_finish(const struct csv *csv, ridge_table *table);

ridge_status csv_write_copy_sizes(const struct csv *csv);
ridge_status csv_write_nvtx(const struct csv *csv);
ridge_status csv_write_nvtx_kernels(const struct csv *csv);
ridge_status csv_write_projected(const struct csv *csv);

#endif
