ridge check probe:copy --case q=3 --device cpu
