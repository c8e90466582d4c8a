/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "ridge/occupancy.h"

static void littles_law(void **state)
{
    /* 4.8 TB/s over 132 SMs, 700 cycles at 1.98 GHz. */
    const double bytes = ridge_bytes_in_flight_per_sm(4800e9, 1980e6, 132, 700);

    assert_true(fabs(bytes - 12855.83) < 0.01);
    assert_true(isnan(ridge_bytes_in_flight_per_sm(4800e9, 1980e6, 0, 700)));
    assert_true(isnan(ridge_bytes_in_flight_per_sm(4800e9, NAN, 132, 700)));
    assert_true(isnan(ridge_bytes_in_flight_per_sm(NAN, 1980e6, 132, 700)));
    (void)state;
}

static void loads_of_an_h200(void **state)
{
    ridge_in_flight got;

    /* 8 warps with 2 loads of 16 bytes: 8 x 2 x 512. */
    ridge_in_flight_of(ridge_chip_find("h200"), 8, 2, 16, &got);
    assert_true(fabs(got.needed_low_bytes - 11019.28) < 0.01);
    assert_true(fabs(got.needed_high_bytes - 14692.38) < 0.01);
    assert_true(got.bytes_per_load == 512);
    assert_true(got.available_bytes == 8192);
    assert_true(got.loads_needed == 4);  /* 8 x 4 x 512 = 16384, 8 x 3 x 512 = 12288 */
    assert_true(got.warps_needed == 15); /* 15 x 2 x 512 = 15360, 14 give 14336 */
    (void)state;
}

static void unknown_stays_unknown(void **state)
{
    ridge_in_flight got;

    ridge_in_flight_of(ridge_chip_find("h20"), 8, 2, 16, &got); /* no clock is known */
    assert_true(isnan(got.needed_low_bytes) && isnan(got.needed_high_bytes));
    assert_true(isnan(got.loads_needed) && isnan(got.warps_needed));
    assert_true(got.available_bytes == 8192);
    ridge_in_flight_of(ridge_chip_find("h200"), 0, 2, 16, &got);
    assert_true(isnan(got.available_bytes) && isnan(got.loads_needed));
    assert_true(got.warps_needed == 15);
    ridge_in_flight_of(ridge_chip_find("h200"), 8, 0, 16, &got);
    assert_true(isnan(got.available_bytes) && isnan(got.warps_needed));
    assert_true(got.loads_needed == 4);
    ridge_in_flight_of(ridge_chip_find("h200"), 8, 2, 0, &got);
    assert_true(isnan(got.bytes_per_load) && isnan(got.available_bytes));
    (void)state;
}

int main(void)
{
    static cases list;

    cases_add(&list, "Little's law", littles_law, NULL);
    cases_add(&list, "loads of an H200", loads_of_an_h200, NULL);
    cases_add(&list, "unknown stays unknown", unknown_stays_unknown, NULL);
    return cases_run(&list, "in_flight");
}
