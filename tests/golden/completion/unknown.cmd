ridge completion fish
