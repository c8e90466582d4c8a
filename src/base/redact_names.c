/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that must go, and text without them.
 *
 * Directories are replaced one by one: equal ones by equal ones, different ones of a length by
 * different ones. So a directory and a file that are joined after the rewriting give the rewritten
 * joined path, as the line table of a cubin needs, and "." and ".." mean what they meant. */
#include "base/redact_names.h"

#include <assert.h>
#include <string.h>

/* -- characters -------------------------------------------------------------------------------- */

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(uint8_t c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_separator(uint8_t c)
{
    return c == '/' || c == '\\';
}

/* What a directory in the middle of a text can consist of. */
static bool is_path_character(uint8_t c)
{
    return c > ' ' && c != 0x7f && memchr("\"'`<>|:;,()[]{}*?\\/", c, 19) == NULL;
}

/* Size of the printable character at text, of which left bytes can be read; 0: there is none. */
static size_t printable_size(const uint8_t *text, size_t left)
{
    const uint8_t lead = text[0];
    const size_t size = lead < 0x80 ? 1u : lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : 4u;
    size_t i;

    if (lead < 0x80)
        return (lead >= ' ' && lead != 0x7f) || lead == '\t' || lead == '\n' || lead == '\r';
    if (lead < 0xc2 || lead > 0xf4 || size > left)
        return 0;
    for (i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool equals(ridge_slice a, ridge_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_one_of(ridge_slice text, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t i = 0;

        while (i < text.size && (*words)[i] != '\0' && lower(text.data[i]) == (uint8_t)(*words)[i])
            i++;
        if (i == text.size && (*words)[i] == '\0')
            return true;
    }
    return false;
}

/* What is learned, for as long as the names live; false: out of memory. */
static bool keep_text(redact_names *names, ridge_slice *text)
{
    if (!names->copies_text)
        return true;
    text->data =
        (const uint8_t *)ridge_alloc_text(&names->arena, (const char *)text->data, text->size);
    names->out_of_memory = names->out_of_memory || text->data == NULL;
    return text->data != NULL;
}

/* -- directories ------------------------------------------------------------------------------- */

static size_t hash_of(ridge_slice text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    size_t i;

    for (i = 0; i < text.size; i++)
        hash = (hash ^ text.data[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 32));
}

/* The slot of a directory, or the empty one where it belongs. */
static size_t slot_of(const redact_names *names, ridge_slice text)
{
    const size_t mask = names->directory_slot_count - 1;
    size_t slot = hash_of(text) & mask;

    while (names->directory_slots[slot] != 0 &&
           !equals(names->directories[names->directory_slots[slot] - 1].text, text))
        slot = (slot + 1) & mask;
    return slot;
}

static const redact_directory *find_directory(const redact_names *names, ridge_slice text)
{
    const uint32_t index = names->directory_slots[slot_of(names, text)];

    return index != 0 ? &names->directories[index - 1] : NULL;
}

/* Doubles both tables when the slots are half full. */
static bool grow_directories(redact_names *names)
{
    const size_t capacity = names->directory_capacity * 2;
    redact_directory *directories;
    size_t i;

    if (names->directory_count < names->directory_capacity)
        return true;
    directories = ridge_alloc_array(&names->arena, capacity, sizeof(*directories));
    names->directory_slots = ridge_alloc_array(&names->arena, capacity * 2, sizeof(uint32_t));
    if (directories == NULL || names->directory_slots == NULL)
        return false;
    memcpy(directories, names->directories, names->directory_count * sizeof(*directories));
    names->directories = directories;
    names->directory_capacity = capacity;
    names->directory_slot_count = capacity * 2;
    for (i = 0; i < names->directory_count; i++)
        names->directory_slots[slot_of(names, directories[i].text)] = (uint32_t)i + 1;
    return true;
}

static void learn_directory(redact_names *names, ridge_slice text)
{
    const size_t length = text.size < 8 ? text.size : 8;
    redact_directory *directory;

    if (names->out_of_memory || names->directory_count == REDACT_DIRECTORIES ||
        find_directory(names, text) != NULL)
        return;
    if (!grow_directories(names)) {
        names->out_of_memory = true;
        return;
    }
    if (!keep_text(names, &text))
        return;
    assert(names->directories != NULL); /* made with the names */
    directory = &names->directories[names->directory_count++];
    directory->text = text;
    directory->number = names->length_count[length]++;
    names->directory_slots[slot_of(names, text)] = (uint32_t)names->directory_count;
}

/* "____", "___1", ... "___z", "__10": the number in base 36, after underscores. A number that does
 * not fit is left out: then two directories become one, which hides no less. */
static void write_directory(const redact_names *names, ridge_slice text, uint8_t *to)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const redact_directory *const directory = find_directory(names, text);
    uint32_t number = directory != NULL ? directory->number : 0;
    size_t at = text.size;

    memset(to, '_', text.size);
    for (; number > 0 && at > 0; number /= 36)
        to[--at] = (uint8_t)digits[number % 36];
    if (number > 0)
        memset(to, '_', text.size);
}

/* -- names ------------------------------------------------------------------------------------- */

static size_t bucket_of(const uint8_t *bytes, size_t size)
{
    uint32_t key = 0;
    size_t i;

    for (i = 0; i < size && i < REDACT_NAME_LEAST_BYTES; i++)
        key |= (uint32_t)bytes[i] << (8 * i);
    return (key * 2654435761u >> 12) & (REDACT_NAME_BUCKETS - 1); /* Knuth's hash */
}

bool redact_names_init(redact_names *names)
{
    memset(names, 0, sizeof(*names));
    ridge_arena_init(&names->arena);
    names->directory_capacity = 256;
    names->directory_slot_count = 2 * names->directory_capacity;
    names->names = ridge_alloc_array(&names->arena, REDACT_NAMES, sizeof(*names->names));
    names->directories =
        ridge_alloc_array(&names->arena, names->directory_capacity, sizeof(*names->directories));
    names->directory_slots =
        ridge_alloc_array(&names->arena, names->directory_slot_count, sizeof(uint32_t));
    if (names->names != NULL && names->directories != NULL && names->directory_slots != NULL)
        return true;
    redact_names_release(names);
    return false;
}

void redact_names_release(redact_names *names)
{
    ridge_arena_release(&names->arena);
    memset(names, 0, sizeof(*names));
}

/* "____", "___1": what write_directory() writes, so that a report can be redacted again. The number
 * has to be small beside the underscores, or "_ann" would be one. */
static bool is_placeholder(ridge_slice part)
{
    size_t underscores = 0;
    size_t i;

    while (underscores < part.size && part.data[underscores] == '_')
        underscores++;
    for (i = underscores; i < part.size; i++)
        if (!is_word(part.data[i]) || lower(part.data[i]) != part.data[i])
            return false;
    return underscores > 0 && part.size - underscores <= (underscores + 1) / 2 &&
           part.size - underscores <= 2;
}

bool redact_says_nothing(ridge_slice text)
{
    static const char *const words[] = {
        "localhost", "127.0.0.1", "0.0.0.0", "::1",     "root",   "user",    "users",
        "home",      "admin",     "ubuntu",  "debian",  "centos", "public",  "shared",
        "runner",    "docker",    "nvidia",  "cuda",    "test",   "default", "guest",
        "work",      "workspace", "linux",   "windows", "none",   NULL};

    return text.size == 0 || is_placeholder(text) || is_one_of(text, words);
}

static void add_name(redact_names *names, redact_kind kind, ridge_slice text)
{
    uint32_t *const bucket = &names->buckets[bucket_of(text.data, text.size)];
    redact_name *name;
    uint32_t i;

    if (names->too_many)
        return;
    for (i = *bucket; i != 0; i = names->names[i - 1].next)
        if (equals(names->names[i - 1].text, text))
            return;
    if (names->name_count == REDACT_NAMES) {
        names->too_many = true;
        return;
    }
    if (!keep_text(names, &text))
        return;
    name = &names->names[names->name_count++];
    *name = (redact_name){.kind = kind, .text = text, .next = *bucket};
    name->is_common = text.size < REDACT_NAME_LEAST_BYTES;
    *bucket = (uint32_t)names->name_count;
    names->kind_count[kind]++;
}

/* The text up to a character. */
static ridge_slice up_to(ridge_slice text, char end)
{
    const uint8_t *const found = text.size > 0 ? memchr(text.data, end, text.size) : NULL;
    const ridge_slice part = {text.data, found != NULL ? (size_t)(found - text.data) : text.size};

    return part;
}

void redact_learn_name(redact_names *names, redact_kind kind, ridge_slice text)
{
    const ridge_slice label = up_to(text, kind == REDACT_ADDRESS ? '%' : '.');

    if (redact_says_nothing(text))
        return;
    add_name(names, kind, text);
    /* A host is also known by the first label of its name, an address without its interface. */
    if (kind != REDACT_USER && kind != REDACT_PLACE && label.size < text.size &&
        label.size >= REDACT_NAME_LEAST_BYTES && !redact_says_nothing(label)) {
        const size_t count = names->kind_count[kind];

        add_name(names, kind, label);
        names->kind_count[kind] = count; /* the same one */
    }
}

/* True when what stands at an offset is this name and not a part of a longer word. */
static bool is_name_at(const redact_name *name, ridge_slice bytes, size_t at)
{
    const uint8_t before = at > 0 ? bytes.data[at - 1] : 0;
    uint8_t after;

    if (name->text.size > bytes.size - at ||
        memcmp(bytes.data + at, name->text.data, name->text.size) != 0)
        return false;
    after = at + name->text.size < bytes.size ? bytes.data[at + name->text.size] : 0;
    switch (name->kind) {
    case REDACT_PLACE:
        return !is_path_character(after);
    case REDACT_ADDRESS:
        return !is_word(before) && !is_word(after);
    default:
        /* Digits are no part of it, for "ann" is found in "_ZN3ann3fooE". Three letters stand in
         * binary data by chance, between bytes that are no text. */
        if (name->text.size == 3 && (before < ' ' || before >= 0x7f) &&
            (after < ' ' || after >= 0x7f) && bytes.size > 3)
            return false;
        return !is_letter(before) && !is_letter(after);
    }
}

/* The name that stands at an offset; NULL: none. The longest one, when several do. */
static redact_name *name_at(const redact_names *names, ridge_slice bytes, size_t at)
{
    uint32_t i = names->buckets[bucket_of(bytes.data + at, REDACT_NAME_LEAST_BYTES)];
    redact_name *longest = NULL;

    for (; i != 0; i = names->names[i - 1].next) {
        redact_name *const name = &names->names[i - 1];

        if (!name->is_common && (longest == NULL || name->text.size > longest->text.size) &&
            is_name_at(name, bytes, at))
            longest = name;
    }
    return longest;
}

void redact_learn_common(redact_names *names, ridge_slice vocabulary)
{
    size_t at;

    for (at = 0; at + REDACT_NAME_LEAST_BYTES <= vocabulary.size; at++) {
        redact_name *const name = name_at(names, vocabulary, at);

        if (name != NULL && name->kind != REDACT_PLACE)
            name->is_common = true;
    }
}

/* -- paths ------------------------------------------------------------------------------------- */

/* A path while its parts are visited. */
typedef struct path_walk {
    ridge_slice text;
    size_t at;
    ridge_slice part; /* a directory or a file */
    size_t index;     /* of the part, without a drive */
    bool is_last;     /* no separator behind it */
    bool is_drive;    /* "C:" */
} path_walk;

static bool next_part(path_walk *path)
{
    const bool is_first = path->part.data == NULL;
    size_t start;

    while (path->at < path->text.size && is_separator(path->text.data[path->at]))
        path->at++;
    start = path->at;
    while (path->at < path->text.size && !is_separator(path->text.data[path->at]))
        path->at++;
    if (path->at == start)
        return false;
    if (!is_first && !path->is_drive)
        path->index++;
    path->part.data = path->text.data + start;
    path->part.size = path->at - start;
    path->is_last = path->at == path->text.size;
    path->is_drive = start == 0 && path->part.size == 2 && path->part.data[1] == ':';
    return true;
}

static bool is_absolute(ridge_slice text)
{
    return text.size > 0 &&
           (is_separator(text.data[0]) || (text.size > 2 && is_letter(text.data[0]) &&
                                           text.data[1] == ':' && is_separator(text.data[2])));
}

static bool has_extension(ridge_slice part)
{
    size_t i;

    for (i = 1; i + 1 < part.size; i++)
        if (part.data[i] == '.' && is_word(part.data[i + 1]))
            return true;
    return false;
}

/* Directories that are called so on most machines: they tell nothing and stay, so that headers of
 * the toolkit can still be told from a user's own. */
static bool is_public_directory(ridge_slice part)
{
    static const char *const words[] = {
        "usr",   "local",  "bin",     "lib",          "lib64",      "include",       "opt", "home",
        "users", "tmp",    "var",     "src",          "cuda",       "targets",       "crt", "cub",
        "cute",  "thrust", "cutlass", "x86_64-linux", "sbsa-linux", "aarch64-linux", NULL};

    return is_one_of(part, words);
}

static bool is_dots(ridge_slice part)
{
    return ridge_slice_is(part, ".") || ridge_slice_is(part, "..");
}

static bool is_kept(const redact_names *names, const path_walk *path, redact_path_end end)
{
    if (path->is_drive || is_dots(path->part))
        return true;
    if (path->is_last && end == REDACT_END_FILE)
        return true;
    if (find_directory(names, path->part) != NULL)
        return false;
    return is_public_directory(path->part) ||
           (path->is_last && end == REDACT_END_GUESS && has_extension(path->part));
}

static bool is_system_directory(ridge_slice part)
{
    static const char *const words[] = {"usr",  "lib", "lib64", "bin",           "etc",
                                        "proc", "dev", "sys",   "program files", NULL};

    return is_one_of(part, words);
}

static void learn_path(redact_names *names, ridge_slice text, redact_path_end end)
{
    static const char *const homes[] = {"home", "users", NULL};
    const bool absolute = is_absolute(text);
    path_walk path = {.text = text};
    ridge_slice first = {NULL, 0};
    bool is_home = false;

    while (next_part(&path)) {
        const ridge_slice part = path.part;

        if (path.is_drive || is_dots(part))
            continue;
        if (is_home) {
            redact_learn_name(names, REDACT_USER, part);
            learn_directory(names, part);
        }
        is_home = absolute && is_one_of(part, homes);
        if (absolute && path.index == 0)
            first = part;
        if (is_kept(names, &path, end))
            continue;
        learn_directory(names, part);
        if (absolute && path.index == 1 && !is_system_directory(first) &&
            !(is_placeholder(part) && (is_placeholder(first) || is_public_directory(first)))) {
            const ridge_slice place = {text.data, (size_t)(part.data + part.size - text.data)};

            add_name(names, REDACT_PLACE, place);
        }
    }
}

void redact_path(redact_names *names, ridge_slice text, redact_path_end end, uint8_t *to)
{
    path_walk path = {.text = text};
    bool changed = false;

    if (to == NULL) {
        learn_path(names, text, end);
        return;
    }
    while (next_part(&path)) {
        uint8_t *const part = to + (path.part.data - text.data);

        if (is_kept(names, &path, end)) {
            names->mention_count += redact_mentions(names, path.part, part);
            continue;
        }
        write_directory(names, path.part, part);
        changed = true;
    }
    names->path_count += changed;
}

/* -- paths in text ----------------------------------------------------------------------------- */

/* In binary data any byte may stand before a path. */
static bool begins_with_root(ridge_slice text, size_t at)
{
    static const char *const roots[] = {"home", "root", "users",   "tmp",       "var",
                                        "usr",  "opt",  "scratch", "workspace", NULL};
    ridge_slice part = {text.data + at + 1, 0};

    while (at + 1 + part.size < text.size && part.size < 10 && is_letter(part.data[part.size]))
        part.size++;
    return at + 1 + part.size < text.size && part.data[part.size] == '/' && is_one_of(part, roots);
}

/* True when a path may start at an offset, as far as what stands before it tells. */
static bool can_start(ridge_slice text, size_t at)
{
    const uint8_t before = at > 0 ? text.data[at - 1] : ' ';

    if (before <= ' ' || memchr("\"'`=([{<,;:|>@&", before, 15) != NULL)
        return true;
    if (at >= 7 && memcmp(text.data + at - 7, "file://", 7) == 0)
        return true;
    if (begins_with_root(text, at))
        return true;
    return is_letter(before) && at >= 2 && text.data[at - 2] == '-'; /* -I/usr/include */
}

static size_t posix_end(ridge_slice text, size_t at)
{
    while (at < text.size && (text.data[at] == '/' || is_path_character(text.data[at])))
        at++;
    while (text.data[at - 1] == '.') /* of the sentence */
        at--;
    return at;
}

/* Directories of Windows may hold spaces, so that a path goes on as long as a separator follows. */
static size_t windows_end(ridge_slice text, size_t at)
{
    size_t end = at;

    while (at < text.size && (is_separator(text.data[at]) || is_path_character(text.data[at]) ||
                              (text.data[at] != 0 && memchr(" ,;()[]{}'", text.data[at], 10)))) {
        if (is_separator(text.data[at]))
            end = at + 1;
        at++;
    }
    while (end < text.size && is_path_character(text.data[end]))
        end++;
    while (end > 0 && text.data[end - 1] == '.')
        end--;
    return end;
}

/* The end of the absolute path that starts at an offset; the offset when there is none. */
static size_t path_end(ridge_slice text, size_t at)
{
    const size_t left = text.size - at;
    const uint8_t *const p = text.data + at;

    if (left < 4)
        return at;
    if (p[0] == '/' && is_path_character(p[1]) && can_start(text, at))
        return posix_end(text, at);
    if (is_letter(p[0]) && p[1] == ':' && is_separator(p[2]) && (at == 0 || !is_word(p[-1])) &&
        (is_path_character(p[3]) || p[3] == p[2]))
        return windows_end(text, at + 3);
    if (p[0] == '\\' && p[1] == '\\' && is_word(p[2]) && can_start(text, at))
        return windows_end(text, at + 2);
    return at;
}

/* "/half" alone is no path. */
static bool has_directory(ridge_slice text)
{
    path_walk path = {.text = text};

    while (next_part(&path))
        if (path.index > 0)
            return true;
    return false;
}

static void paths_in(redact_names *names, ridge_slice text, size_t least_bytes, uint8_t *to)
{
    size_t at = 0;

    while (at < text.size) {
        const size_t end = path_end(text, at);
        const ridge_slice path = {text.data + at, end - at};

        if (end <= at) {
            at++;
            continue;
        }
        if (path.size >= least_bytes && has_directory(path))
            redact_path(names, path, REDACT_END_GUESS, to != NULL ? to + at : NULL);
        at = end;
    }
}

void redact_paths_in(redact_names *names, ridge_slice text, uint8_t *to)
{
    paths_in(names, text, 0, to);
}

void redact_paths_in_runs(redact_names *names, ridge_slice bytes, uint8_t *to)
{
    enum { LEAST_BYTES = 6 }; /* "/tmp/k"; in a megabyte of random bytes 0.03 look like it */
    size_t at = 0;

    while (at < bytes.size) {
        const size_t start = at;
        ridge_slice run;
        size_t size;

        while (at < bytes.size && (size = printable_size(bytes.data + at, bytes.size - at)) > 0)
            at += size;
        run.data = bytes.data + start;
        run.size = at - start;
        paths_in(names, run, LEAST_BYTES, to != NULL ? to + start : NULL);
        at++;
    }
}

/* -- names in text ----------------------------------------------------------------------------- */

/* Rewrites the path that begins with a place; returns its end. */
static size_t rewrite_place(redact_names *names, ridge_slice bytes, size_t at, uint8_t *to)
{
    const size_t end = bytes.data[at] == '/' ? posix_end(bytes, at) : windows_end(bytes, at + 2);
    const ridge_slice path = {bytes.data + at, end - at};

    if (to != NULL)
        redact_path(names, path, REDACT_END_GUESS, to + at);
    return end;
}

/* Returns the number of names; when writing, without those that were counted as paths. */
static size_t replace_names(redact_names *names, ridge_slice bytes, bool places_only, uint8_t *to)
{
    size_t count = 0;
    size_t at = 0;

    if (names->name_count == 0)
        return 0;
    while (at + REDACT_NAME_LEAST_BYTES <= bytes.size) {
        const redact_name *const name = name_at(names, bytes, at);

        if (name == NULL || (places_only && name->kind != REDACT_PLACE)) {
            at++;
            continue;
        }
        names->found = name;
        if (name->kind == REDACT_PLACE) {
            at = rewrite_place(names, bytes, at, to);
            count += to == NULL;
            continue;
        }
        if (to != NULL)
            memset(to + at, '_', name->text.size);
        count++;
        at += name->text.size;
    }
    return count;
}

size_t redact_mentions(redact_names *names, ridge_slice bytes, uint8_t *to)
{
    return replace_names(names, bytes, false, to);
}

void redact_places(redact_names *names, ridge_slice bytes, uint8_t *to)
{
    replace_names(names, bytes, true, to);
}
