ridge bound kda_backward/A tokens=8192 heads=96 --gpu h20
