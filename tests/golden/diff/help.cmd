ridge diff --help
