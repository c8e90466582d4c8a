/* SPDX-License-Identifier: Apache-2.0 */
#include "model_support.h"

/* -- which layers are what --------------------------------------------------------------------- */

static struct pattern {
    const char *name, *json;
    int64_t sliding, global;
} patterns[] = {
    {"gemma3: five of six",
     "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 13, \"sliding_window\": 512}", 11,
     2},
    {"gemma3: as said",
     "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 12, \"sliding_window_pattern\": 4}",
     9, 3},
    {"gemma2: every other, an odd one",
     "{\"model_type\": \"gemma2\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 4, \"vocab_size\": 64}",
     3, 2},
    {"layer_types decides",
     "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 3, \"layer_types\":"
     " [\"full_attention\", \"sliding_attention\", \"full_attention\"]}",
     1, 2},
    {"mistral: null is none",
     "{\"model_type\": \"mistral\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 8, \"vocab_size\": 64,"
     " \"sliding_window\": null}",
     0, 5},
    {"mistral: left out is 4096",
     "{\"model_type\": \"mistral\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 8, \"vocab_size\": 64}",
     5, 0},
    {"qwen2: from max_window_layers on",
     "{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
     " \"vocab_size\": 64, \"use_sliding_window\": true, \"sliding_window\": 32,"
     " \"max_window_layers\": 4}",
     1, 4},
};

static void divides_layers(void **state)
{
    const struct pattern *const pattern = *state;
    struct run run = run_of(parsed(pattern->json));
    int64_t sliding = 0;
    int64_t global = 0;
    size_t i;

    run.step.context = 1 << 20;
    take_step(&run);
    for (i = 0; i < run.count; i++) {
        if (strcmp(run.works[i].work.name, "attention") != 0)
            continue;
        /* Beyond a window nothing is read: 1024 keys suffice to tell from a million. */
        if (run.works[i].work.cache_bytes / run.facts.cache_bytes_per_token < (1 << 20) / 64.0)
            sliding += run.works[i].layers;
        else
            global += run.works[i].layers;
    }
    assert_int_equal(sliding, pattern->sliding);
    assert_int_equal(global, pattern->global);
    ridge_model_free(run.model);
}

/* -- types ------------------------------------------------------------------------------------- */

static struct quantized {
    const char *name, *json;
    ridge_element weights;
    bool is_known;
} quantized[] = {
    {"awq", "{\"quant_method\": \"awq\", \"bits\": 4}", RIDGE_ELEMENT_INT4, true},
    {"gptq of 8 bits", "{\"quant_method\": \"gptq\", \"bits\": 8}", RIDGE_ELEMENT_INT8, true},
    {"gptq of 3 bits", "{\"quant_method\": \"gptq\", \"bits\": 3}", RIDGE_ELEMENT_F16, false},
    {"fp8", "{\"quant_method\": \"fp8\"}", RIDGE_ELEMENT_FP8, true},
    {"compressed-tensors",
     "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\":"
     " {\"weights\": {\"num_bits\": 8, \"type\": \"float\"}}}}",
     RIDGE_ELEMENT_FP8, true},
    {"something else", "{\"quant_method\": \"tiny\"}", RIDGE_ELEMENT_F16, false},
    {"no object", "7", RIDGE_ELEMENT_F16, true},
};

static void takes_published_types(void **state)
{
    const struct quantized *const row = *state;
    char json[600];
    struct run run;

    snprintf(json, sizeof(json),
             "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128,"
             " \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 100,"
             " \"torch_dtype\": \"float16\", \"quantization_config\": %s}",
             row->json);
    run = run_of(parsed(json));
    assert_int_equal(run.step.element, RIDGE_ELEMENT_F16);
    assert_int_equal(run.step.weights, row->weights);
    take_step(&run);
    assert_int_equal(run.facts.is_quantization_known, row->is_known);
    ridge_model_free(run.model);
}

/* -- what is refused --------------------------------------------------------------------------- */

#define LLAMA_BUT(members)                                                                         \
    "{\"model_type\": \"llama\", \"intermediate_size\": 128, \"vocab_size\": 100, " members "}"

