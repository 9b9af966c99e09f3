#!/usr/bin/env python3
"""Turns the fixtures into launches for a device.

    corpus/sanitizer/plan.py OUT --weft BINARY [--only REGEX]

Writes OUT/ptx/ID.ptx, one file for each kernel under a name of its own, so that messages of tools tell the kernels apart;
OUT/cases/ID, the statements for runner.c; OUT/plan.jsonl, a line for each kernel with what the fixture expects, what
cargo-weft says of the fixture's launch, and what it says of the launch that the device gets; and OUT/skipped.tsv.
"""

import argparse
import itertools
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor

import launch_values
import ptx_kernel

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "weft-core/src/finding/pages"
NEWEST, HIGHEST = (9, 0), 90
BUFFER = 16 << 20
TRIES = 12
FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f",
           "f64": "d"}
WITNESS = re.compile(r"this in weft\.toml reproduces it:\n(.*)", re.S)
BOXES = re.compile(r"(\d+) bytes with the tensor map")
LOAD = re.compile(r"\bld(?:\.weak)?(\.global|\.shared(?:::cta)?)?\.(?=v[24]\b|[usbf]\d)")
AT_LEAST = re.compile(r"at least (\d+) bytes")


class Inexpressible(Exception):
    """Why a launch is not made."""


def sources():
    """Returns (path, launch as a dictionary) of all fixtures."""
    for path in sorted((ROOT / "fixtures/ptx").rglob("*.ptx")):
        header = "\n".join(line[3:] for line in path.read_text().splitlines() if line.startswith("//@"))
        yield path, path.relative_to(ROOT / "fixtures").with_suffix("").as_posix(), tomllib.loads(header)
    for folder in sorted(p for p in (ROOT / "fixtures/codes").iterdir() if p.is_dir()):
        page = (PAGES / f"{folder.name}.md").read_text()
        launch = {}
        for name in ("broken", "repaired"):
            section = page.split(f"## {name.capitalize()}\n", 1)[1].split("\n## ", 1)[0]
            found = re.search(r"```toml\n(.*?)```", section, re.S)
            if found:
                launch = {k: v for k, v in tomllib.loads(found.group(1))["kernel"][0].items() if k not in ("name", "allow")}
            path = folder / f"{name}.ptx"
            yield path if path.exists() else folder / "broken.ptx", f"codes/{folder.name}/{name}", launch


def value(v):
    if isinstance(v, dict):
        return "{ " + ", ".join(f"{k} = {value(x)}" for k, x in v.items()) + " }"
    return json.dumps(v)


def weft(binary, path, kernel, launch):
    """Returns cargo-weft's record of a kernel under a launch."""
    text = f"[[kernel]]\nname = '^{re.escape(kernel)}$'\n" + "".join(f"{k} = {value(v)}\n" for k, v in launch.items())
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write(text)
        config.flush()
        run = subprocess.run([binary, "weft", "check", path, "--config", config.name, "--kernel", f"^{re.escape(kernel)}$",
                              "--message-format", "json"], capture_output=True, text=True, timeout=300, check=False)
    for line in run.stdout.splitlines():
        record = json.loads(line)
        if record["reason"] == "weft-kernel" and record["kernel"] == kernel:
            return record
    return {"verdict": "refused", "findings": [], "error": run.stderr[-400:]}


def witnessed(record):
    """Returns the launch with which a finding for some inputs occurs, if the report has one."""
    for finding in record["findings"]:
        found = WITNESS.search(finding["help"] or "")
        if found:
            lines = found.group(1)
            return {k: v for k, v in tomllib.loads(lines)["kernel"][0].items() if k != "name"}
    return {}


def three(size):
    if size in (None, "any"):
        return None
    size = size if isinstance(size, list) else [size]
    return tuple(size + [1] * (3 - len(size)))


class Case:
    """Collects the statements of a launch."""

    def __init__(self, kernel, record):
        self.kernel, self.record, self.lines, self.count, self.maps = kernel, record, [], 0, 0

    def buffer(self, size=BUFFER):
        self.count += 1
        self.lines.append(f"buffer b{self.count} {max(size, 1)}")
        return f"b{self.count}"

    def contents(self, target, offset, table, named):
        """Writes stated contents into a buffer or the parameters."""
        for key, own in table.items():
            if key in FORMATS:
                data = b"".join(struct.pack("<" + FORMATS[key], n) for n in own)
                if data:
                    self.lines.append(f"bytes {target} {offset} {data.hex()}")
        for key, own in table.items():
            if key.isdigit():
                self.place(target, offset + int(key), own, 4, named)

    def place(self, target, offset, own, width, named):
        """Writes one value of an argument, a field or a part of a buffer."""
        if own == "buffer":
            self.lines.append(f"pointer {target} {offset} {self.buffer()} 0")
        elif isinstance(own, (int, float)):
            data = number(own, width)
            self.lines.append(f"bytes {target} {offset} {data.hex()}")
        elif "in" in own:
            self.lines.append(f"pointer {target} {offset} {named[own['in']]} {own.get('offset', 0)}")
        elif "tensor" in own:
            self.tensor(target, offset, own["tensor"]["box-bytes"])
        elif target == "p" and width == 8:
            place = self.buffer(extent(own) or BUFFER)
            self.lines.append(f"pointer p {offset} {place} 0")
            self.contents(place, 0, own, named)
        else:
            self.contents(target, offset, own, named)

    def tensor(self, target, offset, box):
        rank = self.kernel.tensor_rank
        if not rank or box % 16:
            raise Inexpressible("a tensor map of unknown shape")
        self.maps += 1
        self.lines.append(f"tensor {target} {offset} {self.buffer()} {rank} {int(self.kernel.is_im2col)} {box}")


