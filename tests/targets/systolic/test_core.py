"""Halves of memories, and the order of events within one cycle of a core."""

from __future__ import annotations

from pantile.targets.systolic.core import Entry, Half


def test_a_block_is_valid_once_nothing_of_it_is_outstanding() -> None:
    half = Half(1024)
    assert not half.is_valid(3)
    half.entries[3] = Entry(2, 2)
    half.fill(3)
    assert not half.is_valid(3)
    half.fill(3)
    assert half.is_valid(3)


def test_a_response_to_a_flushed_block_is_ignored() -> None:
    half = Half(1024, used=2, entries={3: Entry(2, 1)})
    half.flush()
    assert (half.used, half.entries) == (0, {})
    half.fill(3)
    assert not half.is_valid(3)


def test_a_block_of_no_requests_never_becomes_valid() -> None:
    # CV11: validity is set by a response, and none comes.
    half = Half(1024, entries={3: Entry(0, 0)})
    assert not half.is_valid(3)
