/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom, on little programs of sm_90. */
#include "binary_support.h"

/* An instruction: what it is, and the scoreboards of its control bits. */
typedef struct step {
    uint64_t low, high;
    unsigned waits;  /* mask */
    int raises;      /* write scoreboard + 1; 0: none */
    int raises_read; /* read scoreboard + 1; 0: none */
} step;

#define LDG(d, a) 0x0000000000007981 | (uint64_t)(d) << 16 | (uint64_t)(a) << 24, 0x0c1e1900
#define LDS(d, a) 0x0000000000007984 | (uint64_t)(d) << 16 | (uint64_t)(a) << 24, 0x00000800
#define STG(a, b) 0x0000000000007986 | (uint64_t)(a) << 24 | (uint64_t)(b) << 32, 0x0c101904
#define FADD(d, a, b)                                                                              \
    0x0000000000007221 | (uint64_t)(d) << 16 | (uint64_t)(a) << 24 | (uint64_t)(b) << 32, 0
#define FADD_IF_P0(d, a, b)                                                                        \
    0x0000000000000221 | (uint64_t)(d) << 16 | (uint64_t)(a) << 24 | (uint64_t)(b) << 32, 0
#define BRA(guard, distance) /* in instructions, from the next one */                              \
    (0x0947 | (uint64_t)(guard) << 12 | ((uint64_t)((distance)*4) & 0xff) << 16 |                  \
     (uint64_t)((distance) < 0 ? 0x3fffffff : 0) << 34),                                           \
        ((distance) < 0 ? 0x0383ffff : 0x03800000)
#define EXIT 0x000000000000794d, 0x03800000
#define NOP 0x0000000000007918, 0
#define LDGSTS(d, a) 0x0000000000007fae | (uint64_t)(d) << 16 | (uint64_t)(a) << 24, 0x0b901c46
#define LDGDEPBAR 0x00000000000079af, 0
#define DEPBAR_SB0 0x000080000000791a, 0

enum { STEPS_MAX = 8, FOUND_MAX = 4, ALWAYS = 7 };

