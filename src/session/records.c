/* SPDX-License-Identifier: Apache-2.0
 *
 * A session as rows of ridge-bench/1 (docs/formats/ridge-bench.md). A row names the rows it belongs to
 * by their ids, which are hashes of content, so each is written behind those. What becomes known
 * later (the end of a session, the path of an arm) is not hashed: the row is written again with it.
 * What every row needs is here; records_env.c has the session, records_case.c what is measured,
 * records_results.c what came of it. */
#include "session/records_rows.h"

static void send_line(session_records *records, const ridge_text *line)
{
    session_send(records->child, SESSION_FRAME_RECORD, line->data, line->length);
}

/* Ends a row and sends it. */
void records_put(session_records *records, ridge_record *record, char *id)
{
    ridge_text line;
    ridge_status status;

    ridge_text_init(&line);
    status = ridge_record_end(record, &line, id, NULL);
    if (status == RIDGE_OK)
        send_line(records, &line);
    else if (records->status == RIDGE_OK)
        records->status = status;
    ridge_text_release(&line);
}

/* The same for a row that no other refers to. */
void records_put_row(session_records *records, ridge_record *record)
{
    char id[RIDGE_HASH_TEXT];

    records_put(records, record, id);
}

/* The same for a row with members that are not hashed. */
void records_put_as(session_records *records, ridge_record *record, const char *id)
{
    ridge_text line;
    ridge_status status;

    ridge_text_init(&line);
    status = ridge_record_end_as(record, id, &line, NULL);
    if (status == RIDGE_OK)
        send_line(records, &line);
    else if (records->status == RIDGE_OK)
        records->status = status;
    ridge_text_release(&line);
}

/* Only the id of a row, which is sent by records_put_as() later. */
void records_take_id(session_records *records, ridge_record *record, char *id)
{
    const ridge_status status = ridge_record_end(record, NULL, id, NULL);

    if (status != RIDGE_OK && records->status == RIDGE_OK)
        records->status = status;
}

/* "" is not known. */
void records_known_text(ridge_record *record, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        ridge_record_text(record, key, text);
}

/* 0 is not known. */
void records_known_integer(ridge_record *record, const char *key, int64_t value)
{
    if (value != 0)
        ridge_record_integer(record, key, value);
}
