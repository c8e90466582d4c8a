/* SPDX-License-Identifier: Apache-2.0
 *
 * Redaction: text by text, on a report that holds one of everything, and on recorded reports, which
 * must say the same before and after. */
#include "cases.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "report/ncu/ncu_redact_internal.h"
#include "ridge/diagnose.h"
#include "ridge/profile.h"
#include "ridge/report.h"

/* -- paths in text ----------------------------------------------------------------------------- */

static struct text_case {
    const char *name; /* the text */
    const char *expected;
} text_cases[] = {
    {"", ""},
    {"no path", "no path"},
    {"/half", "/half"},
    {"and/or, L1/TEX, 3 / 4", "and/or, L1/TEX, 3 / 4"},
    {"https://docs.nvidia.com/nsight-compute/index.html",
     "https://docs.nvidia.com/nsight-compute/index.html"},
    {"/home/ann/a.cu", "/home/___/a.cu"},
    {"/home/ann/a.cu:12: error", "/home/___/a.cu:12: error"},
    {"in /home/ann/a.cu.", "in /home/___/a.cu."},
    {"(/home/ann/a.cu)", "(/home/___/a.cu)"},
    {"/home/ann", "/home/___"},
    {"/home/ann/", "/home/___/"},
    {"/home/ann/build", "/home/___/_____"},
    {"/home/ann/../b/./x.h", "/home/___/../_/./x.h"},
    {"/home/src/src/a.cu", "/home/___/___/a.cu"},
    {"/home/ann.lee", "/home/_______"},
    {"/ab/cd/ab/ef/x.h", "/__/_1/__/_2/x.h"},
    {"/usr/local/cuda/include/x.h", "/usr/local/cuda/include/x.h"},
    {"/usr/local/acme/x.h", "/usr/local/____/x.h"},
    {"-I/home/ann/include -o/home/ann/o.bin", "-I/home/___/include -o/home/___/o.bin"},
    {"LD=/home/ann/lib:/home/bob/lib", "LD=/home/___/lib:/home/__1/lib"},
    {"file:///home/ann/a.cu", "file:///home/___/a.cu"},
    {"\"/home/ann/my dir/a.cu\"", "\"/home/___/__ dir/a.cu\""},
    {"C:\\Users\\ann\\a.cu", "C:\\Users\\___\\a.cu"},
    {"C:\\Users\\Ann Lee\\a.cu and D:\\x\\b.cu", "C:\\Users\\_______\\a.cu and D:\\_\\b.cu"},
    {"C:\\\\Users\\\\ann\\\\a.cu", "C:\\\\Users\\\\___\\\\a.cu"},
    {"c:/Users/ann/a.cu", "c:/Users/___/a.cu"},
    {"\\\\server\\share\\a.cu", "\\\\______\\_____\\a.cu"},
    {"x?/home/ann/a.cu", "x?/home/___/a.cu"},
    {"/home/m\303\274ller/a.cu", "/home/_______/a.cu"},
};

static void rewrites_text(void **state)
{
    const struct text_case *const test = *state;
    const ridge_slice text = {(const uint8_t *)test->name, strlen(test->name)};
    redact_names names;
    char copy[256];

    strcpy(copy, test->name);
    assert_true(redact_names_init(&names));
    redact_paths_in(&names, text, NULL);
    redact_paths_in(&names, text, (uint8_t *)copy);
    assert_string_equal(copy, test->expected);
    redact_names_release(&names);
}

/* A directory and a file rewritten apart and joined are the joined path rewritten. */
static void joins_as_before(void **state)
{
    static const struct {
        const char *directory, *file, *joined;
    } rows[] = {
        {"/home/ann", "a.cu", "/home/ann/a.cu"},
        {"/home/ann", "src/a.cu", "/home/ann/src/a.cu"},
        {"/usr/bin/../inc", "crt/x.hpp", "/usr/bin/../inc/crt/x.hpp"},
        {"src", "a.cu", "src/a.cu"},
    };
    redact_names names;
    size_t pass, i;

    assert_true(redact_names_init(&names));
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            const char *const texts[3] = {rows[i].directory, rows[i].file, rows[i].joined};
            const redact_path_end ends[3] = {REDACT_END_DIRECTORY, REDACT_END_FILE,
                                             REDACT_END_FILE};
            char copies[3][64];
            char joined[129];
            size_t t;

            for (t = 0; t < 3; t++) {
                const ridge_slice text = {(const uint8_t *)texts[t], strlen(texts[t])};

                strcpy(copies[t], texts[t]);
                redact_path(&names, text, ends[t], pass == 0 ? NULL : (uint8_t *)copies[t]);
            }
            snprintf(joined, sizeof(joined), "%s/%s", copies[0], copies[1]);
            assert_string_equal(joined, copies[2]);
        }
    redact_names_release(&names);
    (void)state;
}

