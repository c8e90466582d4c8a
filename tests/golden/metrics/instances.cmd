ridge metrics --instances ../fuzz/corpus/report/w10.ncu-rep 'sass__inst_executed_per_opcode'
