ridge help compare | sed -n '/^ *verdict/,/^$/p'
