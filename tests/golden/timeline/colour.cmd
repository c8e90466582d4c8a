ridge timeline --color always timeline/decode.json | head -3
