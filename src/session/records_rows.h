/* SPDX-License-Identifier: Apache-2.0
 *
 * How rows of a session are ended and sent. */
#ifndef RIDGE_SESSION_RECORDS_ROWS_H
#define RIDGE_SESSION_RECORDS_ROWS_H

#include "base/record.h"
#include "session/session_internal.h"

/* Ends a row, sends it, and says its id. */
void records_put(session_records *records, ridge_record *record, char *id);
/* The same for a row that no other refers to. */
void records_put_row(session_records *records, ridge_record *record);
/* The same for a row with members that are not hashed. */
void records_put_as(session_records *records, ridge_record *record, const char *id);
/* Only the id of a row, which is sent by records_put_as() later. */
void records_take_id(session_records *records, ridge_record *record, char *id);
/* Left out when it is not known: NULL or "", 0. */
void records_known_text(ridge_record *record, const char *key, const char *text);
void records_known_integer(ridge_record *record, const char *key, int64_t value);

#endif
