/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/spool_write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES = 1 << 18, FILES_MOST = 1000, SLOTS_FIRST = 4096 };

/* A text that is in the file. */
struct slot {
    uint64_t hash;
    char *text; /* NULL: free */
    uint32_t id;
};

static struct {
    pthread_mutex_t lock;
    int descriptor; /* -1: none */
    pid_t owner;
    size_t used;
    struct slot *slots;
    size_t slot_count; /* a power of two */
    uint32_t text_count;
    unsigned char batch[BATCH_BYTES];
} spool = {.lock = PTHREAD_MUTEX_INITIALIZER, .descriptor = -1};

/* -- bytes ------------------------------------------------------------------------------------- */

/* A full disk ends the file; what is in it stays readable. */
static void flush(void)
{
    size_t done = 0;

    while (done < spool.used && spool.descriptor >= 0) {
        const ssize_t part = write(spool.descriptor, spool.batch + done, spool.used - done);

        if (part > 0) {
            done += (size_t)part;
        } else if (errno != EINTR) {
            close(spool.descriptor);
            spool.descriptor = -1;
        }
    }
    spool.used = 0;
}

static void put(const void *bytes, size_t size)
{
    memcpy(spool.batch + spool.used, bytes, size);
    spool.used += size;
}

/* A record of a structure and bytes behind it, both far smaller than a batch. */
static void add(enum spool_type type, const void *row, size_t size, const void *tail,
                size_t tail_size)
{
    const spool_head head = {(uint32_t)type, (uint32_t)(size + tail_size)};

    if (sizeof(head) + size + tail_size > BATCH_BYTES - spool.used)
        flush();
    put(&head, sizeof(head));
    put(row, size);
    if (tail_size > 0)
        put(tail, tail_size);
}

void spool_add(enum spool_type type, const void *row, size_t size)
{
    add(type, row, size, NULL, 0);
}

void spool_add_fault(const char *line)
{
    const spool_fault fault = {0};

    add(SPOOL_FAULT, &fault, sizeof(fault), line, strnlen(line, SPOOL_TEXT_MOST));
}

/* -- texts ------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t i;

    for (i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

static bool grow(void)
{
    const size_t count = spool.slot_count > 0 ? spool.slot_count * 2 : SLOTS_FIRST;
    struct slot *const slots = calloc(count, sizeof(*slots));
    size_t i;

    if (slots == NULL)
        return false;
    for (i = 0; i < spool.slot_count; i++) {
        size_t at = (size_t)spool.slots[i].hash & (count - 1);

        if (spool.slots[i].text == NULL)
            continue;
        while (slots[at].text != NULL)
            at = (at + 1) & (count - 1);
        slots[at] = spool.slots[i];
    }
    free(spool.slots);
    spool.slots = slots;
    spool.slot_count = count;
    return true;
}

/* By its bytes, not its address: CUPTI may use an address again. */
uint32_t spool_text_of(const char *text)
{
    spool_text row;
    size_t length, at;
    uint64_t hash;
    char *copy;

    if (text == NULL || (spool.text_count + 1 >= spool.slot_count / 2 && !grow()))
        return 0;
    length = strnlen(text, SPOOL_TEXT_MOST);
    hash = hash_of(text, length);
    for (at = (size_t)hash & (spool.slot_count - 1); spool.slots[at].text != NULL;
         at = (at + 1) & (spool.slot_count - 1))
        if (spool.slots[at].hash == hash && strncmp(spool.slots[at].text, text, length) == 0 &&
            spool.slots[at].text[length] == '\0')
            return spool.slots[at].id;
    copy = strndup(text, length);
    if (copy == NULL)
        return 0;
    row.id = ++spool.text_count;
    spool.slots[at] = (struct slot){hash, copy, row.id};
    add(SPOOL_TEXT, &row, sizeof(row), copy, length);
    return row.id;
}

/* -- life -------------------------------------------------------------------------------------- */

bool spool_open(const char *folder, const spool_header *header)
{
    char path[4096];
    int i;

    /* A process that starts another program in its place keeps its number. */
    for (i = 0; i < FILES_MOST && spool.descriptor < 0; i++) {
        snprintf(path, sizeof(path), "%s/%ld-%d" SPOOL_SUFFIX, folder, (long)getpid(), i);
        spool.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (spool.descriptor < 0 && errno != EEXIST)
            return false;
    }
    if (spool.descriptor < 0)
        return false;
    spool.owner = getpid();
    put(header, sizeof(*header));
    flush();
    return true;
}

bool spool_is_mine(void)
{
    return spool.owner == getpid();
}

void spool_lock(void)
{
    pthread_mutex_lock(&spool.lock);
}

void spool_unlock(void)
{
    flush();
    pthread_mutex_unlock(&spool.lock);
}
