"""Terms of a cut in closed form: what its program will move, without building it.

A shard of a at (i, k) lies in the memory of chiplet (i mod R, k mod C), one of b at (k, j) in that of
(k mod R, j mod C). Figures for b are those for a with rows and columns exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.planners.mesh.cut import Cut
    from pantile.planners.mesh.figures import MeshFigures
    from pantile.planners.mesh.product import Product


@dataclass(frozen=True, slots=True)
class _Side:
    """One input, seen along the direction in which its shards travel.

    Attributes:
        lines: Elements of the piece that every line across that direction works on: rows, for a.
        pieces: Elements along the reduction of every piece.
        ends: Chiplets in a line: columns, for a.
        width: Bytes of an element.
        times: How often every shard is needed anew: products do not count, rounds do.
    """

    lines: Sequence[int]
    pieces: Sequence[int]
    ends: int
    width: int
    times: int

    @property
    def bytes(self) -> int:
        """Bytes of all shards, each once in every round that needs it."""
        return sum(self.lines) * sum(self.pieces) * self.width * self.times


def predicted_terms(product: Product, cut: Cut, exchange: str, *, bus: bool) -> dict[str, Any]:
    """Return what the program of a cut moves and computes.

    Args:
        product: What is cut.
        cut: The cut.
        exchange: ``cannon``, ``summa``, ``direct`` or ``skewed``.
        bus: Whether one bus links everything.
    """
    batch, m, n, k = product.sizes
    sides = _sides(product, cut)
    loads = cut.grid[::-1] if exchange in ("direct", "skewed") else (1, 1)
    read = [batch * side.bytes * times for side, times in zip(sides, loads, strict=True)]
    passed = batch * sum(side.bytes * (side.ends - 1) for side in sides if exchange in ("cannon", "summa"))
    stored = product.operand_bytes[2]
    hops = sum(read) + passed + stored
    if not bus:
        hops = batch * sum(_hop_bytes(side, exchange) for side in sides)
    return {
        "macs": batch * m * n * k,
        "computes": cut.pieces[0] * cut.pieces[1] * cut.pieces[2] * cut.pieces[3],
        "a_read_bytes": read[0],
        "b_read_bytes": read[1],
        "written_bytes": stored,
        "passed_bytes": passed,
        "hop_bytes": hops,
    }


def bound_terms(product: Product, cut: Cut, exchange: str, figures: MeshFigures) -> dict[str, int]:
    """Return the cycles that no run can stay below: of the busiest array, of the busiest memory's wire."""
    batch, _, _, k = product.sizes
    a, b = _sides(product, cut)
    rows, columns = figures.array
    macs = batch * max(a.lines) * max(b.lines) * k
    loads = cut.grid[::-1] if exchange in ("direct", "skewed") else (1, 1)
    busiest = 0
    for row, of_a in enumerate(a.lines):
        for column, of_b in enumerate(b.lines):
            mine = of_a * sum(a.pieces[column :: a.ends]) * a.width * a.times * loads[0]
            mine += of_b * sum(b.pieces[row :: b.ends]) * b.width * b.times * loads[1]
            busiest = max(busiest, batch * mine)
    return {
        "compute_cycles": -(-macs // (rows * columns)),
        "ddr_cycles": -(-busiest * figures.core_hz // figures.ddr_rate),
    }


def _sides(product: Product, cut: Cut) -> tuple[_Side, _Side]:
    rows, columns = cut.grid
    m, n, k = (_lengths(size, count) for size, count in zip(product.sizes[1:], cut.pieces[1:], strict=True))
    along_m, along_n = cut.rounds
    a, b, _ = product.widths
    return (
        _Side([sum(m[row::rows]) for row in range(rows)], k, columns, a, along_n),
        _Side([sum(n[column::columns]) for column in range(columns)], k, rows, b, along_m),
    )


def _lengths(size: int, count: int) -> list[int]:
    """Lengths of the pieces that a size is cut into."""
    return [size * (each + 1) // count - size * each // count for each in range(count)]


def _hop_bytes(side: _Side, exchange: str) -> int:
    """Bytes times links of neighbours, over all shards of one input in all rounds of one product."""
    return (
        side.width
        * side.times
        * sum(
            elements * length * _hops(line, place % side.ends, side.ends, exchange)
            for line, elements in enumerate(side.lines)
            for place, length in enumerate(side.pieces)
        )
    )


def _hops(line: int, home: int, ends: int, exchange: str) -> int:
    """Links that the shard of *home* goes over in one line of *ends* chiplets."""
    if exchange == "summa":
        return ends - 1
    if exchange != "cannon":
        return sum(abs(place - home) for place in range(ends))
    first = (home - line) % ends  # the skew: who begins with it
    # Every shift goes to the left; from the left end it is the whole way back, unless it began at the right.
    shifts = 0 if ends == 1 else ends - 1 if first == ends - 1 else 2 * ends - 3
    return abs(first - home) + shifts
