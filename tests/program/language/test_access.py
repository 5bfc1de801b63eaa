"""Byte ranges of parts of stored boxes, against NumPy's own addresses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.language import DDR, SRAM, Core, Program, Tile, Tiling, load_store, thread

LETTERS = "abcd"


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=4))
@example([(3, 2, 1), (3, 1, 1), (3, 2, 0), (2, 1, 1)])  # four dimensions, none dense
@example([(1, 2, 0), (1, 2, 0), (2, 2, 0), (2, 1, 0)])  # a dense one outside of one that is apart
def test_ranges_are_the_addresses_of_the_part_in_row_major_order(cuts: list[tuple[int, int, int]]) -> None:
    letters = LETTERS[: len(cuts)]
    total = tuple(pieces * size for pieces, size, _ in cuts)
    index = tuple(min(at, pieces - 1) for pieces, _, at in cuts)
    tiling = Tiling(
        f"{letters},{letters}k->{letters}",
        total=(*total, 1),
        D=(*(pieces for pieces, _, _ in cuts), 1),
        S=(*(size for _, size, _ in cuts), 1),
    )
    tile = Tile(tiling, (*index, 0))

    @thread
    def load() -> None:
        load_store(src=DDR(0), dst=SRAM(Core(0, 0)), tile=tile.X)

    access = Program(tiling, load, dtype="int16").tables()["access"]
    addresses = np.arange(2 * int(np.prod(total))).reshape(*total, 2)  # every byte of the operand
    part = addresses[
        tuple(slice(i * size, (i + 1) * size) for i, (_, size, _) in zip(index, cuts, strict=True))
    ]
    read = np.concatenate([ranges(row) for row in access if row["mode"] == 0])
    assert read.tolist() == part.reshape(-1).tolist()
    written = np.concatenate([ranges(row) for row in access if row["mode"] == 1])
    assert written.tolist() == list(range(part.size))
    assert (access["rows"] == 1)[access["mode"] == 1].all()
    # no two rows of the table where one would do: inner dimensions that are whole are joined
    assert ((access["rows"] > 1) | (access["pitch"] == access["length"])).all()


def ranges(row: np.void) -> np.ndarray:
    starts = row["lo"] + row["pitch"] * np.arange(row["rows"])
    return np.asarray((starts[:, None] + np.arange(row["length"])).reshape(-1))


def test_a_whole_operand_is_one_range() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(1, 1, 1), S=(4, 4, 8))

    @thread
    def load() -> None:
        load_store(src=DDR(0), dst=SRAM(), tile=Tile(tiling, (0, 0, 0)))

    rows = Program(tiling, load, dtype="int8").tables()["access"]
    assert rows[["lo", "length", "rows", "pitch"]].tolist() == [
        (0, 32, 1, 32),
        (0, 32, 1, 32),
        (32, 32, 1, 32),
        (32, 32, 1, 32),
    ]


def test_a_column_is_rows_of_one_element() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(1, 1, 8), S=(4, 4, 1))

    @thread
    def load() -> None:
        load_store(src=DDR(0), dst=SRAM(), tile=Tile(tiling, (0, 0, 5)).X)

    rows = Program(tiling, load, dtype="int8").tables()["access"]
    assert rows[["lo", "length", "rows", "pitch"]].tolist() == [(5, 1, 4, 8), (0, 4, 1, 4)]
