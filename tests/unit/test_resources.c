/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of kernels: order, comparison, what counts as worse, and the baseline document. */
#include "cases.h"

#include "base/memory.h"
#include "ridge/resources.h"

static ridge_resources row(const char *name, const char *arch, int registers, int spill, int local)
{
    const ridge_resources out = {.name = name,
                                 .arch = arch,
                                 .registers_per_thread = registers,
                                 .local_bytes = local,
                                 .spill_store_bytes = spill,
                                 .spill_load_bytes = spill,
                                 .barriers = 1,
                                 .code_bytes = 128};

    return out;
}

static ridge_resource_set *set_of(const ridge_resources *rows, size_t count)
{
    ridge_resource_set *set;
    size_t i;

    assert_int_equal(ridge_resource_set_create(&set, NULL), RIDGE_OK);
    for (i = 0; i < count; i++)
        assert_int_equal(ridge_resource_set_add(set, &rows[i], NULL), RIDGE_OK);
    ridge_resource_set_sort(set);
    return set;
}

static void sorts(void **state)
{
    const ridge_resources rows[] = {row("b", "sm_100a", 1, 0, 0), row("b", "sm_90", 2, 0, 0),
                                    row("a", "sm_120", 3, 0, 0), row("b", "sm_100", 4, 0, 0),
                                    row("b", "sm_90", 1, 0, 0)};
    static const char *const expected[] = {"a sm_120 3", "b sm_90 1", "b sm_90 2", "b sm_100 4",
                                           "b sm_100a 1"};
    ridge_resource_set *const set = set_of(rows, 5);
    size_t i;

    (void)state;
    assert_int_equal(ridge_resource_set_count(set), 5);
    for (i = 0; i < 5; i++) {
        const ridge_resources *const at = ridge_resource_set_at(set, i);
        char text[64];

        snprintf(text, sizeof(text), "%s %s %d", at->name, at->arch, at->registers_per_thread);
        assert_string_equal(text, expected[i]);
    }
    assert_null(ridge_resource_set_at(set, 5));
    ridge_resource_set_free(set);
}

/* Names of one kernel, compiled at two paths, and of others. */
static struct names_row {
    const char *name, *other;
    bool same;
} names[] = {
    {"_ZN36_GLOBAL__N__dc20b81c_4_t_cu_4d11ce8d4anonEPi",
     "_ZN36_GLOBAL__N__7e0c877a_4_t_cu_4d11ce8d4anonEPi", true},
    {"__nv_static_25__e3dbbfc3_4_s_cu__Z4keepv__Z4statPi",
     "__nv_static_25__0123abcd_4_s_cu__Z4keepv__Z4statPi", true},
    {"__nv_static_25__e3dbbfc3_4_s_cu__Z4keepv__ZN36_GLOBAL__N__e3dbbfc3_4_s_cu__Z4keepv4anonEPi",
     "__nv_static_25__01dbbfc3_4_s_cu__Z4keepv__ZN36_GLOBAL__N__01dbbfc3_4_s_cu__Z4keepv4anonEPi",
     true},
    {"_ZN36_GLOBAL__N__dc20b81c_4_t_cu_4d11ce8d4anonEPi",
     "_ZN36_GLOBAL__N__7e0c877a_4_u_cu_4d11ce8d4anonEPi", false},
    {"_ZN3_N__dc20b81c4anonEPi", "_ZN3_N__7e0c877a4anonEPi", false},
    {"_GLOBAL__N__dc20b81", "_GLOBAL__N__7e0c877", false},
    {"__nv_static_", "__nv_static_25__", false},
};

static void passes_over_hash_of_path(void **state)
{
    const struct names_row *const test = *state;
    const ridge_resources before_row = row(test->name, "sm_90", 1, 0, 0);
    const ridge_resources after_row = row(test->other, "sm_90", 1, 0, 0);
    ridge_resource_set *const before = set_of(&before_row, 1);
    ridge_resource_set *const after = set_of(&after_row, 1);
    ridge_resource_pair *pairs;
    size_t count;

    assert_int_equal(ridge_resources_compare(before, after, &pairs, &count, NULL), RIDGE_OK);
    assert_int_equal(count, test->same ? 1 : 2);
    ridge_resource_pairs_free(pairs);
    ridge_resource_set_free(before);
    ridge_resource_set_free(after);
}

