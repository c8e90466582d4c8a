ridge compare probe:copy probe:read --delta 1e-30
