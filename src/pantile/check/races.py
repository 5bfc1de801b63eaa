"""Races: conflicting accesses that no timing needs to keep apart.

In a program whose happens-before leaves something open, a conflict is a race only if a timing is found in
which the two operations run in the wrong order; where the budget does not suffice, it is left undecided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.conflicts import KINDS, conflicts_of, exemptions_of
from pantile.check.intent import Intent
from pantile.check.naming import Naming
from pantile.check.report import Finding, Grade, Report, Severity
from pantile.check.witness import search_witness

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

LISTED = 100
"""Races that are told one by one; the rest is counted."""

TRIED = 20
"""Conflicts between the same two lines for which a witness is searched, where one must be searched."""


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """Two operations that conflict and can run in either order.

    Attributes:
        kind: RAW, WAR or WAW, by the order that was meant.
        first: The operation that was meant to come first.
        second: The one that can come before it.
        space: The memory.
        lo: First byte of the first common range.
        hi: Its end.
        witness: All operations in a legal order with *second* before *first*.
        pairs: Pairs of operations at the same two lines, of this kind and in this memory, as (first, second);
            shape ``(pairs, 2)``.
    """

    kind: str
    first: int
    second: int
    space: int
    lo: int
    hi: int
    witness: np.ndarray
    pairs: np.ndarray

    @property
    def count(self) -> int:
        """Pairs that this one stands for, itself among them."""
        return len(self.pairs)


Judge = Callable[[Race, "Order"], tuple[Grade, Severity, str]]
"""Says what a race does to the values: grade, severity, and a sentence of evidence."""


@dataclass(frozen=True, slots=True)
class Races:
    """What came of all conflicts of a program.

    Attributes:
        races: One per kind, memory and pair of lines.
        undecided: Conflicts for which no witness was found within the budget.
        ordered: Conflicts that turned out to be ordered under every timing.
        accesses: Accesses that were looked at.
    """

    races: tuple[Race, ...]
    undecided: tuple[tuple[int, int], ...]
    ordered: int
    accesses: int


def races_of(
    program: Program,
    order: Order,
    *,
    budget: int = 100_000,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Races:
    """Return the races of a literal program; conflicts between the same lines stand for one another.

    Args:
        program: What runs.
        order: Its happens-before.
        budget: States with a choice that may be walked through in all.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    rows = conflicts_of(
        order,
        **exemptions_of(program),
        compiled=compiled,
        on_compile=on_compile,
    )
    search = _Search(program, order, budget)
    for group in _by_lines(program, order, rows) if len(rows) else ():
        search.try_all(group)
    found = (tuple(search.races), tuple(search.undecided), search.ordered)
    return Races(*found, len(order.tables["access"]))


@dataclass(slots=True)
class _Search:
    """What came of the conflicts looked at so far, and the budget that is left."""

    program: Program
    order: Order
    budget: int
    races: list[Race] = field(default_factory=list)
    undecided: list[tuple[int, int]] = field(default_factory=list)
    ordered: int = 0

    def try_all(self, group: list[_Conflict]) -> None:
        """Look for a witness of one of the conflicts between two lines."""
        for tried, (kind, first, second, row) in enumerate(group):
            if tried == TRIED or self.budget < 0:
                self.undecided.append((first, second))
                return
            witness, certain, states = search_witness(
                self.program, first, second, order=self.order, budget=self.budget
            )
            self.budget -= states
            if witness is not None:
                where = (int(row["space"]), int(row["lo"]), int(row["hi"]))
                pairs = np.array([(each[1], each[2]) for each in group], np.int64)
                self.races.append(Race(kind, first, second, *where, witness, pairs))
                return
            if not certain:
                self.undecided.append((first, second))
                return
            self.ordered += 1


_Conflict = tuple[str, int, int, np.void]
"""Kind, and operations in the order that was meant; and the row it came from."""


