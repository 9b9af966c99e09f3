"""Reads the entries of a PTX file: their parameters, what they load from them, and what the launch must know."""

import dataclasses
import re

ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)\{")
PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)"
    r"(?:\s+\.ptr(?:\s+\.(?P<space>shared|global|const|local))?(?:\s+\.align\s+\d+)?)?(?:\s+\.align\s+\d+)?"
    r"\s+([\w$%]+)(?:\[(\d+)\])?")
BOUND = re.compile(r"\.(reqntid|maxntid|reqnctapercluster)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
LOAD = re.compile(r"ld\.param(?:\.v\d)?\.[a-z]*?(\d+)\s+(\{[^}]*\}|[\w%$]+)\s*,\s*\[([\w$%]+)(?:\s*\+\s*(\d+))?\]")
INSTRUCTION = re.compile(r"([a-z][\w.:]*)\s+([^;]*);")
PASSED_ON = ("mov", "add", "sub", "cvta", "selp", "and", "mad", "cvt")
ACCESS = ("ld", "st", "atom", "red", "cp", "prefetch", "wmma", "ldmatrix", "mbarrier")
# What is done with numbers of 64 bits, and not with addresses.
NUMERIC = ("setp", "mul", "cvt", "shr", "min", "max", "tex", "set", "div", "rem", "suld", "sust")
TENSOR = re.compile(r"\.tensor\.(\d)d\S*")


@dataclasses.dataclass
class Parameter:
    """A parameter of a kernel and its place among the bytes that a launch passes."""

    name: str
    kind: str
    size: int
    offset: int
    is_array: bool
    space: str


@dataclasses.dataclass
class Kernel:
    """An entry of a PTX file."""

    name: str
    parameters: list
    size: int
    bounds: dict
    body: str
    loads: dict        # (parameter, offset) -> bytes of the load
    pointers: set      # (parameter, offset) whose value reaches the base of an address
    numbers: set       # (parameter, offset) whose value is computed with
    tensor_rank: int
    is_im2col: bool


def without_comments(text):
    """Returns the text with comments replaced by white space."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def kernels(text):
    """Returns all entries of a PTX text."""
    text = without_comments(text)
    return [read(match, text) for match in ENTRY.finditer(text)]


def read(match, text):
    name, inner, directives = match.group(1), match.group(2) or "", match.group(3)
    depth, at = 1, match.end()
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    body = text[match.end():at]
    parameters, size = layout(inner)
    bounds = {b.group(1): [int(n or 1) for n in b.groups()[1:]] for b in BOUND.finditer(directives)}
    loads, origins = first_loads(body)
    tensor = TENSOR.search(text)
    return Kernel(name, parameters, size, bounds, body, loads, addresses(body, origins), numbers(body, origins),
                  int(tensor.group(1)) if tensor else 0, ".im2col" in text)


def layout(inner):
    parameters, offset = [], 0
    for part in filter(str.strip, inner.split(",")):
        found = PARAMETER.search(part)
        align, kind, name, count = found.group(1), found.group(2), found.group(4), found.group(5)
        width = int(re.search(r"\d+", kind).group()) // 8
        size = width * int(count or 1)
        align = int(align or width)
        offset = -(-offset // align) * align
        parameters.append(Parameter(name, kind, size, offset, count is not None, found.group("space") or ""))
        offset += size
    return parameters, offset


def first_loads(body):
    loads, origins = {}, {}
    for found in LOAD.finditer(body):
        width = int(found.group(1)) // 8
        for number, register in enumerate(re.findall(r"[\w%$]+", found.group(2))):
            key = (found.group(3), int(found.group(4) or 0) + number * width)
            loads[key] = width
            origins.setdefault(register, set()).add(key)
    return loads, origins


def addresses(body, origins):
    """Returns the parts of parameters that reach the base of an address, whatever way the kernel goes."""
    origins = {register: set(own) for register, own in origins.items()}
    steps = []
    for found in INSTRUCTION.finditer(body):
        opcode, operands = found.groups()
        if opcode.split(".")[0] in PASSED_ON and "," in operands:
            to, sources = operands.split(",", 1)
            steps.append((to.strip(), re.findall(r"[\w%$]+", sources)))
    changed = True
    while changed:
        changed = False
        for to, sources in steps:
            own = origins.setdefault(to, set())
            before = len(own)
            for source in sources:
                own |= origins.get(source, set())
            changed |= len(own) != before
    found = set()
    for opcode, operands in INSTRUCTION.findall(body):
        if opcode.split(".")[0] in ACCESS and not opcode.startswith("ld.param"):
            for base in re.findall(r"\[\s*([\w%$]+)", operands):
                found |= origins.get(base, set())
        if opcode.startswith("cvta"):
            for source in re.findall(r"[\w%$]+", operands):
                found |= origins.get(source, set())
    return found


def numbers(body, origins):
    """Returns the parts of parameters that instructions for numbers read."""
    found = set()
    for opcode, operands in INSTRUCTION.findall(body):
        if opcode.split(".")[0] in NUMERIC:
            for source in re.findall(r"[\w%$]+", operands)[1:]:
                found |= origins.get(source, set())
    return found


def is_pointer(kernel, parameter, offset, width):
    """Whether 8 bytes of a parameter are taken for an address."""
    key = (parameter.name, offset)
    return width == 8 and (key in kernel.pointers or (not parameter.is_array and key not in kernel.numbers))
