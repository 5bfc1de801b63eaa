"""What a program does that can never be right, whatever the timing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.errors import Place as SourcePlace
from pantile.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.language.ops import Ops


UNBORN = "where no copy of it is ever born"
"""How the sentences end about copies that nobody makes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One misuse.

    Attributes:
        op: The operation that misuses.
        sentence: What is wrong with it.
        mend: How to repair it.
        place: Where it was called.
    """

    op: int
    sentence: str
    mend: str
    place: SourcePlace

    def to_json(self) -> dict[str, Any]:
        """Return the fault as it stands among a program's parameters."""
        return {"op": self.op, "sentence": self.sentence, "mend": self.mend, "place": str(self.place)}


def fault(ops: Ops, op: int, sentence: str, mend: str) -> Fault:
    """Return the fault of operation *op*."""
    return Fault(op, sentence, mend, ops.place(op))


def errors_of(faults: Sequence[Fault]) -> list[ProgramError]:
    """Return an error for every statement of the source at fault: its first fault, and how many more."""
    lines: dict[tuple[SourcePlace, str], list[Fault]] = {}
    for each in faults:
        lines.setdefault((each.place, each.sentence.partition(" ")[0]), []).append(each)
    found = []
    for first, *others in lines.values():
        more = f", and {len(others)} more at this line" if others else ""
        found.append(ProgramError(first.sentence + more, place=first.place, mend=first.mend))
    return found
