ridge inspect --baseline no_such.json binary/sample_90.cubin.gz
