"""Is every product of a literal program computed once, and every output stored once?

Works on the boxes of all operations at once: every box changes a counter at its corners, and summing up along
the axes counts how often each cell is covered.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.boxes import MAX_CELLS
from pantile.check.chains import literal_tables
from pantile.check.report import Finding, Report
from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """How often the cells of a domain are covered.

    Attributes:
        axes: Names of the axes.
        edges: Where cells begin, by axis, and the end.
        grid: Times that each cell is covered.
        outside: Points of boxes outside the domain.
    """

    axes: tuple[str, ...]
    edges: list[np.ndarray]
    grid: np.ndarray
    outside: int


def check_products(program: Program) -> Report:
    """Report points of the iteration space not computed once, and outputs not stored once.

    An output that is brought back after it was stored counts as not stored by that. A program that stores
    nothing at all gets a warning. Programs without boxes get an empty report.
    """
    tables = literal_tables(program)
    if not program.axes or not len(tables["box"]):
        return Report()
    axes = list(range(len(program.axes)))
    computes = tables["op"]["kind"] == Kind.COMPUTE
    if not computes.any():
        return Report()
    ones = np.ones(int(computes.sum()), np.int64)
    report = _verdict(_count(program, axes, _boxes(tables, computes), ones), "MACs", "computed")
    return report + _stored(program, tables)


def _boxes(tables: dict[str, np.ndarray], chosen: np.ndarray) -> np.ndarray:
    """Return the boxes of the chosen operations, in their order."""
    boxes = tables["box"]
    wanted = np.flatnonzero(chosen)
    if len(boxes) != len(chosen) or boxes["op"][0] != 0 or boxes["op"][-1] != len(boxes) - 1:
        wanted = np.searchsorted(boxes["op"], wanted)
    return boxes[wanted]


def _stored(program: Program, tables: dict[str, np.ndarray]) -> Report:
    name = program.parameters.get("output")
    names = [operand.name for operand in program.operands]
    if name not in names:
        return Report()
    output = names.index(name)
    axes = [axis for axis, stride in enumerate(program.operands[output].strides) if stride]
    access = tables["access"]
    on_chip = {space for space, *_ in program.parameters.get("lives", ())}
    outside = ~np.isin(access["space"], sorted(on_chip)) & (access["operand"] == output)
    stores, loads = np.zeros(len(tables["op"]), bool), np.zeros(len(tables["op"]), bool)
    moves = tables["op"]["kind"] == Kind.MOVE
    stores[access["op"][outside & (access["mode"] != Mode.READ)]] = True
    loads[access["op"][outside & (access["mode"] == Mode.READ)]] = True
    stores, loads = stores & moves, loads & moves
    total = prod(program.extents[axis] for axis in axes)
    if not stores.any():
        sentence = f"{total} outputs computed, never stored"
        mend = f"load_store the finished tile of {name} to an off-chip memory"
        return Report((Finding(code="PT-COVERAGE", severity="warning", sentence=sentence, mend=mend),))
    boxes = np.concatenate([_boxes(tables, stores), _boxes(tables, loads)])
    weights = np.concatenate([np.ones(int(stores.sum()), np.int64), -np.ones(int(loads.sum()), np.int64)])
    return _verdict(_count(program, axes, boxes, weights), "outputs", "stored")


def _count(program: Program, axes: Sequence[int], boxes: np.ndarray, weights: np.ndarray) -> _Counted | int:
    """Return how the boxes cover the domain of *axes*, or the number of cells if they are too many."""
    extents = np.array([program.extents[axis] for axis in axes], np.int64)
    lo = boxes["lo"][:, axes]
    hi = lo + boxes["length"][:, axes]
    volume = np.prod(hi - lo, axis=1)
    lo, hi = np.clip(lo, 0, extents), np.clip(hi, 0, extents)
    inside = np.prod(hi - lo, axis=1)
    edges, places = [], []
    for at, extent in enumerate(extents.tolist()):
        cut = np.zeros(extent + 1, bool)
        cut[lo[:, at]] = cut[hi[:, at]] = cut[0] = cut[extent] = True
        number = np.cumsum(cut) - 1
        edges.append(np.flatnonzero(cut))
        places.append((number[lo[:, at]], number[hi[:, at]]))
    shape = tuple(len(each) for each in edges)
    if prod(shape) > MAX_CELLS:
        return prod(shape)
    flat = np.zeros(prod(shape))
    for corner in product((0, 1), repeat=len(axes)):
        sign = (-1) ** sum(corner)
        index = np.ravel_multi_index([places[at][side] for at, side in enumerate(corner)], shape)
        flat += np.bincount(index, sign * weights * (inside > 0), len(flat))
    grid = flat.astype(np.int64).reshape(shape)
    for axis in range(len(axes)):
        np.cumsum(grid, axis=axis, out=grid)
    grid = grid[tuple(slice(0, -1) for _ in axes)]
    names = tuple(program.axes[axis] for axis in axes)
    return _Counted(names, edges, grid, int(((volume - inside) * np.abs(weights)).sum()))


def _verdict(counted: _Counted | int, what: str, done: str) -> Report:
    if isinstance(counted, int):
        sentence = f"whether all {what} are {done} once was not decided: {counted} distinct ranges"
        return Report(
            (Finding(code="PT-UNDECIDED", severity="warning", sentence=sentence, grade="undecided"),)
        )
    sizes = [np.diff(each) for each in counted.edges]
    total = prod(int(each[-1]) for each in counted.edges)
    bad = np.argwhere(counted.grid != 1)
    if not len(bad) and not counted.outside:
        return Report(proved=(f"coverage: {total} {what}, each {done} exactly once",))
    counts = counted.grid[tuple(bad.T)]
    volumes = np.array([prod(int(size[at]) for size, at in zip(sizes, cell, strict=True)) for cell in bad])
    parts = [
        f"{int(number)} {what} {how}"
        for number, how in (
            (volumes[counts <= 0].sum() if len(bad) else 0, f"never {done}"),
            ((volumes * np.maximum(counts - 1, 0)).sum() if len(bad) else 0, f"{done} again"),
            (counted.outside, "outside the domain"),
        )
        if number
    ]
    evidence = ""
    if len(bad):
        cell = ", ".join(
            f"{name} {edges[at]}:{edges[at + 1]}"
            for name, edges, at in zip(counted.axes, counted.edges, bad[0], strict=True)
        )
        evidence = f"{cell} {done} {int(counts[0])} times"
    return Report(
        (
            Finding(
                code="PT-COVERAGE",
                severity="error",
                sentence=f"of {total} {what}, {' and '.join(parts)}",
                evidence=evidence,
                grade="wrong value",
                mend="make the tiles of every dimension cover its total once",
            ),
        )
    )
