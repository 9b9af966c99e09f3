#!/usr/bin/env python3
"""Runs the original Weft and cargo-weft on the same kernels, in turn on one core, and prints a Markdown table.

    corpus/original.py PTX ORIGINAL [--weft BINARY] [--only REGEX] [--seconds N] [--runs N] [--core N]
                       [--kept FILE] [--earlier TSV]

The original is github.com/lightsighter/Weft, of PLDI 2015; ORIGINAL is its binary, built from its unchanged sources.
PTX is a folder of its own examples compiled with -lineinfo, examples/SUITE/NAME.cu to SUITE-NAME.ptx: by nvcc 13 for
sm_80, with a header that defines __shfl, __any and __all by their _sync variants with a full mask; except diff_kepler
of Heptane and PRF, which shuffle in half warps: by NVRTC 12 for compute_50, where shuffles have no mask. The original's
parser knows the PTX of 2015, so it reads a copy that is rewritten line by line (see `rewrite`); instructions are
unchanged except for the mask of shuffles. cargo-weft reads the compiler's output. Launches and flags are those of
examples/run_examples.sh; the original takes no arguments of kernels, and runs one CTA.

For each kernel the table has the processor seconds (user and system) and the peak memory of both tools, their factor,
the verdicts, and the numbers of dynamic barriers, which show whether both did the same work. Kernels with arguments are
checked by cargo-weft twice: with the values of these arguments, and with no values, as the original checks them. Figures are medians of
several runs; if the original takes long, its figures are of one run. The original checks shared memory only, cargo-weft
global memory too.

--seconds stops the original after this much processor time. --kept is a file of JSON lines that keeps its figures
between calls. --earlier is a table of earlier figures, separated by tabs (columns suite, name, cpu_s, rss_mb,
dynamic_barriers, verdict). They replace, marked with *, the figures of runs that were stopped; a stopped kernel without
earlier figures is left out. The exit status is 1 if the two tools count different numbers of barriers. Uses only the
standard library; needs Linux.
"""

import argparse
import csv
import functools
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
# Threads of a cta.
THREADS = {
    "saxpy": {"saxpy_single": 320, "saxpy_double": 384},
    "sgemv": {"vec_single": 160, "vec_double": 192, "vec_manual": 160,
              "both_single": 288, "both_double": 448, "both_manual": 416},
    "RTM": {"one_phase_single_buffer": 160, "one_phase_manual_buffer": 160, "two_phase_single_buffer": 160,
            "two_phase_manual_buffer": 160, "two_phase_quad_buffer": 160},
    "DME": {"diff_fermi": 320, "visc_fermi": 384, "chem_fermi": 512,
            "diff_kepler": 320, "visc_kepler": 480, "chem_kepler": 256},
    "Heptane": {"diff_fermi": 416, "visc_fermi": 416, "chem_fermi": 640,
                "diff_kepler": 416, "visc_kepler": 416, "chem_kepler": 512},
    "PRF": {"diff_fermi": 128, "visc_fermi": 1024, "diff_kepler": 928, "visc_kepler": 1024},
    "negatives": {"arrival": 64, "deadlock": 64, "different": 64, "over": 96},
}
# Arguments for cargo-weft, by position, for kernels whose name contains the word: strides of a grid of 32^3 points, and
# the sizes of a stencil. The original has no arguments: it does not take branches that depend on them.
ARGUMENTS = {
    "chem": {5: 0.0001, 6: 10000.0, 7: 1024, 8: 32, 9: 32, 10: 32768, 11: 0},
    "diff_": {4: 1024, 5: 32, 6: 32, 7: 32768},
    "visc": {3: 1024, 4: 32, 5: 32, 6: 32768},
    "phase": {4: 64, 5: 1024, 6: 64, 7: 256, 8: 256, 9: 0, 10: 0, 11: 8192, 12: 0},
}
# Changes to the PTX of today for a parser of 2015.
REWRITES = [
    # The parser looks for opcodes and colons in comments too.
    (re.compile(r"(?:^|(?<=\s))//.*$", re.M), ""),
    (re.compile(r"^\s*\.section\b.*?\{.*?^\s*\}", re.M | re.S), ""),
    # The parser does not know positions of inlining, nor files without time and size.
    (re.compile(r"^(\s*\.loc\s+\d+\s+\d+\s+\d+),.*$", re.M), r"\1"),
    # Shuffles had no mask of lanes.
    (re.compile(r"\bshfl\.sync(\.\w+\.b32\s+[^;]*),\s*(?:-1|%r\d+)\s*;"), r"shfl\1;"),
    (re.compile(r'^(\s*\.file\s+\d+\s+"[^"]*")[ \t]*$', re.M), r"\1, 0, 0"),
]
SHARED = re.compile(r"^\s*\.shared\s+\.align\s+\d+\s+\.b8\s+([\w$]+)\[", re.M)
# Exit statuses of the original for defective barriers.
ERRORS = {5: "arrival counts differ", 6: "too many participants", 7: "all arrive", 8: "deadlock"}
BARRIERS = re.compile(r"Dynamic Barrier Instances:\s+(\d+)")
# Runs a command and prints its exit status and the resources it used. This is a small process of its own, because the
# memory of a starting process counts as memory of the started one.
LAUNCHER = """
import os, resource, sys
seconds, command = int(sys.argv[1]), sys.argv[2:]
if seconds:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
silence = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=silence), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
"""
# Below these seconds, most of the time is that of starting a process: such kernels have no factor.
START = 0.01
# Below these seconds, the original too is run several times.
BRIEF = 3


