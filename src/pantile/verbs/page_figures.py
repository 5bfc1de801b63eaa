"""The figures of a page's Overview: totals, and each count as the product of its factors."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind
from pantile.view.pagedata import Factor, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.program.piece import Piece
    from pantile.program.program import Program
    from pantile.verbs.simulate import Simulation

_SHOWN_TERMS = 8  # MACs of single instructions that a label spells out


def page_figures(simulation: Simulation) -> tuple[Figure, ...]:
    """Return the totals of a run of one product, those of ``--json`` under the same names."""
    (layer,) = simulation.layers
    totals, program = layer.totals, layer.planned.program
    cuts = {axis: _cut(program, axis) for axis in "bmnk"}
    outputs = [cuts[axis] for axis in "bmn" if axis != "b" or cuts["b"].count > 1]
    utilisation = simulation.utilisation
    return (
        _counted("regions", "output regions", totals.regions, outputs, headline=True),
        _counted("tiles", "tiles", totals.tiles, [*outputs, cuts["k"]], headline=True),
        Figure(key="instructions", label="operations in all", value=program.operations),
        *_compute_figures(program),
        Figure(key="macs", label="MACs in all", value=totals.macs, unit="MACs", headline=True),
        Figure(key="padded_macs", label="MACs with padding", value=totals.padded_macs, unit="MACs"),
        *(
            Figure(key=f"{memory}_{way}", label=f"{memory}: bytes {shown}", value=count[way], unit="B")
            for memory, count in totals.bytes.items()
            for way, shown in (("read", "read"), ("write", "written"))
        ),
        Figure(key="requests", label="memory requests", value=sum(totals.requests.values())),
        Figure(
            key="total_cycles", label="cycles", value=simulation.total_cycles, unit="cycles", headline=True
        ),
        Figure(key="mac_utilisation", label="MAC utilisation", value=utilisation["mac"], unit="share"),
        Figure(key="busy_utilisation", label="array busy", value=utilisation["busy"], unit="share"),
        Figure(key="bound_by", label="bound by", value=simulation.bound_by),
    )


def _compute_figures(program: Program) -> Iterator[Figure]:
    """Computes and MACs: in all, of a full tile and its instructions, and of the last tile if it differs."""
    full = max(program.pieces, key=lambda piece: int(piece.tables["op"]["macs"].sum()))
    last = program.pieces[-1]
    per_tile, each = _computes(full), _instruction_macs(full)
    computes = sum(piece.count * _computes(piece) for piece in program.pieces)
    by_tile = [Factor(count=program.tiles, noun="tiles"), Factor(count=per_tile, noun="a tile")]
    yield _counted(
        "compute_per_tile", "compute instructions of a full tile", per_tile, _blocks(program, full)
    )
    yield _counted("compute", "compute instructions in all", computes, by_tile)
    if each:
        yield Figure(key="macs_per_instruction", label="MACs of a full instruction", value=max(each))
    yield _macs("macs_per_tile", "MACs of a full tile", each)
    if _instruction_macs(last) != each:
        count = _computes(last)
        blocks = _blocks(program, last)
        yield _counted("compute_last_tile", "compute instructions of the last tile", count, blocks)
        yield _macs("macs_last_tile", "MACs of the last tile", _instruction_macs(last))


def _macs(key: str, label: str, each: list[int]) -> Figure:
    """The MACs of one tile: a product where all instructions are alike, else their sum if it is short."""
    factors: tuple[Factor, ...] = ()
    if each and min(each) == max(each):
        factors = (Factor(count=len(each), noun="instructions"), Factor(count=each[0], noun="MACs each"))
    elif len(each) <= _SHOWN_TERMS:
        label = f"{label}: {' + '.join(map(str, each))}"
    return Figure(key=key, label=label, value=sum(each), unit="MACs", factors=factors)


def _counted(key: str, label: str, value: int, factors: list[Factor], *, headline: bool = False) -> Figure:
    """A count with its factors, where they multiply up to it."""
    exact = len(factors) > 1 and prod(factor.count for factor in factors) == value
    shown = tuple(factors) if exact else ()
    return Figure(key=key, label=label, value=value, factors=shown, headline=headline)


def _computes(piece: Piece) -> int:
    ops = piece.tables["op"]
    return int(ops["count"][ops["kind"] == Kind.COMPUTE].sum())


def _instruction_macs(piece: Piece) -> list[int]:
    """MACs of every compute instruction of a tile, in order."""
    macs: list[int] = []
    for op, box in zip(piece.tables["op"], piece.tables["box"], strict=True):
        if op["kind"] == Kind.COMPUTE:
            depth, step = int(box["length"][box["axis"]]), int(box["step"])
            per_step = int(op["macs"]) // depth
            macs += [per_step * min(step, depth - at * step) for at in range(int(op["count"]))]
    return macs


def _blocks(program: Program, piece: Piece) -> list[Factor]:
    """Array blocks of one tile along every axis."""
    tables = piece.tables
    computes = tables["op"]["kind"] == Kind.COMPUTE
    starts = tables["box"]["lo"][computes]
    counts = {axis: len(np.unique(starts[:, program.axes.index(axis)])) for axis in "nm"}
    steps = int(tables["op"]["count"][computes].max(initial=0))
    return [
        *(Factor(count=count, axis=axis) for axis, count in counts.items()),
        Factor(count=steps, axis="k"),
    ]


def _cut(program: Program, axis: str) -> Factor:
    """How one axis is cut into tiles; empty ones do not exist."""
    at = program.axes.index(axis)
    extent = program.extents[at]
    size = next(loop.offset[at] for loop in program.pieces[0].loops if loop.name == axis)
    starts = range(0, min(extent, dict(program.loops)[axis] * size), size)
    pieces = tuple((start, min(start + size, extent)) for start in starts)
    clipped = f", the last one clipped to {extent - starts[-1]}" if extent % size else ""
    sentence = f"{{{axis}}} has {extent} elements, cut into {len(pieces)} of {size} each{clipped}"
    return Factor(count=len(pieces), axis=axis, sentence=sentence, pieces=pieces)
