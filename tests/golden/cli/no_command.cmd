ridge
