/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that are damaged, files that do not open, memory that runs out. */
#include "report_builder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* -- damage ------------------------------------------------------------------------------------ */

/* What all cases of damage start from. */
static file_bytes sample_file(void)
{
    static const build_instance instances[] = {{V_COUNT(4096), V_COUNT(1)},
                                               {V_TEXT("LDG"), V_NUMBER(2)}};
    static const build_metric metrics[] = {{"a", V_NUMBER(1), NULL, 0, 0},
                                           {"inst_executed", V_NONE, instances, 2, 0},
                                           {"c", V_TEXT("text"), NULL, 0, 0}};
    static const build_rule rule = {"Id", "Name", "Section", "Title", "Message", 1, 50, false};
    static const build_session session = {
        .host_name = "host", .device_name = "GPU", .device_sms = 4, .command_line = "ncu"};
    static const build_source source = {.reference = 1,
                                        .binary = "\177ELF",
                                        .binary_bytes = 4,
                                        .cc_major = 9,
                                        .function = "_Z1kv",
                                        .address = 4096,
                                        .path = "a.cu",
                                        .text = "line"};
    static const build_result results[] = {{.name = "k",
                                            .mangled = "_Z1kv",
                                            .demangled = "k()",
                                            .grid = {1, 1, 1},
                                            .block = {32, 1, 1},
                                            .module = 1,
                                            .clocks = 1,
                                            .metrics = metrics,
                                            .metric_count = 3,
                                            .rules = &rule,
                                            .rule_count = 1},
                                           {.kind = RIDGE_RESULT_RANGE,
                                            .metrics = metrics,
                                            .metric_count = 3,
                                            .rules = &rule,
                                            .rule_count = 1}};
    const build_block blocks[] = {
        {.session = &session},
        {.process_name = "app",
         .host_name = "host",
         .sources = &source,
         .source_count = 1,
         .results = results,
         .result_count = 2},
        {.results = results, .result_count = 1},
    };

    return build_report(blocks, 3);
}

/* Reads all there is; a sanitizer watches. */
static size_t read_all(const ridge_report *report)
{
    size_t sum = 0, k, i;

    for (i = 0; i < ridge_report_warning_count(report); i++)
        sum += strlen(ridge_report_warning(report, i));
    for (i = 0; i < ridge_report_module_count(report); i++)
        sum += ridge_report_module(report, i)->file_count;
    for (k = 0; k < ridge_report_kernel_count(report); k++) {
        const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, k);
        ridge_metric metric;
        ridge_rule rule;

        sum += strlen(ridge_report_kernel_get_info(kernel)->name);
        for (i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++) {
            ridge_instances instances = ridge_instances_of(&metric);
            ridge_instance instance;
            size_t count = 0;

            assert_non_null(metric.unit);
            if (metric.value.kind == RIDGE_VALUE_TEXT && metric.value.text_length > 0)
                sum += (unsigned char)metric.value.text[metric.value.text_length - 1];
            while (ridge_instances_next(&instances, &instance))
                count++;
            assert_int_equal(count, metric.instance_count);
        }
        for (i = 0; ridge_report_kernel_rule_at(kernel, i, &rule); i++)
            sum += rule.id != NULL ? strlen(rule.id) : 0;
    }
    return sum;
}

/* Opens a copy of exactly size bytes. False when it does not open; then the error is in order. */
static bool opens(const uint8_t *data, size_t size, bool *is_damaged)
{
    file_bytes copy = {malloc(size > 0 ? size : 1), size};
    ridge_report *report = NULL;
    ridge_error err = {RIDGE_OK, ""};
    ridge_status status;

    assert_non_null(copy.data);
    memcpy(copy.data, data, size);
    status = ridge_report_read(copy.data, size, "test", &report, &err);
    if (status == RIDGE_OK) {
        assert_non_null(report);
        read_all(report);
        *is_damaged = ridge_report_is_damaged(report);
        assert_true(!*is_damaged || ridge_report_warning_count(report) > 0);
    } else {
        assert_int_equal(status, RIDGE_ERR_FORMAT);
        assert_int_equal(err.status, status);
        assert_null(report);
        assert_true(err.text[0] != '\0');
        assert_null(strchr(err.text, '\n'));
    }
    ridge_report_free(report);
    support_release(&copy);
    return status == RIDGE_OK;
}

