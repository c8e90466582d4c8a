ridge inspect --diff --json -k scale --arch sm_80 binary/tiny_default.fatbin.gz binary/tiny_debug.fatbin.gz
