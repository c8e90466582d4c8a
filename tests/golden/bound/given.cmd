ridge bound --bytes 1.5GB --flop 2e12 --bandwidth 2.0TB/s --peak 312TFLOP/s
