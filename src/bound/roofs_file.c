/* SPDX-License-Identifier: Apache-2.0
 *
 * Roofs measured on a machine, from a JSON document (schema ridge-roofs/1, docs/manual/bound.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "ridge/bound.h"

#define SCHEMA "ridge-roofs/1"

static const double fastest_per_s = 1e18; /* bytes or operations: beyond any chip there is */

static ridge_status read_peaks(const ridge_node *peaks, ridge_roofs *out, ridge_error *err)
{
    const ridge_node *value;
    const void *at = NULL;
    const char *key;

    while ((value = ridge_node_next(peaks, &at, &key)) != NULL) {
        const double number = ridge_node_number(value);
        ridge_peak peak;

        if (!ridge_peak_find(key, &peak) || peak == RIDGE_PEAK_NONE)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "flop_per_s has a member \"%.40s\", expected units such as \"fp32\", "
                              "\"bf16 tensor\", \"fp8 tensor\"",
                              key);
        if (ridge_node_kind_of(value) == RIDGE_NODE_NULL)
            continue;
        if (!(number > 0 && number <= fastest_per_s))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "flop_per_s of \"%s\" is no number above 0 and up to %g", key,
                              fastest_per_s);
        out->flop_per_s[peak] = number;
        out->is_measured = true;
    }
    return RIDGE_OK;
}

/* A misspelled member would be a roof that is silently unknown. */
static ridge_status check_members(const ridge_node *root, ridge_error *err)
{
    static const char *const known[] = {
        "schema", "gpu", "dram_bytes_per_s", "flop_per_s", "launch_s", "source",
    };
    const void *at = NULL;
    const char *key;
    size_t i;

    while (ridge_node_next(root, &at, &key) != NULL) {
        for (i = 0; i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], key) != 0; i++)
            continue;
        if (i == sizeof(known) / sizeof(known[0]))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "unknown member \"%.40s\", expected schema, gpu, dram_bytes_per_s, "
                              "flop_per_s, launch_s, source",
                              key);
    }
    return RIDGE_OK;
}

static ridge_status read_roofs(const ridge_node *root, ridge_roofs *out, ridge_error *err)
{
    const ridge_node *const peaks = ridge_node_member(root, "flop_per_s");
    const ridge_node_kind kind = ridge_node_kind_of(peaks);
    const char *schema = "";
    const char *gpu = "";
    ridge_status status = ridge_node_get_text(root, "schema", &schema, err);

    if (status == RIDGE_OK && strcmp(schema, SCHEMA) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "schema is \"%.40s\", expected \"" SCHEMA "\"",
                          schema);
    if (status == RIDGE_OK)
        status = check_members(root, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_text(root, "gpu", &gpu, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_number(root, "dram_bytes_per_s", 1, fastest_per_s,
                                       &out->dram_bytes_per_s, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_number(root, "launch_s", 0, 1, &out->launch_s, err);
    if (status != RIDGE_OK)
        return status;
    if (kind != RIDGE_NODE_NULL && kind != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "flop_per_s is no object, expected {\"bf16 tensor\": 788e12, ...}");
    snprintf(out->name, sizeof(out->name), "%s", gpu);
    out->is_measured = !isnan(out->dram_bytes_per_s) || !isnan(out->launch_s);
    status = read_peaks(peaks, out, err);
    if (status == RIDGE_OK && !out->is_measured)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "no roof in it: expected dram_bytes_per_s, flop_per_s or launch_s");
    return status;
}

static ridge_status take_document(ridge_document *document, ridge_roofs *out, ridge_error *err)
{
    ridge_status status;

    ridge_roofs_init(out);
    status = read_roofs(document->root, out, err);
    if (status != RIDGE_OK)
        ridge_roofs_init(out);
    ridge_document_release(document);
    return status;
}

ridge_status ridge_roofs_parse(const void *text, size_t size_bytes, ridge_roofs *out,
                               ridge_error *err)
{
    ridge_document document;
    const ridge_status status = ridge_document_parse(text, size_bytes, &document, err);

    if (status != RIDGE_OK) {
        ridge_roofs_init(out);
        return status;
    }
    return take_document(&document, out, err);
}

ridge_status ridge_roofs_read(const char *path, ridge_roofs *out, ridge_error *err)
{
    ridge_document document;
    const ridge_status status = ridge_document_open(path, &document, err);

    if (status != RIDGE_OK) {
        ridge_roofs_init(out);
        return status;
    }
    return take_document(&document, out, err);
}
