/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill that comes again is the fill, bit for bit, whatever lies around it and wherever it is; and
 * poison as bytes. */
#include "cases.h"
#include "check_kernels.h"

#include "base/memory.h"
#include "check/check_run.h"

static ridge_device *cpu;
static const mistake none = NO_MISTAKE;

/* A set of a case of "copy", with its memory. */
typedef struct held {
    ridge_kernel kernel;
    ridge_case at;
    check_set set;
} held;

static void open_set(held *of, const char *text, check_place place, check_kept *kept)
{
    ridge_error err;

    make_kernel(&of->kernel, "copy", &none);
    ridge_case_init(&of->at);
    of->set = (check_set){.device = cpu, .kernel = &of->kernel, .at = &of->at, .kept = kept};
    if (ridge_case_parse(text, &of->at, &err) != RIDGE_OK ||
        ridge_stream_create(cpu, &of->set.stream, &err) != RIDGE_OK ||
        check_set_describe(&of->set, &err) != RIDGE_OK ||
        check_set_allocate(&of->set, place, 0, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

static void close_set(held *of)
{
    check_set_release(&of->set);
    ridge_stream_free(of->set.stream);
}

static void fill(held *of, const check_plan *plan)
{
    ridge_error err;

    of->set.was_filled = of->set.is_held = false;
    if (check_set_fill(&of->set, plan, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

static void expect_same(const held *a, const held *b)
{
    for (size_t i = 0; i < a->set.count; i++) {
        assert_int_equal(a->set.buffers[i].base_bytes, b->set.buffers[i].base_bytes);
        assert_memory_equal(a->set.buffers[i].base, b->set.buffers[i].base,
                            a->set.buffers[i].base_bytes);
    }
}

static struct kept_case {
    const char *name, *at;
    int scale;
    check_bands bands;
    check_place place;
} kept_cases[] = {
    {"bf16", "m=37,n=65,dtype=bf16", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"f64, right", "m=5,n=33,dtype=f64", 0, CHECK_BANDS_PATTERN, CHECK_RIGHT},
    {"i8 small", "m=5,n=33,dtype=i8,values=int", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"f32 beside zeros", "m=9,n=33,dtype=f32", 0, CHECK_BANDS_ZERO, CHECK_LEFT},
    {"padded f16 beside NaN", "m=9,n=33,dtype=f16,layout=pad8", 0, CHECK_BANDS_NAN, CHECK_RIGHT},
    {"transposed", "m=9,n=33,dtype=f16,layout=transposed", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"sliced", "m=9,n=33,dtype=f32,layout=sliced", 0, CHECK_BANDS_ZERO, CHECK_LEFT},
    {"one element off", "m=9,n=33,dtype=bf16,layout=offset1", 0, CHECK_BANDS_PATTERN, CHECK_RIGHT},
    {"broadcast", "m=9,n=33,dtype=f32,layout=broadcast", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"reversed", "m=9,n=33,dtype=f32,layout=reversed", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"in place", "m=9,n=33,dtype=f32,inplace=1", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"scaled", "m=9,n=33,dtype=f32", -5, CHECK_BANDS_PATTERN, CHECK_LEFT},
    {"nothing", "m=0,n=33,dtype=f32", 0, CHECK_BANDS_PATTERN, CHECK_LEFT},
};

/* Filled once, kept; then others, and the same again in the place under test. */
static void comes_again(void **state)
{
    const struct kept_case *const row = *state;
    check_kept kept = {.fills = {{{.packed = NULL}}}};
    check_plan plan = check_plain_plan, other = check_plain_plan;
    held first, again, fresh;
    size_t last;

    open_set(&first, row->at, CHECK_LEFT, &kept);
    open_set(&again, row->at, row->place, &kept);
    open_set(&fresh, row->at, row->place, NULL);
    plan.seed = first.at.seed;
    fill(&first, &plan);
    other.seed = plan.seed + 1;
    fill(&again, &other);
    plan.bands = row->bands;
    plan.scale_exponent = row->scale;
    fill(&again, &plan);
    fill(&fresh, &plan);
    expect_same(&again, &fresh);
    if (first.set.buffers[0].element_count > 0) { /* and by what was kept */
        assert_non_null(kept.fills[0][0].packed);
        last = (size_t)first.set.buffers[0].element_count - 1; /* of those in one place, it stays */
        kept.fills[0][0].packed[last * ridge_dtype_bytes(first.at.dtype)] ^= 1;
        fill(&again, &plan);
        assert_memory_not_equal(again.set.buffers[0].base, fresh.set.buffers[0].base,
                                fresh.set.buffers[0].base_bytes);
    }
    close_set(&fresh);
    close_set(&again);
    close_set(&first);
    check_kept_release(&kept);
}

/* Other seeds and kinds of values come once. */
static void others_are_not_kept(void **state)
{
    check_kept kept = {.fills = {{{.packed = NULL}}}};
    check_plan plan = check_plain_plan;
    held set;

    (void)state;
    open_set(&set, "m=9,n=33,dtype=f32", CHECK_LEFT, &kept);
    plan.seed = set.at.seed + 1;
    fill(&set, &plan);
    plan.seed = set.at.seed;
    plan.values = RIDGE_VALUES_SMALL_INT;
    fill(&set, &plan);
    assert_null(kept.fills[0][0].packed);
    close_set(&set);
    check_kept_release(&kept);
}

static void poison_is(void **state)
{
    enum { COUNT = 37 };
    unsigned char packed[8 * COUNT];
    bool flags[COUNT];

    (void)state;
    for (int type = 0; type < RIDGE_DTYPE_COUNT; type++)
        for (int poison = 0; poison < 2; poison++) {
            const ridge_dtype dtype = (ridge_dtype)type;
            const size_t bytes = ridge_dtype_bytes(dtype);

            check_poison_put(dtype, poison, packed, COUNT * bytes);
            assert_true(check_poison_is_all(dtype, poison, packed, COUNT * bytes));
            assert_false(check_poison_is_all(dtype, !poison, packed, COUNT * bytes));
            packed[20 * bytes] ^= 1;
            assert_false(check_poison_is_all(dtype, poison, packed, COUNT * bytes));
            check_poison_flag(dtype, poison, packed, COUNT, flags);
            for (int i = 0; i < COUNT; i++) {
                assert_int_equal(flags[i], i != 20);
                assert_int_equal(flags[i], check_is_poison(dtype, packed, i, poison));
            }
            assert_true(check_poison_is_all(dtype, poison, packed, 0));
        }
}

int main(void)
{
    static cases list;
    int failed;

    if (ridge_device_open("cpu", &cpu, NULL) != RIDGE_OK)
        return 1;
    CASES_ADD_ROWS(&list, comes_again, kept_cases);
    cases_add(&list, "others are not kept", others_are_not_kept, NULL);
    cases_add(&list, "poison", poison_is, NULL);
    failed = cases_run(&list, "check_kept");
    ridge_device_free(cpu);
    return failed;
}
