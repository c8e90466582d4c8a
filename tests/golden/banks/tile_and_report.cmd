ridge banks --from-report x 64x128:bf16
