/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes and threads by text. A tool that merges traces puts before numbers what it likes, also
 * the names of machines: words that are not known to be harmless become "name1", "name2", ..., the
 * same word the same everywhere, so that what belonged together does. Numbers, and what stands
 * between words, stay. */
#include "timeline/kineto/kineto_redact_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { MOST_HOSTS = REDACT_NAMES / 4 }; /* learned of ids: further ones are replaced there alone */

/* Lower case. Those in front may have a number behind them: "rank0", "TP00"; a "gpu07" may be a
 * machine. */
static const char *const counted[] = {"rank", "tp",     "pp",     "dp",     "ep",   "cp",
                                      "sp",   "stream", "worker", "thread", "proc", "process"};
static const char *const plain[] = {"gpu",     "cpu",  "device",   "devices", "streams", "ranks",
                                    "threads", "pid",  "tid",      "spans",   "traces",  "pytorch",
                                    "python",  "cuda", "profiler", "context", "default", "main",
                                    "unknown", "none", "null",     "local",   "global",  "of"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What stands between words; points and dashes do so at their ends only. */
static bool is_between(char c)
{
    return (unsigned char)c <= ' ' || strchr("_:[](){}#,;=|/\\\"'@<>", c) != NULL;
}

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        while (at < length && words[i][at] != '\0' && (text[at] | 0x20) == words[i][at])
            at++;
        if (at == length && words[i][at] == '\0')
            return true;
    }
    return false;
}

static bool is_harmless(const char *text, size_t length)
{
    size_t letters = length;

    while (letters > 0 && is_digit(text[letters - 1]))
        letters--;
    return letters == 0 ||
           is_one_of(counted, sizeof(counted) / sizeof(counted[0]), text, letters) ||
           is_one_of(plain, sizeof(plain) / sizeof(plain[0]), text, length);
}

/* Where the number at the end begins that tells the process: "host-4711", but not of "10.0.0.7". */
static size_t number_at_end(const char *text, size_t length)
{
    size_t digits = length;

    while (digits > 0 && is_digit(text[digits - 1]))
        digits--;
    if (digits == 0 || strchr(" _-:/.])", text[digits - 1]) == NULL)
        return length;
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) && text[i] != '.')
            return digits;
    return length;
}

/* The next word from *at on that may be a name: [*at, *end). */
static bool next_name(const char *text, size_t length, size_t *at, size_t *end)
{
    for (size_t i = *at; i < length; i = *end) {
        size_t last;

        for (*at = i; *at < length && (is_between(text[*at]) || strchr("-.", text[*at]) != NULL);)
            ++*at;
        for (*end = *at; *end < length && !is_between(text[*end]);)
            ++*end;
        last = *end;
        while (last > *at && strchr("-.", text[last - 1]) != NULL)
            last--;
        if (last > *at && !is_harmless(text + *at, last - *at)) {
            *end = last;
            return true;
        }
    }
    return false;
}

bool kineto_add_redacted_id(ridge_text *out, sum_groups *words, ridge_slice id, size_t *changed)
{
    const char *const text = (const char *)id.data;
    const size_t length = number_at_end(text, id.size);
    size_t at = 0, end, done = 0;

    for (; next_name(text, length, &at, &end); done = at = end) {
        const uint32_t group = sum_group_of(words, ridge_hash64(text + at, end - at));
        char word[24];

        if (group == UINT32_MAX)
            return false;
        snprintf(word, sizeof(word), "name%" PRIu32, group + 1);
        *changed += strlen(word) != end - at || memcmp(word, text + at, end - at) != 0;
        ridge_text_add_bytes(out, text + done, at - done);
        ridge_text_add(out, word);
    }
    ridge_text_add_bytes(out, text + done, id.size - done);
    return !out->failed;
}

/* "name1", of a file that was redacted before. */
static bool is_redacted(const char *text, size_t length)
{
    size_t letters = length;

    while (letters > 0 && is_digit(text[letters - 1]))
        letters--;
    return letters == 4 && memcmp(text, "name", 4) == 0;
}

void kineto_learn_id(redact_names *names, ridge_slice id)
{
    const char *const text = (const char *)id.data;
    const size_t length = number_at_end(text, id.size);
    size_t at = 0, end;

    for (; next_name(text, length, &at, &end) && names->kind_count[REDACT_HOST] < MOST_HOSTS;
         at = end) {
        bool is_host = false;

        for (size_t i = at + 1; i < end; i++)
            is_host = is_host || is_digit(text[i]) || text[i] == '-' || text[i] == '.';
        if (is_host && !is_redacted(text + at, end - at))
            redact_learn_name(names, REDACT_HOST, (ridge_slice){id.data + at, end - at});
    }
}
