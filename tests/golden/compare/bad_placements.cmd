ridge compare probe:copy probe:read --placements 1
