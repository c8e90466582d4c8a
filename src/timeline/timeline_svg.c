/* SPDX-License-Identifier: Apache-2.0
 *
 * A device over time. Every lane is a row of pixel columns; a column holds how much of it each kind
 * of work takes, so that the picture of 30 s is as large as that of 50 ms and as true: a kernel of
 * a tenth of a pixel makes a bar of a tenth of the lane's height. Ranges alone are drawn one by one,
 * where they are wider than a pixel, for their names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/svg.h"
#include "ridge/timeline.h"
#include "timeline/account/account.h"
#include "timeline/timeline_svg.h"

enum {
    WIDTH = 1200,
    RIGHT = SVG_LEFT + SVG_COLUMNS,
    DEVICE_HEIGHT = 72,
    LANE_HEIGHT = 20,
    BAR_HEIGHT = 26,
    LEGEND_LINE = 20,
    LEGEND_COLUMNS = 3,
    MOST_STREAMS = 6,
    STEPS = 40, /* of height in a lane */
    TEXT = 32
};

/* What takes time: work of the GPU, then the causes of idle time. */
enum kind { KERNEL, COPY, COMMUNICATION, CALL, CAUSES, KIND_COUNT = CAUSES + RIDGE_IDLE_COUNT };

static const char style[] =
    "svg { --violet: #8250df; }\n"
    "@media (prefers-color-scheme: dark) { svg { --violet: #a371f7; } }\n"
    ".k0 { fill: var(--blue); }\n.k1 { fill: var(--green); }\n.k2 { fill: var(--violet); }\n"
    ".k3 { fill: #9aa4ae; }\n"
    ".k4 { fill: #57606a; }\n"  /* profiler */
    ".k5 { fill: #aab2bb; }\n"  /* unknown */
    ".k6 { fill: #79b8d9; }\n"  /* graph-internal */
    ".k7 { fill: #a5c8e4; }\n"  /* hardware */
    ".k8 { fill: #5f7ea8; }\n"  /* queued */
    ".k9 { fill: #e3b341; }\n"  /* launch */
    ".k10 { fill: #a8741a; }\n" /* slow-launch */
    ".k11 { fill: #bf3989; }\n" /* alloc */
    ".k12 { fill: #7d4fc4; }\n" /* module */
    ".k13 { fill: #2f9e8f; }\n" /* graph-build */
    ".k14 { fill: #d1242f; }\n" /* sync */
    ".k15 { fill: #f08a84; }\n" /* sync-refill */
    ".k16 { fill: #a89060; }\n" /* other-api */
    ".k17 { fill: #8d6e63; }\n" /* host-blocked */
    ".k18 { fill: #e8712b; }\n" /* dispatch */
    ".k19 { fill: #cfd6dd; }\n" /* no-work */
    "@media (prefers-color-scheme: dark) { .k19 { fill: #5a636e; } .k5 { fill: #7b848e; } }\n"
    ".floor { fill: var(--grid); opacity: 0.55; }\n"
    ".range { fill: var(--grid); stroke: var(--dim); stroke-width: 0.5; }\n"
    ".inside { font-size: 11px; }\n"
    ".hover { fill: transparent; }\n.hover:hover { stroke: var(--ink); }\n";

struct svg_lane {
    double cover[SVG_COLUMNS][KIND_COUNT]; /* of the column, 0 to 1 */
    double whole[SVG_COLUMNS + 1]
                [KIND_COUNT]; /* change of how often a column is covered as a whole */
};

static void clear(svg_drawing *drawing)
{
    memset(drawing->lane, 0, sizeof(*drawing->lane));
}

/* In constant time, however long it is: only the ends are written, the rest is a difference. */
static void cover(svg_drawing *drawing, int kind, int64_t start_ns, int64_t end_ns)
{
    struct svg_lane *const lane = drawing->lane;
    const double from = svg_column_of(drawing, start_ns), to = svg_column_of(drawing, end_ns);
    const int first = (int)from < SVG_COLUMNS ? (int)from : SVG_COLUMNS - 1;
    const int last = (int)to < SVG_COLUMNS ? (int)to : SVG_COLUMNS - 1;

    if (first == last) {
        lane->cover[first][kind] += to - from;
        return;
    }
    lane->cover[first][kind] += first + 1 - from;
    lane->cover[last][kind] += to - last;
    lane->whole[first + 1][kind] += 1;
    lane->whole[last][kind] -= 1;
}

