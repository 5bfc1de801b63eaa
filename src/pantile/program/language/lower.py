"""From a recording to a program: every table of the contract, column by column.

Tile-language programs are literal: one piece without loops, whose operations stand thread by thread.

Source: design section 3 (tables); tile-language.md sections 5 to 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import ProgramError, raise_all
from pantile.program.language.access import access_rows
from pantile.program.language.arrays import arrays_json, runs_of
from pantile.program.language.facts import contents_of, facts_of
from pantile.program.language.faults import Fault, errors_of
from pantile.program.language.geometry import Operands, geometry_of
from pantile.program.language.lives import lives_of
from pantile.program.language.oprows import box_rows, op_rows, thread_rows
from pantile.program.language.places import OFF_CHIP
from pantile.program.language.storage import lay_out
from pantile.program.language.touches import touches_of
from pantile.program.piece import Piece
from pantile.program.program import Operand, Program
from pantile.program.tables import MAX_AXES, empty_tables
from pantile.workload.dtypes import dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.language.arrays import Arrays
    from pantile.program.language.facts import Facts
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.places import Chiplet
    from pantile.program.language.recorder import Recording
    from pantile.tiling.tiling import Tiling

FAMILY = "tile-language"

NO_ARRAYS: Arrays = {}
"""Where engines are what the machine says."""

DTYPE = "fp32"
"""Element type of operands of which none is said."""


class NameTable:
    """Texts of a program, each once, in order of first mention."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of *text*."""
        return self.numbers.setdefault(text, len(self.numbers))


def operands_of(tiling: Tiling, dtypes: str | Mapping[str, str]) -> Operands:
    """Return the tensors of a tiling.

    Raises:
        ProgramError: If it has no sum, too many dimensions, or an element is no whole number of bytes.
    """
    if not tiling.operands:
        raise ProgramError(
            "the tiling has no operands", mend='give it its sum, e.g. Tiling("ti,oi->to", ...)'
        )
    if len(tiling.dimensions) > MAX_AXES:
        raise ProgramError(f"{len(tiling.dimensions)} dimensions, at most {MAX_AXES} are kept")
    names = tuple(tiling.operands)
    wanted = dict(dtypes) if isinstance(dtypes, Mapping) else dict.fromkeys(names, dtypes)
    for name in wanted:
        if name not in names:
            raise ProgramError(
                f"a dtype for {name!r}, which is no operand", mend=f"operands: {', '.join(names)}"
            )
    types = [dtype(wanted.get(name, DTYPE)) for name in names]
    for name, each in zip(names, types, strict=True):
        if each.bits % 8:
            raise ProgramError(f"{name} of dtype {each.name}: elements of {each.bits} bits share bytes")
    return Operands(
        names,
        tuple(tiling.operand_axes[name] for name in names),
        tuple(each.bits // 8 for each in types),
        tuple(each.name for each in types),
    )


def lower(
    recording: Recording,
    *,
    name: str,
    dtypes: str | Mapping[str, str] = DTYPE,
    grid: Chiplet | None = None,
    keep_faults: bool = False,
    arrays: Arrays = NO_ARRAYS,
) -> Program:
    """Return the program of *recording*.

    Args:
        recording: What every thread called.
        name: What the program is called.
        dtypes: Element type of all operands, or by operand.
        grid: Says which place is nearest where ``Any`` is read.
        keep_faults: List misuses among the parameters instead of refusing the program.
        arrays: The systolic arrays of cores that have one.

    Raises:
        ProgramError: If a statement is misused whatever the timing; all problems at once.
    """
    geometry, text = geometry_of(recording, operands_of(recording.tiling, dtypes)), NameTable()
    facts = facts_of(recording, geometry, grid, text)
    storage = lay_out(contents_of(facts))
    touches, unborn = touches_of(facts.ops, facts.moves, facts.computes, storage, facts.names)
    faults = _first_of_each(facts.faults + unborn)
    if not keep_faults:
        raise_all(errors_of(faults))
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.place for each in touches)]))
    spaces = np.full(len(recording.places), -1, np.int64)
    spaces[used] = np.arange(len(used))
    cores = _cores(recording, facts, used)
    ops, places = facts.ops, facts.places
    runs = runs_of(recording, facts, arrays)
    tables = empty_tables() | {
        "thread": thread_rows(recording, ops, places.levels, cores, text),
        "op": op_rows(ops, geometry, facts.moves, places.engine, runs.model, recording, text),
        "box": box_rows(ops, geometry),
        "access": access_rows(geometry, touches, spaces),
        "sync": facts.sync,
        "counter": facts.counter,
    }
    parameters: dict[str, Any] = {
        "files": _files(ops.files),
        "spaces": [recording.places[at].name for at in used.tolist()],
        "cores": [list(at) for at in cores],
        "output": geometry.operands.names[geometry.operands.output],
        "tiling": recording.tiling.to_json(),
        "slot_order": "program" if facts.order is None else "canonical",
        "lives": lives_of(storage, touches, spaces),
    }
    if arrays:
        parameters |= arrays_json(arrays, runs)
    if faults:
        parameters["faults"] = [each.to_json() for each in faults]
    return _program(name, geometry, tables, tuple(text.numbers), parameters)


def _program(
    name: str,
    geometry: Geometry,
    tables: dict[str, np.ndarray],
    names: tuple[str, ...],
    parameters: dict[str, Any],
) -> Program:
    tiling = geometry.tiling
    return Program(
        name=name,
        family=FAMILY,
        semantics="static",
        axes=tuple(tiling.dimensions),
        extents=tuple(tiling.total),
        loops=(),
        reductions=tuple(tiling.reductions),
        names=names,
        operands=_operands(geometry),
        pieces=(Piece(tables),),
        parameters=parameters,
    )


def _cores(recording: Recording, facts: Facts, used: Ints) -> list[tuple[int, ...]]:
    """Return the coordinates of every unit whose memory is touched, or to which a thread belongs."""
    units = {recording.places[at].at for at in used.tolist() if facts.places.levels[at] != OFF_CHIP}
    units |= {log.thread.core.at for log in recording.logs if log.thread.core is not None}
    return sorted(units)


def _first_of_each(faults: Sequence[Fault]) -> list[Fault]:
    """Return the first fault of every operation, in their order: the others follow from it."""
    firsts: dict[int, Fault] = {}
    for each in faults:
        firsts.setdefault(each.op, each)
    return [firsts[op] for op in sorted(firsts)]


def _files(files: Sequence[str]) -> str | list[str]:
    """Return the file of all threads, or that of each."""
    return files[0] if len(set(files)) == 1 else list(files)


def _operands(geometry: Geometry) -> tuple[Operand, ...]:
    """Return the tensors, stored row by row one after the other."""
    made = []
    base = 0
    tiling, operands = geometry.tiling, geometry.operands
    columns = (operands.names, operands.axes, operands.element_bytes, operands.dtypes)
    for name, axes, width, kind in zip(*columns, strict=True):
        dims = tuple(tiling.total[axis] for axis in axes)
        strides = [0] * len(tiling.dimensions)
        for at, axis in enumerate(axes):
            strides[axis] = prod(dims[at + 1 :])
        made.append(
            Operand(
                name=name,
                tensor=name,
                base=base,
                dims=dims,
                element_bytes=width,
                rule="row-major",
                strides=tuple(strides),
                parameters={"dtype": kind},
            )
        )
        base += prod(dims) * width
    return tuple(made)
