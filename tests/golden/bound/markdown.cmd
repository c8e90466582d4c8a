ridge bound silu_and_mul rows=1,8192 columns=14336 --gpu h200 --markdown
