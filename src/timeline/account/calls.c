/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call of the runtime or driver does, by its name. A launch is recognised by the work that
 * it owns; the name only says what kind of call stands in a gap. */
#include "timeline/account/account.h"

#include <string.h>

/* The first row that fits decides. A pattern is a part of the name behind cuda/cu/hip; '^' ties it
 * to the beginning, '$' to the end. */
typedef struct call_row {
    const char *pattern;
    call_class class;
} call_row;

static const call_row rows[] = {
    {"^GraphLaunch", CALL_GRAPH_LAUNCH},
    {"^StreamBeginCapture", CALL_CAPTURE_BEGIN},
    {"^StreamEndCapture", CALL_CAPTURE_END},
    {"^GraphInstantiate", CALL_GRAPH_BUILD},
    {"^GraphExec", CALL_GRAPH_BUILD},
    {"^GraphUpload", CALL_GRAPH_BUILD},
    {"^GraphCreate", CALL_GRAPH_BUILD},
    {"^GraphAdd", CALL_GRAPH_BUILD},
    {"^GraphClone", CALL_GRAPH_BUILD},
    {"^GraphDestroy", CALL_GRAPH_BUILD},
    {"^GraphKernelNode", CALL_GRAPH_BUILD},
    {"Synchronize$", CALL_SYNC},
    {"^StreamWaitValue", CALL_OTHER},
    {"^ModuleLoad", CALL_MODULE},
    {"^ModuleUnload", CALL_MODULE},
    {"^ModuleGetFunction", CALL_MODULE},
    {"^LibraryLoad", CALL_MODULE},
    {"^LibraryUnload", CALL_MODULE},
    {"^LibraryGetKernel", CALL_MODULE},
    {"^KernelGetFunction", CALL_MODULE}, /* loads it, where loading is lazy */
    {"^Link", CALL_MODULE},
    {"^rtc", CALL_MODULE},
    {"^FuncLoad", CALL_MODULE},
    {"^RegisterFatBinary", CALL_MODULE},
    {"^Malloc", CALL_ALLOC},
    {"^Free", CALL_ALLOC},
    {"^HostAlloc", CALL_ALLOC},
    {"^HostMalloc", CALL_ALLOC},
    {"^HostFree", CALL_ALLOC},
    {"^HostRegister", CALL_ALLOC},
    {"^HostUnregister", CALL_ALLOC},
    {"^ExtMalloc", CALL_ALLOC},
    {"^Array3DCreate", CALL_ALLOC},
    {"^ArrayCreate", CALL_ALLOC},
    {"^ArrayDestroy", CALL_ALLOC},
    {"^MemAlloc", CALL_ALLOC},
    {"^MemFree", CALL_ALLOC},
    {"^MemHost", CALL_ALLOC},
    {"^MemCreate", CALL_ALLOC},
    {"^MemRelease", CALL_ALLOC},
    {"^MemMap", CALL_ALLOC},
    {"^MemUnmap", CALL_ALLOC},
    {"^MemSetAccess", CALL_ALLOC},
    {"^MemAddress", CALL_ALLOC},
    {"^MemPool", CALL_ALLOC},
    {"^Memcpy", CALL_COPY},
    {"^Memset", CALL_COPY},
    {"^LaunchHostFunc", CALL_OTHER},
    {"Launch", CALL_LAUNCH},
};

/* Calls whose name begins like one of another kind. */
static const struct {
    const char *name;
    call_class class;
} exceptions[] = {
    {"MemGetInfo", CALL_OTHER},        {"MemHostGetDevicePointer", CALL_OTHER},
    {"MemHostGetFlags", CALL_OTHER},   {"MemPoolGetAttribute", CALL_OTHER},
    {"GraphExecGetFlags", CALL_OTHER},
};

/* How much of name is left without "_v3020", "_ptsz", "_spt". */
static size_t without_suffix(const char *name, size_t length)
{
    for (;;) {
        size_t at = length;

        while (at > 0 && name[at - 1] != '_')
            at--;
        if (at == 0)
            return length;
        if (length - at >= 2 && name[at] == 'v' &&
            strspn(name + at + 1, "0123456789") >= length - at - 1)
            length = at - 1;
        else if ((length - at == 4 &&
                  (memcmp(name + at, "ptsz", 4) == 0 || memcmp(name + at, "ptds", 4) == 0)) ||
                 (length - at == 3 && memcmp(name + at, "spt", 3) == 0))
            length = at - 1;
        else
            return length;
    }
}

/* Behind the name of the interface; 0: not one that is known. */
static size_t prefix_of(const char *name, size_t length)
{
    static const char *const prefixes[] = {"__cuda", "__hip", "cuda", "hip", "nv", "cu"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const size_t size = strlen(prefixes[i]);

        if (length > size && memcmp(name, prefixes[i], size) == 0)
            return size;
    }
    return 0;
}

static bool contains(const char *text, size_t length, const char *part, size_t size)
{
    for (size_t i = 0; i + size <= length; i++)
        if (memcmp(text + i, part, size) == 0)
            return true;
    return false;
}

static bool fits(const char *text, size_t length, const char *pattern)
{
    const bool at_start = pattern[0] == '^';
    const char *const part = pattern + at_start;
    size_t size = strlen(part);
    const bool at_end = part[size - 1] == '$';

    size -= at_end;
    if (size > length)
        return false;
    if (at_start)
        return memcmp(text, part, size) == 0;
    if (at_end)
        return memcmp(text + length - size, part, size) == 0;
    return contains(text, length, part, size);
}

call_class call_class_of(const char *name, size_t length)
{
    const size_t prefix = prefix_of(name, length);

    length = without_suffix(name, length) - prefix;
    name += prefix;
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (length == strlen(exceptions[i].name) && memcmp(name, exceptions[i].name, length) == 0)
            return exceptions[i].class;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (fits(name, length, rows[i].pattern))
            return rows[i].class;
    return CALL_OTHER;
}

bool call_is_async(const char *name, size_t length)
{
    return contains(name, length, "Async", 5);
}
