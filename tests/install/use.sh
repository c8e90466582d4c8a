#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# use.sh CMAKE BUILD COMPILER SANITIZERS: installs a build into an empty folder, moves it, and uses
# it: the command, its man pages and completions, the library through CMake and through pkg-config.
set -eu

cmake=$1 build=$2 compiler=$3 sanitizers=$4
here=$(CDPATH='' cd -P -- "$(dirname "$0")" && pwd)
data=$here/../data/repeated_launches.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install: $1" >&2
    exit 1
}

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2 && fail 'cmake --install failed'; }
mv "$work/first" "$work/moved"
root=$work/moved

"$root/bin/ridge" --version >/dev/null || fail 'the command does not run'
for file in "$root"/share/bash-completion/completions/ridge "$root"/share/zsh/site-functions/_ridge \
    "$root"/share/man/man1/ridge.1 "$root"/share/man/man1/ridge-kernels.1; do
    [ -s "$file" ] || fail "no ${file#"$root"/}"
done
if command -v man >/dev/null && man -M "$root/share/man" -w ridge-kernels >"$work/log" 2>&1; then
    grep -q 'ridge-kernels' "$work/log" || fail 'man finds another page'
fi

# It finds the library that it puts into programs; true uses no CUDA.
if [ -n "$(find "$root" -name libridge_collect.so)" ]; then
    : >"$work/libcupti.so.13"
    "$root/bin/ridge" record --cupti "$work/libcupti.so.13" -o "$work/true.sqlite" -- true \
        2>"$work/log" || true
    grep -q 'did not use CUDA' "$work/log" || { cat "$work/log" >&2 && fail 'ridge record'; }
fi

if ! "$cmake" -S "$here/program" -B "$work/program" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$root" >"$work/log" 2>&1 ||
    ! "$cmake" --build "$work/program" >>"$work/log" 2>&1; then
    cat "$work/log" >&2
    fail 'find_package(ridge) cannot be used'
fi
[ "$("$work/program/program" "$data")" = '8 kernels' ] || fail 'the program of CMake fails'

# pkg-config itself has no words for a folder with a quote in its name; a blank it knows.
case $root in
*[\'\"]*) has_quote=true ;;
*) has_quote=false ;;
esac
if ! $has_quote && command -v pkg-config >/dev/null; then
    pc=$(find "$root" -name ridge.pc)
    PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    export PKG_CONFIG_PATH
    eval "set -- $(pkg-config --cflags --libs ridge)" # paths are quoted for a shell
    "$compiler" ${sanitizers:+"-fsanitize=$sanitizers"} "$here/program/program.c" \
        -o "$work/by_pkg_config" "$@" ||
        fail 'pkg-config does not give what a program needs'
    [ "$("$work/by_pkg_config" "$data")" = '8 kernels' ] || fail 'the program of pkg-config fails'
fi
