ridge help bound model | head -3; ridge help bound nodel; ridge help a b c
