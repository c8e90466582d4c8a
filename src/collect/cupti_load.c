/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cupti_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MOST = 32 };

static const struct symbol {
    const char *name;
    size_t offset; /* of the member */
    bool is_needed;
} symbols[] = {
#define SYMBOL_ROW(name, is_needed, parameters) {#name, offsetof(cupti_calls, name), is_needed},
    CUPTI_FUNCTIONS(SYMBOL_ROW)
#undef SYMBOL_ROW
};

/* The names that a loaded CUPTI goes by. */
static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};

static bool take(cupti_calls *out, const char *path, char *why, size_t why_size)
{
    size_t i;

    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *const address = dlsym(out->library, symbols[i].name);

        if (address == NULL && symbols[i].is_needed) {
            snprintf(why, why_size, "%s has no %s: CUPTI of CUDA 11.8 or later is needed", path,
                     symbols[i].name);
            return false;
        }
        /* POSIX: a void * holds a function's address. */
        memcpy((char *)out + symbols[i].offset, &address, sizeof(address));
    }
    if (out->cuptiGetVersion(&out->version) != CUPTI_OK)
        out->version = 0;
    if (out->version < CUPTI_VERSION_LEAST || out->version >= CUPTI_VERSION_BEYOND) {
        snprintf(why, why_size,
                 "%s is CUPTI %u, expected %d (CUDA 11.8) or later and below %d: the records of "
                 "others were not checked",
                 path, out->version, CUPTI_VERSION_LEAST, CUPTI_VERSION_BEYOND);
        return false;
    }
    snprintf(out->path, sizeof(out->path), "%s", path);
    return true;
}

/* -- choosing ---------------------------------------------------------------------------------- */

/* 12 of ".../libcupti.so.12", 0 when the name does not tell. */
static int major_of(const char *path, size_t length)
{
    static const char before[] = "libcupti.so.";
    size_t i;

    for (i = length; i >= sizeof(before) - 1; i--) {
        const char *const at = path + i - (sizeof(before) - 1);

        if (strncmp(at, before, sizeof(before) - 1) == 0) {
            const long major = strtol(at + sizeof(before) - 1, NULL, 10);

            return major > 0 && major < 100 ? (int)major : 0;
        }
    }
    return 0;
}

/* 13 for a driver of CUDA 13; 0: not known. The driver is there, or is about to be. */
static int driver_major(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    unsigned (*version_of)(int *version) = NULL;
    void *address;
    int version = 0;

    if (library == NULL)
        library = dlopen("libcuda.so.1", RTLD_LAZY);
    if (library == NULL)
        return 0;
    address = dlsym(library, "cuDriverGetVersion");
    memcpy(&version_of, &address, sizeof(address));
    return version_of != NULL && version_of(&version) == 0 ? version / 1000 : 0;
}

/* Less is better: the driver's own version, older ones, those that do not tell, newer ones. */
static int rank(int major, int driver)
{
    if (major == 0 || driver == 0)
        return 100 - major;
    return major <= driver ? driver - major : 200 + major;
}

struct candidate {
    const char *path;
    size_t length;
    int rank;
};

static size_t list(const char *paths, struct candidate out[CANDIDATES_MOST])
{
    const int driver = driver_major();
    size_t count = 0;

    while (*paths != '\0' && count < CANDIDATES_MOST) {
        const size_t length = strcspn(paths, "\n");
        struct candidate found = {paths, length, rank(major_of(paths, length), driver)};
        size_t at = count;

        for (; length > 0 && at > 0 && out[at - 1].rank > found.rank; at--)
            out[at] = out[at - 1];
        if (length > 0) {
            out[at] = found;
            count++;
        }
        paths += length;
        paths += *paths == '\n';
    }
    return count;
}

bool cupti_load(cupti_calls *out, const char *paths, char *why, size_t why_size)
{
    struct candidate candidates[CANDIDATES_MOST];
    char path[sizeof(out->path)];
    size_t i, count;

    memset(out, 0, sizeof(*out));
    for (i = 0; i < sizeof(sonames) / sizeof(sonames[0]); i++) {
        out->library = dlopen(sonames[i], RTLD_NOW | RTLD_NOLOAD);
        if (out->library != NULL)
            return take(out, sonames[i], why, why_size);
    }
    snprintf(why, why_size, "no CUPTI was found");
    count = list(paths, candidates);
    for (i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%.*s", (int)candidates[i].length, candidates[i].path);
        out->library = dlopen(path, RTLD_NOW);
        if (out->library == NULL)
            snprintf(why, why_size, "%s", dlerror());
        else if (take(out, path, why, why_size))
            return true;
    }
    return false;
}
