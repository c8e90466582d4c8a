/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of kernels as a JSON document. */
#include <limits.h>
#include <string.h>

#include "base/document.h"
#include "ridge/resources.h"

static const char schema[] = "ridge-baseline/1";

/* The numbers of a row and their keys. */
static const struct number {
    const char *key;
    size_t offset;
} numbers[] = {
    {"registers_per_thread", offsetof(ridge_resources, registers_per_thread)},
    {"static_shared_bytes", offsetof(ridge_resources, static_shared_bytes)},
    {"local_bytes", offsetof(ridge_resources, local_bytes)},
    {"spill_store_bytes", offsetof(ridge_resources, spill_store_bytes)},
    {"spill_load_bytes", offsetof(ridge_resources, spill_load_bytes)},
    {"barriers", offsetof(ridge_resources, barriers)},
};

enum { NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0]) };

/* ---- writing ---- */

static void write_number(ridge_json *json, const char *key, int64_t value)
{
    if (value < 0)
        ridge_json_null(json, key);
    else
        ridge_json_integer(json, key, value);
}

void ridge_baseline_write(const ridge_resource_set *set, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i, k;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", schema);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < ridge_resource_set_count(set); i++) {
        const ridge_resources *const row = ridge_resource_set_at(set, i);

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", row->name);
        ridge_json_text(json, "arch", row->arch);
        for (k = 0; k < NUMBER_COUNT; k++) {
            int value;

            memcpy(&value, (const char *)row + numbers[k].offset, sizeof(value));
            write_number(json, numbers[k].key, value);
        }
        write_number(json, "code_bytes", row->code_bytes);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* ---- reading ---- */

static ridge_status read_row(const ridge_node *value, size_t index, ridge_resource_set *set,
                             ridge_error *err)
{
    ridge_resources row = {.code_bytes = -1};
    ridge_status status;
    size_t k;

    if (ridge_node_kind_of(value) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "kernels[%zu] is no object", index);
    status = ridge_node_get_text(value, "name", &row.name, err);
    if (status == RIDGE_OK)
        status = ridge_node_get_text(value, "arch", &row.arch, err);
    if (status == RIDGE_OK && (row.name == NULL || row.arch == NULL))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "kernels[%zu] has no \"%s\"", index,
                          row.name == NULL ? "name" : "arch");
    for (k = 0; k < NUMBER_COUNT && status == RIDGE_OK; k++) {
        int64_t number = -1;
        int narrow;

        status = ridge_node_get_integer(value, numbers[k].key, 0, INT_MAX, &number, err);
        narrow = (int)number;
        memcpy((char *)&row + numbers[k].offset, &narrow, sizeof(narrow));
    }
    if (status == RIDGE_OK)
        status = ridge_node_get_integer(value, "code_bytes", 0, INT64_MAX, &row.code_bytes, err);
    return status == RIDGE_OK ? ridge_resource_set_add(set, &row, err) : status;
}

static ridge_status read_rows(const ridge_node *root, ridge_resource_set *set, ridge_error *err)
{
    const ridge_node *const kernels = ridge_node_member(root, "kernels");
    const char *found = NULL;
    ridge_status status = ridge_node_get_text(root, "schema", &found, err);
    size_t i;

    if (status != RIDGE_OK)
        return status;
    if (found == NULL || strcmp(found, schema) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "schema is \"%.64s\", expected \"%s\"",
                          found != NULL ? found : "", schema);
    if (ridge_node_kind_of(kernels) != RIDGE_NODE_ARRAY)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "no array \"kernels\"");
    for (i = 0; i < ridge_node_count(kernels) && status == RIDGE_OK; i++)
        status = read_row(ridge_node_at(kernels, i), i, set, err);
    return status;
}

/* Takes the document. */
static ridge_status read_document(ridge_document *document, ridge_resource_set **out,
                                  ridge_error *err)
{
    ridge_resource_set *set = NULL;
    ridge_status status = ridge_resource_set_create(&set, err);

    if (status == RIDGE_OK)
        status = read_rows(document->root, set, err);
    if (status != RIDGE_OK)
        goto out;
    ridge_resource_set_sort(set);
    *out = set; /* given to the caller */
    set = NULL;
out:
    ridge_resource_set_free(set);
    ridge_document_release(document);
    return status;
}

ridge_status ridge_baseline_read(const char *path, ridge_resource_set **out, ridge_error *err)
{
    ridge_document document;
    const ridge_status status = ridge_document_open(path, &document, err);

    *out = NULL;
    return status == RIDGE_OK ? read_document(&document, out, err) : status;
}

ridge_status ridge_baseline_parse(const void *text, size_t size_bytes, ridge_resource_set **out,
                                  ridge_error *err)
{
    ridge_document document;
    const ridge_status status = ridge_document_parse(text, size_bytes, &document, err);

    *out = NULL;
    return status == RIDGE_OK ? read_document(&document, out, err) : status;
}
