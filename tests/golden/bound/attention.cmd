ridge bound attention queries=1 keys=4096 batch=64 heads=32 kv_heads=8 head_dim=128 --gpu h200
