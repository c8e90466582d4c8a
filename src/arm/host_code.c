/* SPDX-License-Identifier: Apache-2.0
 *
 * Which code a variant for the CPU is. It is compiled into the program or library that has its family,
 * and what it calls and what the compiler put into it cannot be told from the rest there: so its
 * hash is that of all code beside it, as of a plug-in. What is hashed is what is mapped, not the file,
 * which may have been rebuilt since. */
#ifdef __linux__
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <link.h>
#endif

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"
#include "base/hash.h"

#ifdef __linux__
enum { SEGMENTS = 8 };

typedef struct object {
    uintptr_t function; /* that the object has to hold */
    char hashes[SEGMENTS][RIDGE_HASH_TEXT];
    size_t count;
} object;

static const void *at_address(uintptr_t address)
{
    const void *pointer;

    memcpy(&pointer, &address, sizeof(pointer));
    return pointer;
}

/* Of a loaded object: those of its segments that are executed, and read to be hashed. */
static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    object *const wanted = context;
    bool holds = false;
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];

        holds =
            holds || (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
                      wanted->function - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz);
    }
    for (i = 0; holds && i < info->dlpi_phnum && wanted->count < SEGMENTS; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 ||
            (segment->p_flags & PF_R) == 0 || (segment->p_flags & PF_W) != 0)
            continue;
        ridge_hash_text(at_address(info->dlpi_addr + segment->p_vaddr), segment->p_filesz,
                        wanted->hashes[wanted->count++]);
    }
    return holds;
}

void arm_host_code(ridge_arm *arm, const ridge_kernel *kernel, const char *name)
{
    object found = {0};

    memcpy(&found.function, &kernel->launch, sizeof(found.function));
    if (dl_iterate_phdr(look, &found) == 0 || found.count == 0)
        return;
    ridge_hash_text(found.hashes, found.count * sizeof(found.hashes[0]), arm->code.hash);
    memcpy(arm->code.arch, "cpu", 4);
    arm_library_name_code(arm, name);
}
#else
void arm_host_code(ridge_arm *arm, const ridge_kernel *kernel, const char *name)
{
    (void)arm, (void)kernel, (void)name;
}
#endif
