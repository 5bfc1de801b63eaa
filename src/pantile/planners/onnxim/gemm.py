"""ONNXim's automatic mapping of a product, with every intermediate figure.

Source: onnxim-model.md section 3.1; the figures bear the names of the original's algorithm. I, J and K
stand there for N, M and C. All arithmetic is unsigned and 32 bits wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

from pantile.planners.onnxim.capacity import ACCUMULATOR_ELEMENT_BYTES, BUFFERS
from pantile.planners.onnxim.coverage import ceil_div, round_up
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.onnxim import LoopCounts, Mapping

if TYPE_CHECKING:
    from pantile.planners.onnxim.capacity import SystolicFigures
    from pantile.tiling.log import DecisionLog

WORD = 2**32
AXES = {"I": "N", "J": "M", "K": "C"}
"""The mapper's axes and their letters, in the order of its own computations."""


@dataclass(frozen=True, slots=True)
class TileLimits:
    """How many array blocks a tile may have.

    Attributes:
        max_ij: Along N and along M.
        max_k: Along C.
        mats: Blocks that an operand's share of the scratchpad holds.
    """

    max_ij: int
    max_k: int
    mats: int


def square_side(machine: SystolicFigures, total: LoopCounts) -> int:
    """Return the side of core 0's array.

    Raises:
        MapperStop: If the array is not square, on which the original asserts (Q19).
    """
    height, width = machine.heights[0], machine.widths[0]
    if height != width:
        raise MapperStop(
            "Q19",
            f"the automatic mapping needs a square array, got {height} rows and {width} columns",
            refused=True,
            mend=f'give an explicit mapping: --mapping "[T] {total} - [O] … - [I] …"',
        )
    return height


def memory_rows(machine: SystolicFigures, side: int, log: DecisionLog) -> tuple[int, int]:
    """Return the rows of *side* elements that a half of the scratchpad and of the accumulator holds."""
    log.stage = "capacity"
    precision = machine.precision
    spad_bytes = machine.scratchpad_bytes[0] % WORD
    acc_bytes = machine.accumulator_bytes[0] % WORD
    spad_rows = log.add(
        "max_spad_rows",
        spad_bytes // (side * precision * BUFFERS),
        "S_spad / (dim · p · 2)",
        {"S_spad": spad_bytes, "dim": side, "p": precision},
    )  # fmt: skip
    acc_rows = log.add(
        "max_acc_rows",
        acc_bytes // (side * ACCUMULATOR_ELEMENT_BYTES * BUFFERS),
        "S_acc / (dim · 4 · 2)",
        {"S_acc": acc_bytes, "dim": side},
    )  # fmt: skip
    return spad_rows, acc_rows


