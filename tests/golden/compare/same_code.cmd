ridge compare probe:copy probe:copy --device cpu --sweep bytes=64Ki | sed "s/cold .*/cold/"
