ridge banks --solve --gpu h200 --threads 256 --smem-other 40KiB --top 4 64x128:bf16:136 ldmatrix.x4 st.4 mma-c
