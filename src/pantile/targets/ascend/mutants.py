"""Mutants of a stream: every flag dropped, moved by one in its pipe's queue, or given another id.

A set or a wait alone upsets the count of its flag, and mostly shows at once. So a set is also dropped
together with the wait that takes it: that takes an order away and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pantile.targets.ascend.contracts import flag_of
from pantile.targets.ascend.events import Flag
from pantile.targets.ascend.instructions import call
from pantile.targets.ascend.pipes import ALL, EVENT_IDS, pipe_of

Change = Literal["dropped", "pair dropped", "moved earlier", "moved later", "re-numbered"]

CHANGES: tuple[Change, ...] = ("dropped", "pair dropped", "moved earlier", "moved later", "re-numbered")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A stream with one flag changed.

    Attributes:
        change: What was done to it.
        at: The flag's place in the original stream.
        told: The change in words.
        stream: The changed stream.
        places: By instruction of the changed stream: its place in the original one.
    """

    change: Change
    at: int
    told: str
    stream: tuple[Mapping[str, Any], ...]
    places: tuple[int, ...]


def mutants_of(stream: Sequence[Mapping[str, Any]], event_ids: int = EVENT_IDS) -> Iterator[Mutant]:
    """Yield every mutant of a stream.

    A flag is given each other id that its pair of pipes uses, and the lowest one that the pair does not use.

    Args:
        stream: The instructions.
        event_ids: Ids that each pair of pipes has.
    """
    used: dict[tuple[str, str], set[int]] = {}
    for each in stream:
        if _is_flag(each):
            used.setdefault(flag_of(each)[:2], set()).add(flag_of(each).id)
    takers = _takers(stream)
    for at, each in enumerate(stream):
        if not _is_flag(each):
            continue
        told = f"{each['op']} of {flag_of(each)}"
        kept = [*range(at), *range(at + 1, len(stream))]
        yield _mutant("dropped", at, f"{told} dropped", stream, kept)
        if at in takers:
            both = [place for place in kept if place != takers[at]]
            yield _mutant("pair dropped", at, f"{told} dropped with its wait", stream, both)
        for change, neighbour in zip(CHANGES[2:4], _neighbours(stream, at), strict=True):
            if neighbour >= 0:
                places = kept.copy()
                places.insert(neighbour, at)
                yield _mutant(change, at, f"{told} {change}", stream, places)
        yield from _renumbered(stream, at, used[flag_of(each)[:2]], event_ids)


def _is_flag(instruction: Mapping[str, Any]) -> bool:
    return instruction["op"] in ("set_flag", "wait_flag")


def _takers(stream: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the wait that takes each set: the k-th of a flag takes the k-th."""
    sets: dict[Flag, list[int]] = {}
    waits: dict[Flag, list[int]] = {}
    for at, each in enumerate(stream):
        if _is_flag(each):
            (sets if each["op"] == "set_flag" else waits).setdefault(flag_of(each), []).append(at)
    return {
        at: taker for flag, mine in sets.items() for at, taker in zip(mine, waits.get(flag, ()), strict=False)
    }


def _queue(instruction: Mapping[str, Any]) -> str:
    """Return the pipe of a flag or a barrier, or of an access; other instructions are told by their op."""
    args = instruction["args"]
    key = {"set_flag": "src_pipe", "wait_flag": "dst_pipe", "pipe_barrier": "pipe", "access": "pipe"}
    if instruction["op"] in key:
        return str(args[key[instruction["op"]]])
    return pipe_of(instruction["op"]) or ""


def _neighbours(stream: Sequence[Mapping[str, Any]], at: int) -> tuple[int, int]:
    """Return the places of the instructions before and behind a flag in its queue; -1 where there is none."""
    mine = _queue(stream[at])
    before = (each for each in range(at - 1, -1, -1) if _queue(stream[each]) in (mine, ALL))
    behind = (each for each in range(at + 1, len(stream)) if _queue(stream[each]) in (mine, ALL))
    return next(before, -1), next(behind, -1)


def _renumbered(
    stream: Sequence[Mapping[str, Any]], at: int, used: set[int], event_ids: int
) -> Iterator[Mutant]:
    flag = flag_of(stream[at])
    unused = next((each for each in range(event_ids) if each not in used), None)
    for event in sorted(used - {flag.id}) + ([] if unused is None else [unused]):
        changed = list(stream)
        changed[at] = call(stream[at]["op"], flag.source, flag.destination, event)
        told = f"{stream[at]['op']} of {flag} re-numbered to {event}"
        yield Mutant("re-numbered", at, told, tuple(changed), tuple(range(len(stream))))


def _mutant(
    change: Change, at: int, told: str, stream: Sequence[Mapping[str, Any]], places: Sequence[int]
) -> Mutant:
    return Mutant(change, at, told, tuple(stream[each] for each in places), tuple(places))
