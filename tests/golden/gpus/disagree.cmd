ridge gpus l40s