/* A file that ends with a whole block is a shorter report, every other cut is told. */
static void cut_at_every_byte(void **state)
{
    file_bytes file = sample_file();
    size_t intact = 0, size;
    bool is_damaged;

    for (size = 0; size < file.size; size++)
        if (opens(file.data, size, &is_damaged) && !is_damaged)
            intact++;
    assert_int_equal(intact, 1); /* the first two of three blocks */
    assert_true(opens(file.data, file.size, &is_damaged));
    assert_false(is_damaged);
    support_release(&file);
    (void)state;
}

/* A copy that ran out of space may end in zeros. */
static void zeros_at_the_end(void **state)
{
    file_bytes file = sample_file();
    file_bytes longer = {calloc(1, file.size + 1000), file.size + 1000};
    bool is_damaged = false;

    assert_non_null(longer.data);
    memcpy(longer.data, file.data, file.size);
    assert_true(opens(longer.data, longer.size, &is_damaged));
    assert_true(is_damaged);
    support_release(&longer);
    support_release(&file);
    (void)state;
}

static void every_bit_flipped(void **state)
{
    file_bytes file = sample_file();
    bool is_damaged;
    size_t i;

    for (i = 0; i < 8 * file.size; i++) {
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
        opens(file.data, file.size, &is_damaged);
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
    (void)state;
}

/* Every byte in turn becomes the largest, so that every length and count does. */
static void every_byte_largest(void **state)
{
    file_bytes file = sample_file();
    bool is_damaged;
    size_t i, k;

    for (i = 0; i + 4 <= file.size; i++) {
        uint8_t kept[4];

        memcpy(kept, file.data + i, sizeof(kept));
        for (k = 1; k <= 4; k += 3) {
            memset(file.data + i, 0xff, k);
            opens(file.data, file.size, &is_damaged);
            memcpy(file.data + i, kept, sizeof(kept));
        }
    }
    support_release(&file);
    (void)state;
}

static struct bad_file {
    const char *name;
    const char *bytes;
    size_t size;
    const char *message;
} bad_files[] = {
    {"an empty file", "", 0, "empty"},
    {"one byte", "N", 1, "not an Nsight Compute report"},
    {"another magic", "NVX\0\2\0\0\0\10\7", 10, "not an Nsight Compute report"},
    {"an executable", "\177ELF\2\1\1\0", 8, "not an Nsight Compute report"},
    {"text", "hello, world\n", 13, "not an Nsight Compute report"},
    {"the magic alone", "NVR\0", 4, "cut in the file header"},
    {"a cut header", "NVR\0\2\0\0\0\10", 9, "cut in the file header"},
    {"a header of 4 GiB", "NVR\0\377\377\377\377\10\7", 10,
     "cut in the file header: it announces 4294967295 bytes"},
    {"no block", "NVR\0\2\0\0\0\10\7", 10, "no kernel result"},
    {"an empty block", "NVR\0\2\0\0\0\10\7\0\0\0\0", 14, "no kernel result"},
    {"a cut length", "NVR\0\2\0\0\0\10\7\0\0\0", 13, "cut at byte 13"},
    {"a block header of 4 GiB", "NVR\0\2\0\0\0\10\7\377\377\377\377", 14, "cut at byte 14"},
    {"a payload of 4 GiB", "NVR\0\2\0\0\0\10\7\6\0\0\0\x28\377\377\377\377\17", 20,
     "announces 4294967295 bytes, 0 are left"},
    {"a payload of 16 EiB", "NVR\0\2\0\0\0\10\7\13\0\0\0\x28\377\377\377\377\377\377\377\377\377\1",
     25, "announces 18446744073709551615 bytes"},
    {"a varint without end", "NVR\0\2\0\0\0\10\7\2\0\0\0\x28\377", 16, "malformed block header"},
    {"2^64-1 results in no byte",
     "NVR\0\2\0\0\0\10\7\13\0\0\0\x10\377\377\377\377\377\377\377\377\377\1", 25,
     "announces 18446744073709551615 more messages"},
};

static void rejects(void **state)
{
    const struct bad_file *const bad = *state;
    ridge_report *report = NULL;
    ridge_error err;
    file_bytes copy = {malloc(bad->size > 0 ? bad->size : 1), bad->size};

    assert_non_null(copy.data);
    memcpy(copy.data, bad->bytes, bad->size);
    assert_int_equal(ridge_report_read(copy.data, copy.size, "test", &report, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(report);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(ridge_report_read(copy.data, copy.size, "test", &report, NULL),
                     RIDGE_ERR_FORMAT);
    support_release(&copy);
}

/* What follows a whole kernel in the same file: it is lost, the kernel is not. */
static struct lie_case {
    const char *name;
    const char *payload;
    size_t payload_bytes;
    uint64_t results;
    const char *message;
} lie_cases[] = {
    {"more results than bytes", "", 0, 3, "announces 3 more messages than its payload of 0 bytes"},
    {"a result of 4 GiB", "\377\377\377\377\0\0", 6, 1, "announces 1 more messages"},
    {"a result that is cut", "\12\0\0\0\62", 5, 1, "announces 1 more messages"},
    {"a field of 4 GiB", "\6\0\0\0\62\377\377\377\377\17", 10, 1,
     "the kernel result is malformed, left out"},
    {"a group", "\2\0\0\0\63\64", 6, 1, "the kernel result is malformed, left out"},
    {"a field of number 0", "\2\0\0\0\0\0", 6, 1, "the kernel result is malformed, left out"},
    {"a message that no count announces", "\2\0\0\0\62\0", 6, 0,
     "6 bytes of a payload belong to no message"},
    {"a malformed metric", "\4\0\0\0\152\2\10\377", 8, 1, "1 malformed metrics, left out"},
};

static void keeps_what_is_intact(void **state)
{
    const struct lie_case *const test = *state;
    wire out = {NULL, 0, 0}, header = {NULL, 0, 0}, payload = {NULL, 0, 0}, name = {NULL, 0, 0};
    file_bytes file;
    ridge_report *report;

    wire_file_start(&out);
    wire_text(&name, 6, "intact");
    wire_prefixed(&payload, &name);
    wire_varint(&header, 2, 1);
    wire_block(&out, &header, &payload);
    wire_raw(&payload, test->payload, test->payload_bytes);
    wire_varint(&header, 2, test->results);
    wire_block(&out, &header, &payload);
    file = wire_finish(&out);
    report = build_open(&file);
    assert_string_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->name,
                        "intact");
    assert_int_equal(ridge_report_warning_count(report), 1);
    assert_true(ridge_report_is_damaged(report));
    if (strstr(ridge_report_warning(report, 0), test->message) == NULL)
        fail_msg("%s", ridge_report_warning(report, 0));
    read_all(report);
    build_close(report, &file);
}

/* Fields that no version has are passed over. */
static void passes_over_unknown_fields(void **state)
{
    wire out = {NULL, 0, 0}, header = {NULL, 0, 0}, payload = {NULL, 0, 0}, result = {NULL, 0, 0};
    file_bytes file;
    ridge_report *report;

    wire_file_start(&out);
    wire_text(&result, 6, "k");
    wire_varint(&result, 99, 1);
    wire_double(&result, 98, 1);
    wire_text(&result, 97, "future");
    wire_float(&result, 536870911, 1);
    wire_prefixed(&payload, &result);
    wire_varint(&header, 2, 1);
    wire_text(&header, 77, "future");
    wire_block(&out, &header, &payload);
    file = wire_finish(&out);
    report = build_open(&file);
    assert_int_equal(ridge_report_kernel_count(report), 1);
    assert_int_equal(ridge_report_warning_count(report), 0);
    build_close(report, &file);
    (void)state;
}

static void warnings_are_bounded(void **state)
{
    static const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(1)},
                                           {.value = V_NUMBER(2), .name_id = 9}};
    static build_result results[100];
    const build_block block = {.results = results, .result_count = 100};
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < 100; i++)
        results[i] = (build_result){.name = "k", .metrics = metrics, .metric_count = 2};
    report = build_open_blocks(&block, 1, &file);
    assert_int_equal(ridge_report_warning_count(report), 100);
    for (i = 0; i < 100; i++)
        assert_non_null(ridge_report_warning(report, i));
    assert_null(ridge_report_warning(report, 100));
    build_close(report, &file);
    (void)state;
}

