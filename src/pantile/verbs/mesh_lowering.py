"""The program of one product on a mesh: totals, what it moves, and its operations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import Place, UsageError
from pantile.program.tables import Kind
from pantile.targets.mesh.routes import topology_of
from pantile.targets.mesh.traffic import Traffic, traffic_of
from pantile.verbs.result import as_html
from pantile.verbs.rows import listed_rows, row_numbers, row_texts

if TYPE_CHECKING:
    from pantile.program.program import Program
    from pantile.tiling.plan import Note
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.mesh import Mesh


@dataclass(frozen=True, eq=False)
class MeshLowering:
    """The program of one node.

    Attributes:
        session: The planned network it belongs to.
        layer: The node with its program.
        core: The chiplet whose operations are listed; all if ``None``.
        window: Numbers of the operations to list; all if ``None``.
        notes: Remarks.
    """

    session: Mesh
    layer: PlannedLayer
    core: int | None
    window: range | None
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """A lowering that exists is fine."""
        return True

    @property
    def workload(self) -> str:
        """Text that names the node again."""
        return self.layer.workload

    @property
    def program(self) -> Program:
        """The program."""
        return self.layer.program

    @property
    def operation_count(self) -> int:
        """Operations of the program."""
        return self.program.operations

    @cached_property
    def _rows(self) -> range | list[int]:
        at = None if self.core is None else divmod(self.core, self.session.config.columns)
        return row_numbers(self.program, at, self.window)

    @property
    def left_out(self) -> int:
        """Operations that ``to_json`` leaves out, because no window was asked for and they are many."""
        return listed_rows(self._rows)

    @cached_property
    def traffic(self) -> Traffic:
        """What the program moves."""
        return traffic_of(self.program, topology_of(self.session.machine))

    def totals(self) -> dict[str, Any]:
        """Return totals of the whole program, by name."""
        operations = self.program.tables()["op"]
        opcodes = Counter(self.program.text(each) for each in operations["opcode"].tolist())
        traffic = self.traffic
        return {
            "tiles": opcodes["compute"],
            "instructions": dict(opcodes),
            "macs": int(operations["macs"].sum()),
            "bytes": {
                "ddr": {
                    "read": sum(traffic.read_bytes.values()),
                    "write": sum(traffic.written_bytes.values()),
                }
            },
            "traffic": traffic.to_json(),
        }

    def tile_kinds(self) -> list[dict[str, Any]]:
        """Return the sizes of tiles that differ, each with its count, largest first."""
        tables = self.program.tables()
        computes = tables["op"]["id"][tables["op"]["kind"] == Kind.COMPUTE]
        boxes = tables["box"][np.isin(tables["box"]["op"], computes)]["length"][:, : len(self.program.axes)]
        sizes, counts = np.unique(boxes, axis=0, return_counts=True)
        return [
            {"size": dict(zip(self.program.axes, size, strict=True)), "count": count}
            for size, count in zip(sizes.tolist()[::-1], counts.tolist()[::-1], strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``lower --json`` prints; beyond 100 000 operations only with a window."""
        listed = None
        if not self.left_out:
            listed = [
                {"number": number, "text": text}
                for number, text in zip(self._rows, row_texts(self.program, self._rows), strict=True)
            ]
        return {
            **self.session.head("lower", self.workload, self.notes),
            "layer": self.layer.layer,
            "totals": self.totals(),
            "tile_kinds": self.tile_kinds(),
            "operation_count": self.program.operations,
            "operations": listed,
        }

    def text(self) -> str:
        """Return the listing, one operation a line.

        Raises:
            UsageError: If it has more than 100 000.
        """
        if self.left_out:
            raise UsageError(
                f"{self.left_out} operations are too many for one listing",
                place=Place(self.workload),
                mend="add --window 0:100000, or another range of that length",
            )
        heading = f"# {self.workload}: number, thread, operation; <- read, -> written"
        numbered = zip(self._rows, row_texts(self.program, self._rows), strict=True)
        return "\n".join([heading, *(f"{number:>7}  {text}" for number, text in numbered)])

    def __str__(self) -> str:
        totals, traffic = self.totals(), self.traffic
        opcodes = ", ".join(f"{count} {opcode}" for opcode, count in totals["instructions"].items())
        inputs = ", ".join(f"{count} B of {name}" for name, count in traffic.read_bytes.items() if count)
        lines = [
            f"  operations    {opcodes}",
            f"  MACs          {totals['macs']} in {totals['tiles']} tiles",
            f"  off chip      {inputs} read, {sum(traffic.written_bytes.values())} B written",
            f"  passed on     {traffic.passed_bytes} B between chiplets",
            f"  hops          {traffic.hop_bytes} B x links, the longest way over {traffic.most_hops}",
        ]
        return "\n".join([self.workload, *lines, *(f"  note          {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_html(str(self))
