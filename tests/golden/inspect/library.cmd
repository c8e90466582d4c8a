ridge inspect binary/libtiny.so.gz
