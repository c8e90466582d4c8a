/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain main() for a fuzz target: feeds it the given files, and the files of the given folders,
 * so that the corpus runs with any compiler in the ordinary tests. Model: regression_driver.c of
 * zstd.
 *
 *     fuzz_NAME_replay [--mutate COUNT] PATH...
 *
 * With --mutate each file is also fed cut short at COUNT places and with COUNT single bits flipped,
 * evenly spread (COUNT 0: at every byte): the damage that real files come with. Each input lies in
 * a block of exactly its size, so that the address sanitizer sees a read one byte too far. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static size_t input_count;

_Noreturn static void die(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

static void *allocate(size_t size_bytes)
{
    void *const block = malloc(size_bytes);

    if (block == NULL && size_bytes > 0)
        die("malloc", "out of memory");
    return block;
}

/* A target may keep nothing of an input: it gets a copy that goes right after. */
static void feed(const uint8_t *data, size_t size_bytes)
{
    uint8_t *const copy = allocate(size_bytes);

    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    LLVMFuzzerTestOneInput(copy, size_bytes);
    free(copy);
    input_count++;
}

static void feed_mutations(uint8_t *data, size_t size_bytes, size_t mutate_count)
{
    const bool every_byte = mutate_count == 0 || size_bytes < mutate_count;
    const size_t step = every_byte ? 1 : size_bytes / mutate_count;
    size_t i;

    for (i = 0; i < size_bytes; i += step)
        feed(data, i);
    for (i = 0; i < size_bytes; i += step) {
        /* All eight bits get their turn, in an order that does not follow the words of a format. */
        const uint8_t bit = (uint8_t)(1u << (i * 5 / step % 8));

        data[i] ^= bit;
        feed(data, size_bytes);
        data[i] ^= bit;
    }
}

static void replay_file(const char *path, size_t size_bytes, bool mutate, size_t mutate_count)
{
    uint8_t *const data = allocate(size_bytes);
    FILE *const file = fopen(path, "rb");

    if (file == NULL)
        die(path, strerror(errno));
    if (fread(data, 1, size_bytes, file) != size_bytes)
        die(path, "cannot be read");
    fclose(file);
    feed(data, size_bytes);
    if (mutate)
        feed_mutations(data, size_bytes, mutate_count);
    free(data);
}

static void replay(const char *path, bool mutate, size_t mutate_count)
{
    struct stat info;
    struct dirent **entries;
    int entry_count;
    int i;

    if (stat(path, &info) != 0)
        die(path, strerror(errno));
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path, (size_t)info.st_size, mutate, mutate_count);
        return;
    }
    /* Sorted, so that a failing run fails the same way again. */
    entry_count = scandir(path, &entries, NULL, alphasort);
    if (entry_count < 0)
        die(path, strerror(errno));
    for (i = 0; i < entry_count; i++) {
        const char *const name = entries[i]->d_name;

        if (name[0] != '.') {
            const size_t room = strlen(path) + strlen(name) + 2;
            char *const inner = allocate(room);

            snprintf(inner, room, "%s/%s", path, name);
            replay(inner, mutate, mutate_count);
            free(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    bool mutate = false;
    size_t mutate_count = 0;
    int i = 1;

    if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
        mutate = true;
        mutate_count = strtoul(argv[2], NULL, 10);
        i = 3;
    }
    if (i >= argc) {
        fprintf(stderr, "usage: %s [--mutate COUNT] PATH...\n", argv[0]);
        return 2;
    }
    feed(NULL, 0);
    for (; i < argc; i++)
        replay(argv[i], mutate, mutate_count);
    printf("%zu inputs\n", input_count);
    return 0;
}
