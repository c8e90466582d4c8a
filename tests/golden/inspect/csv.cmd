ridge inspect --csv binary/libtiny.so.gz
