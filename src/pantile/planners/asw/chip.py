"""The constants of a chip that the analysis computes with.

Source: asw-theory.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite, lcm
from typing import TYPE_CHECKING, Any

from pantile.errors import MachineError, OutsideModelError, raise_all, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.errors import PantileError
    from pantile.machine import Machine

FAMILY = "ascend"
PICOSECONDS = 10**12

_PEAKS = {1: "peak_flops_1_byte", 2: "peak_flops", 4: "peak_flops_4_byte"}
"""Key of the peak for inputs of so many bytes."""
_MEMORIES = {"l0a_bytes": "l0a", "l0b_bytes": "l0b", "l0c_bytes": "l0c", "l1_bytes": "l1", "l2_bytes": "l2"}
_RATES = ("gm_bytes_per_second", "l2_bytes_per_second")
_OPTIONAL = {
    "run_bytes": "min_run_bytes",
    "move_bytes": "min_move_bytes",
    "max_readers": "max_panel_readers",
    "grain": "cube_grain",
    "core_gm_bytes_per_second": "core_gm_bytes_per_second",
    "block_overhead_ps": "block_overhead_ps",
}

SYMBOLS = {
    "C": "cores",
    "L0A": "l0a_bytes",
    "L0B": "l0b_bytes",
    "L0C": "l0c_bytes",
    "L1": "l1_bytes",
    "L2": "l2_bytes",
    "W_GM": "gm_bytes_per_second",
    "BW_L2": "l2_bytes_per_second",
    "PEAK": "peak_flops",
    "DVAL": "run_bytes",
    "MINTILE": "move_bytes",
    "CONFLICT": "max_readers",
    "GRAIN": "grain",
    "BW_core_max": "core_gm_bytes_per_second",
}
"""The analysis's symbol of each constant."""
_PER_CORE = {"Q16": "peak_flops", "BW_pc": "gm_bytes_per_second", "L2_pc": "l2_bytes_per_second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A chip of equal cores; capacities in bytes, rates per second and of the whole chip unless said.

    Attributes:
        cores: Cube cores.
        l0a_bytes: Capacity of the left operand's innermost memory, of one core; likewise l0b, l0c and l1.
        l2_bytes: Capacity of the cache that all cores share.
        gm_bytes_per_second: Rate of the chip's memory, reads and writes together.
        l2_bytes_per_second: Rate of the shared cache.
        peak_flops: Floating-point operations per second on the inputs at hand.
        run_bytes: Smallest contiguous run of a move to L1 (dValue).
        move_bytes: Smallest move to L1.
        max_readers: Most cores that may read one panel at a time.
        grain: Elements that the cube takes at a time along each axis.
        core_gm_bytes_per_second: Most that one core can draw from memory; ``None`` is an equal share.
        block_overhead_ps: Fixed cost of a block, in picoseconds.
    """

    cores: int = 32
    l0a_bytes: int = 65536
    l0b_bytes: int = 65536
    l0c_bytes: int = 262144
    l1_bytes: int = 524288
    l2_bytes: int = 134217728
    gm_bytes_per_second: int = 1_600_000_000_000
    l2_bytes_per_second: int = 5_200_000_000_000
    peak_flops: int = 486_000_000_000_000
    run_bytes: int = 256
    move_bytes: int = 16384
    max_readers: int = 6
    grain: int = 16
    core_gm_bytes_per_second: int | None = None
    block_overhead_ps: int = 0

    def gm_rate_of(self, cores: int) -> tuple[int, int]:
        """Return the bytes per second that so many cores draw from memory, as numerator and denominator."""
        if self.core_gm_bytes_per_second is None:
            return self.gm_bytes_per_second * min(cores, self.cores), self.cores
        return min(self.gm_bytes_per_second, cores * self.core_gm_bytes_per_second), 1

    @property
    def saturating_cores(self) -> int:
        """Fewest cores that draw all the memory gives; all of them where even they do not."""
        if self.core_gm_bytes_per_second is None:
            return self.cores
        return min(self.cores, -(-self.gm_bytes_per_second // self.core_gm_bytes_per_second))


@dataclass(frozen=True, slots=True)
class Ticks:
    """A unit of time in which every time of the analysis is a whole number, but for shares of traffic.

    Attributes:
        per_second: Ticks of a second.
        flop: Ticks in which one core computes one floating-point operation at its peak.
        gm_byte: Ticks of one byte at one core's share of the memory's rate; likewise l2_byte.
        overhead: Ticks that a block costs whatever it does.
    """

    per_second: int
    flop: int
    gm_byte: int
    l2_byte: int
    overhead: int


@lru_cache(maxsize=64)
def ticks_of(chip: Chip) -> Ticks:
    """Return the unit in which times on *chip* are counted."""
    per_second = lcm(chip.peak_flops, chip.gm_bytes_per_second, chip.l2_bytes_per_second, PICOSECONDS)
    each = per_second * chip.cores
    return Ticks(
        per_second,
        each // chip.peak_flops,
        each // chip.gm_bytes_per_second,
        each // chip.l2_bytes_per_second,
        chip.block_overhead_ps * (per_second // PICOSECONDS),
    )


def with_symbols(chip: Chip, changes: Mapping[str, Any]) -> Chip:
    """Return *chip* with constants changed.

    They are named by the analysis's symbols, in capitals or not, or by their own names.

    Raises:
        MachineError: If a name is unknown, or a value no positive whole number; all problems at once.
    """
    problems: list[PantileError] = []
    own: dict[str, int] = {}
    per_core: dict[str, int] = {}
    symbols = {symbol.casefold(): key for symbol, key in {**SYMBOLS, **{s: s for s in _PER_CORE}}.items()}
    for name, value in changes.items():
        key = symbols.get(name.casefold(), name)
        if key not in _PER_CORE and key not in Chip.__dataclass_fields__:
            problems.append(MachineError(f"unknown constant {name!r}", mend=suggestion(name, SYMBOLS)))
        elif not _is_count(value):
            problems.append(MachineError(f"{name} must be a positive whole number, got {value!r}"))
        elif key in _PER_CORE:
            per_core[_PER_CORE[key]] = int(value)
        else:
            own[key] = int(value)
    raise_all(problems)
    chip = replace(chip, **own)
    return replace(chip, **{key: value * chip.cores for key, value in per_core.items()})


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0 and (isinstance(value, int) or (isfinite(value) and value.is_integer()))


def chip_of(machine: Machine, element_bytes: int = 2) -> Chip:
    """Return the constants of *machine* for inputs of so many bytes.

    Raises:
        MachineError: If the machine lacks a constant; all of them at once.
        OutsideModelError: If it gives no peak for such inputs.
    """
    table = machine.family_table(FAMILY)
    problems: list[PantileError] = []
    found: dict[str, int] = {"cores": machine.grid.cores}
    for key, name in _MEMORIES.items():
        capacity = next((each.capacity_bytes for each in machine.memories if each.name == name), None)
        if capacity is None:
            problems.append(_lacking(machine, f"a memory {name!r} of a given capacity"))
        else:
            found[key] = capacity
    for name in _RATES:
        if name in table:
            found[name] = _whole(table[name])
        else:
            problems.append(_lacking(machine, f"family.{FAMILY}.{name}"))
    peak = _PEAKS.get(element_bytes)
    if peak in table:
        found["peak_flops"] = _whole(table[str(peak)])
    elif element_bytes == 2:
        problems.append(_lacking(machine, f"family.{FAMILY}.peak_flops"))
    raise_all(problems)
    if "peak_flops" not in found:
        mend = f"give family.{FAMILY}.{peak}, or use bf16 or fp16" if peak else "use bf16 or fp16"
        raise OutsideModelError(
            f"machine {machine.name!r} gives no peak for inputs of {element_bytes} B", mend=mend
        )
    found |= {key: _whole(table[name]) for key, name in _OPTIONAL.items() if name in table}
    return Chip(**found)


def _lacking(machine: Machine, what: str) -> MachineError:
    return MachineError(
        f"machine {machine.name!r} lacks {what}, which planner asw reads", place=machine.place()
    )


def _whole(value: object) -> int:
    """A constant that the machine's own check has found to be a whole number."""
    assert isinstance(value, int)
    return value
