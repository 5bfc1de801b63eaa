"""What becomes of mutants: each is graded, and what is called wrong was carried out and is.

A mutant hangs, under every timing or under some; or a legal order of it leaves other bytes than the original
in its own order; or it leaves a flag up; or what it does depends on the timing though no order tried leaves
other bytes; or it is harmless: nothing is left open, and every pair of accesses to the same bytes is ordered
as before. What the original itself can do under some timing is not held against a mutant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from pantile.check.deadlock import deadlock_of
from pantile.check.limits import overflows_of
from pantile.check.order import Order, happens_before
from pantile.check.pairing import surplus_of
from pantile.check.races import Race, races_of
from pantile.check.witness import late_order
from pantile.errors import PantileError
from pantile.program.program import Program
from pantile.simulate.elements import Bytes
from pantile.targets.ascend.carry_out import carry_out
from pantile.targets.ascend.mutants import CHANGES, Mutant, mutants_of
from pantile.targets.ascend.trace import program_of_trace

Execute = Callable[[Program, "np.ndarray | None"], Mapping[str, Bytes]]
"""Carries a program out in an order of its operations, or in that of its stream; returns what it leaves."""

Fate = Literal[
    "hang",
    "wrong value",
    "timing-dependent",
    "unordered, equal bytes on this data",
    "leak",
    "undecided",
    "harmless",
]
FATES: tuple[Fate, ...] = (
    "hang",
    "wrong value",
    "timing-dependent",
    "unordered, equal bytes on this data",
    "leak",
    "undecided",
    "harmless",
)
"""Worst first: what a mutant is called that has several."""

BUDGET = 20_000
"""States with a choice that are walked through for one mutant."""

TRIED = 25
"""Races of one mutant of which witnesses are carried out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one mutant.

    Attributes:
        mutant: The mutant.
        fates: All that it is, worst first.
        told: What was seen.
        witness: Operations in the order that leaves other bytes, if it has one.
    """

    mutant: Mutant
    fates: tuple[Fate, ...]
    told: str = ""
    witness: np.ndarray | None = None

    @property
    def fate(self) -> Fate:
        """The worst of them."""
        return self.fates[0]


@dataclass(frozen=True, slots=True)
class Mutation:
    """What became of all mutants of a program.

    Attributes:
        name: The program's name.
        original: What the program itself is; nothing if it is right.
        verdicts: One per mutant.
    """

    name: str
    original: tuple[Fate, ...]
    verdicts: tuple[Verdict, ...]

    def count(self, change: str, fate: str) -> int:
        """Return how many mutants of one change had one fate."""
        return sum(each.mutant.change == change and each.fate == fate for each in self.verdicts)

    def __str__(self) -> str:
        shown = [fate for fate in FATES if any(each.fate == fate for each in self.verdicts)]
        heads = ["mutant", *shown, "all"]
        rows = []
        for change in CHANGES:
            counts = [self.count(change, fate) for fate in shown]
            rows.append([change, *map(str, counts), str(sum(counts))])
        totals = Counter(each.fate for each in self.verdicts)
        rows.append(["all", *(str(totals[fate]) for fate in shown), str(len(self.verdicts))])
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
                ]
            )
            for row in (heads, *rows)
        ]
        itself = f"; the original itself: {', '.join(self.original)}" if self.original else ""
        return "\n".join([f"{self.name}: {len(self.verdicts)} mutants{itself}", *lines])


def mutate(
    program: Program,
    *,
    execute: Execute = carry_out,
    budget: int = BUDGET,
    mutants: Iterable[Mutant] | None = None,
) -> Mutation:
    """Return what becomes of every mutant of the program of a trace.

    Args:
        program: The program; its parameters keep the stream.
        execute: Carries programs out.
        budget: States with a choice that may be walked through for each mutant.
        mutants: Those to look at; by default all.

    Raises:
        PantileError: If the program itself cannot be carried out.
    """
    told = program.parameters
    wanted = execute(program, None)
    stream, lines = told["stream"], told["lines"]
    chosen = mutants_of(stream, told["event_ids"]) if mutants is None else mutants
    same = Mutant("dropped", -1, "nothing", tuple(stream), tuple(range(len(stream))))
    judge = partial(
        judge_mutant, name=program.name, lines=lines, wanted=wanted, execute=execute, budget=budget
    )
    original = frozenset(judge(same).fates) - {"harmless"}
    verdicts = tuple(judge(each, known=original) for each in chosen)
    return Mutation(program.name, tuple(sorted(original, key=FATES.index)), verdicts)


def judge_mutant(
    mutant: Mutant,
    name: str,
    lines: Sequence[int],
    wanted: Mapping[str, Bytes],
    *,
    execute: Execute = carry_out,
    budget: int = BUDGET,
    known: Collection[Fate] = (),
) -> Verdict:
    """Return what becomes of one mutant.

    Args:
        mutant: The mutant.
        name: What the program is called.
        lines: Lines of the original stream.
        wanted: What the original leaves.
        execute: Carries programs out.
        budget: States with a choice that may be walked through.
        known: What the original is under some timing.
    """
    moved = [lines[place] for place in mutant.places]
    program = program_of_trace(mutant.stream, name, lines=moved, unit_flags=True)
    order = happens_before(program)
    dead = deadlock_of(order, budget)
    if dead.verdict == "always":
        return Verdict(mutant, ("hang",), "under every timing")
    found: dict[Fate, str] = {}
    if dead.verdict != "never":
        found[_stopping(dead.verdict)] = "under some timings"
    if len(overflows_of(order)):
        lost = deadlock_of(order, budget, one_bit=True)
        stops = lost.verdict != "never"
        found.setdefault(_stopping(lost.verdict) if stops else "timing-dependent", "a flag can be set twice")
    if surplus_of(order)[1]:
        found["leak"] = "a flag stays up"
    witness = _values(program, order, wanted, execute, budget, found)
    fates = tuple(sorted(set(found) - set(known), key=FATES.index)) or ("harmless",)
    return Verdict(mutant, fates, found.get(fates[0], ""), witness)


def _stopping(verdict: str) -> Fate:
    return "undecided" if verdict == "undecided" else "hang"


def _values(
    program: Program,
    order: Order,
    wanted: Mapping[str, Bytes],
    execute: Execute,
    budget: int,
    found: dict[Fate, str],
) -> np.ndarray | None:
    """Look for an order that leaves other bytes than are wanted, and return it; note what was found."""
    races = races_of(program, order, budget=budget)
    if races.undecided:
        found["undecided"] = "whether some accesses can change places was not decided"
    for witness in (order.topo, *_witnesses(order, races.races[:TRIED])):
        try:
            difference = differs(execute(program, witness), wanted)
        except PantileError as error:
            found.setdefault("timing-dependent", f"not executed: {error.problem}")
            continue
        if difference:
            found["wrong value"] = difference
            return witness
    if races.races:
        found.setdefault("unordered, equal bytes on this data", f"{len(races.races)} races")
    return None


def _witnesses(order: Order, races: Sequence[Race]) -> Iterable[np.ndarray]:
    """Yield of every race the order that shows it, and the order in which its first operation is latest."""
    for race in races:
        yield race.witness
        late = late_order(order, race.first, race.second)
        if late is not None:
            yield late


def differs(left: Mapping[str, Bytes], wanted: Mapping[str, Bytes]) -> str:
    """Return in words where two outcomes differ first; empty if nowhere."""
    for name, bytes_wanted in wanted.items():
        found: Any = left.get(name)
        if found is None:
            return f"{name} is missing"
        wrong = np.flatnonzero(found != bytes_wanted)
        if wrong.size:
            return f"{wrong.size} bytes of {name} are wrong, from byte {wrong[0]} on"
    return ""
