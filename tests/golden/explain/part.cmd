ridge explain bank_conflict