static void compares(void **state)
{
    const ridge_resources old_rows[] = {row("a", "sm_90", 1, 0, 0), row("b", "sm_90", 1, 0, 0),
                                        row("d", "sm_90", 1, 0, 0), row("d", "sm_90", 2, 0, 0)};
    const ridge_resources new_rows[] = {row("b", "sm_90", 9, 0, 0), row("c", "sm_90", 1, 0, 0),
                                        row("d", "sm_90", 3, 0, 0)};
    ridge_resource_set *const before = set_of(old_rows, 4);
    ridge_resource_set *const after = set_of(new_rows, 3);
    ridge_resource_pair *pairs;
    char text[128] = "";
    size_t count, i;

    (void)state;
    assert_int_equal(ridge_resources_compare(before, after, &pairs, &count, NULL), RIDGE_OK);
    for (i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s%s ",
                 pairs[i].before != NULL ? pairs[i].before->name : "", ">",
                 pairs[i].after != NULL ? pairs[i].after->name : "",
                 ridge_resources_worse(&pairs[i]) != 0 ? "!" : "");
    assert_string_equal(text, "a>! b>b >c d>d d>! ");
    ridge_resource_pairs_free(pairs);
    ridge_resource_set_free(before);
    ridge_resource_set_free(after);
}

static struct worse_case {
    const char *name;
    const char *arch;
    int registers[2], spill[2], local[2];
    unsigned worse;
} worse_cases[] = {
    {"the same", "sm_90", {64, 64}, {0, 0}, {0, 0}, 0},
    {"registers within a step", "sm_90", {57, 64}, {0, 0}, {0, 0}, 0},
    {"registers over a step", "sm_90", {64, 65}, {0, 0}, {0, 0}, RIDGE_WORSE_REGISTERS},
    {"registers below what fills an SM", "sm_90", {16, 32}, {0, 0}, {0, 0}, 0},
    {"48 warps fill an SM", "sm_86", {32, 40}, {0, 0}, {0, 0}, 0},
    {"fewer registers", "sm_90a", {128, 64}, {0, 0}, {0, 0}, 0},
    {"spills", "sm_90", {64, 64}, {0, 4}, {0, 0}, RIDGE_WORSE_SPILLS},
    {"spills and a frame", "sm_90", {64, 64}, {4, 8}, {8, 16}, 2 | 4},
    {"spills were not recorded", "sm_90", {64, 64}, {-1, 8}, {0, 0}, 0},
    {"spills are not recorded now", "sm_90", {64, 64}, {4, -1}, {0, 0}, 0},
    {"an unknown chip", "sm_999", {64, 128}, {0, 0}, {0, 0}, 0},
    {"registers are not recorded", "sm_90", {-1, 128}, {0, 0}, {0, 0}, 0},
};

static void knows_worse(void **state)
{
    const struct worse_case *const at = *state;
    const ridge_resources before = row("k", at->arch, at->registers[0], at->spill[0], at->local[0]);
    const ridge_resources after = row("k", at->arch, at->registers[1], at->spill[1], at->local[1]);
    const ridge_resource_pair pair = {&before, &after};

    assert_int_equal(ridge_resources_worse(&pair), at->worse);
}

static void counts_warps(void **state)
{
    (void)state;
    assert_int_equal(ridge_warps_by_registers("sm_90a", 32), 64);
    assert_int_equal(ridge_warps_by_registers("sm_90", 65), 28);
    assert_int_equal(ridge_warps_by_registers("sm_90", 255), 8);
    assert_int_equal(ridge_warps_by_registers("sm_86", 0), 48);
    assert_int_equal(ridge_warps_by_registers("compute_90", 32), -1);
    assert_int_equal(ridge_warps_by_registers("", 32), -1);
}

/* ---- the document ---- */