/* -- lanes ------------------------------------------------------------------------------------- */

/* Heights of the kinds of a column, one on the other, in steps. */
static void stack_column(const struct svg_lane *lane, int column, const double covered[KIND_COUNT],
                         int tops[KIND_COUNT])
{
    double sum = 0, scale = 1;
    int kind;

    for (kind = 0; kind < KIND_COUNT; kind++)
        sum += lane->cover[column][kind] + covered[kind];
    if (sum > 1)
        scale = 1 / sum; /* work at once: shares of the column */
    sum = 0;
    for (kind = 0; kind < KIND_COUNT; kind++) {
        sum += scale * (lane->cover[column][kind] + covered[kind]);
        tops[kind] = (int)lround(STEPS * fmin(sum, 1));
    }
}

/* Rectangles as wide as a kind keeps its place. */
static void draw_lane(const svg_drawing *drawing, double y, double height)
{
    const struct svg_lane *const lane = drawing->lane;
    double covered[KIND_COUNT] = {0};
    int tops[KIND_COUNT], open_top[KIND_COUNT] = {0}, open_bottom[KIND_COUNT] = {0};
    int open_at[KIND_COUNT] = {0};
    int column, kind;

    for (column = 0; column <= SVG_COLUMNS; column++) {
        for (kind = 0; column < SVG_COLUMNS && kind < KIND_COUNT; kind++)
            covered[kind] += lane->whole[column][kind];
        if (column < SVG_COLUMNS)
            stack_column(lane, column, covered, tops);
        for (kind = 0; kind < KIND_COUNT; kind++) {
            const int bottom = column < SVG_COLUMNS && kind > 0 ? tops[kind - 1] : 0;
            const int top = column < SVG_COLUMNS ? tops[kind] : 0;

            if (column < SVG_COLUMNS && ((top == open_top[kind] && bottom == open_bottom[kind]) ||
                                         (top == bottom && open_top[kind] == open_bottom[kind])))
                continue;
            if (open_top[kind] > open_bottom[kind]) {
                char name[TEXT];

                snprintf(name, sizeof(name), "k%d", kind);
                ridge_svg_rect(drawing->output, name, SVG_LEFT + open_at[kind],
                               y + height * (1 - (double)open_top[kind] / STEPS),
                               column - open_at[kind],
                               height * (open_top[kind] - open_bottom[kind]) / STEPS);
            }
            open_top[kind] = top;
            open_bottom[kind] = bottom;
            open_at[kind] = column;
        }
    }
}

static void begin_lane(svg_drawing *drawing, const char *label, double height)
{
    char text[64];

    ridge_svg_rect(drawing->output, "floor", SVG_LEFT, drawing->y, SVG_COLUMNS, height);
    ridge_svg_text(drawing->output, "dim", RIDGE_SVG_END, SVG_LEFT - 8, drawing->y + height / 2 + 4,
                   0, ridge_svg_fit(label, SVG_LEFT - 16, 12, text, sizeof(text)));
}

static int kind_of(const ridge_trace_op *op)
{
    if (op->kind == RIDGE_OP_MEMCPY || op->kind == RIDGE_OP_MEMSET)
        return COPY;
    return (op->flags & RIDGE_OP_COLLECTIVE) != 0 ? COMMUNICATION : KERNEL;
}

/* What nothing else covers are copies. */
static void fill_with_copies(struct svg_lane *lane)
{
    double covered[KIND_COUNT] = {0};
    int column, kind;

    for (column = 0; column < SVG_COLUMNS; column++) {
        double sum = 0;

        for (kind = 0; kind < KIND_COUNT; kind++) {
            covered[kind] += lane->whole[column][kind];
            sum += covered[kind] + lane->cover[column][kind];
        }
        lane->cover[column][COPY] = 1 - sum > 1e-6 ? 1 - sum : 0;
    }
}

/* What is under the pointer: a name, its length, what kind of time. Only what is as wide as a pointer
 * can meet and lies behind what has one, so that their number is bound by the columns. */
