/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and keys that check, bench and compare share. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure_cli.h"
#include "ridge/names.h"

static void add_word(char *buffer, size_t size, const char *word)
{
    const size_t used = strlen(buffer);

    snprintf(buffer + used, size - used, "%s%s", used > 0 ? " " : "", word);
}

/* Those parts of a case that vary over a span, or those that do not. */
static char *write_parts(const struct measure_span *span, const ridge_case *at, bool that_vary,
                         char *buffer, size_t size)
{
    char word[64];
    ridge_case plain;
    size_t i;

    ridge_case_init(&plain);
    buffer[0] = '\0';
    for (i = 0; i < at->axis_count; i++) {
        if (span->varies[i] != that_vary)
            continue;
        snprintf(word, sizeof(word), "%s=%" PRId64, at->axes[i].name, at->axes[i].value);
        add_word(buffer, size, word);
    }
    if (span->varies_dtype == that_vary && at->dtype < RIDGE_DTYPE_COUNT)
        add_word(buffer, size, ridge_dtype_name(at->dtype));
    if (span->varies_layout == that_vary && (that_vary || at->layout != plain.layout))
        add_word(buffer, size, ridge_layout_name(at->layout));
    if (span->varies_values == that_vary && (that_vary || at->values != plain.values))
        add_word(buffer, size, ridge_values_name(at->values));
    if (span->varies_place == that_vary && at->in_place)
        add_word(buffer, size, "in place");
    return buffer;
}

char *measure_case_text(const ridge_case *at, char *buffer, size_t size)
{
    const struct measure_span none = {.has_first = false};

    return write_parts(&none, at, false, buffer, size);
}

void measure_span_add(struct measure_span *span, const ridge_case *at)
{
    const ridge_case *const first = &span->first;
    size_t i;

    if (!span->has_first) {
        span->first = *at;
        span->has_first = true;
        return;
    }
    for (i = 0; i < at->axis_count; i++)
        span->varies[i] =
            span->varies[i] || i >= first->axis_count || at->axes[i].value != first->axes[i].value;
    span->varies_dtype = span->varies_dtype || at->dtype != first->dtype;
    span->varies_layout = span->varies_layout || at->layout != first->layout;
    span->varies_values = span->varies_values || at->values != first->values;
    span->varies_place = span->varies_place || at->in_place != first->in_place;
}

char *measure_span_common(const struct measure_span *span, char *buffer, size_t size)
{
    return write_parts(span, &span->first, false, buffer, size);
}

char *measure_span_rest(const struct measure_span *span, const ridge_case *at, char *buffer,
                        size_t size)
{
    return write_parts(span, at, true, buffer, size);
}

int measure_names(const char *text, const char *const *names, const char *what, uint64_t *bits)
{
    char word[32], all[400];

    for (*bits = 0; text != NULL && *text != '\0';) {
        const size_t length = strcspn(text, ",");
        const char *nearest;
        size_t place = 0, used = 0;

        snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), text);
        while (names[place] != NULL && strcmp(word, names[place]) != 0)
            place++;
        if (names[place] != NULL) {
            *bits |= UINT64_C(1) << place;
            text += length + (text[length] == ',');
            continue;
        }
        nearest = options_nearest(word, names);
        if (nearest != NULL)
            return cli_usage_error("no %s '%s', did you mean '%s'?", what, word, nearest);
        for (place = 0; names[place] != NULL && used < sizeof(all); place++)
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", place > 0 ? ", " : "",
                                     names[place]);
        return cli_usage_error("no %s '%s', expected some of: %s", what, word, all);
    }
    return CLI_DONE;
}

bool measure_percent(const char *text, double *frac)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || text[0] < '.' || text[0] > '9' || text[0] == '/')
        return false;
    while (*end == ' ')
        end++;
    if (*end == '%')
        end++;
    if (*end != '\0' || !(value > 0 && value < 100))
        return false;
    *frac = value / 100;
    return true;
}

