/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside ridge timeline. timeline.c reads the command line and the traces, timeline_view.c computes
 * the tables that a screen or a document needs, the others print: timeline_answer.c the first lines,
 * timeline_text.c the screen, timeline_tables.c and timeline_gaps.c its tables, timeline_json.c,
 * timeline_csv.c and timeline_csv_groups.c; timeline_gain.c what each road gives, timeline_kernels.c
 * names of kernels; timeline_part.c the part that is told; timeline_ranks.c several ranks,
 * timeline_compare.c two traces. */
#ifndef RIDGE_CLI_TIMELINE_CLI_H
#define RIDGE_CLI_TIMELINE_CLI_H

#include "options.h"
#include "ridge/timeline.h"

struct timeline_request {
    struct cli_output out;
    struct gpu_choice gpu;
    const char *csv, *svg; /* report, file; NULL: not */
    const char *range, *instance, *window, *steps;
    const char *bounds, *measured;
    size_t device; /* as the trace numbers it; OPTION_UNSET */
    size_t gaps;   /* so many; OPTION_UNSET */
    double fail_idle;
    bool kernels, api, nvtx, streams; /* longer tables instead of the screen */
    bool show_command, whole_names, ranks, compare, force;

    const ridge_roofs *roofs; /* NULL: the device's own */
    const ridge_given_bounds *given;
    ridge_roofs roof_storage;
    ridge_given_bounds *given_storage;
};

/* The steps or instances that were taken for those that were asked for. */
struct timeline_part {
    const char *unit;     /* "step", "instance"; NULL: none was asked for by number */
    uint64_t first, last; /* taken */
    bool is_cut;          /* more were asked for than there are */
    char note[160];       /* about that; "" */
};

/* A trace that is open, with its accounts. */
struct timeline_file {
    const char *path;
    ridge_trace *trace;
    const ridge_trace_info *info;
    ridge_trace_window window; /* is_set false: the whole */
    struct timeline_part part;
    ridge_timeline *timeline;
    const ridge_device_account *devices;
    size_t device_count;
    const ridge_device_account *main; /* of --device, else the one that decides; NULL: none */
    int64_t origin_ns;                /* the first work of any device: times are told from it */
};

/* Sets the origin of a file that is open and the window that --range, --window or --steps ask for; an
 * exit status after a message. */
int timeline_choose_part(const struct timeline_request *request, struct timeline_file *file);
/* A line that says which were taken where there are fewer than were asked for. */
void timeline_print_part(const struct timeline_file *file, ridge_output *output);
/* Ranges such as "ProfilerStep#3" or "step 3" in the window. */
size_t timeline_count_steps(const struct timeline_file *file);

/* The tables about one device; of a trace without work of a GPU account is NULL. */
/* Gaps of one cause in front of one kernel, in ranges that differ at most in a number: a place of the
 * program. */
struct timeline_place {
    uint32_t largest; /* row of gaps */
    uint32_t after, range, first;
    bool is_family; /* of several names; first is one of them */
    uint8_t cause;
    size_t count;
    int64_t total_ns;
};

enum { TIMELINE_PLACES = 16 };

struct timeline_view {
    const struct timeline_file *file;
    const ridge_device_account *account;
    ridge_trace_sums kernels, copies, api;
    ridge_range_sums ranges, idle_operations; /* the second beside ranges of the program alone */
    ridge_timeline_next next;
    uint32_t *rank_of; /* by number of a name: row of next.ranks + 1; 0: none */
    struct timeline_place places[TIMELINE_PLACES]; /* by their largest gap */
    size_t place_count;
};
/* Calls and ranges, which belong to no device, only of the file's main device. */
ridge_status timeline_view_make(const struct timeline_file *file,
                                const ridge_device_account *account,
                                const struct timeline_request *request, struct timeline_view *out,
                                ridge_error *err);
void timeline_view_release(struct timeline_view *view);
/* The rank of a kernel with its bound; NULL: it has none. */
const ridge_kernel_rank *timeline_rank_of(const struct timeline_view *view, uint32_t name);

/* -- words ------------------------------------------------------------------------------------- */

enum { TIMELINE_NAME = 512 };

/* A kernel's name to read: without return type, parameters and namespaces, template arguments kept;
 * as recorded when whole. */
char *timeline_kernel_name(const char *name, bool whole, char *buffer, size_t size);
/* The same, and of a kernel that is made for a function what tells it from others: "elementwise_kernel
 * silu_kernel(BFloat16)". */
char *timeline_short_name(const char *name, char *buffer, size_t size);
/* Short names of the rows of a table, where two would be alike longer ones; as recorded when whole.
 * Freed with timeline_free_names(); NULL: out of memory. */
char **timeline_row_names(const char *const *recorded, size_t count, bool whole);
void timeline_free_names(char **names);
/* The same of an operation by row of ridge_trace_ops(), without template arguments; "the end" for
 * RIDGE_TRACE_NONE. */
char *timeline_op_name(const ridge_trace *trace, uint32_t op, char *buffer, size_t size);
/* A call without the version behind it: "cudaLaunchKernel". */
char *timeline_api_name(const char *name, char *buffer, size_t size);
/* A range without the colon of the default domain and without what PyTorch's emit_nvtx() numbers:
 * "aten::mm" of ":aten::mm, seq = 7, op_id = 12". */
