ridge compare --null probe:copy probe:read
