/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of blocks. One thread reads (and unpacks), others scan, the caller takes the results in
 * the order of the file. A block ends where an event seems to end and the next to begin, going by
 * the text around it alone, and is scanned on that guess. The caller proves it: the guess was right
 * when the block before was scanned to its end and ended between two events; otherwise the caller
 * scans again. What comes out is therefore the same as from one thread.
 *
 * Small files are read and scanned by the caller alone. */
#include "timeline/kineto/kineto_internal.h"

#include <pthread.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 20,
    SLOTS = 8,
    LARGEST_SCANNERS = 3,
    /* Stored bytes below which threads cost more than they give. */
    SMALL_BYTES = 1 << 18
};

typedef enum slot_state { FREE, FILLED, SCANNED } slot_state;

typedef struct block_slot {
    kineto_block block;
    slot_state state;
} block_slot;

struct kineto_blocks {
    kineto_input *input;
    const ridge_trace_options *options;
    block_slot slots[SLOTS];
    size_t next_taken; /* number of the block that the caller gets next */
    bool has_taken;    /* the block before it is the caller's still */
    bool is_last_taken;
    size_t block_bytes;
    /* What was read behind the last boundary. */
    char *rest;
    size_t rest_size;
    /* Threads; all below and the states of slots under the lock. */
    bool has_threads;
    pthread_t reader, scanners[LARGEST_SCANNERS];
    size_t scanner_count, next_filled, next_scanned;
    bool has_reader, is_stopped, all_filled;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* -- filling ----------------------------------------------------------------------------------- */

/* Where the last event of a block seems to begin; size: nowhere. */
static size_t last_boundary(const char *bytes, size_t size)
{
    const char *const end = bytes + size;

    for (size_t at = size; at > 1;) {
        const char *found, *before;

        while (--at > 0 && bytes[at] != '{')
            ;
        if (at == 0)
            break;
        found = before = bytes + at;
        while (before > bytes && kineto_space(before - 1, before) == before)
            before--;
        if (before == bytes || before[-1] != ',')
            continue;
        do
            before--;
        while (before > bytes && kineto_space(before - 1, before) == before);
        if (before > bytes && before[-1] == '}' && kineto_is_event(found, bytes, end))
            return at;
    }
    return size;
}

/* Of the reader: the rest of the block before, new bytes, and a new rest. */
static void fill(kineto_blocks *blocks, kineto_block *block)
{
    size_t wanted, got, boundary;

    if (block->bytes == NULL)
        block->bytes = ridge_calloc(blocks->block_bytes + KINETO_GUARD_BYTES, 1);
    if (block->bytes == NULL) {
        *block = (kineto_block){.failed = true, .is_last = true};
        return;
    }
    memcpy(block->bytes, blocks->rest, blocks->rest_size);
    wanted = blocks->block_bytes - blocks->rest_size;
    got = kineto_input_read(blocks->input, block->bytes + blocks->rest_size, wanted);
    block->size = blocks->rest_size + got;
    block->is_last = got < wanted;
    block->is_scanned = false;
    blocks->rest_size = 0;
    boundary = block->is_last ? block->size : last_boundary(block->bytes, block->size);
    /* A rest that leaves no room for new bytes would come again for ever. */
    if (boundary < block->size && block->size - boundary < blocks->block_bytes / 2) {
        blocks->rest_size = block->size - boundary;
        memcpy(blocks->rest, block->bytes + boundary, blocks->rest_size);
        block->size = boundary;
    }
    memset(block->bytes + block->size, 0, KINETO_GUARD_BYTES);
}

static void scan(const kineto_blocks *blocks, kineto_block *block)
{
    if (block->failed)
        return;
    kineto_scan_events(block->bytes, block->size, blocks->options, false, &block->events);
    block->is_scanned = true;
}

/* -- threads ----------------------------------------------------------------------------------- */

static void *run_reader(void *argument)
{
    kineto_blocks *const blocks = argument;
    bool is_last = false;

    for (size_t number = 0; !is_last; number++) {
        block_slot *const slot = &blocks->slots[number % SLOTS];
        bool stopped;

        pthread_mutex_lock(&blocks->lock);
        while (slot->state != FREE && !blocks->is_stopped)
            pthread_cond_wait(&blocks->changed, &blocks->lock);
        stopped = blocks->is_stopped;
        pthread_mutex_unlock(&blocks->lock);
        if (stopped)
            break;
        fill(blocks, &slot->block);
        is_last = slot->block.is_last;
        pthread_mutex_lock(&blocks->lock);
        slot->state = FILLED;
        blocks->next_filled = number + 1;
        blocks->all_filled = is_last;
        pthread_cond_broadcast(&blocks->changed);
        pthread_mutex_unlock(&blocks->lock);
    }
    return NULL;
}

static void *run_scanner(void *argument)
{
    kineto_blocks *const blocks = argument;

    pthread_mutex_lock(&blocks->lock);
    for (;;) {
        block_slot *slot;

        while (blocks->next_scanned == blocks->next_filled && !blocks->all_filled &&
               !blocks->is_stopped)
            pthread_cond_wait(&blocks->changed, &blocks->lock);
        if (blocks->is_stopped || blocks->next_scanned == blocks->next_filled)
            break;
        slot = &blocks->slots[blocks->next_scanned++ % SLOTS];
        pthread_mutex_unlock(&blocks->lock);
        scan(blocks, &slot->block);
        pthread_mutex_lock(&blocks->lock);
        slot->state = SCANNED;
        pthread_cond_broadcast(&blocks->changed);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

static size_t wanted_scanners(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (processors < 2)
        return 1;
    return processors > LARGEST_SCANNERS ? LARGEST_SCANNERS : (size_t)processors;
}

/* Without threads, the caller does all. */
static void start_threads(kineto_blocks *blocks)
{
    if (pthread_mutex_init(&blocks->lock, NULL) != 0)
        return;
    if (pthread_cond_init(&blocks->changed, NULL) != 0) {
        pthread_mutex_destroy(&blocks->lock);
        return;
    }
    blocks->has_threads = true;
    for (size_t i = wanted_scanners(); i-- > 0;)
        if (pthread_create(&blocks->scanners[blocks->scanner_count], NULL, run_scanner, blocks) ==
            0)
            blocks->scanner_count++;
    if (blocks->scanner_count > 0 && pthread_create(&blocks->reader, NULL, run_reader, blocks) == 0)
        blocks->has_reader = true;
}

static void stop_threads(kineto_blocks *blocks)
{
    if (!blocks->has_threads)
        return;
    pthread_mutex_lock(&blocks->lock);
    blocks->is_stopped = true;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
    if (blocks->has_reader)
        pthread_join(blocks->reader, NULL);
    for (size_t i = 0; i < blocks->scanner_count; i++)
        pthread_join(blocks->scanners[i], NULL);
    pthread_cond_destroy(&blocks->changed);
    pthread_mutex_destroy(&blocks->lock);
}

/* -- the caller's side ------------------------------------------------------------------------- */

ridge_status kineto_blocks_open(kineto_input *input, const ridge_trace_options *options,
                                kineto_blocks **out, ridge_error *err)
{
    kineto_blocks *const blocks = ridge_calloc(1, sizeof(*blocks));

    *out = blocks;
    if (blocks == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    blocks->input = input;
    blocks->options = options;
    blocks->block_bytes = BLOCK_BYTES;
    if (!kineto_input_is_packed(input) && kineto_input_size(input) < BLOCK_BYTES)
        blocks->block_bytes = (size_t)kineto_input_size(input) + 1; /* one more, to see the end */
    blocks->rest = ridge_calloc(blocks->block_bytes, 1);
    if (blocks->rest == NULL) {
        kineto_blocks_free(blocks);
        *out = NULL;
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    if (kineto_input_size(input) >= SMALL_BYTES)
        start_threads(blocks);
    return RIDGE_OK;
}

void kineto_blocks_free(kineto_blocks *blocks)
{
    if (blocks == NULL)
        return;
    stop_threads(blocks);
    for (size_t i = 0; i < SLOTS; i++) {
        ridge_free(blocks->slots[i].block.bytes);
        ridge_free(blocks->slots[i].block.events.rows);
    }
    ridge_free(blocks->rest);
    ridge_free(blocks);
}

kineto_block *kineto_blocks_next(kineto_blocks *blocks)
{
    block_slot *slot;

    if (blocks->is_last_taken)
        return NULL;
    if (!blocks->has_reader) {
        slot = &blocks->slots[0];
        fill(blocks, &slot->block);
    } else {
        pthread_mutex_lock(&blocks->lock);
        if (blocks->has_taken) {
            blocks->slots[(blocks->next_taken - 1) % SLOTS].state = FREE;
            pthread_cond_broadcast(&blocks->changed);
        }
        slot = &blocks->slots[blocks->next_taken++ % SLOTS];
        while (slot->state != SCANNED)
            pthread_cond_wait(&blocks->changed, &blocks->lock);
        pthread_mutex_unlock(&blocks->lock);
        blocks->has_taken = true;
    }
    blocks->is_last_taken = slot->block.is_last;
    return &slot->block;
}
