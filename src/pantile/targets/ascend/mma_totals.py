"""What one call of ``mma_tile`` amounts to: instructions, MACs, bytes by buffer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_ROWS, up
from pantile.targets.ascend.pipes import REGISTER_WRITES
from pantile.targets.ascend.ranges import ELEMENT_BITS, Registers, ranges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.targets.ascend.instructions import Instruction
    from pantile.targets.ascend.mma_call import MmaCall

_SYNC = ("set_flag", "wait_flag", "pipe_barrier")


def totals_of_call(mma: MmaCall, stream: Sequence[Instruction]) -> dict[str, Any]:
    """Return the totals that ``lower --json`` prints; a trapped or empty call does no MACs.

    ``padded_macs`` counts whole fractals, as the cube works through them; ``parts`` its products. Bytes are
    those of the ranges that instructions touch.
    """
    products = [each["args"] for each in stream if each["op"].startswith("mad")]
    twice = 2 if mma.element.is_int4 else 1
    macs = mma.m * twice * mma.n * twice * mma.k if products else 0
    return {
        "regions": 1,
        "tiles": 1,
        "parts": len(products),
        "instructions": dict(sorted(Counter(each["op"] for each in stream).items())),
        "macs": macs,
        "padded_macs": sum(_padded(args, twice) for args in products),
        "bytes": _bytes(stream),
        "requests": None,
    }


def _padded(args: dict[str, Any], twice: int) -> int:
    bits = 4 if twice == 2 else ELEMENT_BITS[args["src0"]["elem"]]
    deep = up(int(args["k"]), BLOCK_BYTES * 8 // bits)
    return up(int(args["m"]), FRACTAL_ROWS) * deep * up(int(args["n"]), FRACTAL_ROWS)


def _bytes(stream: Sequence[Instruction]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    registers = Registers()
    for each in stream:
        if each["op"] in REGISTER_WRITES:
            registers.write(each["op"], each["args"])
        elif each["op"] not in _SYNC:
            for touched in ranges_of(each["op"], each["args"], registers):
                counts = found.setdefault(touched.buffer, {"read": 0, "write": 0})
                counts["write" if touched.writes else "read"] += touched.hi - touched.lo
    return dict(sorted(found.items()))
