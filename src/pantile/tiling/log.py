"""The log that a planner fills while it decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from pantile.tiling.plan import Decision, Note

_T = TypeVar("_T")


@dataclass
class DecisionLog:
    """Decisions and notes of one plan, in the order in which they were taken.

    Attributes:
        stage: The stage that following decisions belong to.
    """

    stage: str = ""
    decisions: list[Decision] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def add(
        self,
        name: str,
        value: _T,
        formula: str,
        inputs: dict[str, Any] | None = None,
        *,
        rejected: tuple[str, ...] = (),
    ) -> _T:
        """Log one decision and return its value."""
        self.decisions.append(
            Decision(
                stage=self.stage,
                name=name,
                inputs=inputs or {},
                formula=formula,
                value=value,
                rejected=rejected,
            )
        )
        return value

    def note(self, code: str, text: str) -> None:
        """Add a note, once."""
        note = Note(code, text)
        if note not in self.notes:
            self.notes.append(note)
