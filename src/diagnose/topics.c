/* SPDX-License-Identifier: Apache-2.0
 *
 * What each finding means: the texts of `ridge explain`. */
#include <string.h>

#include "ridge/diagnose.h"

#define T(id, title)                                                                               \
    {                                                                                              \
        id, title, "", "", "", ""                                                                  \
    }
static const ridge_topic topics[] = {
    T("memory_bandwidth", "the bytes that device memory moves"),
    T("repeated_reads", "data that is read from device memory more than once"),
    T("register_spill", "local memory (spilled registers or indexed arrays)"),
    T("uncoalesced_access", "uncoalesced global access"),
    T("l2_bandwidth", "the traffic between L1 and L2"),
    T("narrow_access", "global accesses of 1 or 2 bytes a lane"),
    T("shared_bank_conflict", "shared-memory bank conflicts"),
    T("shared_traffic", "shared-memory traffic"),
    T("l1_traffic", "the number of load/store requests"),
    T("atomic_contention", "atomic operations"),
    T("remote_memory", "memory that is not on this GPU"),
    T("tensor_pipe", "the tensor pipe"),
    T("compute_pipe", "arithmetic"),
    T("issue_bound", "the number of instructions"),
    T("special_function", "special functions"),
    T("conversion", "conversions between number formats"),
    T("thread_divergence", "lanes of a warp that take different paths"),
    T("load_in_flight", "too few loads in flight"),
    T("async_copy_not_overlapped", "asynchronous copies that are waited for at once"),
    T("lg_throttle", "too many small global accesses"),
    T("shared_latency", "the latency of shared memory or special functions"),
    T("barrier", "waiting at barriers"),
    T("dependency_chain", "a chain of dependent instructions"),
    T("instruction_cache", "code that does not fit the instruction caches"),
    T("constant_cache", "misses in the constant cache"),
    T("branch_latency", "branches"),
    T("launch_overhead", "launch and ramp-up"),
    T("grid_too_small", "a grid that is too small for the chip"),
    T("imbalance", "blocks of unequal work"),
    T("tail_effect", "the last wave of blocks"),
    T("occupancy_shared_memory", "limited by shared memory"),
    T("occupancy_registers", "limited by registers"),
    T("occupancy_blocks", "limited by the number of blocks an SM holds"),
    T("occupancy_barriers", "limited by named barriers"),
    T("occupancy_warps", "limited by the block size"),
};

size_t ridge_topic_count(void)
{
    return sizeof(topics) / sizeof(topics[0]);
}

const ridge_topic *ridge_topic_at(size_t index)
{
    return index < ridge_topic_count() ? &topics[index] : NULL;
}

const ridge_topic *ridge_topic_find(const char *id)
{
    size_t i;

    for (i = 0; i < ridge_topic_count(); i++)
        if (strcmp(topics[i].id, id) == 0)
            return &topics[i];
    return NULL;
}