static struct name_case {
    const char *name; /* the text */
    redact_kind kind;
    const char *secret;
    const char *expected;
} name_cases[] = {
    {"by ann.", REDACT_USER, "ann", "by ___."},
    {"channel", REDACT_USER, "ann", "channel"},
    {"_Z3ann3fooEv", REDACT_USER, "ann", "_Z3___3fooEv"},
    {"on gpu17, gpu17.lab", REDACT_HOST, "gpu17.lab.org", "on _____, _____.lab"},
    {"10.1.2.3 but 10.1.2.34", REDACT_ADDRESS, "10.1.2.3", "________ but 10.1.2.34"},
    {"fe80::1", REDACT_ADDRESS, "fe80::1%ib0", "_______"},
    {"root", REDACT_USER, "root", "root"},
    {"at _ann", REDACT_USER, "_ann", "at ____"},
    {"at ___", REDACT_USER, "___", "at ___"},
    {"vm", REDACT_HOST, "vm", "vm"},
    {"sm__cycles.max max", REDACT_USER, "max", "sm__cycles.max max"},
};

static void replaces_names(void **state)
{
    static const char vocabulary[] = "sm__cycles_active.max";
    const ridge_slice words = {(const uint8_t *)vocabulary, sizeof(vocabulary) - 1};
    const struct name_case *const test = *state;
    const ridge_slice text = {(const uint8_t *)test->name, strlen(test->name)};
    const ridge_slice secret = {(const uint8_t *)test->secret, strlen(test->secret)};
    redact_names names;
    char copy[64];

    strcpy(copy, test->name);
    assert_true(redact_names_init(&names));
    redact_learn_name(&names, test->kind, secret);
    redact_learn_common(&names, words);
    redact_mentions(&names, text, (uint8_t *)copy);
    assert_string_equal(copy, test->expected);
    assert_int_equal(redact_mentions(&names, (ridge_slice){(uint8_t *)copy, text.size}, NULL), 0);
    redact_names_release(&names);
}

/* -- files ------------------------------------------------------------------------------------- */

typedef struct contents {
    uint8_t *data;
    size_t size;
} contents;

static contents read_stream(FILE *stream)
{
    contents file = {NULL, 0};
    size_t room = 0;
    size_t got;

    do {
        if (file.size == room) {
            room = room > 0 ? 2 * room : 1 << 16;
            file.data = realloc(file.data, room);
            assert_non_null(file.data);
        }
        got = fread(file.data + file.size, 1, room - file.size, stream);
        file.size += got;
    } while (got > 0);
    return file;
}

static contents sample(void)
{
    FILE *const stream = fopen(RIDGE_SOURCE_DIR "/tests/fuzz/corpus/redact/people.ncu-rep", "rb");
    contents file;

    assert_non_null(stream);
    file = read_stream(stream);
    fclose(stream);
    return file;
}

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
    const size_t length = strlen(text);
    size_t i;

    for (i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, text, length) == 0)
            return true;
    return false;
}

