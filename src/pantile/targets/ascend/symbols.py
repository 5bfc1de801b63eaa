"""Carrying out abstract accesses: what each leaves stands for what it is and everything that it read.

An access does not say what it computes. So it leaves, in every byte that it writes, a number mixed from its
label and from the bytes that it read: two orders leave the same bytes only if every access that matters read
the same bytes in both. An access that writes nothing shows what it read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

from pantile.simulate.elements import Bytes
from pantile.targets.ascend.pipes import REGISTER_WRITES
from pantile.targets.ascend.ranges import Range, Registers, ranges_of, ranges_of_access

_MASK = (1 << 64) - 1
_NO_RANGES = frozenset({"set_flag", "wait_flag", "pipe_barrier"}) | REGISTER_WRITES


def symbols_left(stream: Sequence[Mapping[str, Any]], order: Iterable[int]) -> dict[str, Bytes]:
    """Return what buffers hold, and what accesses that only read have read, when a stream was carried out.

    Args:
        stream: Instructions; those that are no access count by the hulls of what they touch.
        order: Their places, in the order in which they take effect.
    """
    touched = _touched(stream)
    memory = _Memory([each for ranges in touched for each in ranges])
    shown, times = dict[str, Bytes](), Counter[str]()
    names = [_name(each) for each in stream]
    numbers = []
    for name in names:
        numbers.append(f"{name} {times[name]}")
        times[name] += 1
    for at in order:
        reads = [memory.read(each) for each in touched[at] if not each.writes]
        value = _mix(crc32(names[at].encode()), *(part for each in reads for part in each))
        for place, each in enumerate(each for each in touched[at] if each.writes):
            memory.write(each, value, place)
        if reads and not any(each.writes for each in touched[at]):
            shown[f"what {numbers[at]} reads"] = np.array([value], np.uint64).view(np.uint8)
    return {**memory.bytes(), **shown}


def _touched(stream: Sequence[Mapping[str, Any]]) -> list[list[Range]]:
    """Return what each instruction touches, with the registers that it finds."""
    found, registers = [], Registers()
    for each in stream:
        op, args = each["op"], each["args"]
        if op in REGISTER_WRITES:
            registers = replace(registers)
            registers.write(op, args)
        if op == "access":
            ranges = ranges_of_access(args)
        else:
            ranges = [] if op in _NO_RANGES else ranges_of(op, args, registers)
        found.append(ranges)
    return found


def _name(instruction: Mapping[str, Any]) -> str:
    args = instruction["args"]
    return str(args.get("label", "access")) if instruction["op"] == "access" else str(instruction["op"])


class _Memory:
    """Buffers cut where anything begins or ends, with a number for each piece."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        names = dict.fromkeys(each.buffer for each in ranges)
        self.edges = {
            name: sorted({end for each in ranges if each.buffer == name for end in (each.lo, each.hi)})
            for name in names
        }
        self.place = {name: {edge: at for at, edge in enumerate(edges)} for name, edges in self.edges.items()}
        self.values = {
            name: [_mix(crc32(name.encode()), edge) for edge in edges[:-1]]
            for name, edges in self.edges.items()
        }

    def _pieces(self, each: Range) -> slice:
        return slice(self.place[each.buffer][each.lo], self.place[each.buffer][each.hi])

    def read(self, each: Range) -> list[int]:
        return self.values[each.buffer][self._pieces(each)]

    def write(self, each: Range, value: int, place: int) -> None:
        """Let a value arrive; each byte of what is written differs by where it lies in it."""
        pieces, edges = self._pieces(each), self.edges[each.buffer]
        self.values[each.buffer][pieces] = [
            _mix(value, place, edges[at] - each.lo) for at in range(pieces.start, pieces.stop)
        ]

    def bytes(self) -> dict[str, Bytes]:
        """Return every buffer from its first touched byte to its last."""
        return {
            name: np.concatenate(
                [
                    np.resize(np.array([value], np.uint64).view(np.uint8), hi - lo)
                    for value, lo, hi in zip(self.values[name], edges, edges[1:], strict=False)
                ]
            )
            for name, edges in self.edges.items()
        }


def _mix(*parts: int) -> int:
    """Return one number for several, the same in every process."""
    mixed = 0x9E3779B97F4A7C15
    for part in parts:
        mixed = (mixed ^ part) * 0xBF58476D1CE4E5B9 & _MASK
        mixed ^= mixed >> 29
    return mixed
