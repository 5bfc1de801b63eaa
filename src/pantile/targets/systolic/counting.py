"""How many requests the moves of every tile make, without spelling them out.

The requests of a box depend on where its first element lies within a request, and on its lengths; so
each row of a piece is counted once per such alignment, whatever the number of tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind
from pantile.targets.systolic.instructions import compute_shape
from pantile.targets.systolic.requests import count_requests_of
from pantile.targets.systolic.rows import DRAM, MOVIN, SCRATCHPAD
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.program.program import Operand, Program
    from pantile.targets.systolic.config import SystolicConfig


_COLUMNS = ("reads", "writes", "scratchpad", "accumulator")
_ACCUMULATOR_COLUMN = _COLUMNS.index("accumulator")


@dataclass(frozen=True, slots=True)
class TileRequests:
    """Requests and granules per tile, in creation order.

    Attributes:
        reads: Read requests.
        writes: Write requests.
        scratchpad: Granules that the tile's blocks occupy in a scratchpad half.
        accumulator: Granules that its output region occupies in an accumulator half.
    """

    reads: npt.NDArray[np.int64]
    writes: npt.NDArray[np.int64]
    scratchpad: npt.NDArray[np.int64]
    accumulator: npt.NDArray[np.int64]


def count_requests(program: Program, config: SystolicConfig) -> TileRequests:
    """Return the requests of every tile of *program*, and the granules its blocks occupy."""
    tiles = tiles_of(program)
    counts = np.zeros((len(_COLUMNS), len(tiles)), np.int64)
    for place, piece in enumerate(program.pieces):
        mine = np.flatnonzero(tiles["piece"] == place)
        counts[:, mine] = _count_piece(program, config, piece.tables, tiles["step"][mine])
    _carry_bias(program, tiles, counts[_ACCUMULATOR_COLUMN])
    counts.setflags(write=False)
    return TileRequests(*counts)


@dataclass(frozen=True, slots=True)
class _Alike:
    """Instances of a piece, in classes whose boxes of some rows lie alike within requests.

    Attributes:
        instances: One instance of every class.
        classes: The class of every instance.
        sums: What the rows count in each class, by column of :class:`TileRequests`.
    """

    instances: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    sums: npt.NDArray[np.int64]


def _count_piece(
    program: Program,
    config: SystolicConfig,
    tables: dict[str, np.ndarray],
    steps: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Counts of every instance of a piece, by column."""
    accesses = iter(tables["access"][["space", "lo", "operand"]].tolist())
    boxes = tables["box"]
    groups: dict[tuple[int, bytes], _Alike] = {}
    held: set[int] = set()
    granules = 0
    for row, op in enumerate(tables["op"]):
        lo, length = boxes["lo"][row], boxes["length"][row]
        if op["kind"] == Kind.MOVE:
            pair = (next(accesses), next(accesses))
            space, key, operand = next(access for access in pair if access[0] != DRAM)
            box = (program.operands[operand], lo, length)
            # Rows of one operand that move along the same axes lie apart by the same in every instance.
            group = (operand, (length > 0).tobytes())
            if group not in groups:
                groups[group] = _alike(*box, steps, config.request_bytes)
            loads = op["opcode"] == MOVIN
            _add_counts(groups[group], *box, steps, _columns(space, loads=loads), program, config)
            if loads and space != SCRATCHPAD:
                held.add(key)
            continue
        _, _, (_, key, _) = next(accesses), next(accesses), next(accesses)
        if key not in held:
            held.add(key)
            granules += compute_shape(program, length.tolist(), config)[2]
    counts = np.zeros((len(_COLUMNS), len(steps)), np.int64)
    counts[_ACCUMULATOR_COLUMN] = granules
    for alike in groups.values():
        counts += alike.sums[:, alike.classes]
    return counts


def _columns(space: int, *, loads: bool) -> list[int]:
    """Columns that a move counts in."""
    if not loads:
        return [_COLUMNS.index("writes")]
    return [_COLUMNS.index("reads"), _COLUMNS.index("scratchpad" if space == SCRATCHPAD else "accumulator")]


def _alike(
    operand: Operand,
    lo: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    request_bytes: int,
) -> _Alike:
    first = _first_element(operand, lo + steps * (length > 0), length)
    _, instances, classes = np.unique(
        first * operand.element_bytes % request_bytes, return_index=True, return_inverse=True
    )
    sums = np.zeros((len(_COLUMNS), len(instances)), np.int64)
    return _Alike(instances, classes.reshape(-1), sums)


def _add_counts(
    alike: _Alike,
    operand: Operand,
    lo: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    columns: list[int],
    program: Program,
    config: SystolicConfig,
) -> None:
    """Add the requests of one row to *columns* of its classes."""
    wrap = program.semantics == "faithful"
    for place, instance in enumerate(alike.instances):
        moved = (lo + steps[instance] * (length > 0)).tolist()
        count = count_requests_of(operand, moved, length.tolist(), config.request_bytes, wrap=wrap)
        alike.sums[columns, place] += count


def _first_element(
    operand: Operand, lo: npt.NDArray[np.int64], length: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
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


def _first_line(
    operand: Operand, lo: npt.NDArray[np.int64], length: npt.NDArray[np.int64], side: int
) -> npt.NDArray[np.int64]:
    """First line of the picture, not of the padding, that each box reads along one side; 0 where none is."""
    given = operand.parameters
    outputs = lo[:, 1 + side, None] + np.arange(length[1 + side], dtype=np.int64)
    kernel = np.arange(given["kernel"][side], dtype=np.int64) * given["dilations"][side]
    read = (outputs * given["strides"][side] - given["pads"][side])[:, :, None] + kernel
    limit = given["height" if side == 0 else "width"]
    first = np.where(read >= 0, read, limit).reshape(len(lo), -1).min(axis=1, initial=limit)
    return np.where(first < limit, first, 0)


def _carry_bias(program: Program, tiles: npt.NDArray[np.void], accumulator: npt.NDArray[np.int64]) -> None:
    """Blocks that a bias began keep the bias's size through all reduction stages of their region."""
    if not any(operand.name == "bias" for operand in program.operands):
        return
    first = ~tiles["accumulates"].astype(bool)
    began = np.zeros(int(tiles["region"].max(initial=-1)) + 1, np.int64)
    began[tiles["region"][first]] = accumulator[first]
    accumulator[~first] = began[tiles["region"][~first]]
