ridge inspect binary/tiny.ptx
