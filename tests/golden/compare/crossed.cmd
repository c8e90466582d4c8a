ridge compare probe:copy probe:read --device cpu --budget 999999
