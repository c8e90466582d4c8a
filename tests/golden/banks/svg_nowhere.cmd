ridge banks 64x128:bf16:136 ld.2 token-strided --svg /dev/null/x
