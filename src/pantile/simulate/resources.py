"""The resources of a machine that a program uses, found by the names of its spaces, each once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import ProgramError
from pantile.program.tables import RESOURCE, ResourceKind
from pantile.simulate.links import Link, path_links
from pantile.simulate.service import TICKS_PER_SECOND
from pantile.simulate.spaces import Space, core_index, instance_problem, parse_space
from pantile.simulate.work import cycles_ticks, drain_cycles, occupied_cycles

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from pantile.machine import Engine, Machine
    from pantile.simulate.bound import Rows
    from pantile.simulate.links import Route


@dataclass(slots=True)
class Resources:
    """Resources by name, numbered as they are first asked for.

    Attributes:
        machine: Its memories, engines and paths.
        route: Gives the links between two memories where the machine's paths alone do not say.
        links: By name.
    """

    machine: Machine
    route: Route | None = None
    links: dict[str, Link] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names, by number."""
        return tuple(self.links)

    def rows(self) -> Rows:
        """Return rows of ``RESOURCE``, by number."""
        return np.array(
            [
                (
                    number,
                    -1,
                    link.kind,
                    link.sharing,
                    link.rate_bytes_per_second,
                    link.latency_ticks,
                    link.quantum_bytes,
                    0,
                )
                for number, link in enumerate(self.links.values())
            ],
            RESOURCE,
        )

    def carry(self, transfers: Iterable[tuple[Hashable, str, str, int]]) -> list[tuple[int, int]]:
        """Return what one move takes, in route order, with amounts: the links of all its transfers.

        A link that leads to several destinations of one operand carries it once.

        Args:
            transfers: Operand, space read, space written, bytes.

        Raises:
            ProgramError: If the machine lacks one of the spaces, or a way.
        """
        carried: dict[tuple[Hashable, int], int] = {}
        places: dict[int, int] = {}
        for operand, source, target, amount in transfers:
            for position, link in enumerate(self.way(source, target)):
                carried[operand, link] = max(carried.get((operand, link), 0), amount)
                places[link] = min(places.get(link, position), position)
        amounts = dict.fromkeys(places, 0)
        for (_, link), amount in carried.items():
            amounts[link] += 0 if self.is_held(link) else amount
        return [(link, amounts[link]) for link in sorted(places, key=lambda link: (places[link], link))]

    def way(self, source: str, target: str) -> list[int]:
        """Return what a transfer between two spaces takes, in route order.

        Raises:
            ProgramError: If the machine lacks one of them, or a way.
        """
        start, end = self._memory(source), self._memory(target)
        links = self.route(start, end) if self.route else None
        return [
            self._number(link) for link in (path_links(start, end, self.machine) if links is None else links)
        ]

    def engine(self, name: str) -> tuple[Engine, str]:
        """Return the engine of a space such as ``"compute@(0,1)"``, and what that instance is called.

        Where no engine has that name, the only one that computes is meant.

        Raises:
            ProgramError: If there is none, or not there.
        """
        space = parse_space(name)
        computing = [engine for engine in self.machine.engines if engine.duration != "transfer"]
        found = [engine for engine in computing if engine.name == space.kind] or computing
        if len(found) != 1:
            known = ", ".join(engine.name for engine in computing) or "none"
            problem = f"machine {self.machine.name!r} has no engine {space.kind!r} to compute"
            raise ProgramError(problem, mend=f"engines that compute: {known}")
        engine = found[0]
        here = Space(engine.name, space.at)
        problem_here = instance_problem(here, engine, self.machine)
        if problem_here:
            raise ProgramError(problem_here)
        if engine.scope != "core":
            return engine, engine.name
        return self.machine.engine(engine.name, core_index(here.at, self.machine)), here.name

    def occupied(self, engine: Engine, name: str) -> int:
        """Return the number of an engine's instance; its amounts are ticks."""
        in_order = engine.completes == "in_order"
        return self._number(
            Link(
                name=name,
                rate_bytes_per_second=TICKS_PER_SECOND,
                latency_ticks=0 if in_order else cycles_ticks(drain_cycles(engine), self.machine),
                policy="exclusive",
                kind=ResourceKind.ENGINE,
            )
        )

    def ticks(self, engine: Engine, macs: int, cycles: int | None = None) -> int:
        """Return the ticks for which an operation of *macs*, or of stated *cycles*, keeps others out."""
        work = cycles_ticks(occupied_cycles(engine, macs) if cycles is None else cycles, self.machine)
        drains = engine.completes == "in_order"
        return work + cycles_ticks(drain_cycles(engine), self.machine) * drains

    def run_of_array(self, engine: Engine, name: str, held: int, total: int) -> list[tuple[int, int]]:
        """Return what a run of an array takes: the array for *held* cycles, and ports until it is over.

        The ports only delay the end: they are taken with the array, and given back with it.

        Args:
            engine: The array.
            name: What its instance is called.
            held: Cycles after which it takes the next run.
            total: Cycles of the whole run.
        """
        array = Link(
            name=name, rate_bytes_per_second=TICKS_PER_SECOND, policy="exclusive", kind=ResourceKind.ENGINE
        )
        found = [(self._number(array), cycles_ticks(held, self.machine))]
        rest = cycles_ticks(total, self.machine) - cycles_ticks(held, self.machine)
        if rest:
            ports = Link(
                name=f"{name} ports, {total - held} cycles",
                rate_bytes_per_second=TICKS_PER_SECOND,
                latency_ticks=rest,
                policy="exclusive",
                kind=ResourceKind.PORT,
            )
            found.append((self._number(ports), 0))
        return found

    def is_held(self, number: int) -> bool:
        """Whether a resource is only held, and serves nothing itself."""
        return self.links[self.names[number]].rate_bytes_per_second == 0

    def _number(self, link: Link) -> int:
        if link.name not in self.links:
            self._numbers[link.name] = len(self.links)
            self.links[link.name] = link
        return self._numbers[link.name]

    def _memory(self, name: str) -> Space:
        space = parse_space(name)
        memory = self.machine.memory(space.kind)
        problem = instance_problem(space, memory, self.machine)
        if problem:
            raise ProgramError(problem)
        return space
