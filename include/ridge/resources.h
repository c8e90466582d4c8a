/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels take of a chip, as sets that can be compared and kept: the new build against the old
 * one, or against a baseline in a repository.
 *
 * Life of a set: ridge_resource_set_create(), _add() for each kernel, _sort(), the getters, _free().
 * A set copies its texts, so that the code it came from can go. */
#ifndef RIDGE_RESOURCES_H
#define RIDGE_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "ridge/binary.h"
#include "ridge/status.h"
#include "ridge/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One kernel for one architecture. Numbers that are not recorded are -1. */
typedef struct ridge_resources {
    const char *name; /* mangled */
    const char *arch; /* "sm_90a" */
    int registers_per_thread;
    int static_shared_bytes;
    int local_bytes;
    int spill_store_bytes, spill_load_bytes;
    int barriers;
    int64_t code_bytes;
} ridge_resources;

/* The numbers of a function; name and arch are borrowed. */
ridge_resources ridge_resources_of(const ridge_function *function, const char *arch);

typedef struct ridge_resource_set ridge_resource_set;

ridge_status ridge_resource_set_create(ridge_resource_set **out, ridge_error *err);
void ridge_resource_set_free(ridge_resource_set *set);
ridge_status ridge_resource_set_add(ridge_resource_set *set, const ridge_resources *row,
                                    ridge_error *err);
/* By name, then architecture; rows that agree in both, as of static functions in several files,
 * stay and are ordered by their numbers. Names that differ in nvcc's hash of the path alone, as of
 * anonymous namespaces, are the same. */
void ridge_resource_set_sort(ridge_resource_set *set);
size_t ridge_resource_set_count(const ridge_resource_set *set);
const ridge_resources *ridge_resource_set_at(const ridge_resource_set *set, size_t index);

/* -- comparison -------------------------------------------------------------------------------- */

/* The same kernel in both sets; NULL where it is in one only. Borrowed from the sets. */
typedef struct ridge_resource_pair {
    const ridge_resources *before, *after;
} ridge_resource_pair;

/* All kernels of two sorted sets, in order. *out is new: ridge_resource_pairs_free(). */
ridge_status ridge_resources_compare(const ridge_resource_set *before,
                                     const ridge_resource_set *after, ridge_resource_pair **out,
                                     size_t *count, ridge_error *err);
void ridge_resource_pairs_free(ridge_resource_pair *pairs);

/* What became worse. Registers count when fewer warps of an SM fit with them, by themselves:
 * from 62 to 64 nothing is lost, from 64 to 65 an eighth of the warps. */
typedef enum ridge_worse {
    RIDGE_WORSE_MISSING = 1 << 0,   /* is not there any more */
    RIDGE_WORSE_SPILLS = 1 << 1,    /* more bytes stored and loaded */
    RIDGE_WORSE_LOCAL = 1 << 2,     /* a larger stack frame */
    RIDGE_WORSE_REGISTERS = 1 << 3, /* fewer warps */
} ridge_worse;

/* Bits of ridge_worse; 0 for a new kernel. A number that one side lacks is not compared. */
unsigned ridge_resources_worse(const ridge_resource_pair *pair);
/* Warps of an SM that registers alone allow, by the allocation of an architecture ("sm_90a");
 * -1 when it is not known, or the number of registers is not. */
int ridge_warps_by_registers(const char *arch, int registers_per_thread);

/* -- baseline ---------------------------------------------------------------------------------- */

/* JSON of schema ridge-baseline/1: {"schema", "kernels": [{"name", "arch", ...}]} with the names of
 * the fields above; null or nothing for what is not recorded. At most 16 MiB are read. */
void ridge_baseline_write(const ridge_resource_set *set, ridge_output *output);
/* *out is new and sorted. RIDGE_ERR_IO, RIDGE_ERR_FORMAT. */
ridge_status ridge_baseline_read(const char *path, ridge_resource_set **out, ridge_error *err);
ridge_status ridge_baseline_parse(const void *text, size_t size_bytes, ridge_resource_set **out,
                                  ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
