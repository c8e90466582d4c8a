ridge kernels "$(printf 'a\033[31mb\nc')"
