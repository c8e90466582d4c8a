ridge help >/dev/null; : >"$TMPDIR/nothing"; cd "$TMPDIR" && ridge redact nothing out