def number(own, width):
    if isinstance(own, float):
        return struct.pack("<f" if width == 4 else "<d", own)
    return (own % (1 << 8 * width)).to_bytes(width, "little")


def extent(table):
    """Returns the bytes that contents fill."""
    most = 0
    for key, own in table.items():
        if key in FORMATS:
            most = max(most, struct.calcsize(FORMATS[key]) * len(own))
        elif key.isdigit():
            most = max(most, int(key) + (extent(own) if isinstance(own, dict) and "in" not in own else 8))
    return most


def size_of(stated):
    if isinstance(stated, str):
        n, unit = stated.split()
        return int(n) << {"KiB": 10, "MiB": 20, "GiB": 30}[unit]
    return stated


def fill(case, args, buffers):
    """Writes all parameters. Parts that nobody states are pointers to zeros, or zeros."""
    kernel, named = case.kernel, {}
    for name, own in buffers.items():
        named[name] = case.buffer(size_of(own["size"]) if "size" in own else extent(own) or BUFFER)
    for name, own in buffers.items():
        case.contents(named[name], 0, {k: v for k, v in own.items() if k != "size"}, named)
    boxes = [int(n) for a in case.record.get("assumptions", []) for n in BOXES.findall(a)]
    for position, p in enumerate(kernel.parameters):
        own = args.get(p.name, args.get(str(position)))
        if p.space == "shared":
            raise Inexpressible("a pointer to shared memory as parameter")
        takes_map = kernel.tensor_rank and boxes and "tensor" not in json.dumps(args)
        if p.is_array:
            own = own or {}
            if takes_map and own == {} and p.size == 128:
                own = {"tensor": {"box-bytes": boxes[0]}}
            if "tensor" in own:
                case.tensor("p", p.offset, own["tensor"]["box-bytes"])
                continue
            case.contents("p", p.offset, {k: v for k, v in own.items() if k in FORMATS}, named)
            fields(case, p, own, named, boxes if takes_map else [])
        elif own is None and takes_map and ".tensor" in kernel.body and p.size == 8 and "in" in p.name:
            place = case.buffer()
            case.lines.append(f"pointer p {p.offset} {place} 0")
            case.tensor(place, 0, boxes[0])
        elif own is None and ptx_kernel.is_pointer(kernel, p, 0, p.size):
            case.place("p", p.offset, "buffer", 8, named)
        elif own is not None and isinstance(own, dict) and "tensor" in own:
            place = case.buffer()
            case.lines.append(f"pointer p {p.offset} {place} 0")
            case.tensor(place, 0, own["tensor"]["box-bytes"])
        elif own is not None:
            case.place("p", p.offset, float(own) if p.kind.startswith("f") else own, p.size, named)


    wanted = len(boxes) + json.dumps(args).count('"tensor"')
    if kernel.tensor_rank and case.maps < max(wanted, 1):
        raise Inexpressible("a tensor map of unknown shape")


def fields(case, p, own, named, boxes):
    stated = {int(k): v for k, v in own.items() if k.isdigit()}
    if boxes and not stated:
        raise Inexpressible("a tensor map of unknown shape")
    widths = {at: width for (name, at), width in case.kernel.loads.items() if name == p.name}
    for at, width in widths.items():
        if at not in stated and (p.name, at) in case.kernel.pointers and width == 8 and "u8" not in own:
            case.place("p", p.offset + at, "buffer", 8, named)
    for at, v in stated.items():
        case.place("p", p.offset + at, v, widths.get(at, 8), named)


def admissible(text):
    version = tuple(int(n) for n in re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.M).groups())
    if version > NEWEST:
        raise Inexpressible(f"PTX {version[0]}.{version[1]}")
    target = re.search(r"^\s*\.target\s+sm_(\d+)(\w?)", text, re.M)
    if int(target.group(1)) > HIGHEST:
        raise Inexpressible("target above sm_90")


