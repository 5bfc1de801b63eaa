"""Programs of the systolic family to check, and faults to plant in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import TABLES, Completes, Edge, Kind, Mode, Overflow, Test, empty_tables
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.lower import lower
from pantile.tiling.onnxim import LoopCounts, parse_mapping
from pantile.tiling.plan import Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of


def lower_counts(
    network: Network,
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    *,
    side: int = 8,
    batch: int = 1,
) -> Program:
    """The program of a network's only node on one array of side x side, with elements of one byte."""
    (node,) = network.nodes
    total, outer, inner = (each.to_json() for each in counts)
    parameters = {
        "kind": "conv" if isinstance(node.computation, Convolution) else "gemm",
        "total": total,
        "outer": outer,
        "inner": inner,
        "has_bias": node.op_type == "Gemm",
        "batch": batch,
    }
    plan = Plan(planner="onnxim", semantics="faithful", parameters=parameters)
    machine: Any = SimpleNamespace(
        heights=(side,), widths=(side,), precision=1, request_bytes=32, layout="NHWC"
    )
    return lower(node, plan, network, tensor_addresses(network, 1, wrap=False), machine)


def lower_line(line: str, *, bias: bool = False, side: int = 8, batch: int = 1) -> Program:
    """The program of a product under one line of the mapping notation."""
    mapping = parse_mapping(line, semantics="faithful")
    total, shape = mapping.total, (batch,) if batch > 1 else ()
    product = Matmul(
        m=total.N, n=total.M, k=total.C, a_batch=shape, b_batch=shape, bias="default" if bias else None
    )
    counts = (total, mapping.outer, mapping.inner)
    return lower_counts(network_of(product), counts, side=side, batch=batch)


def lower_convolution(
    conv: Convolution, counts: tuple[LoopCounts, LoopCounts, LoopCounts], *, side: int = 8
) -> Program:
    node = Node(name="conv", op_type="Conv", inputs=("x", "w"), outputs=("y",), computation=conv)
    tensors = (
        Tensor("w", (conv.out_channels, conv.in_channels, *conv.kernel), "initializer"),
        Tensor("x", (conv.batch, conv.height, conv.width, conv.in_channels), "input"),
        Tensor("y", (conv.batch, conv.out_height, conv.out_width, conv.out_channels), "intermediate"),
    )
    return lower_counts(Network(name="conv", nodes=(node,), tensors=tensors), counts, side=side)


def with_piece(program: Program, place: int, piece: Piece) -> Program:
    pieces = list(program.pieces)
    pieces[place] = piece
    return replace(program, pieces=tuple(pieces))


def drop_operation(program: Program, place: int, row: int) -> Program:
    """Leave out one row of operations of a piece, with all that belongs to it."""
    piece = program.pieces[place]
    op = piece.tables["op"]["id"][row]
    column = {"op": "id", "box": "op", "access": "op", "sync": "op", "use": "op"}
    tables = {
        name: rows[rows[column[name]] != op] if name in column else rows
        for name, rows in piece.tables.items()
    }
    return with_piece(program, place, Piece(tables, piece.loops))


def with_boxes(program: Program, place: int, boxes: np.ndarray) -> Program:
    """Give a piece other boxes."""
    piece = program.pieces[place]
    return with_piece(program, place, Piece({**piece.tables, "box": boxes}, piece.loops))


def shift_tile(program: Program, place: int, axis: int, by: int) -> Program:
    """Move the boxes of all computes and stores of a piece."""
    piece = program.pieces[place]
    tables = {name: rows.copy() for name, rows in piece.tables.items()}
    boxes = tables["box"]
    boxes["lo"][:, axis] += np.where(boxes["length"][:, axis] > 0, by, 0)
    return with_piece(program, place, Piece(tables, piece.loops))


@pytest.fixture(scope="session")
def lowered() -> Callable[..., Program]:
    return lower_line


@pytest.fixture(scope="session")
def lowered_counts() -> Callable[..., Program]:
    return lower_counts


