ridge check probe:copy --device cpu --case bytes=4096 --ledger .
