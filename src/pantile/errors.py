"""Errors that a person can act on.

Whatever is wrong with the input surfaces as a :class:`PantileError`; any other
exception that reaches a user is a defect of this package.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """A position in an input; *line* and *column* count from 1, 0 where unknown."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.path, *(str(at) for at in (self.line, self.column) if at)]
        return ":".join(parts)


class PantileError(Exception):
    """Base of every error caused by the input; prints as one line.

    Attributes:
        problem: What is wrong, naming the value that was found.
        place: Where it stands, if it came from a file or a text.
        mend: One sentence on how to repair it, or ``None``.
    """

    code = "PT-INPUT"

    def __init__(self, problem: str, *, place: Place | None = None, mend: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.place, self.mend = problem, place, mend

    def __str__(self) -> str:
        at = f"{self.place}: " if self.place else ""
        mend = f"; {self.mend}" if self.mend else ""
        return f"{at}{self.problem}{mend} [{self.code}]"


class UsageError(PantileError, ValueError):
    """A call or command line that cannot be carried out as it is written."""

    code = "PT-USAGE"


class WorkloadError(PantileError, ValueError):
    """A workload text, CSV row or ONNX file that describes no product."""

    code = "PT-WORKLOAD"


class MachineError(PantileError, ValueError):
    """A machine description says something that no machine can be."""

    code = "PT-MACHINE"


class MappingError(PantileError, ValueError):
    """A mapping or tiling text that cannot be read, or that loses or repeats work."""

    code = "PT-MAPPING"


class ProgramError(PantileError, ValueError):
    """A program that cannot be read or that the target cannot carry out."""

    code = "PT-PROGRAM"


class CapacityError(PantileError, ValueError):
    """Something that was asked for explicitly does not fit where it must; names both numbers."""

    code = "PT-CAPACITY"


class OutsideModelError(PantileError):
    """A case that is well formed, but that the model does not cover."""

    code = "PT-OUTSIDE"


class InfeasibleError(PantileError):
    """There is no plan: exit code 1, with the constraint and its two numbers."""

    code = "PT-INFEASIBLE"


class OutputError(PantileError, OSError):
    """A result that cannot be written where it was asked for."""

    code = "PT-OUTPUT"


class ManyProblems(PantileError):
    """Every problem of one input, in input order; prints one line each."""

    def __init__(self, problems: Sequence[PantileError]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def raise_all(problems: Sequence[PantileError]) -> None:
    """Raise nothing, the one problem, or all of them together."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ManyProblems(problems)


def suggestion(word: str, allowed: Collection[str]) -> str:
    """Return the mend for a *word* that is none of *allowed*: the likeliest one, or the list.

    >>> suggestion("capcity", ["capacity", "slots"])
    "did you mean 'capacity'?"
    """
    near = get_close_matches(word, allowed, n=1)
    return f"did you mean {near[0]!r}?" if near else f"allowed here: {', '.join(sorted(allowed))}"


def place_in(path: str, error: BaseException) -> Place:
    """Return the last line of the file that *error* passed."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == path]
    return Place(path, lines[-1] if lines else 0)
