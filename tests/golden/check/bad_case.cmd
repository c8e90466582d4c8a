ridge check probe:copy --case m --device cpu