static void leaves_nothing(void **state)
{
    static const char *const secrets[] = {
        "ann.smith",   "gpu17",  "192.168", "fe80",   "ib0",     "buildd", "hunter2",
        "secret/run7", "/norm/", "--set",   "opt/nv", "scratch", "build/", "x86_64-linux-gnu",
        "rules/",      "API_TOK"};
    static const char *const kept[] = {"norm.cu",       "cuda_bf16.hpp",
                                       "row.h",         "x[threadIdx.x]",
                                       "_Z4normPf",     "NVIDIA H100",
                                       "libc.so.6",     "_Z7reducedPf",
                                       "/L1/TEX Cache", "bench_norm",
                                       "2025.3.1.0",    "row < rows",
                                       "AMD EPYC 9654", "https://docs.example.org/a/b"};
    contents file = sample();
    ridge_redaction summary;
    uint8_t *bytes;
    size_t size, i;

    for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        assert_true(holds(file.data, file.size, secrets[i]));
    assert_int_equal(ridge_report_redact(file.data, file.size, 0, &bytes, &size, &summary, NULL),
                     RIDGE_OK);
    for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (holds(bytes, size, secrets[i]))
            fail_msg("'%s' is still there", secrets[i]);
    for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (!holds(bytes, size, kept[i]))
            fail_msg("'%s' is gone", kept[i]);
    assert_int_equal(summary.host_count, 1);
    assert_int_equal(summary.user_count, 1);
    assert_int_equal(summary.address_count, 2);
    assert_int_equal(summary.command_line_count, 1);
    assert_int_equal(summary.build_count, 2);
    assert_int_equal(summary.setting_count, 1);
    assert_int_equal(summary.source_count, 0);
    assert_int_equal(summary.kept_source_count, 1);
    assert_int_equal(summary.remaining_count, 0);
    ridge_redact_free(bytes);

    assert_int_equal(ridge_report_redact(file.data, file.size, RIDGE_REDACT_DROP_SOURCES, &bytes,
                                         &size, &summary, NULL),
                     RIDGE_OK);
    assert_false(holds(bytes, size, "threadIdx"));
    assert_int_equal(summary.source_count, 1);
    ridge_redact_free(bytes);
    free(file.data);
    (void)state;
}

/* A name that is part of a kernel's name stays and is said. */
static void says_what_remains(void **state)
{
    contents file = sample();
    ridge_redaction summary;
    uint8_t *bytes;
    size_t size, i;

    for (i = 0; i + 9 <= file.size; i++)
        if (memcmp(file.data + i, "_Z4normPf", 9) == 0)
            memcpy(file.data + i, "gpu17_rmP", 9);
    assert_int_equal(ridge_report_redact(file.data, file.size, 0, &bytes, &size, &summary, NULL),
                     RIDGE_OK);
    assert_true(summary.remaining_count > 0);
    assert_string_equal(summary.remaining, "gpu17");
    ridge_redact_free(bytes);
    free(file.data);
    (void)state;
}

static void refuses_damage(void **state)
{
    contents file = sample();
    ridge_redaction summary;
    ridge_error err;
    size_t size, whole = 0;
    uint8_t *bytes;

    for (size = 0; size < file.size; size++) {
        uint8_t *const copy = malloc(size > 0 ? size : 1);
        size_t bytes_size = 1;
        ridge_status status;

        assert_non_null(copy);
        memcpy(copy, file.data, size);
        status = ridge_report_redact(copy, size, 0, &bytes, &bytes_size, &summary, &err);
        if (status == RIDGE_OK) {
            whole++; /* cut between two blocks */
            ridge_redact_free(bytes);
        } else {
            assert_int_equal(status, RIDGE_ERR_FORMAT);
            assert_null(bytes);
            assert_int_equal(bytes_size, 0);
        }
        free(copy);
    }
    assert_int_equal(whole, 6);
    free(file.data);
    (void)state;
}

static void out_of_memory(void **state)
{
    contents file = sample();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth, size;
    uint8_t *bytes;

    for (nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_report_redact(file.data, file.size, 0, &bytes, &size, NULL, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(bytes);
        }
    }
    assert_true(nth > 5);
    ridge_redact_free(bytes);
    free(file.data);
    (void)state;
}

/* -- recorded reports say the same ------------------------------------------------------------- */

static void same_value(const ridge_value *a, const ridge_value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_memory_equal(&a->number, &b->number, sizeof(a->number));
    assert_true(a->count == b->count);
    assert_int_equal(a->text_length, b->text_length);
    if (a->text_length > 0)
        assert_memory_equal(a->text, b->text, a->text_length);
}

static void same_metrics(const ridge_report_kernel *a, const ridge_report_kernel *b)
{
    ridge_metric x, y;
    size_t i;

    for (i = 0; ridge_report_kernel_metric_at(a, i, &x); i++) {
        ridge_instances in_x, in_y;
        ridge_instance p, q;

        assert_true(ridge_report_kernel_metric_at(b, i, &y));
        assert_string_equal(x.name, y.name);
        same_value(&x.value, &y.value);
        assert_int_equal(x.instance_count, y.instance_count);
        in_x = ridge_instances_of(&x);
        in_y = ridge_instances_of(&y);
        while (ridge_instances_next(&in_x, &p)) {
            assert_true(ridge_instances_next(&in_y, &q));
            same_value(&p.id, &q.id);
            same_value(&p.value, &q.value);
        }
        assert_false(ridge_instances_next(&in_y, &q));
    }
    assert_false(ridge_report_kernel_metric_at(b, i, &y));
}

