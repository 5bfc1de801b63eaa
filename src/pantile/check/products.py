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
from pantile.check.points import Points
from pantile.check.report import Finding, Report
from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Program

DENSE = 1 << 24
"""Up to this extent, ends of ranges are numbered by a mark per element; beyond it they are sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """How often the cells of a domain are covered.

    Attributes:
        axes: Names of the axes.
        edges: Where cells begin, by axis, and the end.
        grid: Times that each cell is covered.
        outside: Points of boxes outside the box of the space.
        points: What the space has of points.
    """

    axes: tuple[str, ...]
    edges: list[np.ndarray]
    grid: np.ndarray
    outside: int
    points: Points


def check_products(program: Program) -> Report:
    """Report points of the iteration space not computed once, and outputs not stored once.

    Where a domain restricts the space, its points count and those beside it do not matter. An output that is
    brought back after it was stored counts as not stored by that. A program that stores nothing at all gets a
    warning. Programs without boxes get an empty report.
    """
    tables = literal_tables(program)
    if not program.axes or not len(tables["box"]):
        return _nothing(program)
    axes = list(range(len(program.axes)))
    computes = tables["op"]["kind"] == Kind.COMPUTE
    if not computes.any():
        return _nothing(program)
    ones = np.ones(int(computes.sum()), np.int64)
    report = _verdict(_count(program, axes, _boxes(tables, computes, axes), ones), "MACs", "computed")
    return report + _stored(program, tables)


def _nothing(program: Program) -> Report:
    """Return what is said of a program without computes: an error if it names an output."""
    if not program.axes or program.parameters.get("output") not in [each.name for each in program.operands]:
        return Report()
    total = Points.of(program, list(range(len(program.axes)))).total
    if not total:
        return Report()
    sentence = f"of {total} MACs, {total} MACs never computed: the program computes nothing"
    mend = "compute every tile once"
    finding = Finding(code="PT-COVERAGE", severity="error", sentence=sentence, grade="wrong value", mend=mend)
    return Report((finding,))


def _boxes(tables: dict[str, np.ndarray], chosen: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return ranges of the chosen operations along *axes*: shape ``(2, axes, operations)``."""
    boxes = tables["box"]
    wanted = np.flatnonzero(chosen)
    if len(boxes) != len(chosen) or boxes["op"][0] != 0 or boxes["op"][-1] != len(boxes) - 1:
        wanted = np.searchsorted(boxes["op"], wanted)
    lo = np.stack([boxes["lo"][:, axis][wanted] for axis in axes])
    return np.stack([lo, lo + np.stack([boxes["length"][:, axis][wanted] for axis in axes])])


def _stored(program: Program, tables: dict[str, np.ndarray]) -> Report:
    name = program.parameters.get("output")
    names = [operand.name for operand in program.operands]
    if name not in names:
        return Report()
    output = names.index(name)
    axes = [axis for axis, stride in enumerate(program.operands[output].strides) if stride]
    access = tables["access"]
    off_chip = np.ones(int(access["space"].max(initial=0)) + 1, bool)
    off_chip[sorted({space for space, *_ in program.parameters.get("lives", ())})] = False
    rows = access[np.flatnonzero((access["operand"] == output) & off_chip[access["space"]])]
    stores, loads = np.zeros(len(tables["op"]), bool), np.zeros(len(tables["op"]), bool)
    stores[rows["op"][rows["mode"] != Mode.READ]] = True
    loads[rows["op"][rows["mode"] == Mode.READ]] = True
    moves = tables["op"]["kind"] == Kind.MOVE
    stores, loads = stores & moves, loads & moves
    total = Points.of(program, axes).total
    if not stores.any():
        sentence = f"{total} outputs computed, never stored"
        mend = f"load_store the finished tile of {name} to an off-chip memory"
        return Report((Finding(code="PT-COVERAGE", severity="warning", sentence=sentence, mend=mend),))
    boxes = np.concatenate([_boxes(tables, each, axes) for each in (stores, loads)], axis=2)
    weights = np.concatenate([np.ones(int(stores.sum()), np.int64), -np.ones(int(loads.sum()), np.int64)])
    return _verdict(_count(program, axes, boxes, weights), "outputs", "stored")


