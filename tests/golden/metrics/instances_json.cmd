ridge metrics --instances --json ../fuzz/corpus/report/w10.ncu-rep 'launch__occupancy_limit_*'