/* Takes the directories out of a text, in place: what is between a separator before which no path
 * can go on and the last one of the path. */
static char *without_directories(char *text)
{
    char *from = text, *to = text;

    while (*from != '\0') {
        const bool starts = *from == '/' && (from == text || strchr(" \"(\n", from[-1]) != NULL);
        const char *last = from;
        const char *at;

        for (at = from; starts && *at != '\0' && strchr(" \":,)\n", *at) == NULL; at++)
            if (*at == '/')
                last = at;
        if (starts)
            from += last - from + 1;
        else
            *to++ = *from++;
    }
    *to = '\0';
    return text;
}

static void same_text(const char *a, const char *b)
{
    char *x, *y;

    assert_int_equal(a == NULL, b == NULL);
    if (a == NULL)
        return;
    x = strdup(a);
    y = strdup(b);
    assert_string_equal(without_directories(x), without_directories(y));
    free(x);
    free(y);
}

static void same_rules(const ridge_report_kernel *a, const ridge_report_kernel *b)
{
    ridge_rule x, y;
    size_t i;

    for (i = 0; ridge_report_kernel_rule_at(a, i, &x); i++) {
        assert_true(ridge_report_kernel_rule_at(b, i, &y));
        assert_string_equal(x.id, y.id);
        same_text(x.title, y.title);
        /* One message quotes the path of a rule, with spaces in it: no way to tell its end. */
        if (x.message != NULL && strstr(x.message, "/NVIDIA Nsight Compute/") == NULL)
            same_text(x.message, y.message);
        assert_int_equal(x.type, y.type);
        assert_memory_equal(&x.speedup_frac, &y.speedup_frac, sizeof(double));
    }
    assert_false(ridge_report_kernel_rule_at(b, i, &y));
}

static void same_rows(const ridge_report_kernel *a, const ridge_report_kernel *b)
{
    ridge_profile *x, *y;
    size_t i;

    assert_int_equal(ridge_profile_create(a, &x, NULL), RIDGE_OK);
    assert_int_equal(ridge_profile_create(b, &y, NULL), RIDGE_OK);
    assert_int_equal(x->columns, y->columns);
    assert_int_equal(x->row_count, y->row_count);
    for (i = 0; i < x->row_count; i++) {
        ridge_instruction p = x->rows[i], q = y->rows[i];
        const ridge_line *const line = p.line, *const other = q.line;

        assert_int_equal(line == NULL, other == NULL);
        if (line != NULL) {
            const ridge_source_file *file, *other_file;

            assert_int_equal(line->line, other->line);
            same_text(line->file, other->file);
            assert_int_equal(strlen(line->file), strlen(other->file));
            file = ridge_module_file(ridge_report_kernel_module(a), line->file);
            other_file = ridge_module_file(ridge_report_kernel_module(b), other->file);
            assert_int_equal(file == NULL, other_file == NULL);
            if (file != NULL) {
                assert_int_equal(file->text_bytes, other_file->text_bytes);
                assert_memory_equal(file->text, other_file->text, file->text_bytes);
            }
        }
        assert_int_equal(p.sass.name == NULL, q.sass.name == NULL);
        p.line = q.line = p.lines = q.lines = NULL;
        p.function = q.function = NULL;
        assert_string_equal(p.sass.text, q.sass.text);
        memset(&p.sass, 0, sizeof(p.sass));
        memset(&q.sass, 0, sizeof(q.sass));
        assert_memory_equal(&p, &q, sizeof(p));
    }
    if (x->function != NULL) {
        assert_int_equal(x->function->code_bytes, y->function->code_bytes);
        assert_memory_equal(x->function->code, y->function->code, x->function->code_bytes);
    }
    ridge_profile_free(x);
    ridge_profile_free(y);
}

static char *diagnosis_text(const ridge_report *report, size_t index)
{
    ridge_diagnosis *diagnosis;
    ridge_json *json;
    caught in;

    assert_int_equal(ridge_diagnose(report, index, NULL, &diagnosis, NULL), RIDGE_OK);
    caught_open(&in, 100, false);
    json = ridge_json_create(in.output);
    ridge_diagnosis_write_json(diagnosis, json);
    ridge_json_free(json);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    ridge_diagnosis_free(diagnosis);
    return in.text;
}

