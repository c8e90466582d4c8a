ridge record --cupti /no/such/libcupti.so -- true
