ridge bench probe:copy --threshold 5%
