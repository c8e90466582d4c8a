ridge inspect --arch sm_75 binary/tiny_default.fatbin.gz; ridge inspect --arch sm_75 -k scale binary/tiny_default.fatbin.gz; ridge inspect -k nothing binary/tiny_default.fatbin.gz
