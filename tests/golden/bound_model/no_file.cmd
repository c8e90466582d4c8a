ridge bound model --gpu h200
