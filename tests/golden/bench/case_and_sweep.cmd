ridge bench probe:copy --device cpu --case bytes=64Ki --sweep bytes=1Mi
