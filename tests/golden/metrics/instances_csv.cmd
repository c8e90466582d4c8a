ridge metrics --instances --csv ../fuzz/corpus/report/w10.ncu-rep smsp__pcsamp_sample_count
