ridge bound attention queries=1 heads=6 kv_heads=4 head_dim=128
