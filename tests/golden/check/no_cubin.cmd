cp ../../examples/mistake/right.json ../../examples/mistake/mistake.cu "$TMPDIR" && cd "$TMPDIR" && ridge check right.json --device cpu