static void draw_hover(const svg_drawing *drawing, const char *name, const char *of,
                       int64_t start_ns, int64_t end_ns, double height, double *taken)
{
    const double from = svg_column_of(drawing, start_ns), to = svg_column_of(drawing, end_ns);
    char text[256], length[48];

    if (to - from < 2 || from < *taken - 0.01)
        return;
    *taken = to;
    ridge_number_text(((double)end_ns - (double)start_ns), RIDGE_UNIT_NS, length, sizeof(length));
    snprintf(text, sizeof(text), "%s, %s%.160s", length, of, name);
    ridge_svg_titled_rect(drawing->output, "hover", SVG_LEFT + from, drawing->y, to - from, height,
                          text);
}

static void draw_gap_hovers(const svg_drawing *drawing)
{
    const ridge_device_account *const account = drawing->account;
    size_t op_count, i;
    const ridge_trace_op *const ops = ridge_trace_ops(drawing->trace, &op_count);
    double taken = -1;

    for (i = 0; i < account->gap_count; i++) {
        const ridge_idle_gap *const gap = &account->gaps[i];
        char of[64];

        snprintf(of, sizeof(of), "%s before ", ridge_idle_name((ridge_idle)gap->cause));
        draw_hover(drawing,
                   gap->after < op_count
                       ? ridge_trace_name(drawing->trace, ops[gap->after].short_name, NULL)
                       : "the end",
                   of, gap->start_ns, gap->end_ns, DEVICE_HEIGHT, &taken);
    }
}

