ridge inspect --sass --json -k pair --arch 90a binary/tiny_default.fatbin.gz
