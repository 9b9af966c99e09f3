#!/usr/bin/env python3
"""Checks a corpus of PTX, one process a kernel, and prints what came out as Markdown tables.

    corpus/run.py OUT [--weft BINARY] [--seconds N] [--grid N] [--jobs N] [--only REGEX]

OUT is the folder that corpus/build.py made: OUT/ptx/GROUP/FILE.ptx. A kernel runs with the block it states (.reqntid,
.maxntid), or with 128 threads; where the file declares dynamic shared memory, with 48 KiB of it. OUT/results.jsonl gets what the binary said of each kernel. The exit status is 1 if a file
does not read, or the binary panics or does not end. Standard library only.
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
FAILURES = ("unread", "panic", "timeout")
VERDICTS = ("clean", "defect", "open")


def kernels(file):
    """Names and blocks of the kernels of a file."""
    text = file.read_text()
    for match in ENTRY.finditer(text):
        stated = re.search(r"\.(?:req|max)ntid\s+([\d, ]+)", match[3])
        yield match[1], stated[1].replace(" ", "") if stated else DEFAULT_BLOCK


@functools.cache
def uses_dynamic_shared(file):
    return re.search(r"^\.extern \.shared", file.read_text(), re.M) is not None


def check(options, file, name, block):
    """What the binary says of one kernel: its line of JSON, or how it failed."""
    # A host that launches kernels of `extern __shared__` arrays gives them bytes.
    shared = ["--shared", "49152"] if uses_dynamic_shared(file) else []
    command = [options.weft, "weft", "check", file, "--kernel", f"^{re.escape(name)}$", "--block", block,
               "--grid", str(options.grid), "--message-format", "json", *shared]
    result = {"file": file.name, "group": file.parent.name.replace("_", " "), "kernel": name}
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return {**result, "verdict": "timeout", "findings": []}
    if "panicked at" in done.stderr:
        return {**result, "verdict": "panic", "findings": [], "stderr": done.stderr[-2000:]}
    # A stack overflow or an abort leaves no message of ours.
    if done.returncode < 0:
        return {**result, "verdict": "panic", "findings": [], "stderr": f"signal {-done.returncode}"}
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    lines = [line for line in lines if line["reason"] == "weft-kernel"]
    if not lines:
        return {**result, "verdict": "unread", "findings": [], "stderr": done.stderr[-2000:]}
    line = lines[0]
    return {**result, "block": block, "demangled": line["demangled"], "verdict": line["verdict"],
            "coverage": line["coverage"], "stats": line["stats"], "findings": line["findings"]}


def instruction(ptx, finding):
    """The mnemonic at a finding's site."""
    for site in finding["sites"][:1]:
        line = ptx[site["ptx_line"] - 1]
        return re.sub(r"^\s*(@!?%?\w+\s+)?", "", line).split(" ")[0].split("\t")[0].rstrip(";")
    return "-"


def reason(ptx, finding):
    """A finding as a kind: names and numbers taken out of the message, and the opcode it stands at."""
    message = re.sub(r"`[^`]*`", "`…`", finding["message"].split("\n")[0])
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
    rows = [(group, len({r["file"] for r in own}), len(own), *(sum(r["verdict"] == c for r in own) for c in columns))
            for group, own in sorted(groups.items())]
    rows.append(("all", *(sum(column) for column in list(zip(*rows))[1:])))
    table(("Group", "files", "kernels", *columns), rows)


def reasons(results, texts, wanted, most):
    """Reasons by the kernels that have them; a kernel counts once for each."""
    counts, examples = collections.Counter(), {}
    for result in results:
        ptx = texts[result["file"]]
        own = {reason(ptx, finding) for finding in result["findings"] if finding["class"] == wanted}
        for key in own:
            counts[key] += 1
            examples.setdefault(key, f"{result['file']} {result['kernel']}"[:70])
    table(("kernels", "code", "message", "at", "for example"),
          [(count, f"`{code}`", message, f"`{opcode}`", f"`{examples[code, message, opcode]}`")
           for (code, message, opcode), count in counts.most_common(most)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--weft", type=pathlib.Path, default=ROOT / "target/release/cargo-weft")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--grid", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="of FILE KERNEL")
    options = parser.parse_args()
    files = sorted(options.out.glob("ptx/*/*.ptx"))
    texts = {file.name: file.read_text().split("\n") for file in files}
    work = [(file, *kernel) for file in files for kernel in kernels(file) if re.search(options.only, f"{file.name} {kernel[0]}")]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda job: check(options, *job), work))
    with open(options.out / "results.jsonl", "w") as lines:
        lines.writelines(json.dumps(result) + "\n" for result in results)
    print("## Verdicts\n")
    verdicts(results)
    print("## The ten commonest reasons for open\n")
    reasons(results, texts, "open", 10)
    if any(result["verdict"] == "defect" for result in results):
        print("## Defects\n")
        reasons(results, texts, "defect", 100)
    failed = [result for result in results if result["verdict"] in FAILURES]
    for result in failed:
        print(f"{result['verdict']}: {result['file']} {result['kernel']} {result.get('stderr', '')}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
