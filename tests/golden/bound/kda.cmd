ridge bound kda_backward tokens=8192 heads=96 --gpu h20
