t=$(mktemp -d) && ridge redact ../fuzz/corpus/report/packed_zstd.ncu-rep "$t/out" >"$t/said" && head -c 3 "$t/out" && ridge kernels --csv "$t/out"; rm -r "$t"
