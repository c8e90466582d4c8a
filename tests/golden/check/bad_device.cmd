ridge check probe:copy --device tpu
