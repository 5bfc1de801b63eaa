"""Programs: what every unit runs, in pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pantile.program.piece import Piece
from pantile.program.tables import empty_tables

_ORDER = {
    "thread": "id",
    "task": "id",
    "slot": "task",
    "op": "id",
    "box": "op",
    "use": "op",
    "access": "op",
    "sync": "op",
}
_SHARED = ("arbiter", "counter", "resource")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A tensor in memory, as the program's boxes address it.

    Attributes:
        name: ``"a"``, ``"b"``, ``"c"`` or ``"bias"``.
        tensor: Name of the tensor in its network.
        base: Address of its first byte.
        dims: Element counts, outermost first.
        element_bytes: Width of one element.
        rule: How the target turns a box into requests.
        strides: Elements from one index to the next, one per axis of the iteration space; 0 on axes
            the operand lacks.
        parameters: What else the rule needs.
    """

    name: str
    tensor: str
    base: int
    dims: tuple[int, ...]
    element_bytes: int
    rule: str
    strides: tuple[int, ...]
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the units of a machine run for one product, in pieces.

    Attributes:
        name: The product's name.
        family: The target that made it and can time it.
        semantics: Which reading of the family's rules it follows.
        axes: Letters of the iteration space, in the order of box columns.
        extents: Element count of each axis.
        loops: Loops over tiles, outermost first, and their counts.
        reductions: Loops along which tiles accumulate into one output.
        names: Texts that name columns point into.
        operands: Tensors that the boxes address.
        pieces: Rows, each piece once for all tiles of one kind; in order of their first tile.
        labels: Remarks a reader must not miss, e.g. ``"model: pantile"``.
        parameters: What else the target needs to time it.
    """

    name: str
    family: str
    semantics: str
    axes: tuple[str, ...]
    extents: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]
    reductions: tuple[str, ...]
    names: tuple[str, ...]
    operands: tuple[Operand, ...]
    pieces: tuple[Piece, ...]
    labels: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def tiles(self) -> int:
        """Tiles that exist; empty ones are not counted."""
        return sum(piece.count for piece in self.pieces)

    @property
    def operations(self) -> int:
        """Operations of all tiles."""
        return sum(piece.count * piece.operations for piece in self.pieces)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all operations."""
        return sum(piece.count * int(piece.tables["op"]["macs"].sum()) for piece in self.pieces)

    def text(self, index: int) -> str:
        """Return the text that a name column's *index* stands for."""
        return self.names[index] if index >= 0 else ""

    def tables(self) -> dict[str, np.ndarray]:
        """Return all tables unrolled: every instance of every piece, each table by number or operation.

        Rows that tiles share, as counters, stand once each. Meant for small programs and for tests: the
        arrays grow with the operations. A literal program's are its own arrays.
        """
        if len(self.pieces) == 1 and not self.pieces[0].loops:
            return dict(self.pieces[0].tables)
        parts = [piece.instance(index) for piece in self.pieces for index in piece.indices()]
        joined = {
            name: np.concatenate([empty, *(part[name] for part in parts)])
            for name, empty in empty_tables().items()
        }
        for name, key in _ORDER.items():
            joined[name] = joined[name][np.argsort(joined[name][key], kind="stable")]
        for name in _SHARED:
            joined[name] = joined[name][np.unique(joined[name]["id"], return_index=True)[1]]
        return joined

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able description, read back by :meth:`from_json`."""
        return {
            "schema": "pantile/program/1",
            "name": self.name,
            "family": self.family,
            "semantics": self.semantics,
            "axes": list(self.axes),
            "extents": list(self.extents),
            "loops": [list(loop) for loop in self.loops],
            "reductions": list(self.reductions),
            "names": list(self.names),
            "operands": [
                {
                    "name": operand.name,
                    "tensor": operand.tensor,
                    "base": operand.base,
                    "dims": list(operand.dims),
                    "element_bytes": operand.element_bytes,
                    "rule": operand.rule,
                    "strides": list(operand.strides),
                    "parameters": operand.parameters,
                }
                for operand in self.operands
            ],
            "labels": list(self.labels),
            "parameters": self.parameters,
            "pieces": [piece.to_json() for piece in self.pieces],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Program:
        """Rebuild a program from :meth:`to_json`'s object.

        Raises:
            KeyError: If a key is missing.
        """
        return cls(
            name=data["name"],
            family=data["family"],
            semantics=data["semantics"],
            axes=tuple(data["axes"]),
            extents=tuple(data["extents"]),
            loops=tuple((name, count) for name, count in data["loops"]),
            reductions=tuple(data["reductions"]),
            names=tuple(data["names"]),
            operands=tuple(
                Operand(**{**each, "dims": tuple(each["dims"]), "strides": tuple(each["strides"])})
                for each in data["operands"]
            ),
            labels=tuple(data["labels"]),
            parameters=data["parameters"],
            pieces=tuple(Piece.from_json(piece) for piece in data["pieces"]),
        )