def tile_limits(machine: SystolicFigures, side: int, log: DecisionLog) -> TileLimits:
    """Return the largest tile that the mapper's budget allows; *max_k* may be 0 (Q2b).

    Raises:
        MapperStop: If the accumulator holds no block, where the original divides by zero (Q2c).
    """
    spad_rows, acc_rows = memory_rows(machine, side, log)
    rows = log.add("db_partitions_rows", spad_rows // 2, "max_spad_rows / 2", {"max_spad_rows": spad_rows})
    mats = log.add(
        "db_mats_in_partition",
        rows // side,
        "db_partitions_rows / dim",
        {"db_partitions_rows": rows, "dim": side},
    )
    acc_mats = log.add(
        "db_mats_in_acc", acc_rows // side, "max_acc_rows / dim", {"max_acc_rows": acc_rows, "dim": side}
    )
    max_ij = log.add(
        "db_max_tile_i_j", isqrt(acc_mats), "floor(sqrt(db_mats_in_acc))", {"db_mats_in_acc": acc_mats}
    )
    if max_ij == 0:
        needed = side * side * ACCUMULATOR_ELEMENT_BYTES
        held = machine.accumulator_bytes[0] // BUFFERS
        raise MapperStop(
            "Q2c",
            f"an accumulator half of {held} B holds no {side}x{side} block of {needed} B",
            refused=True,
            mend=f"give the accumulator at least {needed * BUFFERS} B",
        )
    max_k = log.add(
        "db_max_tile_k", mats // max_ij, "db_mats_in_partition / db_max_tile_i_j",
        {"db_mats_in_partition": mats, "db_max_tile_i_j": max_ij},
    )  # fmt: skip
    log.add("candidate_ij", max_ij * side, "db_max_tile_i_j · dim", {"db_max_tile_i_j": max_ij, "dim": side})
    log.add("candidate_k", max_k * side, "db_max_tile_k · dim", {"db_max_tile_k": max_k, "dim": side})
    return TileLimits(max_ij, max_k, mats)


def tile_counts(
    total: LoopCounts, limits: TileLimits, cores: int, side: int, log: DecisionLog, *, word: int = WORD
) -> dict[str, int]:
    """Return the outer counts by the mapper's axes I, J, K, after the adjustment to the cores.

    Args:
        total: The product.
        limits: Largest tile.
        cores: Number of cores.
        side: Side of the array.
        log: Takes the decisions.
        word: Modulus of the product of I and J.

    Raises:
        MapperStop: If *max_k* is 0, or the count of regions wraps to 0: the original divides by it.
    """
    if limits.max_k == 0:
        raise MapperStop(
            "Q2b",
            f"an operand's share of a scratchpad half is {limits.mats} blocks of {side}x{side}, below the "
            f"{limits.max_ij} along a tile, so that db_max_tile_k is 0 and the mapper divides by it",
        )
    log.stage = "tiles"
    counts = {}
    for axis, letter in AXES.items():
        size = total[letter]
        limit = (limits.max_k if axis == "K" else limits.max_ij) * side
        blocks, cuts = round_up(size, side) // side, ceil_div(size, limit)
        counts[axis] = log.add(
            f"tile_{axis}",
            min(blocks, cuts),
            f"min({letter}p / dim, ceil({letter} / candidate))",
            {letter: size, f"{letter}p / dim": blocks, "candidate": limit},
            rejected=() if cuts == blocks else (f"{blocks}: one block per tile",),
        )
    _adjust_to_cores(counts, total, cores, log, word)
    return counts


def _adjust_to_cores(
    counts: dict[str, int], total: LoopCounts, cores: int, log: DecisionLog, word: int
) -> None:
    """Raise the count of the longer of I and J for idle cores; C is left out."""
    log.stage = "cores"
    longer = "J" if total.M > total.N else "I"
    wider = longer if total.N != total.M and total[AXES[longer]] > cores else ""

    def regions() -> int:
        factors = {"tile_I": counts["I"], "tile_J": counts["J"]}
        return log.add("num_tiles", counts["I"] * counts["J"] % word, "tile_I · tile_J", factors)

    def raise_count(increase: int, sign: str, formula: str) -> None:
        why_not = (
            "N = M: neither is longer (Q17)" if total.N == total.M else "the longer is not above the cores"
        )
        rejected = () if wider else (f"raising tile_I or tile_J: {why_not}",)
        log.add("increase_tile", increase, formula, {"num_tiles": tiles, "cores": cores}, rejected=rejected)
        if wider:
            raised = counts[wider] * increase if sign == "·" else counts[wider] + increase
            inputs = {f"tile_{wider}": counts[wider], "increase_tile": increase}
            counts[wider] = log.add(f"tile_{wider}", raised, f"tile_{wider} {sign} increase_tile", inputs)

    tiles = before = regions()
    if tiles == 0:
        raise MapperStop("Q24", f"tile_I · tile_J = {counts['I'] * counts['J']} wraps to 0 in 32 bits")
    if tiles < cores:
        raise_count(ceil_div(cores, tiles), "·", "ceil(cores / num_tiles)")
        tiles = regions()
    if tiles % cores:
        raise_count(tiles % cores, "+", "num_tiles mod cores")
    if total.N == total.M and (before < cores or before % cores):
        log.note(
            "Q17", f"N = M = {total.N}: nothing is split for the cores, {before} regions on {cores} cores"
        )


def aligned_sizes(
    total: LoopCounts, counts: dict[str, int], cores: int, side: int, log: DecisionLog
) -> Mapping:
    """Return the mapping with the original's inner sizes, rounded down by its bit trick.

    Raises:
        MapperStop: If an inner size becomes 0: the original divides by it (Q1).
    """
    sizes = {}
    for axis, letter in AXES.items():
        log.stage = "inner"
        padded = round_up(total[letter], side)
        size = log.add(
            f"inner_{axis}", ceil_div(padded, counts[axis]), f"ceil({letter}p / tile_{axis})",
            {f"{letter}p": padded, f"tile_{axis}": counts[axis]},
        )  # fmt: skip
        log.stage = "alignment"
        sizes[letter] = log.add(
            f"inner_{axis}",
            size - (size & (side - 1)),
            f"inner_{axis} - (inner_{axis} & (dim - 1))",
            {f"inner_{axis}": size, "dim": side},
        )
        if sizes[letter] == 0:
            raise MapperStop(
                "Q1",
                f"inner {letter} = {size}, cut into {counts[axis]} tiles for {cores} cores, is aligned down "
                f"to 0 on an array of {side}, and the mapper divides by it",
            )
    log.stage = "outer"
    outer = {
        letter: log.add(
            f"tile_{axis}", ceil_div(total[letter], sizes[letter]), f"ceil({letter} / inner_{axis})",
            {letter: total[letter], f"inner_{axis}": sizes[letter]},
        )
        for axis, letter in AXES.items()
    }  # fmt: skip
    return Mapping(total, LoopCounts(**outer), LoopCounts(**sizes))


def gemm_mapping(total: LoopCounts, machine: SystolicFigures, log: DecisionLog) -> Mapping:
    """Return the mapping that ONNXim finds for a product whose convolution letters are 1.

    Raises:
        MapperStop: Where the original does not come through: Q1, Q2b, Q2c, Q19.
    """
    side = square_side(machine, total)
    log.stage = "padding"
    for axis, letter in AXES.items():
        log.add(
            f"dim_{axis}_padded", round_up(total[letter], side), f"ceil({letter} / dim) · dim",
            {letter: total[letter], "dim": side},
        )  # fmt: skip
    limits = tile_limits(machine, side, log)
    counts = tile_counts(total, limits, machine.cores, side, log)
    mapping = aligned_sizes(total, counts, machine.cores, side, log)
    regions = mapping.outer.N * mapping.outer.M
    if _raised(counts, total, limits, side) and regions % machine.cores:
        log.note(
            "Q18",
            f"raising the tile counts for {machine.cores} cores gives {regions} regions, "
            "which is no multiple of the cores",
        )
    return mapping


def _raised(counts: dict[str, int], total: LoopCounts, limits: TileLimits, side: int) -> bool:
    """Whether the adjustment to the cores changed the counts."""
    reach = limits.max_ij * side
    return counts["I"] * counts["J"] != ceil_div(total.N, reach) * ceil_div(total.M, reach)
