"""Does every read find the tile that it means, and is every sum whole when it is stored?

A program whose conflicting accesses are all ordered does the same to every byte in all its orders. So one of
them is carried out, not on values but on what they are: of every byte, which operation wrote it, and of a
sum, how many terms are in it. Bytes become void where a copy is born and where it is destroyed.

Source: tile-language.md sections 3, 5 and 6.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.atoms import Atoms, atoms_of
from pantile.check.compiled import COMPILED_FROM, run_kernel
from pantile.check.flow_kernel import DEAD, EMPTY, MIXED, NOTHING, OTHER
from pantile.check.naming import Naming
from pantile.check.overlap import SPAN, normal
from pantile.check.report import Finding, Report
from pantile.check.witness import legal_order
from pantile.program.tables import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.check.order import Order
    from pantile.program.program import Program

MOST = 1000
"""Reads that are told; a program with more is wrong in one way many times."""

BUDGET = 2_000
"""States with a choice that may be met in looking for a legal order."""

_ROOM = 1 << 17
_KERNEL = "pantile.check.flow_kernel"


class _Data(NamedTuple):
    """What became of the data.

    Attributes:
        op: Operations whose reads find something else than they mean.
        fault: What each finds.
        writer: The operation that wrote it, or -1.
        store: The last store of every piece of the output.
        terms: Terms in each of its sums there.
    """

    op: np.ndarray
    fault: np.ndarray
    writer: np.ndarray
    store: np.ndarray
    terms: np.ndarray


def check_flow(
    program: Program,
    order: Order,
    *,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Report:
    """Report reads of what nobody wrote, or of another tile, and sums that are stored unfinished.

    Meant for programs without races. Those that do not say what lives in their memories, and those for which
    no legal order is found, get an empty report.

    Args:
        program: What runs.
        order: Its happens-before.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    names = [operand.name for operand in program.operands]
    lives = program.parameters.get("lives")
    if program.parameters.get("output") not in names or not lives or not len(order.tables["box"]):
        return Report()
    topo = legal_order(order, BUDGET)
    if topo is None:
        return Report()
    fast = len(topo) >= COMPILED_FROM if compiled is None else compiled
    output = names.index(program.parameters["output"])
    data = _followed(program, order.tables, topo, output, fast, on_compile)
    if data is None:
        sentence = "whether every read finds what it means was not decided: too many distinct ranges of bytes"
        return Report(
            (Finding(code="PT-UNDECIDED", severity="warning", sentence=sentence, grade="undecided"),)
        )
    naming = Naming(program)
    findings = _misread(naming, data)
    return Report(tuple(findings + _unfinished(program, naming, data, output)))


def _followed(
    program: Program,
    tables: dict[str, np.ndarray],
    topo: np.ndarray,
    output: int,
    fast: bool,
    on_compile: Callable[[], None],
) -> _Data | None:
    """Carry out the operations; ``None`` if their sets of bytes are too many."""
    ops, access = tables["op"], tables["access"]
    lives = np.array(program.parameters["lives"], np.int64).reshape(-1, 5)
    home = np.ones(int(access["space"].max(initial=-1)) + 1, np.int64)
    home[lives[lives[:, 0] < len(home), 0]] = 0
    span, at = _numbered(access, home, output, fast, on_compile)
    ends, voids = _voids(lives[lives[:, 0] < len(home)], ops["kind"])
    voids, void = _distinct(voids)
    spans = np.concatenate([normal(access[at]), voids])
    atoms = atoms_of(spans)
    if atoms is None:
        return None
    end_first = np.full(len(ops), -1, np.int32)
    end_first[ends[::-1]] = np.arange(len(ends))[::-1]
    axes = [[axis for axis, stride in enumerate(each.strides) if stride] for each in program.operands]
    box, summed = _boxes(tables), [axis for axis in range(len(program.axes)) if axis not in axes[output]]
    writer, terms = np.full(atoms.number, -1), np.full(atoms.number, NOTHING)
    faults = [np.full(MOST, -1) for _ in range(3)]
    count = run_kernel(
        _KERNEL,
        "run",
        (
            topo,
            ops["kind"],
            *(access[name] for name in ("op", "mode", "operand")),
            span,
            np.array([output]),
            np.array([int(not program.parameters.get("tiling", {}).get("domain"))]),
            np.array(summed, np.int64),
            box["lo"],
            box["length"],
            np.cumsum([0, *map(len, axes)]),
            np.array([axis for each in axes for axis in each], np.int64),
            atoms.first,
            atoms.atom,
            end_first,
            ends,
            len(at) + void,
        ),
        (np.zeros(len(ops) + 1, np.int32), writer, terms, *faults),
        compiled=fast,
        on_compile=on_compile,
    )
    stored = _off_chip(atoms, spans, home) & (writer >= 0)
    op, fault, by = (each[:count] for each in faults)
    return _Data(op, fault, by, writer[stored], terms[stored])


