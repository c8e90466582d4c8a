cd "$TMPDIR" && mkdir -p ridge.ledger && ridge check probe:copy --device cpu --case bytes=4096; code=$?; rmdir ridge.ledger; exit $code