/* A redacted report, redacted, is the same: what stands for names is no name. */
static void again(const uint8_t *redacted, size_t redacted_size)
{
    ridge_redaction summary;
    uint8_t *bytes;
    size_t size;

    assert_int_equal(ridge_report_redact(redacted, redacted_size, 0, &bytes, &size, &summary, NULL),
                     RIDGE_OK);
    assert_int_equal(summary.user_count, 0);
    assert_int_equal(summary.remaining_count, 0);
    assert_int_equal(size, redacted_size);
    assert_memory_equal(bytes, redacted, size);
    ridge_redact_free(bytes);
}

static void same_report(const contents *file, const char *name)
{
    ridge_report *before, *after;
    ridge_redaction summary;
    ridge_error err;
    uint8_t *bytes;
    size_t size, k;

    if (ridge_report_redact(file->data, file->size, 0, &bytes, &size, &summary, &err) != RIDGE_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(summary.remaining_count, 0);
    assert_int_equal(ridge_report_read(file->data, file->size, name, &before, NULL), RIDGE_OK);
    assert_int_equal(ridge_report_read(bytes, size, name, &after, NULL), RIDGE_OK);
    assert_int_equal(ridge_report_warning_count(before), ridge_report_warning_count(after));
    assert_int_equal(ridge_report_kernel_count(before), ridge_report_kernel_count(after));
    for (k = 0; k < ridge_report_kernel_count(before); k++) {
        const ridge_report_kernel *const a = ridge_report_kernel_at(before, k);
        const ridge_report_kernel *const b = ridge_report_kernel_at(after, k);
        char *x, *y;

        same_metrics(a, b);
        same_rules(a, b);
        same_rows(a, b);
        x = diagnosis_text(before, k);
        y = diagnosis_text(after, k);
        assert_string_equal(without_directories(x), without_directories(y));
        free(x);
        free(y);
    }
    ridge_report_free(before);
    ridge_report_free(after);
    again(bytes, size);
    ridge_redact_free(bytes);
}

/* All reports of a folder beside the tree or in $RIDGE_SHARED, packed with xz or plain. */
static void same_folder(void **state)
{
    const char *const shared = getenv("RIDGE_SHARED");
    struct dirent **entries;
    char folder[512];
    int count, i;
    size_t seen = 0;

    snprintf(folder, sizeof(folder), "%s/corpus/%s",
             shared != NULL ? shared : RIDGE_SOURCE_DIR "/../shared", (const char *)*state);
    count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0 || system("xz --version >/dev/null 2>&1") != 0) {
        print_message("skipped: needs the folder %s and the program xz\n", folder);
        for (i = 0; i < count; i++)
            free(entries[i]);
        if (count >= 0)
            free(entries);
        skip();
    }
    for (i = 0; i < count; i++) {
        const char *const name = entries[i]->d_name;
        const bool packed = strstr(name, ".ncu-rep.xz") != NULL;
        char command[1024];

        snprintf(command, sizeof(command), "%s '%s/%s'", packed ? "xz -dc" : "cat", folder, name);
        if (strstr(name, ".ncu-rep") != NULL) {
            FILE *const stream = popen(command, "r");
            contents file;

            assert_non_null(stream);
            file = read_stream(stream);
            assert_int_equal(pclose(stream), 0);
            same_report(&file, name);
            free(file.data);
            seen++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(seen > 0);
}

/* The small recorded reports that other tests have in the tree. */
static void same_small(void **state)
{
    static const char *const names[] = {"h01", "w02", "w05", "w10", "metrics"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        FILE *stream;
        contents file;

        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/report/%s.ncu-rep", RIDGE_SOURCE_DIR,
                 names[i]);
        stream = fopen(path, "rb");
        assert_non_null(stream);
        file = read_stream(stream);
        fclose(stream);
        same_report(&file, names[i]);
        free(file.data);
    }
    (void)state;
}

int main(void)
{
    static char reports[] = "reports", public_reports[] = "public";
    cases list = {.count = 0};

    CASES_ADD_ROWS(&list, rewrites_text, text_cases);
    cases_add(&list, "joined paths", joins_as_before, NULL);
    CASES_ADD_ROWS(&list, replaces_names, name_cases);
    cases_add(&list, "one of everything", leaves_nothing, NULL);
    cases_add(&list, "what remains", says_what_remains, NULL);
    cases_add(&list, "cut at every byte", refuses_damage, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    cases_add(&list, "small recorded reports", same_small, NULL);
    cases_add(&list, "recorded reports", same_folder, reports);
    cases_add(&list, "public reports", same_folder, public_reports);
    return cases_run(&list, "redact");
}
