"""Calls of functions in a core program: stretches of its instruction stream, and the contract of each.

Source: ascend-core.md sections 1.4 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pantile.targets.ascend.contracts import Contract, contract_of
from pantile.targets.ascend.events import Flag


class Declared(NamedTuple):
    """What a function says of itself: flags that it needs up, and that it leaves up."""

    needs: tuple[Flag, ...] = ()
    leaves: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        name: The function's name.
        begin: Its first instruction, as a place in the stream.
        end: The place behind its last one.
        line: Line of the call.
        from_library: Whether the function may use the ids that the library keeps.
        declared: What it says of itself, if it says anything.
    """

    name: str
    begin: int
    end: int
    line: int
    from_library: bool = False
    declared: Declared | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON-able description that :func:`call_of_json` reads back."""
        declared = None if self.declared is None else [list(map(list, part)) for part in self.declared]
        return {
            "name": self.name,
            "begin": self.begin,
            "end": self.end,
            "line": self.line,
            "library": self.from_library,
            "declared": declared,
        }


def call_of_json(data: Mapping[str, Any]) -> Call:
    """Return the call that its ``to_json`` wrote."""
    declared = data["declared"]
    said = None if declared is None else Declared(*(tuple(Flag(*each) for each in part) for part in declared))
    return Call(
        name=data["name"],
        begin=data["begin"],
        end=data["end"],
        line=data["line"],
        from_library=data["library"],
        declared=said,
    )


@dataclass(frozen=True, slots=True)
class FunctionContract:
    """A function and one contract that calls of it have; a function may have several, by its arguments.

    Attributes:
        name: The function.
        lines: Lines of the calls that have it.
        contract: What they ask and leave.
    """

    name: str
    lines: tuple[int, ...]
    contract: Contract

    def __str__(self) -> str:
        calls = f"{len(self.lines)} call{'s' if len(self.lines) > 1 else ''}"
        at = ", ".join(map(str, dict.fromkeys(self.lines)))
        rows = self.contract.lines() or ["no flags"]
        return "\n".join([f"{self.name}: {calls}, line {at}", *(f"  {row}" for row in rows)])


def contracts_of(stream: Sequence[Mapping[str, Any]], calls: Iterable[Call]) -> tuple[FunctionContract, ...]:
    """Return the distinct contracts of all calls, in the order of first calls."""
    found: dict[tuple[str, Contract], list[int]] = {}
    for call in sorted(calls, key=lambda each: (each.begin, -each.end)):
        contract = contract_of(stream[call.begin : call.end])
        found.setdefault((call.name, contract), []).append(call.line)
    return tuple(FunctionContract(name, tuple(lines), contract) for (name, contract), lines in found.items())
