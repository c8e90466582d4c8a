/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ledger a command is about. */
#include "ledger_option.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char default_path[] = "ridge.ledger";

static const char *environment(const char *name)
{
    const char *const value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *cli_ledger_path(const char *given)
{
    if (given != NULL)
        return given;
    given = environment("RIDGE_LEDGER");
    return given != NULL ? given : default_path;
}

bool cli_ledger_is_wanted(const char *given)
{
    return given != NULL || environment("RIDGE_LEDGER") != NULL || access(default_path, F_OK) == 0;
}

ridge_status cli_ledger_try(const char *given, ridge_ledger_mode mode, ridge_ledger **out,
                            ridge_error *err)
{
    const char *const path = cli_ledger_path(given);

    *out = NULL;
    if (mode != RIDGE_LEDGER_CREATE && access(path, F_OK) != 0)
        return ridge_fail(
            err, RIDGE_ERR_IO,
            "no ledger there: ridge step start makes one, --ledger FILE names another");
    return ridge_ledger_open(path, mode, out, err);
}

int cli_ledger_open(const char *given, ridge_ledger_mode mode, ridge_ledger **out)
{
    ridge_error err;

    return cli_ledger_try(given, mode, out, &err) == RIDGE_OK
               ? CLI_DONE
               : cli_fail(cli_ledger_path(given), &err);
}

int64_t cli_ledger_now_s(void)
{
    const char *const epoch = environment("SOURCE_DATE_EPOCH");
    char *end;

    if (epoch != NULL) {
        const long long seconds = strtoll(epoch, &end, 10);

        if (*end == '\0' && seconds >= 0)
            return seconds;
    }
    return (int64_t)time(NULL);
}
