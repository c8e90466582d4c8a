/* SPDX-License-Identifier: Apache-2.0
 *
 * The line for ncu: which launch, how it is found again. */
#include "next_support.h"

static const trace_row first_calls[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_KERNEL, "gemm", 100, 200, .key = 1},
    {ROW_KERNEL, "gemm", 210, 330, .key = 2}, /* the middle one by time */
    {ROW_KERNEL, "gemm", 340, 500, .key = 3},
};
/* The median, 45 us, is a time that none took; launches 0 and 2 take most of it. */
static const trace_row two_sizes[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_CALL, "cudaLaunchKernel", 40, 50, .key = 4},
    {ROW_KERNEL, "cat", 1000, 19000, .key = 1},
    {ROW_KERNEL, "cat", 20000, 91000, .key = 2},
    {ROW_KERNEL, "cat", 100000, 118000, .key = 3},
    {ROW_KERNEL, "cat", 120000, 192000, .key = 4},
};
static const trace_row two_sizes_in_a_range[] = {
    {ROW_NVTX, ":step", 0, 90},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_CALL, "cudaLaunchKernel", 40, 50, .key = 4},
    {ROW_KERNEL, "cat", 1000, 19000, .key = 1},
    {ROW_KERNEL, "cat", 20000, 91000, .key = 2},
    {ROW_KERNEL, "cat", 100000, 118000, .key = 3},
    {ROW_KERNEL, "cat", 120000, 192000, .key = 4},
};
/* Work of stream 1 runs before what was launched earlier. */
static const trace_row out_of_order[] = {
    {ROW_CALL, "cudaSetDevice", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_KERNEL, "k", 300, 400, .key = 1, .on = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 2, .on = 2},
};
static const trace_row long_first_call[] = {
    {ROW_CALL, "cudaMalloc", 0, 200000000},
    {ROW_KERNEL, "k", 200000100, 200000200},
};
static const trace_row begun_late[] = {
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row switched_on[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaProfilerStart", 5, 8},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row switched_on_late[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaProfilerStart", 30, 40},
    {ROW_CALL, "cudaLaunchKernel", 50, 60, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 70, 80, .key = 3},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
    {ROW_KERNEL, "k", 200, 350, .key = 2},
    {ROW_KERNEL, "k", 400, 600, .key = 3},
};
static const trace_row in_a_range[] = {
    {ROW_NVTX, ":train step", 0, 90},
    {ROW_NVTX, ":aten::mm, seq = 7", 5, 50},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row in_a_domain[] = {
    {ROW_NVTX, "lib:fwd/bwd", 0, 90},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row two_processes[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cuInit", 0, 5, .process = 1},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1, .process = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
    {ROW_KERNEL, "k", 300, 400, .key = 1, .process = 1},
};
static const trace_row two_devices[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_KERNEL, "k", 100, 110, .key = 1, .device = 1},
    {ROW_KERNEL, "k", 120, 200, .key = 2},
};
static const trace_row odd_name[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "-k.1'$x+", 100, 200, .key = 1},
};
static const trace_row of_amd[] = {
    {ROW_CALL, "hipLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "Cijk", 100, 200, .key = 1},
};
static const trace_row no_kernels[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaGraphLaunch", 10, 20, .key = 1},
    {ROW_GRAPH, "graph", 100, 200, .key = 1, .detail = 5},
};

static struct line_case {
    const char *name;
    const trace_row *rows;
    size_t count;
    ridge_trace_format format;
    bool with_command;
    const char *line, *note; /* note: a part, "" none */
    bool is_delayed;
} line_cases[] = {
    {"half of the time in shorter ones", ROWS(first_calls), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND", ""},
    {"of the size with most time", ROWS(two_sizes), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^cat$' -s 3 -c 1 -o cat COMMAND",
     "launches: 2 of 71.5 us, 2 of 18.0 us: this is one of 71.5 us"},
    {"two sizes, the first in a range may be either", ROWS(two_sizes_in_a_range), RIDGE_TRACE_NSYS,
     false, "ncu --set full --nvtx --nvtx-include step/ -k 'regex:^cat$' -c 1 -o cat COMMAND",
     "2 of 18.0 us: see which it is"},
    {"with the command", ROWS(first_calls), RIDGE_TRACE_NSYS, true,
     "ncu --set full -k 'regex:^gemm$' -s 1 -c 1 -o gemm python3 'my train.py' '--name=it'\\''s' "
     "''",
     ""},
    {"in the order of launches", ROWS(out_of_order), RIDGE_TRACE_RECORD, false,
     "ncu --set full -k 'regex:^k$' -s 1 -c 1 -o k COMMAND", ""},
    {"a first call that creates a context", ROWS(long_first_call), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^k$' -s 0 -c 1 -o k COMMAND", ""},
    {"Kineto begins when it is told", ROWS(first_calls), RIDGE_TRACE_KINETO, false,
     "ncu --set full --profile-from-start off -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND",
     "call torch.cuda.profiler.start() there"},
    {"begun in the middle", ROWS(begun_late), RIDGE_TRACE_NSYS, false,
     "ncu --set full --profile-from-start off -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "call cudaProfilerStart() there"},
    {"recorded from a delay on", ROWS(first_calls), RIDGE_TRACE_RECORD, false,
     "ncu --set full --profile-from-start off -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND",
     "call cudaProfilerStart() there", true},
    {"recorded from a delay on, in a range", ROWS(in_a_range), RIDGE_TRACE_RECORD, false,
     "ncu --set full --nvtx --nvtx-include 'train step/' -k 'regex:^k$' -c 1 -o k COMMAND", "no -s",
     true},
    {"switched on by the program", ROWS(switched_on), RIDGE_TRACE_NSYS, false,
     "ncu --set full --profile-from-start off -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "-s counts from where the trace begins"},
    {"a whole process that switches the profiler on later", ROWS(switched_on_late),
     RIDGE_TRACE_RECORD, false, "ncu --set full -k 'regex:^k$' -s 1 -c 1 -o k COMMAND", ""},
    {"a range holds it; numbers of one run do not count", ROWS(in_a_range), RIDGE_TRACE_NSYS, false,
     "ncu --set full --nvtx --nvtx-include 'train step/' -k 'regex:^k$' -c 1 -o k COMMAND",
     "no -s"},
    {"a range of a domain, escaped", ROWS(in_a_domain), RIDGE_TRACE_NSYS, false,
     "ncu --set full --nvtx --nvtx-include 'lib@fwd\\/bwd/' -k 'regex:^k$' -c 1 -o k COMMAND",
     "no -s"},
    {"several processes", ROWS(two_processes), RIDGE_TRACE_NSYS, false,
     "ncu --set full --target-processes all -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "several processes"},
    {"several devices: counted on one", ROWS(two_devices), RIDGE_TRACE_NSYS, false, NULL, ""},
    {"what a shell and an expression would eat", ROWS(odd_name), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^-k\\.1'\\''\\$x\\+$' -s 0 -c 1 -o _k.1__x_ COMMAND", ""},
    {"another maker's GPU", ROWS(of_amd), RIDGE_TRACE_KINETO, false, "",
     "no line for ncu: this is no GPU of NVIDIA"},
    {"graphs as rows", ROWS(no_kernels), RIDGE_TRACE_NSYS, false, "", "--cuda-graph-trace=node"},
};

static void writes_a_line(void **state)
{
    static const char *const command[] = {"python3", "my train.py", "--name=it's", ""};
    const struct line_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, row->count);
    ridge_timeline_next next;

    trace->info.format = row->format;
    trace->info.is_delayed = row->is_delayed;
    trace->info.command = command;
    trace->info.command_count = 4;
    plan(trace, NULL, row->with_command, &next);
    if (row->line != NULL)
        assert_string_equal(next.ncu, row->line);
    else
        assert_non_null(strstr(next.ncu, " --devices "));
    if (row->note[0] == '\0')
        assert_string_equal(next.note, "");
    else if (strstr(next.note, row->note) == NULL)
        fail_msg("%s", next.note);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, writes_a_line, line_cases);
    return cases_run(&list, "ncu_line");
}
