"""From the document of a machine, a TOML file or JSON, to its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.errors import MachineError, Place, raise_all
from pantile.machine.checks import ConstantError
from pantile.machine.clock import Clock
from pantile.machine.constant import constant_problems
from pantile.machine.core import CoreOverride
from pantile.machine.engine import DURATIONS, FIXED_KEYS, Engine
from pantile.machine.grid import Grid
from pantile.machine.machine import Machine
from pantile.machine.memory import Memory
from pantile.machine.path import Path
from pantile.machine.provenance import Lifted, Provenance, lift
from pantile.machine.references import Parts, reference_problems
from pantile.machine.table import Table
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pantile.machine.checks import Loc
    from pantile.machine.locate import Locator
    from pantile.machine.references import Problem

_READERS: dict[str, Any] = {
    "memory": Memory.from_table,
    "engine": Engine.from_table,
    "path": Path.from_table,
    "core": CoreOverride.from_table,
}


def read_document(
    document: Mapping[str, object], *, name: str = "", file: str = "", locator: Locator | None = None
) -> Machine:
    """Return the machine of a *document* that a person or another program wrote.

    *name* is the machine's where the document gives none; *file* is where it came from, and
    *locator* finds the lines there, if it is TOML. Without one, the document may have a table
    ``provenance`` of sources by label, as :meth:`Machine.to_json` writes it.

    Raises:
        MachineError: If there is one problem.
        ManyProblems: If there are several, in the order of their lines.
    """
    from pantile.machine.schema import schema_problems  # imports pydantic, which takes its time

    own = {key: value for key, value in document.items() if locator or key != "provenance"}
    lifted = lift(own)
    stated, problems = ({}, []) if locator else _stated_provenance(document.get("provenance", {}))
    problems += _labelled(lifted)
    problems += schema_problems(lifted.plain)
    built = _build_parts(lifted.plain, faulty={loc[:2] for loc, _ in problems})
    problems += built.problems
    told = {loc for loc, _ in problems}
    problems += [problem for problem in reference_problems(built.parts) if problem[0] not in told]
    _raise_placed(problems, file, locator)
    lines = locator.lines(lambda loc: label_of(lifted.plain, loc)) if locator else {}
    return _assemble(lifted, built, stated, name=name, file=file, lines=Table(lines))


def build_document(document: Mapping[str, object], *, file: str = "") -> Machine:
    """Return the machine of a *document* that this package wrote: a preset or an import from *file*.

    It does without the schema, and so without pydantic.

    Raises:
        MachineError: At a problem of any constant all the same.
    """
    lifted = lift(document)
    built = _build_parts(lifted.plain, faulty=())
    _raise_placed([*_labelled(lifted), *built.problems], file, None)
    return _assemble(lifted, built, {}, file=file)


def label_of(plain: Mapping[str, object], loc: Loc) -> str:
    """Return the label of the constant or table at *loc*: named parts by name, not by position."""
    head = [str(part) for part in loc]
    if len(loc) > 1 and isinstance(loc[1], int):
        entries = _entries(plain, str(loc[0]))
        entry = entries[loc[1]] if loc[1] < len(entries) else {}
        named = entry.get("index" if loc[0] == "core" else "name")
        if loc[0] == "path" and "from" in entry and "to" in entry:
            head[1] = f"{entry['from']}>{entry['to']}"
        elif isinstance(named, str | int):
            head[1] = str(named)
        else:  # its number among those of its kind, from 1
            head[1] = f"#{loc[1] + 1}"
    return ".".join(head)


def _entries(plain: Mapping[str, object], kind: str) -> list[dict[str, object]]:
    found = plain.get(kind)
    return [entry if isinstance(entry, dict) else {} for entry in found] if isinstance(found, list) else []


def _table(plain: Mapping[str, object], kind: str) -> dict[str, object]:
    table = plain.get(kind)
    return table if isinstance(table, dict) else {}


@dataclass(slots=True)
class _Built:
    """What could be built of a document, and what is wrong with the rest."""

    parts: Parts
    paths: list[Path]
    problems: list[Problem]


def _build_parts(plain: Mapping[str, object], faulty: Collection[Loc]) -> _Built:
    """Build the parts of *plain* except those at *faulty*, whose problems are known already."""
    problems: list[Problem] = []
    built = {kind: _build_entries(plain, kind, faulty, problems) for kind in _READERS}
    clocks = _table(plain, "clock")
    grid = None
    try:
        grid = Grid.from_table(_table(plain, "grid")) if "grid" in plain else Grid()
    except ConstantError as error:
        if not any(loc[0] == "grid" for loc in faulty):
            problems.append((("grid", error.key), error))
    parts = Parts(
        base_clock=str(clocks.get("base", "core")),
        clock_names=[name for name in clocks if name != "base"],
        memory_names=[str(entry.get("name", "")) for entry in _entries(plain, "memory")],
        engine_names=[str(entry.get("name", "")) for entry in _entries(plain, "engine")],
        memories=built["memory"],
        engines=built["engine"],
        paths=dict(enumerate(_entries(plain, "path"))),
        cores=built["core"],
        grid=grid,
        family=_table(plain, "family"),
    )
    return _Built(parts, list(built["path"].values()), problems)


def _build_entries(
    plain: Mapping[str, object], kind: str, faulty: Collection[Loc], problems: list[Problem]
) -> dict[int, Any]:
    """Return the parts of one *kind* by position, and add to *problems* why others could not be built."""
    built: dict[int, Any] = {}
    for index, entry in enumerate(_entries(plain, kind)):
        parameters = _parameter_problems(index, entry) if kind == "engine" else []
        problems += parameters
        if (kind, index) in faulty or parameters:
            continue
        try:
            built[index] = _READERS[kind](entry)
        except ConstantError as error:
            problems.append(((kind, index, error.key), error))
        except MachineError as error:  # a value that no table can hold, such as a date
            problem = f"{label_of(plain, (kind, index))}: {error.problem}"
            problems.append(((kind, index), MachineError(problem)))
    return built


def _parameter_problems(index: int, entry: Mapping[str, object]) -> list[Problem]:
    constants = DURATIONS.get(str(entry.get("duration")))
    if constants is None:
        return []
    label = label_of({"engine": [entry]}, ("engine", 0))
    found = constant_problems(label, entry, constants, FIXED_KEYS)
    return [(("engine", index, error.key), error) for error in found]


def _assemble(
    lifted: Lifted,
    built: _Built,
    stated: Mapping[str, Provenance],
    *,
    name: str = "",
    file: str = "",
    lines: Table | None = None,
) -> Machine:
    plain, parts, clocks = lifted.plain, built.parts, _table(lifted.plain, "clock")
    origins = {label_of(plain, loc): origin for loc, origin in lifted.origins.items()} | dict(stated)
    grid = parts.grid or Grid()
    for written in ("grid.cores", "grid.shape"):  # shape = [4] and cores = 4 are the same constant
        if written in origins:
            origins[f"grid.{grid.key}"] = origins.pop(written)
    return Machine(
        name=str(plain.get("name", name)),
        description=str(plain.get("description", "")),
        planner=str(plain.get("planner", "")),
        clocks=tuple(Clock.from_entry(key, value) for key, value in clocks.items() if key != "base"),
        base_clock=parts.base_clock,
        memories=tuple(parts.memories.values()),
        engines=tuple(parts.engines.values()),
        paths=tuple(built.paths),
        grid=grid,
        family=Table(parts.family),
        cores=tuple(parts.cores.values()),
        provenance=tuple(origins.items()),
        file=file,
        lines=lines or Table(),
    )


def _stated_provenance(stated: object) -> tuple[dict[str, Provenance], list[Problem]]:
    """Return the provenance by label that a document states apart, and what is wrong with it."""
    origins: dict[str, Provenance] = {}
    if not isinstance(stated, dict):
        problem = f"provenance: expected a table of sources by constant, got {shown(stated)}"
        return origins, [(("provenance",), MachineError(problem))]
    problems: list[Problem] = []
    for label, entry in stated.items():
        table = entry if isinstance(entry, dict) else {}
        source, assumed = table.get("source", ""), table.get("assumed") is True
        if isinstance(source, str) and (source or assumed):
            origins[label] = Provenance(source, assumed)
        else:
            problem = f"provenance.{label}: expected a source or assumed = true, got {shown(entry)}"
            problems.append((("provenance", label), MachineError(problem)))
    return origins, problems


def _labelled(lifted: Lifted) -> list[Problem]:
    return [
        (loc, MachineError(f"{label_of(lifted.plain, loc)}: {error.problem}", mend=error.mend))
        for loc, error in lifted.problems
    ]


def _raise_placed(problems: list[Problem], file: str, locator: Locator | None) -> None:
    placed: list[tuple[tuple[int, int], MachineError]] = []
    for loc, error in problems:
        line, column = locator.find(loc) if locator else (0, 0)
        place = Place(file, line, column) if file else None
        order = (line or 2**31, column)  # what stands nowhere, a missing table, comes last
        placed.append((order, MachineError(error.problem, place=place, mend=error.mend)))
    raise_all([error for _, error in sorted(placed, key=lambda pair: pair[0])])
