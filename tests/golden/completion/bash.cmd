ridge completion bash | sed 's/memory_bandwidth [a-z0-9_ ]* missing_data/IDS/'
