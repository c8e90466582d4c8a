ridge bench probe:copy --compare x.json --threshold fast
