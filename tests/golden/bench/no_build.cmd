RIDGE_LEDGER=nowhere ridge bench build:3f21
