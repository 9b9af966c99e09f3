#!/usr/bin/env python3
"""Runs planned launches on a device, plainly and under the tools of compute-sanitizer.

    corpus/sanitizer/run.py PLAN OUT [--runner BINARY] [--sanitizer BINARY] [--jobs N] [--seconds N] [--passes A,B,...]

PLAN is the folder that plan.py has written. A pass is a tool and the optimization level of the driver's PTX compiler:
`plain-4`, `racecheck-0`. OUT/results.tsv gets a line for each launch and pass: ID, pass, outcome (`ends`, `hang`, `error`,
...), detail, and the messages of the tool, joined by ` | `. OUT/logs.tar.xz has the logs. The launches are run in batches,
a process each; a launch that hangs or destroys its context ends the process, and the rest of the batch gets a new one. Only
processes that this script started are ended. Uses only the standard library.
"""

import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

PASSES = "plain-4,plain-0,racecheck-0,synccheck-0,racecheck-4,synccheck-4,memcheck-0,initcheck-0"
TOOLS = {
    "racecheck": ["--racecheck-detect-level", "info", "--print-level", "info", "--racecheck-deadlock-timeout", "2000"],
    "synccheck": [],
    "memcheck": ["--report-api-errors", "no"],
    "initcheck": [],
}
BATCH = 24
PORTS = 49152
KERNEL = re.compile(r"\b(k\d{4})_\w+")
HEAD = re.compile(r"^========= (?!    )(\S.*)$")


class Supervisor:
    """Runs batches, several at a time, until a deadline."""

    def __init__(self, options, out):
        self.options, self.out = options, out
        self.lock, self.lanes = threading.Lock(), list(range(options.jobs))
        self.deadline = time.monotonic() + options.seconds
        self.results = (out / "results.tsv").open("a")

    def batch(self, name, ids, limit):
        """Runs launches in a pass, with as many processes as that needs."""
        failures = 0
        while ids and time.monotonic() < self.deadline:
            with self.lock:
                lane = self.lanes.pop()
            try:
                ends, messages = self.process(name, ids, limit, lane)
            finally:
                with self.lock:
                    self.lanes.append(lane)
            with self.lock:
                for number, (outcome, detail) in ends.items():
                    text = " | ".join(messages.get(number, []))
                    self.results.write(f"{number}\t{name}\t{outcome}\t{detail}\t{text}\n")
                self.results.flush()
            failures = 0 if ends else failures + 1
            ids = [i for i in ids if i not in ends]
            if failures == 2:
                with self.lock:
                    self.results.write(f"{ids[0]}\t{name}\tunstarted\t\t\n")
                ids, failures = ids[1:], 0

    def process(self, name, ids, limit, lane):
        """Runs one process. Returns how its launches ended, and what the tool said of each."""
        tool, level = name.split("-")
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.options.scratch))
        cases = folder / "cases"
        cases.write_text("".join((self.options.plan / "cases" / i).read_text() for i in ids))
        log, own = folder / "log", folder / "results"
        command = [self.options.runner, str(cases), str(own), str(limit), level]
        if tool in TOOLS:
            command = [self.options.sanitizer, "--tool", tool, *TOOLS[tool], "--target-processes", "application-only",
                       "--print-limit", "0", "--show-backtrace", "device", "--destroy-on-device-error", "kernel",
                       "--port", str(PORTS + 20 * lane), "--log-file", str(log)] + command
        most = min(45 + 2.0 * len(ids), max(self.deadline - time.monotonic(), 1))
        with (folder / "output").open("wb") as output:
            child = subprocess.Popen(command, cwd=self.options.plan, stdout=output, stderr=output, start_new_session=True)
            end_at = time.monotonic() + most
            hung_at = None
            while child.poll() is None and time.monotonic() < end_at:
                time.sleep(0.05)
                if hung_at is None and own.exists() and "\thang\t" in own.read_text():
                    hung_at = time.monotonic()
                    end_at = min(end_at, hung_at + 6)
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        return ends_of(own), messages_of(log)


def ends_of(path):
    """Returns the outcome of each launch; one that was begun and not ended has ended its process."""
    ends = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        parts = line.split("\t")
        if parts[0] == "begin":
            ends[parts[1]] = ("lost", "the process ended")
        elif len(parts) > 3:
            ends[parts[1]] = (parts[2], parts[3])
    return ends


def messages_of(path):
    """Returns the first lines of a tool's messages by the number of the kernel that they name, each with its count."""
    found = collections.defaultdict(collections.Counter)
    blocks, text = [], path.read_text(errors="replace") if path.exists() else ""
    for line in text.splitlines():
        if HEAD.match(line):
            blocks.append([line[10:].strip()])
        elif blocks:
            blocks[-1].append(line[10:].strip())
    for block in blocks:
        kernel = KERNEL.search("\n".join(block))
        if kernel:
            head = re.sub(r"\bk\d{4}_\w+", "", block[0])
            head = re.sub(r"0x[0-9a-f]+|\(\d+,\s*\d+,\s*\d+\)", "#", head)
            detail = " ".join(b for b in block[1:3] if "access" in b)
            detail = re.sub(r"\bk\d{4}_\w+|\(\d+,\s*\d+,\s*\d+\)", "", detail)
            found[kernel.group(1)][(head + " " + detail).replace("\t", " ")[:300]] += 1
    return {number: [f"{n}x {m}" for m, n in own.most_common(6)] for number, own in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runner", default="./runner")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=330)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--passes", default=PASSES)
    parser.add_argument("--only", default="", help="file with the IDs to run")
    options = parser.parse_args()
    options.runner = str(pathlib.Path(options.runner).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    options.scratch = tempfile.mkdtemp(prefix="weft-sanitizer-")
    ids = sorted(p.name for p in (options.plan / "cases").iterdir())
    if options.only:
        wanted = set(pathlib.Path(options.only).read_text().split())
        ids = [i for i in ids if i in wanted]
    supervisor = Supervisor(options, options.out)
    # Every n-th launch in one batch: neighbours are alike, and those that hang are spread.
    count = -(-len(ids) // BATCH)
    batches = [ids[i::count] for i in range(count)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for name in options.passes.split(","):
            start = time.monotonic()
            limit = options.limit if name.startswith("plain") else options.limit + 7
            list(pool.map(lambda own, name=name, limit=limit: supervisor.batch(name, own, limit), batches))
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    with tarfile.open(options.out / "logs.tar.xz", "w:xz", preset=1) as archive:
        archive.add(options.scratch, "logs")


if __name__ == "__main__":
    main()
