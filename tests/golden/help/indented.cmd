ridge help record | sed -n '/^    ridge record -o/,/^$/p'
