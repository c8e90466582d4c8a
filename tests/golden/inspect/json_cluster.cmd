ridge inspect --json -k pair --arch sm_90 binary/tiny_default.fatbin.gz
