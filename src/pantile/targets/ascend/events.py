"""Event ids as a kernel gets them: by number, reserved with ``alloc``, or only looked up with ``fetch``.

``alloc`` takes the lowest id of a pair of pipes that nobody holds and holds it until ``release``. ``fetch``
returns that same id without holding it: the next ``fetch`` or ``alloc`` returns it again, so that two flags
that are up at once must not both come from ``fetch``.

Source: ascend-core.md section 1.4; the public pages on AllocEventID, FetchEventID and ReleaseEventID.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.check.report import Finding

if TYPE_CHECKING:
    from pantile.check.report import Grade, Severity

LIBRARY_IDS = (6, 7)
"""Ids that the template library keeps for itself on every pair."""


class Flag(NamedTuple):
    """What a set and its wait must agree on."""

    source: str
    destination: str
    id: int

    def __str__(self) -> str:
        return f"flag {self.id} of {self.source} to {self.destination}"


@dataclass(frozen=True, slots=True)
class Event:
    """An id of a pair of pipes that was handed out.

    Attributes:
        flag: The pair and the id.
        number: The how-manieth that was handed out.
        reserved: Whether it is held until it is released.
    """

    flag: Flag
    number: int
    reserved: bool

    @property
    def id(self) -> int:
        """The id."""
        return self.flag.id


@dataclass(slots=True)
class EventIds:
    """Who holds which id, and what was done with ids that should not have been.

    Attributes:
        count: Ids that each pair has.
        kept: Ids that are never handed out.
        place: Names a line of the source.
        findings: What was done wrong, in order.
    """

    count: int
    kept: Collection[int]
    place: Callable[[int], str]
    findings: list[Finding] = field(default_factory=list)
    _held: dict[Flag, tuple[Event, int]] = field(default_factory=dict)
    _released: dict[int, int] = field(default_factory=dict)
    _fetched: dict[int, int] = field(default_factory=dict)
    _up: dict[Flag, tuple[int, int]] = field(default_factory=dict)
    _numbers: int = 0

    def alloc(self, source: str, destination: str, line: int) -> Event:
        """Return the lowest id of a pair that is not held, and hold it."""
        event = self._next(source, destination, line, reserved=True)
        if event.id < self.count:
            self._held[event.flag] = (event, line)
        return event

    def fetch(self, source: str, destination: str, line: int) -> Event:
        """Return the lowest id of a pair that is not held, without holding it."""
        event = self._next(source, destination, line, reserved=False)
        self._fetched[event.number] = line
        return event

    def _next(self, source: str, destination: str, line: int, *, reserved: bool) -> Event:
        self._numbers += 1
        free = (Flag(source, destination, each) for each in range(self.count) if each not in self.kept)
        flag = next((each for each in free if each not in self._held), None)
        if flag is None:
            flag = Flag(source, destination, self.count)
            self._exhausted(source, destination, line)
        return Event(flag, self._numbers, reserved)

    def _exhausted(self, source: str, destination: str, line: int) -> None:
        lines = [
            self.place(held) for flag, (_, held) in self._held.items() if flag[:2] == (source, destination)
        ]
        self._find(
            f"no id of {source} to {destination} is free at {self.place(line)}: "
            f"{self.count} there are, {len(lines)} are held"
            + (f", {len(self.kept)} are kept for others" if self.kept else ""),
            evidence=f"held since {', '.join(dict.fromkeys(lines))}" if lines else "",
            mend="release ids as soon as their last wait is issued, or wait with a barrier",
        )

    def release(self, event: Event, line: int) -> None:
        """Give an id back."""
        if event.number in self._released:
            earlier = self.place(self._released[event.number])
            self._find(
                f"{event.flag} is released at {self.place(line)} although that was done at {earlier}",
                mend="release an id once",
            )
        elif not event.reserved:
            self._find(
                f"{event.flag} is released at {self.place(line)} but was only fetched, so nobody holds it",
                mend="use alloc for an id that is to be released",
            )
        else:
            self._released[event.number] = line
            self._held.pop(event.flag, None)
            if event.flag in self._up:
                self._find(
                    f"{event.flag} is released at {self.place(line)} while it is up: whoever is given the id "
                    "next sets it twice",
                    severity="warning",
                    evidence=f"set at {self.place(self._up[event.flag][1])}, no wait is issued before",
                    mend="release it after its wait",
                )

    def set(self, event: Event | Flag, line: int) -> None:
        """Note that a flag is raised."""
        flag, number = self._used(event, line)
        before = self._up.get(flag)
        if before is not None and before[0] in self._fetched and number in self._fetched:
            self._find(
                f"{flag} is set at {self.place(line)} while it is up since {self.place(before[1])}: "
                "both ids were fetched, and fetch returned the same one twice",
                evidence=f"fetched at {self.place(self._fetched[before[0]])} and "
                f"{self.place(self._fetched[number])}; fetch does not hold what it returns",
                mend="use alloc where two flags of a pair are up at once",
                grade="hang",
            )
        self._up[flag] = (number, line)

    def wait(self, event: Event | Flag, line: int) -> None:
        """Note that a flag is taken."""
        flag, _ = self._used(event, line)
        self._up.pop(flag, None)

    def _used(self, event: Event | Flag, line: int) -> tuple[Flag, int]:
        if isinstance(event, Flag):
            if event in self._held:
                holder = self.place(self._held[event][1])
                self._find(
                    f"{event} is used by number at {self.place(line)} while alloc gave that id to {holder}",
                    severity="warning",
                    mend="use ids of one kind on a pair: numbers, or alloc",
                )
            return event, 0
        if event.number in self._released:
            released = self.place(self._released[event.number])
            self._find(
                f"{event.flag} is used at {self.place(line)} after it was released at {released}",
                mend="release it after its last use",
            )
        return event.flag, event.number

    def end(self) -> None:
        """Note what is still held when the program ends."""
        for flag, (_, line) in self._held.items():
            self._find(
                f"{flag} is held since {self.place(line)} and never released",
                severity="warning",
                mend="release it after its last wait",
                grade="leak",
            )

    def _find(
        self,
        sentence: str,
        *,
        severity: Severity = "error",
        evidence: str = "",
        mend: str = "",
        grade: Grade = "",
    ) -> None:
        self.findings.append(
            Finding(
                code="PT-EVENT-ID",
                severity=severity,
                sentence=sentence,
                evidence=evidence,
                grade=grade,
                mend=mend,
            )
        )


def finding_of(recorded: dict[str, Any]) -> Finding:
    """Return the finding that its ``to_json`` wrote."""
    return Finding(**{**recorded, "operations": tuple(recorded["operations"])})
