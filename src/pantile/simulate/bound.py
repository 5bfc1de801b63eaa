"""A program bound to a machine: which resources its operations use, and how much of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.errors import Place, ProgramError
from pantile.program.tables import RESOURCE, USE, Edge, Kind, Sharing, Test
from pantile.simulate.service import LONGEST, MOST, STEEPEST, ratio, service_column

if TYPE_CHECKING:
    from pantile.machine import Machine
    from pantile.program.program import Program

Rows = npt.NDArray[np.void]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class BoundProgram:
    """A program with resources, ready to be timed.

    Attributes:
        program: What runs.
        tables: Its tables, each once.
        machine: What it runs on; ``None`` where it is timed without one.
        resources: Rows of ``RESOURCE``; an id is a position. Rates are per second, latencies in ticks.
        resource_names: Their names.
        use: Rows of ``USE``, by operation and position.
        ticks: Ticks that each operation takes at least; shape ``(operations,)``.
        arbiter_ticks: Ticks of one turn of each arbiter.
        use_ticks: Ticks of service of each row of :attr:`use`, were the operation alone; 0 where nothing
            serves.

    Raises:
        ProgramError: If ids are not positions, a thread belongs to a task, a row is out of what the
            engine can carry out, or all operations one after the other take longer than it can count.
    """

    program: Program = field(repr=False)
    tables: dict[str, Rows] = field(repr=False)
    machine: Machine | None = None
    resources: Rows = field(repr=False, default_factory=lambda: np.zeros(0, RESOURCE))
    resource_names: tuple[str, ...] = ()
    use: Rows = field(repr=False, default_factory=lambda: np.zeros(0, USE))
    ticks: Ints = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))
    arbiter_ticks: Ints = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))
    use_ticks: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _require_positions(self.tables)
        _require_supported(self.tables)
        object.__setattr__(self, "use_ticks", _use_ticks(self))
        for array in (self.resources, self.use, self.ticks, self.arbiter_ticks, self.use_ticks):
            array.setflags(write=False)
        _require_countable(self)

    @property
    def operations(self) -> int:
        """Number of operations."""
        return len(self.tables["op"])

    def place(self, op: int) -> Place | None:
        """Return file and line of operation *op*, where the program knows them."""
        return place_of(self.program, self.tables, op)


def place_of(program: Program, tables: dict[str, Rows], op: int) -> Place | None:
    """Return where operation *op* stands in its source; ``None`` if nobody said.

    ``parameters["files"]`` is the name of the file, or a list of names, of which a thread takes that at its
    place, or else the last.
    """
    row = tables["op"][op]
    files = program.parameters.get("files")
    if not files or row["line"] <= 0:
        return None
    if isinstance(files, str):
        return Place(files, int(row["line"]))
    file = files[min(int(row["thread"]), len(files) - 1)]
    return Place(program.text(file) if isinstance(file, int) else str(file), int(row["line"]))


def _require_positions(tables: dict[str, Rows]) -> None:
    for name in ("op", "thread", "counter"):
        if not np.array_equal(tables[name]["id"], np.arange(len(tables[name]))):
            raise ProgramError(
                f"ids in the table {name!r} are not 0, 1, 2 …: the event engine counts on that"
            )
    for name, column, table in (
        ("op", "thread", "thread"),
        ("sync", "op", "op"),
        ("sync", "counter", "counter"),
        ("access", "op", "op"),
    ):
        values = tables[name][column]
        if len(values) and not (values.min() >= 0 and values.max() < len(tables[table])):
            raise ProgramError(f"table {name!r} names a {column} that does not exist")
    for name in ("sync", "access"):
        if np.any(np.diff(tables[name]["op"]) < 0):
            raise ProgramError(f"rows of the table {name!r} do not stand in the order of operations")


def _require_supported(tables: dict[str, Rows]) -> None:
    if np.any(tables["thread"]["task"] >= 0) and len(tables["task"]):
        raise ProgramError("threads belong to tasks: such a program is timed by its own family")
    if np.any(tables["op"]["count"] != 1):
        raise ProgramError("rows stand for several operations: such a program is timed by its own family")
    along = tables["sync"][tables["sync"]["edge"] == Edge.ALONG]
    if np.any(along["test"] != Test.POST) or np.any(along["amount"] == 0):
        raise ProgramError("only posts can be spread along an operation, and at least one")
    size = np.abs(along["amount"])
    same = along["op"][1:] == along["op"][:-1]
    if np.any(size[1:][same] != size[:-1][same]):
        raise ProgramError("posts along one operation must come in equal numbers")
    if np.any(tables["sync"]["amount"][tables["sync"]["test"] == Test.TAKE] < 0):
        raise ProgramError("a wait takes a negative amount from its counter")
    if len(tables["thread"]) >= 1 << 17 or len(tables["op"]) >= 1 << 35:
        raise ProgramError("expected fewer than 2^17 threads and 2^35 operations")


def _use_ticks(bound: BoundProgram) -> Ints:
    rates = bound.resources["rate"].astype(np.int64)
    for rate in np.unique(rates):
        if rate and ratio(int(rate))[1] > STEEPEST:
            raise ProgramError(f"a rate of {rate} per second cannot be counted in picoseconds")
    try:
        return service_column(bound.use["amount"].astype(np.int64), rates, bound.use["resource"])
    except OverflowError:
        raise ProgramError("an operation takes more than 2^63 ps", mend="raise the machine's rates") from None


def _require_countable(bound: BoundProgram) -> None:
    shared = bound.resources["policy"] == Sharing.SHARED
    if np.any(shared & ((bound.resources["rate"] < 1) | (bound.resources["quantum"] < 1))):
        raise ProgramError("a shared link needs a rate and a quantum")
    if np.any(bound.use["amount"] > MOST):
        raise ProgramError(f"an operation moves more than {MOST} units", mend="cut the work")
    latencies = bound.resources["latency"][bound.use["resource"]]
    total = sum(float(each.astype(float).sum()) for each in (bound.ticks, bound.use_ticks, latencies))
    if total >= LONGEST:
        problem = f"all operations one after the other take {total:.3g} ps, more than 2^60"
        raise ProgramError(problem, mend="cut the work")


def unit_time(program: Program) -> BoundProgram:
    """Return *program* with one tick for every move and compute, nothing shared: order without a machine."""
    tables = program.tables()
    timed = (tables["op"]["kind"] == Kind.MOVE) | (tables["op"]["kind"] == Kind.COMPUTE)
    return BoundProgram(
        program,
        tables,
        ticks=timed.astype(np.int64),
        arbiter_ticks=np.ones(len(tables["arbiter"]), np.int64),
    )
