/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that shows that work goes on. */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ridge/table.h"

static const double redraw_s = 0.1;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_begin(struct progress *progress)
{
    memset(progress, 0, sizeof(*progress));
    progress->is_shown = isatty(fileno(stderr)) == 1;
    progress->began_s = now_s();
}

char *progress_duration(double seconds, char *buffer, size_t size)
{
    if (!isfinite(seconds))
        snprintf(buffer, size, "n/a");
    else if (seconds < 99.5)
        snprintf(buffer, size, "%.0f s", fmax(seconds, 0));
    else if (seconds < 99.5 * 60)
        snprintf(buffer, size, "%.0f min", seconds / 60);
    else
        snprintf(buffer, size, "%.1f h", seconds / 3600);
    return buffer;
}

void progress_announce(const struct progress *progress, double seconds)
{
    char text[16];

    if (progress->is_shown && isfinite(seconds))
        fprintf(stderr, "about %s\n", progress_duration(seconds, text, sizeof(text)));
}

void progress_clear(struct progress *progress)
{
    if (progress->is_drawn)
        fputs("\r\033[K", stderr);
    progress->is_drawn = false;
}

void progress_show(struct progress *progress, size_t done, size_t total, const char *what,
                   double remaining_s)
{
    const int columns = ridge_terminal_columns(stderr);
    const double now = now_s();
    const double spent = now - progress->began_s;
    char line[256], text[16];
    size_t used;

    if (!progress->is_shown || now - progress->drawn_s < redraw_s)
        return;
    progress->drawn_s = now;
    used = (size_t)snprintf(line, sizeof(line), "%zu", done);
    if (total > 0)
        used += (size_t)snprintf(line + used, sizeof(line) - used, "/%zu", total);
    used += (size_t)snprintf(line + used, sizeof(line) - used, "  %.100s", what);
    if (done > 0 && spent > 1)
        used +=
            (size_t)snprintf(line + used, sizeof(line) - used, "  %.3g/s", (double)done / spent);
    if (isnan(remaining_s) && done > 0 && total > 0)
        remaining_s = spent / (double)done * (double)(total - done);
    if (isfinite(remaining_s))
        used += (size_t)snprintf(line + used, sizeof(line) - used, "  %s left",
                                 progress_duration(remaining_s, text, sizeof(text)));
    if (columns > 1 && used > (size_t)columns - 1)
        line[columns - 1] = '\0';
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    progress->is_drawn = true;
}
