"""The machine that plans, programs and simulations are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pantile.errors import MachineError, Place, raise_all, suggestion
from pantile.machine.clock import PICOSECONDS_PER_SECOND, Clock
from pantile.machine.core import CoreOverride
from pantile.machine.engine import Engine
from pantile.machine.grid import Grid
from pantile.machine.listing import constants, html_table, text_table
from pantile.machine.memory import Memory
from pantile.machine.path import Path
from pantile.machine.references import Parts, reference_problems
from pantile.machine.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantile.machine.provenance import Provenance

SCHEMA = "pantile/machine/1"
"""Version of the document form that :meth:`Machine.to_json` writes and machine files follow."""

_Part = TypeVar("_Part", Clock, Memory, Engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Memories, engines and the paths between them, on a grid of cores with their clocks.

    Attributes:
        name: What the user calls it.
        clocks: In the order of declaration.
        base_clock: The clock that a run's cycles are counted in.
        memories: In the order of declaration, likewise engines and paths.
        family: By family name, the constants which that family alone reads.
        cores: What single cores have different, by index.
        planner: The planner used where none is named; empty where there is none.
        description: One line for people.
        provenance: Pairs of a constant's label, such as ``"memory.dram.granule_bytes"``, and where it
            comes from.
        file: The file it was read from, if any; not part of its value, likewise *lines*.
        lines: Line of each labelled constant in that file.

    Raises:
        MachineError: If parts do not fit one another (all such problems at once).
    """

    name: str
    clocks: tuple[Clock, ...]
    base_clock: str = "core"
    memories: tuple[Memory, ...] = ()
    engines: tuple[Engine, ...] = ()
    paths: tuple[Path, ...] = ()
    grid: Grid = field(default_factory=Grid)
    family: Table = field(default_factory=Table)
    cores: tuple[CoreOverride, ...] = ()
    planner: str = ""
    description: str = ""
    provenance: tuple[tuple[str, Provenance], ...] = ()
    file: str = field(default="", compare=False, repr=False)
    lines: Table = field(default_factory=Table, compare=False, repr=False)

    def __post_init__(self) -> None:
        raise_all([error for _, error in reference_problems(self._parts())])
        labels = {constant.label for constant in constants(self)}
        strays = [label for label, _ in self.provenance if label not in labels]
        raise_all(
            [
                MachineError(f"provenance.{label}: there is no such constant", place=self.place())
                for label in strays
            ]
        )

    def _parts(self) -> Parts:
        return Parts(
            base_clock=self.base_clock,
            clock_names=[clock.name for clock in self.clocks],
            memory_names=[memory.name for memory in self.memories],
            engine_names=[engine.name for engine in self.engines],
            memories=dict(enumerate(self.memories)),
            engines=dict(enumerate(self.engines)),
            paths={index: path.to_json() for index, path in enumerate(self.paths)},
            cores=dict(enumerate(self.cores)),
            grid=self.grid,
            family=self.family,
        )

    @property
    def tick_hz(self) -> int:
        """Ticks of simulated time per second: of the only clock, or picoseconds where there are several."""
        return self.clocks[0].hz if len(self.clocks) == 1 else PICOSECONDS_PER_SECOND

    def clock(self, name: str) -> Clock:
        """Return the clock called *name*.

        Raises:
            MachineError: If there is none; likewise for the other parts.
        """
        return self._find("clock", self.clocks, name)

    def memory(self, name: str, core: int | None = None) -> Memory:
        """Return the memory called *name*, as *core* has it if one is given."""
        memory = self._find("memory", self.memories, name)
        return memory if core is None else memory.with_changes(self._changes(core, "memory", name))

    def engine(self, name: str, core: int | None = None) -> Engine:
        """Return the engine called *name*, as *core* has it if one is given."""
        engine = self._find("engine", self.engines, name)
        return engine if core is None else engine.with_changes(self._changes(core, "engine", name))

    def family_table(self, name: str, core: int | None = None) -> Table:
        """Return the constants that family *name* reads, as *core* has them if one is given."""
        if name not in self.family:
            mend = suggestion(name, list(self.family)) if self.family else f"add a table [family.{name}]"
            raise MachineError(f"machine {self.name!r} has no family {name!r}", place=self.place(), mend=mend)
        table = self.family.table(name)
        changes = None if core is None else self._changes(core, "family", name)
        return Table({**table, **changes}) if changes else table

    def place(self, label: str = "") -> Place | None:
        """Return where the constant or table labelled *label* stands; ``None`` if not in a file."""
        while label and label not in self.lines:
            label = label.rpartition(".")[0]
        line = self.lines.get(label, 0)
        return Place(self.file, line if isinstance(line, int) else 0) if self.file else None

    def to_json(self) -> dict[str, object]:
        """Return the document of this machine, every quantity in base units."""
        document: dict[str, object] = {"schema": SCHEMA, "name": self.name}
        document |= {key: text for key in ("description", "planner") if (text := getattr(self, key))}
        document |= {
            "clock": {"base": self.base_clock, **{clock.name: clock.hz for clock in self.clocks}},
            "memory": [memory.to_json() for memory in self.memories],
            "engine": [engine.to_json() for engine in self.engines],
            "path": [path.to_json() for path in self.paths],
            "grid": self.grid.to_json(),
            "family": self.family.to_json(),
            "core": [core.to_json() for core in self.cores],
            "provenance": {label: origin.to_json() for label, origin in self.provenance},
        }
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, object]) -> Machine:
        """Return the machine that :meth:`to_json` wrote.

        Raises:
            MachineError: Or :class:`~pantile.errors.ManyProblems`, if it is no such document.
        """
        from pantile.machine.document import read_document  # imports this module

        return read_document(document)

    def __str__(self) -> str:
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)

    def _find(self, kind: str, parts: Sequence[_Part], name: str) -> _Part:
        for part in parts:
            if part.name == name:
                return part
        names = [part.name for part in parts]
        mend = suggestion(name, names) if names else f"no {kind} is declared"
        raise MachineError(f"machine {self.name!r} has no {kind} {name!r}", place=self.place(kind), mend=mend)

    def _changes(self, core: int, kind: str, name: str) -> Table:
        if not 0 <= core < self.grid.cores:
            raise MachineError(f"machine {self.name!r} has cores 0 to {self.grid.cores - 1}, got {core}")
        for override in self.cores:
            if override.index == core:
                return override.changes.table(kind, name)
        return Table()
