"""When a core program runs: what its work costs on a machine, bound for the event engine.

Instructions of a pipe start in order. A move takes the bytes that arrive at the rate of its path and that
path's latency, and the next of its pipe begins when it is over; the cube takes its steps one after the other;
flags, barriers and register writes take no time. Two instructions that the unit flag lets overlap do so block
by block: a ``mad`` hands its blocks over one by one as it goes, and the copy behind it has the last of its
blocks to do when the last one comes. What the machine does not say is refused, never guessed.

Source: ascend-core.md sections 1.3, 1.5 and 5; each figure is the machine's, with its own source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.errors import OutsideModelError, ProgramError, raise_all
from pantile.machine import Grid, Table
from pantile.program.piece import Piece
from pantile.program.tables import RESOURCE, USE, Edge, Kind, ResourceKind, Sharing
from pantile.simulate.bound import BoundProgram, place_of
from pantile.simulate.service import TICKS_PER_SECOND, service_ticks
from pantile.simulate.work import cycles_ticks
from pantile.targets.ascend.kept_trace import require_trace
from pantile.targets.ascend.pipes import LANES
from pantile.targets.ascend.trace import FAMILY
from pantile.targets.ascend.trace_rows import UNIT_FLAG
from pantile.targets.ascend.work import CUBES, CYCLES, STREAMED, UNSAID

if TYPE_CHECKING:
    from pantile.errors import PantileError
    from pantile.machine import Machine, Path
    from pantile.program.program import Program
    from pantile.simulate.bound import Ints, Rows

ENGINES = {"PIPE_M": "cube", "PIPE_V": "vector"}
"""The engine of each pipe that computes."""

WITH_PATHS = 200_000
"""Operations up to which paths are resources: each use is work for the engine."""

STEP_MACS = CUBES["cube 2-byte"]
"""What the machine's figure for its cube counts: 16 x 16 x 16 in a cycle is 4096."""


class Demand(NamedTuple):
    """What one piece of work asks for.

    Attributes:
        resource: Name of the path that serves it; empty where only time passes.
        amount: Bytes that the path serves.
        ticks: Picoseconds that pass without a path.
    """

    resource: str
    amount: int
    ticks: int


