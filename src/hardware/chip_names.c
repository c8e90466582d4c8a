/* SPDX-License-Identifier: Apache-2.0
 *
 * Chips by name, as people type them and as drivers print them. */
#include <string.h>

#include "ridge/hardware.h"

/* One or two digits; false for more or none. */
static bool read_digits(const char **text, int *value)
{
    const char *const start = *text;

    for (*value = 0; **text >= '0' && **text <= '9'; (*text)++) {
        if (*text - start == 3)
            return false;
        *value = *value * 10 + (**text - '0');
    }
    return *text > start;
}

bool ridge_arch_parse(const char *text, int *major, int *minor)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm"};
    size_t i = 0;
    int digits;

    if (read_digits(&text, major))
        return *text++ == '.' && read_digits(&text, minor) && *text == '\0';
    while (i < sizeof(prefixes) / sizeof(prefixes[0]) &&
           strncmp(text, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    if (i == sizeof(prefixes) / sizeof(prefixes[0]))
        return false;
    text += strlen(prefixes[i]);
    if (!read_digits(&text, &digits) || digits < 10)
        return false;
    if (*text == 'a' || *text == 'f') /* for one architecture or family alone */
        text++;
    *major = digits / 10;
    *minor = digits % 10;
    return *text == '\0';
}

/* The next character that counts in a name, in lower case; 0 at the end. */
static char next_letter(const char **position)
{
    char letter;

    while (**position == ' ' || **position == '-')
        (*position)++;
    if (**position == '\0')
        return '\0';
    letter = *(*position)++;
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static const char *without_vendor(const char *name)
{
    static const char vendor[] = "nvidia";
    const char *rest = name;

    for (size_t i = 0; vendor[i] != '\0'; i++)
        if (next_letter(&rest) != vendor[i])
            return name;
    return rest;
}

/* Whether name, as a user or driver gave it, is pattern; '*' in the pattern takes the rest. */
static bool is_name(const char *name, const char *pattern)
{
    char expected;

    name = without_vendor(name);
    pattern = without_vendor(pattern);
    do {
        expected = next_letter(&pattern);
        if (expected == '*')
            return true;
        if (next_letter(&name) != expected)
            return false;
    } while (expected != '\0');
    return true;
}

const ridge_chip *ridge_chip_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < ridge_chip_count(); i++)
        if (is_name(name, ridge_chip_at(i)->id) || is_name(name, ridge_chip_at(i)->name))
            return ridge_chip_at(i);
    for (size_t i = 0; i < ridge_chip_alias_count(); i++)
        if (is_name(name, ridge_chip_alias_at(i)->name))
            return ridge_chip_find(ridge_chip_alias_at(i)->id);
    return NULL;
}

size_t ridge_chips_beginning(const char *name, const ridge_chip **begun, size_t capacity)
{
    size_t count = 0;

    for (size_t i = 0; i < ridge_chip_count(); i++) {
        const char *id = ridge_chip_at(i)->id;
        const char *rest = without_vendor(name);
        char letter = next_letter(&rest);

        if (letter == '\0')
            return 0;
        while (letter != '\0' && next_letter(&id) == letter)
            letter = next_letter(&rest);
        if (letter != '\0')
            continue;
        if (count < capacity)
            begun[count] = ridge_chip_at(i);
        count++;
    }
    return count;
}
