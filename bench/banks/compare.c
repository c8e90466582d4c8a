/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds the bank model against measured wavefronts.
 *
 *     compare CASES              what the model says, no report needed
 *     compare CASES REPORT...    a report of `wavefronts CASES`: one launch a case, in order
 *     compare --table TABLE CASES  a table that was recorded by the second form, without the report
 *     compare --code CUBIN       each kernel of wavefronts.cu holds one access, of its kind
 *
 * Prints a line a case, separated by tabs, and a summary to stderr. There are two counters:
 *
 *     instruction  memory_l1_wavefronts_shared of the access: counted by code that the profiler
 *                  patches in, so a model too
 *     hardware     l1tex__data_pipe_lsu_wavefronts_mem_shared.sum of the launch, less what every
 *                  launch counts besides: 1, and 3 for the "@!PT LDS" before an LDGSTS. "-" for a
 *                  cp.async of 16 bytes, which does not pass the pipe.
 *
 * The model is right when its two numbers, of the hardware and as reported, equal the two counters;
 * else the case is marked NO and the exit status is 1. A cp.async of 4 or 8 bytes whose sources meet
 * in banks or lie in many lines depends on when the lines arrive, from run to run: there the model is a lower bound, and
 * the case is marked "bound". "counters" marks a right model of counters that differ. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/banks.h"
#include "ridge/profile.h"

enum { EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_INPUT = 3 };

struct bank_case {
    char name[96];
    char access_name[32];
    ridge_bank_access access;
    uint32_t lanes;
    uint32_t address_bytes[RIDGE_BANKS_LANES];
    uint32_t source_bytes[RIDGE_BANKS_LANES];
    bool has_source;
    ridge_bank_count model;
};

static int fail(const char *path, const char *what)
{
    fprintf(stderr, "compare: %s: %s\n", path, what);
    return EXIT_INPUT;
}

/* -- cases -------------------------------------------------------------------------------------- */

/* Reads 32 numbers; NULL when there are fewer. */
static const char *read_numbers(const char *text, uint32_t out[RIDGE_BANKS_LANES])
{
    for (int lane = 0; lane < RIDGE_BANKS_LANES; lane++) {
        char *end;

        out[lane] = (uint32_t)strtoul(text, &end, 10);
        if (end == text)
            return NULL;
        text = end;
    }
    return text;
}

static bool read_case(const char *line, struct bank_case *out)
{
    const char *rest;
    int length = 0;
    ridge_error err;

    if (sscanf(line, "%95[^\t]\t%31[^\t]\t%" SCNx32 "\t%n", out->name, out->access_name,
               &out->lanes, &length) != 3 ||
        length == 0)
        return false;
    rest = read_numbers(line + length, out->address_bytes);
    if (rest == NULL || *rest != '\t')
        return false;
    out->has_source = rest[1] != '-';
    if (out->has_source && read_numbers(rest + 1, out->source_bytes) == NULL)
        return false;
    if (ridge_bank_access_read(out->access_name, &out->access, &err) == RIDGE_OK &&
        ridge_banks_simulate(&out->access, out->address_bytes,
                             out->has_source ? out->source_bytes : NULL, out->lanes, &out->model,
                             NULL, &err) == RIDGE_OK)
        return true;
    fprintf(stderr, "compare: %s: %s\n", out->name, err.text);
    return false;
}

/* The next case; false at the end, with *status set when that is not the file's. */
static bool next_case(FILE *file, const char *path, struct bank_case *out, int *status)
{
    char line[2048];

    if (fgets(line, sizeof(line), file) == NULL)
        return false;
    if (read_case(line, out))
        return true;
    *status = fail(path, line);
    return false;
}

/* -- code --------------------------------------------------------------------------------------- */

/* "LDS" for ld.4 and so on. */
static const char *const opcodes[] = {
    [RIDGE_BANK_LOAD] = "LDS",        [RIDGE_BANK_STORE] = "STS",
    [RIDGE_BANK_LDMATRIX] = "LDSM",   [RIDGE_BANK_STMATRIX] = "STSM",
    [RIDGE_BANK_CP_ASYNC] = "LDGSTS",
};

