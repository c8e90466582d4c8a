ridge completion zsh | sed 's/memory_bandwidth [a-z0-9_ ]* missing_data/IDS/'
