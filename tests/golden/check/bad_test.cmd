ridge check probe:copy --only guard
