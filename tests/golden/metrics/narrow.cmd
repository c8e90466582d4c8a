COLUMNS=80 ridge metrics ../../examples/reports/transpose_conflict.ncu-rep '*internal_activity.*'