def _by_lines(program: Program, order: Order, rows: np.ndarray) -> list[list[_Conflict]]:
    """Group conflicts by kind, memory and lines; operations in the order that was meant.

    Of two operations that meet in several ways, the first common range is kept.
    """
    intent = Intent(program, order)
    line, opcode = order.tables["op"]["line"], order.tables["op"]["opcode"]
    groups: dict[tuple[object, ...], list[_Conflict]] = defaultdict(list)
    seen: set[tuple[int, int, str]] = set()
    for row in rows:
        kind, first, second = intent.of(KINDS[row["kind"]], int(row["first"]), int(row["second"]), row)
        if (first, second, kind) in seen:
            continue
        seen.add((first, second, kind))
        lines = [(int(line[op]), int(opcode[op]), int(order.chains.thread[op])) for op in (first, second)]
        groups[kind, int(row["space"]), *lines].append((kind, first, second, row))
    return list(groups.values())


def check_races(
    program: Program,
    order: Order,
    *,
    budget: int = 100_000,
    judge: Judge | None = None,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Report:
    """Report every race with both operations, their lines, the bytes, the order that breaks it, and the mend.

    Args:
        program: What runs.
        order: Its happens-before.
        budget: States with a choice that may be walked through.
        judge: Carries out the witness of a race, and says what became of the values.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    found = races_of(program, order, budget=budget, compiled=compiled, on_compile=on_compile)
    naming = Naming(program)
    findings = [_finding(naming, order, race, judge) for race in found.races[:LISTED]]
    if len(found.races) > LISTED:
        more = f"{len(found.races) - LISTED} more races, of other lines or kinds"
        findings.append(Finding(code="PT-RACE", severity="error", sentence=more, grade="timing-dependent"))
    if found.undecided:
        findings.append(_undecided(naming, found.undecided, budget))
    if findings:
        return Report(tuple(findings))
    walked = f"; {found.ordered} of them only by walking through all interleavings" if found.ordered else ""
    return Report(proved=(f"races: {found.accesses} accesses, all conflicting ones ordered{walked}",))


def _finding(naming: Naming, order: Order, race: Race, judge: Judge | None) -> Finding:
    a, b = naming.op(race.first), naming.op(race.second)
    verbs = {"RAW": ("writes", "reads"), "WAR": ("reads", "writes"), "WAW": ("writes", "writes")}[race.kind]
    where = f"{naming.space(race.space)} [{race.lo}, {race.hi})"
    more = f", and {race.count - 1} more pairs of these lines" if race.count > 1 else ""
    grade: Grade = "timing-dependent"
    severity: Severity = "error"
    evidence = _evidence(naming, order, race)
    if judge is not None:
        grade, severity, said = judge(race, order)
        evidence = f"{evidence}; {said}" if said else evidence
    return Finding(
        code="PT-RACE",
        severity=severity,
        sentence=f"{race.kind} on {where}: {a} {verbs[0]} what {b} {verbs[1]}, and nothing orders them{more}",
        operations=(race.first, race.second),
        evidence=evidence,
        grade=grade,
        mend=_mend(naming, race),
        order=race.witness[: int(np.flatnonzero(race.witness == race.first)[0]) + 1],
    )


def _evidence(naming: Naming, order: Order, race: Race) -> str:
    """Tell the order that breaks it: what must have come before the second, and what has not yet come."""
    place = int(np.flatnonzero(race.witness == race.second)[0])
    before = race.witness[:place]
    mine = before[order.chains.thread[before] == order.chains.thread[race.first]]
    thread = naming.thread(race.first)
    stands = (
        f"when {thread} has come to operation {mine[-1]}" if len(mine) else f"before {thread} does anything"
    )
    return f"a legal order: {naming.op(race.second)} runs {stands}, and {naming.op(race.first)} later"


def _mend(naming: Naming, race: Race) -> str:
    first, second = naming.thread(race.first), naming.thread(race.second)
    if first == second:
        return f"put a barrier of {first} between them"
    return f"let {second} wait, before {race.second}, for something that {first} posts after {race.first}"


def _undecided(naming: Naming, pairs: tuple[tuple[int, int], ...], budget: int) -> Finding:
    first, second = pairs[0]
    more = f", and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
    return Finding(
        code="PT-UNDECIDED",
        severity="warning",
        sentence=f"whether {naming.op(first)} and {naming.op(second)}, which touch the same bytes, "
        f"can change places was not decided{more}: more than {budget} states with a choice",
        operations=(first, second),
        grade="undecided",
        mend="raise the budget, or let one thread alone take from each buffer",
    )
