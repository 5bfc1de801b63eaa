"""The figures of a systolic machine that its planner and its simulators read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError, OutsideModelError, PantileError, raise_all
from pantile.machine.clock import PICOSECONDS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pantile.errors import Place
    from pantile.machine import Machine, Memory, Table

FAMILY = "systolic"
HALVES = 2
"""Slots of each on-chip memory: one half for each of two resident tiles."""

CHANNEL_COUNTS = (*range(1, 17), 32, 64)
"""Channel counts that the address hash exists for (specification, section 9; quirk Q14)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystolicConfig:
    """A systolic machine in figures; those that differ between cores are tuples over the cores.

    Attributes:
        name: The machine's.
        cores: Number of cores.
        heights: Rows of the array of each core, *widths* its columns.
        scratchpad_bytes: Scratchpad of each core, both halves together; likewise *accumulator_bytes*.
        request_bytes: Bytes of one memory request, and the granule in which on-chip space is given out.
        channels: DRAM channels.
        ports: Network ports of each core.
        dram_latency: DRAM cycles of an access; 0 where the DRAM model does not read it.
        noc_latency: Network cycles of a hop; likewise.
        precision: Bytes of one element of any tensor.
        core_hz: Core clock; likewise *dram_hz* and *noc_hz*.
        core_types: What each core keeps in its array, ``"systolic_ws"`` or ``"systolic_os"``.
        dram_type: Model of the DRAM; *dram_config_path* names its configuration, if any.
        noc_type: Model of the network; likewise *noc_config_path*.
        scheduler: Which layers run side by side.
        layout: Order of a convolution's dimensions.
        partition: Partition of each core; empty where all are in partition 0.
    """

    name: str
    cores: int
    heights: tuple[int, ...]
    widths: tuple[int, ...]
    scratchpad_bytes: tuple[int, ...]
    accumulator_bytes: tuple[int, ...]
    request_bytes: int
    channels: int
    ports: int
    dram_latency: int
    noc_latency: int
    precision: int
    core_hz: int
    dram_hz: int
    noc_hz: int
    core_types: tuple[str, ...]
    dram_type: str
    noc_type: str
    scheduler: str
    layout: str
    dram_config_path: str = ""
    noc_config_path: str = ""
    partition: tuple[int, ...] = ()

    @property
    def core_type(self) -> str:
        """Type of core 0, which the planner plans for (quirk Q10)."""
        return self.core_types[0]

    @property
    def core_ps(self) -> int:
        """Period of the core clock in whole picoseconds, as ONNXim divides: 1200 MHz gives 833."""
        return PICOSECONDS_PER_SECOND // self.core_hz

    @property
    def dram_ps(self) -> int:
        """Period of the DRAM clock in whole picoseconds."""
        return PICOSECONDS_PER_SECOND // self.dram_hz

    @property
    def noc_ps(self) -> int:
        """Period of the network clock in whole picoseconds."""
        return PICOSECONDS_PER_SECOND // self.noc_hz

    def scratchpad_half_bytes(self, core: int = 0) -> int:
        """Bytes of scratchpad that one resident tile of *core* may use."""
        return self.scratchpad_bytes[core] // HALVES

    def accumulator_half_bytes(self, core: int = 0) -> int:
        """Bytes of accumulator that one resident tile of *core* may use."""
        return self.accumulator_bytes[core] // HALVES


def systolic_config(machine: Machine) -> SystolicConfig:
    """Return the figures of *machine*.

    Raises:
        MachineError: If it has no table ``[family.systolic]``, lacks a part that a systolic machine
            has, or states something that the systolic model does not read.
    """
    table = machine.family_table(FAMILY)
    raise_all(list(_shape_problems(machine)))
    cores = range(machine.grid.cores)
    arrays = [machine.engine("array", core) for core in cores]
    return SystolicConfig(
        name=machine.name,
        cores=len(cores),
        heights=tuple(array.parameter("rows") for array in arrays),
        widths=tuple(array.parameter("columns") for array in arrays),
        scratchpad_bytes=tuple(_capacity(machine.memory("scratchpad", core)) for core in cores),
        accumulator_bytes=tuple(_capacity(machine.memory("accumulator", core)) for core in cores),
        request_bytes=machine.memory("dram").granule_bytes,
        channels=_count(table, "channels"),
        ports=_count(table, "ports_per_core"),
        dram_latency=_count(table, "dram_latency_cycles"),
        noc_latency=_count(table, "noc_latency_cycles"),
        precision=_count(table, "precision_bytes"),
        core_hz=machine.clock("core").hz,
        dram_hz=machine.clock("dram").hz,
        noc_hz=machine.clock("noc").hz,
        core_types=tuple(str(machine.family_table(FAMILY, core)["core_type"]) for core in cores),
        dram_type=str(table["dram_type"]),
        noc_type=str(table["noc_type"]),
        scheduler=str(table["scheduler"]),
        layout=str(table["layout"]),
        dram_config_path=str(table.get("dram_config_path", "")),
        noc_config_path=str(table.get("noc_config_path", "")),
        partition=_partition(table),
    )


