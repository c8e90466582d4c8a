RIDGE_LEDGER=. ridge check probe:copy --device cpu --case nowhere=1