/* -- memory ------------------------------------------------------------------------------------ */

static void survives_failing_allocations(void **state)
{
    file_bytes file = sample_file();
    ridge_report *report = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    size_t nth;

    for (nth = 1; status != RIDGE_OK; nth++) {
        report = (ridge_report *)(void *)&report;
        ridge_memory_fail_at(nth);
        status = ridge_report_read(file.data, file.size, "test", &report, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_int_equal(err.status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(report);
        }
        assert_true(nth < 1000);
    }
    assert_true(nth > 3);
    assert_int_equal(ridge_report_kernel_count(report), 3);
    build_close(report, &file);
    (void)state;
}

/* Kernels are many, so what one costs beside the file counts: allocations of a report of 200
 * kernels with 50 metrics each stay below what one a metric would be. */
static void allocations_do_not_follow_metrics(void **state)
{
    enum { KERNELS = 200, METRICS = 50 };
    static char texts[METRICS][16];
    static build_metric metrics[METRICS];
    static build_result results[KERNELS];
    const build_block block = {.results = results, .result_count = KERNELS};
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < METRICS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "m%zu", i);
        metrics[i] = (build_metric){.name = texts[i], .value = V_COUNT(i)};
    }
    for (i = 0; i < KERNELS; i++)
        results[i] = (build_result){.name = "k", .metrics = metrics, .metric_count = METRICS};
    file = build_report(&block, 1);
    ridge_memory_fail_at(0);
    report = build_open(&file);
    assert_true(ridge_memory_fail_at(0) < KERNELS);
    build_close(report, &file);
    (void)state;
}

