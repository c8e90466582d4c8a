ridge inspect --manifest scale binary/tiny.ptx
