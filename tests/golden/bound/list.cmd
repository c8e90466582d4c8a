ridge bound
