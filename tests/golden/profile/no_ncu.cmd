RIDGE_NCU=/no/such/ncu ridge profile -- true