static struct refused {
    const char *name, *json;
    ridge_status status;
    const char *message;
} refused[] = {
    {"empty", "{}", RIDGE_ERR_FORMAT, "model_type is missing"},
    {"no JSON", "hidden_size: 64", RIDGE_ERR_FORMAT, "not a JSON document"},
    {"a list", "[]", RIDGE_ERR_FORMAT, "is an array"},
    {"unknown family", "{\"model_type\": \"rwkv\"}", RIDGE_ERR_UNSUPPORTED,
     "model_type is \"rwkv\", known are llama, mistral, mixtral, qwen2,"},
    {"unknown family inside", "{\"model_type\": \"x\", \"text_config\": {\"model_type\": \"y\"}}",
     RIDGE_ERR_UNSUPPORTED, "model_type is \"y\""},
    {"model_type is a number", "{\"model_type\": 3}", RIDGE_ERR_FORMAT, "model_type is 3"},
    {"missing member", LLAMA_BUT("\"num_hidden_layers\": 2, \"num_attention_heads\": 4"),
     RIDGE_ERR_FORMAT, "hidden_size is missing, expected a whole number from 1 to 1048576"},
    {"negative", LLAMA_BUT("\"hidden_size\": -64"), RIDGE_ERR_FORMAT, "hidden_size is -64"},
    {"a width of 2^60", LLAMA_BUT("\"hidden_size\": 1152921504606846976"), RIDGE_ERR_FORMAT,
     "hidden_size is 1152921504606846976, expected a whole number from 1 to 1048576"},
    {"a text", LLAMA_BUT("\"hidden_size\": \"64\""), RIDGE_ERR_FORMAT, "hidden_size is \"64\""},
    {"no head",
     LLAMA_BUT("\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 0"),
     RIDGE_ERR_FORMAT, "num_attention_heads is 0, expected"},
    {"too many layers", LLAMA_BUT("\"hidden_size\": 64, \"num_hidden_layers\": 4097"),
     RIDGE_ERR_FORMAT, "num_hidden_layers is 4097"},
    {"more heads than width",
     LLAMA_BUT("\"hidden_size\": 2, \"num_hidden_layers\": 2, \"num_attention_heads\": 4"),
     RIDGE_ERR_FORMAT, "head_dim is missing"},
    {"heads without KV head",
     LLAMA_BUT("\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
               " \"num_key_value_heads\": 3"),
     RIDGE_ERR_FORMAT, "num_attention_heads is no multiple of num_key_value_heads"},
    {"layer_types too short",
     "{\"model_type\": \"gemma3_text\", \"layer_types\": [\"full_attention\"]}", RIDGE_ERR_FORMAT,
     "layer_types is not an array of as many names"},
    {"layer_types unknown",
     "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 1, \"layer_types\": [\"mamba\"]}",
     RIDGE_ERR_UNSUPPORTED, "layer_types has a kind that is not known"},
    {"more choices than experts",
     "{\"model_type\": \"mixtral\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 8, \"vocab_size\": 64,"
     " \"num_local_experts\": 2, \"num_experts_per_tok\": 4}",
     RIDGE_ERR_FORMAT, "num_experts_per_tok is 4, more than num_local_experts, which is 2"},
    {"a layer twice",
     "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 64, \"intermediate_size\": 64,"
     " \"num_hidden_layers\": 5, \"num_attention_heads\": 8, \"vocab_size\": 64,"
     " \"num_experts\": 2, \"num_experts_per_tok\": 1, \"moe_intermediate_size\": 8,"
     " \"mlp_only_layers\": [1, 1]}",
     RIDGE_ERR_FORMAT, "names one that the model does not have, or one twice"},
};

static void refuses(void **state)
{
    const struct refused *const row = *state;
    ridge_model *model;
    ridge_error err;

    assert_int_equal(ridge_model_read(row->json, strlen(row->json), &model, &err), row->status);
    assert_null(model);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("%s", err.text);
}

#define KIMI_BUT(members)                                                                          \
    "{\"model_type\": \"kimi_linear\", \"hidden_size\": 64, \"intermediate_size\": 64,"            \
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"vocab_size\": 64,"                   \
    " \"kv_lora_rank\": 8, \"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, \"v_head_dim\": 8,"   \
    " \"num_experts\": 2, \"num_experts_per_token\": 1, \"moe_intermediate_size\": 8, " members    \
    "}"

static struct refused refused_kimi[] = {
    {"kimi: no linear attention", KIMI_BUT("\"x\": 1"), RIDGE_ERR_FORMAT,
     "linear_attn_config is missing"},
    {"kimi: a layer is neither",
     KIMI_BUT("\"linear_attn_config\": {\"num_heads\": 2, \"head_dim\": 8, \"kda_layers\": [1],"
              " \"full_attn_layers\": []}"),
     RIDGE_ERR_FORMAT, "do not name every layer once"},
    {"kimi: a layer is both",
     KIMI_BUT("\"linear_attn_config\": {\"num_heads\": 2, \"head_dim\": 8, \"kda_layers\": [1, 2],"
              " \"full_attn_layers\": [2]}"),
     RIDGE_ERR_FORMAT, "or one twice"},
    {"kimi: layers count from 1",
     KIMI_BUT("\"linear_attn_config\": {\"num_heads\": 2, \"head_dim\": 8, \"kda_layers\": [0, 1],"
              " \"full_attn_layers\": []}"),
     RIDGE_ERR_FORMAT, "that the model does not have"},
    {"kimi: its successor",
     KIMI_BUT("\"attn_res_block_size\": 4, \"linear_attn_config\": {\"num_heads\": 2,"
              " \"head_dim\": 8, \"kda_layers\": [1, 2], \"full_attn_layers\": []}"),
     RIDGE_ERR_UNSUPPORTED, "attn_res_block_size"},
};

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, divides_layers, patterns);
    CASES_ADD_ROWS(&list, takes_published_types, quantized);
    CASES_ADD_ROWS(&list, refuses, refused);
    CASES_ADD_ROWS(&list, refuses, refused_kimi);
    return cases_run(&list, "model_config");
}
