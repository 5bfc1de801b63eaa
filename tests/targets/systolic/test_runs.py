"""Runs of equal tiles, and blocks."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.systolic.runs import Run, blocks_of, runs_of


@given(st.lists(st.integers(0, 2), max_size=30))
def test_runs_are_those_of_groupby(keys: list[int]) -> None:
    expected, first = [], 0
    for key, group in groupby(keys):
        count = len(list(group))
        expected.append(Run(first, count, key))
        first += count
    assert runs_of(len(keys), keys.__getitem__) == expected


@given(size=st.integers(0, 100), step=st.integers(1, 20))
def test_blocks_cover_their_size_once(size: int, step: int) -> None:
    blocks = blocks_of(size, step)
    assert [at for offset, length in blocks for at in range(offset, offset + length)] == list(range(size))
    assert all(length == step for _, length in blocks[:-1])


def test_no_tiles_and_nothing_to_cover() -> None:
    assert runs_of(0, lambda index: index) == []
    assert blocks_of(0, 8) == []
