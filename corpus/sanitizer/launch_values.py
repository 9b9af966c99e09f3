"""Chooses what a launch leaves open: sizes of block and grid and numbers, such that all that is required holds."""

import itertools
import re

NUMBERS = (64, 32, 1, 2, 4, 16, 8, 128, 256, 1000, 3, 5, 0, -1, -64)
BLOCKS = ((64, 1, 1), (32, 1, 1), (16, 16, 1), (8, 8, 1), (32, 2, 1), (1, 1, 1), (96, 1, 1), (128, 1, 1))
GRIDS = ((2, 1, 1), (1, 1, 1), (2, 2, 1), (2, 1, 2))


def to_python(condition):
    condition = re.sub(r"#(\d+)", r"_\1", condition).replace("&&", " and ")
    condition = re.sub(r"\b(block|grid)\.([xyz])\b", r"\1_\2", condition)
    return re.sub(r"(?<![/])/(?![/])", "//", condition)


def holds(conditions, names):
    scope = dict(names, pow2=lambda x: x > 0 and x & (x - 1) == 0)
    try:
        return all(eval(to_python(c), {"__builtins__": {}}, scope) for c in conditions)
    except (NameError, ZeroDivisionError):
        return False


def sizes(name, stated, bounds, defaults):
    if stated is not None:
        return [stated]
    own = bounds.get("reqntid") if name == "block" else None
    most = bounds.get("maxntid") if name == "block" else None
    if own:
        return [tuple(own)]
    if most:
        product = most[0] * most[1] * most[2]
        return [d for d in (tuple(most),) + defaults if d[0] * d[1] * d[2] <= product]
    return list(defaults)


def choices(kernel, block, grid, conditions, open_numbers, given):
    """Yields block, grid and the numbers of `open_numbers`, a list of names, that fulfil all conditions.

    `given` has the numbers that are stated, by name; `_0` is the name of the first parameter besides its own.
    """
    grids = sizes("grid", grid, kernel.bounds, GRIDS)
    blocks = sizes("block", block, kernel.bounds, BLOCKS)
    if not re.search(r"%tid\.[yz]", kernel.body):
        blocks = [b for b in blocks if block or b[1] == b[2] == 1] or blocks
    if not re.search(r"%ctaid|%clusterid", kernel.body) and not grid:
        grids = [(1, 1, 1)] + grids
    for own_block, own_grid in itertools.product(blocks, grids):
        scope = dict(zip(("block_x", "block_y", "block_z"), own_block))
        scope.update(zip(("grid_x", "grid_y", "grid_z"), own_grid))
        many = own_block[0] * own_block[1] * own_block[2] * own_grid[0]
        same = [(n,) * len(open_numbers) for n in NUMBERS + (many,)] if open_numbers else [()]
        mixed = itertools.product(NUMBERS[:8] + (many,), repeat=len(open_numbers)) if 1 < len(open_numbers) < 5 else ()
        for numbers in itertools.chain(same, mixed):
            chosen = dict(zip(open_numbers, numbers))
            names = {**given, **chosen}
            for position, parameter in enumerate(kernel.parameters):
                if parameter.name in names:
                    names[f"_{position}"] = names[parameter.name]
            if holds(conditions, {**scope, **names}):
                yield own_block, own_grid, chosen
