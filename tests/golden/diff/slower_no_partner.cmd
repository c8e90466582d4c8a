ridge diff --fail-slower 5 repeated_launches.csv ../fuzz/corpus/report/w02.ncu-rep >/dev/null
