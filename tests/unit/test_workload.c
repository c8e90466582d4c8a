/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/diagnose.h"

/* Bytes and FLOP by hand: each input read once, each output written once; of attention also the log
 * of each row's sum, in float. */
static struct good_case {
    const char *name; /* the workload */
    double bytes, flop_count;
} good_cases[] = {
    {"rms_norm:8192x4096:bf16", 2 * 8192.0 * 4096 * 2 + 4096 * 2, 4 * 8192.0 * 4096},
    {"add_rms_norm:8192x4096:bf16", 4 * 8192.0 * 4096 * 2 + 4096 * 2, 5 * 8192.0 * 4096},
    {"silu_and_mul:8192x14336:bf16", 3 * 8192.0 * 14336 * 2, 10 * 8192.0 * 14336},
    {"rotary:4096x32x128:f16", 2 * 4096.0 * 32 * 128 * 2, 3 * 4096.0 * 32 * 128},
    {"softmax:1024x1000:f32", 2 * 1024.0 * 1000 * 4, 5 * 1024.0 * 1000},
    {"transpose:4096x2048:f64", 2 * 4096.0 * 2048 * 8, 0},
    {"copy:1048576:f32", 2 * 1048576.0 * 4, 0},
    {"reduce:1048576:i8", 1048576 + 1, 1048576},
    {"reduce:elements=1Mi,results=1Ki:i8", 1048576 + 1024, 1048576},
    {"rms_norm:rows=8192,columns=4096:bf16", 2 * 8192.0 * 4096 * 2 + 4096 * 2, 4 * 8192.0 * 4096},
    {"kda_backward/A:tokens=16,heads=1:bf16", 54336, 1736704},
    {"kda_backward:tokens=16,heads=1:bf16", 316992, 4980736},
    {"int4_gemm:m=1,n=8192,k=8192:bf16", 8192.0 * 8192 / 2 + 8192 * 64 * 2 + 2 * 8192 * 2,
     2 * 8192.0 * 8192},
    {"gemm:8192x6144x4096:bf16", (8192.0 * 4096 + 4096.0 * 6144 + 8192.0 * 6144) * 2,
     2 * 8192.0 * 6144 * 4096},
    {"attention:2x1024x16x128:fp8", 4 * 2.0 * 1024 * 16 * 128 + 4 * 2 * 1024 * 16,
     4 * 2.0 * 1024 * 1024 * 16 * 128},
    {"gemm:1X1X1:half", 6, 2},
    {"copy:1:fp64", 16, 0},
    {"copy:1:fp32", 8, 0},
    {"copy:1:float", 8, 0},
    {"copy:1:tf32", 8, 0},
    {"copy:1:i32", 8, 0},
    {"copy:1:fp16", 4, 0},
    {"copy:1:int8", 2, 0},
    {"copy:999999999999999:i8", 2 * 999999999999999.0, 0},
};

static void parses(void **state)
{
    const struct good_case *const test = *state;
    double bytes = -1, flop_count = -1;
    ridge_error err = {RIDGE_ERR_IO, "untouched"};

    if (ridge_workload_parse(test->name, &bytes, &flop_count, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(err.text, "untouched");
    assert_true(bytes == test->bytes);
    assert_true(flop_count == test->flop_count);
}

static struct bad_case {
    const char *name;
    const char *message;
} bad_cases[] = {
    {"", "is not OP:SHAPE:DTYPE"},
    {"rms_norm", "is not OP:SHAPE:DTYPE"},
    {"rms_norm:8192x4096", "is not OP:SHAPE:DTYPE"},
    {"::", "unknown operation ''"},
    {"conv:1x1:f32", "unknown operation 'conv'; ridge bound lists"},
    {"rms_norm2:1x1:f32", "unknown operation"},
    {"RMS_NORM:1x1:f32", "unknown operation"},
    {"rms_norm:8192:bf16", "is not of the form ROWSxCOLUMNS"},
    {"rms_norm:1x2x3:bf16", "is not of the form ROWSxCOLUMNS"},
    {"rms_norm:1x:bf16", "is not of the form ROWSxCOLUMNS"},
    {"rms_norm:x1:bf16", "is not of the form ROWSxCOLUMNS"},
    {"rms_norm::bf16", "is not of the form ROWSxCOLUMNS"},
    {"rms_norm:0x1:bf16", "whole numbers from 1"},
    {"rms_norm:-1x1:bf16", "whole numbers from 1"},
    {"rms_norm:1.5x1:bf16", "whole numbers from 1"},
    {"rms_norm: 1x1:bf16", "whole numbers from 1"},
    {"copy:1000000000000000:f32", "is not of the form ELEMENTS"},
    {"copy:99999999999999999999999999999999:f32", "is not of the form ELEMENTS"},
    {"gemm:1x1:f32", "is not of the form MxNxK"},
    {"attention:1x1x1:f32", "is not of the form BATCHxTOKENSxHEADSxDIMENSIONS"},
    {"copy:1:", "unknown type ''; there are f64 f32"},
    {"copy:x=1:f32", "copy has no parameter 'x'"},
    {"copy:elements=:f32", "elements= is no whole number"},
    {"copy:elements=1,elements=:f32", "elements= is no whole number"},
    {"copy:elements=1,:f32", "'' is not NAME=VALUE"},
    {"gemm:m=1,n=1:f32",
     "gemm needs k (it takes m: rows of a and d, n: columns of b, k: columns of a"},
    {"gemm/x:1x1x1:f32", "gemm has no kernel 'x'"},
    {"kda_decode:1x1:bf16", "is not of the form NAME=VALUE,..."},
    {"attention:batch=1,queries=1,heads=6,kv_heads=4,head_dim=8:bf16", "heads=6 is no multiple"},
    {"copy:1:f31", "unknown type 'f31'"},
    {"copy:1:f32:more", "unknown type 'f32:more'"},
    {"copy:1:\033[31m", "unknown type '?[31m'"},
};

static void rejects(void **state)
{
    const struct bad_case *const bad = *state;
    double bytes = -1, flop_count = -1;
    ridge_error err;

    assert_int_equal(ridge_workload_parse(bad->name, &bytes, &flop_count, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_true(bytes == 0);
    assert_true(flop_count == 0);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(ridge_workload_parse(bad->name, &bytes, &flop_count, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
}

/* A text of any length gives a message of one line. */
static void long_texts(void **state)
{
    static const char *const starts[] = {"", ":", "copy:", "copy:1:", "::"};
    char text[2000];
    double bytes, flop_count;
    ridge_error err;
    size_t i;

    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        memcpy(text, starts[i], strlen(starts[i]));
        assert_int_equal(ridge_workload_parse(text, &bytes, &flop_count, &err),
                         RIDGE_ERR_INVALID_ARGUMENT);
        assert_true(strlen(err.text) < 250);
    }
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, parses, good_cases);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "long texts", long_texts, NULL);
    return cases_run(&list, "workload");
}
