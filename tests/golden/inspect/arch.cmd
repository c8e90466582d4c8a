ridge inspect --arch sm_90 binary/tiny_default.fatbin.gz
