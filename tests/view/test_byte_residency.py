"""Entries of memories that are touched by ranges of bytes."""

from __future__ import annotations

import pytest

from pantile.view import byte_residency as module
from pantile.view.byte_residency import ENDINGS, RANGES, byte_residency
from pantile.view.columns import KINDS, MODES, OPERANDS, OPERATIONS, Table, table
from pantile.view.residency import Residency

READ, WRITE, UPDATE = (MODES.index(mode) for mode in ("read", "write", "update"))
A, C = OPERANDS.index("a"), OPERANDS.index("c")

Row = tuple[int, ...]
"""operation, mode, operand, lo, length[, rows, pitch]"""


def operations(*rows: tuple[str, int, int, int]) -> Table:
    """Operations of a kind and a tile, first row and count; the i-th runs from 10 i to 10 i + 5."""
    kinds, tiles, starts, sizes = zip(*rows, strict=True)
    count = range(len(rows))
    return table(
        OPERATIONS,
        kind=[KINDS.index(kind) for kind in kinds],
        opcode=[0] * len(rows),
        engine=[0] * len(rows),
        tile=tiles,
        m_start=starts,
        m_size=sizes,
        n_start=starts,
        n_size=sizes,
        k_size=[4] * len(rows),
        start_cycle=[10 * at for at in count],
        finish_cycle=[10 * at + 5 for at in count],
    )


def ranges(*rows: Row) -> Table:
    whole = [(*row, *(1, 0)[len(row) - 5 :]) for row in rows]
    names = ("operation", "mode", "operand", "lo", "length", "rows", "pitch")
    columns = dict(zip(names, zip(*whole, strict=True), strict=True))
    return table(RANGES, **columns, memory=[0] * len(rows), slot=[0] * len(rows))


def endings(*rows: tuple[int, ...]) -> Table:
    names = [spec.name for spec in ENDINGS.specs]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return table(ENDINGS, **dict(zip(names, columns, strict=True)))


def lives(found: Residency | None) -> list[tuple[int, int, int, int]]:
    """(tag, tile, opened, closed) of every entry."""
    assert found is not None
    columns = (found.entries[name].tolist() for name in ("tag", "tile", "opened", "closed"))
    return list(zip(*columns, strict=True))


def touched(found: Residency | None) -> list[tuple[int, int, int]]:
    assert found is not None
    columns = (found.touches[name].tolist() for name in ("operation", "mode", "entry"))
    return list(zip(*columns, strict=True))


def test_a_read_of_a_part_belongs_to_what_was_loaded() -> None:
    ops = operations(("load", 0, 0, 8), ("compute", 0, 4, 4))
    found = byte_residency(ops, ranges((0, WRITE, A, 0, 64), (1, READ, A, 16, 8, 4, 16)), endings())
    assert lives(found) == [(0, 0, 0, -1)]
    assert touched(found) == [(0, WRITE, 0), (1, READ, 0)]


def test_a_write_ends_what_it_overwrites_even_in_part() -> None:
    ops = operations(("load", 0, 0, 8), ("load", 0, 8, 8), ("load", 1, 0, 8))
    found = byte_residency(
        ops, ranges((0, WRITE, A, 0, 32), (1, WRITE, A, 32, 32), (2, WRITE, A, 16, 8)), endings()
    )
    assert lives(found) == [(0, 0, 0, 2), (32, 0, 1, -1), (16, 1, 2, -1)]
    assert found is not None
    assert found.entries["closed_cycle"].tolist() == [20, -1, -1]


def test_interleaved_rows_do_not_meet() -> None:
    ops = operations(("load", 0, 0, 4), ("load", 0, 4, 4))
    found = byte_residency(ops, ranges((0, WRITE, A, 0, 8, 4, 16), (1, WRITE, A, 8, 8, 4, 16)), endings())
    assert lives(found) == [(0, 0, 0, -1), (8, 0, 1, -1)]