/* Without those that no lane ever executes: ptxas puts three "@!PT LDS" before an LDGSTS. */
static bool is_shared_access(const ridge_sass *sass)
{
    const bool never = sass->guard == 7 && sass->guard_negated;

    return sass->name != NULL && !never &&
           (sass->cls == RIDGE_SASS_SHARED || strcmp(sass->name, "LDGSTS") == 0);
}

static bool is_the_access(const ridge_sass *sass, const ridge_bank_access *access)
{
    const int width = access->matrix_count > 0 ? 4 * access->matrix_count : access->width_bytes;

    return strcmp(sass->name, opcodes[access->op]) == 0 && sass->width_bytes == width;
}

/* "ldmatrix.x4" for ldmatrix_x4. */
static void access_of_kernel(const char *kernel, char *access, size_t size)
{
    snprintf(access, size, "%s", kernel);
    for (char *p = access; *p != '\0'; p++)
        if (*p == '_')
            *p = '.';
}

static bool check_function(const ridge_function *function, int sm)
{
    char name[64], text[32] = "none";
    ridge_bank_access access;
    ridge_error err;
    int found = 0, right = 0;

    access_of_kernel(function->name, name, sizeof(name));
    if (ridge_bank_access_read(name, &access, &err) != RIDGE_OK) {
        fprintf(stderr, "compare: %s\n", err.text);
        return false;
    }
    for (size_t at = 0; at + 16 <= function->code_bytes; at += 16) {
        ridge_sass sass;

        ridge_sass_decode(function->code + at, (uint32_t)at, sm, &sass);
        if (!is_shared_access(&sass))
            continue;
        found++;
        right += is_the_access(&sass, &access);
        snprintf(text, sizeof(text), "%s", sass.text);
    }
    printf("%s\t%s\t%s\n", name, text, found == 1 && right == 1 ? "ok" : "WRONG");
    return found == 1 && right == 1;
}

static int check_code(const char *path)
{
    FILE *const file = fopen(path, "rb");
    static char bytes[1 << 22];
    const size_t size = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
    ridge_cubin *cubin;
    ridge_error err;
    int status = 0;

    if (file != NULL)
        fclose(file);
    if (ridge_cubin_read(bytes, size, &cubin, &err) != RIDGE_OK)
        return fail(path, err.text);
    for (size_t i = 0; i < ridge_cubin_function_count(cubin); i++)
        if (!check_function(ridge_cubin_function_at(cubin, i), ridge_cubin_sm(cubin)))
            status = EXIT_DIFFERENT;
    ridge_cubin_free(cubin);
    return status;
}

/* -- reports ------------------------------------------------------------------------------------ */

struct measured {
    uint64_t wavefronts, ideal; /* of the instruction */
    double hardware;            /* NAN: not counted, or not in the report */
};

/* The one shared access of a launch; false after saying why there is none. */
static bool measure(const ridge_report_kernel *kernel, const struct bank_case *test,
                    struct measured *out)
{
    const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernel);
    ridge_profile *profile;
    ridge_metric metric;
    ridge_error err;
    char name[64];
    size_t found = 0;

    access_of_kernel(info->name != NULL ? info->name : "", name, sizeof(name));
    if (strcmp(name, test->access_name) != 0) {
        fprintf(stderr, "compare: launch %zu is %s, expected %s\n", info->index, name,
                test->access_name);
        return false;
    }
    if (ridge_profile_create(kernel, &profile, &err) != RIDGE_OK) {
        fprintf(stderr, "compare: launch %zu: %s\n", info->index, err.text);
        return false;
    }
    for (size_t i = 0; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];

        if (!is_shared_access(&row->sass))
            continue;
        found++;
        out->wavefronts = row->wavefronts;
        out->ideal = row->wavefronts_ideal;
    }
    if ((profile->columns & RIDGE_PROFILE_SHARED) == 0 || found != 1)
        fprintf(stderr, "compare: launch %zu: %zu shared accesses, columns %#x\n", info->index,
                found, profile->columns);
    found = (profile->columns & RIDGE_PROFILE_SHARED) == 0 ? 0 : found;
    ridge_profile_free(profile);
    out->hardware = NAN;
    if (!(test->access.op == RIDGE_BANK_CP_ASYNC && test->access.width_bytes == 16) &&
        ridge_report_kernel_metric(kernel, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                                   &metric))
        out->hardware = metric.value.number - (test->access.op == RIDGE_BANK_CP_ASYNC ? 4 : 1);
    return found == 1;
}

