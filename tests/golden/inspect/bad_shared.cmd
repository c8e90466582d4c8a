ridge inspect --occupancy 256,many binary/sample_90.cubin.gz
