ridge inspect --occupancy 512 --gpu h200 binary/tiny_default.fatbin.gz
