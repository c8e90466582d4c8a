cat timeline/decode.json | ridge timeline -
