#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# manual.sh RIDGE: every command has a manual page that lists the options of its table, spelled as
# --help spells them, and no other.
set -eu

ridge=$1
manual=$(dirname "$0")/../../docs/manual
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# The commands as ridge help lists them: indented by two, in groups.
"$ridge" help | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p' >"$work/commands"
[ -s "$work/commands" ] || { echo 'no command found in ridge help' && exit 1; }
# A command in a command has a page with '-' for the space.
echo 'bound model' >>"$work/commands"
while read -r command; do
    name=$(echo "$command" | tr ' ' '-')
    page=$manual/$name.md
    if [ ! -f "$page" ]; then
        echo "$command: no page docs/manual/$name.md"
        failed=1
        continue
    fi
    # "  -k, --kernel REGEX   help" and "      --json   help"
    # shellcheck disable=SC2086 # the words of a command
    "$ridge" $command --help | sed -n 's/^  \(-., --.*\)$/\1/p; s/^      \(--.*\)$/\1/p' |
        sed 's/  .*//' | sort >"$work/table"
    # "- `-k, --kernel REGEX`: text" in the section Options
    # shellcheck disable=SC2016 # the quotes are Markdown's
    sed -n '/^## Options/,/^## [^O]/s/^- `\(-[^`]*\)`: .*/\1/p' "$page" | sort >"$work/page"
    if ! diff "$work/table" "$work/page" >"$work/diff"; then
        echo "$command: options of the table (<) and of docs/manual/$name.md (>) differ"
        cat "$work/diff"
        failed=1
    fi
    if ! "$ridge" help "$name" >"$work/text"; then
        echo "$command: ridge help $name fails"
        failed=1
    fi
    # Written by hand for people; 100 columns is the promise.
    if grep -n '.\{101\}' "$work/text"; then
        echo "$command: lines of the page are wider than 100 columns"
        failed=1
    fi
done <"$work/commands"
exit $failed
