/* SPDX-License-Identifier: Apache-2.0
 *
 * A model's config.json: what is read gives finite work for a prefill, for decode and on several
 * GPUs, or a refusal. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "ridge/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void take(ridge_model *model, const ridge_model_step *step)
{
    const ridge_model_work *works;
    ridge_model_facts facts;
    size_t count;

    if (ridge_model_works(model, step, &works, &count, &facts, NULL) != RIDGE_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const ridge_work *const work = &works[i].work;

        if (!isfinite(work->read_bytes + work->written_bytes + work->flop_count) ||
            !(work->weight_bytes <= work->read_bytes * 1.000001) ||
            !(works[i].between_bytes >= 0) || works[i].launches < 1)
            abort();
    }
    if (!isfinite(facts.parameter_count) || !isfinite(facts.cache_bytes) ||
        !(facts.active_parameter_count <= facts.parameter_count))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    ridge_model *model = NULL;
    ridge_model_step step;

    if (ridge_model_read(data, size_bytes, &model, NULL) != RIDGE_OK)
        return 0;
    ridge_model_step_init(model, &step);
    step.tokens = 8192;
    take(model, &step);
    step.tokens = step.sequences = 16;
    step.context = 4096;
    step.weights = RIDGE_ELEMENT_INT4;
    step.cache = RIDGE_ELEMENT_FP8;
    take(model, &step);
    step.tensor_parallel = 2;
    take(model, &step);
    ridge_model_free(model);
    return 0;
}
