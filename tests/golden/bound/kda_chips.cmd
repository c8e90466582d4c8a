ridge bound kda_forward tokens=8192 heads=16 --gpu h20,h200
