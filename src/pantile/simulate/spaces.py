"""Spaces: instances of memories and engines, as programs name them, e.g. ``"sram@(0,1)"``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import ProgramError

if TYPE_CHECKING:
    from pantile.machine import Engine, Machine, Memory

_AT = re.compile(r"(\d+)|\((\d+(?:,\d+)*)\)")


@dataclass(frozen=True, slots=True)
class Space:
    """One instance of a kind.

    Attributes:
        kind: Name of the memory or engine in its machine.
        at: Coordinates of its core, or its number; empty where it is not said.
    """

    kind: str
    at: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """How programs and reports call it.

        >>> Space("sram", (0, 1)).name, Space("ddr", (0,)).name, Space("GM").name
        ('sram@(0,1)', 'ddr@0', 'GM')
        """
        if not self.at:
            return self.kind
        return (
            f"{self.kind}@({','.join(map(str, self.at))})"
            if len(self.at) > 1
            else f"{self.kind}@{self.at[0]}"
        )


def parse_space(name: str) -> Space:
    """Return the space that *name* stands for.

    >>> parse_space("sram@(0,1)")
    Space(kind='sram', at=(0, 1))

    Raises:
        ProgramError: If what follows the ``@`` is neither a number nor coordinates.
    """
    kind, at, place = name.partition("@")
    if not at:
        return Space(kind)
    match = _AT.fullmatch(place.replace(" ", ""))
    if not match:
        raise ProgramError(f"expected a space such as 'ddr@0' or 'sram@(0,1)', got {name!r}")
    return Space(kind, tuple(int(part) for part in (match[1] or match[2]).split(",")))


def core_index(at: tuple[int, ...], machine: Machine) -> int | None:
    """Return the core at coordinates *at*, counted row by row; ``None`` if the grid has none there.

    A single number counts cores; zeros in front are taken as those of dimensions that the grid lacks.
    """
    shape = machine.grid.shape
    if len(at) <= 1:
        index = at[0] if at else 0
        return index if index < prod(shape) else None
    extra, at = at[: -len(shape)], at[-len(shape) :]
    if any(extra) or len(at) < len(shape) or any(i >= extent for i, extent in zip(at, shape, strict=True)):
        return None
    index = 0
    for i, extent in zip(at, shape, strict=True):
        index = index * extent + i
    return index


def instance_problem(space: Space, part: Memory | Engine, machine: Machine) -> str | None:
    """Say why *machine* has no such instance of *part*; ``None`` if it has.

    There is one instance per core for a scope of ``core``, and one in all for ``chip`` and ``grid``.
    """
    if part.scope == "core":
        if core_index(space.at, machine) is None:
            shape = " x ".join(map(str, machine.grid.shape))
            return f"machine {machine.name!r} has a grid of {shape} cores, none of which is {space.name!r}"
    elif any(space.at):
        return f"machine {machine.name!r} has one {space.kind!r} (scope {part.scope}), not {space.name!r}"
    return None
