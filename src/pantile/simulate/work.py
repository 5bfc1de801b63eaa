"""How long an engine works on an operation, by the duration model that its machine gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import MachineError
from pantile.simulate.service import service_ticks

if TYPE_CHECKING:
    from pantile.machine import Engine, Machine


def cycles_ticks(cycles: int, machine: Machine, clock: str | None = None) -> int:
    """Return *cycles* of a clock, the base clock by default, in picoseconds, rounded up."""
    return service_ticks(cycles, machine.clock(clock or machine.base_clock).hz)


def occupied_cycles(engine: Engine, macs: int) -> int:
    """Return the cycles for which an operation of *macs* keeps others out of *engine*.

    ``fixed`` is a constant. ``systolic`` and ``macs`` do a number of multiply-accumulates per cycle: one per
    processing element, or ``macs_per_cycle``.

    Raises:
        MachineError: If the engine's duration model is none of these.
    """
    if engine.duration == "fixed":
        return engine.parameter("cycles")
    if engine.duration == "systolic":
        return -(-macs // (engine.parameter("rows") * engine.parameter("columns")))
    if engine.duration == "macs":
        return -(-macs // engine.parameter("macs_per_cycle"))
    raise MachineError(f"{engine.label}: a duration of {engine.duration!r} computes nothing")


def drain_cycles(engine: Engine) -> int:
    """Return the cycles between the end of the work and the last result: the skew of a systolic array.

    An array of H rows and W columns takes K + H + W - 2 steps for a product of depth K (tile-language.md
    section 9: tau = row + col + it).
    """
    if engine.duration == "systolic":
        return engine.parameter("rows") + engine.parameter("columns") - 2
    return 0


def peak_macs_per_second(machine: Machine) -> int:
    """Return the multiply-accumulates that all engines can do in a second; 0 if the machine does not say."""
    cores, peak = machine.grid.cores, 0
    for engine in machine.engines:
        for core in range(cores if engine.scope == "core" else 1):
            own = machine.engine(engine.name, core) if engine.scope == "core" else engine
            if own.duration == "systolic":
                peak += own.parameter("rows") * own.parameter("columns")
            elif own.duration == "macs":
                peak += own.parameter("macs_per_cycle")
    return peak * machine.clock(machine.base_clock).hz
