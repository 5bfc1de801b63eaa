"""What sessions of every family say alike of the network that they planned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pantile.verbs.outside import outside_notes
from pantile.verbs.result import head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.machine import Machine
    from pantile.tiling.plan import NodePlan, Note


class PlannedNetwork:
    """Base of sessions; each is a frozen dataclass with these fields, or properties of the same name."""

    if TYPE_CHECKING:

        @property
        def machine(self) -> Machine:
            """What the network runs on."""

        @property
        def planner(self) -> str:
            """Who planned it."""

        @property
        def semantics(self) -> str:
            """Which of the planner's readings."""

        @property
        def plans(self) -> tuple[NodePlan, ...]:
            """One per node, in file order."""

        @property
        def notes(self) -> tuple[Note, ...]:
            """Remarks on the whole run."""

    @property
    def outside(self) -> tuple[Note, ...]:
        """A note per reason why nodes are outside the model, with their share of the known work."""
        return outside_notes(self.plans)

    def head(self, verb: str, workload: str, notes: Sequence[Note]) -> dict[str, Any]:
        """Return the keys that every object of this session has."""
        return head(
            verb,
            workload=workload,
            machine=self.machine.name,
            planner=self.planner,
            semantics=self.semantics,
            notes=notes,
        )

    def with_note(self, note: Note) -> Self:
        """Return the session with one more remark on the whole run."""
        return replace(self, notes=(*self.notes, note))  # type: ignore[type-var]  # subclasses are dataclasses
