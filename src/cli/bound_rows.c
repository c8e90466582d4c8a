/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound: from parameters, types and chips to rows, the last parameter varying fastest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound_cli.h"

static size_t combination_count(const struct bound_request *request)
{
    size_t count = request->element_count;
    size_t i;

    for (i = 0; i < request->sweep_count && count <= BOUND_ROWS; i++)
        count *= request->sweeps[i].count;
    return count;
}

/* The values and the type of one combination. */
static void choose(const struct bound_request *request, size_t combination, double *values,
                   ridge_element *element)
{
    size_t i;

    for (i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    for (i = request->sweep_count; i > 0; i--) {
        const ridge_sweep *const sweep = &request->sweeps[i - 1];

        values[sweep->parameter] = sweep->values[combination % sweep->count];
        combination /= sweep->count;
    }
    *element = request->elements[combination];
}

/* Work as given: bytes are not told apart. */
static void given_work(const struct bound_request *request, ridge_element element, ridge_work *work)
{
    memset(work, 0, sizeof(*work));
    snprintf(work->name, sizeof(work->name), "given");
    work->read_bytes = isnan(request->bytes) ? 0 : request->bytes;
    work->flop_count = isnan(request->flop_count) ? 0 : request->flop_count;
    work->peak = ridge_peak_of_element(element);
}

/* The kernels of one combination, or the one that was asked for. */
static int count_works(const struct bound_request *request, const double *values,
                       ridge_element element, ridge_work works[RIDGE_OPERATION_WORKS],
                       size_t *count)
{
    ridge_error err;
    size_t i;

    if (request->operation == NULL) {
        given_work(request, element, &works[0]);
        *count = 1;
        return CLI_DONE;
    }
    if (ridge_operation_work(request->operation, values, element, works, count, &err) != RIDGE_OK)
        return cli_usage_error("%s", err.text);
    if (request->kernel == NULL)
        return CLI_DONE;
    for (i = 0; i < *count; i++) {
        if (strcmp(works[i].name, request->kernel) == 0) {
            works[0] = works[i];
            *count = 1;
            return CLI_DONE;
        }
    }
    return cli_usage_error("%s has no kernel '%s', its first is %s", request->operation->name,
                           request->kernel, works[0].name);
}

static void fill_row(const struct bound_request *request, size_t chip, const ridge_work *work,
                     struct bound_row *row)
{
    const struct bound_chip *const of = &request->chips[chip];
    ridge_roofs none;

    row->chip = chip;
    row->work = *work;
    if (request->chip_count == 0) {
        ridge_roofs_init(&none);
        ridge_bound_of(work, &none, &row->nominal);
        return;
    }
    ridge_bound_of(work, &of->nominal, &row->nominal);
    if (of->has_measured)
        ridge_bound_of(work, &of->measured, &row->measured);
}

/* The same with another value of a parameter; false: the operation does not take it. */
static bool row_of_value(const struct bound_request *request, const struct bound_row *like,
                         size_t parameter, double value, struct bound_row *out)
{
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count, i;

    *out = *like;
    out->values[parameter] = value;
    if (ridge_operation_work(request->operation, out->values, like->element, works, &count, NULL) !=
        RIDGE_OK)
        return false;
    for (i = 0; i < count; i++)
        if (strcmp(works[i].name, like->work.name) == 0)
            fill_row(request, like->chip, &works[i], out);
    return true;
}

const ridge_bound *bound_of_row(const struct bound_request *request, const struct bound_row *row)
{
    return request->chips[row->chip].has_measured ? &row->measured : &row->nominal;
}

void bound_find_turn(const struct bound_request *request, size_t parameter,
                     struct bound_row *before, struct bound_row *after)
{
    const struct bound_row low = *before, high = *after;
    const ridge_bound_by by = bound_of_row(request, before)->by;
    struct bound_row between;

    for (;;) {
        const double from = before->values[parameter], to = after->values[parameter];
        const double middle = floor((from + to) / 2);

        if (!(middle > from && middle < to))
            return;
        if (!row_of_value(request, before, parameter, middle, &between))
            break;
        *(bound_of_row(request, &between)->by == by ? before : after) = between;
    }
    *before = low; /* between are values that are not taken: the steps are what is known */
    *after = high;
}

int bound_make_rows(struct bound_request *request)
{
    const size_t combinations = combination_count(request);
    const size_t chip_count = request->chip_count > 0 ? request->chip_count : 1;
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t i, k, chip;

    if (combinations * chip_count > BOUND_ROWS)
        return cli_usage_error("more than %d rows: fewer values or chips", BOUND_ROWS);
    request->rows =
        calloc(combinations * chip_count * RIDGE_OPERATION_WORKS, sizeof(*request->rows));
    if (request->rows == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    for (chip = 0; chip < chip_count; chip++) {
        for (i = 0; i < combinations; i++) {
            double values[RIDGE_OPERATION_PARAMETERS];
            ridge_element element;
            int status;

            choose(request, i, values, &element);
            status = count_works(request, values, element, works, &request->work_count);
            if (status != CLI_DONE)
                return status;
            for (k = 0; k < request->work_count; k++) {
                struct bound_row *const row = &request->rows[request->row_count++];

                memcpy(row->values, values, sizeof(values));
                row->element = element;
                fill_row(request, chip, &works[k], row);
            }
        }
    }
    return CLI_DONE;
}
