"""Functional execution: a program on real arrays, whose copies live in slots that really are overwritten.

An operation reads what it reads when it starts, and writes what it writes when it finishes. So an order that
synchronisation should have forbidden gives wrong values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import ProgramError, UsageError
from pantile.program.tables import Mode
from pantile.simulate.bound import unit_time
from pantile.simulate.elements import Bytes, decode, element_bytes, elements_of, encode
from pantile.simulate.engine import run
from pantile.simulate.semantics import operand_dtype, tile_semantics
from pantile.simulate.show import end_sentences
from pantile.simulate.storage import POISON, Storage
from pantile.simulate.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from pantile.program.program import Operand, Program
    from pantile.simulate.bound import Rows
    from pantile.simulate.semantics import Semantics

START, FINISH, WHOLE = "start", "finish", "whole"
"""What happens to an operation in an order: it reads, it writes, or both at once."""

Order = Sequence[int | tuple[int, str]]
"""Operations as they happen: a number alone does both at once, ``(number, "start")`` and ``(number,
"finish")`` one after the other."""


def execute(
    program: Program,
    arrays: Mapping[str, npt.ArrayLike],
    order: Order | Timeline | None = None,
    *,
    semantics: Semantics | None = None,
    homes: Iterable[str] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Return the outputs of *program*, by name, from input *arrays*, by name in any case.

    Elements that nothing wrote to the output's memory are NaN, or -1 in integers.

    Args:
        program: A literal program.
        arrays: The inputs, of the shapes that the program says.
        order: A run, or a list of operations; by default an order that the program's synchronisation allows.
        semantics: What operations do to bytes; by default that of the tile language.
        homes: Names of the memories that hold the tensors; by default those in which nothing has a life.

    Raises:
        UsageError: If an array is missing, is no operand, or has another shape or type.
        ProgramError: If the program gets stuck, or its rows do not fit together.
    """
    tables = program.tables()
    outputs = _outputs(program, tables)
    inputs = _inputs(program, arrays, outputs)
    storage = Storage(tables["access"], len(program.parameters.get("spaces", ())))
    home = _homes(program, homes)
    for operand, data in inputs:
        for space in home:
            storage.put(space, operand.base, data)
    written = [program.operands[number] for number in outputs]
    results = {operand.name: np.full(_size(operand), POISON, np.uint8) for operand in written}
    meaning, events = semantics or tile_semantics(program, tables), _events(program, order)
    _carry_out(program, tables, storage, meaning, events, home, results)
    return {
        operand.name: decode(results[operand.name], operand_dtype(operand)).reshape(operand.dims)
        for operand in written
    }


def _carry_out(
    program: Program,
    tables: dict[str, Rows],
    storage: Storage,
    semantics: Semantics,
    events: Iterable[tuple[int, str]],
    home: Sequence[int],
    results: dict[str, Bytes],
) -> None:
    """Let everything happen in order; writes to the tensors' memories also go to *results*.

    What an operation updates it reads when it starts. Where results are forwarded, as those of an array to
    its next run, it adds to them when it finishes, as they leave.
    """
    access = tables["access"]
    first = np.searchsorted(access["op"], np.arange(len(tables["op"]) + 1))
    forwarding = set(program.parameters.get("forwarding", ()))
    under_way: dict[int, list[Bytes | None]] = {}
    for op, what in events:
        rows = access[first[op] : first[op + 1]]
        if not len(rows):
            continue
        reads = rows[rows["mode"] != Mode.WRITE]
        if what != FINISH:
            late = op in forwarding and what == START
            under_way[op] = [
                None if late and row["mode"] == Mode.UPDATE else storage.read(row).copy() for row in reads
            ]
        if what != START:
            if op not in under_way:
                raise UsageError(f"the order finishes operation {op} before it starts")
            read = [
                storage.read(row) if data is None else data
                for row, data in zip(reads, under_way.pop(op), strict=True)
            ]
            written = rows[rows["mode"] != Mode.READ]
            for row, data in zip(written, semantics(op, rows, read), strict=True):
                storage.write(row, data)
                operand = program.operands[int(row["operand"])]
                if int(row["space"]) in home and operand.name in results:
                    _keep(results[operand.name], operand.base, row, data)