struct tally {
    size_t cases, different, bounds, ideals_different, counters_different;
};

/* Do the sources of a cp.async of 4 or 8 bytes meet in a bank within a phase, or lie in more than two
 * lines? */
static bool is_scattered(const struct bank_case *test)
{
    const int width = test->access.width_bytes;
    const int phase_lanes = 128 / width;

    if (test->access.op != RIDGE_BANK_CP_ASYNC || width == 16 || !test->has_source)
        return false;
    for (int first = 0; first < RIDGE_BANKS_LANES; first += phase_lanes) {
        uint32_t used = 0; /* banks */
        uint32_t lowest = UINT32_MAX, highest = 0;

        for (int lane = first; lane < first + phase_lanes; lane++) {
            const uint32_t line = test->source_bytes[lane] / 128;

            if ((test->lanes >> lane & 1) != 0) {
                lowest = line < lowest ? line : lowest;
                highest = line > highest ? line : highest;
            }
            for (int byte = 0; byte < width && (test->lanes >> lane & 1) != 0; byte += 4) {
                const uint32_t bank = UINT32_C(1)
                                      << (test->source_bytes[lane] + (uint32_t)byte) / 4 % 32;

                if ((used & bank) != 0)
                    return true;
                used |= bank;
            }
        }
        if (highest > lowest + 1)
            return true;
    }
    return false;
}

/* The last column. */
static const char *judge(const struct bank_case *test, const struct measured *measured)
{
    const double model = test->model.wavefronts;

    if (is_scattered(test))
        return measured->hardware >= model ? "bound" : "NO";
    if (measured->wavefronts != (uint64_t)test->model.reported ||
        (!isnan(measured->hardware) && measured->hardware != model))
        return "NO";
    return measured->wavefronts != (uint64_t)test->model.wavefronts ? "counters" : "yes";
}

static void print_case(const struct bank_case *test, const struct measured *measured)
{
    printf("%s\t%s\t%08" PRIx32 "\t%d\t%d\t%d", test->name, test->access_name, test->lanes,
           test->model.wavefronts, test->model.reported, test->model.ideal);
    if (measured != NULL) {
        printf("\t%" PRIu64 "\t%" PRIu64 "\t", measured->wavefronts, measured->ideal);
        if (isnan(measured->hardware))
            printf("-");
        else
            printf("%.0f", measured->hardware);
        printf("\t%s", judge(test, measured));
    }
    printf("\n");
}

static void count_case(const struct bank_case *test, const struct measured *measured,
                       struct tally *tally)
{
    tally->cases++;
    tally->different += strcmp(judge(test, measured), "NO") == 0;
    tally->bounds += strcmp(judge(test, measured), "bound") == 0;
    tally->ideals_different += measured->ideal != (uint64_t)test->model.ideal;
    tally->counters_different += strcmp(judge(test, measured), "counters") == 0;
}

/* The launches of one report against the next cases of the file. */
static int compare_report(const char *path, FILE *cases, const char *cases_path,
                          struct tally *tally)
{
    ridge_report *report;
    ridge_error err;
    int status = 0;