def test_a_read_of_several_entries_touches_them_all() -> None:
    ops = operations(("compute", 0, 0, 4), ("compute", 0, 4, 4), ("store", 0, 0, 8))
    rows = ranges((0, WRITE, C, 0, 8, 2, 16), (1, WRITE, C, 8, 8, 2, 16), (2, READ, C, 0, 32))
    found = byte_residency(ops, rows, endings())
    # What a compute fills is its first contribution.
    assert touched(found) == [(0, UPDATE, 0), (1, UPDATE, 1), (2, READ, 0), (2, READ, 1)]


def test_contributions_go_to_the_entry_that_holds_all_their_bytes() -> None:
    ops = operations(("load", 0, 0, 8), ("compute", 0, 0, 4), ("compute", 1, 0, 8))
    rows = ranges((0, WRITE, C, 0, 32), (1, UPDATE, C, 0, 16), (2, UPDATE, C, 16, 32))
    assert lives(byte_residency(ops, rows, endings())) == [(0, 0, 0, 2), (16, 1, 2, -1)]


def test_endings_are_those_of_a_tile_and_come_after_what_is_touched() -> None:
    ops = operations(("load", 0, 0, 8), ("load", 1, 8, 8), ("sync", 0, 0, 0), ("store", 1, 8, 8))
    rows = ranges((0, WRITE, A, 0, 32), (1, WRITE, A, 32, 32), (3, READ, A, 32, 32))
    found = byte_residency(ops, rows, endings((2, 0, 0, 64, 0, 0), (3, 0, 0, 64, 0, -1)))
    assert lives(found) == [(0, 0, 0, 2), (32, 1, 1, 4)]
    assert found is not None
    assert found.entries["closed_cycle"].tolist() == [20, 35]


def test_what_nobody_filled_begins_with_its_first_reader() -> None:
    found = byte_residency(
        operations(("compute", 3, 0, 4)), ranges((0, READ, A, 8, 8)), endings((0, 5, 0, 8, -1, -1))
    )
    assert lives(found) == [(8, 3, 0, -1)]


def test_memories_too_large_to_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    ops, rows = operations(("load", 0, 0, 8)), ranges((0, WRITE, A, 1 << 40, 1 << 20))
    assert lives(byte_residency(ops, rows, endings())) == [(1 << 40, 0, 0, -1)]  # cells of 1 MiB
    monkeypatch.setattr(module, "MOST_CELLS", 1 << 20)
    assert byte_residency(ops, rows, endings()) is None


def test_what_is_left_of_bytes_lives_on_where_entries_are_mere_bytes() -> None:
    none = OPERANDS.index("none")
    ops = operations(*[("load", -1, 0, 0)] * 3)
    rows = ranges((0, WRITE, none, 0, 96), (1, WRITE, none, 32, 32), (2, READ, none, 0, 64))
    found = byte_residency(ops, rows, endings(), remainders=True)
    assert lives(found) == [(0, -1, 0, 1), (0, -1, 1, -1), (64, -1, 1, -1), (32, -1, 1, -1)]
    assert found is not None
    assert found.entries["bytes"].tolist() == [96, 32, 32, 32]
    assert found.touches["entry"].tolist() == [0, 3, 1, 3]
    assert found.touches["lo"].tolist() == [0, 32, 0, 0]
    assert found.touches["length"].tolist() == [96, 32, 64, 64]
    ended = byte_residency(ops, rows, endings())
    assert lives(ended) == [(0, -1, 0, 1), (32, -1, 1, -1)]


def test_mere_bytes_that_are_read_first_were_there_before() -> None:
    none = OPERANDS.index("none")
    ops = operations(*[("load", -1, 0, 0)] * 2)
    rows = ranges((0, WRITE, none, 0, 32), (1, READ, none, 32, 32))
    assert lives(byte_residency(ops, rows, endings(), remainders=True)) == [(0, -1, 0, -1), (32, -1, -1, -1)]
    assert lives(byte_residency(ops, rows, endings())) == [(0, -1, 0, -1), (32, -1, 1, -1)]