def _count(program: Program, axes: Sequence[int], boxes: np.ndarray, weights: np.ndarray) -> _Counted | int:
    """Return how the boxes cover the domain of *axes*, or the number of cells if they are too many."""
    extents = [program.extents[axis] for axis in axes]
    clipped = np.stack([np.clip(boxes[:, at], 0, extent) for at, extent in enumerate(extents)], axis=1)
    volume, inside = (np.prod(each[1] - each[0], axis=0) for each in (boxes, clipped))
    edges, places = [], []
    for (lo, hi), extent in zip(np.swapaxes(clipped, 0, 1), extents, strict=True):
        cuts, place = _numbered(lo, hi, extent)
        edges.append(cuts)
        places.append(place)
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
    return _Counted(
        names, edges, grid, int(((volume - inside) * np.abs(weights)).sum()), Points.of(program, axes)
    )


def _numbered(
    lo: np.ndarray, hi: np.ndarray, extent: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return where ranges along an axis begin and end, and the numbers of their own ends there."""
    if extent > DENSE:
        cuts = np.unique(np.concatenate([lo, hi, [0, extent]]))
        return cuts, (np.searchsorted(cuts, lo), np.searchsorted(cuts, hi))
    cut = np.zeros(extent + 1, bool)
    cut[lo] = cut[hi] = cut[0] = cut[extent] = True
    number = np.cumsum(cut) - 1
    return np.flatnonzero(cut), (number[lo], number[hi])


def _verdict(counted: _Counted | int, what: str, done: str) -> Report:
    if isinstance(counted, int):
        sentence = f"whether all {what} are {done} once was not decided: {counted} distinct ranges"
        return Report(
            (Finding(code="PT-UNDECIDED", severity="warning", sentence=sentence, grade="undecided"),)
        )
    total = counted.points.total
    bad, volumes = _wrong_cells(counted)
    if not len(bad) and not counted.outside:
        return Report(proved=(f"coverage: {total} {what}, each {done} exactly once",))
    counts = counted.grid[tuple(bad.T)]
    missing = bool((counts <= 0).any())
    harmless = not missing and not counted.outside  # what is stored again is stored as it was
    parts = [
        f"{int(number)} {what} {how}"
        for number, how in (
            (volumes[counts <= 0].sum() if len(bad) else 0, f"never {done}"),
            ((volumes * np.maximum(counts - 1, 0)).sum() if len(bad) else 0, f"{done} again"),
            (counted.outside, "outside the domain"),
        )
        if number
    ]
    return Report(
        (
            Finding(
                code="PT-COVERAGE",
                severity="error",
                sentence=f"of {total} {what}, {' and '.join(parts)}",
                evidence=_first(counted, bad, done),
                grade="" if what == "outputs" and harmless else "wrong value",
                mend=_mend(what, missing, outside=counted.outside > 0),
            ),
        )
    )


def _mend(what: str, missing: bool, *, outside: bool) -> str:
    """Say what to do about what is missing, or is there twice."""
    if outside:
        return "make the tiles of every dimension cover its total once"
    if what == "outputs":
        done = "load_store every finished tile of the output to the off-chip memory"
        return done if missing else "store every tile of the output once, after its last compute"
    return "compute the tiles that are missing" if missing else "compute every tile once"


def _wrong_cells(counted: _Counted) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells not covered once that hold points, and how many each holds."""
    bad = np.argwhere((counted.grid != 1) & counted.points.may_hold(counted.edges))
    volumes = np.array(
        [
            counted.points.within(
                [(int(cuts[at]), int(cuts[at + 1])) for cuts, at in zip(counted.edges, cell, strict=True)]
            )
            for cell in bad.tolist()
        ],
        np.int64,
    )
    return bad[volumes > 0], volumes[volumes > 0]


def _first(counted: _Counted, bad: np.ndarray, done: str) -> str:
    """Tell the first cell that is not covered once."""
    if not len(bad):
        return ""
    cell = ", ".join(
        f"{name} {edges[at]}:{edges[at + 1]}"
        for name, edges, at in zip(counted.axes, counted.edges, bad[0], strict=True)
    )
    return f"{cell} {done} {int(counted.grid[tuple(bad[0])])} times"
