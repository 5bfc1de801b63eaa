"""Integer columns: which ones a page holds, and how they travel inside it.

A column travels as the differences of neighbouring values, zigzagged so that
small negatives stay small, cut into byte planes (all lowest bytes first), all
columns one after another, deflated raw (what a browser's
``DecompressionStream("deflate-raw")`` reads) and in base64. Programs repeat
themselves, so the planes compress to a few bits per operation.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Integers = npt.NDArray[np.int64]

KINDS = ("load", "compute", "store", "sync", "control")
"""Values of the ``kind`` column, by index."""

OPERANDS = ("none", "a", "b", "c", "bias")
"""Values of the ``operand`` column, by index: left, right and output matrix, bias row."""

MODES = ("read", "write", "update")
"""Values of the ``mode`` column: uses, fills, or adds a contribution to a memory entry."""

LARGEST = 2**53 - 1  # the largest integer that JavaScript's only number type holds exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a column means; *default* fills it where the caller leaves it out."""

    name: str
    unit: str
    default: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The columns that a table may have, in the order in which it writes them."""

    name: str
    specs: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Named int64 columns of one length, read-only."""

    schema: Schema
    columns: Mapping[str, Integers]

    @property
    def count(self) -> int:
        """Rows."""
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Integers:
        return self.columns[name]


def box_specs(suffixes: str) -> tuple[Spec, ...]:
    """Return the specs ``b_start``, ``b_size`` ... for the given suffixes."""
    return tuple(
        Spec(name=f"{axis}_{suffix}", unit="elements", default=0)
        for axis in "bmnk"
        for suffix in suffixes.split()
    )


OPERATIONS = Schema(
    name="operations",
    specs=(
        Spec(name="kind", unit="index of KINDS"),
        Spec(name="opcode", unit="index of opcodes"),
        Spec(name="engine", unit="index of engines"),
        Spec(name="tile", unit="row of tiles"),
        Spec(name="operand", unit="index of OPERANDS", default=0),
        *box_specs("start size"),  # size 0: the operation has no extent along this axis
        Spec(name="bytes", unit="B", default=0),
        Spec(name="macs", unit="MACs", default=0),
        Spec(name="stage", unit="contributions before this one", default=-1),
        Spec(name="stage_count", unit="contributions to the output block", default=0),
        Spec(name="waits", unit="index of waits", default=-1),
        Spec(name="posts", unit="index of posts", default=-1),
        Spec(name="issue_cycle", unit="cycles", default=-1),
        Spec(name="start_cycle", unit="cycles", default=-1),
        Spec(name="finish_cycle", unit="cycles", default=-1),
        Spec(name="cause", unit="index of causes", default=-1),
        Spec(name="releaser", unit="row of operations", default=-1),
        Spec(
            name="listed", unit="number in --json", default=-1
        ),  # -1: rows stand in the order of the listing
        Spec(name="source", unit="index of sources", default=-1),
        Spec(name="text", unit="index of texts", default=-1),
    ),
)
"""One row per operation in program order; -1 where nothing is meant or recorded."""

TILES = Schema(
    name="tiles",
    specs=(
        *(Spec(name=f"{axis}_index", unit="tiles", default=0) for axis in "bmnk"),
        *box_specs("start size nominal"),
        Spec(name="core", unit="core", default=0),
        Spec(name="issue_cycle", unit="cycles", default=-1),
        Spec(name="finish_cycle", unit="cycles", default=-1),
    ),
)
"""One row per tile; ``size`` is actual, ``nominal`` is planned."""

ACCESSES = Schema(
    name="accesses",
    specs=(
        Spec(name="operation", unit="row of operations"),
        Spec(name="mode", unit="index of MODES"),
        Spec(name="operand", unit="index of OPERANDS"),
        Spec(name="memory", unit="index of memories"),
        Spec(name="slot", unit="slot"),
        Spec(name="tag", unit="address"),
        Spec(name="granules", unit="granules", default=0),
        Spec(name="bytes", unit="B", default=0),
        Spec(name="pending", unit="completions", default=0),
    ),
)
"""One row per memory entry that an operation touches, ordered by operation.

``tag`` is the entry's key within its slot, ``pending`` how many completions the
access registers on it (requests of a load, 1 for a contribution).
"""

BINDINGS = Schema(
    name="bindings",
    specs=(
        Spec(name="tile", unit="row of tiles"),
        Spec(name="memory", unit="index of memories"),
        Spec(name="slot", unit="slot"),
        Spec(name="keeps", unit="1 = the slot's entries stay", default=0),
    ),
)
"""Which slot of which memory a tile takes; taking it drops the entries there unless ``keeps``."""


def table(schema: Schema, **columns: npt.ArrayLike) -> Table:
    """Return the table of *schema* with *columns*, missing ones at their default.

    >>> table(BINDINGS, tile=[0, 1], memory=[0, 0], slot=[1, 0])["keeps"].tolist()
    [0, 0]
    """
    known = {spec.name for spec in schema.specs}
    assert not set(columns) - known, f"{schema.name}: unknown columns {sorted(set(columns) - known)}"
    given = {name: np.asarray(values, dtype=np.int64) for name, values in columns.items()}
    lengths = {len(values) for values in given.values()}
    assert len(lengths) == 1, f"{schema.name}: columns of lengths {sorted(lengths)}"
    length = lengths.pop()
    filled: dict[str, Integers] = {}
    for spec in schema.specs:
        if spec.name not in given:
            assert spec.default is not None, f"{schema.name}: column {spec.name!r} is required"
        values = given.get(spec.name)
        column = np.full(length, spec.default or 0, dtype=np.int64) if values is None else values.copy()
        column.setflags(write=False)
        filled[spec.name] = column
    return Table(schema, filled)


def encode(tables: Iterable[Table]) -> tuple[list[dict[str, Any]], str]:
    """Return the description of *tables* for the page's head, and their bytes in base64."""
    described: list[dict[str, Any]] = []
    planes: list[bytes] = []
    for each in tables:
        columns: list[dict[str, Any]] = []
        for spec in each.schema.specs:
            width, packed = _pack(each[spec.name])
            planes.append(packed)
            columns.append({"name": spec.name, "type": "int", "unit": spec.unit, "width": width})
        described.append({"name": each.schema.name, "rows": each.count, "columns": columns})
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b"".join(planes)) + packer.flush()
    return described, base64.b64encode(packed).decode("ascii")


def _pack(values: Integers) -> tuple[int, bytes]:
    """Return bytes per value (0 to 7) and the byte planes of the zigzagged differences."""
    assert not len(values) or np.abs(values).max() <= LARGEST, "a figure beyond 2^53 cannot be shown exactly"
    steps = np.diff(values, prepend=np.int64(0))
    zigzag = ((steps << 1) ^ (steps >> 63)).astype(np.uint64)
    width = (int(zigzag.max()).bit_length() + 7) // 8 if len(zigzag) else 0
    rows = zigzag.astype("<u8").view(np.uint8).reshape(len(zigzag), 8)
    return width, np.ascontiguousarray(rows[:, :width].T).tobytes()
