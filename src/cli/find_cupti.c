/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif

#include "find_cupti.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find_program.h"

/* Named by their version, which says what driver they are for. */
#define LIBRARY "libcupti.so.1[1-9]*"
/* Below the folder of Python's packages; some builds of torch bring a copy of their own. */
#define WHEEL "/nvidia/*/lib/" LIBRARY
#define TORCH "/torch/lib/libcupti*.so*"

/* A list of libraries that is being filled. */
struct found {
    char *paths;
    size_t size, length;
};

/* Links are many; a file is taken once. */
static bool is_listed(const struct found *found, const char *real)
{
    const char *at = found->paths;

    while (*at != '\0') {
        const size_t length = strcspn(at, "\n");
        char path[CLI_PATH_BYTES], *other;
        bool is_same;

        snprintf(path, sizeof(path), "%.*s", (int)length, at);
        other = realpath(path, NULL);
        is_same = other != NULL && strcmp(other, real) == 0;
        free(other);
        if (is_same)
            return true;
        at += length;
        at += *at == '\n';
    }
    return false;
}

static void add(struct found *found, const char *path)
{
    char *const real = realpath(path, NULL);
    const size_t length = strlen(path);

    if (real != NULL && strchr(path, '\n') == NULL && length < CLI_PATH_BYTES &&
        length + 2 < found->size - found->length && !is_listed(found, real))
        found->length += (size_t)snprintf(found->paths + found->length, found->size - found->length,
                                          "%s\n", path);
    free(real);
}

/* Of several matches the newest first. */
static void add_matches(struct found *found, const char *folder, const char *pattern)
{
    char whole[2 * CLI_PATH_BYTES];
    glob_t matches = {0};
    size_t i;

    snprintf(whole, sizeof(whole), "%s%s", folder, pattern);
    if (glob(whole, 0, NULL, &matches) == 0)
        for (i = matches.gl_pathc; i > 0; i--)
            add(found, matches.gl_pathv[i - 1]);
    globfree(&matches);
}

/* The folders of a list as PATH is one. */
static void add_list(struct found *found, const char *list)
{
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");
        char folder[CLI_PATH_BYTES];

        if (length > 0 && length < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)length, list);
            add_matches(found, folder, "/" LIBRARY);
        }
        list += length;
        list += *list == ':';
    }
}

/* A prefix that has lib/python3.x. */
static void add_python(struct found *found, const char *prefix)
{
    static const char *const packages[] = {
        "/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"};
    char folder[CLI_PATH_BYTES];
    size_t i;

    for (i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        snprintf(folder, sizeof(folder), "%s%s", prefix, packages[i]);
        add_matches(found, folder, WHEEL);
        add_matches(found, folder, TORCH);
    }
}

/* ".../bin/python3" to "..."; through links too, as those of an environment lead out of it. */
static void add_prefix_of(struct found *found, const char *program)
{
    char prefix[CLI_PATH_BYTES];
    char *slash;

    snprintf(prefix, sizeof(prefix), "%s", program);
    slash = strrchr(prefix, '/');
    if (slash == NULL)
        return;
    *slash = '\0';
    slash = strrchr(prefix, '/');
    if (slash == NULL)
        return;
    *slash = '\0';
    add_python(found, prefix);
}

static void add_program(struct found *found, const char *program)
{
    char path[CLI_PATH_BYTES];
    char *real;

    if (strchr(program, '/') != NULL)
        snprintf(path, sizeof(path), "%s", program);
    else if (!cli_find_program(program, "", path, NULL))
        return;
    add_prefix_of(found, path);
    real = realpath(path, NULL);
    if (real != NULL)
        add_prefix_of(found, real);
    free(real);
}

static void add_environment(struct found *found, const char *program)
{
    const char *const named = getenv("RIDGE_CUPTI");
    const char *const toolkit = getenv("CUDA_HOME");
    const char *const environment = getenv("VIRTUAL_ENV");
    const char *const home = getenv("HOME");
    char folder[CLI_PATH_BYTES];

    if (named != NULL && named[0] != '\0')
        add(found, named);
    add_list(found, getenv("LD_LIBRARY_PATH"));
    if (environment != NULL)
        add_python(found, environment);
    if (program != NULL)
        add_program(found, program);
    add_program(found, "python3");
    if (home != NULL) {
        snprintf(folder, sizeof(folder), "%s/.local", home);
        add_python(found, folder);
    }
    if (toolkit != NULL) {
        add_matches(found, toolkit, "/extras/CUPTI/lib64/" LIBRARY);
        add_matches(found, toolkit, "/targets/*/lib/" LIBRARY);
        add_matches(found, toolkit, "/lib*/" LIBRARY);
    }
}

bool cli_find_cupti(const char *root, const char *program, char *paths, size_t size)
{
    static const char *const places[] = {
        "/usr/local/cuda/extras/CUPTI/lib64/" LIBRARY,
        "/usr/local/cuda/targets/*/lib/" LIBRARY,
        "/usr/local/cuda/lib*/" LIBRARY,
        "/usr/local/cuda-*/extras/CUPTI/lib64/" LIBRARY,
        "/usr/local/cuda-*/targets/*/lib/" LIBRARY,
        "/usr/local/cuda-*/lib*/" LIBRARY,
        "/usr/lib/*-linux-gnu/" LIBRARY,
    };
    struct found found = {paths, size, 0};
    char prefix[CLI_PATH_BYTES];
    size_t i;

    paths[0] = '\0';
    if (root[0] == '\0')
        add_environment(&found, program);
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        add_matches(&found, root, places[i]);
    snprintf(prefix, sizeof(prefix), "%s/usr", root);
    add_python(&found, prefix);
    snprintf(prefix, sizeof(prefix), "%s/usr/local", root);
    add_python(&found, prefix);
    return found.length > 0;
}

void cli_cupti_version(const char *paths, char *out, size_t size)
{
    static const char before[] = "libcupti.so.";
    const char *const line_end = paths + strcspn(paths, "\n");
    const char *const at = strstr(paths, before);

    out[0] = '\0';
    if (at != NULL && at < line_end)
        snprintf(out, size, "%.*s", (int)(line_end - at - (ptrdiff_t)(sizeof(before) - 1)),
                 at + sizeof(before) - 1);
}
