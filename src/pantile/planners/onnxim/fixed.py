"""What ``fixed`` plans where ONNXim's own automatic mapping fails or is wrong.

The contract: the mapper with inner sizes rounded up to a multiple of the array's side (Q1, Q2b, Q9); while
a tile overflows, counted in requests, one more tile along the loop with the largest inner size (Q2a; ties
in the order C, N, M); nothing fits: infeasible, with the two numbers. Everywhere else ``fixed`` and
``faithful`` plan the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.planners.onnxim.coverage import ceil_div, gemm_axes, round_up
from pantile.planners.onnxim.gemm import AXES, gemm_mapping, tile_counts, tile_limits
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.onnxim.capacity import Overflow, SystolicFigures
    from pantile.tiling.onnxim import Semantics

    Fits = Callable[[Mapping], Overflow | None]

TIE_ORDER = "CNMQPSR"
"""Which loop is cut first where several have the largest inner size."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A mapping that fits, or the overflow of the smallest tile where none does."""

    mapping: Mapping | None = None
    overflow: Overflow | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """How a loop may be cut: into *outer* tiles of whole grains.

    Attributes:
        total: Elements of the loop.
        grain: Inner sizes are multiples of it.
        outer: Tiles asked for.
        padded: Whether an inner size may exceed the total.
    """

    total: int
    grain: int
    outer: int
    padded: bool

    @property
    def grains(self) -> int:
        """Grains in one tile."""
        return ceil_div(ceil_div(self.total, self.grain), self.outer)

    @property
    def inner(self) -> int:
        """Nominal elements of one tile."""
        size = self.grains * self.grain
        return size if self.padded else min(size, self.total)

    def finer(self) -> Cut:
        """Return the cut with the fewest tiles more that makes the inner size smaller.

        Adding tiles one by one would pass through the same inner sizes, for nothing changes in between.
        """
        return replace(self, outer=ceil_div(ceil_div(self.total, self.grain), self.grains - 1))


def automatic_gemm(
    total: LoopCounts, machine: SystolicFigures, fits: Fits, log: DecisionLog, semantics: Semantics
) -> Outcome:
    """Return the automatic mapping of a product.

    Raises:
        MapperStop: Under ``faithful`` where the original stops; under both where the machine is refused.
        MappingError: Under ``faithful`` if a tile does not fit.
    """
    try:
        mapping = gemm_mapping(total, machine, log)
    except MapperStop as stop:
        if semantics == "faithful" or stop.refused:
            raise
        return _rounded_up(total, machine, fits, log, stop.quirk, stop.reason)
    repeats = repeating_letters(mapping, machine.heights[0])
    if repeats:
        sizes = " and ".join(f"{letter}{mapping.inner[letter]}" for letter in repeats)
        reason = (
            f"inner {sizes}, no multiple of the array's {machine.heights[0]} rows, overlaps the next tile"
        )
        if semantics == "fixed":
            return _rounded_up(total, machine, fits, log, "Q9", reason)
        log.note("Q9", reason)
    overflow = fits(mapping)
    if overflow is None:
        return Outcome(mapping)
    if semantics == "fixed":
        return _rounded_up(
            total, machine, fits, log, "Q2a", f"a tile {mapping.inner} is too large: {overflow}"
        )
    raise too_large(mapping, overflow, mend="use --semantics fixed, or give an explicit mapping")


def repeating_letters(mapping: Mapping, height: int) -> str:
    """Return the letters along which blocks of one tile reach into the next one (Q8, Q9)."""
    return "".join(letter for letter, axis in gemm_axes(mapping, height).items() if axis.repeated)


def too_large(mapping: Mapping, overflow: Overflow, *, mend: str) -> MappingError:
    """Return the error for a tile that does not fit, with the memory and both numbers."""
    return MappingError(
        f"a tile {mapping.inner} is too large: {overflow} (Q2)",
        place=mapping.at("I", "C"),
        mend=mend,
    )


def _rounded_up(
    total: LoopCounts, machine: SystolicFigures, fits: Fits, log: DecisionLog, quirk: str, reason: str
) -> Outcome:
    """Return the mapper's result with inner sizes rounded up, cut further while a tile overflows."""
    side = machine.heights[0]
    log.notes[:] = [note for note in log.notes if note.code != "Q18"]  # its regions are not these
    log.note(
        quirk,
        f"ONNXim: {reason}; here inner sizes are rounded up to multiples of {side} and cut until they fit",
    )
    silent = DecisionLog()
    limits = tile_limits(machine, side, silent)
    asked = tile_counts(
        total, replace(limits, max_k=max(1, limits.max_k)), machine.cores, side, silent, word=2**64
    )
    for note in silent.notes:
        log.note(note.code, note.text)
    log.stage = "fixed"
    cuts = {letter: Cut(total[letter], side, asked[axis], padded=True) for axis, letter in AXES.items()}
    for letter, cut in cuts.items():
        log.add(
            f"inner {letter}", cut.inner, f"ceil({letter}p / outer) rounded up to a multiple of dim",
            {f"{letter}p": round_up(total[letter], side), "outer": cut.outer, "dim": side},
        )  # fmt: skip
    return cut_until_it_fits(total, cuts, fits, log)


def cut_until_it_fits(total: LoopCounts, cuts: dict[str, Cut], fits: Fits, log: DecisionLog) -> Outcome:
    """Return the first mapping that fits while the largest loop is cut finer and finer.

    Every step makes one inner size smaller by at least a grain, so it ends: at the latest when all
    loops are down to one grain.

    Args:
        total: The whole.
        cuts: Where to start, by letter; loops that are left out count 1.
        fits: Judges a mapping.
        log: Takes every step.
    """
    while True:
        inner = {letter: cut.inner for letter, cut in cuts.items()}
        outer = {letter: ceil_div(total[letter], size) for letter, size in inner.items()}
        ones = {"N": 1, "C": 1, "M": 1}
        mapping = Mapping(total, LoopCounts(**ones | outer), LoopCounts(**ones | inner))
        overflow = fits(mapping)
        if overflow is None:
            return Outcome(mapping)
        open_letters = [letter for letter in TIE_ORDER if letter in cuts and cuts[letter].grains > 1]
        if not open_letters:
            return Outcome(overflow=overflow)
        letter = max(open_letters, key=lambda each: inner[each])  # the first of equals
        cuts = cuts | {letter: cuts[letter].finer()}
        log.add(
            f"outer {letter}", cuts[letter].outer, "one more until the largest inner size shrinks",
            {"needed_bytes": overflow.needed_bytes, "capacity_bytes": overflow.capacity_bytes},
            rejected=(f"inner {mapping.inner}: {overflow}",),
        )  # fmt: skip
