# SPDX-License-Identifier: Apache-2.0
"""What `ridge timeline` prints about real traces fits a screen, adds up, and says nothing about the
people and machines that the traces name."""
import gzip
import json
import os
import re
import sqlite3
import xml.etree.ElementTree

import corpus

corpus.CORPUS = os.path.join(corpus.SHARED, "timeline_corpus")

COLUMNS, LINES = 100, 60
# Members of a Kineto trace that name somebody.
SECRET_KEYS = re.compile(r'"(host_?name|user_?name|user|job_?name|job_id|ip|node)"\s*:\s*"([^"]+)"',
                         re.IGNORECASE)
# Rows of an export, by name, that name a machine or a person.
SECRET_ROWS = re.compile(r"ENVIRONMENT_VARIABLE|HOST|USER|COMPUTER", re.IGNORECASE)
HARMLESS = re.compile(r"^[\d./:-]*$|^(true|false|yes|no|none|null|auto|always|never|linux|python\d?|"
                      r"x86_64|unknown|localhost|utf-8|c\.utf-8|noninteractive)$", re.IGNORECASE)


def secrets_of_database(path):
    found = set()
    database = sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)
    database.text_factory = lambda text: text.decode("latin-1")
    tables = {row[0] for row in database.execute("select name from sqlite_master")}
    for table in ("META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV", "META_DATA_EXPORT"):
        if table not in tables:
            continue
        columns = [row[1] for row in database.execute("pragma table_info(%s)" % table)]
        if "name" not in columns or "value" not in columns:
            continue
        for name, value in database.execute("select name, value from %s" % table):
            if not SECRET_ROWS.search(str(name)):
                continue
            value = str(value)
            found.add(value)
            if "ENVIRONMENT" in name and "=" in value:
                found.add(value.split("=", 1)[1])
    database.close()
    return found


def secrets_of_json(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return {match.group(2) for match in SECRET_KEYS.finditer(data.decode("utf-8", "replace"))}


class Screen(corpus.Test):
    def printed(self, path, *options):
        status, out, err = self.run("timeline", *options, path)
        what = "%s %s" % (os.path.basename(path), " ".join(options))
        self.true("%s: exit status %d" % (what, status), status in (0, 3))
        self.equal(what + ": lines on standard error", err.count("\n"), 1 if status == 3 else 0)
        return what, out.decode("utf-8")

    def screen(self, path):
        what, text = self.printed(path)
        lines = text.splitlines()
        self.true("%s: %d lines" % (what, len(lines)), len(lines) <= LINES)
        for line in lines:
            # A command to copy is not broken inside a word.
            command = line.startswith("    ") and max(map(len, line.split())) > 60
            self.true("%s: %d columns: %s" % (what, len(line), line),
                      len(line) <= COLUMNS or command)
            self.true("%s: ends with blanks: %s" % (what, line), line == line.rstrip())
        self.true(what + ": the answer", [line.split()[0] for line in lines if line[:1].strip()][:3]
                  == ["device", "verdict", "next"])
        return text

    def document(self, path):
        what, text = self.printed(path, "--json")
        document = json.loads(text)
        for device in document["devices"]:
            name = "%s device %d" % (what, device["device"])
            causes = sum(cause["total_ns"] for cause in device["causes"].values())
            self.equal(name + ": causes sum to the idle time", causes, device["idle_ns"])
            self.equal(name + ": the account", device["end_ns"] - device["start_ns"],
                       device["kernel_ns"] + device["copy_only_ns"] + device["idle_ns"])
        return text

    def picture(self, path):
        target = os.path.join(self.folder, "timeline.svg")
        status, _, err = self.run("timeline", "--svg", target, "--force", path)
        if not self.true("%s: --svg: %d %s" % (path, status, err), status in (0, 3)):
            return ""
        with open(target, encoding="utf-8") as file:
            text = file.read()
        xml.etree.ElementTree.fromstring(text)
        self.true("%s: a picture of %d bytes" % (path, len(text)), len(text) < 1000000)
        return text


def main():
    test = Screen()
    os.makedirs(test.folder, exist_ok=True)
    names = sorted({name[:-3] if name.endswith(".xz") else name
                    for name in os.listdir(corpus.CORPUS)} - {"truth.json"})
    secret_count = 0
    for name in names:
        path = test.path(name)
        texts = [test.screen(path), test.document(path)]
        if "NO-KERNELS" not in texts[0].splitlines()[1]:
            texts.append(test.picture(path))
        for report in ("cuda_api_sum", "gaps", "nvtx_sum", "streams"):
            texts.append(test.printed(path, "--csv", report)[1])
        is_database = name.endswith(".sqlite")
        found = secrets_of_database(path) if is_database else secrets_of_json(path)
        for secret in found:
            if len(secret) < 6 or HARMLESS.match(secret):
                continue
            secret_count += 1
            test.true("%s: prints a value of its environment, user or host: %r" % (name, secret),
                      not any(secret in text.replace(path, "").replace(name, "")
                              for text in texts))
    print("%d traces, %d values that must not be printed" % (len(names), secret_count))
    test.finish()


main()
