"""What the parts of a machine say about one another must fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError, suggestion
from pantile.machine.checks import ConstantError, check_known
from pantile.machine.constant import constant_problems
from pantile.machine.families import FAMILIES
from pantile.machine.table import Table
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pantile.machine.checks import Loc
    from pantile.machine.core import CoreOverride
    from pantile.machine.engine import Engine
    from pantile.machine.grid import Grid
    from pantile.machine.memory import Memory

    Problem = tuple[Loc, MachineError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a machine, those of a faulty file that could be built included.

    Parts that exist by position are given by that position, so that a problem can say where it is.

    Attributes:
        memory_names: Names as declared, also of memories that could not be built; likewise the
            engines and clocks.
        paths: What each path refers to: ``from``, ``to``, ``engine`` and perhaps ``clock``.
    """

    base_clock: str
    clock_names: Collection[str]
    memory_names: Sequence[str]
    engine_names: Sequence[str]
    memories: Mapping[int, Memory]
    engines: Mapping[int, Engine]
    paths: Mapping[int, Mapping[str, object]]
    cores: Mapping[int, CoreOverride]
    grid: Grid | None
    family: Mapping[str, object]


def reference_problems(parts: Parts) -> Iterator[Problem]:
    """Yield every problem that no single part shows, each with its place in the document."""
    yield from _clock_problems(parts)
    yield from _duplicates("memory", parts.memory_names)
    yield from _duplicates("engine", parts.engine_names)
    yield from _path_problems(parts)
    yield from _family_problems(parts.family)
    yield from _core_problems(parts)


def _clock_problems(parts: Parts) -> Iterator[Problem]:
    if not parts.clock_names:
        yield ("clock",), MachineError("clock: expected at least one clock, got none")
    elif parts.base_clock not in parts.clock_names:
        yield ("clock", "base"), _unknown("clock", "base", "clock", parts.base_clock, parts.clock_names)


def _duplicates(kind: str, names: Sequence[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name and name in seen:
            problem = f"there is another {kind} of this name, {name!r}"
            yield (kind, index, "name"), ConstantError(kind, "name", problem)
        seen.add(name)


def _path_problems(parts: Parts) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, ends in parts.paths.items():
        origin, destination = ends.get("from"), ends.get("to")
        label = f"path.{origin}>{destination}"
        for key, kind, known in (
            ("from", "memory", parts.memory_names),
            ("to", "memory", parts.memory_names),
            ("engine", "engine", parts.engine_names),
            ("clock", "clock", parts.clock_names),
        ):
            name = ends.get(key)
            if isinstance(name, str) and name not in known:
                yield ("path", index, key), _unknown(label, key, kind, name, known)
        if label in seen:
            problem = f"there is another path from {origin!r} to {destination!r}"
            yield ("path", index, "to"), ConstantError(label, "to", problem)
        if isinstance(origin, str) and isinstance(destination, str):
            seen.add(label)


def _family_problems(family: Mapping[str, object]) -> Iterator[Problem]:
    for name, table in family.items():
        if name not in FAMILIES:
            yield ("family", name), _unknown("family", name, "family", name, FAMILIES)
        elif not isinstance(table, dict | Table):
            problem = ConstantError("family", name, f"expected a table, got {shown(table)}")
            yield ("family", name), problem
        else:
            for error in constant_problems(f"family.{name}", table, FAMILIES[name]):
                yield ("family", name, error.key), error


def _core_problems(parts: Parts) -> Iterator[Problem]:
    seen: set[int] = set()
    for position, core in parts.cores.items():
        at: Loc = ("core", position)
        if parts.grid is not None and core.index >= parts.grid.cores:
            allowed = f"expected a core from 0 to {parts.grid.cores - 1}, got {core.index}"
            yield (*at, "index"), ConstantError("core", "index", allowed)
        if core.index in seen:
            problem = f"there is another table for core {core.index}"
            yield (*at, "index"), ConstantError("core", "index", problem)
        seen.add(core.index)
        for kind, known in (("memory", parts.memory_names), ("engine", parts.engine_names)):
            for name in core.changes.table(kind):
                if name not in known:
                    yield (*at, kind, name), _unknown(f"{core.label}.{kind}", name, kind, name, known)
        for memory in parts.memories.values():
            yield from _part_override(at, core, memory)
        for engine in parts.engines.values():
            yield from _part_override(at, core, engine)
        yield from _family_override(at, core, parts.family)


def _part_override(at: Loc, core: CoreOverride, part: Memory | Engine) -> Iterator[Problem]:
    kind, _, name = part.label.partition(".")
    changes = core.changes.table(kind, name)
    if changes and part.scope != "core":
        problem = f"expected a part of scope 'core', got one of scope {part.scope!r}"
        yield (*at, kind, name), ConstantError(f"{core.label}.{kind}", name, problem)
        return
    try:
        part.with_changes(changes)
    except ConstantError as error:
        error = ConstantError(f"{core.label}.{part.label}", error.key, error.reason, mend=error.mend)
        yield (*at, kind, name, error.key), error


def _family_override(at: Loc, core: CoreOverride, family: Mapping[str, object]) -> Iterator[Problem]:
    for name, changes in core.changes.table("family").items():
        label = f"{core.label}.family.{name}"
        if name not in family:
            yield (*at, "family", name), _unknown(f"{core.label}.family", name, "family", name, family)
            continue
        constants = FAMILIES.get(name, {})
        assert isinstance(changes, Table)  # CoreOverride let nothing else through
        allowed = [key for key, constant in constants.items() if constant.per_core]
        for key, value in changes.items():
            try:
                check_known(label, [key], allowed)
                constants[key].check(label, key, value)
            except ConstantError as error:
                yield (*at, "family", name, key), error


def _unknown(table: str, key: str, kind: str, name: str, known: Collection[str]) -> ConstantError:
    names = sorted({name for name in known if name})
    mend = suggestion(name, names) if names else f"no {kind} is declared"
    return ConstantError(table, key, f"there is no {kind} {name!r}", mend=mend)
