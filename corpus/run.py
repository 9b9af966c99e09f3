#!/usr/bin/env python3
"""Checks a corpus of PTX, one process for each kernel, and prints the results as Markdown tables.

    corpus/run.py OUT [--weft BINARY] [--seconds N] [--grid N] [--give N] [--jobs N] [--only REGEX]

OUT is the folder that corpus/build.py has written: OUT/ptx/GROUP/FILE.ptx. A kernel is checked with the block that it
states (.reqntid, .maxntid), or with 128 threads; if the file declares dynamic shared memory, with 48 KiB of it. If
branches depend on arguments that are numbers, the kernel is checked again with these numbers set to --give. The results
are written to OUT/results.jsonl. The exit status is 1 if a file does not parse, or if the binary panics or does not end
in time. Uses only the standard library.
"""

import argparse
import collections
import functools
import json
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).parent.parent
DEFAULT_BLOCK = "128"
ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)\s*\((.*?)\)([^{;]*)\{", re.S | re.M)
# Kernels that are launched with one cta.
ALONE = re.compile("SingleTile")
WANTED = re.compile(r"which way this goes depends on argument (\d+)\b")
FAILURES = ("unread", "panic", "timeout")
VERDICTS = ("clean", "empty", "defect", "open")


def kernels(file):
    """Yields names and blocks of the kernels of a file."""
    text = file.read_text()
    for match in ENTRY.finditer(text):
        stated = re.search(r"\.(?:req|max)ntid\s+([\d, ]+)", match[3])
        yield match[1], stated[1].replace(" ", "") if stated else DEFAULT_BLOCK


@functools.cache
def uses_dynamic_shared(file):
    return re.search(r"^\.extern \.shared", file.read_text(), re.M) is not None


def check(options, file, name, block):
    """Returns the results of a kernel without arguments, and with the numbers on which branches depend."""
    result, numbers = ask(options, file, name, block, {}), {}
    given = result
    while given["verdict"] == "open":
        messages = [finding["message"] for finding in given["findings"]]
        wanted = {match[1] for match in map(WANTED.match, messages) if match} - numbers.keys()
        if not wanted:
            break
        numbers.update(dict.fromkeys(wanted, options.give))
        given = ask(options, file, name, block, numbers)
    # An argument that is a structure cannot be set to a number.
    return {**result, "given": numbers, "then": given["verdict"] if given["verdict"] != "unread" else "open"}


def ask(options, file, name, block, numbers):
    """Returns the result of one check: the binary's line of JSON, or how it failed."""
    grid = 1 if ALONE.search(name) else options.grid
    # Kernels with `extern __shared__` arrays are launched with dynamic shared memory.
    shared = ["--shared", "49152"] if uses_dynamic_shared(file) else []
    args = [f"--arg={position}={number}" for position, number in numbers.items()]
    command = [options.weft, "weft", "check", file, "--kernel", f"^{re.escape(name)}$", "--block", block,
               "--grid", grid, "--message-format", "json", *shared, *args]
    result = {"file": file.name, "group": file.parent.name.replace("_", " "), "kernel": name, "findings": []}
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return {**result, "verdict": "timeout"}
    # A stack overflow or an abort ends the process by a signal.
    if "panicked at" in done.stderr or done.returncode < 0:
        return {**result, "verdict": "panic", "stderr": f"{done.returncode} {done.stderr[-2000:]}"}
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    lines = [line for line in lines if line["reason"] == "weft-kernel"]
    if not lines:
        return {**result, "verdict": "unread", "stderr": done.stderr[-2000:]}
    line = lines[0]
    # In a kernel without accesses and barriers there is nothing to prove.
    is_empty = line["verdict"] == "clean" and line["coverage"]["sites"] == 0
    kept = {key: line[key] for key in ("demangled", "assumptions", "coverage", "stats", "findings")}
    return {**result, "block": block, "verdict": "empty" if is_empty else line["verdict"], **kept}


def instruction(ptx, finding):
    """Returns the mnemonic at a finding's site."""
    for site in finding["sites"][:1]:
        line = ptx[site["ptx_line"] - 1]
        return re.sub(r"^\s*(@!?%?\w+\s+)?", "", line).split(" ")[0].split("\t")[0].rstrip(";")
    return "-"


def reason(ptx, finding):
    """Returns the kind of a finding: its message without names and numbers, and the opcode at its site."""
    message = re.sub(r"`[^`]*`", "`…`", finding["message"].split("\n")[0])
    message = re.sub(r" of the PTX \([^)]*\)", "", message)
    message = re.sub(r"\d+", "N", message)
    opcode = ".".join(instruction(ptx, finding).split(".")[:2])
    return finding["code"], message, opcode


def table(head, rows):
    print("|" + "|".join(f" {cell} " for cell in head) + "|\n|" + "---|" * len(head))
    for row in rows:
        print("|" + "|".join(f" {cell} " for cell in row) + "|")
    print()


def verdicts(results):
    columns = [*VERDICTS, *(failure for failure in FAILURES if any(r["verdict"] == failure for r in results))]
    groups = collections.defaultdict(list)
    for result in results:
        groups[result["group"]].append(result)
    rows = [(group, len({r["file"] for r in own}), len(own), *(sum(r["verdict"] == c for r in own) for c in columns),
             *(sum(r["verdict"] == "open" and r["then"] == c for r in own) for c in ("clean", "defect")))
            for group, own in sorted(groups.items())]
    rows.append(("all", *(sum(column) for column in list(zip(*rows))[1:])))
    table(("Group", "files", "kernels", *columns, "given numbers: clean", "given numbers: defect"), rows)


def reasons(results, texts, wanted, most):
    """Returns the reasons with the kernels that have them; a kernel counts once for each reason."""
    counts, examples = collections.Counter(), {}
    for result in results:
        ptx = texts[result["file"]]
        own = {reason(ptx, finding) for finding in result["findings"] if finding["class"] == wanted}
        for key in own:
            counts[key] += 1
            examples.setdefault(key, f"{result['file']} {result['kernel']}"[:70])
    table(("kernels", "code", "message", "at", "for example"),
          [(count, f"`{code}`", message, f"`{opcode}`", f"`{examples[code, message, opcode]}`")
           for (code, message, opcode), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--weft", type=pathlib.Path, default=ROOT / "target/dist/cargo-weft")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--grid", type=int, default=2)
    parser.add_argument("--give", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="of FILE KERNEL")
    options = parser.parse_args()
    files = sorted(options.out.glob("ptx/*/*.ptx"))
    texts = {file.name: file.read_text().split("\n") for file in files}
    work = [(file, name, block) for file in files for name, block in kernels(file)
            if re.search(options.only, f"{file.name} {name}")]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda job: check(options, *job), work))
    with open(options.out / "results.jsonl", "w") as lines:
        lines.writelines(json.dumps(result) + "\n" for result in results)
    print(f"{len(results)} kernels in {len(files)} files.\n\n## Verdicts\n")
    verdicts(results)
    print("## The ten commonest reasons for open\n")
    reasons(results, texts, "open", 10)
    if any(result["verdict"] == "defect" for result in results):
        print("## Defects\n")
        reasons(results, texts, "defect", 100)
    failed = [result for result in results if {result["verdict"], result["then"]} & {*FAILURES}]
    for result in failed:
        print(f"{result['verdict']}: {result['file']} {result['kernel']} {result.get('stderr', '')}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
