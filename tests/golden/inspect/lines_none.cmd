ridge inspect --lines -k sum --arch 90a binary/tiny_default.fatbin.gz
