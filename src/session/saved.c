/* SPDX-License-Identifier: Apache-2.0
 *
 * Times that ridge bench saved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "ridge/session.h"

static ridge_status take_text(const ridge_node *object, const char *key, char *out, size_t size,
                              ridge_error *err)
{
    const char *text = NULL;
    const ridge_status status = ridge_node_get_text(object, key, &text, err);

    if (status != RIDGE_OK)
        return status;
    if (text == NULL || strlen(text) >= size)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is missing or longer than %zu bytes", key,
                          size - 1);
    snprintf(out, size, "%s", text);
    return RIDGE_OK;
}

static ridge_status take_case(const ridge_node *row, ridge_saved_case *out, ridge_error *err)
{
    const double most = 1e15; /* eleven days */
    ridge_status status = take_text(row, "case", out->text, sizeof(out->text), err);

    out->median_ns = out->p10_ns = out->p90_ns = NAN;
    if (status == RIDGE_OK)
        status = ridge_node_get_number(row, "median_ns", 0, most, &out->median_ns, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_number(row, "p10_ns", 0, most, &out->p10_ns, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_number(row, "p90_ns", 0, most, &out->p90_ns, err);
    if (status == RIDGE_OK && !(out->median_ns > 0))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "case %s has no median_ns", out->text);
    return status;
}

static ridge_status take_all(const ridge_node *root, ridge_saved *out, ridge_error *err)
{
    const ridge_node *const rows = ridge_node_member(root, "cases");
    const char *const schema = ridge_node_text(ridge_node_member(root, "schema"));
    const size_t count = ridge_node_count(rows);
    ridge_status status;
    size_t i;

    if (schema == NULL || strcmp(schema, "ridge-bench-save/1") != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "schema is %.60s, expected ridge-bench-save/1 (ridge bench --save)",
                          schema != NULL ? schema : "missing");
    if (ridge_node_kind_of(rows) != RIDGE_NODE_ARRAY || count == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "cases is no array of at least one case");
    status = take_text(root, "kernel", out->kernel, sizeof(out->kernel), err);
    if (status == RIDGE_OK)
        status = take_text(root, "gpu", out->gpu, sizeof(out->gpu), err);
    if (status == RIDGE_OK)
        status = take_text(root, "cache", out->cache, sizeof(out->cache), err);
    if (status == RIDGE_OK)
        status = take_text(root, "mode", out->mode, sizeof(out->mode), err);
    if (status != RIDGE_OK)
        return status;
    out->cases = ridge_calloc(count, sizeof(out->cases[0]));
    if (out->cases == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu cases", count);
    out->case_count = count;
    for (i = 0; i < count && status == RIDGE_OK; i++)
        status = take_case(ridge_node_at(rows, i), &out->cases[i], err);
    return status;
}

static ridge_status take_document(ridge_document *document, ridge_saved *out, ridge_error *err)
{
    const ridge_status status = take_all(document->root, out, err);

    ridge_document_release(document);
    if (status != RIDGE_OK)
        ridge_saved_release(out);
    return status;
}

ridge_status ridge_saved_read(const char *path, ridge_saved *out, ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    status = ridge_document_open(path, &document, err);
    return status == RIDGE_OK ? take_document(&document, out, err) : status;
}

ridge_status ridge_saved_parse(const void *text, size_t size_bytes, ridge_saved *out,
                               ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    status = ridge_document_parse(text, size_bytes, &document, err);
    return status == RIDGE_OK ? take_document(&document, out, err) : status;
}

const ridge_saved_case *ridge_saved_find(const ridge_saved *saved, const char *case_text)
{
    size_t i;

    for (i = 0; i < saved->case_count; i++)
        if (strcmp(saved->cases[i].text, case_text) == 0)
            return &saved->cases[i];
    return NULL;
}

void ridge_saved_release(ridge_saved *saved)
{
    ridge_free(saved->cases);
    memset(saved, 0, sizeof(*saved));
}
