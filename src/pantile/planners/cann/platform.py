"""The platform that the source asks: memories, cores and rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError, raise_all

if TYPE_CHECKING:
    from pantile.machine import Machine

FAMILY = "ascend"
MEMORIES = ("l0a", "l0b", "l0c", "l1", "ub", "bt", "l2")

# Section 1: what the source takes where its platform file says nothing.
CUBE_FREQ_MHZ, DDR_RATE, L2_RATE = 1650, 31, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What the source reads of a chip; memories in bytes, those of a core per core.

    Attributes:
        cores: Cube cores (aicNum); *vector_cores* vector cores (aivNum).
        soc_cores: ai_core_cnt of the platform file.
        cube_freq: MHz; *ddr_rate* and *l2_rate* as the platform file counts them.
        deterministic_level: Above 1, no reduction is shared between cores.
    """

    cores: int
    vector_cores: int
    soc_cores: int
    l0a: int
    l0b: int
    l0c: int
    l1: int
    ub: int
    bt: int
    l2: int
    cube_freq: int = CUBE_FREQ_MHZ
    ddr_rate: int = DDR_RATE
    l2_rate: int = L2_RATE
    deterministic_level: int = 0


def platform_of(machine: Machine) -> Platform:
    """Return what the source reads of *machine*.

    Raises:
        MachineError: If it has no Ascend family, or lacks a memory or its capacity; all together.
    """
    family = machine.family_table(FAMILY)
    problems: list[MachineError] = []
    sizes: dict[str, int] = {}
    names = {memory.name for memory in machine.memories}
    for name in MEMORIES:
        capacity = machine.memory(name).capacity_bytes if name in names else None
        if capacity is None:
            what = "has no capacity" if name in names else "is missing"
            mend = f"add [[memory]] name = {name!r} with capacity_bytes"
            place = machine.place(f"memory.{name}")
            problem = f"memory {name!r}, which cann needs, {what}"
            problems.append(MachineError(problem, place=place, mend=mend))
        sizes[name] = capacity or 0
    raise_all(problems)
    cores = machine.grid.cores

    def constant(key: str, otherwise: int) -> int:
        value = family.get(key, otherwise)
        assert isinstance(value, int)  # the machine's own check let nothing else through
        return value

    return Platform(
        cores=cores,
        vector_cores=constant("vector_cores", 2 * cores),
        soc_cores=constant("soc_cores", cores),
        cube_freq=constant("cube_freq_mhz", CUBE_FREQ_MHZ),
        ddr_rate=constant("ddr_rate", DDR_RATE),
        l2_rate=constant("l2_rate", L2_RATE),
        deterministic_level=constant("deterministic_level", 0),
        **sizes,
    )
