"""Can a store leave before a contribution to what it stores?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.check.regions import first_stage, meets, stages
from pantile.check.report import Finding, Report
from pantile.program.tables import Edge, Kind, Test

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Program


@dataclass(frozen=True, slots=True)
class _Traffic:
    """What one kind of tile stores and contributes, by counter: operations of its first tile."""

    piece: Piece
    stores: dict[int, list[int]]
    contributions: dict[int, int]


def check_overtaking(program: Program, overtaken: int | None = None, strayed: int | None = None) -> Report:
    """Check that stores are ordered behind all contributions, whatever the timing.

    A store waits until nothing that was *issued* on its block is outstanding. Contributions of its own
    tile are issued before it; those of another resident tile need not be, and those of a later tile are not.

    Args:
        program: What runs.
        overtaken: Stores that did overtake in a simulated run; ``None`` if it was not run.
        strayed: Tiles that, in that run, added to the slot of another output.
    """
    traffic = [_traffic(piece) for piece in program.pieces]
    report = Report()
    for late in (True, False):
        stores, pair = _unordered(program, traffic, late=late)
        if stores:
            report += Report((_too_early(stores, pair) if late else _race(stores, pair, overtaken),))
    if strayed:
        report += Report((_strayed(strayed),))
    if not report.findings:
        report += Report(proved=("order: every store follows all contributions to its block",))
    return report


def _unordered(program: Program, traffic: list[_Traffic], *, late: bool) -> tuple[int, tuple[int, int]]:
    """Count stores with a contribution from a later (*late*) or an earlier stage, and give the first pair.

    The pair is (store, contribution), operations of the first tiles of their kinds.
    """
    count, first = 0, (-1, -1)
    for mine in traffic:
        unordered: dict[int, int] = {}
        for other in traffic if mine.stores else ():
            if _comes(program, mine.piece, other.piece, late=late):
                common = mine.stores.keys() & other.contributions.keys()
                unordered |= {counter: other.contributions[counter] for counter in sorted(common)}
        if unordered and first[0] < 0:
            first = min((mine.stores[counter][0], op) for counter, op in unordered.items())
        count += mine.piece.count * sum(len(mine.stores[counter]) for counter in unordered)
    return count, first


def _comes(program: Program, piece: Piece, other: Piece, *, late: bool) -> bool:
    """Whether a tile of *other* works on the outputs of one of *piece*, after it (*late*) or before it."""
    if other is piece:
        return stages(program, piece) > 1
    mine, theirs = first_stage(program, piece), first_stage(program, other)
    return (theirs > mine if late else theirs < mine) and meets(program, piece, other)


def _race(stores: int, pair: tuple[int, int], overtaken: int | None) -> Finding:
    store, contribution = pair
    if overtaken:
        sentence = f"{overtaken} of {stores} stores leave before an earlier tile has issued its contribution"
    else:
        sentence = f"{stores} stores could leave before an earlier resident tile has issued its contribution"
    return Finding(
        code="PT-RACE",
        severity="error" if overtaken else "warning",
        sentence=sentence,
        operations=(contribution, store),
        evidence="two tiles of one output are resident at once, and either may issue first: operation "
        f"{store} waits for what is outstanding, not for operation {contribution} that is still to come",
        grade="wrong value" if overtaken else "timing-dependent",
        mend="keep the reduction in one tile, or let a tile wait for the one before it",
    )


def _too_early(stores: int, pair: tuple[int, int]) -> Finding:
    store, contribution = pair
    return Finding(
        code="PT-RACE",
        severity="error",
        sentence=f"{stores} stores come before a later tile's contribution to what they store",
        operations=(store, contribution),
        evidence=f"operation {store} does not wait for operation {contribution} of a later tile",
        grade="wrong value",
        mend="store in the last tile of the reduction",
    )


def _strayed(tiles: int) -> Finding:
    return Finding(
        code="PT-RACE",
        severity="error",
        sentence=f"{tiles} tiles add to the slot of another output",
        evidence="a tile takes over the slot of the tile that is resident when it is issued; a younger tile "
        "has finished first, so that this is not the one that its reduction began in",
        grade="wrong value",
        mend="keep the reduction in one tile, or let a tile wait for the one before it",
    )


def _traffic(piece: Piece) -> _Traffic:
    """Stores are moves that wait for a block without posting to it; contributions are posts of computes."""
    ops = piece.tables["op"]
    kinds = dict(zip(ops["id"].tolist(), ops["kind"].tolist(), strict=True))
    stores: dict[int, list[int]] = {}
    contributions: dict[int, int] = {}
    for op, edge, counter, test, amount, _, _ in piece.tables["sync"].tolist():
        if kinds[op] == Kind.MOVE and edge == Edge.BEFORE_START and test == Test.ZERO:
            stores.setdefault(counter, []).append(op)
        elif kinds[op] == Kind.COMPUTE and test == Test.POST and amount > 0:
            contributions.setdefault(counter, op)
    return _Traffic(piece, stores, contributions)
