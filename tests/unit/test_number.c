/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <locale.h>
#include <math.h>

#include "base/base_internal.h"

static struct shown {
    const char *name;
    double value;
    ridge_unit unit;
    const char *text;
} shown[] = {
    {"none: zero", 0, RIDGE_UNIT_NONE, "0"},
    {"none: minus zero", -0.0, RIDGE_UNIT_NONE, "0"},
    {"none: whole in full", 1234567, RIDGE_UNIT_NONE, "1234567"},
    {"none: four digits", 3.14159, RIDGE_UNIT_NONE, "3.142"},
    {"none: zeros are digits", 0.5, RIDGE_UNIT_NONE, "0.5000"},
    {"none: rounds into the next decade", 9.99996, RIDGE_UNIT_NONE, "10.00"},
    {"none: large", 12345.6, RIDGE_UNIT_NONE, "12346"},
    {"none: small", 0.000123456, RIDGE_UNIT_NONE, "0.0001235"},
    {"none: tiny", 1e-9, RIDGE_UNIT_NONE, "1.000e-09"},
    {"none: huge", 1e22, RIDGE_UNIT_NONE, "1.000e+22"},
    {"none: negative", -5.25, RIDGE_UNIT_NONE, "-5.250"},
    {"none: nan", NAN, RIDGE_UNIT_NONE, "n/a"},
    {"none: infinite", INFINITY, RIDGE_UNIT_NONE, "inf"},
    {"none: minus infinite", -INFINITY, RIDGE_UNIT_NONE, "-inf"},
    {"count: below a thousand", 999, RIDGE_UNIT_COUNT, "999"},
    {"count: thousand", 1000, RIDGE_UNIT_COUNT, "1,000"},
    {"count: grouped", 1234567, RIDGE_UNIT_COUNT, "1,234,567"},
    {"count: negative", -123456, RIDGE_UNIT_COUNT, "-123,456"},
    {"count: a mean", 2.5, RIDGE_UNIT_COUNT, "2.500"},
    {"count: a large mean", 1234.56, RIDGE_UNIT_COUNT, "1,235"},
    {"count: rounds to a thousand", 999.7, RIDGE_UNIT_COUNT, "1,000"},
    {"count: huge", 1e25, RIDGE_UNIT_COUNT, "1.000e+25"},
    {"ns: zero", 0, RIDGE_UNIT_NS, "0 ns"},
    {"ns", 512.5, RIDGE_UNIT_NS, "512.5 ns"},
    {"ns: us", 93810, RIDGE_UNIT_NS, "93.81 us"},
    {"ns: rounds into us", 999.96, RIDGE_UNIT_NS, "1.000 us"},
    {"ns: ms", 1234567, RIDGE_UNIT_NS, "1.235 ms"},
    {"ns: s", 5e9, RIDGE_UNIT_NS, "5.000 s"},
    {"ns: hours stay seconds", 7.2e12, RIDGE_UNIT_NS, "7200 s"},
    {"bytes: whole", 512, RIDGE_UNIT_BYTES, "512 B"},
    {"bytes: KiB", 74752, RIDGE_UNIT_BYTES, "73.00 KiB"},
    {"bytes: rounds into MiB", 1024 * 1023.9, RIDGE_UNIT_BYTES, "0.9999 MiB"},
    {"bytes: GiB", 1.5 * 1073741824, RIDGE_UNIT_BYTES, "1.500 GiB"},
    {"bytes/s", 4.8123e12, RIDGE_UNIT_BYTES_PER_S, "4.812 TB/s"},
    {"op/s", 624e12, RIDGE_UNIT_OP_PER_S, "624.0 TOP/s"},
    {"flop/s", 989.5e12, RIDGE_UNIT_FLOP_PER_S, "989.5 TFLOP/s"},
    {"hz", 1.98e9, RIDGE_UNIT_HZ, "1.980 GHz"},
    {"flop", 412316860416.0, RIDGE_UNIT_FLOP, "412.3 GFLOP"},
    {"flop, some", 12, RIDGE_UNIT_FLOP, "12.00 FLOP"},
    {"fraction", 0.7415, RIDGE_UNIT_FRAC, "74.15 %"},
    {"fraction: one", 1, RIDGE_UNIT_FRAC, "100.0 %"},
    {"fraction: small", 0.0512, RIDGE_UNIT_FRAC, "5.12 %"},
    {"fraction: smallest shown", 0.00005, RIDGE_UNIT_FRAC, "0.01 %"},
    {"fraction: too small to show", 0.0000321, RIDGE_UNIT_FRAC, "<0.01 %"},
    {"fraction: the same below zero", -1e-9, RIDGE_UNIT_FRAC, ">-0.01 %"},
    {"ratio", 2.3, RIDGE_UNIT_RATIO, "2.300x"},
};

