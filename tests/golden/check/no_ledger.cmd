ridge check probe:copy --device cpu --ledger nowhere/ridge.ledger
