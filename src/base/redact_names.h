/* SPDX-License-Identifier: Apache-2.0
 *
 * What every redaction shares: the names that were found, and the rewriting of text by them.
 *
 * A file is walked twice in the same way: first the names are learned, then the text is rewritten.
 * Every rewriting keeps the length of the text, so that text may stand in the middle of anything,
 * and reads the original only, so that text seen twice is rewritten to the same. */
#ifndef RIDGE_BASE_REDACT_NAMES_H
#define RIDGE_BASE_REDACT_NAMES_H

#include "base/cursor.h"
#include "base/memory.h"

enum {
    REDACT_NAMES = 1024,           /* at most; what has more is not the report of one session */
    REDACT_DIRECTORIES = 1 << 20,  /* kept apart; further ones get the same name */
    REDACT_NAME_LEAST_BYTES = 3,   /* shorter ones stand everywhere by chance */
    REDACT_NAME_BUCKETS = 1 << 12, /* a power of two */
};

typedef enum redact_kind {
    REDACT_HOST,
    REDACT_USER,
    REDACT_ADDRESS,
    REDACT_PLACE, /* the first two directories of a path: "/home/ann" */
    REDACT_KINDS
} redact_kind;

/* Text that must not stand anywhere. */
typedef struct redact_name {
    redact_kind kind;
    ridge_slice text; /* borrowed, see copies_text */
    bool is_common;   /* a word of the file's own, or short: it is left where it is mentioned */
    uint32_t next;    /* in its bucket, plus 1; 0: the last */
} redact_name;

/* One directory of a path, with what stands for it. */
typedef struct redact_directory {
    ridge_slice text; /* borrowed, see copies_text */
    uint32_t number;  /* among those of its length, in order of appearance */
} redact_directory;

typedef struct redact_names {
    ridge_arena arena;
    redact_name *names; /* REDACT_NAMES */
    size_t name_count;
    uint32_t buckets[REDACT_NAME_BUCKETS]; /* by the first three bytes: index plus 1 */
    size_t kind_count[REDACT_KINDS];
    redact_directory *directories;
    size_t directory_count, directory_capacity;
    uint32_t *directory_slots; /* hash table of index plus 1; size a power of two */
    size_t directory_slot_count;
    uint32_t length_count[9]; /* directories of a length; those of 8 and more together */
    size_t path_count, mention_count;
    const redact_name *found; /* by the last redact_mentions() that found one */
    bool copies_text;         /* to be set after the start: what is learned outlives the text */
    bool out_of_memory, too_many;
} redact_names;

typedef enum redact_path_end {
    REDACT_END_GUESS, /* a file when it has an extension and is no known directory */
    REDACT_END_FILE,
    REDACT_END_DIRECTORY
} redact_path_end;

/* False when out of memory. */
bool redact_names_init(redact_names *names);
void redact_names_release(redact_names *names);

/* Learns a name as it stands in its own field. Words that say nothing are passed over. */
void redact_learn_name(redact_names *names, redact_kind kind, ridge_slice text);
/* True for "localhost" and the like: there is nothing to hide. */
bool redact_says_nothing(ridge_slice text);
/* To be called when everything was learned, with texts of metric names: what stands there as a
 * word is common. */
void redact_learn_common(redact_names *names, ridge_slice vocabulary);

/* All of these read from text and, with to not NULL, write what changes to the copy at to;
 * else they learn. */

/* The whole text is one path. */
void redact_path(redact_names *names, ridge_slice text, redact_path_end end, uint8_t *to);
/* Rewrites the absolute paths in a text. */
void redact_paths_in(redact_names *names, ridge_slice text, uint8_t *to);
/* The same in each printable run of binary data. */
void redact_paths_in_runs(redact_names *names, ridge_slice bytes, uint8_t *to);

/* Replaces all names, in the copy at to; with to NULL only counts them. Returns how many there
 * were, when writing without those in paths. bytes may be the copy itself. */
size_t redact_mentions(redact_names *names, ridge_slice bytes, uint8_t *to);
/* The same with places only. */
void redact_places(redact_names *names, ridge_slice bytes, uint8_t *to);

#endif