def rewrite(text):
    """Rewrites PTX for the original, which recognizes shared variables by the prefix that nvcc gave them in 2015."""
    text = text.rstrip("\0\n") + "\n"
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    for position, name in enumerate(SHARED.findall(text)):
        text = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"__cuda_local_var_{position}", text)
    return text


def kernels(only):
    """Yields suites, names, threads, and whether the warps are assumed to run in lock step."""
    for suite, names in THREADS.items():
        for name, threads in names.items():
            if re.search(only, f"{suite} {name}"):
                yield suite, name, threads, name.endswith("fermi")


def measure(command, seconds=0):
    """Returns exit status, output, processor seconds and megabytes of a run; None if it exceeded the time."""
    command = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(seconds), *(str(part) for part in command)]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    status, used, kilobytes = done.stderr.split()
    if int(status) < 0 and seconds and float(used) >= seconds - 1:
        return None
    return int(status), done.stdout, float(used), int(kilobytes) / 1024


@functools.cache
def floor():
    """Returns the least megabytes that are measured for any process: those of the process that starts it."""
    return math.ceil(measure(["true"])[3])


def median(runs):
    """Returns the medians of seconds and megabytes."""
    seconds, megabytes = (statistics.median(run[side] for run in runs) for side in (2, 3))
    return {"seconds": seconds, "megabytes": megabytes}


def run_original(options, ptx, threads, lock_step):
    """Returns the original's figures on one kernel; None if it was stopped."""
    command = [options.original, "-t", 1, "-n", threads, *["-s"] * lock_step, ptx]
    first = measure(command, options.seconds)
    if first is None:
        return None
    status, text, seconds, _ = first
    if status not in (0, *ERRORS):
        raise SystemExit(f"{options.original} ends with {status} on {ptx.name}")
    again = options.runs - 1 if seconds < BRIEF else 0
    verdict = ERRORS.get(status) or ("race-free" if "No races detected" in text else "races")
    barriers = BARRIERS.search(text)
    return {**median([first, *(measure(command) for _ in range(again))]), "verdict": verdict,
            "barriers": barriers and int(barriers[1])}


def arguments(name):
    """Returns the arguments of a kernel that cargo-weft is given."""
    return next((numbers for word, numbers in ARGUMENTS.items() if word in name), {})


def run_weft(options, ptx, numbers, threads, lock_step):
    """Returns cargo-weft's figures on one kernel with these arguments."""
    command = [options.weft, "weft", "check", ptx, "--block", threads, "--grid", 1, "--message-format", "json",
               *["--warp-synchronous"] * lock_step, *[f"--arg={at}={number}" for at, number in numbers.items()]]
    runs = [measure(command) for _ in range(options.runs)]
    lines = [json.loads(line) for line in runs[0][1].splitlines() if line.startswith("{")]
    line = next((line for line in lines if line["reason"] == "weft-kernel"), None)
    if line is None:
        raise SystemExit(f"{options.weft} does not check {ptx.name}")
    codes = sorted({finding["code"] for finding in line["findings"] if finding["class"] != "warning"})
    return {**median(runs), "verdict": ", ".join(codes) or line["verdict"], "barriers": line["stats"]["generations"]}


