/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands: one file each. */
#ifndef RIDGE_CLI_COMMANDS_H
#define RIDGE_CLI_COMMANDS_H

#include "ridge/table.h"

int cmd_banks(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_bound(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_evidence(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_gpus(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_kernels(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_occupancy(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_redact(int argc, char **argv);
int cmd_source(int argc, char **argv);
int cmd_step(int argc, char **argv);
int cmd_timeline(int argc, char **argv);

/* Prints the usage of the program and its commands. */
void help_commands(ridge_output *output);

#endif
