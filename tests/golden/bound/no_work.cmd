ridge bound --bytes 0 --gpu h200
