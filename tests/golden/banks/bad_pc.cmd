ridge banks --from-report x --pc conflict
