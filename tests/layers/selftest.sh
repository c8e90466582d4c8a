#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A check that never fails checks nothing: fixture/ holds one planted violation of each rule beside
# what is allowed, and fixture/expected what layers.sh has to say about them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
found=$(sh "$here/layers.sh" "$here/fixture") && { echo 'layers.sh passed the fixture' && exit 1; }
printf '%s\n' "$found" | diff "$here/fixture/expected" - && echo 'every planted violation was found'
