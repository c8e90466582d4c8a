ridge kernels units.tsv
