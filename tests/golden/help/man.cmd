ridge help --man source | sed "1s/ridge [0-9.]*/ridge N/"
