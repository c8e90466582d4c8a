ridge check probe:copy --full --case bytes=64
