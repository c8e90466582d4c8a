#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layers.sh ROOT: who includes whom, one way only. Prints each violation as `file:line: why` and
# then fails. The ladder stands in CONTRIBUTING.md; the tables below are its one statement in code.
set -eu
[ $# -eq 1 ] || { echo 'usage: layers.sh ROOT' >&2; exit 2; }
cd "$1"

{
    for folder in src kernels include examples bindings; do
        [ ! -d $folder ] || find $folder -type f -name '*.[ch]'
    done
} | LC_ALL=C sort | awk '
    BEGIN {
        # A folder and what it may use, base and itself aside.
        may["base"] = ""
        may["hardware"] = ""
        may["binary"] = "hardware"
        may["report"] = "binary"
        may["banks"] = "hardware"
        may["bound"] = "hardware"
        may["diagnose"] = "report hardware banks binary bound"
        may["timeline"] = "hardware bound"
        may["device"] = "hardware bound"
        may["check"] = "device hardware"
        may["bench"] = "device hardware bound check"
        may["arm"] = "device hardware binary bound"
        may["session"] = "device hardware bound check bench arm"
        may["ledger"] = ""
        may["collect"] = "binary"
        may["kernels"] = "hardware bound device" # by public headers

        # A public header and the folder that implements it.
        owner["status.h"] = "base"
        owner["table.h"] = "base"
        owner["dtype.h"] = "base"
        owner["regex_guard.h"] = "base"
        owner["hardware.h"] = "hardware"
        owner["occupancy.h"] = "hardware"
        owner["binary.h"] = "binary"
        owner["report.h"] = "report"
        owner["profile.h"] = "report"
        owner["redact.h"] = "report"
        owner["meaning.h"] = "report"
        owner["banks.h"] = "banks"
        owner["image.h"] = "binary"
        owner["mix.h"] = "binary"
        owner["names.h"] = "binary"
        owner["resources.h"] = "binary"
        owner["bound.h"] = "bound"
        owner["model.h"] = "bound"
        owner["roofline.h"] = "bound"
        owner["measured.h"] = "diagnose"
        owner["diagnose.h"] = "diagnose"
        owner["diff.h"] = "diagnose"
        owner["timeline.h"] = "timeline"
        owner["trace.h"] = "timeline"
        owner["trace_redact.h"] = "timeline"
        owner["trace_sums.h"] = "timeline"
        owner["family.h"] = "device"
        owner["device.h"] = "device"
        owner["check.h"] = "check"
        owner["bench.h"] = "bench"
        owner["arm.h"] = "arm"
        owner["session.h"] = "session"
        owner["ledger.h"] = "ledger"
        owner["collect.h"] = "collect"

        for (folder in may) {
            count = split("base " folder " " may[folder], used, " ")
            for (i = 1; i <= count; i++)
                allowed[folder, used[i]] = 1
        }
    }

    { check_file($0) }

    END {
        if (violations)
            printf "%d violation(s) in %d files\n", violations, NR
        else
            printf "%d files, %d includes, no violation\n", NR, includes
        exit (violations > 0)
    }

    function complain(why) {
        printf "%s:%d: %s\n", path, line_number, why
        violations++
    }

    function check_file(file,    part, text) {
        path = file
        line_number = 1
        split(path, part, "/")
        name = path
        sub(/.*\//, "", name)
        if (part[1] == "src" || part[1] == "kernels") {
            folder = part[1] == "kernels" ? "kernels" : part[2]
            if (folder != "cli" && !(folder in may))
                complain("folder " folder " has no row in the table of folders")
            if (name in seen)
                complain("the name " name " is also that of " seen[name])
            seen[name] = path
        } else if (part[1] == "include") {
            folder = public_owner(substr(path, length("include/ridge/") + 1))
        }

        line_number = 0
        while ((getline text < path) > 0) {
            line_number++
            if (text ~ /^[ \t]*#[ \t]*include[ \t]*[<"]/)
                check_include(part[1], text)
        }
        close(path)
    }

    function public_owner(header) {
        if (header ~ /^kernels\//)
            return "kernels"
        if (header in owner)
            return owner[header]
        complain("ridge/" header " has no row in the table of public headers")
        return ""
    }

    # top: the first folder of the file: src, kernels, include, examples or bindings.
    function check_include(top, text,    is_system, header, target, part) {
        includes++
        is_system = text ~ /include[ \t]*</
        header = text
        sub(/^[^<"]*[<"]/, "", header)
        sub(/[>"].*/, "", header)

        if (header ~ /^(cuda|cupti|nv)[A-Za-z_]*\.h/ && top != "examples")
            complain(header ": CUDA headers are for .cu and .cuh files")
        else if (header ~ /(^|\/)\.\.?\//)
            complain(header ": paths start at include/ or src/")
        else if (header ~ /^ridge\//)
            check_public(top, header)
        else if (is_system)
            return
        else if (top == "bindings" && header ~ /^ridge_python[.]h$/)
            return # its own
        else if (top == "kernels" && (header !~ /\// || header ~ /^common\//))
            return # a neighbour, or what all families share
        else if (top != "src")
            complain(header ": only public headers here")
        else if (header ~ /\//) {
            split(header, part, "/")
            check_private(header, part[1])
        }
        # What is left, "name.h", is a neighbour in the same folder.
    }

    function check_public(top, header,    target) {
        target = public_owner(substr(header, length("ridge/") + 1))
        if (top == "examples" || top == "bindings" || folder == "cli" || target == "" || folder == "")
            return
        if (!((folder, target) in allowed))
            complain(header ": " folder " may not use " target)
    }

    function check_private(header, target) {
        if (target == folder)
            return
        if (folder == "cli")
            complain(header ": cli uses public headers only")
        else if (header ~ /_internal\.h$/)
            complain(header ": private to " target)
        else if (!((folder, target) in allowed))
            complain(header ": " folder " may not use " target)
    }
'
