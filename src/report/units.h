/* SPDX-License-Identifier: Apache-2.0
 *
 * Units of metrics. A report holds names and values only; NVIDIA's reader derives the unit from
 * the name, and so does this. */
#ifndef RIDGE_REPORT_UNITS_H
#define RIDGE_REPORT_UNITS_H

/* The base unit in the spelling of NVIDIA's reader: "%", "byte/s", "inst/cycle", "hz"; "" for a
 * plain number; "?" when the name is of no known kind. A constant. */
const char *ridge_metric_unit(const char *metric_name);

#endif
