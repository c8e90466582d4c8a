(cat ../fuzz/corpus/report/w02.ncu-rep && printf '\0\0\0\0') >damaged.ncu-rep; ridge kernels -k zzz damaged.ncu-rep; status=$?; rm damaged.ncu-rep; exit $status