/* -- files ------------------------------------------------------------------------------------- */

static void fails_to_open(const char *path, const char *message)
{
    ridge_report *report = NULL;
    ridge_error err;

    assert_int_equal(ridge_report_open(path, &report, &err), RIDGE_ERR_IO);
    assert_null(report);
    assert_true(err.text[0] != '\0');
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
}

static void temporary_name(char *path, size_t size, const char *name)
{
    const char *const folder = getenv("TMPDIR");

    snprintf(path, size, "%s/ridge_test_report_%ld_%s", folder != NULL ? folder : "/tmp",
             (long)getpid(), name);
}

static void write_file(const char *path, const file_bytes *file)
{
    FILE *const stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static void opens_a_file(void **state)
{
    file_bytes file = sample_file();
    ridge_report *report = NULL;
    char path[1024];

    temporary_name(path, sizeof(path), "whole");
    write_file(path, &file);
    assert_int_equal(ridge_report_open(path, &report, NULL), RIDGE_OK);
    unlink(path);
    assert_int_equal(ridge_report_kernel_count(report), 3);
    read_all(report);
    build_close(report, &file);
    (void)state;
}

static void no_such_file(void **state)
{
    char path[1024];

    temporary_name(path, sizeof(path), "missing");
    fails_to_open(path, "No such file");
    fails_to_open("", "");
    (void)state;
}

static void a_directory(void **state)
{
    fails_to_open(RIDGE_SOURCE_DIR, "irectory");
    (void)state;
}

static void a_pipe(void **state)
{
    char path[1024];

    temporary_name(path, sizeof(path), "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(300); /* opening a pipe that nobody writes to would wait for ever */
    fails_to_open(path, "");
    alarm(0);
    unlink(path);
    (void)state;
}

static void no_permission(void **state)
{
    file_bytes file = {(uint8_t *)(void *)malloc(1), 1};
    char path[1024];

    if (geteuid() == 0) {
        support_release(&file);
        skip(); /* root may read everything */
    }
    file.data[0] = 'N';
    temporary_name(path, sizeof(path), "secret");
    write_file(path, &file);
    chmod(path, 0);
    fails_to_open(path, "ermission");
    unlink(path);
    support_release(&file);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bad_files);
    CASES_ADD_ROWS(&list, keeps_what_is_intact, lie_cases);
    cases_add(&list, "cut at every byte", cut_at_every_byte, NULL);
    cases_add(&list, "zeros at the end", zeros_at_the_end, NULL);
    cases_add(&list, "every bit flipped", every_bit_flipped, NULL);
    cases_add(&list, "every byte the largest", every_byte_largest, NULL);
    cases_add(&list, "unknown fields", passes_over_unknown_fields, NULL);
    cases_add(&list, "many warnings", warnings_are_bounded, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    cases_add(&list, "few allocations", allocations_do_not_follow_metrics, NULL);
    cases_add(&list, "a file", opens_a_file, NULL);
    cases_add(&list, "a missing file", no_such_file, NULL);
    cases_add(&list, "a directory", a_directory, NULL);
    cases_add(&list, "a pipe", a_pipe, NULL);
    cases_add(&list, "no permission", no_permission, NULL);
    return cases_run(&list, "damage");
}
