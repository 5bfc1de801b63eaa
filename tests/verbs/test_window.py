"""Windows of operations."""

from __future__ import annotations

import pytest

from pantile.errors import UsageError
from pantile.verbs.window import clipped, require_window


@pytest.mark.parametrize(
    ("window", "found"),
    [
        (None, range(10)),
        (range(3, 5), range(3, 5)),
        (range(8, 10**18), range(8, 10)),
        (range(12, 15), range(12, 12)),
    ],
)
def test_clipped(window: range | None, found: range) -> None:
    assert clipped(window, 10) == found
    assert len(clipped(window, 10)) == len(found)


def test_a_window_inside_passes() -> None:
    require_window(range(9, 10**18), 10, most=1, holder="a page")
    require_window(range(4), 10, most=4, holder="a page")


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        (range(10, 12), "the program has operations 0 to 9, got a window from 10; put the window inside"),
        (range(2, 9), "7 operations, a page holds at most 4; write --window 2:6"),
        (range(-1, 3), r"expected consecutive numbers from 0, got range\(-1, 3\)"),
        (range(0, 4, 2), r"expected consecutive numbers from 0, got range\(0, 4, 2\)"),
        (range(4, 4), "the program has operations 0 to 9, got a window from 4; put the window inside"),
    ],
)
def test_windows_that_are_refused(window: range, problem: str) -> None:
    with pytest.raises(UsageError, match=rf"^--window: {problem} \[PT-USAGE\]$"):
        require_window(window, 10, most=4, holder="a page")
