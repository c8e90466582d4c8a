/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_support.h"

#include "cases.h"

#include <sqlite3.h>

uint8_t *nsys_support_make(const char *sql, size_t *size_bytes)
{
    sqlite3 *database;
    sqlite3_int64 size = 0;
    unsigned char *bytes;
    uint8_t *copy;

    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(database));
    bytes = sqlite3_serialize(database, "main", &size, 0);
    assert_non_null(bytes);
    copy = malloc((size_t)size);
    assert_non_null(copy);
    memcpy(copy, bytes, (size_t)size);
    *size_bytes = (size_t)size;
    sqlite3_free(bytes);
    sqlite3_close(database);
    return copy;
}

ridge_trace *nsys_support_read(const char *sql, ridge_error *err)
{
    size_t size_bytes;
    uint8_t *const bytes = nsys_support_make(sql, &size_bytes);
    ridge_trace *trace;

    ridge_trace_read(bytes, size_bytes, "test", NULL, &trace, err);
    free(bytes);
    return trace;
}
