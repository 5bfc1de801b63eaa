"""Buffers: slots that tiles compete for.

A buffer holds no state: what is acquired and released is recorded by the thread that calls.

Source: tile-language.md section 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import UsageError
from pantile.program.language.places import Chiplet, Place
from pantile.program.language.recorder import ACQUIRE, EMPTY, FULL, RELEASE, log_of_caller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.program.language.places import Coordinates


class Slots:
    """What statements can be addressed to: a buffer, a member of an array, or several members at once.

    Attributes:
        buffer: The buffer that the members belong to.
        members: Coordinates of the members; ``None`` alone for a buffer that is no array.
    """

    __slots__ = ("buffer", "members")

    def __init__(self, buffer: Buffer, members: tuple[Coordinates | None, ...]) -> None:
        self.buffer, self.members = buffer, members

    def acquire(self) -> None:
        """Wait for a free slot of every member and take them all at once."""
        log_of_caller().add_slots(ACQUIRE, self)

    def release(self) -> None:
        """Give the oldest slot of every member back."""
        log_of_caller().add_slots(RELEASE, self)

    increase = acquire
    decrease = release

    @property
    def full(self) -> bool:
        """Whether some member has no free slot; only a dynamic program can ask."""
        return log_of_caller().ask(FULL, self)

    @property
    def empty(self) -> bool:
        """Whether every slot of every member is free; only a dynamic program can ask."""
        return log_of_caller().ask(EMPTY, self)


class Buffer(Slots):
    """Slots of a memory, taken in circular order; two of them make ping-pong.

    >>> grid = Chiplet(2, 2)
    >>> Buffer(slots=2, array=grid, name="west")[0, 1].name
    'west[0,1]'

    Args:
        slots: How many tiles it can hold; every member of an array, if it is one.
        array: Makes it an array: a grid, or the cores or coordinates of its members.
        name: How listings call it; by default ``buffer`` and a number.

    Raises:
        UsageError: If there is no slot, or no member.
    """

    __slots__ = ("_found", "array", "label", "slots")

    def __init__(
        self, slots: int, array: Chiplet | Iterable[Place | Coordinates] | None = None, *, name: str = ""
    ) -> None:
        if not isinstance(slots, int) or slots < 1:
            raise UsageError(f"a buffer needs at least one slot, got {slots}")
        self.slots, self.label = slots, name
        self.array = None if array is None else tuple(dict.fromkeys(_coordinates(each) for each in array))
        if self.array == ():
            raise UsageError("an array of buffers needs members, got none")
        self._found: dict[object, Member] = {}
        super().__init__(self, self.array or (None,))

    def __getitem__(self, at: object) -> Member:
        """Return the member at a core or coordinates, or several members to be acquired together.

        Raises:
            UsageError: If the buffer is no array, or lacks a member.
        """
        try:
            return self._found[at]
        except (KeyError, TypeError):  # a set cannot be looked up
            return self._find(at)

    def _find(self, at: object) -> Member:
        if self.array is None:
            raise UsageError(f"{self.name} is no array", mend="write Buffer(slots=n, array=grid)")
        single = isinstance(at, Place) or _is_coordinates(at)
        wanted = [at] if single else at
        try:
            members = tuple(sorted({_coordinates(each) for each in wanted}))  # type: ignore[attr-defined]
        except TypeError:
            raise UsageError(f"expected a core, coordinates or a set of them, got {at!r}") from None
        for each in members:
            if each not in self.array:
                raise UsageError(f"{self.name} has no member {each}")
        if not members:
            raise UsageError(f"expected at least one member of {self.name}, got none")
        member = Member(self, members)
        if single:
            self._found[at] = member
        return member

    @property
    def name(self) -> str:
        """How messages call the buffer."""
        return self.label or "buffer"

    def __repr__(self) -> str:
        array = f", array of {len(self.array)}" if self.array else ""
        return f"Buffer(slots={self.slots}{array})"


class Member(Slots):
    """One member of an array of buffers, or several that are acquired and released together."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """How listings call the member or members.

        >>> Buffer(2, [(0,), (1,)], name="west")[{(1,), (0,)}].name
        'west[0+1]'
        """
        return f"{self.buffer.name}[{'+'.join(','.join(map(str, each or ())) for each in self.members)}]"


def _is_coordinates(at: object) -> bool:
    return isinstance(at, tuple) and len(at) > 0 and all(isinstance(i, int) for i in at)


def _coordinates(each: Place | Coordinates | int) -> Coordinates:
    if isinstance(each, Place):
        return each.at
    return (each,) if isinstance(each, int) else tuple(each)
