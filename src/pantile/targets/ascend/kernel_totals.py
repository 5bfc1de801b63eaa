"""What a core's program amounts to: instructions, MACs, bytes by way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_ROWS, up
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.pipes import REGISTER_WRITES
from pantile.targets.ascend.ranges import ELEMENT_BITS
from pantile.targets.ascend.work import work_of

if TYPE_CHECKING:
    from pantile.targets.ascend.instructions import Instruction
    from pantile.targets.ascend.kernel import Kernel, Works

_SYNC = ("set_flag", "wait_flag", "pipe_barrier")


@dataclass(frozen=True)
class KernelTotals:
    """Totals of one or more cores.

    Attributes:
        tiles: Tiles of the result.
        macs: Useful multiply-accumulates.
        padded_macs: Those of whole fractals, as the cube works through them.
        instructions: Instructions by name.
        moved: Bytes that arrive, by way, such as ``"GM>L1"``.
    """

    tiles: int = 0
    macs: int = 0
    padded_macs: int = 0
    instructions: Counter[str] = field(default_factory=Counter)
    moved: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: KernelTotals) -> KernelTotals:
        return KernelTotals(
            self.tiles + other.tiles,
            self.macs + other.macs,
            self.padded_macs + other.padded_macs,
            self.instructions + other.instructions,
            self.moved + other.moved,
        )

    def __mul__(self, times: int) -> KernelTotals:
        return KernelTotals(
            self.tiles * times,
            self.macs * times,
            self.padded_macs * times,
            Counter({name: count * times for name, count in self.instructions.items()}),
            Counter({way: count * times for way, count in self.moved.items()}),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the totals that ``lower --json`` prints."""
        reads: Counter[str] = Counter()
        writes: Counter[str] = Counter()
        for way, amount in self.moved.items():
            source, _, target = way.partition(">")
            reads[source] += amount
            writes[target] += amount
        return {
            "regions": self.tiles,
            "tiles": self.tiles,
            "instructions": dict(sorted(self.instructions.items())),
            "macs": self.macs,
            "padded_macs": self.padded_macs,
            "bytes": {
                buffer: {"read": reads[buffer], "write": writes[buffer]}
                for buffer in sorted({*reads, *writes})
            },
            "moves": dict(sorted(self.moved.items())),
            "requests": None,
        }


def totals_of_core(kernel: Kernel, works: Works) -> KernelTotals:
    """Return the totals of one core's program, from its distinct instructions."""
    stream = core_stream(kernel, works)
    counts = np.bincount(stream.which, minlength=len(stream.kinds)).tolist()
    instructions: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    padded = 0
    for issued, count in zip(stream.kinds, counts, strict=True):
        op = issued.instruction["op"]
        instructions[op] += count
        if op == "mad":
            padded += count * _padded(issued.instruction)
        elif op not in _SYNC and op not in REGISTER_WRITES:
            work = work_of(op, issued.instruction["args"])
            moved[work.kind] += count * work.amount
    macs = int((works["rows"] * works["columns"] * works["depth"]).sum())
    tiles = int((~works["adds"]).sum())
    return KernelTotals(tiles, macs, padded, instructions, moved)


def _padded(product: Instruction) -> int:
    args = product["args"]
    deep = up(args["k"], BLOCK_BYTES * 8 // ELEMENT_BITS[args["src0"]["elem"]])
    return int(up(args["m"], FRACTAL_ROWS) * up(args["n"], FRACTAL_ROWS) * deep)
