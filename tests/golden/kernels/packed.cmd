ridge kernels ../fuzz/corpus/report/packed_zstd.ncu-rep && ridge kernels ../fuzz/corpus/report/packed_gzip.ncu-rep