@dataclass(frozen=True, slots=True)
class CoreTiming:
    """What work costs on one core of a machine.

    Attributes:
        machine: Its paths move, and its engine ``cube`` multiplies.
    """

    machine: Machine

    def demand(self, kind: str, amount: int) -> Demand:
        """Return what work asks for.

        Args:
            kind: As :class:`~pantile.targets.ascend.work.Work` has it.
            amount: Bytes, steps or cycles.

        Raises:
            OutsideModelError: If the machine does not say, or the work states no amount.
        """
        if kind == CYCLES:
            return Demand("", 0, cycles_ticks(amount, self.machine))
        if kind in CUBES:
            cycles = -(-amount * self._slowdown(kind) * STEP_MACS // self._macs)
            return Demand("", 0, cycles_ticks(cycles, self.machine))
        if kind == UNSAID:
            raise OutsideModelError(
                "this access says neither its cycles nor which bytes it moves where",
                mend="give it cycles=…, or one buffer to read and one to write",
            )
        self._path(kind)
        return Demand(kind.lower(), amount, 0)

    def link(self, resource: str) -> tuple[int, int]:
        """Return bytes per second and the latency in picoseconds of the path that a demand names."""
        path = self._path(resource)
        assert path.rate_bytes_per_second is not None
        if resource.endswith(STREAMED):
            return path.rate_bytes_per_second, 0
        return path.rate_bytes_per_second, cycles_ticks(path.latency_cycles or 0, self.machine, path.clock)

    def passing(self, demand: Demand) -> Demand:
        """Return a demand as time that only passes: as long as its path takes, alone as it is in a pipe."""
        if not demand.resource:
            return demand
        rate, latency = self.link(demand.resource)
        return Demand("", 0, service_ticks(demand.amount, rate) + latency)

    def ticks(self, kind: str, amount: int) -> int:
        """Return the picoseconds that work takes, alone.

        Raises:
            OutsideModelError: As :meth:`demand`.
        """
        return self.passing(self.demand(kind, amount)).ticks

    @property
    def _macs(self) -> int:
        """Multiply-accumulates per cycle on 2-byte operands."""
        return self.machine.engine("cube").parameter("macs_per_cycle")

    def _slowdown(self, kind: str) -> int:
        """Cycles of the cube for a step, in those of a step on 2-byte operands."""
        if kind != "cube fp32":
            return 1
        value = self.machine.family_table(FAMILY).get("fp32_cube_factor")
        if not isinstance(value, int):
            raise OutsideModelError(
                f"machine {self.machine.name!r} does not say how fast its cube is on fp32",
                place=self.machine.place(f"family.{FAMILY}"),
                mend=f"set family.{FAMILY}.fp32_cube_factor: cycles of 16 x 8 x 16 on fp32",
            )
        return value

    def _path(self, kind: str) -> Path:
        origin, _, destination = kind.removesuffix(STREAMED).lower().partition(">")
        for path in self.machine.paths:
            if (path.origin, path.destination) == (origin, destination):
                if path.rate_bytes_per_second is None:
                    raise OutsideModelError(
                        f"machine {self.machine.name!r} does not say how fast its path {origin} > "
                        f"{destination} is",
                        place=self.machine.place(path.label),
                        mend=f"set rate_bytes_per_second of {path.label}",
                    )
                return path
        ways = ", ".join(f"{path.origin} > {path.destination}" for path in self.machine.paths) or "none"
        raise OutsideModelError(
            f"machine {self.machine.name!r} has no path {origin} > {destination}",
            mend=f"add one; it has {ways}",
        )


def bind_core(program: Program, machine: Machine, *, paths: bool | None = None) -> BoundProgram:
    """Return a core program with the time that its operations take on one core of *machine*.

    Threads are called as the vendor's tools call pipes (:data:`~pantile.targets.ascend.pipes.LANES`).

    Args:
        program: The program.
        machine: The machine.
        paths: Whether paths are resources, whose use a run tells and whose rate it can change; times are the
            same. By default, only of programs of up to :data:`WITH_PATHS` operations.

    Raises:
        PantileError: If the machine lacks a path, an engine or a figure that the program needs; each once,
            with the line of the first operation.
    """
    require_trace(program)
    tables, timing = program.tables(), CoreTiming(machine)
    demands = _demands(program, tables, timing)
    if not (len(tables["op"]) <= WITH_PATHS if paths is None else paths):
        demands = [timing.passing(each) for each in demands]
    resources = _Resources(timing)
    use, ticks = _uses(program, tables["op"], tables["thread"], demands, resources)
    tables = {**tables, "sync": _block_by_block(program, tables)}
    shown = replace_program(program, tables)
    return BoundProgram(
        program=shown,
        tables=tables,
        machine=_one_core(machine, program),
        resources=resources.rows(),
        resource_names=tuple(resources.numbers),
        use=use,
        ticks=ticks,
        arbiter_ticks=np.zeros(len(tables["arbiter"]), np.int64),
    )


@dataclass(slots=True)
class _Resources:
    """Engines and paths that a program uses, numbered as they are first asked for."""

    timing: CoreTiming
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def rows(self) -> Rows:
        rows = []
        for name, number in self.numbers.items():
            if name in ENGINES.values():
                kind, rate, latency = ResourceKind.ENGINE, TICKS_PER_SECOND, 0
            else:
                kind, (rate, latency) = ResourceKind.LINK, self.timing.link(name)
            rows.append((number, -1, kind, Sharing.EXCLUSIVE, rate, latency, 0, 0))
        return np.array(rows, RESOURCE)


def _uses(
    program: Program, ops: Rows, threads: Rows, demands: list[Demand], resources: _Resources
) -> tuple[Rows, Ints]:
    """Return which resource each operation takes and how much of it, and the ticks that others take."""
    engine = np.full(len(threads) + 1, -1, np.int64)
    for thread, name in enumerate(threads["name"].tolist()):
        if program.text(name) in ENGINES and np.any(ops["thread"] == thread):
            engine[thread] = resources.number(ENGINES[program.text(name)])
    served = np.array([resources.number(each.resource) if each.resource else -1 for each in demands] + [-1])
    amounts = np.array([each.amount for each in demands] + [0], np.int64)
    passing = np.array([each.ticks for each in demands] + [0], np.int64)
    model = np.where(ops["duration_model"] > 0, ops["duration_model"].astype(np.int64) - 1, len(demands))
    computes = ops["kind"] == Kind.COMPUTE
    resource = np.where(computes, engine[ops["thread"]], served[model])
    ticks = passing[model]
    mine = np.flatnonzero(resource >= 0)
    use = np.zeros(len(mine), USE)
    use["op"], use["resource"] = mine, resource[mine]
    use["amount"] = np.where(computes, ticks, amounts[model])[mine]
    ticks[computes] = 0
    return use, ticks


def _one_core(machine: Machine, program: Program) -> Machine:
    """Return one core of a machine, its peak that on the narrowest type that the program multiplies."""
    widest = max((CUBES[kind] for kind, _ in program.parameters["works"] if kind in CUBES), default=STEP_MACS)
    engines = tuple(
        replace(
            engine,
            parameters=Table({"macs_per_cycle": engine.parameter("macs_per_cycle") * widest // STEP_MACS}),
        )
        if engine.name == "cube"
        else engine
        for engine in machine.engines
    )
    return replace(machine, engines=engines, grid=Grid((1,)), cores=())


def _demands(program: Program, tables: dict[str, Rows], timing: CoreTiming) -> list[Demand]:
    """Return what every distinct work of a program asks for."""
    models = tables["op"]["duration_model"]
    demands: list[Demand] = []
    problems: dict[str, PantileError] = {}
    for number, (kind, amount) in enumerate(program.parameters["works"]):
        try:
            demands.append(timing.demand(kind, amount))
        except OutsideModelError as error:
            op = int(np.flatnonzero(models == number + 1)[0])
            at = place_of(program, tables, op)
            problem = ProgramError(error.problem, place=at, mend=error.mend)
            problems.setdefault(error.problem, problem)
    raise_all(list(problems.values()))
    return demands


def _block_by_block(program: Program, tables: dict[str, Rows]) -> Rows:
    """Return the synchronisation with unit flags that hand over one block after the other."""
    flags = program.parameters.get("unit_flags")
    if not flags or UNIT_FLAG not in program.names:  # flags that are checked, and handed over by none
        return tables["sync"]
    sync = tables["sync"].copy()
    mine = sync["shown_as"] == program.names.index(UNIT_FLAG)
    posts = mine & (sync["edge"] == Edge.AFTER_FINISH)
    sync["edge"][posts] = Edge.ALONG
    along = np.array(flags["along"], np.int64).reshape(-1, 3)
    waits = np.flatnonzero(mine & ~posts)
    by_counter = np.lexsort((sync["counter"][waits], sync["op"][waits]))
    sync["amount"][waits[by_counter]] = along[np.lexsort((along[:, 1], along[:, 0])), 2]
    return sync


def replace_program(program: Program, tables: dict[str, Rows]) -> Program:
    """Return a core program with other tables, its pipes called as the vendor's tools call them."""
    names = program.names
    threads = tables["thread"].copy()
    lanes = [LANES.get(program.text(int(name)), program.text(int(name))) for name in threads["name"]]
    threads["name"] = np.arange(len(names), len(names) + len(lanes))
    tables["thread"] = threads
    return replace(_plain(program), names=(*names, *lanes), pieces=(Piece(dict(tables)),))


def _plain(program: Program) -> Program:
    """Return the tables of a program of any class."""
    from pantile.program.program import Program as Tables

    fields = {name: getattr(program, name) for name in Tables.__dataclass_fields__}
    return Tables(**fields)