char *measure_clock_text(unsigned reasons, char *buffer, size_t size)
{
    static const struct {
        unsigned bit;
        const char *text;
    } words[] = {
        {RIDGE_CLOCK_POWER_CAP, "power cap"},
        {RIDGE_CLOCK_THERMAL, "thermal limit"},
        {RIDGE_CLOCK_LOCKED, "clocks locked"},
        {RIDGE_CLOCK_OTHER, "clocks lowered"},
    };
    size_t used = 0, i;

    buffer[0] = '\0';
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((reasons & words[i].bit) != 0 && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     words[i].text);
    return buffer;
}

double measure_time_ns(const ridge_arm_summary *arm, ridge_mode mode)
{
    const bool is_amortized = mode == RIDGE_MODE_GRAPH || mode == RIDGE_MODE_BATCH;

    return is_amortized && isfinite(arm->amortized_ns) ? arm->amortized_ns : arm->median_ns;
}

/* "256x256": without the extents behind the last that is more than 1. */
static void extent_text(const unsigned *extents, char *buffer, size_t size)
{
    if (extents[2] > 1)
        snprintf(buffer, size, "%ux%ux%u", extents[0], extents[1], extents[2]);
    else if (extents[1] > 1)
        snprintf(buffer, size, "%ux%u", extents[0], extents[1]);
    else
        snprintf(buffer, size, "%u", extents[0]);
}

char *measure_path_text(const char *path, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    while (*path != '\0' && used < size) {
        const size_t length = strcspn(path, ";");
        char part[256], mangled[240], name[240], grid[40], block[40];
        unsigned extents[6];

        snprintf(part, sizeof(part), "%.*s", (int)(length < 255 ? length : 255), path);
        if (sscanf(part, "%239s grid(%u,%u,%u) x block(%u,%u,%u)", mangled, &extents[0],
                   &extents[1], &extents[2], &extents[3], &extents[4], &extents[5]) == 7) {
            ridge_name_short(mangled, name, sizeof(name));
            extent_text(extents, grid, sizeof(grid));
            extent_text(extents + 3, block, sizeof(block));
            used += (size_t)snprintf(buffer + used, size - used, "%s%s: %s block%s of %s threads",
                                     used > 0 ? "; " : "", name, grid,
                                     strcmp(grid, "1") == 0 ? "" : "s", block);
        } else {
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? "; " : "", part);
        }
        path += length;
        path += strspn(path, "; ");
    }
    return buffer;
}

void measure_write_case(ridge_json *json, const ridge_case *at)
{
    char text[RIDGE_CASE_TEXT];
    size_t i;

    ridge_json_text(json, "case", ridge_case_text(at, text, sizeof(text)));
    ridge_json_begin_object(json, "axes");
    for (i = 0; i < at->axis_count; i++)
        ridge_json_integer(json, at->axes[i].name, at->axes[i].value);
    ridge_json_end_object(json);
    ridge_json_text(json, "dtype",
                    at->dtype < RIDGE_DTYPE_COUNT ? ridge_dtype_name(at->dtype) : NULL);
    ridge_json_text(json, "layout", ridge_layout_name(at->layout));
    ridge_json_text(json, "values", ridge_values_name(at->values));
    ridge_json_bool(json, "in_place", at->in_place);
    ridge_json_count(json, "seed", at->seed);
}

void measure_write_device(ridge_json *json, const ridge_device_info *device)
{
    ridge_json_begin_object(json, "device");
    ridge_json_text(json, "kind", device->kind == RIDGE_DEVICE_CPU ? "cpu" : "cuda");
    ridge_json_text(json, "name", device->name);
    ridge_json_text(json, "uuid", device->uuid[0] != '\0' ? device->uuid : NULL);
    ridge_json_text(json, "driver", device->driver[0] != '\0' ? device->driver : NULL);
    ridge_json_integer(json, "sm_version", device->sm_version);
    ridge_json_integer(json, "sm_count", device->sm_count);
    ridge_json_count(json, "l2_bytes", device->l2_bytes);
    ridge_json_number(json, "clock_hz", device->clock_hz);
    ridge_json_number(json, "memory_bytes_per_s", device->memory_bytes_per_s);
    ridge_json_number(json, "power_limit_w", device->power_limit_w);
    ridge_json_end_object(json);
}