    if (ridge_report_open(path, &report, &err) != RIDGE_OK)
        return fail(path, err.text);
    for (size_t i = 0; i < ridge_report_kernel_count(report) && status == 0; i++) {
        struct measured measured;
        struct bank_case test;

        if (!next_case(cases, cases_path, &test, &status)) {
            status = fail(path, "more launches than cases");
        } else if (!measure(ridge_report_kernel_at(report, i), &test, &measured)) {
            status = EXIT_INPUT;
        } else {
            print_case(&test, &measured);
            count_case(&test, &measured, tally);
        }
    }
    ridge_report_free(report);
    return status;
}

static void print_summary(const struct tally *tally)
{
    fprintf(
        stderr,
        "%zu cases: the model is wrong in %zu, a lower bound in %zu; the profiler's two counters "
        "differ in %zu others; its ideal differs in %zu\n",
        tally->cases, tally->different, tally->bounds, tally->counters_different,
        tally->ideals_different);
}

static int compare(int report_count, char **reports, FILE *cases, const char *cases_path)
{
    struct tally tally = {0};
    struct bank_case rest;
    int status = 0;

    printf("name\taccess\tlanes\tmodel\treported_model\tideal_model%s\n",
           report_count > 0 ? "\tinstruction\tideal_instruction\thardware\tequal" : "");
    for (int i = 0; i < report_count && status == 0; i++)
        status = compare_report(reports[i], cases, cases_path, &tally);
    while (report_count == 0 && next_case(cases, cases_path, &rest, &status))
        print_case(&rest, NULL);
    if (report_count == 0 || status != 0)
        return status;
    if (next_case(cases, cases_path, &rest, &status))
        return fail(cases_path, "more cases than launches");
    print_summary(&tally);
    return tally.different > 0 ? EXIT_DIFFERENT : 0;
}

/* -- a recorded table --------------------------------------------------------------------------- */

/* A line of the table: the columns measured. */
static bool read_measured(const char *line, const struct bank_case *test, struct measured *out)
{
    char name[96], access[32], hardware[32];

    if (sscanf(line,
               "%95[^\t]\t%31[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%" SCNu64 "\t%" SCNu64
               "\t%31[^\t]",
               name, access, &out->wavefronts, &out->ideal, hardware) != 5)
        return false;
    out->hardware = hardware[0] == '-' ? NAN : strtod(hardware, NULL);
    return strcmp(name, test->name) == 0 && strcmp(access, test->access_name) == 0;
}

static int compare_table(FILE *table, const char *table_path, FILE *cases, const char *cases_path)
{
    struct tally tally = {0};
    struct bank_case test;
    struct measured measured;
    char line[1024];
    int status = 0;

    if (fgets(line, sizeof(line), table) == NULL) /* the headings */
        return fail(table_path, "is empty");
    while (next_case(cases, cases_path, &test, &status)) {
        if (fgets(line, sizeof(line), table) == NULL || !read_measured(line, &test, &measured))
            return fail(table_path, "is not the table of these cases");
        count_case(&test, &measured, &tally);
        if (strcmp(judge(&test, &measured), "NO") == 0)
            print_case(&test, &measured);
    }
    print_summary(&tally);
    return status != 0 ? status : tally.different > 0 ? EXIT_DIFFERENT : 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: compare CASES [REPORT...]\n"
                    "       compare --table TABLE CASES\n"
                    "       compare --code CUBIN\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const bool is_table = argc == 4 && strcmp(argv[1], "--table") == 0;
    const char *cases_path;
    FILE *cases, *table = NULL;
    int status;

    if (argc == 3 && strcmp(argv[1], "--code") == 0)
        return check_code(argv[2]);
    if (argc < 2 || (argv[1][0] == '-' && !is_table))
        return usage();
    cases_path = argv[is_table ? 3 : 1];
    cases = fopen(cases_path, "r");
    if (cases == NULL)
        return fail(cases_path, "cannot be opened");
    if (is_table)
        table = fopen(argv[2], "r");
    if (is_table && table == NULL)
        status = fail(argv[2], "cannot be opened");
    else if (is_table)
        status = compare_table(table, argv[2], cases, cases_path);
    else
        status = compare(argc - 2, argv + 2, cases, cases_path);
    if (table != NULL)
        fclose(table);
    fclose(cases);
    return status;
}
