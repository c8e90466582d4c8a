ridge completion zsh
