/* SPDX-License-Identifier: Apache-2.0
 *
 * Status names, exit statuses and the error message. */
#include "ridge/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base_internal.h"

#ifndef RIDGE_VERSION
#define RIDGE_VERSION "0.0.0"
#endif

static const struct {
    const char *name;
    int exit_status;
} statuses[] = {
#define RIDGE_STATUS_ROW(name, exit_status, meaning) {"RIDGE_" #name, exit_status},
    RIDGE_STATUS_LIST(RIDGE_STATUS_ROW)
#undef RIDGE_STATUS_ROW
};

ridge_status ridge_fail(ridge_error *err, ridge_status status, const char *format, ...)
{
    va_list arguments;

    if (err == NULL)
        return status;
    err->status = status;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof(err->text), format, arguments);
    va_end(arguments);
    base_clean_in_place(err->text);
    return status;
}

const char *ridge_status_name(ridge_status status)
{
    const size_t index = (size_t)status;

    return index < sizeof(statuses) / sizeof(statuses[0]) ? statuses[index].name : "unknown";
}

int ridge_status_exit(ridge_status status)
{
    const size_t index = (size_t)status;

    return index < sizeof(statuses) / sizeof(statuses[0]) ? statuses[index].exit_status : 70;
}

const char *ridge_version(void)
{
    return RIDGE_VERSION;
}
