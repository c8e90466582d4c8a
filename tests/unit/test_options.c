/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "cli/options.h"

static int run_nothing(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_DONE;
}

/* Stands for the table of main.c. */
const struct command commands[] = {
    {"kernels", "List", run_nothing, GROUP_REPORT, COMMAND_FILES},
    {NULL, NULL, NULL, GROUP_COUNT, 0},
};

const struct command *command_find(const char *name)
{
    return strcmp(name, commands[0].name) == 0 ? &commands[0] : NULL;
}

static struct size_case {
    const char *name;
    bool ok;
    uint64_t bytes;
} sizes[] = {
    {"0", true, 0},
    {"4096", true, 4096},
    {"4096B", true, 4096},
    {"64KiB", true, 65536},
    {"1.5GiB", true, 1610612736},
    {"0.5KiB", true, 512},
    {"10MB", true, 10000000},
    {"2TB", true, 2000000000000},
    {"1TiB", true, 1099511627776},
    {"3kB", true, 3000},
    {"3KB", true, 3000},
    {"8.05KB", true, 8050},
    {"124.48KB", true, 124480},
    {"50.75KB", true, 50750},
    {"", false, 0},
    {"KiB", false, 0},
    {"-1", false, 0},
    {"+1", false, 0},
    {"0x10", false, 0},
    {"nan", false, 0},
    {"1e3", false, 0},
    {"1.2.3", false, 0},
    {".", false, 0},
    {"0.3KiB", false, 0},
    {"1 KiB", false, 0},
    {"1K", false, 0},
    {"1kib", false, 0},
    {"9999999999TiB", false, 0},
    {"99999999999999999999999999999999999999999999999999999999999999999", false, 0},
};

static void reads_sizes(void **state)
{
    const struct size_case *const row = *state;
    uint64_t bytes = 77;

    assert_int_equal(options_size(row->name, &bytes), row->ok);
    assert_true(bytes == (row->ok ? row->bytes : 77));
}

static struct rate_case {
    const char *name;
    bool ok;
    double per_s;
} rates[] = {
    {"2.0TB/s", true, 2e12},
    {"4800GB/s", true, 4.8e12},
    {"4.8e12B/s", true, 4.8e12},
    {"4.8e12", false, 0},
    {"2", false, 0},
    {"999PB/s", true, 999e15},
    {"1000PB/s", false, 0},
    {"5B/s", true, 5},
    {"1kB/s", true, 1000},
    {"1e3MB/s", true, 1e9},
    {"2PB/s", true, 2e15},
    {"", false, 0},
    {"TB/s", false, 0},
    {"2.0TB", false, 0},
    {"2.0T", false, 0},
    {"2.0Tb/s", false, 0},
    {"2.0TiB/s", false, 0},
    {"2.0TFLOP/s", false, 0},
    {"0", false, 0},
    {"0TB/s", false, 0},
    {"-1TB/s", false, 0},
    {"1e999", false, 0},
    {"nan", false, 0},
    {"2.0TB/s ", false, 0},
    {"2.0 TB/s", false, 0},
    {"2e", false, 0},
    {"KB/s", false, 0},
    {"1KB/s", false, 0},
};

static void reads_rates(void **state)
{
    const struct rate_case *const row = *state;
    double per_s = 77;

    assert_int_equal(options_rate(row->name, "B/s", &per_s), row->ok);
    assert_true(per_s == (row->ok ? row->per_s : 77));
}

static struct nearest_case {
    const char *name;
    const char *nearest;
} nearests[] = {
    {"kernel", "kernels"},
    {"kernles", "kernels"},
    {"diagnos", "diagnose"},
    {"dif", "diff"},
    {"sorce", "source"},
    {"hlep", "help"},
    {"diag", "diagnose"},
    {"ource", "source"},
    {"xyz", NULL},
    {"", NULL},
    {"k", NULL},
    {"a word that is longer than any name of a command or an option", NULL},
};

static void finds_the_nearest(void **state)
{
    static const char *const words[] = {"diagnose", "diff", "help", "kernels", "source", NULL};
    const struct nearest_case *const row = *state;
    const char *const nearest = options_nearest(row->name, words);

    if (row->nearest == NULL)
        assert_null(nearest);
    else
        assert_string_equal(nearest, row->nearest);
}

