"""Small programs, their tables in words, and a plain executor of bytes that knows no notation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pantile.language import Core, Program, Tiling, thread
from pantile.program.language.plain import Step
from pantile.program.program import Program as Tables
from pantile.program.tables import Edge, Kind, Mode, Test
from pantile.tiling.tiling import Tiling as Tiling_

SPACE = {"total": (4, 4, 8), "D": (2, 2, 2), "S": (2, 2, 4)}
"""Two levels: 8 tiles of 2 x 2 x 4, numbered t, o, i."""

CORE = Core(0, 1)


def one_thread(*statements: Callable[[], object], **options: Any) -> Program:
    """A program whose only thread calls *statements*."""

    @thread
    def only() -> None:
        for statement in statements:
            statement()

    return Program(tiling(), only, **options)


def tiling(**changes: Any) -> Any:
    wanted = SPACE | changes
    levels = {name: wanted.pop(name) for name in "DTS" if name in wanted}
    return Tiling("ti,oi->to", **levels, **wanted)


def opcodes(program: Tables, thread_number: int | None = None) -> list[str]:
    ops = program.pieces[0].tables["op"]
    return [
        program.text(op["opcode"]) for op in ops if thread_number is None or op["thread"] == thread_number
    ]


def op_of(program: Tables, opcode: str, which: int = 0) -> Any:
    """The *which*-th operation of that name."""
    ops = program.pieces[0].tables["op"]
    return ops[np.flatnonzero(ops["opcode"] == program.names.index(opcode))[which]]


def waits(program: Tables, op: int) -> list[str]:
    """The rows of ``sync`` of an operation in words, counters by name."""
    tables = program.pieces[0].tables
    words = []
    for row in tables["sync"][tables["sync"]["op"] == op]:
        counter = tables["counter"][row["counter"]]
        name = f"{program.text(counter['src'])} of {program.text(counter['dst'])}"
        test, edge = Test(row["test"]).name.lower(), Edge(row["edge"]).name.lower()
        group = f" group {row['group']}" if row["group"] >= 0 else ""
        words.append(f"{edge}: {test} {row['amount']} {name}{group}")
    return words


def touched(program: Tables, op: int) -> list[str]:
    """The rows of ``access`` of an operation in words."""
    access = program.pieces[0].tables["access"]
    return [
        f"{Mode(row['mode']).name.lower()} {program.operands[row['operand']].name} "
        f"{program.parameters['spaces'][row['space']]} {row['lo']}+{row['length']}"
        + (f" x{row['rows']}/{row['pitch']}" if row["rows"] > 1 else "")
        + (f" g{row['generation']}" if row["generation"] else "")
        for row in access[access["op"] == op]
    ]


def order_of(program: Tables) -> list[int]:
    """Operations in the order in which they happen if threads take turns; all must finish."""
    tables = program.pieces[0].tables
    rows: dict[int, list[Any]] = defaultdict(list)
    for row in tables["sync"]:
        rows[int(row["op"])].append(row)
    value = dict(enumerate(tables["counter"]["initial"].tolist()))
    posted: dict[int, int] = defaultdict(int)
    queues: dict[int, list[int]] = defaultdict(list)
    for op in tables["op"]:
        queues[int(op["thread"])].append(int(op["id"]))

    def holds(row: Any) -> bool:
        counter, amount = int(row["counter"]), int(row["amount"])
        return {
            Test.POST: True,
            Test.TAKE: value[counter] >= amount,
            Test.REACH: posted[counter] >= amount,
            Test.ZERO: value[counter] == 0,
        }[Test(row["test"])]

    order: list[int] = []
    moved = True
    while moved:
        moved = False
        for queue in queues.values():
            if queue and all(holds(row) for row in rows[queue[0]]):
                op = queue.pop(0)
                for row in rows[op]:
                    amount = {Test.POST: int(row["amount"]), Test.TAKE: -int(row["amount"])}.get(
                        row["test"], 0
                    )
                    value[int(row["counter"])] += amount
                    posted[int(row["counter"])] += max(0, amount)
                order.append(op)
                moved = True
    assert not any(queues.values()), f"stuck: {dict(queues)}"
    return order


def execute(program: Tables, order: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The output in memory ddr@0 after a run on int32 data, and what it should be; by byte ranges alone."""
    tables = program.pieces[0].tables
    memories = _memories(program)
    rng = np.random.default_rng(7)
    arrays = []
    for operand in program.operands[:-1]:
        array = rng.integers(-9, 9, operand.dims, dtype=np.int32)
        arrays.append(array)
        for name, memory in memories.items():
            if name.startswith("ddr"):
                memory[operand.base : operand.base + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
    letters = list(Tiling_.from_json(program.parameters["tiling"]).operands.values())
    accesses: dict[int, list[Any]] = defaultdict(list)
    for row in tables["access"]:
        accesses[int(row["op"])].append(row)
    for op in order_of(program) if order is None else order:
        if tables["op"]["kind"][op] == Kind.MOVE:
            for operand in range(len(program.operands)):
                mine = [row for row in accesses[op] if row["operand"] == operand]
                if mine:
                    source = _bytes(program, memories, [row for row in mine if row["mode"] == Mode.READ])
                    _store(program, memories, [row for row in mine if row["mode"] == Mode.WRITE], source)
        elif tables["op"]["kind"][op] == Kind.COMPUTE:
            _compute(program, memories, accesses[op], tables["box"][op], letters)
    output = program.operands[-1]
    size = 4 * int(np.prod(output.dims))
    got = memories["ddr@0"][output.base : output.base + size].view(np.int32).reshape(output.dims)
    return got, np.einsum(f"{letters[0]},{letters[1]}->{letters[2]}", *arrays)


def _memories(program: Tables) -> dict[str, np.ndarray]:
    whole = max(o.base + o.element_bytes * int(np.prod(o.dims)) for o in program.operands)
    memories = {"ddr@0": np.full(whole, 0xAB, np.uint8)}
    for row in program.pieces[0].tables["access"]:
        name = program.parameters["spaces"][row["space"]]
        end = int(row["lo"] + (row["rows"] - 1) * row["pitch"] + row["length"])
        old = memories.get(name, np.zeros(0, np.uint8))
        size = max(len(old), end, whole if name.startswith("ddr") else 0)
        memories[name] = np.full(size, 0xAB, np.uint8)
    return memories


def _places(row: Any) -> np.ndarray:
    starts = row["lo"] + row["pitch"] * np.arange(row["rows"])
    return np.asarray((starts[:, None] + np.arange(row["length"])).reshape(-1))


def _bytes(program: Tables, memories: dict[str, np.ndarray], rows: list[Any]) -> np.ndarray:
    spaces = program.parameters["spaces"]
    return np.concatenate([memories[spaces[row["space"]]][_places(row)] for row in rows])


def _store(program: Tables, memories: dict[str, np.ndarray], rows: list[Any], data: np.ndarray) -> None:
    for row in rows:
        where = _places(row)
        memories[program.parameters["spaces"][row["space"]]][where] = data[: len(where)]
        data = data[len(where) :]
    assert not len(data)


def _compute(
    program: Tables, memories: dict[str, np.ndarray], rows: list[Any], box: Any, letters: list[str]
) -> None:
    sizes = dict(zip(program.axes, box["length"].tolist(), strict=False))
    parts = []
    for operand, text in enumerate(letters):
        mine = [row for row in rows if row["operand"] == operand]
        data = _bytes(program, memories, mine).view(np.int32)
        parts.append(data.reshape([sizes[letter] for letter in text]))
    made = np.einsum(f"{letters[0]},{letters[1]}->{letters[2]}", *parts[:2])
    mine = [row for row in rows if row["operand"] == len(letters) - 1]
    if mine[0]["mode"] == Mode.UPDATE:
        made = made + parts[2]
    _store(program, memories, mine, np.frombuffer(made.astype(np.int32).tobytes(), np.uint8))


def step_words(program: Tables, steps: list[Step], counters: Any) -> list[Any]:
    """What steps say, in the words of :func:`row_words`."""
    levels = [level["name"] for level in program.parameters["tiling"]["levels"]]

    def name(key: Any) -> str:
        if key[0] == "free slots":
            index = "" if key[2] is None else f"[{','.join(map(str, key[2]))}]"
            return f"free slots of {key[1].label or 'buffer0'}{index}"
        if key[0] == "barrier":
            return "barrier"
        copy, role = key
        path = "/".join(
            f"{level}({','.join(map(str, i))})" for level, i in zip(levels, copy.path, strict=False)
        )
        return f"{role} of {copy.operand + ' ' if copy.operand else ''}{path} at {copy.place.name}"

    return [
        (
            step.kind,
            step.line,
            step.bytes,
            step.macs,
            step.engine,
            [
                (name(s.counter), s.test, s.amount, s.edge, s.group, s.shown_as, counters(s.counter).initial)
                for s in step.syncs
            ],
            [(move.operand, move.src, move.dst) for move in step.moves],
        )
        for step in steps
    ]


def row_words(program: Tables, thread_number: int) -> list[Any]:
    """What the tables say of every operation of a thread."""
    tables = program.pieces[0].tables
    counter = tables["counter"]
    words = []

    def name(number: int) -> str:
        src, dst = (program.text(counter[end][number]) for end in ("src", "dst"))
        return src if src == "barrier" else f"{src} of {dst}"

    for op in tables["op"][tables["op"]["thread"] == thread_number]:
        syncs = [
            (
                name(row["counter"]),
                row["test"],
                row["amount"],
                row["edge"],
                row["group"],
                program.text(row["shown_as"]),
                counter["initial"][row["counter"]],
            )
            for row in tables["sync"][tables["sync"]["op"] == op["id"]]
        ]
        mine = tables["access"][tables["access"]["op"] == op["id"]]
        spaces = program.parameters["spaces"]
        ends = {
            (program.operands[row["operand"]].name, Mode(row["mode"])): spaces[row["space"]] for row in mine
        }
        moves = [
            (o.name, ends[o.name, Mode.READ], ends[o.name, Mode.WRITE])
            for o in program.operands
            if op["kind"] == Kind.MOVE and (o.name, Mode.READ) in ends
        ]
        engine = program.text(op["engine"])
        words.append((op["kind"], op["line"], op["bytes"], op["macs"], engine, syncs, moves))
    return words


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """What this file defines, for tests that cannot import it."""
    names = (one_thread, tiling, opcodes, op_of, waits, touched, order_of, execute, step_words, row_words)
    return SimpleNamespace(**{each.__name__: each for each in names}, CORE=CORE)
