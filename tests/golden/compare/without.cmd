ridge compare probe:copy probe:copy --device cpu --sweep bytes=64Ki --without roof,idle | head -1