def _keep(result: Bytes, base: int, row: Rows, data: Bytes) -> None:
    """Write the bytes of *row* to *result*, which begins at address *base*."""
    starts = int(row["lo"]) - base + np.arange(int(row["rows"])) * int(row["pitch"])
    if starts.min() < 0 or starts.max() + int(row["length"]) > len(result):
        raise ProgramError("an operation writes beside the output")
    result[starts[:, None] + np.arange(int(row["length"]))] = data.reshape(len(starts), -1)


def _outputs(program: Program, tables: dict[str, Rows]) -> list[int]:
    """Numbers of the operands that computes accumulate; none of them is an input."""
    access, kinds = tables["access"], tables["op"]["kind"]
    written = access["operand"][(access["mode"] != Mode.READ) & (kinds[access["op"]] == 1)]
    stated = [
        number
        for number, operand in enumerate(program.operands)
        if operand.name == program.parameters.get("output")
    ]
    return sorted({*np.unique(written).tolist(), *stated})


def _inputs(
    program: Program, arrays: Mapping[str, npt.ArrayLike], outputs: Sequence[int]
) -> list[tuple[Operand, Bytes]]:
    wanted = {
        operand.name.lower(): operand
        for number, operand in enumerate(program.operands)
        if number not in outputs
    }
    given = {name.lower(): array for name, array in arrays.items()}
    names = ", ".join(operand.name for operand in wanted.values())
    for name in given:
        if name not in wanted:
            raise UsageError(f"{name!r} is no input of the program", mend=f"its inputs: {names}")
    missing = [operand.name for name, operand in wanted.items() if name not in given]
    if missing:
        raise UsageError(f"no array for {', '.join(missing)}", mend=f"give arrays for {names}")
    found = []
    for name, operand in wanted.items():
        elements = elements_of(given[name], operand_dtype(operand), operand.name)
        if elements.shape != tuple(operand.dims):
            raise UsageError(f"{operand.name} is {operand.dims}, got an array of shape {elements.shape}")
        found.append((operand, encode(elements, operand_dtype(operand))))
    return found


def _size(operand: Operand) -> int:
    return int(np.prod(operand.dims, dtype=np.int64)) * element_bytes(operand_dtype(operand))


def _homes(program: Program, homes: Iterable[str] | None) -> list[int]:
    """Memories that hold the tensors whole, each at its own base."""
    spaces = list(program.parameters.get("spaces", ()))
    if homes is not None:
        return [spaces.index(name) for name in homes]
    if "lives" not in program.parameters:
        raise ProgramError(
            "the program does not say which memories hold its tensors", mend='give homes=["ddr@0"]'
        )
    lived = {life[0] for life in program.parameters["lives"]}
    return [space for space in range(len(spaces)) if space not in lived]


def _events(program: Program, order: Order | Timeline | None) -> list[tuple[int, str]]:
    if order is None:
        bound = unit_time(program)
        outcome = run(bound)
        if outcome.stuck or outcome.fault:
            raise ProgramError("; ".join(end_sentences(bound, outcome)))
        return order_of(outcome.times)
    if isinstance(order, Timeline):
        return order_of(order.times)
    return [each if isinstance(each, tuple) else (int(each), WHOLE) for each in order]


def order_of(times: Rows) -> list[tuple[int, str]]:
    """Return what happens in a run, in order: at one instant finishes come before starts.

    An operation that takes no time happens at once, in its place among the starts.
    """
    ops = np.flatnonzero(times["finish"] >= 0)
    starts, finishes, rank = (times[name][ops] for name in ("start", "finish", "order"))
    at_once = starts == finishes
    keys = [(starts, np.ones(len(ops), np.int64), rank, np.where(at_once, WHOLE, START), ops)]
    lasting = ~at_once
    zeros = np.zeros(int(lasting.sum()), np.int64)
    keys.append((finishes[lasting], zeros, rank[lasting], np.full(len(zeros), FINISH), ops[lasting]))
    time, late, ranks, what, which = (np.concatenate(columns) for columns in zip(*keys, strict=True))
    sequence = np.lexsort((ranks, late, time))
    return list(zip(which[sequence].tolist(), what[sequence].tolist(), strict=True))
