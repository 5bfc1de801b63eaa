"""How many requests the moves of every tile make, without spelling them out.

The requests of a box depend on where its first element lies within a request, and on its lengths; so
each row of a piece is counted once per such alignment, whatever the number of tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.program.tables import Kind, Mode
from pantile.targets.systolic.instructions import compute_shape
from pantile.targets.systolic.requests import count_requests_of
from pantile.targets.systolic.rows import ACCUMULATOR, DRAM, MOVIN, SCRATCHPAD
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from pantile.program.program import Operand, Program
    from pantile.targets.systolic.config import SystolicConfig


Integers = npt.NDArray[np.int64]

_COLUMNS = ("reads", "writes", "scratchpad", "accumulator")


@dataclass(frozen=True, slots=True)
class TileRequests:
    """Requests and granules per tile, in creation order.

    Attributes:
        reads: Read requests.
        writes: Write requests.
        scratchpad: Granules that the tile's blocks occupy in a scratchpad half.
        accumulator: Granules that its output region occupies in an accumulator half.
    """

    reads: Integers
    writes: Integers
    scratchpad: Integers
    accumulator: Integers


def count_requests(program: Program, config: SystolicConfig) -> TileRequests:
    """Return the requests of every tile of *program*, and the granules its blocks occupy."""
    tiles = tiles_of(program)
    counter = _Counter(program, config)
    counts = np.zeros((len(_COLUMNS), len(tiles)), np.int64)
    for place, piece in enumerate(program.pieces):
        mine = np.flatnonzero(tiles["piece"] == place)
        counts[:, mine] = counter.of_piece(piece.tables, tiles["step"][mine])
    _carry_bias(program, tiles, counts[_COLUMNS.index("accumulator")])
    counts.setflags(write=False)
    return TileRequests(*counts)


class _Counter:
    """Counts the instances of pieces of one program, and remembers what it counted."""

    def __init__(self, program: Program, config: SystolicConfig) -> None:
        self._program, self._config = program, config
        self._known: dict[tuple[int, bytes, int], int] = {}

    def of_piece(self, tables: dict[str, np.ndarray], steps: Integers) -> Integers:
        """Return the counts of every instance of a piece, by column."""
        ops, boxes, access = tables["op"], tables["box"], tables["access"]
        rows = np.searchsorted(ops["id"], access["op"])
        on_chip = (ops["kind"][rows] == Kind.MOVE) & (access["space"] != DRAM)
        counts = np.zeros((len(_COLUMNS), len(steps)), np.int64)
        groups: dict[tuple[int, int, bool, bytes], list[int]] = {}
        for row, space, operand in zip(
            rows[on_chip].tolist(), access["space"][on_chip], access["operand"][on_chip].tolist(), strict=True
        ):
            loads = bool(ops["opcode"][row] == MOVIN)
            key = (operand, int(space), loads, boxes["length"][row].tobytes())
            groups.setdefault(key, []).append(row)
        for (operand, space, loads, _), mine in groups.items():
            made = self._of_rows(operand, boxes["lo"][mine], boxes["length"][mine[0]], steps)
            counts[_columns(space, loads=loads)] += made
        counts[_COLUMNS.index("accumulator")] += self._computed_granules(tables, rows)
        return counts

    def _of_rows(self, operand: int, lo: Integers, length: Integers, steps: Integers) -> Integers:
        """Requests, in every instance, of rows of one operand that have the same lengths."""
        tensor, size = self._program.operands[operand], self._config.request_bytes
        moves = length > 0
        # The rows lie apart by the same in every instance: instances alike in one row are alike in all.
        first = _first_element(tensor, lo[0] + steps * moves, length)
        _, instances, classes = np.unique(
            first * tensor.element_bytes % size, return_index=True, return_inverse=True
        )
        sums = np.zeros(len(instances), np.int64)
        for place, instance in enumerate(instances):
            moved = lo + steps[instance] * moves
            alignments = _first_element(tensor, moved, length) * tensor.element_bytes % size
            found, at, times = np.unique(alignments, return_index=True, return_counts=True)
            for alignment, row, count in zip(found.tolist(), at.tolist(), times.tolist(), strict=True):
                sums[place] += count * self._of_box(operand, moved[row], length, alignment)
        return sums[classes.reshape(-1)]

    def _of_box(self, operand: int, lo: Integers, length: Integers, alignment: int) -> int:
        """Requests of one box; of a window they depend on more than where it begins."""
        tensor, wrap = self._program.operands[operand], self._program.semantics == "faithful"
        key = (operand, length.tobytes(), alignment)
        if tensor.rule == "window" or key not in self._known:
            size = self._config.request_bytes
            self._known[key] = count_requests_of(tensor, lo.tolist(), length.tolist(), size, wrap=wrap)
        return self._known[key]

    def _computed_granules(self, tables: dict[str, np.ndarray], rows: npt.NDArray[np.intp]) -> int:
        """Granules of the blocks of one tile that its computes begin, and no load does."""
        access = tables["access"]
        loaded = access["lo"][(access["mode"] == Mode.WRITE) & (access["space"] == ACCUMULATOR)]
        updates = access["mode"] == Mode.UPDATE
        keys, first = np.unique(access["lo"][updates], return_index=True)
        begun = first[~np.isin(keys, loaded)]
        lengths = tables["box"]["length"][rows[updates][begun]].tolist()
        return sum(compute_shape(self._program, length, self._config)[2] for length in lengths)


def _columns(space: int, *, loads: bool) -> list[int]:
    """Columns that a move counts in."""
    if not loads:
        return [_COLUMNS.index("writes")]
    return [_COLUMNS.index("reads"), _COLUMNS.index("scratchpad" if space == SCRATCHPAD else "accumulator")]


def _first_element(operand: Operand, lo: Integers, length: Integers) -> Integers:
    """First element that each box touches; of a window, with the padding left out."""
    if operand.rule == "window":
        lines = [_first_line(operand, lo, length, side) for side in (0, 1)]
        places = np.stack([lo[:, 0], *lines, lo[:, 6]], axis=1)
        return places @ np.array(operand.parameters["picture_strides"], np.int64)
    strides = np.zeros(lo.shape[1], np.int64)
    strides[: len(operand.strides)] = operand.strides
    offsets = operand.parameters.get("batch_offsets")
    start = np.array(offsets, np.int64)[lo[:, 0]] if offsets else 0
    return lo @ strides + start


def _first_line(operand: Operand, lo: Integers, length: Integers, side: int) -> Integers:
    """First line of the picture, not of the padding, that each box reads along one side; 0 where none is."""
    given = operand.parameters
    outputs = lo[:, 1 + side, None] + np.arange(length[1 + side], dtype=np.int64)
    kernel = np.arange(given["kernel"][side], dtype=np.int64) * given["dilations"][side]
    read = (outputs * given["strides"][side] - given["pads"][side])[:, :, None] + kernel
    limit = given["height" if side == 0 else "width"]
    first = np.where(read >= 0, read, limit).reshape(len(lo), -1).min(axis=1, initial=limit)
    return np.where(first < limit, first, 0)


def _carry_bias(program: Program, tiles: npt.NDArray[np.void], accumulator: Integers) -> None:
    """Blocks that a bias began keep the bias's size through all reduction stages of their region."""
    if not any(operand.name == "bias" for operand in program.operands):
        return
    first = ~tiles["accumulates"].astype(bool)
    began = np.zeros(int(tiles["region"].max(initial=-1)) + 1, np.int64)
    began[tiles["region"][first]] = accumulator[first]
    accumulator[~first] = began[tiles["region"][~first]]
