/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of a manifest: as the getters of a document, with the whole path of a member in messages
 * ("args[2].dtype is 3, expected a text"), since a manifest has many objects of one kind. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"

const char *arm_member_path(const arm_member *in, const char *key)
{
    char path[160];

    snprintf(path, sizeof(path), "%.80s%s%.60s", in->path, in->path[0] != '\0' ? "." : "", key);
    return ridge_alloc_text(in->arena, path, strlen(path));
}

/* What the getter said of key, with the path in front. */
static ridge_status with_path(const arm_member *in, ridge_status status, const ridge_error *local,
                              ridge_error *err)
{
    if (status == RIDGE_OK)
        return RIDGE_OK;
    return ridge_fail(err, status, "%s%s%s", in->path, in->path[0] != '\0' ? "." : "", local->text);
}

ridge_status arm_fail_member(const arm_member *in, const char *key, const char *expected,
                             ridge_error *err)
{
    static const char *const kinds[] = {
        [RIDGE_NODE_NULL] = "absent",     [RIDGE_NODE_BOOL] = "true or false",
        [RIDGE_NODE_NUMBER] = "a number", [RIDGE_NODE_TEXT] = "a text",
        [RIDGE_NODE_ARRAY] = "an array",  [RIDGE_NODE_OBJECT] = "an object"};
    const ridge_node *const value = ridge_node_member(in->object, key);
    const char *const text = ridge_node_text(value);
    const char *const dot = in->path[0] != '\0' ? "." : "";

    if (text != NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s%s%s is \"%.60s\", expected %s", in->path, dot,
                          key, text, expected);
    return ridge_fail(err, RIDGE_ERR_FORMAT, "%s%s%s is %s, expected %s", in->path, dot, key,
                      kinds[ridge_node_kind_of(value)], expected);
}

/* True when word is one of the words of a list. */
static bool is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; *at != '\0';) {
        const size_t here = strcspn(at, " ");

        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here + strspn(at + here, " ");
    }
    return false;
}

ridge_status arm_members_check(const arm_member *in, const char *names, ridge_error *err)
{
    const void *at = NULL;
    const char *key;

    if (ridge_node_kind_of(in->object) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is no object", in->path);
    while (ridge_node_next(in->object, &at, &key) != NULL)
        if (!is_listed(names, key) || key[0] == '\0')
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s%s\"%.60s\" is no member, there are: %s",
                              in->path, in->path[0] != '\0' ? ": " : "", key, names);
    return RIDGE_OK;
}

ridge_status arm_member_text(const arm_member *in, const char *key, bool is_required,
                             const char **out, ridge_error *err)
{
    ridge_error local = {RIDGE_OK, ""};
    const char *text = NULL;
    ridge_status status = ridge_node_get_text(in->object, key, &text, &local);

    if (status != RIDGE_OK)
        return with_path(in, status, &local, err);
    if (text == NULL || text[0] == '\0')
        return is_required || text != NULL ? arm_fail_member(in, key, "a text", err) : RIDGE_OK;
    *out = ridge_alloc_text(in->arena, text, strlen(text));
    return *out != NULL ? RIDGE_OK : arm_out_of_memory(err);
}

ridge_status arm_member_integer(const arm_member *in, const char *key, int64_t lowest,
                                int64_t highest, int64_t *out, ridge_error *err)
{
    ridge_error local = {RIDGE_OK, ""};
    const ridge_status status =
        ridge_node_get_integer(in->object, key, lowest, highest, out, &local);

    return with_path(in, status, &local, err);
}

ridge_status arm_member_bool(const arm_member *in, const char *key, bool *out, ridge_error *err)
{
    ridge_error local = {RIDGE_OK, ""};
    const ridge_status status = ridge_node_get_bool(in->object, key, out, &local);

    return with_path(in, status, &local, err);
}

static ridge_status read_expression(const arm_member *in, const ridge_node *value, const char *path,
                                    arm_expression *out, ridge_error *err)
{
    const char *text = ridge_node_text(value);
    char digits[32];
    int64_t number;

    if (path == NULL)
        return arm_out_of_memory(err);
    if (ridge_node_integer(value, &number)) {
        snprintf(digits, sizeof(digits), number < 0 ? "(%" PRId64 ")" : "%" PRId64, number);
        text = digits;
    } else if (text == NULL) {
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s is neither a whole number nor the text of an expression", path);
    }
    out->path = path;
    out->text = ridge_alloc_text(in->arena, text, strlen(text));
    return out->text != NULL ? RIDGE_OK : arm_out_of_memory(err);
}

ridge_status arm_member_expression(const arm_member *in, const char *key, arm_expression *out,
                                   ridge_error *err)
{
    const ridge_node *const value = ridge_node_member(in->object, key);

    if (ridge_node_kind_of(value) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    return read_expression(in, value, arm_member_path(in, key), out, err);
}

ridge_status arm_member_expressions(const arm_member *in, const char *key, arm_expression *out,
                                    size_t most, size_t *count, ridge_error *err)
{
    const ridge_node *const value = ridge_node_member(in->object, key);
    ridge_status status = RIDGE_OK;
    char expected[64];

    if (ridge_node_kind_of(value) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    snprintf(expected, sizeof(expected), "an array of at most %zu expressions", most);
    if (ridge_node_kind_of(value) != RIDGE_NODE_ARRAY || ridge_node_count(value) > most)
        return arm_fail_member(in, key, expected, err);
    for (size_t i = 0; i < ridge_node_count(value) && status == RIDGE_OK; i++) {
        char name[96];

        snprintf(name, sizeof(name), "%.60s[%zu]", key, i);
        status =
            read_expression(in, ridge_node_at(value, i), arm_member_path(in, name), &out[i], err);
    }
    if (status == RIDGE_OK)
        *count = ridge_node_count(value);
    return status;
}
