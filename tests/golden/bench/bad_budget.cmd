ridge bench probe:copy --budget 0
