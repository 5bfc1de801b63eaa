"""What all results have in common: a JSON form, a text and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from pantile.tiling.plan import Note

VERSION = "0.1.0"


class Result(Protocol):
    """A verb's answer for one workload."""

    @property
    def ok(self) -> bool:
        """Whether the answer is a yes: feasible, sound, or simply there."""

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""


def schema_of(verb: str) -> str:
    """Return the name of the schema that the objects of *verb* follow.

    >>> schema_of("plan")
    'pantile/plan/1'
    """
    return f"pantile/{verb}/1"


def head(
    verb: str,
    *,
    workload: str,
    machine: str | None,
    planner: str | None,
    semantics: str,
    notes: Sequence[Note],
) -> dict[str, Any]:
    """Return the keys that every object has."""
    return {
        "schema": schema_of(verb),
        "version": VERSION,
        "workload": workload,
        "machine": machine,
        "planner": planner,
        "semantics": semantics,
        "notes": [note.to_json() for note in notes],
    }


def as_html(text: str) -> str:
    """Return a result's text for a notebook."""
    return f"<pre>{escape(text)}</pre>"


R = TypeVar("R", bound=Result)


def summary_of(workloads: int, ok: int, notes: Sequence[Note] = ()) -> dict[str, Any]:
    """Return the object that ends the JSON lines of so many workloads, *ok* of which are a yes."""
    return {
        "schema": schema_of("summary"),
        "version": VERSION,
        "workloads": workloads,
        "ok": ok,
        "notes": [note.to_json() for note in notes],
    }


@dataclass(frozen=True, slots=True)
class Many(Sequence[R], Generic[R]):
    """Answers for many workloads, in input order, and what is to be said of them together."""

    results: tuple[R, ...]
    notes: tuple[Note, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every answer is a yes."""
        return all(result.ok for result in self.results)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R]:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[R]:
        return iter(self.results)

    def summary(self) -> dict[str, Any]:
        """Return the object that ends the JSON lines of many workloads."""
        return summary_of(len(self.results), sum(result.ok for result in self.results), self.notes)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the objects of all answers, then the summary."""
        return [*(result.to_json() for result in self.results), self.summary()]

    def shown(self, render: Callable[[R], str] = str) -> str:
        """Return the texts of all answers, each as *render* gives it, then the notes."""
        parts = [render(result) for result in self.results]
        if self.notes:
            parts.append("\n".join(f"note {note}" for note in self.notes))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.shown()

    def _repr_html_(self) -> str:
        return as_html(str(self))
