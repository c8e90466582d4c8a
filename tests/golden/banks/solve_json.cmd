ridge banks --solve --json --top 1 64x64:bf16:65 cp.async.16 row
