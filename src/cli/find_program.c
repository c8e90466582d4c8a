/* SPDX-License-Identifier: Apache-2.0 */
#include "find_program.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool cli_find_file(const char *root, const char *pattern, char path[CLI_PATH_BYTES])
{
    char rooted[2 * CLI_PATH_BYTES];
    glob_t found = {0};
    size_t used = 0;
    bool is_found;

    /* A folder may have any name: only the pattern is one. */
    for (; *root != '\0' && used + 2 < CLI_PATH_BYTES; root++) {
        if (strchr("*?[\\", *root) != NULL)
            rooted[used++] = '\\';
        rooted[used++] = *root;
    }
    snprintf(rooted + used, sizeof(rooted) - used, "%s", pattern);
    is_found = *root == '\0' && glob(rooted, 0, NULL, &found) == 0 && found.gl_pathc > 0 &&
               strlen(found.gl_pathv[found.gl_pathc - 1]) < CLI_PATH_BYTES;
    if (is_found)
        snprintf(path, CLI_PATH_BYTES, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return is_found;
}

static bool find_on_path(const char *name, char path[CLI_PATH_BYTES])
{
    const char *at = getenv("PATH");

    while (at != NULL && *at != '\0') {
        const int length = (int)strcspn(at, ":");

        if (length > 0 &&
            snprintf(path, CLI_PATH_BYTES, "%.*s/%s", length, at, name) < CLI_PATH_BYTES &&
            cli_is_program(path))
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

bool cli_find_program(const char *name, const char *root, char path[CLI_PATH_BYTES],
                      bool *is_on_path)
{
    /* The toolkit first. */
    static const char *const places[] = {"/usr/local/cuda/bin", "/usr/local/cuda-*/bin",
                                         "/opt/nvidia/nsight-compute/*",
                                         "/usr/local/NVIDIA-Nsight-Compute*"};
    const bool is_there = find_on_path(name, path);
    size_t i;

    if (is_on_path != NULL)
        *is_on_path = is_there;
    if (is_there)
        return true;
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char pattern[CLI_PATH_BYTES];

        snprintf(pattern, sizeof(pattern), "%s/%s", places[i], name);
        if (cli_find_file(root, pattern, path) && cli_is_program(path))
            return true;
    }
    return false;
}
