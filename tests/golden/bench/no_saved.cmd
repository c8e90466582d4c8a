ridge bench probe:copy --compare nowhere.json