def earlier(file):
    """Returns earlier figures, by suite and name."""
    if file is None:
        return {}
    rows = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    return {(row["suite"], row["name"]): {
        "seconds": float(row["cpu_s"]), "megabytes": float(row["rss_mb"]),
        "verdict": row["verdict"].removeprefix("well-synchronised, ").lower(),
        "barriers": int(row["dynamic_barriers"]) if row["dynamic_barriers"].isdecimal() else None,
        "earlier": True} for row in csv.DictReader(rows, delimiter="\t")}


def kept(file):
    """Returns the original's figures of earlier calls, by suite and name."""
    if file is None or not file.exists():
        return {}
    return {(line["suite"], line["name"]): line for line in map(json.loads, file.read_text().splitlines())}


def originals(options, copies):
    """Returns the original's figures on all kernels: kept, measured now, or earlier ones."""
    figures, stand_ins = kept(options.kept), earlier(options.earlier)
    for (suite, name, threads, lock_step), ptx in copies.items():
        if (suite, name) not in figures:
            figure = run_original(options, ptx, threads, lock_step)
            if figure is not None and options.kept:
                with open(options.kept, "a") as lines:
                    lines.write(json.dumps({"suite": suite, "name": name, **figure}) + "\n")
            figures[suite, name] = figure or stand_ins.get((suite, name))
    return figures


def lasts(original):
    return original["seconds"] >= START


def amount(number):
    """Formats a number with three digits."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def memory(megabytes):
    return f"{megabytes:.0f}" if megabytes > floor() else f"< {floor()}"


def factor(original, weft):
    """Returns how many times as long the original takes."""
    return amount(original["seconds"] / weft["seconds"]) if lasts(original) else "-"


def table(rows):
    head = ("Kernel", "original: s", "MB", "cargo-weft: s", "MB", "factor", "no arguments: s", "MB",
            "factor", "barriers", "original says", "cargo-weft says", "no arguments")
    print("|" + "|".join(f" {cell} " for cell in head) + "|\n|---|" + "---:|" * 9 + "---|---|---|")
    for suite, name, original, weft, without in rows:
        barriers = sorted({tool["barriers"] for tool in (original, weft)} - {None})
        cells = (f"{suite} {name}", amount(original["seconds"]) + " *" * ("earlier" in original),
                 memory(original["megabytes"]), amount(weft["seconds"]), memory(weft["megabytes"]),
                 factor(original, weft), amount(without["seconds"]), memory(without["megabytes"]),
                 factor(original, without), " / ".join(map(str, barriers)) or "-", original["verdict"], weft["verdict"],
                 without["verdict"])
        print("|" + "|".join(f" {cell} " for cell in cells) + "|")
    theirs, *ours = ([row[side]["seconds"] for row in rows if lasts(row[2])] for side in (2, 3, 4))
    if theirs:
        totals = (f"{amount(sum(own))} | | {amount(sum(theirs) / sum(own))}" for own in ours)
        means = (amount(statistics.geometric_mean(old / new for old, new in zip(theirs, own))) for own in ours)
        print(f"| total | {amount(sum(theirs))} | | {' | '.join(totals)} | | | | |")
        print(f"| geometric mean | | | | | {' | | | '.join(means)} | | | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx", type=pathlib.Path)
    parser.add_argument("original", type=pathlib.Path)
    parser.add_argument("--weft", type=pathlib.Path, default=ROOT / "target/dist/cargo-weft")
    parser.add_argument("--only", default="", help="of SUITE NAME")
    parser.add_argument("--seconds", type=int, default=0, help="of processor time for the original; 0: no limit")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("--earlier", type=pathlib.Path)
    options = parser.parse_args()
    # A name without a slash would be searched in PATH.
    options.original, options.weft = options.original.resolve(), options.weft.resolve()
    os.sched_setaffinity(0, {options.core})
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for suite, name, *launch in kernels(options.only):
            copy = copies[suite, name, *launch] = pathlib.Path(folder, f"{suite}-{name}.ptx")
            copy.write_text(rewrite((options.ptx / copy.name).read_text()))
        figures = originals(options, copies)
        rows = []
        for (suite, name, *launch), ptx in copies.items():
            if figures[suite, name]:
                numbers = arguments(name)
                weft = run_weft(options, options.ptx / ptx.name, numbers, *launch)
                without = run_weft(options, options.ptx / ptx.name, {}, *launch) if numbers else weft
                rows.append((suite, name, figures[suite, name], weft, without))
    table(rows)
    different = [f"{suite} {name}" for suite, name, original, weft, _ in rows
                 if original["barriers"] not in (None, weft["barriers"])]
    if different:
        print("different numbers of barriers:", ", ".join(different), file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
