ridge compare --without roof,idel probe:copy probe:read