def _count(table: Table, key: str) -> int:
    value = table.get(key, 0)
    assert isinstance(value, int)  # Machine let nothing else through
    return value


def _partition(table: Table) -> tuple[int, ...]:
    numbers = table.get("partition", ())
    assert isinstance(numbers, tuple)  # likewise
    return tuple(number for number in numbers if isinstance(number, int))


def _capacity(memory: Memory) -> int:
    assert memory.capacity_bytes is not None  # _shape_problems refused it
    return memory.capacity_bytes


def _shape_problems(machine: Machine) -> Iterator[MachineError]:
    """Yield what keeps *machine* from being a systolic one; a part that is missing is raised at once."""
    for clock in ("core", "dram", "noc"):
        machine.clock(clock)
    array = machine.engine("array")
    if array.duration != "systolic" or array.scope != "core":
        problem = "engine.array: expected scope 'core' and duration 'systolic' on a systolic machine"
        yield MachineError(problem, place=machine.place("engine.array"))
    request = machine.memory("dram").granule_bytes
    for core in (None, *(override.index for override in machine.cores)):
        for name in ("scratchpad", "accumulator"):
            yield from _memory_problems(machine, machine.memory(name, core), request, core)
    for path in machine.paths:
        for key in ("rate_bytes_per_second", "latency_cycles", "granule_bytes"):
            if getattr(path, key) is not None:
                problem = (
                    f"{path.label}.{key}: a systolic machine does not read it: its rate follows from "
                    "family.systolic.channels, memory.dram.granule_bytes and clock.dram"
                )
                yield MachineError(problem, place=machine.place(f"{path.label}.{key}"), mend="leave it out")


def _memory_problems(
    machine: Machine, memory: Memory, request_bytes: int, core: int | None
) -> Iterator[MachineError]:
    label = memory.label if core is None else f"core.{core}.{memory.label}"
    for key, found, fits, expected in (
        ("scope", repr(memory.scope), memory.scope == "core", "'core'"),
        ("slots", memory.slots, memory.slots == HALVES, f"{HALVES}, one half for each resident tile"),
        ("capacity_bytes", "none", memory.capacity_bytes is not None, "a capacity"),
        (
            "granule_bytes",
            memory.granule_bytes,
            memory.granule_bytes == request_bytes,
            f"{request_bytes}, the request size memory.dram.granule_bytes",
        ),
    ):
        if not fits:
            problem = f"{label}.{key}: expected {expected}, got {found}"
            yield MachineError(problem, place=machine.place(f"{label}.{key}"))


def _no_place(label: str) -> Place | None:
    return None


def require_supported(config: SystolicConfig, place: Callable[[str], Place | None] = _no_place) -> None:
    """Raise unless the exact simulation of this version covers *config*.

    *place* says where a labelled constant stands: :meth:`Machine.place` of the machine it came from.

    Raises:
        OutsideModelError: For what ONNXim has and this model does not cover.
        MachineError: For what ONNXim itself cannot run (quirks Q14 and Q22).
        ManyProblems: If there are several.
    """
    raise_all(list(_unsupported(config, place)))


def _unsupported(config: SystolicConfig, place: Callable[[str], Place | None]) -> Iterator[PantileError]:
    others = [core for core, core_type in enumerate(config.core_types) if core_type != "systolic_ws"]
    if others:
        label, found = "family.systolic.core_type", config.core_types[others[0]]
        problem = (
            f"{label} of core {others[0]} is {found!r}: only 'systolic_ws' is modelled, "
            "and ONNXim computes with no other (quirk Q21)"
        )
        yield OutsideModelError(problem, place=place(label))
    for key, found in (
        ("dram_type", config.dram_type),
        ("noc_type", config.noc_type),
        ("scheduler", config.scheduler),
    ):
        if found != "simple":
            label = f"family.systolic.{key}"
            yield OutsideModelError(f"{label} is {found!r}: only 'simple' is modelled", place=place(label))
    if any(config.partition):
        label = "family.systolic.partition"
        problem = f"{label} is {list(config.partition)}: only partition 0 for every core is modelled"
        yield OutsideModelError(problem, place=place(label), mend="leave it out")
    if config.channels not in CHANNEL_COUNTS:
        label = "family.systolic.channels"
        problem = (
            f"{label} is {config.channels}: expected 1 to 16, 32 or 64, "
            "the counts that the address hash exists for (quirk Q14)"
        )
        yield MachineError(problem, place=place(label))
    if config.precision > config.request_bytes:
        label = "family.systolic.precision_bytes"
        problem = (
            f"{label} is {config.precision}: expected at most memory.dram.granule_bytes, "
            f"the request size of {config.request_bytes} bytes (quirk Q22)"
        )
        yield MachineError(problem, place=place(label))
