ridge compare --without everything probe:copy probe:read
