#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# environment.sh: prints the names of variables that are set here and would change what a test sees:
# what ridge and its tests read themselves, how output is drawn, and what git is told by a hook.
# environment.cmake and the runners of golden cases unset them.
set -eu
# [A-Z] has no I in Turkish.
env | LC_ALL=C sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | while read -r name; do
    case $name in
    RIDGE_SHARED) ;;
    RIDGE | RIDGE_* | FAKE_* | GIT_* | CUDA_INJECTION64_PATH | CUDA_HOME | VIRTUAL_ENV | CDPATH | \
        SOURCE_DATE_EPOCH | COLUMNS | LINES | NO_COLOR | CLICOLOR_FORCE | TZ | LANG | LANGUAGE | \
        LC_* | POSIXLY_CORRECT | GREP_* | TAR_OPTIONS | GZIP | XZ_* | MAKEFLAGS | DESTDIR)
        echo "$name"
        ;;
    esac
done