static void writes_and_reads(void **state)
{
    const ridge_resources rows[] = {row("_Z1kv", "sm_90a", 64, 8, 16),
                                    row("quote\"d", "sm_75", 1, -1, -1)};
    ridge_resource_set *const set = set_of(rows, 2);
    ridge_resource_set *again;
    caught out;
    size_t i;

    (void)state;
    caught_open(&out, 0, false);
    ridge_baseline_write(set, out.output);
    assert_int_equal(caught_close(&out, NULL), RIDGE_OK);
    assert_int_equal(ridge_baseline_parse(out.text, out.size, &again, NULL), RIDGE_OK);
    assert_int_equal(ridge_resource_set_count(again), 2);
    for (i = 0; i < 2; i++) {
        const ridge_resources *const a = ridge_resource_set_at(set, i);
        const ridge_resources *const b = ridge_resource_set_at(again, i);

        assert_string_equal(a->name, b->name);
        assert_string_equal(a->arch, b->arch);
        assert_int_equal(a->registers_per_thread, b->registers_per_thread);
        assert_int_equal(a->local_bytes, b->local_bytes);
        assert_int_equal(a->spill_store_bytes, b->spill_store_bytes);
        assert_int_equal(a->code_bytes, b->code_bytes);
    }
    free(out.text);
    ridge_resource_set_free(set);
    ridge_resource_set_free(again);
}

static struct bad_case {
    const char *name, *text, *message;
} bad_cases[] = {
    {"no JSON", "kernel spill", "1"},
    {"another schema", "{\"schema\": \"ridge-kernels/1\"}",
     "schema is \"ridge-kernels/1\", expected \"ridge-baseline/1\""},
    {"no schema", "{}", "expected \"ridge-baseline/1\""},
    {"no kernels", "{\"schema\": \"ridge-baseline/1\"}", "no array \"kernels\""},
    {"kernel that is a text", "{\"schema\": \"ridge-baseline/1\", \"kernels\": [\"k\"]}",
     "kernels[0] is no object"},
    {"kernel without a name", "{\"schema\": \"ridge-baseline/1\", \"kernels\": [{}]}",
     "kernels[0] has no \"name\""},
    {"kernel without an architecture",
     "{\"schema\": \"ridge-baseline/1\", \"kernels\": [{\"name\": \"k\"}]}",
     "kernels[0] has no \"arch\""},
    {"registers as a text",
     "{\"schema\": \"ridge-baseline/1\", \"kernels\": [{\"name\": \"k\", \"arch\": \"sm_90\", "
     "\"registers_per_thread\": \"many\"}]}",
     "registers_per_thread"},
    {"negative bytes",
     "{\"schema\": \"ridge-baseline/1\", \"kernels\": [{\"name\": \"k\", \"arch\": \"sm_90\", "
     "\"local_bytes\": -8}]}",
     "local_bytes"},
};

static void rejects(void **state)
{
    const struct bad_case *const bad = *state;
    ridge_resource_set *set;
    ridge_error err;

    assert_int_equal(ridge_baseline_parse(bad->text, strlen(bad->text), &set, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(set);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("message: %s", err.text);
}

static void missing_file(void **state)
{
    ridge_resource_set *set;
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_baseline_read("no/such/file.json", &set, &err), RIDGE_ERR_IO);
    assert_null(set);
}

static void survives_lack_of_memory(void **state)
{
    static const char text[] = "{\"schema\": \"ridge-baseline/1\", \"kernels\": [{\"name\": "
                               "\"k\", \"arch\": \"sm_90\"}]}";
    size_t nth = 0;
    ridge_status status;

    (void)state;
    do {
        ridge_resource_set *set = NULL;
        ridge_resource_pair *pairs = NULL;
        size_t count = 0;

        ridge_memory_fail_at(++nth);
        status = ridge_baseline_parse(text, strlen(text), &set, NULL);
        if (status == RIDGE_OK)
            status = ridge_resources_compare(set, set, &pairs, &count, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(pairs);
        }
        ridge_resource_pairs_free(pairs);
        ridge_resource_set_free(set);
    } while (status != RIDGE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, passes_over_hash_of_path, names);
    cases_add(&list, "order", sorts, NULL);
    cases_add(&list, "comparison", compares, NULL);
    CASES_ADD_ROWS(&list, knows_worse, worse_cases);
    cases_add(&list, "warps by registers", counts_warps, NULL);
    cases_add(&list, "written and read", writes_and_reads, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "missing file", missing_file, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "resources");
}
