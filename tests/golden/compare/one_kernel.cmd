ridge compare probe:copy
