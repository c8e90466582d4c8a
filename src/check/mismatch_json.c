/* SPDX-License-Identifier: Apache-2.0
 *
 * A mismatch for programs: keys are the names of the C fields. */
#include <inttypes.h>
#include <stdio.h>

#include "ridge/check.h"

const char *ridge_match_name(ridge_match match)
{
    static const char *const names[] = {"exact", "within", "suspicious", "wrong"};

    return (unsigned)match < sizeof(names) / sizeof(names[0]) ? names[match] : "unknown";
}

static void write_integers(ridge_json *json, const char *key, const int64_t *values, size_t count)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < count; i++)
        ridge_json_integer(json, NULL, values[i]);
    ridge_json_end_array(json);
}

static void write_numbers(ridge_json *json, const char *key, const double *values, size_t count)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < count; i++)
        ridge_json_number(json, NULL, values[i]);
    ridge_json_end_array(json);
}

static void write_regions(ridge_json *json, const ridge_mismatch *mismatch)
{
    size_t i;

    ridge_json_begin_array(json, "regions");
    for (i = 0; i < mismatch->region_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_integer(json, "axis", mismatch->regions[i].axis);
        ridge_json_integer(json, "first", mismatch->regions[i].first);
        ridge_json_integer(json, "last", mismatch->regions[i].last);
        ridge_json_number(json, "share_frac", mismatch->regions[i].share_frac);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_period(ridge_json *json, const ridge_mismatch_period *period)
{
    if (period->axis < 0 || period->modulus <= 0) {
        ridge_json_null(json, "period");
        return;
    }
    ridge_json_begin_object(json, "period");
    ridge_json_integer(json, "axis", period->axis);
    ridge_json_integer(json, "modulus", period->modulus);
    ridge_json_integer(json, "residue_first", period->residue_first);
    ridge_json_integer(json, "residue_last", period->residue_last);
    ridge_json_number(json, "share_frac", period->share_frac);
    ridge_json_number(json, "lift", period->lift);
    ridge_json_end_object(json);
}

static void write_relations(ridge_json *json, const ridge_mismatch *mismatch)
{
    size_t i;

    ridge_json_begin_array(json, "relations");
    for (i = 0; i < mismatch->relation_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "text", mismatch->relations[i].text);
        ridge_json_number(json, "share_frac", mismatch->relations[i].share_frac);
        ridge_json_number(json, "value", mismatch->relations[i].value);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_picture(ridge_json *json, const ridge_mismatch *mismatch)
{
    int row;

    ridge_json_begin_array(json, "picture");
    for (row = 0; row < mismatch->picture_rows; row++)
        ridge_json_text(json, NULL, mismatch->picture[row]);
    ridge_json_end_array(json);
}

static void write_bits(ridge_json *json, const char *key, uint64_t bits)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%" PRIx64, bits);
    ridge_json_text(json, key, text);
}

void ridge_mismatch_write_json(ridge_json *json, const char *key, const ridge_mismatch *mismatch)
{
    const size_t ndim = (size_t)mismatch->ndim;

    ridge_json_begin_object(json, key);
    ridge_json_text(json, "match", ridge_match_name(mismatch->match));
    ridge_json_text(json, "name", mismatch->name);
    ridge_json_text(json, "dtype", ridge_dtype_name(mismatch->dtype));
    ridge_json_text(json, "cause_id", mismatch->cause_id[0] != '\0' ? mismatch->cause_id : NULL);
    ridge_json_text(json, "cause", mismatch->cause[0] != '\0' ? mismatch->cause : NULL);
    write_integers(json, "shape", mismatch->shape, ndim);
    ridge_json_integer(json, "element_count", mismatch->element_count);
    ridge_json_integer(json, "wrong_count", mismatch->wrong_count);
    ridge_json_integer(json, "suspicious_count", mismatch->suspicious_count);
    ridge_json_integer(json, "structure_count", mismatch->structure_count);
    ridge_json_integer(json, "first_index", mismatch->first_index);
    ridge_json_integer(json, "last_index", mismatch->last_index);
    ridge_json_integer(json, "worst_index", mismatch->worst_index);
    write_integers(json, "box_first", mismatch->box_first, ndim);
    write_integers(json, "box_last", mismatch->box_last, ndim);
    ridge_json_number(json, "worst_scaled_error", mismatch->worst_scaled_error);
    ridge_json_number(json, "worst_out", mismatch->worst_out);
    ridge_json_number(json, "worst_ref", mismatch->worst_ref);
    write_bits(json, "worst_out_bits", mismatch->worst_out_bits);
    write_bits(json, "worst_ref_bits", mismatch->worst_ref_bits);
    ridge_json_number(json, "ulp_most", mismatch->ulp_most);
    write_integers(json, "ulp_histogram", mismatch->ulp_histogram, 16);
    write_numbers(json, "error_quantiles", mismatch->error_quantiles, 4);
    write_numbers(json, "plain_quantiles", mismatch->plain_quantiles, 4);
    ridge_json_number(json, "plain_ratio", mismatch->plain_ratio);
    write_regions(json, mismatch);
    write_period(json, &mismatch->period);
    write_relations(json, mismatch);
    write_picture(json, mismatch);
    ridge_json_end_object(json);
}
