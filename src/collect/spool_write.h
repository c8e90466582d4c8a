/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing a spool file from inside a recorded process. One writer, under a lock of its own; nothing
 * of libridge, no allocation per record. After fork() the child's writer is dead: the file is the
 * parent's. */
#ifndef RIDGE_COLLECT_SPOOL_WRITE_H
#define RIDGE_COLLECT_SPOOL_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/spool.h"

/* Makes a new file in a folder, named by the process; false: it cannot be. */
bool spool_open(const char *folder, const spool_header *header);
bool spool_is_mine(void); /* opened, and by this process */

/* Between these two the others may be called; unlock writes what was added. */
void spool_lock(void);
void spool_unlock(void);

/* The number of a text; 0 for NULL and when memory is out. */
uint32_t spool_text_of(const char *text);
void spool_add(enum spool_type type, const void *row, size_t size);
void spool_add_fault(const char *line);

#endif
