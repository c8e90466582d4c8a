ridge completion bash
