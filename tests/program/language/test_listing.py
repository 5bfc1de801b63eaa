"""The listing: what it looks like, that it reads back, and what is none."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from pantile.errors import ProgramError
from pantile.language import DDR, SRAM, Buffer, Core, Program, Tile, finish_writing, load_store, start_writing
from pantile.program.language.listing import parse_text, to_text
from pantile.program.piece import Loop, Piece
from pantile.program.program import Program as Tables
from pantile.program.tables import (
    COUNTER,
    OP,
    RESOURCE,
    SYNC,
    THREAD,
    USE,
    Completes,
    Edge,
    Test,
    empty_tables,
)


@pytest.fixture
def program(kit: SimpleNamespace) -> Program:
    buffer = Buffer(slots=2, name="ping pong")
    tile = Tile(kit.tiling(), (1, 0, 1), location=Core(0, 1))
    return kit.one_thread(  # type: ignore[no-any-return]
        buffer.acquire,
        partial(start_writing, tile),
        partial(load_store, src=DDR(0), dst=SRAM(Core(0, 1)), tile=tile),
        partial(finish_writing, tile),
    )


def test_what_is_listed(program: Program) -> None:
    text = program.to_text()
    line = int(program.tables()["op"]["line"][0])
    assert text.startswith('pantile program 1\nname: "conftest"\nfamily: "tile-language"\n')
    assert (
        """
thread 0 only in_order core=0
counter 0 unborn "D(1,0,1) at sram@(0,1)" none initial=1
counter 1 busy "D(1,0,1) at sram@(0,1)" none key=0 initial=1
""".replace(" key=0", "")
        in text
    )
    assert (
        f"""
counter 4 "free slots" "ping pong" error initial=2 capacity=2

0 0 only sync acquire line={line}
    box -
    wait take 1 of 4 at start as acquire   ; free slots of ping pong
1 0 only sync start_writing tile=6 line={line}
    box t 2+2, o 0+2, i 4+4
    wait take 1 of 0 at start as start_writing   ; unborn of D(1,0,1) at sram@(0,1)
2 0 only move load_store bytes=64 tile=6 line={line}
    box t 2+2, o 0+2, i 4+4
    read X ddr@0 80 +16 rows=2 pitch=32
    write X sram@(0,1) 0 +32
    read W ddr@0 144 +16 rows=2 pitch=32
    write W sram@(0,1) 32 +32
3 0 only sync finish_writing tile=6 line={line}
    box t 2+2, o 0+2, i 4+4
    post -1 to 1 at finish as finish_writing   ; busy of D(1,0,1) at sram@(0,1)
    post +1 to 2 at finish as finish_writing   ; ready of D(1,0,1) at sram@(0,1)
"""
        in text
    )


def test_it_reads_back(program: Program) -> None:
    assert Program.from_text(program.to_text()) == program
    assert parse_text(program.to_text()).to_json() == program.to_json()


def odd() -> Tables:
    """A literal program with rows and texts that the tile language never makes."""
    tables = empty_tables()
    tables["thread"] = np.array([(0, 0, -1, Completes.PIPELINED, 2, 7), (1, 5, 3, 0, -1, -1)], THREAD)
    tables["op"] = np.array(
        [(0, 1, 2, 5, 3, 1, -1, 1, 0, 0, 4, 0), (1, 0, -1, 1, 2, 4, -1, 3, 9, 8, -1, 2)], OP
    )
    tables["counter"] = np.array([(0, 2, -1, 7, -1, 1, 1)], COUNTER)
    tables["sync"] = np.array([(1, Edge.ALONG, 0, Test.POST, 4, 2, 3)], SYNC)
    tables["use"] = np.array([(1, 0, 0, 64)], USE)
    tables["resource"] = np.array([(0, 4, 1, 1, 10**12, 5, 32, -1)], RESOURCE)
    return Tables(
        name='a "quoted" name',
        family="odd",
        semantics="none",
        axes=("m",),
        extents=(4,),
        loops=(),
        reductions=(),
        names=("two words", 'with "quotes"; and = signs', "-", "#1", "ü", "two words"),
        operands=(),
        pieces=(Piece(tables),),
        labels=("a remark",),
        parameters={"nested": {"list": [1, None, True]}},
    )


def test_any_literal_program_reads_back() -> None:
    program = odd()
    assert parse_text(to_text(program)).to_json() == program.to_json()


def test_a_program_that_repeats_is_not_listed() -> None:
    program = odd()
    looped = Piece(dict(program.pieces[0].tables), (Loop(name="m", first=0, count=2, ids={}, offset=(1,)),))
    fields = {name: getattr(program, name) for name in Tables.__dataclass_fields__}
    with pytest.raises(ProgramError, match="only literal programs are listed"):
        to_text(Tables(**(fields | {"pieces": (looped,)})))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sync acquire", "sing acquire"),
        ("at start as acquire", "at noon as acquire"),
        ("as acquire", "as acquired"),
        ("read X", "read A"),
        ("line=", "lines="),
        ("box t", "box q"),
        ("in_order", "somehow"),
        ("+32", "+many"),
        ('axes: ["t", "o", "i"]', "axes: [t"),
        ("wait take 1", "wait"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(program: Program, old: str, new: str) -> None:
    lines = program.to_text().splitlines()
    number = next(at for at, line in enumerate(lines) if old in line)
    lines[number] = lines[number].replace(old, new, 1)
    with pytest.raises(ProgramError, match=rf"^made.txt:{number + 1}: cannot read "):
        parse_text("\n".join(lines), "made.txt")


def test_what_is_missing_is_named(program: Program) -> None:
    text = program.to_text()
    with pytest.raises(ProgramError, match=r"^made\.txt:1: expected 'pantile program 1' on the first line"):
        parse_text(text.partition("\n")[2], "made.txt")
    with pytest.raises(ProgramError, match="the listing lacks names"):
        parse_text(text.rpartition("names:")[0], "made.txt")
    with pytest.raises(ProgramError, match="expected 'pantile program 1'"):
        parse_text("")
