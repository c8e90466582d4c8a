ridge bench probe:copy --sweep bytes=1:8
