/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantiles of |out - ref| and |plain - ref| from histograms whose bins are the leading bits of a
 * double (seven of the fraction: 0.8 % wide), so that any number of elements takes 4 MiB and one
 * pass. A row of the last axis has its root mean square compared too, so that one bad row among many
 * cannot hide.
 *
 * Both have the rounding of the output, so a ratio is taken against at least half of it and four
 * roundings of the sum, which nobody minds where the output is as fine as the sum; few elements
 * scatter, which the factor 1 + 4 / sqrt(n) allows for. */
#include "check/second.h"

#include <math.h>

#include "base/dtype_bits.h"
#include "base/memory.h"

enum { BIN_BITS = 11 + 7, BINS = 1 << BIN_BITS };

typedef struct side {
    int64_t *bins;
    double most, row_square; /* greatest; sum of squares of the row */
} side;

static void add(side *to, double error)
{
    to->bins[(dtype_double_bits(error) >> (63 - BIN_BITS)) & (BINS - 1)]++;
    to->most = error > to->most ? error : to->most;
    to->row_square += error * error;
}

/* Upper edge of the bin that holds the quantile. */
static double quantile(const side *of, int64_t count, double frac)
{
    const int64_t wanted = (int64_t)ceil(frac * (double)count);
    int64_t seen = 0;
    double value;

    for (uint64_t bin = 0; bin < BINS; bin++) {
        seen += of->bins[bin];
        if (seen >= wanted && seen > 0) {
            value = bin == 0 ? 0 : dtype_bits_double((bin + 1) << (63 - BIN_BITS));
            return value < of->most ? value : of->most;
        }
    }
    return of->most;
}

static double ratio_of(double error, double plain, double least, double count)
{
    const double below = plain > least ? plain : least;

    if (error <= least)
        return 0;
    return below > 0 ? error / below / (1 + 4 / sqrt(count)) : INFINITY;
}

static void take(ridge_mismatch *out, double ratio, int64_t row)
{
    if (!(ratio > out->plain_ratio))
        return;
    out->plain_ratio = ratio;
    out->plain_worst_row = row;
}

static void finish(const side *mine, const side *plain, int64_t count, double least,
                   ridge_mismatch *out)
{
    static const double fracs[3] = {0.5, 0.99, 0.999};

    for (int i = 0; i < 4; i++) {
        out->error_quantiles[i] = i < 3 ? quantile(mine, count, fracs[i]) : mine->most;
        out->plain_quantiles[i] = i < 3 ? quantile(plain, count, fracs[i]) : plain->most;
        take(out, ratio_of(out->error_quantiles[i], out->plain_quantiles[i], least, (double)count),
             -1);
    }
}

ridge_status check_second_opinion(const ridge_comparand *pair, const check_bounds *bounds,
                                  int64_t count, ridge_mismatch *out, ridge_error *err)
{
    const int64_t width = pair->ndim == 0 ? 1 : pair->shape[pair->ndim - 1];
    const double unit = bounds->unit_out / 2 + 4 * bounds->unit_sum;
    side mine = {.most = 0}, plain = {.most = 0};
    double square_sum = 0;
    int64_t finite = 0;
    ridge_status status = RIDGE_OK;

    mine.bins = ridge_calloc(BINS, sizeof(*mine.bins));
    plain.bins = ridge_calloc(BINS, sizeof(*plain.bins));
    if (mine.bins == NULL || plain.bins == NULL) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for quantiles of errors");
        goto out;
    }
    out->plain_ratio = 0;
    for (int64_t row = 0; row * width < count; row++) {
        double row_square = 0;
        int64_t row_finite = 0;

        mine.row_square = plain.row_square = 0;
        for (int64_t i = row * width; i < (row + 1) * width; i++) {
            if (!isfinite(pair->ref[i]) || !isfinite(pair->out[i]) || !isfinite(pair->plain[i]))
                continue; /* the first layer's matter */
            add(&mine, fabs(pair->out[i] - pair->ref[i]));
            add(&plain, fabs(pair->plain[i] - pair->ref[i]));
            row_square += pair->ref[i] * pair->ref[i];
            row_finite++;
        }
        square_sum += row_square;
        finite += row_finite;
        if (row_finite > 0 && width > 1) {
            const double n = (double)row_finite;

            take(out,
                 ratio_of(sqrt(mine.row_square / n), sqrt(plain.row_square / n),
                          unit * sqrt(row_square / n), n),
                 row);
        }
    }
    if (finite > 0)
        finish(&mine, &plain, finite, unit * sqrt(square_sum / (double)finite), out);
    else
        out->plain_ratio = NAN;
out:
    ridge_free(plain.bins);
    ridge_free(mine.bins);
    return status;
}
