"""What a program moves over a mesh, counted from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import Kind, Mode
from pantile.simulate.moves import move_kinds, transfers_of
from pantile.simulate.spaces import Space, parse_space
from pantile.targets.mesh.config import OFF_CHIP

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.program.program import Program
    from pantile.targets.mesh.routes import Topology


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that moves carry, and how far.

    Attributes:
        read_bytes: Bytes that leave memories off chip, by operand.
        written_bytes: Bytes that come to them, by operand.
        passed_bytes: Bytes that one chiplet's memory hands to another's.
        hop_bytes: Bytes times links between chiplets (or passages of the bus) that they go over.
        most_hops: Links of the longest way.
    """

    read_bytes: dict[str, int]
    written_bytes: dict[str, int]
    passed_bytes: int
    hop_bytes: int
    most_hops: int

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "read_bytes": self.read_bytes,
            "written_bytes": self.written_bytes,
            "passed_bytes": self.passed_bytes,
            "hop_bytes": self.hop_bytes,
            "most_hops": self.most_hops,
        }


def traffic_of(program: Program, topology: Topology) -> Traffic:
    """Return what the moves of a literal program carry over *topology*.

    Raises:
        ProgramError: If it names a memory that the topology lacks.
    """
    tables = program.tables()
    kinds = move_kinds(tables)
    counts = np.bincount(kinds.kind, minlength=len(kinds.firsts)).tolist()
    spaces = [parse_space(name) for name in program.parameters["spaces"]]
    names = [operand.name for operand in program.operands]
    read, written = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    passed = hop_bytes = most = 0
    for count, rows in zip(counts, kinds.rows.tolist(), strict=True):
        for each in transfers_of(tables["access"][slice(*rows)]):
            source, target, amount = spaces[each.source], spaces[each.target], each.bytes * count
            hops = topology.hops(source, target)
            read[names[each.operand]] += amount * (source.kind == OFF_CHIP)
            written[names[each.operand]] += amount * (target.kind == OFF_CHIP)
            passed += amount * _between_chiplets(source, target)
            hop_bytes, most = hop_bytes + amount * hops, max(most, hops)
    return Traffic(read, written, passed, hop_bytes, most)


def _between_chiplets(source: Space, target: Space) -> bool:
    return OFF_CHIP not in (source.kind, target.kind) and source.at != target.at


def departures(program: Program, operand: str) -> npt.NDArray[np.int64]:
    """Return how often each element of an operand leaves a memory off chip, in the operand's own shape."""
    number = [each.name for each in program.operands].index(operand)
    tensor, tables = program.operands[number], program.tables()
    outside = [parse_space(name).kind == OFF_CHIP for name in program.parameters["spaces"]]
    access = tables["access"]
    chosen = (access["mode"] == Mode.READ) & (access["operand"] == number)
    chosen &= np.array(outside, bool)[access["space"]] & (tables["op"]["kind"][access["op"]] == Kind.MOVE)
    width, size = tensor.element_bytes, int(np.prod(tensor.dims))
    change = np.zeros(size + 1, np.int64)
    for row in access[chosen]:
        starts = (row["lo"] - tensor.base + np.arange(row["rows"]) * row["pitch"]) // width
        np.add.at(change, starts, 1)
        np.add.at(change, starts + row["length"] // width, -1)
    return np.cumsum(change)[:-1].reshape(tensor.dims)
