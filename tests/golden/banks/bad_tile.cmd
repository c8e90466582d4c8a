ridge banks 64x128:bf17
