ridge bound copy elements=1Gi --gpu-file chips/h20_lab.json --measured bound/h20.json
