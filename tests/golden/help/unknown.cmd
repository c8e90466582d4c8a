ridge help nonsense
