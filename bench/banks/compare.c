/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds the bank model against measured wavefronts.
 *
 *     compare CASES              what the model says, no report needed
 *     compare CASES REPORT...    a report of `wavefronts CASES`: one launch a case, in order
 *     compare --code CUBIN       each kernel of wavefronts.cu holds one access, of its kind
 *
 * Prints a line a case, separated by tabs, and a summary to stderr; exits with 1 when the model and
 * the profiler disagree in any case. "measured" is the counter of the instruction
 * (memory_l1_wavefronts_shared), "launch" that of the whole launch
 * (l1tex__data_pipe_lsu_wavefronts_mem_shared.sum), a second witness: on an H200 it is one more than
 * that of the instruction, but for cp.async. */
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
    ridge_bank_count model;
};

static int fail(const char *path, const char *what)
{
    fprintf(stderr, "compare: %s: %s\n", path, what);
    return EXIT_INPUT;
}

/* -- cases -------------------------------------------------------------------------------------- */

static bool read_case(const char *line, struct bank_case *out)
{
    int length = 0;
    ridge_error err;

    if (sscanf(line, "%95[^\t]\t%31[^\t]\t%" SCNx32 "\t%n", out->name, out->access_name,
               &out->lanes, &length) != 3 ||
        length == 0)
        return false;
    for (int lane = 0; lane < RIDGE_BANKS_LANES; lane++) {
        char *end;

        out->address_bytes[lane] = (uint32_t)strtoul(line + length, &end, 10);
        if (end == line + length)
            return false;
        length = (int)(end - line);
    }
    if (ridge_bank_access_read(out->access_name, &out->access, &err) == RIDGE_OK &&
        ridge_banks_simulate(&out->access, out->address_bytes, out->lanes, &out->model, NULL,
                             &err) == RIDGE_OK)
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
    uint64_t wavefronts, ideal;
    double launch; /* NAN: not in the report */
};

/* The one shared access of a launch; false after saying why there is none. */
static bool measure(const ridge_kernel *kernel, const struct bank_case *test, struct measured *out)
{
    const ridge_kernel_info *const info = ridge_kernel_get_info(kernel);
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
    out->launch =
        ridge_kernel_metric(kernel, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", &metric)
            ? metric.value.number
            : NAN;
    return found == 1;
}

struct tally {
    size_t cases, different, ideals_different, launches_different;
};

static void print_case(const struct bank_case *test, const struct measured *measured)
{
    printf("%s\t%s\t%08" PRIx32 "\t%d\t%d\t%d", test->name, test->access_name, test->lanes,
           test->model.wavefronts, test->model.ideal, test->model.degree);
    if (measured != NULL)
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%.0f\t%s", measured->wavefronts, measured->ideal,
               measured->launch,
               measured->wavefronts == (uint64_t)test->model.wavefronts ? "yes" : "NO");
    printf("\n");
}

static void count_case(const struct bank_case *test, const struct measured *measured,
                       struct tally *tally)
{
    tally->cases++;
    tally->different += measured->wavefronts != (uint64_t)test->model.wavefronts;
    tally->ideals_different += measured->ideal != (uint64_t)test->model.ideal;
    tally->launches_different += !(measured->launch == (double)test->model.wavefronts);
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
        } else if (!measure(ridge_report_kernel(report, i), &test, &measured)) {
            status = EXIT_INPUT;
        } else {
            print_case(&test, &measured);
            count_case(&test, &measured, tally);
        }
    }
    ridge_report_free(report);
    return status;
}

static int compare(int report_count, char **reports, FILE *cases, const char *cases_path)
{
    struct tally tally = {0};
    struct bank_case rest;
    int status = 0;

    printf("name\taccess\tlanes\tmodel\tideal_model\tdegree_model%s\n",
           report_count > 0 ? "\tmeasured\tideal_measured\tlaunch\tequal" : "");
    for (int i = 0; i < report_count && status == 0; i++)
        status = compare_report(reports[i], cases, cases_path, &tally);
    while (report_count == 0 && next_case(cases, cases_path, &rest, &status))
        print_case(&rest, NULL);
    if (report_count == 0 || status != 0)
        return status;
    if (next_case(cases, cases_path, &rest, &status))
        return fail(cases_path, "more cases than launches");
    fprintf(stderr,
            "%zu cases: wavefronts differ in %zu, ideal in %zu, the launch's counter in %zu\n",
            tally.cases, tally.different, tally.ideals_different, tally.launches_different);
    return tally.different > 0 ? EXIT_DIFFERENT : 0;
}

int main(int argc, char **argv)
{
    FILE *cases;
    int status;

    if (argc == 3 && strcmp(argv[1], "--code") == 0)
        return check_code(argv[2]);
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: compare CASES [REPORT...]\n       compare --code CUBIN\n");
        return EXIT_USAGE;
    }
    cases = fopen(argv[1], "r");
    if (cases == NULL)
        return fail(argv[1], "cannot be opened");
    status = compare(argc - 2, argv + 2, cases, argv[1]);
    fclose(cases);
    return status;
}
