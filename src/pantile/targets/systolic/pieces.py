"""From runs along every loop to the pieces of a program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from pantile.program.piece import Loop, Piece
from pantile.targets.systolic.rows import Entries, TileRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pantile.program.program import Operand
    from pantile.targets.systolic.runs import Run

Kind = tuple["Run", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSpec:
    """One loop over tiles.

    Attributes:
        name: Its letter.
        count: Its iterations.
        size: Nominal elements that one step advances.
        axis: The axis of the iteration space that it advances.
        runs: Runs of alike tiles along it.
    """

    name: str
    count: int
    size: int
    axis: int
    runs: Sequence[Run]


def pieces_of(
    loops: Sequence[LoopSpec],
    axes: int,
    operands: tuple[Operand, ...],
    fill: Callable[[TileRows, Kind], None],
    accumulates: Callable[[Kind], bool],
) -> tuple[Piece, ...]:
    """Return one piece per kind of tile that has any operation, in order of their first tiles.

    Args:
        loops: Outermost first; tiles are numbered and operations listed in the order of the nest.
        axes: Dimensions of the iteration space.
        operands: Of the program.
        fill: Adds the rows of the first tile of a kind.
        accumulates: Whether the tiles of a kind add to an output that an earlier tile began.
    """
    entries = Entries()
    kinds: dict[tuple[int, ...], Kind] = {}
    rows: dict[tuple[int, ...], TileRows] = {}
    for place in product(*(range(len(loop.runs)) for loop in loops)):
        kinds[place] = tuple(loop.runs[at] for loop, at in zip(loops, place, strict=True))
        tile = TileRows.of(operands, entries)
        fill(tile, kinds[place])
        if tile.op:
            rows[place] = tile
    operation = _numbering(loops, {place: tile.length for place, tile in rows.items()})
    tile_number = _numbering(loops, dict.fromkeys(rows, 1))
    pieces = []
    for place, tile in rows.items():
        (first_op, op_steps), (first_tile, tile_steps) = operation(place), tile_number(place)
        tables = tile.tables(first_op, first_tile, accumulates=accumulates(kinds[place]))
        steps = zip(op_steps, tile_steps, strict=True)
        pieces.append(
            Piece(
                tables,
                tuple(
                    _loop(loop, run, op_step, tile_step, axes)
                    for loop, run, (op_step, tile_step) in zip(loops, kinds[place], steps, strict=True)
                ),
            )
        )
    return tuple(sorted(pieces, key=lambda piece: int(piece.tables["op"]["id"][0])))


def _loop(loop: LoopSpec, run: Run, op_step: int, tile_step: int, axes: int) -> Loop:
    return Loop(
        name=loop.name,
        first=run.first,
        count=run.count,
        ids={"op": op_step, "tile": tile_step, "thread": tile_step, "task": tile_step},
        offset=tuple(loop.size if axis == loop.axis else 0 for axis in range(axes)),
    )


def _numbering(
    loops: Sequence[LoopSpec], weights: dict[tuple[int, ...], int]
) -> Callable[[tuple[int, ...]], tuple[int, list[int]]]:
    """Return what numbers things that each tile has ``weights[kind]`` of, in nest order.

    The result maps a kind to the number of its first thing and the steps along every loop.
    """

    def subtotal(prefix: tuple[int, ...]) -> int:
        """Things of one tile-index prefix whose runs are *prefix*, all inner loops included."""
        if prefix not in sums:
            depth = len(prefix)
            if depth == len(loops):
                sums[prefix] = weights.get(prefix, 0)
            else:
                sums[prefix] = sum(
                    run.count * subtotal((*prefix, at)) for at, run in enumerate(loops[depth].runs)
                )
        return sums[prefix]

    sums: dict[tuple[int, ...], int] = {}

    def number(place: tuple[int, ...]) -> tuple[int, list[int]]:
        """Number of a kind's first thing, and steps."""
        first = 0
        for depth, at in enumerate(place):
            first += sum(loops[depth].runs[j].count * subtotal((*place[:depth], j)) for j in range(at))
        return first, [subtotal(place[: depth + 1]) for depth in range(len(place))]

    return number
