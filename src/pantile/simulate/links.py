"""Which links a transfer takes, from the paths of a machine or from a route."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import ProgramError
from pantile.program.tables import ResourceKind, Sharing
from pantile.simulate.spaces import Space, core_index
from pantile.simulate.work import cycles_ticks

if TYPE_CHECKING:
    from pantile.machine import Machine, Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link that transfers go over, or an engine that carries them out.

    Attributes:
        name: The same name is the same link.
        rate_bytes_per_second: Its rate; 0 for an engine that is held as long as the transfer takes.
        latency_ticks: Picoseconds before the first byte arrives.
        policy: ``shared`` or ``exclusive``.
        quantum_bytes: Bytes that a shared link serves of one transfer before it turns to the next.
        kind: A link, a port or an engine.
    """

    name: str
    rate_bytes_per_second: int
    latency_ticks: int = 0
    policy: str = "shared"
    quantum_bytes: int = 1
    kind: ResourceKind = ResourceKind.LINK

    @property
    def sharing(self) -> Sharing:
        """The policy as tables have it."""
        return Sharing.SHARED if self.policy == "shared" else Sharing.EXCLUSIVE


Route = Callable[[Space, Space], "Sequence[Link] | None"]
"""Gives the links between two memories in the order in which a transfer takes them; ``None`` leaves it to
the machine's paths."""


def path_links(source: Space, target: Space, machine: Machine) -> list[Link]:
    """Return what a transfer takes by the machine's path between two kinds of memories.

    An engine that completes in order is held by one transfer at a time. A path driven by an engine of
    scope ``core`` is a link of its own between every two memories; else all transfers share one link.

    Raises:
        ProgramError: If the machine has no such path, or its family times it.
    """
    path = _path(source, target, machine)
    engine = machine.engine(path.engine)
    single = engine.scope != "core"
    links = []
    if engine.completes == "in_order":
        owner = "" if single else f"@{_owner(source, target, machine)}"
        name = f"{engine.name}{owner}"
        links.append(Link(name=name, rate_bytes_per_second=0, policy="exclusive", kind=ResourceKind.ENGINE))
    assert path.rate_bytes_per_second is not None
    granules = [machine.memory(kind).granule_bytes for kind in (source.kind, target.kind)]
    links.append(
        Link(
            name=f"{source.kind}>{target.kind}" if single else f"{source.name}>{target.name}",
            rate_bytes_per_second=path.rate_bytes_per_second,
            latency_ticks=cycles_ticks(path.latency_cycles or 0, machine, path.clock),
            policy=path.policy,
            quantum_bytes=path.granule_bytes or max(granules),
        )
    )
    return links


def _path(source: Space, target: Space, machine: Machine) -> Path:
    for path in machine.paths:
        if (path.origin, path.destination) == (source.kind, target.kind):
            if path.rate_bytes_per_second is None:
                raise ProgramError(
                    f"{path.label} of machine {machine.name!r} has no rate: its family times it",
                    mend="give the path a rate_bytes_per_second",
                )
            return path
    ways = ", ".join(f"{path.origin} > {path.destination}" for path in machine.paths) or "none"
    raise ProgramError(
        f"machine {machine.name!r} has no path from {source.name!r} to {target.name!r}", mend=f"it has {ways}"
    )


def _owner(source: Space, target: Space, machine: Machine) -> int | None:
    """The core whose engine moves the data: the one that receives, or else the one that sends."""
    receives = machine.memory(target.kind).scope == "core"
    return core_index(target.at if receives else source.at, machine)
