ridge help --man record | sed -n '/^ridge record .-o/,/^.RE/p' | head -6
