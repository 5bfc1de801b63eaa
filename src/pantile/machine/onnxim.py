"""Machines from the JSON configurations of ONNXim.

Both forms are read: that of the current program, where ``core_config.core_0`` and its like describe
the cores, and the flat one of older files, in which every core is the same unless ``per_core`` lists
what single cores have different. Sections and quirks (Q) are those of the specification of ONNXim's
behaviour; units there are MHz and KiB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pantile.errors import MachineError, Place, raise_all
from pantile.machine.checks import ConstantError
from pantile.machine.constant import Constant, constant_problems
from pantile.machine.document import build_document
from pantile.machine.families import FAMILIES
from pantile.machine.grid import MOST_CORES
from pantile.machine.json_file import read_json
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pantile.machine.machine import Machine

_FAMILY = FAMILIES["systolic"]
_MHZ, _KIB = 10**6, 2**10
_MOST_MHZ = 10**6  # 1 THz: above it the period in whole picoseconds is 0


def _choice(key: str) -> Constant:
    return Constant(meaning=_FAMILY[key].meaning, kind="text", choices=_FAMILY[key].choices)


def _file(key: str) -> Constant:
    return Constant(meaning=_FAMILY[key].meaning, kind="text", required=False)


_CHIP: dict[str, Constant] = {
    "num_cores": Constant(meaning="number of cores", maximum=MOST_CORES),
    "core_freq": Constant(meaning="core clock in MHz", maximum=_MOST_MHZ),
    "dram_freq": Constant(meaning="DRAM clock in MHz", maximum=_MOST_MHZ),
    "icnt_freq": Constant(meaning="network clock in MHz", maximum=_MOST_MHZ),
    "dram_type": _choice("dram_type"),
    "dram_channels": Constant(meaning="number of DRAM channels"),
    "dram_req_size": Constant(meaning="bytes of one memory request"),  # uninitialised where it is absent
    "dram_latency": Constant(
        meaning="DRAM cycles of an access", minimum=0, needed_with=("dram_type", "simple")
    ),
    "dram_config_path": _file("dram_config_path"),
    "icnt_type": _choice("noc_type"),
    "icnt_latency": Constant(
        meaning="network cycles of a hop", minimum=0, needed_with=("icnt_type", "simple")
    ),
    "icnt_injection_ports_per_core": Constant(meaning="network ports of a core", required=False),
    "icnt_config_path": _file("noc_config_path"),
    "precision": Constant(meaning="bytes of one element"),
    "layout": _choice("layout"),
    "scheduler": _choice("scheduler"),
    "partition": Constant(meaning="partition of each core", kind="table", required=False),
}
"""Keys of the whole chip that a machine takes over (section 1)."""

_LARGEST_KIB = 2**42  # 4 EiB: in bytes it still fits 63 bits
_CORE: dict[str, Constant] = {
    "core_type": _choice("core_type"),
    "core_height": Constant(meaning="rows of the array"),
    "core_width": Constant(meaning="columns of the array"),
    "spad_size": Constant(meaning="KiB of scratchpad, both halves", maximum=_LARGEST_KIB),
    "accum_spad_size": Constant(meaning="KiB of accumulator, both halves (Q2)", maximum=_LARGEST_KIB),
}
"""Keys of one core that a machine takes over."""

_CORE_OVERRIDE = {key: replace(constant, required=False) for key, constant in _CORE.items()}

_CHIP_LEFT_OUT = frozenset(
    {"core_print_interval", "dram_print_interval", "icnt_print_interval", "dram_nbl", "dram_size"}
)
"""Known keys of the chip without effect on a matrix product: they are logged or printed."""

_VECTOR_UNIT = ("add", "mul", "mac", "div", "exp", "gelu", "add_tree")
_SCALAR_UNIT = ("scalar_sqrt", "scalar_add", "scalar_mul")
_CORE_LEFT_OUT = frozenset(
    {"sram_width", "sram_size", "process_bit", "vector_process_bit"}
    | {f"{operation}_latency" for operation in (*_VECTOR_UNIT, *_SCALAR_UNIT)}
)
"""Known keys of a core without effect on a matrix product: the vector unit, and sizes of older files."""


@dataclass(slots=True)
class _Reading:
    """A configuration being read: what was found, what is wrong, what nothing reads."""

    chip: dict[str, object]
    cores: dict[int, Mapping[str, object]]
    base: Mapping[str, object]
    unread: dict[str, object]
    problems: list[MachineError]
    core_type_stated: bool = True


def read_onnxim_machine(path: str | Path) -> Machine:
    """Return the machine of an ONNXim configuration file.

    Raises:
        MachineError: If the file cannot be read, is not JSON, or has one problem.
        ManyProblems: If it has several.
    """
    return onnxim_machine(read_json(path), Path(path).stem, file=str(path))


def onnxim_machine(config: Mapping[str, object], name: str, *, file: str = "") -> Machine:
    """Return the machine that the ONNXim configuration *config* describes.

    Values that ONNXim knows and that only some models cover, such as ``dram_type`` ``ramulator2``,
    are taken over: the model that reads the machine decides. Unknown keys are kept in
    ``family.systolic.unread``, unless one looks like a misspelt key that is missing.

    Raises:
        MachineError: Naming the key, if one is missing or has a value that no machine can have.
        ManyProblems: If there are several.
    """
    reading = _read(config)
    place = Place(file) if file else None
    raise_all([MachineError(error.problem, place=place, mend=error.mend) for error in reading.problems])
    return build_document(_document(reading, name), file=file)


def _read(config: Mapping[str, object]) -> _Reading:
    nested = "core_config" in config
    reading = _Reading({}, {}, {}, {}, [])
    core_keys = frozenset() if nested else _CORE.keys() | _CORE_LEFT_OUT
    own = ("core_config",) if nested else ("per_core",)
    reading.chip = _known(config, _CHIP, _CHIP_LEFT_OUT | core_keys | set(own), reading.unread)
    reading.problems += constant_problems("", reading.chip, _CHIP)
    count = config.get("num_cores")
    cores = count if isinstance(count, int) and 0 < count <= MOST_CORES else 0
    (_read_nested if nested else _read_flat)(reading, config, cores)
    return reading


def _read_nested(reading: _Reading, config: Mapping[str, object], cores: int) -> None:
    tables = config["core_config"]
    if not isinstance(tables, dict):
        problem = f"expected an object of cores, got {shown(tables)}"
        reading.problems.append(ConstantError("", "core_config", problem))
        return
    wanted = [f"core_{index}" for index in range(cores)]
    if missing := [key for key in wanted if key not in tables]:
        problem = f"missing: num_cores is {cores}, which needs core_0 to core_{cores - 1}"
        reading.problems.append(ConstantError("core_config", missing[0], problem))
    for index, key in enumerate(wanted):
        if key in tables:
            reading.cores[index] = _read_core(reading, f"core_config.{key}", tables[key])
    reading.base = reading.cores.get(0, {})
    if surplus := {key: table for key, table in tables.items() if cores and key not in wanted}:
        reading.unread["core_config"] = surplus


def _read_flat(reading: _Reading, config: Mapping[str, object], cores: int) -> None:
    flat = {key: config[key] for key in _CORE if key in config}
    reading.core_type_stated = "core_type" in config
    reading.base = {"core_type": _DEFAULT_CORE["value"], **flat}
    reading.problems += constant_problems("", reading.base, _CORE)
    per_core = config.get("per_core", {})
    if not isinstance(per_core, dict | list):
        problem = f"expected a list or an object of overrides, got {shown(per_core)}"
        reading.problems.append(ConstantError("", "per_core", problem))
        return
    items: Iterable[tuple[object, object]] = (
        per_core.items() if isinstance(per_core, dict) else enumerate(per_core)
    )
    for key, table in items:
        text = str(key)
        index = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
        if cores and not 0 <= index < cores:
            problem = f"expected a core from 0 to {cores - 1}"
            reading.problems.append(ConstantError("per_core", text, problem))
        elif table:
            reading.cores[index] = _read_core(reading, f"per_core.{text}", table, reading.base)


def _read_core(
    reading: _Reading, label: str, table: object, base: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    if not isinstance(table, dict):
        group, _, key = label.rpartition(".")
        reading.problems.append(ConstantError(group, key, f"expected an object, got {shown(table)}"))
        return {}
    unread: dict[str, object] = {}
    core = _known(table, _CORE, _CORE_LEFT_OUT, unread)
    if unread:
        reading.unread[label.replace(".", "_")] = unread
    reading.problems += constant_problems(label, core, _CORE if base is None else _CORE_OVERRIDE)
    return {**(base or {}), **core}


def _known(
    table: Mapping[str, object],
    constants: Mapping[str, Constant],
    left_out: Iterable[str],
    unread: dict[str, object],
) -> dict[str, object]:
    """Return the entries of *table* that *constants* describe, misspelt ones included.

    What is neither in *constants* nor among the keys *left_out* goes to *unread*.
    """
    absent = [key for key in constants if key not in table]
    skipped = frozenset(left_out)
    found: dict[str, object] = {}
    for key, value in table.items():
        if key in constants or (key not in skipped and get_close_matches(key, absent, n=1, cutoff=0.8)):
            found[key] = value
        elif key not in skipped:
            unread[key] = value
    return found


_CLOCKS = {"core": "core_freq", "dram": "dram_freq", "noc": "icnt_freq"}
_MEMORIES = {"scratchpad": "spad_size", "accumulator": "accum_spad_size"}
_ARRAY = {"rows": "core_height", "columns": "core_width"}
_FAMILY_KEYS = {
    "precision_bytes": "precision",
    "dram_type": "dram_type",
    "channels": "dram_channels",
    "dram_latency_cycles": "dram_latency",
    "dram_config_path": "dram_config_path",
    "noc_type": "icnt_type",
    "noc_latency_cycles": "icnt_latency",
    "noc_config_path": "icnt_config_path",
    "ports_per_core": "icnt_injection_ports_per_core",
    "scheduler": "scheduler",
    "layout": "layout",
}
"""Constants of the family, and the keys of the configuration that they are."""

_DEFAULT_PORTS = {"value": 1, "source": "ONNXim default of icnt_injection_ports_per_core"}
_DEFAULT_CORE = {"value": "systolic_ws", "assumed": True, "source": "a flat ONNXim file that does not say"}


def _document(reading: _Reading, name: str) -> dict[str, object]:
    """Return the machine document of a configuration without problems."""
    chip, base = reading.chip, reading.base
    granule = _said("dram_req_size", chip)
    core_part = {"scope": "core", "completes": "pipelined"}
    core_type = _said("core_type", base) if reading.core_type_stated else _DEFAULT_CORE
    family: dict[str, object] = {"core_type": core_type, "ports_per_core": _DEFAULT_PORTS}
    family |= {key: _said(said, chip) for key, said in _FAMILY_KEYS.items() if said in chip}
    if partition := _partition(reading):
        family["partition"] = {"value": partition, "source": "ONNXim partition"}
    if reading.unread:
        family["unread"] = reading.unread
    return {
        "name": name,
        "description": "imported from an ONNXim configuration",
        "planner": "onnxim",
        "source": "ONNXim: structure of the model",
        "clock": {"base": "core"} | {clock: _said(key, chip, _MHZ, "MHz") for clock, key in _CLOCKS.items()},
        "memory": [
            {"name": "dram", "scope": "chip", "slots": 1, "granule_bytes": granule},
            *(
                # Two slots: section 5, one half for each of two resident tiles.
                {"name": memory, "scope": "core", "slots": 2, "granule_bytes": granule}
                | {"capacity_bytes": _said(key, base, _KIB, "KiB, both halves")}
                for memory, key in _MEMORIES.items()
            ),
        ],
        "engine": [
            {"name": "mover", "duration": "transfer", **core_part},
            {"name": "array", "duration": "systolic", **core_part}
            | {key: _said(said, base) for key, said in _ARRAY.items()},
        ],
        "path": [
            {"from": "dram", "to": "scratchpad", "engine": "mover", "policy": "shared"},
            {"from": "dram", "to": "accumulator", "engine": "mover", "policy": "shared"},  # the bias
            {"from": "scratchpad", "to": "accumulator", "engine": "array", "policy": "exclusive"},
            {"from": "accumulator", "to": "dram", "engine": "mover", "policy": "shared"},
        ],
        "grid": {"cores": _said("num_cores", chip)},
        "family": {"systolic": family},
        "core": [
            {"index": index, **changes}
            for index, core in sorted(reading.cores.items())
            if (changes := _changes(core, base))
        ],
    }


def _said(key: str, table: Mapping[str, object], factor: int = 1, unit: str = "") -> dict[str, object]:
    """Return the constant that *key* of a configuration is, with its provenance."""
    value = table[key]
    noted = f" ({unit})" if unit else ""
    source = f"ONNXim {key} = {value}{noted}"
    return {"value": value * factor if isinstance(value, int) else value, "source": source}


def _changes(core: Mapping[str, object], base: Mapping[str, object]) -> dict[str, object]:
    """Return what *core* has different from *base*, as a ``[[core]]`` table says it."""
    changed = {key for key in _CORE if core.get(key) != base.get(key)}
    memory = {
        name: {"capacity_bytes": _said(key, core, _KIB, "KiB, both halves")}
        for name, key in _MEMORIES.items()
        if key in changed
    }
    array = {key: _said(said, core) for key, said in _ARRAY.items() if said in changed}
    changes: dict[str, object] = {"memory": memory} if memory else {}
    changes |= {"engine": {"array": array}} if array else {}
    if "core_type" in changed:
        changes["family"] = {"systolic": {"core_type": _said("core_type", core)}}
    return changes


def _partition(reading: _Reading) -> list[object]:
    """Return the partition of each core; nothing where all are in partition 0, as without the key."""
    table = reading.chip.get("partition")
    cores = reading.chip["num_cores"]
    assert isinstance(cores, int)
    if not isinstance(table, dict):
        return []
    numbers = [table.get(f"core_{index}", 0) for index in range(cores)]
    return numbers if any(number != 0 for number in numbers) else []
