ridge help --man compare | sed -n '/^verdict/,/^.fi/p'
