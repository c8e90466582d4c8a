ridge inspect --functions binary/tiny_rdc.o.gz