/* Everything that options can set. */
struct values {
    bool all;
    bool quiet;
    const char *pattern;
    size_t launch;
    double flop_count;
    uint64_t bytes;
    int by;
    struct cli_output out;
};

static struct parse_case {
    const char *name; /* the command line without the command */
    bool ok;
    struct values values;
    int rest_count;
    const char *rest; /* the last argument that is left */
} parses[] = {
    {"", true, {.launch = 9}, 0, "kernels"},
    {"FILE", true, {.launch = 9}, 1, "FILE"},
    {"--all FILE", true, {.launch = 9, .all = true}, 1, "FILE"},
    {"FILE -aq", true, {.launch = 9, .all = true, .quiet = true}, 1, "FILE"},
    {"--kernel=x=y FILE", true, {.launch = 9, .pattern = "x=y"}, 1, "FILE"},
    {"--kernel --all FILE", true, {.launch = 9, .pattern = "--all"}, 1, "FILE"},
    {"--kernel= FILE", true, {.launch = 9, .pattern = ""}, 1, "FILE"},
    {"-k x FILE", true, {.launch = 9, .pattern = "x"}, 1, "FILE"},
    {"-qkx FILE", true, {.launch = 9, .quiet = true, .pattern = "x"}, 1, "FILE"},
    {"--launch 3 --launch 4", true, {.launch = 4}, 0, "kernels"},
    {"--flop 1.5T", true, {.launch = 9, .flop_count = 1.5e12}, 0, "kernels"},
    {"--launch 8k", true, {.launch = 8000}, 0, "kernels"},
    {"--launch 4Ki", true, {.launch = 4096}, 0, "kernels"},
    {"--launch 8kB", false, {0}, 0, NULL},
    {"--launch 99999999999999999T", false, {0}, 0, NULL},
    {"--flop 1.5e12", true, {.launch = 9, .flop_count = 1.5e12}, 0, "kernels"},
    {"--bytes 64KiB", true, {.launch = 9, .bytes = 65536}, 0, "kernels"},
    {"--by b", true, {.launch = 9, .by = 1}, 0, "kernels"},
    {"--json", true, {.launch = 9, .out = {RIDGE_FORMAT_JSON, 0}}, 0, "kernels"},
    {"--json --json", true, {.launch = 9, .out = {RIDGE_FORMAT_JSON, 0}}, 0, "kernels"},
    {"--color=never", true, {.launch = 9, .out = {RIDGE_FORMAT_TEXT, 2}}, 0, "kernels"},
    {"-- --all -k", true, {.launch = 9}, 2, "-k"},
    {"-", true, {.launch = 9}, 1, "-"},
    {"--nope", false, {0}, 0, NULL},
    {"--al", false, {0}, 0, NULL},
    {"-x", false, {0}, 0, NULL},
    {"-ax", false, {0}, 0, NULL},
    {"--all=yes", false, {0}, 0, NULL},
    {"--kernel", false, {0}, 0, NULL},
    {"-k", false, {0}, 0, NULL},
    {"--launch x", false, {0}, 0, NULL},
    {"--launch -1", false, {0}, 0, NULL},
    {"--launch 18446744073709551615", false, {0}, 0, NULL},
    {"--launch 99999999999999999999", false, {0}, 0, NULL},
    {"--flop 1e", false, {0}, 0, NULL},
    {"--flop 1e999", false, {0}, 0, NULL},
    {"--flop nan", false, {0}, 0, NULL},
    {"--bytes 1XB", false, {0}, 0, NULL},
    {"--by c", false, {0}, 0, NULL},
    {"--json --csv", false, {0}, 0, NULL},
};

enum { MOST_ARGUMENTS = 8 };

/* Cuts a copy of a line at single spaces; returns how many arguments there are. */
static int split(char *line, char **argv)
{
    int argc = 0;
    char *at = line;

    argv[argc++] = at;
    while ((at = strchr(at, ' ')) != NULL && argc < MOST_ARGUMENTS) {
        *at++ = '\0';
        argv[argc++] = at;
    }
    argv[argc] = NULL;
    return argc;
}