def _off_chip(atoms: Atoms, spans: np.ndarray, home: np.ndarray) -> np.ndarray:
    """Return which atoms lie in memories that hold tensors from the beginning."""
    rows = np.repeat(np.arange(len(spans)), np.diff(atoms.first))
    found = np.zeros(atoms.number, bool)
    found[atoms.atom[home[spans["space"][rows]] > 0]] = True
    return found


def _numbered(
    access: np.ndarray, home: np.ndarray, output: int, fast: bool, on_compile: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the set of bytes of every access, and the first access of every set."""
    columns = tuple(access[name] for name in ("operand", "space", "lo", "length", "rows", "pitch"))
    count, room = -1, _ROOM if fast else 2 << len(access).bit_length()
    while count < 0:
        span, first = np.full(len(access), -1, np.int32), np.zeros(room, np.int32)
        count = run_kernel(
            _KERNEL,
            "number",
            (*columns, home, np.array([output])),
            (np.full(room, -1, np.int32), span, first),
            compiled=fast,
            on_compile=on_compile,
        )
        room *= 16
    return span, first[:count]


def _voids(lives: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where bytes become void, in order, and which: at birth and at the end of copies with a state."""
    stated = lives[kind[lives[:, 3]] == Kind.SYNC]
    ended = stated[(stated[:, 4] >= 0) & (kind[stated[:, 4]] == Kind.SYNC)]
    ops = np.concatenate([stated[:, 3], ended[:, 4]])
    both = np.concatenate([stated, ended])[np.argsort(ops, kind="stable")]
    voids = np.zeros(len(both), SPAN)
    voids["space"], voids["lo"], voids["length"], voids["rows"] = both[:, 0], both[:, 1], both[:, 2], 1
    return np.sort(ops), voids


def _distinct(spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each of some plain ranges once, and which of them each is."""
    key = np.zeros(len(spans), np.int64)
    for name in ("space", "lo", "length"):
        values, place = np.unique(spans[name], return_inverse=True)
        _, key = np.unique(key * max(len(values), 1) + place, return_inverse=True)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return spans[first], which


def _boxes(tables: dict[str, np.ndarray]) -> np.ndarray:
    """Return a box per operation: the table's own rows where it has one of each."""
    box, count = tables["box"], len(tables["op"])
    if len(box) == count:
        return box
    whole = np.zeros(count, box.dtype)
    whole[box["op"]] = box
    return whole


def _misread(naming: Naming, data: _Data) -> list[Finding]:
    """Return a finding for every line that reads what it does not mean."""
    found = {op: (fault, by) for op, fault, by in zip(*(c.tolist() for c in data[:3]), strict=True)}
    findings = []
    for op, more in naming.lines(found):
        fault, by = found[op]
        what = "bytes that nothing has written"
        if fault == OTHER:
            what = f"another tile: what {naming.op(by)} wrote"
        elif fault == DEAD:
            what = f"an unborn copy: what {naming.op(by)} wrote before start_writing, or was destroyed since"
        findings.append(
            Finding(
                code="PT-STATE",
                severity="error",
                sentence=f"{naming.op(op)} reads {what}{more}",
                operations=(op,) if fault == EMPTY else (by, op),
                grade="" if fault == DEAD else "wrong value",
                mend="move the tile there first, while its copy lives",
            )
        )
    return findings


def _unfinished(program: Program, naming: Naming, data: _Data, output: int) -> list[Finding]:
    """Return a finding for every line that stores sums in which terms are missing, or are twice."""
    strides = program.operands[output].strides
    whole = prod(size for size, stride in zip(program.extents, strides, strict=True) if not stride)
    if program.parameters.get("tiling", {}).get("domain"):
        return []
    wrong = (data.terms != whole) & (data.terms != MIXED)
    terms = dict(zip(data.store[wrong].tolist(), data.terms[wrong].tolist(), strict=True))
    return [
        Finding(
            code="PT-STATE",
            severity="error",
            sentence=f"{naming.op(op)} stores sums of {terms[op]} terms, {whole} make them whole{more}",
            operations=(op,),
            grade="wrong value",
            mend="store a tile of the output after the last compute that adds to it",
        )
        for op, more in naming.lines(sorted(terms))
    ]
