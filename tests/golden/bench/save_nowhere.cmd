ridge bench probe:copy --device cpu --save nowhere/times.json
