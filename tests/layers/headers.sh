#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh LANGUAGE INCLUDE_DIR [COMPILER]: each public header compiles alone, and twice, as C17
# (c) or C++17 (c++). Without a C++ compiler exits 77, which CTest shows as skipped.
set -eu
language=$1
include=$2
compiler=${3:-}

if [ "$language" = c++ ] && [ -z "$compiler" ]; then
    for compiler in "${CXX:-}" c++ g++ clang++ ''; do
        [ -n "$compiler" ] && command -v "${compiler%% *}" >/dev/null 2>&1 && break
    done
    [ -n "$compiler" ] || { echo 'skipped: no C++ compiler' && exit 77; }
fi

status=0 count=0
cd "$include"
for header in ridge/*.h ridge/kernels/*.h; do
    [ -f "$header" ] || continue
    count=$((count + 1))
    # shellcheck disable=SC2086 # a compiler may come with options
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
        $compiler -x "$language" "-std=${language}17" -Wall -Wextra -Wpedantic -Wshadow -Wundef \
            -Werror -fsyntax-only -I . - || { echo "$header does not compile alone" && status=1; }
done
[ $count -gt 0 ] || { echo "no header in $include/ridge" && exit 1; }
[ $status -ne 0 ] || echo "$count headers compile alone as ${language}17 with $compiler"
exit $status