static void shows(void **state)
{
    const struct shown *const row = *state;
    char buffer[BASE_NUMBER_BYTES];

    assert_ptr_equal(ridge_number_text(row->value, row->unit, buffer, sizeof(buffer)), buffer);
    assert_string_equal(buffer, row->text);
}

/* The longest results of every unit fit the 32 bytes that the header asks for. */
static void fits_its_buffer(void **state)
{
    static const double values[] = {-1.7976931348623157e308, -1.2345678e18, -99999999999999.5,
                                    -4.9406564584124654e-324, -123456.7};
    int unit;
    size_t i;

    (void)state;
    for (unit = RIDGE_UNIT_NONE; unit <= RIDGE_UNIT_RATIO; unit++) {
        for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            char wide[64];
            char narrow[BASE_NUMBER_BYTES];

            ridge_number_text(values[i], (ridge_unit)unit, wide, sizeof(wide));
            ridge_number_text(values[i], (ridge_unit)unit, narrow, sizeof(narrow));
            assert_string_equal(wide, narrow);
        }
    }
}

static struct exact {
    const char *name;
    double value;
    const char *text;
} exacts[] = {
    {"exact: zero", 0, "0"},
    {"exact: minus zero", -0.0, "-0"},
    {"exact: whole", 93810, "93810"},
    {"exact: tenth", 0.1, "0.1"},
    {"exact: third", 1.0 / 3, "0.3333333333333333"},
    {"exact: sum of tenths", 0.1 + 0.2, "0.30000000000000004"},
    {"exact: largest", 1.7976931348623157e308, "1.7976931348623157e+308"},
    {"exact: smallest", 4.9406564584124654e-324, "4.94065645841247e-324"},
    {"exact: 2^53 + 2", 9007199254740994.0, "9007199254740994"},
    {"exact: large power", 1e22, "1e+22"},
};

static void is_exact(void **state)
{
    const struct exact *const row = *state;
    char buffer[BASE_NUMBER_BYTES];

    assert_string_equal(base_number_exact(row->value, buffer), row->text);
    assert_true(strtod(buffer, NULL) == row->value);
}

/* Bit patterns spread over all exponents read back as themselves. */
static void reads_back(void **state)
{
    uint64_t bits = 0x0123456789abcdefu;
    size_t i;

    (void)state;
    for (i = 0; i < 20000; i++) {
        char buffer[BASE_NUMBER_BYTES];
        double value;
        double back;

        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof(value));
        if (isnan(value) || isinf(value))
            continue;
        back = strtod(base_number_exact(value, buffer), NULL);
        assert_memory_equal(&back, &value, sizeof(value));
    }
}

static void groups_counts(void **state)
{
    char buffer[BASE_NUMBER_BYTES];

    (void)state;
    assert_string_equal(base_count_grouped(0, buffer), "0");
    assert_string_equal(base_count_grouped(100, buffer), "100");
    assert_string_equal(base_count_grouped(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
}

/* A host program may have set a locale with a decimal comma; none of the names need exist. */
static void ignores_the_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    char buffer[BASE_NUMBER_BYTES];
    bool found = false;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (setlocale(LC_ALL, names[i]) == NULL)
            continue;
        found = true;
        assert_string_equal(base_number_exact(0.1, buffer), "0.1");
        assert_string_equal(base_number_exact(1.0 / 3, buffer), "0.3333333333333333");
        assert_string_equal(ridge_number_text(2.5, RIDGE_UNIT_NONE, buffer, sizeof(buffer)),
                            "2.500");
        assert_string_equal(ridge_number_text(1e22, RIDGE_UNIT_NONE, buffer, sizeof(buffer)),
                            "1.000e+22");
    }
    setlocale(LC_ALL, "C");
    if (!found)
        skip();
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, shows, shown);
    CASES_ADD_ROWS(&list, is_exact, exacts);
    cases_add(&list, "fits its buffer", fits_its_buffer, NULL);
    cases_add(&list, "reads back", reads_back, NULL);
    cases_add(&list, "groups counts", groups_counts, NULL);
    cases_add(&list, "ignores the locale", ignores_the_locale, NULL);
    return cases_run(&list, "number");
}
