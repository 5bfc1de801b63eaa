"""Which kinds of tiles share outputs."""

from __future__ import annotations

from collections.abc import Callable

from pantile.check.regions import covers, first_stage, meets, stages
from pantile.program.piece import Loop, Piece
from pantile.program.program import Program
from pantile.program.tables import empty_tables


def piece(m: tuple[int, int], k: tuple[int, int]) -> Piece:
    """A piece over (first, count) of an output loop and of a reduction."""
    loops = (Loop(name="m", first=m[0], count=m[1], ids={}, offset=()),)
    return Piece(empty_tables(), (*loops, Loop(name="k", first=k[0], count=k[1], ids={}, offset=())))


def test_sharing_and_order(lowered: Callable[..., Program]) -> None:
    program = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8")
    first, rest, last = piece((0, 4), (0, 1)), piece((0, 4), (1, 3)), piece((2, 2), (4, 1))
    elsewhere = piece((4, 1), (0, 5))
    assert meets(program, first, last)
    assert meets(program, last, first)
    assert not meets(program, first, elsewhere)
    assert covers(program, last, first)
    assert not covers(program, first, last)
    assert first_stage(program, first) < first_stage(program, rest) < first_stage(program, last)
    assert [stages(program, each) for each in (first, rest, last, elsewhere)] == [1, 3, 1, 5]
