"""What a program does that can never be right, whatever the timing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.errors import Place as SourcePlace
from pantile.errors import ProgramError

if TYPE_CHECKING:
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

    def error(self) -> ProgramError:
        """Return the fault as the error that refuses the program."""
        return ProgramError(self.sentence, place=self.place, mend=self.mend)

    def to_json(self) -> dict[str, Any]:
        """Return the fault as it stands among a program's parameters."""
        return {"op": self.op, "sentence": self.sentence, "mend": self.mend, "place": str(self.place)}


def fault(ops: Ops, op: int, sentence: str, mend: str) -> Fault:
    """Return the fault of operation *op*."""
    return Fault(op, sentence, mend, ops.place(op))