@pytest.fixture(scope="session")
def lowered_convolution() -> Callable[..., Program]:
    return lower_convolution


@pytest.fixture(scope="session")
def dropped() -> Callable[..., Program]:
    return drop_operation


@pytest.fixture(scope="session")
def shifted() -> Callable[..., Program]:
    return shift_tile


@pytest.fixture(scope="session", name="with_boxes")
def with_boxes_fixture() -> Callable[..., Program]:
    return with_boxes


class Literal:
    """A literal program under construction: threads, counters, and operations in the order of the listing."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.spaces: list[str] = []
        self.rows: dict[str, list[tuple[Any, ...]]] = {
            name: [] for name in ("thread", "op", "sync", "access", "counter")
        }
        self.copies: dict[str, tuple[int, ...]] = {}
        self.destroys: dict[tuple[int, str], int] = {}
        self.lives: list[list[int]] = []

    def text(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def space(self, name: str) -> int:
        if name not in self.spaces:
            self.spaces.append(name)
        return self.spaces.index(name)

    def thread(self, name: str, *, pipelined: bool = False) -> int:
        completes = Completes.PIPELINED if pipelined else Completes.IN_ORDER
        self.rows["thread"].append((len(self.rows["thread"]), self.text(name), 0, completes, -1, -1))
        return len(self.rows["thread"]) - 1

    def counter(self, src: str, dst: str = "", initial: int = 0, key: int = 0, **limit: int) -> int:
        number, limits = len(self.rows["counter"]), (limit.get("capacity", 0), limit.get("overflow", 2))
        of = self.text(dst) if dst else -1
        self.rows["counter"].append((number, self.text(src), of, key, initial, *limits))
        return number

    def flag(self, src: str, dst: str, key: int = 0) -> int:
        return self.counter(src, dst, key=key, capacity=1, overflow=Overflow.SATURATE)

    def buffer(self, name: str, slots: int) -> int:
        return self.counter("free slots", name, slots, capacity=slots, overflow=Overflow.ERROR)

    def op(self, thread: int, opcode: str, kind: Kind = Kind.MOVE, line: int = 0, **what: Any) -> int:
        """Add an operation that *reads* and *writes* ranges, *waits*, and posts when it *begins* and ends."""
        number, text = len(self.rows["op"]), self.text(opcode)
        self.rows["op"].append((number, thread, -1, number, kind, text, -1, 1, 0, 0, -1, line))
        for counter, test, amount in what.get("waits", ()):
            self.rows["sync"].append((number, Edge.BEFORE_START, counter, test, amount, 0, text))
        for edge, key in ((Edge.BEFORE_START, "begins"), (Edge.AFTER_FINISH, "posts")):
            for counter, amount in what.get(key, ()):
                self.rows["sync"].append((number, edge, counter, Test.POST, amount, -1, text))
        for mode, key in ((Mode.READ, "reads"), (Mode.WRITE, "writes"), (Mode.UPDATE, "updates")):
            for space, lo, length, *strided in what.get(key, ()):
                where = (self.space(space), lo, length, *(strided or (1, 0)))
                self.rows["access"].append((number, mode, *where, -1, -1, 0))
        return number

    def sync(self, thread: int, opcode: str, line: int = 0, **what: Any) -> int:
        return self.op(thread, opcode, Kind.SYNC, line, **what)

    def set(self, thread: int, flag: int, line: int = 0) -> int:
        return self.sync(thread, "set_flag", line, posts=[(flag, 1)])

    def wait(self, thread: int, flag: int, line: int = 0) -> int:
        return self.sync(thread, "wait_flag", line, waits=[(flag, Test.TAKE, 1)])

    def acquire(self, thread: int, buffer: int, line: int = 0) -> int:
        return self.sync(thread, "acquire", line, waits=[(buffer, Test.TAKE, 1)])

    def release(self, thread: int, buffer: int, line: int = 0) -> int:
        return self.sync(thread, "release", line, posts=[(buffer, 1)])

    def barrier(self, *threads: int, comes: tuple[int, ...] | None = None) -> list[int]:
        come = threads if comes is None else comes
        counter = self.counter("barrier", f"number {len(self.rows['counter'])}")
        ops = [self.sync(each, "barrier arrive", posts=[(counter, 1)]) for each in come]
        waits = [(counter, Test.REACH, len(threads))]
        return ops + [self.sync(each, "barrier leave", waits=waits) for each in come]

    def copy(self, name: str) -> tuple[int, ...]:
        if name not in self.copies:
            key = len(self.copies)
            roles = (("unborn", 1), ("busy", 1), ("ready", 0), ("readers", 0))
            self.copies[name] = tuple(self.counter(role, name, initial, key) for role, initial in roles)
        return self.copies[name]

    def state(self, thread: int, statement: str, name: str, line: int = 0) -> int:
        """Add a statement on a copy, as the contract of the tables writes it; ``update`` starts an update."""
        unborn, busy, ready, readers = self.copy(name)
        readable = [(ready, Test.REACH, 1 + self.destroys.get((thread, name), 0)), (busy, Test.ZERO, 0)]
        unread = [*readable, (readers, Test.ZERO, 0)]
        what: dict[str, Any] = {
            "start_writing": {"waits": [(unborn, Test.TAKE, 1)]},
            "update": {"waits": unread, "begins": [(busy, 1)]},
            "finish_writing": {"posts": [(busy, -1), (ready, 1)]},
            "start_reading": {"waits": readable, "begins": [(readers, 1)]},
            "finish_reading": {"posts": [(readers, -1)]},
            "destroy": {"waits": unread, "begins": [(busy, 1), (unborn, 1)]},
        }[statement]
        if statement == "destroy":
            self.destroys[thread, name] = self.destroys.get((thread, name), 0) + 1
        return self.sync(thread, "start_writing" if statement == "update" else statement, line, **what)

    def program(self, **parameters: Any) -> Program:
        tables = empty_tables()
        for name, rows in self.rows.items():
            tables[name] = np.array(rows, TABLES[name])
        lives = {"lives": self.lives} if self.lives else {}
        return Program(
            name="test",
            family="test",
            semantics="",
            axes=(),
            extents=(),
            loops=(),
            reductions=(),
            names=tuple(self.names),
            operands=(),
            pieces=(Piece(tables),),
            parameters={"spaces": self.spaces, "files": "test.py", **lives, **parameters},
        )


@pytest.fixture(scope="session")
def literal() -> type[Literal]:
    return Literal


@pytest.fixture(scope="session")
def ping_pong() -> Callable[..., Literal]:
    """Ping-pong as the contract of the tables writes it: *tiles* of two parts through *slots*."""

    def build(tiles: int, slots: int, *, parts: int = 2, release: bool = True) -> Literal:
        made = Literal()
        load, multiply, buf = made.thread("load"), made.thread("multiply"), made.buffer("buf", slots)
        for tile in range(tiles):
            name, lo = f"D({tile})", 64 * (tile % slots)
            made.acquire(load, buf, 10)
            born = made.state(load, "start_writing", name, 11)
            made.lives.append([made.space("sram"), lo, 64, born, -1])
            made.op(load, "load_store", line=12, reads=[("ddr", 64 * tile, 64)], writes=[("sram", lo, 64)])
            made.state(load, "finish_writing", name, 13)
        for tile in range(tiles):
            name, lo, part = f"D({tile})", 64 * (tile % slots), 64 // parts
            made.state(multiply, "start_reading", name, 20)
            for at in range(parts):
                read = [("sram", lo + at * part, part)]
                made.op(multiply, "compute", Kind.COMPUTE, 21, reads=read, updates=[("acc", 0, 16)])
            made.state(multiply, "finish_reading", name, 22)
            made.lives[tile][4] = made.state(multiply, "destroy", name, 23)
            if release:
                made.release(multiply, buf, 24)
        return made

    return build


class Interleavings:
    """All states that a small program can reach, walked through one event at a time, without any reduction.

    Attributes:
        overlaps: ``overlaps[i, j]``: in some state j starts and i has not ended.
        completes: Whether some order comes to its end.
        stops: Whether some order stops before.
    """

    def __init__(self, program: Program, *, one_bit: bool = False, most: int = 50_000) -> None:
        tables = program.pieces[0].tables
        self.ops, counters = tables["op"], tables["counter"]
        self.full = [
            limit if one_bit and how == Overflow.SATURATE else None
            for limit, how in zip(counters["capacity"].tolist(), counters["overflow"].tolist(), strict=True)
        ]
        count = len(self.ops)
        self.waits: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
        self.begins: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.posts: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for op, edge, counter, test, amount, _, _ in tables["sync"].tolist():
            if test != Test.POST:
                self.waits[op].append((counter, test, amount))
            else:
                (self.begins if edge == Edge.BEFORE_START else self.posts)[op].append((counter, amount))
        self.ended, self.started = self._required(tables)
        self.overlaps = np.zeros((count, count), bool)
        self.completes = self.stops = False
        self._walk(tuple((value, 0) for value in counters["initial"].tolist()), most)

    def _required(self, tables: dict[str, np.ndarray]) -> tuple[list[set[int]], list[set[int]]]:
        """Whose end, and whose start, must come before the start of each operation, by its thread."""
        thread = self.ops["thread"].tolist()
        pipelined = (tables["thread"]["completes"] == Completes.PIPELINED).tolist()
        ended: list[set[int]] = []
        started: list[set[int]] = []
        for op in range(len(self.ops)):
            before = [each for each in range(op) if thread[each] == thread[op]]
            if not pipelined[thread[op]]:
                ended.append(set(before))
                started.append(set())
                continue
            posts = [each for each in before if self._only_posts(each)]
            waits = [each for each in before if self._is_sync(each) and each not in posts]
            ended.append(set(before) if self._only_posts(op) else set(waits))
            started.append(set(before) - set(posts))
        return ended, started

    def _is_sync(self, op: int) -> bool:
        return bool(self.ops["kind"][op] == Kind.SYNC)

    def _only_posts(self, op: int) -> bool:
        return self._is_sync(op) and not self.waits[op] and bool(self.posts[op] or self.begins[op])

    def _walk(self, values: tuple[tuple[int, int], ...], most: int) -> None:
        first = (frozenset[int](), frozenset[int](), values)
        seen, rest = {first}, [first]
        while rest:
            state = rest.pop()
            following = list(self._following(*state))
            if not following:
                self.completes |= len(state[1]) == len(self.ops)
                self.stops |= len(state[1]) < len(self.ops)
            for each in following:
                if each not in seen:
                    seen.add(each)
                    rest.append(each)
            assert len(seen) <= most

    def _following(self, started: frozenset[int], ended: frozenset[int], values: Any) -> Any:
        for op in range(len(self.ops)):
            if op in started and op not in ended:
                yield started, ended | {op}, self._posted(values, self.posts[op])
                continue
            may = op not in started and self.ended[op] <= ended and self.started[op] <= started
            if may and all(self._holds(values, *wait) for wait in self.waits[op]):
                self.overlaps[[each for each in range(len(self.ops)) if each not in ended], op] = True
                taken = [(counter, -n) for counter, test, n in self.waits[op] if test == Test.TAKE]
                yield started | {op}, ended, self._posted(values, taken + self.begins[op])

    def _holds(self, values: Any, counter: int, test: int, amount: int) -> bool:
        value, ever = values[counter]
        return bool({1: value >= amount, 2: ever >= amount, 3: value == 0}[test])

    def _posted(self, values: Any, posts: list[tuple[int, int]]) -> Any:
        after = list(values)
        for counter, amount in posts:
            value, ever = after[counter]
            limit = self.full[counter]
            value = value + amount if limit is None or amount < 0 else min(value + amount, limit)
            after[counter] = (value, ever + max(amount, 0))
        return tuple(after)


@pytest.fixture(scope="session")
def interleavings() -> type[Interleavings]:
    return Interleavings


@st.composite
def counting_programs(draw: st.DrawFn) -> Program:
    """Up to eight operations of up to three threads on up to three counters, in any order."""
    made = Literal()
    threads = [made.thread(f"t{at}", pipelined=draw(st.booleans())) for at in range(draw(st.integers(1, 3)))]
    counters = [
        made.counter(f"c{at}", initial=draw(st.integers(0, 2))) for at in range(draw(st.integers(1, 3)))
    ]
    one = st.sampled_from(counters)
    tests = st.sampled_from([Test.TAKE, Test.TAKE, Test.REACH, Test.ZERO])
    for _ in range(draw(st.integers(2, 8))):
        thread, what = draw(st.sampled_from(threads)), draw(st.sampled_from("ppwwwbm"))
        if what == "p":
            made.sync(thread, "post", posts=[(draw(one), draw(st.integers(1, 2)))])
        elif what == "w":
            test = draw(tests)
            begins = [(draw(one), 1)] if draw(st.booleans()) else []
            made.sync(thread, "wait", waits=[(draw(one), test, int(test != Test.ZERO))], begins=begins)
        elif what == "b":
            made.op(thread, "work", begins=[(draw(one), 1)], posts=[(draw(one), 1)])
        else:
            made.op(thread, "work")
    return made.program()


@st.composite
def copy_programs(draw: st.DrawFn) -> Program:
    """Generations of one or two copies, each statement by any thread; sometimes one is lost or swapped."""
    made = Literal()
    threads = [made.thread(f"t{at}") for at in range(draw(st.integers(1, 3)))]
    buffer = made.buffer("buf", draw(st.integers(1, 2)))
    one = st.sampled_from(threads)
    todo: list[tuple[str, int, str]] = []
    for copy in ["A", "B"][: draw(st.integers(1, 2))]:
        for _ in range(draw(st.integers(1, 2))):
            writer, held = draw(one), draw(st.booleans())
            todo += [("acquire", writer, "")] * held
            todo += [("start_writing", writer, copy), ("finish_writing", writer, copy)]
            for reader in draw(st.lists(one, max_size=2)):
                todo += [("start_reading", reader, copy), ("finish_reading", reader, copy)]
            if draw(st.booleans()):
                updater = draw(one)
                todo += [("update", updater, copy), ("finish_writing", updater, copy)]
            todo += [("destroy", draw(one), copy)] * draw(st.booleans())
            todo += [("release", draw(one), "")] * held
    at = draw(st.integers(0, len(todo) - 2))
    harm = draw(st.sampled_from(["none", "none", "drop", "swap"]))
    if harm == "drop":
        del todo[at]
    elif harm == "swap":
        todo[at : at + 2] = todo[at : at + 2][::-1]
    for what, thread, copy in todo[:12]:
        if copy:
            made.state(thread, what, copy)
        else:
            getattr(made, what)(thread, buffer)
    return made.program()


@st.composite
def flag_programs(draw: st.DrawFn) -> Program:
    """Sets and waits of up to three one-bit flags, by up to three threads."""
    made = Literal()
    threads = [made.thread(f"t{at}", pipelined=draw(st.booleans())) for at in range(draw(st.integers(2, 3)))]
    flags = [made.flag("a", "b", at) for at in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(3, 9))):
        act = made.set if draw(st.booleans()) else made.wait
        act(draw(st.sampled_from(threads)), draw(st.sampled_from(flags)))
    return made.program()


@pytest.fixture(scope="session")
def small_programs() -> st.SearchStrategy[Program]:
    """Programs small enough to walk through all their interleavings."""
    return st.one_of(counting_programs(), copy_programs(), flag_programs())