static struct program {
    const char *name;
    step steps[STEPS_MAX];
    size_t count, index;
    size_t found[FOUND_MAX];
    size_t found_count;
} programs[] = {
    {"load above", {{LDG(4, 2), 0, 1, 0}, {NOP, 0, 0, 0}, {FADD(8, 4, 5), 1, 0, 0}}, 3, 2, {0}, 1},
    {"no wait", {{LDG(4, 2), 0, 1, 0}, {FADD(8, 4, 5), 0, 0, 0}}, 2, 1, {0}, 0},
    {"other scoreboard", {{LDG(4, 2), 0, 1, 0}, {FADD(8, 4, 5), 2, 0, 0}}, 2, 1, {0}, 0},
    {"nearest of two on one scoreboard",
     {{LDG(4, 2), 0, 1, 0}, {LDG(5, 2), 0, 1, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     3,
     2,
     {1, 0},
     2},
    {"the one that is read, not the nearest",
     {{LDG(4, 2), 0, 1, 0}, {LDG(6, 2), 0, 1, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     3,
     2,
     {0},
     1},
    {"global and shared at once",
     {{LDG(4, 2), 0, 1, 0}, {LDS(5, 2), 0, 2, 0}, {FADD(8, 4, 5), 3, 0, 0}},
     3,
     2,
     {1, 0},
     2},
    {"ended by an earlier wait",
     {{LDG(4, 2), 0, 1, 0}, {FADD(9, 4, 4), 1, 0, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     3,
     2,
     {0},
     0},
    {"address of a store", {{LDG(3, 8), 0, 1, 0}, {STG(2, 9), 1, 0, 0}}, 2, 1, {0}, 1},
    {"overwritten on the way",
     {{LDG(4, 2), 0, 1, 0},
      {LDG(9, 2), 0, 1, 0},
      {FADD(4, 6, 6), 0, 0, 0},
      {FADD(8, 4, 5), 1, 0, 0}},
     4,
     3,
     {1},
     1}, /* nothing read comes from a load: the nearest that raised the scoreboard */
    {"perhaps overwritten on the way",
     {{LDG(4, 2), 0, 1, 0}, {FADD_IF_P0(4, 6, 6), 0, 0, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     3,
     2,
     {0},
     1},
    {"overwrites what a store still reads",
     {{STG(2, 8), 0, 0, 2}, {FADD(8, 4, 5), 2, 0, 0}},
     2,
     1,
     {0},
     1},
    {"round the back edge",
     {{NOP, 0, 0, 0},
      {FADD(8, 4, 8), 1, 0, 0},
      {LDG(4, 2), 0, 1, 0},
      {BRA(0, -3), 0, 0, 0},
      {EXIT, 0, 0, 0}},
     5,
     1,
     {2},
     1},
    {"back edge before what stands above the loop",
     {{LDG(4, 2), 0, 1, 0},
      {FADD(8, 4, 8), 1, 0, 0},
      {LDG(4, 2), 0, 1, 0},
      {BRA(0, -3), 0, 0, 0},
      {EXIT, 0, 0, 0}},
     5,
     1,
     {2, 0},
     2},
    {"itself, a turn before",
     {{NOP, 0, 0, 0}, {LDG(4, 4), 1, 1, 0}, {BRA(0, -2), 0, 0, 0}, {EXIT, 0, 0, 0}},
     4,
     1,
     {1},
     1},
    {"not out of a block that has ended",
     {{BRA(0, 2), 0, 0, 0}, {LDG(4, 2), 0, 1, 0}, {EXIT, 0, 0, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     4,
     3,
     {0},
     0},
    {"through a forward branch",
     {{LDG(4, 2), 0, 1, 0}, {BRA(0, 1), 0, 0, 0}, {EXIT, 0, 0, 0}, {FADD(8, 4, 5), 1, 0, 0}},
     4,
     3,
     {0},
     1},
    {"copies to shared memory",
     {{LDGSTS(5, 2), 0, 0, 1}, {NOP, 0, 0, 0}, {LDGDEPBAR, 0, 1, 0}, {DEPBAR_SB0, 0, 0, 0}},
     4,
     3,
     {0},
     1},
    {"index behind the code", {{NOP, 1, 0, 0}}, 1, 1, {0}, 0},
    {"first instruction", {{FADD(8, 4, 5), 1, 0, 0}}, 1, 0, {0}, 0},
};

static void store_step(uint8_t *word, const step *it)
{
    const uint64_t writes = it->raises > 0 ? (uint64_t)it->raises - 1 : 7;
    const uint64_t reads = it->raises_read > 0 ? (uint64_t)it->raises_read - 1 : 7;

    store_u64(word, it->low);
    store_u64(word + 8, it->high | writes << 46 | reads << 49 | (uint64_t)it->waits << 52);
}

static void finds(void **state)
{
    const struct program *const row = *state;
    uint8_t *const code = malloc(row->count * 16);
    size_t found[FOUND_MAX];
    size_t found_count, i;

    assert_non_null(code);
    for (i = 0; i < row->count; i++)
        store_step(code + 16 * i, &row->steps[i]);
    found_count = ridge_sass_producers(code, row->count * 16, 90, row->index, found, FOUND_MAX);
    assert_int_equal(found_count, row->found_count);
    for (i = 0; i < found_count; i++)
        assert_int_equal(found[i], row->found[i]);
    assert_int_equal(ridge_sass_producer(code, row->count * 16, 90, row->index),
                     row->found_count > 0 ? row->found[0] : row->count);
    free(code);
}

/* Every wait of a real kernel that reads a loaded register leads to the load. */
static void recorded_kernel(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const sum = ridge_cubin_function(cubin, "block_sum");
    const size_t count = sum->code_bytes / 16;
    size_t global_count = 0;
    size_t shared_count = 0;
    size_t i;

    (void)state;
    for (i = 0; i < count; i++) {
        const size_t producer = ridge_sass_producer(sum->code, sum->code_bytes, 90, i);
        ridge_sass waiting, raising;

        assert_true(producer <= count);
        ridge_sass_decode(sum->code + 16 * i, 0, 90, &waiting);
        if (producer == count)
            continue;
        assert_true(waiting.wait_mask != 0);
        ridge_sass_decode(sum->code + 16 * producer, 0, 90, &raising);
        assert_true(raising.write_barrier < 6 || raising.read_barrier < 6);
        if (waiting.cls == RIDGE_SASS_FP32) {
            assert_true(raising.is_load);
            global_count += raising.cls == RIDGE_SASS_GLOBAL;
            shared_count += raising.cls == RIDGE_SASS_SHARED;
        }
    }
    assert_true(global_count >= 1);
    assert_true(shared_count >= 7);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Branches from everywhere to everywhere: the search stays small and inside the code. */
static void survives_any_code(void **state)
{
    static const size_t instruction_count = 20000;
    uint8_t *const code = malloc(instruction_count * 16);
    uint64_t random = 1;
    size_t found[FOUND_MAX];
    size_t i;

    (void)state;
    assert_non_null(code);
    for (i = 0; i < instruction_count; i++) {
        static const step kinds[] = {{BRA(0, -40), 0, 0, 0}, {BRA(ALWAYS, 30), 0, 0, 0},
                                     {LDG(4, 2), 0, 1, 0},   {FADD(8, 4, 5), 1, 0, 0},
                                     {NOP, 0, 0, 0},         {FADD(8, 9, 5), 2, 0, 0}};

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        store_step(code + 16 * i, &kinds[(random >> 33) % 6]);
    }
    for (i = 0; i < instruction_count; i += 97) {
        size_t j;
        const size_t count =
            ridge_sass_producers(code, instruction_count * 16, 90, i, found, FOUND_MAX);

        assert_true(count <= FOUND_MAX);
        for (j = 0; j < count; j++)
            assert_true(found[j] < instruction_count);
    }
    free(code);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds, programs);
    cases_add(&list, "recorded kernel", recorded_kernel, NULL);
    cases_add(&list, "any code", survives_any_code, NULL);
    return cases_run(&list, "producer");
}
