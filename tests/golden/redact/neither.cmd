ridge redact timeline/bounds.txt "$TMPDIR/out"