def best(binary, path, kernel, header, record, stated, candidates):
    """Returns what cargo-weft says of the launch to make, and its block, grid and arguments.

    Numbers that nobody states are such that something is accessed, and that what is proved for all numbers is clean.
    """
    first = None
    for block, grid, numbers in itertools.islice(candidates, TRIES):
        exact = {k: v for k, v in header.items() if k not in ("args", "requires")}
        exact.update(block=list(block), grid=list(grid))
        args = {**stated, **numbers}
        if args:
            exact["args"] = args
        made = weft(binary, path, kernel, exact)
        codes = {f["code"] for f in made["findings"]}
        first = first or (made, block, grid, args)
        if "vacuous" not in codes and (record["verdict"] != "clean" or made["verdict"] == "clean"):
            return made, block, grid, args
    if not first:
        raise Inexpressible("no launch found that fulfils what is required")
    return first


def plan(binary, out, number_of, path, name, header, kernel):
    """Writes the files of one launch and returns its line of the plan."""
    text = path.read_text()
    admissible(text)
    record = weft(binary, path, kernel.name, header)
    witness = witnessed(record)
    args = {**header.get("args", {}), **witness.pop("args", {})}
    launch = {**header, **witness}
    conditions = header.get("requires", [])
    used = record.get("launch", {})
    block = three(launch.get("block")) or (None if conditions else three(used.get("block")))
    grid = three(launch.get("grid")) or (None if conditions else three(used.get("grid")))
    by_name = {p.name: args.get(p.name, args.get(str(i))) for i, p in enumerate(kernel.parameters)}
    open_numbers = [p.name for p in kernel.parameters if by_name[p.name] is None and not p.is_array
                    and not ptx_kernel.is_pointer(kernel, p, 0, p.size) and p.space != "shared"]
    given = {k: v for k, v in by_name.items() if isinstance(v, (int, float)) and v is not None}
    candidates = launch_values.choices(kernel, block, grid, conditions, open_numbers, given)
    stated = {k: v for k, v in by_name.items() if v is not None}
    made, block, grid, args = best(binary, path, kernel.name, header, record, stated, candidates)
    case = Case(kernel, record)
    fill(case, args, header.get("buffers", {}))
    shared = header.get("shared")
    if shared is None:
        least = [int(n) for a in record.get("assumptions", []) for n in AT_LEAST.findall(a)]
        shared = max(least, default=32768) if ".extern .shared" in text else 0
    # A declaration and references of the kernel alone get the new name.
    unique = f"{number_of}_{re.sub(r'[^A-Za-z0-9_]', '_', kernel.name)}"
    # The compiler deletes loads whose results nobody uses, even where it does not optimize; volatile ones stay.
    text = LOAD.sub(r"ld.volatile\1.", text)
    renamed = re.sub(rf"(\.entry\s+){re.escape(kernel.name)}(?![\w$])", rf"\g<1>{unique}", text)
    (out / "ptx" / f"{number_of}.ptx").write_text(renamed)
    lines = [f"case {number_of}", *(f"param {p.offset}" for p in kernel.parameters), *case.lines]
    lines.append(" ".join(map(str, ["run", f"ptx/{number_of}.ptx", unique, *grid, *block, shared])))
    (out / "cases" / number_of).write_text("\n".join(lines) + "\n")
    return {"id": number_of, "fixture": name, "kernel": kernel.name, "block": block, "grid": grid, "shared": shared,
            "args": args, "verdict": record["verdict"],
            "found": sorted({f["code"] for f in record["findings"]}), "made_verdict": made["verdict"],
            "made_found": sorted({f["code"] for f in made["findings"]}), "header": header,
            "is_stated": not open_numbers and {"block", "grid"} <= set(header)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for folder in ("ptx", "cases"):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    work = []
    for path, name, header in sources():
        if re.search(options.only, name):
            work += [(path, name, header, kernel) for kernel in ptx_kernel.kernels(path.read_text())]

    def one(item):
        number_of, (path, name, header, kernel) = item
        try:
            return plan(options.weft, options.out, f"k{number_of:04}", path, name, header, kernel)
        except Inexpressible as reason:
            return {"fixture": name, "kernel": kernel.name, "skipped": str(reason)}

    with ThreadPoolExecutor(2) as pool:
        planned = list(pool.map(one, enumerate(work)))
    made = [p for p in planned if "skipped" not in p]
    skipped = [p for p in planned if "skipped" in p]
    (options.out / "plan.jsonl").write_text("".join(json.dumps(p) + "\n" for p in made))
    (options.out / "skipped.tsv").write_text("".join(f"{p['fixture']}\t{p['kernel']}\t{p['skipped']}\n" for p in skipped))
    print(f"{len(made)} launches, {len(skipped)} skipped")


if __name__ == "__main__":
    main()
