"""Accesses carried out on symbols."""

from __future__ import annotations

from typing import Any

import numpy as np

from pantile.targets.ascend.instructions import Instruction, pipe_barrier
from pantile.targets.ascend.symbols import symbols_left

Span = tuple[str, int, int]


def access(label: str, reads: list[Span], writes: list[Span]) -> Instruction:
    spans = {
        key: [{"buf": b, "lo": lo, "hi": hi} for b, lo, hi in each]
        for key, each in (("reads", reads), ("writes", writes))
    }
    return {"op": "access", "args": {"pipe": "PIPE_V", "label": label, **spans}}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_order_matters_only_where_bytes_meet() -> None:
    stream = [access("a", [], [("UB", 0, 32)]), access("b", [], [("UB", 32, 64)]), pipe_barrier("PIPE_V")]
    assert same(symbols_left(stream, [0, 1, 2]), symbols_left(stream, [1, 2, 0]))
    stream = [access("a", [], [("UB", 0, 33)]), access("b", [], [("UB", 32, 64)])]
    assert not same(symbols_left(stream, [0, 1]), symbols_left(stream, [1, 0]))


def test_a_read_of_other_bytes_shows_in_what_is_written() -> None:
    stream = [access("a", [], [("L1", 0, 8)]), access("b", [("L1", 4, 12)], [("UB", 0, 8)])]
    early, late = symbols_left(stream, [1, 0]), symbols_left(stream, [0, 1])
    assert not np.array_equal(early["UB"], late["UB"])
    assert np.array_equal(early["L1"], late["L1"])


def test_what_only_reads_shows_what_it_read() -> None:
    stream = [access("a", [], [("L1", 0, 8)]), access("use", [("L1", 0, 8)], [])]
    early, late = symbols_left(stream, [1, 0]), symbols_left(stream, [0, 1])
    assert set(early) == {"L1", "what use 0 reads"}
    assert not np.array_equal(early["what use 0 reads"], late["what use 0 reads"])


def test_the_same_copy_again_leaves_the_same_bytes() -> None:
    """A bias that is reloaded while it is read is wrong in no order."""
    stream = [
        access("copy", [("L1", 0, 64)], [("BT", 0, 64)]),
        access("use", [("BT", 0, 64)], [("L0C", 0, 64)]),
    ]
    stream.append(stream[0])
    assert same(symbols_left(stream, [0, 1, 2]), symbols_left(stream, [0, 2, 1]))


def test_it_is_the_same_in_every_process() -> None:
    left = symbols_left([access("a", [], [("UB", 0, 8)])], [0])["UB"]
    assert (
        left.view(np.uint64)[0]
        == symbols_left([access("a", [], [("UB", 8, 16)])], [0])["UB"].view(np.uint64)[0]
    )
    assert len(left) == 8
