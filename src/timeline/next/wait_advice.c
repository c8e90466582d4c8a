/* SPDX-License-Identifier: Apache-2.0
 *
 * What to do about a wait for the GPU: by the call that waits, and in PyTorch by the operation that
 * made it wait. */
#include "timeline/next/next_internal.h"

#include <stdio.h>
#include <string.h>

#define LATER "wait for an event one step later"

/* The operation around the call, as PyTorch's profiler names it: what the program wrote. */
static const struct site_row {
    const char *operation, *written, *words;
} site_rows[] = {
#define ITEM                                                                                       \
    "float(), print and a branch on a tensor wait so too; keep the value on the GPU, or copy it "  \
    "to pinned memory with non_blocking=True and " LATER
    {"aten::_local_scalar_dense", ".item()", ITEM},
    {"aten::item", ".item()", ITEM},
    {"aten::is_nonzero", "a branch on a tensor", ITEM},
    {"aten::equal", "torch.equal()", ITEM},
#undef ITEM
#define SHAPE                                                                                      \
    "a mask as index, masked_select() and unique() wait so too: the shape depends on data; "       \
    "torch.where() and results of a fixed size do not wait"
    {"aten::nonzero", "nonzero()", SHAPE},
    {"aten::masked_select", "masked_select()", SHAPE},
    {"aten::_unique2", "unique()", SHAPE},
    {"aten::unique_consecutive", "unique_consecutive()", SHAPE},
    {"aten::repeat_interleave", "repeat_interleave()", SHAPE},
#undef SHAPE
#define COPY                                                                                       \
    "pinned memory (pin_memory=True) and non_blocking=True; where the host reads it, " LATER
    {"aten::copy_", ".cpu(), .to()", COPY},
    {"aten::_to_copy", ".cpu(), .to()", COPY},
    {"aten::to", ".cpu(), .to()", COPY},
#undef COPY
    {"aten::cudnn_convolution", "cudnn.benchmark",
     "it tries algorithms whenever a shape is new: leave the first steps out, keep shapes the "
     "same"},
};

/* The first whose text is a part of the call's name. */
static const struct call_row {
    const char *call, *torch, *other;
} call_rows[] = {
    {"MemcpyAsync",
     "the memory on the host is pageable: pin it (pin_memory=True), copy with "
     "non_blocking=True, and " LATER,
     "the memory on the host is pageable: pin it (cudaMallocHost, cudaHostRegister), and " LATER},
    {"Memcpy", "copy to or from pinned memory (pin_memory=True) with non_blocking=True, and " LATER,
     "cudaMemcpyAsync on pinned memory instead, and " LATER},
    {"EventSynchronize",
     "it is waited for too early: " LATER "; stream.wait_event() orders streams without the host",
     "it is waited for too early: " LATER "; cudaStreamWaitEvent orders streams without the host"},
    {"StreamSynchronize",
     "stream.synchronize(), or what reads a result on the host, as .item() and .cpu() do; "
     "stream.wait_event() orders streams without the host; for a result, copy to pinned memory "
     "with non_blocking=True and " LATER,
     "cudaStreamWaitEvent orders streams without the host; where the host reads a result, copy to "
     "pinned memory and " LATER},
    {"Synchronize",
     "torch.cuda.synchronize(): work of a stream is in order without it; leave it out, and where "
     "the host reads a result " LATER,
     "work of a stream is in order without it; leave it out, and where the host reads a result "
     "copy to pinned memory and " LATER},
};

/* Of its domain's colon and of what emit_nvtx() numbers a range is free. */
static bool is_range(const char *range, const char *operation)
{
    const size_t length = strlen(operation);

    range += *range == ':';
    return strncmp(range, operation, length) == 0 &&
           (range[length] == '\0' || range[length] == ',');
}

bool next_wait_words(const char *call, size_t length, size_t count, const char *range,
                     bool is_torch, char *text, size_t size)
{
    const struct site_row *site = NULL;
    const struct call_row *row = NULL;
    char name[64];

    snprintf(name, sizeof(name), "%.*s", length < sizeof(name) ? (int)length : 0, call);
    for (size_t i = 0; row == NULL && i < sizeof(call_rows) / sizeof(call_rows[0]); i++)
        if (strstr(name, call_rows[i].call) != NULL)
            row = &call_rows[i];
    for (size_t i = 0; range != NULL && i < sizeof(site_rows) / sizeof(site_rows[0]); i++)
        if (is_range(range, site_rows[i].operation))
            site = &site_rows[i];
    if (row == NULL)
        return false;
    snprintf(text, size, "remove waits: %s%s%s, %zu call%s%s; %s",
             site != NULL ? site->written : "", site != NULL ? " (" : "", name, count,
             count == 1 ? "" : "s", site != NULL ? ")" : "",
             site != NULL ? site->words
             : is_torch   ? row->torch
                          : row->other);
    return true;
}
