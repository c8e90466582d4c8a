ridge bound gem m=1
