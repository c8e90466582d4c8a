# SPDX-License-Identifier: Apache-2.0
"""What the corpus tests share.

A test is one file: python3 NAME.py RIDGE FOLDER. RIDGE is the command, FOLDER is where unpacked
files are kept from run to run. The corpus itself is not in this tree: $RIDGE_SHARED/corpus, or
corpus in the folder `shared` beside the tree. Without it a test ends with 77, which CTest shows as
skipped.

The little reader at the end knows the container and the protobuf fields that tests ask a file
about; it shares no line with the one under test."""
import json
import os
import shutil
import struct
import subprocess
import sys

SKIPPED = 77
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("RIDGE_SHARED") or os.path.join(ROOT, "..", "shared")
SHARED = os.path.abspath(SHARED)
CORPUS = os.path.join(SHARED, "corpus")


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIPPED)


class Test:
    """Counts what was compared, and prints what is wrong."""

    def __init__(self):
        if len(sys.argv) != 3:
            sys.exit("usage: %s RIDGE FOLDER" % sys.argv[0])
        self.ridge_path, self.folder = map(os.path.abspath, sys.argv[1:])
        self.compared = 0
        self.wrong = 0
        if not os.path.isdir(CORPUS):
            skip("no folder %s (set RIDGE_SHARED)" % os.path.normpath(CORPUS))
        if shutil.which("xz") is None:
            skip("no program xz to unpack the corpus")

    def equal(self, what, found, expected):
        self.compared += 1
        if found == expected:
            return True
        self.fail("%s: found %r, expected %r" % (what, found, expected))
        return False

    def true(self, what, condition):
        self.compared += 1
        if not condition:
            self.fail(what)
        return bool(condition)

    def fail(self, text):
        self.wrong += 1
        if self.wrong <= 40:
            print("FAILED " + text)

    def finish(self):
        print("%d compared, %d wrong" % (self.compared, self.wrong))
        sys.exit(1 if self.wrong else 0)

    # -- files -------------------------------------------------------------------------------------

    def names(self, folder, suffix):
        """Names in a folder of the corpus, without the suffix and without .xz."""
        found = [name[:-3] if name.endswith(".xz") else name
                 for name in os.listdir(os.path.join(CORPUS, folder))]
        return sorted(name[:-len(suffix)] for name in found if name.endswith(suffix))

    def path(self, name):
        """The path of a file of the corpus, unpacked when it is packed."""
        plain = os.path.join(CORPUS, name)
        packed = plain + ".xz"
        unpacked = os.path.join(self.folder, name)
        if os.path.exists(plain):
            return plain
        if (os.path.exists(unpacked)
                and os.path.getmtime(unpacked) >= os.path.getmtime(packed)):
            return unpacked
        os.makedirs(os.path.dirname(unpacked), exist_ok=True)
        partial = "%s.%d" % (unpacked, os.getpid())  # other tests may unpack the same file
        with open(partial, "wb") as out:
            subprocess.run(["xz", "-dkc", packed], stdout=out, check=True)
        os.replace(partial, unpacked)
        return unpacked

    def report(self, name):
        return self.path("reports/%s.ncu-rep" % name)

    def lines(self, name):
        """Rows of a tab-separated table, without comments."""
        with open(self.path(name), encoding="utf-8") as table:
            return [line.rstrip("\n").split("\t") for line in table
                    if line.strip() and not line.startswith("#")]

    # -- the command -------------------------------------------------------------------------------

    def run(self, *arguments):
        environment = dict(os.environ, LC_ALL="C", TERM="dumb")
        environment.pop("COLUMNS", None)
        done = subprocess.run([self.ridge_path, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              check=False)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def text(self, *arguments):
        """What a command prints that must succeed and say nothing to stderr."""
        status, out, err = self.run(*arguments)
        self.true("%s: exit status %d, %r" % (" ".join(arguments), status, err),
                  status == 0 and err == "")
        return out.decode("utf-8")

    def json(self, *arguments):
        return json.loads(self.text(*arguments))


# -- an independent look into a report --------------------------------------------------------------

BLOCK_MESSAGES = (1, 2, 7, 8, 9)  # sources, results, ranges, command lists, graphs


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, wire type, value) of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            if wire == 2:
                size, at = varint(data, at)
            else:
                size = {1: 8, 5: 4}[wire]
            value, at = data[at:at + size], at + size
        yield key >> 3, wire, value


def read_blocks(data):
    """(end of the block, fields of its header, messages by field number) of a report."""
    at = 8 + struct.unpack_from("<I", data, 4)[0]
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        header = list(fields(data[at + 4:at + 4 + size]))
        at += 4 + size
        counts = {number: value for number, wire, value in header if wire == 0}
        end = at + counts.get(5, 0)
        messages = {number: [] for number in BLOCK_MESSAGES}
        for number in BLOCK_MESSAGES:
            for _ in range(counts.get(number, 0)):
                size = struct.unpack_from("<I", data, at)[0]
                messages[number].append(data[at + 4:at + 4 + size])
                at += 4 + size
        assert at == end
        yield end, header, messages


def metrics_without_aggregate(data):
    """For each kernel result the names of metrics whose message holds no value."""
    blocks = list(read_blocks(data))
    names = [text.decode() for _, header, _ in blocks for number, _, table in header if number == 4
             for _, _, text in fields(table)]
    results = []
    for _, _, messages in blocks:
        for result in messages[2]:
            metrics = (dict((n, v) for n, _, v in fields(value))
                       for number, _, value in fields(result) if number == 13)
            results.append({names[metric[1]] for metric in metrics if not metric.get(2)})
    return results