char *timeline_range_name(const char *name, char *buffer, size_t size);
/* "12.8 %" with one decimal, "n/a". */
char *timeline_percent(double part, double whole, char *buffer, size_t size);
/* "84.5 ms", three digits. */
char *timeline_time(double ns, char *buffer, size_t size);
const char *timeline_device_name(const ridge_trace *trace, const ridge_device_account *account);
int64_t timeline_device_id(const ridge_trace *trace, const ridge_device_account *account);
/* Of a whole; NAN where the whole is 0. */
double timeline_frac(double part, double whole);
/* From the first work of the trace, as --window counts; no work starts before that. */
static inline int64_t timeline_at_ns(const struct timeline_file *file, int64_t time_ns)
{
    const uint64_t at_ns = (uint64_t)time_ns - (uint64_t)file->origin_ns;

    return at_ns > INT64_MAX ? INT64_MAX : (int64_t)at_ns;
}
static inline int64_t timeline_span(const ridge_device_account *account)
{
    return account->end_ns - account->start_ns;
}

/* -- tables ------------------------------------------------------------------------------------ */

/* A column of numbers that are written here: to the right, as numbers are. */
#define TIMELINE_NUMBER(key, title, order)                                                         \
    {                                                                                              \
        key, title, RIDGE_UNIT_NONE, false, 0, order                                               \
    }
#define TIMELINE_TEXT(key, title, narrowest)                                                       \
    {                                                                                              \
        key, title, RIDGE_UNIT_NONE, true, narrowest, 0                                            \
    }
void timeline_add_time(ridge_table *table, double ns);
void timeline_add_percent(ridge_table *table, double part, double whole);
/* Prints and frees. */
void timeline_finish_table(ridge_table *table, ridge_output *output);

/* -- what is printed --------------------------------------------------------------------------- */

enum { TIMELINE_LABEL = 10 }; /* columns of what stands in front of a line */
/* text behind a label in these columns, filled; nothing when it is empty. */
void timeline_labelled(ridge_output *output, const char *label, const char *text);

/* The three lines that are the answer, and the first two of them. */
void timeline_print_answer(const struct timeline_view *view, ridge_output *output);
void timeline_print_device(const struct timeline_view *view, ridge_output *output);
/* What each road gives, a line behind the answer. */
void timeline_print_gain(const struct timeline_view *view, ridge_output *output);
/* The kernel to profile, in words: "profile NAME: 12.3 % of the kernels' time, ..."; "" without one. */
void timeline_kernel_text(const struct timeline_view *view, char *buffer, size_t size);
/* The screen of a file: at most 60 lines for the main device, three for each other one. */
ridge_status timeline_print_screen(const struct timeline_file *file,
                                   const struct timeline_request *request, ridge_output *output,
                                   ridge_error *err);
/* The tables that --kernels and its like ask for, behind the answer. */
ridge_status timeline_print_tables(const struct timeline_file *file,
                                   const struct timeline_request *request, ridge_output *output,
                                   ridge_error *err);
/* The places with the largest gaps; returns how many. */
size_t timeline_find_places(const struct timeline_view *view,
                            struct timeline_place places[TIMELINE_PLACES]);
/* Tables of a view, which the screen has short and timeline_print_tables() long. */
void timeline_table_idle(const struct timeline_view *view, size_t most, ridge_output *output);
void timeline_table_gaps(const struct timeline_view *view, size_t most, ridge_output *output);
/* The same by place: gaps of one cause in front of one kernel in one range are a row. */
void timeline_table_places(const struct timeline_view *view, size_t most, ridge_output *output);
void timeline_table_kernels(const struct timeline_view *view, size_t most, bool whole,
                            ridge_output *output);
void timeline_table_ranges(const struct timeline_view *view, size_t most, ridge_output *output);
void timeline_table_streams(const struct timeline_view *view, size_t most, ridge_output *output);
void timeline_table_copies(const struct timeline_view *view, size_t most, ridge_output *output);
void timeline_table_api(const struct timeline_view *view, size_t most, ridge_output *output);
/* Nothing for one process. */
void timeline_table_processes(const struct timeline_view *view, size_t most, ridge_output *output);

/* The key "window" with what was taken. */
void timeline_write_part(const struct timeline_file *file, ridge_json *json);
/* One file into an object that is open. */
ridge_status timeline_write_json(const struct timeline_file *file,
                                 const struct timeline_request *request, ridge_json *json,
                                 ridge_error *err);

/* The reports of --csv; ends with NULL. */
extern const char *const timeline_csv_reports[];
ridge_status timeline_write_csv(const struct timeline_file *file,
                                const struct timeline_request *request, ridge_output *output,
                                ridge_error *err);

/* Several files: one line each and what stands out; text or a part of a JSON document. */
void timeline_write_ranks(const struct timeline_file *files, size_t count,
                          const struct timeline_request *request, ridge_output *output,
                          ridge_json *json);
/* The same device in both: that of before, where after has it. */
void timeline_match_devices(const struct timeline_file *before, struct timeline_file *after);
ridge_status timeline_write_compare(const struct timeline_file *before,
                                    const struct timeline_file *after,
                                    const struct timeline_request *request, ridge_output *output,
                                    ridge_json *json, ridge_error *err);

#endif
