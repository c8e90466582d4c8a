ridge inspect --occupancy bound binary/tiny_default.fatbin.gz
