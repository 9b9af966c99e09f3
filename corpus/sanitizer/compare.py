#!/usr/bin/env python3
"""Compares cargo-weft's verdicts with what tools and the device reported of the same launches.

    corpus/sanitizer/compare.py PLAN RESULTS.tsv...

PLAN is the folder of plan.py, the others are of run.py; a later file takes precedence. Prints a table by code, in Markdown,
and every launch that cargo-weft calls clean and a tool or the device does not. Uses only the standard library.
"""

import collections
import json
import pathlib
import sys

CODES = ("shared-race", "async-race", "benign-race", "unordered-strong", "global-race", "barrier-divergence",
         "barrier-recycling", "barrier-count", "deadlock", "mbarrier-misuse", "mbarrier-phase", "warp-mask",
         "out-of-bounds", "misaligned", "uninitialized", "uninitialized-value")
COLUMNS = ("race", "deadlock", "synccheck", "memcheck", "hang", "error")


def read(paths):
    results = collections.defaultdict(dict)
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            number, name, outcome, detail, messages = (line.split("\t") + ["", ""])[:5]
            results[number][name] = (outcome, detail, messages)
    return results


def reports(own):
    """Returns the columns in which a launch counts."""
    tools = collections.defaultdict(str)
    for name, (_, _, messages) in own.items():
        # What racecheck says of optimized code is left to those who read the logs.
        if name != "racecheck-4":
            tools[name.split("-")[0]] += messages
    plain = own.get("plain-4", ("", "", ""))[0]
    found = {
        "race": "Race reported" in tools["racecheck"],
        "deadlock": "Deadlock detected" in tools["racecheck"],
        "synccheck": "detected" in tools["synccheck"],
        "memcheck": bool(tools["memcheck"]),
        "hang": plain == "hang",
        "error": plain in ("error", "lost"),
    }
    return {name for name, is_found in found.items() if is_found}


def main():
    planned = [json.loads(line) for line in (pathlib.Path(sys.argv[1]) / "plan.jsonl").read_text().splitlines()]
    results = read(sys.argv[2:])
    launched = [p for p in planned if results[p["id"]].get("plain-4", ("unloadable",))[0] != "unloadable"]
    verdicts = collections.Counter(p["made_verdict"] for p in launched)
    print(f"{len(planned)} launches, {len(launched)} loaded: {dict(verdicts)}\n")
    print("| code | kernels | " + " | ".join(COLUMNS) + " | none of these |\n|" + "---|" * (len(COLUMNS) + 3))
    for code in CODES:
        rows = [reports(results[p["id"]]) for p in launched if code in p["made_found"]]
        counts = [sum(column in own for own in rows) for column in COLUMNS]
        print(f"| `{code}` | {len(rows)} | {' | '.join(map(str, counts))} | {sum(not own for own in rows)} |")
    print("\nclean, and reported:")
    for p in launched:
        own = reports(results[p["id"]]) if p["made_verdict"] == "clean" else set()
        if own:
            texts = {name: r[1] or r[2] for name, r in results[p["id"]].items() if r[1] or r[2]}
            print(f"{p['fixture']}: {', '.join(sorted(own))}: {texts}")


if __name__ == "__main__":
    main()
