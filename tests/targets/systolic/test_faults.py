"""What ends a run: one line each, with the numbers."""

from __future__ import annotations

import pytest

from pantile.errors import ProgramError
from pantile.targets.systolic import faults


def test_does_not_fit() -> None:
    with pytest.raises(ProgramError) as caught:
        faults.does_not_fit(1, 4, 0, 33_024, 32_768)
    assert str(caught.value) == (
        "layer 1 tile 4: the scratchpad half would hold 33024 B of 32768 B; "
        "make the tile smaller [PT-PROGRAM]"
    )


def test_allocated_twice() -> None:
    with pytest.raises(ProgramError, match=r"^layer 0 tile 2: a load into an entry of the accumulator"):
        faults.allocated_twice(0, 2, 1)


def test_never_ends() -> None:
    with pytest.raises(ProgramError, match=r"^layer 3 tile 9: never finishes"):
        faults.never_ends(3, 9)
