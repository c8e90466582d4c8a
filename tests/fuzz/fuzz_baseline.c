/* SPDX-License-Identifier: Apache-2.0
 *
 * A baseline, compared with itself and written again. */
#include "ridge/resources.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_resource_set *set;
    ridge_resource_pair *pairs;
    ridge_error err;
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *stream;
    ridge_output *output;
    size_t count, i;

    if (ridge_baseline_parse(data, size, &set, &err) != RIDGE_OK) {
        if (set != NULL || err.text[0] == '\0')
            abort();
        return 0;
    }
    if (ridge_resources_compare(set, set, &pairs, &count, &err) != RIDGE_OK ||
        count != ridge_resource_set_count(set))
        abort();
    for (i = 0; i < count; i++)
        if (pairs[i].before != pairs[i].after || ridge_resources_worse(&pairs[i]) != 0)
            abort();
    ridge_resource_pairs_free(pairs);
    stream = open_memstream(&text, &text_bytes);
    if (stream == NULL)
        abort();
    output = ridge_output_create(stream, 0, false);
    ridge_baseline_write(set, output);
    if (ridge_output_close(output, &err) != RIDGE_OK)
        abort();
    fclose(stream);
    ridge_resource_set_free(set);
    /* What is written reads back, as many rows. */
    if (ridge_baseline_parse(text, text_bytes, &set, &err) != RIDGE_OK ||
        ridge_resource_set_count(set) != count)
        abort();
    ridge_resource_set_free(set);
    free(text);
    return 0;
}
