"""One run of one program, as pages show it; and runs of planned products that are of such programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from pantile.errors import OutsideModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.tiling.plan import Note, Plan
    from pantile.verbs.families import Session
    from pantile.verbs.what_if import WhatIfRun


class RunFigures(Protocol):
    """What ``simulate --json`` says of a run, under the same names."""

    @property
    def total_cycles(self) -> int:
        """Cycles, rounded up."""

    @property
    def terms(self) -> dict[str, int]:
        """Cycles by class; they sum to :attr:`total_cycles`."""

    @property
    def bound_by(self) -> str:
        """The largest term."""

    @property
    def lower_bounds(self) -> dict[str, int]:
        """Cycles that no timing can stay below, by what binds."""

    @property
    def utilisation(self) -> Mapping[str, float | None]:
        """Shares, by name."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the reader must know."""

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""


class PlannedRun(RunFigures, Protocol):
    """A run of a planned network, layer after layer, whose programs the general engine ran."""

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""

    @property
    def timelines(self) -> tuple[Timeline, ...]:
        """One per layer, in file order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """One run of one program.

    Attributes:
        name: What was asked for.
        planner: Who made the program, in words.
        timeline: When each operation happened, and why not earlier.
        machine: What it ran on.
        figures: What ``simulate --json`` says of it.
        command: The command line that makes the page, as words: without window and output.
        plan: What the planner decided, where one did.
        what_ifs: Runs with one rate changed.
    """

    name: str
    planner: str
    timeline: Timeline
    machine: Machine
    figures: RunFigures
    command: tuple[str, ...]
    plan: Plan | None = None
    what_ifs: tuple[WhatIfRun, ...] = ()

    @property
    def program(self) -> Program:
        """What ran, as literal rows."""
        return self.timeline.bound.program


def require_timelines(session: Session, run: object, what: str) -> PlannedRun:
    """Return the run of *session* if it has the timelines that *what* (pages, traces) show.

    Raises:
        OutsideModelError: If it does not.
    """
    if not _has_timelines(run):
        raise OutsideModelError(
            f"{what} runs of programs, what {session.machine.name!r} runs is none",
            mend="use simulate without it, or lower --text",
        )
    return run


def _has_timelines(run: object) -> TypeGuard[PlannedRun]:
    """A family whose programs the general engine runs gives timelines with its runs."""
    return hasattr(run, "timelines")
