ridge banks --solve 16x128:bf16 st.16 quarter-rows ldmatrix.x4 ldmatrix.x4.trans ldmatrix-b
