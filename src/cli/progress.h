/* SPDX-License-Identifier: Apache-2.0
 *
 * Long work on a terminal: one line on standard error that is drawn over and over, and goes when the
 * work is done. Where standard error is no terminal nothing is printed. */
#ifndef RIDGE_CLI_PROGRESS_H
#define RIDGE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
    bool is_shown;  /* standard error is a terminal */
    bool is_drawn;  /* the cursor stands behind a line of ours */
    double began_s; /* of the monotonic clock */
    double drawn_s;
};

void progress_begin(struct progress *progress);
/* A line such as "about 40 s", once, before the work; nothing where nothing is shown. */
void progress_announce(const struct progress *progress, double seconds);
/* done of total (0: not known), what is being done; remaining_s NAN: from the rate so far. Draws at
 * most ten times a second. */
void progress_show(struct progress *progress, size_t done, size_t total, const char *what,
                   double remaining_s);
/* Takes the line away, so that something else can be printed. */
void progress_clear(struct progress *progress);
/* "40 s", "3 min", "1.5 h" into buffer (at least 16 bytes), which is returned. */
char *progress_duration(double seconds, char *buffer, size_t size);

#endif
