ridge metrics ../../examples/reports/transpose_conflict.ncu-rep 'gpu__compute_memory_request_throughput_internal_activity*'
