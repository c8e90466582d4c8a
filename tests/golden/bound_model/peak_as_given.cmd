ridge bound model models/llama-3-8b.json --gpu h200 --peak 788TFLOP/s --bandwidth 4.3TB/s | head -5