static void parses_a_line(void **state)
{
    static const char *const choices[] = {"a", "b", NULL};
    const struct parse_case *const row = *state;
    struct values values = {.launch = 9};
    const struct option options[] = {
        OPT_FLAG('a', "all", &values.all, "all"),
        OPT_FLAG('q', "quiet", &values.quiet, "quiet"),
        OPT_STRING('k', "kernel", &values.pattern, "REGEX", "kernels"),
        OPT_COUNT('l', "launch", &values.launch, "N", "launch"),
        OPT_NUMBER(0, "flop", &values.flop_count, "N", "work"),
        OPT_SIZE(0, "bytes", &values.bytes, "bytes"),
        OPT_CHOICE(0, "by", &values.by, "a|b", choices, "by"),
        OPT_JSON(&values.out),
        OPT_CSV(&values.out),
        OPT_COMMON(&values.out),
        OPT_END,
    };
    char line[200];
    char *argv[MOST_ARGUMENTS + 1];
    int argc;
    int status = 99;

    snprintf(line, sizeof(line), "kernels%s%s", row->name[0] != '\0' ? " " : "", row->name);
    argc = split(line, argv);
    assert_int_equal(options_parse(&argc, argv, "ridge kernels", options, &status), row->ok);
    if (!row->ok) {
        assert_int_equal(status, CLI_USAGE);
        return;
    }
    assert_int_equal(argc, row->rest_count + 1);
    assert_string_equal(argv[argc - 1], row->rest);
    assert_null(argv[argc]);
    assert_int_equal(values.all, row->values.all);
    assert_int_equal(values.quiet, row->values.quiet);
    assert_int_equal(values.launch, row->values.launch);
    assert_true(values.flop_count == row->values.flop_count);
    assert_true(values.bytes == row->values.bytes);
    assert_int_equal(values.by, row->values.by);
    assert_int_equal(values.out.format, row->values.out.format);
    assert_int_equal(values.out.colour, row->values.out.colour);
    if (row->values.pattern == NULL)
        assert_null(values.pattern);
    else
        assert_string_equal(values.pattern, row->values.pattern);
}

static struct name_case {
    const char *name;
    const char *demangled;
    const char *shown;
} names[] = {
    {"name: plain", "iterate", "iterate"},
    {"name: parameters", "void add(float *, int)", "add"},
    {"name: template numbers", "void f<(int)32, (bool)1, (int)-1>(const float *)", "f<32, 1, -1>"},
    {"name: function pointer", "run(void (*)(int), int)", "run"},
    {"name: anonymous namespace", "void (anonymous namespace)::k<float>(int)",
     "(anonymous namespace)::k<float>"},
    {"name: call operator", "void f<A::operator()>(int)", "f<A::operator()>"},
    {"name: only parameters", "(int)", "(int)"},
    {"name: unbalanced", "f)", "f)"},
    {"name: empty", "", ""},
};

static void shortens_names(void **state)
{
    const struct name_case *const row = *state;
    const ridge_report_kernel_info info = {.demangled_name = row->demangled};
    char buffer[64];
    char narrow[3];

    assert_string_equal(cli_short_name(&info, buffer, sizeof(buffer)), row->shown);
    assert_true(strlen(cli_short_name(&info, narrow, sizeof(narrow))) < sizeof(narrow));
}

static void shows_extents(void **state)
{
    static const uint64_t one[3] = {132, 1, 1};
    static const uint64_t two[3] = {132, 4, 1};
    static const uint64_t three[3] = {132, 1, 4};
    static const uint64_t none[3] = {0, 0, 0};
    char buffer[80];

    (void)state;
    assert_string_equal(cli_extent(one, buffer, sizeof(buffer)), "132");
    assert_string_equal(cli_extent(two, buffer, sizeof(buffer)), "132x4");
    assert_string_equal(cli_extent(three, buffer, sizeof(buffer)), "132x1x4");
    assert_string_equal(cli_extent(none, buffer, sizeof(buffer)), "n/a");
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_sizes, sizes);
    CASES_ADD_ROWS(&list, reads_rates, rates);
    CASES_ADD_ROWS(&list, finds_the_nearest, nearests);
    CASES_ADD_ROWS(&list, parses_a_line, parses);
    CASES_ADD_ROWS(&list, shortens_names, names);
    cases_add(&list, "extents", shows_extents, NULL);
    return cases_run(&list, "options");
}