/* Device time: kernels, copies where no kernel runs, idle time by cause; a column is always full. */
static void draw_device(svg_drawing *drawing)
{
    const ridge_device_account *const account = drawing->account;
    size_t op_count, stream_count, i;
    const ridge_trace_op *const ops = ridge_trace_ops(drawing->trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(drawing->trace, &stream_count);
    int64_t kernels_end = INT64_MIN;

    clear(drawing);
    for (i = 0; i < op_count && ops[i].start_ns < drawing->end_ns; i++) {
        const ridge_trace_op *const op = &ops[i];
        const int64_t from = op->start_ns > kernels_end ? op->start_ns : kernels_end;

        if (op->stream >= stream_count || streams[op->stream].device != account->device ||
            op->end_ns <= drawing->start_ns || kind_of(op) == COPY || op->end_ns <= from)
            continue;
        cover(drawing, KERNEL, from, op->end_ns);
        kernels_end = op->end_ns;
    }
    for (i = 0; i < account->piece_count; i++)
        cover(drawing, CAUSES + account->pieces[i].cause, account->pieces[i].start_ns,
              account->pieces[i].end_ns);
    fill_with_copies(drawing->lane);
    begin_lane(drawing, "device time", DEVICE_HEIGHT);
    draw_lane(drawing, drawing->y, DEVICE_HEIGHT);
    draw_gap_hovers(drawing);
    drawing->y += DEVICE_HEIGHT + SVG_LANE_GAP;
}

static void draw_stream(svg_drawing *drawing, uint32_t stream)
{
    size_t op_count, stream_count, i;
    const ridge_trace_op *const ops = ridge_trace_ops(drawing->trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(drawing->trace, &stream_count);
    double taken = -1;
    char label[48];

    clear(drawing);
    for (i = 0; i < op_count && ops[i].start_ns < drawing->end_ns; i++)
        if (ops[i].stream == stream && ops[i].end_ns > drawing->start_ns)
            cover(drawing, kind_of(&ops[i]), ops[i].start_ns, ops[i].end_ns);
    snprintf(label, sizeof(label), "stream %lld%s", (long long)streams[stream].id,
             streams[stream].is_null ? " (default)" : "");
    begin_lane(drawing, label, LANE_HEIGHT);
    draw_lane(drawing, drawing->y, LANE_HEIGHT);
    for (i = 0; i < op_count && ops[i].start_ns < drawing->end_ns; i++)
        if (ops[i].stream == stream && ops[i].end_ns > drawing->start_ns)
            draw_hover(drawing, ridge_trace_name(drawing->trace, ops[i].short_name, NULL), "",
                       ops[i].start_ns, ops[i].end_ns, LANE_HEIGHT, &taken);
    drawing->y += LANE_HEIGHT + SVG_LANE_GAP;
}

/* The busiest ones, in the order of the account. */
static void draw_streams(svg_drawing *drawing)
{
    const ridge_device_account *const account = drawing->account;
    int64_t least_ns = 0;
    size_t i, k, drawn = 0;
    int64_t busiest[MOST_STREAMS] = {0};
    char text[64];

    for (i = 0; i < account->stream_count; i++) {
        int64_t busy_ns = account->streams[i].busy_ns;

        for (k = 0; k < MOST_STREAMS; k++)
            if (busy_ns > busiest[k]) {
                const int64_t smaller_ns = busiest[k];

                busiest[k] = busy_ns;
                busy_ns = smaller_ns;
            }
    }
    least_ns = busiest[MOST_STREAMS - 1];
    for (i = 0; i < account->stream_count && drawn < MOST_STREAMS; i++)
        if (account->streams[i].busy_ns >= least_ns) {
            draw_stream(drawing, account->streams[i].stream);
            drawn++;
        }
    if (drawn < account->stream_count) {
        snprintf(text, sizeof(text), "and %zu streams less busy", account->stream_count - drawn);
        ridge_svg_text(drawing->output, "dim", RIDGE_SVG_START, SVG_LEFT, drawing->y + 8, 0, text);
        drawing->y += LEGEND_LINE;
    }
}

/* -- the host ---------------------------------------------------------------------------------- */

/* The thread that launches most of the device's work; NULL: none is known. */
static const ridge_trace_thread *launching_thread(const svg_drawing *drawing)
{
    size_t thread_count, api_count, stream_count, op_count, i;
    const ridge_trace_thread *const threads = ridge_trace_threads(drawing->trace, &thread_count);
    const ridge_trace_api *const calls = ridge_trace_apis(drawing->trace, &api_count);
    const ridge_trace_op *const ops = ridge_trace_ops(drawing->trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(drawing->trace, &stream_count);
    size_t *const launches = ridge_calloc(thread_count + 1, sizeof(*launches));
    size_t most = thread_count;

    for (i = 0; launches != NULL && i < op_count; i++)
        if (ops[i].stream < stream_count &&
            streams[ops[i].stream].device == drawing->account->device && ops[i].api < api_count &&
            calls[ops[i].api].thread < thread_count)
            launches[calls[ops[i].api].thread]++;
    for (i = 0; launches != NULL && i < thread_count; i++)
        if (launches[i] > 0 && (most == thread_count || launches[i] > launches[most]))
            most = i;
    ridge_free(launches);
    return most < thread_count ? &threads[most] : NULL;
}

/* Calls in the colour of the idle time that they would cause. */
static int kind_of_call(const svg_drawing *drawing, const ridge_trace_api *call)
{
    static const int kinds[] = {
        [CALL_OTHER] = CALL,
        [CALL_LAUNCH] = CAUSES + RIDGE_IDLE_LAUNCH,
        [CALL_GRAPH_LAUNCH] = CAUSES + RIDGE_IDLE_LAUNCH,
        [CALL_COPY] = COPY,
        [CALL_ALLOC] = CAUSES + RIDGE_IDLE_ALLOC,
        [CALL_MODULE] = CAUSES + RIDGE_IDLE_MODULE,
        [CALL_GRAPH_BUILD] = CAUSES + RIDGE_IDLE_GRAPH_BUILD,
        [CALL_CAPTURE_BEGIN] = CAUSES + RIDGE_IDLE_GRAPH_BUILD,
        [CALL_CAPTURE_END] = CAUSES + RIDGE_IDLE_GRAPH_BUILD,
        [CALL_SYNC] = CAUSES + RIDGE_IDLE_SYNC,
    };
    size_t length;
    const char *const name = ridge_trace_name(drawing->trace, call->name, &length);

    return kinds[call_class_of(name, length)];
}

static void draw_calls(svg_drawing *drawing, const ridge_trace_thread *thread)
{
    size_t count, i;
    const ridge_trace_api *const calls = ridge_trace_apis(drawing->trace, &count);
    int64_t end_ns = INT64_MIN;

    clear(drawing);
    for (i = thread->first_api; i < thread->first_api + thread->api_count; i++) {
        const ridge_trace_api *const call = &calls[i];

        /* The outer call stands for those in it. */
        if (call->end_ns <= drawing->start_ns || call->start_ns >= drawing->end_ns ||
            call->end_ns <= end_ns)
            continue;
        cover(drawing, kind_of_call(drawing, call),
              call->start_ns > end_ns ? call->start_ns : end_ns, call->end_ns);
        end_ns = call->end_ns;
    }
    begin_lane(drawing, "calls of the host", LANE_HEIGHT);
    draw_lane(drawing, drawing->y, LANE_HEIGHT);
    drawing->y += LANE_HEIGHT + SVG_LANE_GAP;
}

/* -- frame ------------------------------------------------------------------------------------- */

/* The distance between ticks: 1, 2 or 5 times a power of ten, some ten of them. */
static double tick_step(double span_ns)
{
    const double least = span_ns / 10, power = pow(10, floor(log10(least)));

    if (least <= power)
        return power;
    return least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

/* A tick with as many decimals as its step needs, all in one unit. */
static char *tick_text(double ns, double step_ns, double span_ns, char *text, size_t size)
{
    const double unit_ns = span_ns >= 2e9 ? 1e9 : span_ns >= 2e6 ? 1e6 : span_ns >= 2e3 ? 1e3 : 1;
    const char *const unit = span_ns >= 2e9   ? "s"
                             : span_ns >= 2e6 ? "ms"
                             : span_ns >= 2e3 ? "us"
                                              : "ns";
    const double digits = ceil(-log10(step_ns / unit_ns) - 1e-9);

    snprintf(text, size, "%.*f %s", digits > 0 ? (int)fmin(digits, 9) : 0, ns / unit_ns, unit);
    return text;
}

static void draw_axis(svg_drawing *drawing)
{
    const double from = (double)(drawing->start_ns - drawing->origin_ns);
    const double span = (double)(drawing->end_ns - drawing->start_ns);
    const double step = tick_step(span);
    const double first = ceil(from / step);
    char text[TEXT];
    int i;

    for (i = 0; i < 12 && (first + i) * step <= from + span; i++) {
        const double at = (first + i) * step;
        const double x = SVG_LEFT + SVG_COLUMNS * (at - from) / span;

        ridge_svg_line(drawing->output, "axis", x, drawing->y, x, drawing->y + 4);
        ridge_svg_text(drawing->output, "dim", RIDGE_SVG_MIDDLE, x, drawing->y + 17, 0,
                       tick_text(at, step, span, text, sizeof(text)));
    }
    ridge_svg_line(drawing->output, "axis", SVG_LEFT, drawing->y, RIGHT, drawing->y);
    drawing->y += 32;
}

struct part {
    int kind;
    const char *name;
    int64_t ns;
};

static size_t list_parts(const ridge_device_account *account, struct part parts[KIND_COUNT])
{
    size_t count = 0, first, i, k;

    parts[count++] = (struct part){KERNEL, "kernels", account->kernel_ns};
    if (account->copy_only_ns > 0)
        parts[count++] = (struct part){COPY, "copies only", account->copy_only_ns};
    first = count;
    for (i = 0; i < RIDGE_IDLE_COUNT; i++) {
        const struct part part = {CAUSES + (int)i, ridge_idle_name((ridge_idle)i),
                                  account->causes[i].total_ns};

        if (part.ns == 0)
            continue;
        for (k = count++; k > first && parts[k - 1].ns < part.ns; k--)
            parts[k] = parts[k - 1];
        parts[k] = part;
    }
    if (account->collective_ns > 0) /* part of the kernels, with a colour in the lanes alone */
        parts[count++] =
            (struct part){COMMUNICATION, "of kernels: communication", account->collective_ns};
    return count;
}

/* The account as one bar, and its legend: the largest first. */
static void draw_account(svg_drawing *drawing, const struct part *parts, size_t count)
{
    const double span = (double)(drawing->end_ns - drawing->start_ns);
    const double width = SVG_COLUMNS / (double)LEGEND_COLUMNS, middle = BAR_HEIGHT / 2.0;
    const size_t lines = (count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
    double x = SVG_LEFT;
    size_t i;

    ridge_svg_text(drawing->output, "dim", RIDGE_SVG_END, SVG_LEFT - 8, drawing->y + middle + 4, 0,
                   "account");
    for (i = 0; i < count; i++) {
        const double length = SVG_COLUMNS * (double)parts[i].ns / span;
        const size_t column = i / lines;
        const double left = SVG_LEFT + (double)column * width;
        const double y = drawing->y + BAR_HEIGHT + 22 + (double)(i % lines) * LEGEND_LINE;
        char name[TEXT], text[160], time[TEXT];

        snprintf(name, sizeof(name), "k%d", parts[i].kind);
        if (parts[i].kind != COMMUNICATION) {
            ridge_svg_rect(drawing->output, name, x, drawing->y, length, BAR_HEIGHT);
            x += length;
        }
        ridge_svg_rect(drawing->output, name, left, y - 10, 12, 12);
        snprintf(text, sizeof(text), "%s %s, %.1f %%", parts[i].name,
                 ridge_number_text((double)parts[i].ns, RIDGE_UNIT_NS, time, sizeof(time)),
                 100 * (double)parts[i].ns / span);
        ridge_svg_text(drawing->output, "key", RIDGE_SVG_START, left + 18, y, 0, text);
    }
    drawing->y += BAR_HEIGHT + 22 + (double)lines * LEGEND_LINE;
}

static void draw_title(svg_drawing *drawing, const char *title)
{
    const ridge_device_account *const account = drawing->account;
    size_t count;
    const ridge_trace_device *const devices = ridge_trace_devices(drawing->trace, &count);
    char text[512], fitted[512], time[TEXT];

    snprintf(text, sizeof(text), "%.200s: device %lld %.80s", title,
             account->device < count ? (long long)devices[account->device].id : -1LL,
             account->device < count ? devices[account->device].name : "");
    ridge_svg_text(drawing->output, "title", RIDGE_SVG_START, 20, 26, 0,
                   ridge_svg_fit(text, WIDTH - 40, 15, fitted, sizeof(fitted)));
    snprintf(text, sizeof(text), "%s over %s: %s", ridge_timeline_verdict_name(account->verdict),
             ridge_number_text((double)(account->end_ns - account->start_ns), RIDGE_UNIT_NS, time,
                               sizeof(time)),
             account->reason);
    ridge_svg_text(drawing->output, "dim", RIDGE_SVG_START, 20, 46, 0,
                   ridge_svg_fit(text, WIDTH - 40, 12, fitted, sizeof(fitted)));
    drawing->y = 64;
}

static void draw(svg_drawing *drawing, const char *title)
{
    const ridge_trace_thread *const thread = launching_thread(drawing);
    struct part parts[KIND_COUNT];

    draw_title(drawing, title);
    draw_account(drawing, parts, list_parts(drawing->account, parts));
    drawing->y += SVG_LANE_GAP;
    draw_device(drawing);
    draw_streams(drawing);
    if (thread != NULL) {
        draw_calls(drawing, thread);
        svg_draw_ranges(drawing, thread);
    }
    draw_axis(drawing);
}

void ridge_timeline_write_svg(const ridge_trace *trace, const ridge_device_account *account,
                              const char *title, ridge_output *output)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    svg_drawing drawing = {.trace = trace,
                           .account = account,
                           .start_ns = account->start_ns,
                           .end_ns = account->end_ns,
                           .origin_ns = count > 0 ? ops[0].start_ns : account->start_ns};

    /* A span of nothing has no columns. */
    if (drawing.end_ns <= drawing.start_ns)
        drawing.end_ns = drawing.start_ns < INT64_MAX ? drawing.start_ns + 1 : INT64_MAX;
    drawing.lane = ridge_calloc(1, sizeof(*drawing.lane));
    if (drawing.lane == NULL) {
        ridge_table_write(NULL, RIDGE_FORMAT_TEXT, output, NULL, NULL); /* lets the output fail */
        return;
    }
    draw(&drawing, title); /* into nothing, to see how high it gets */
    drawing.output = output;
    ridge_svg_begin(output, WIDTH, drawing.y, title, style);
    draw(&drawing, title);
    ridge_svg_end(output);
    ridge_free(drawing.lane);
}
