/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of models share: a config opened, a step taken, a kernel found. */
#ifndef RIDGE_TESTS_MODEL_SUPPORT_H
#define RIDGE_TESTS_MODEL_SUPPORT_H

#include "bound_support.h"
#include "ridge/model.h"

#define MODELS RIDGE_SOURCE_DIR "/tests/data/models/"

static inline ridge_model *opened(const char *file)
{
    char path[512];
    ridge_model *model;
    ridge_error err = {0};

    snprintf(path, sizeof(path), "%s%s.json", MODELS, file);
    if (ridge_model_open(path, &model, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return model;
}

static inline ridge_model *parsed(const char *text)
{
    ridge_model *model;
    ridge_error err = {0};

    if (ridge_model_read(text, strlen(text), &model, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return model;
}

/* A model, a step and what came of it; begins as ridge_model_step_init() says. */
struct run {
    ridge_model *model;
    ridge_model_step step;
    const ridge_model_work *works;
    size_t count;
    ridge_model_facts facts;
};

static inline struct run run_of(ridge_model *model)
{
    struct run run = {.model = model};

    ridge_model_step_init(model, &run.step);
    return run;
}

static inline void take_step(struct run *run)
{
    ridge_error err = {0};

    if (ridge_model_works(run->model, &run->step, &run->works, &run->count, &run->facts, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
}

static inline const ridge_model_work *row_named(const struct run *run, const char *layer,
                                                const char *name)
{
    size_t i;

    for (i = 0; i < run->count; i++)
        if (strcmp(run->works[i].work.name, name) == 0 && strcmp(run->works[i].layer, layer) == 0)
            return &run->works[i];
    fail_msg("no kernel %s of %s", name, layer);
    return NULL;
}

#endif
