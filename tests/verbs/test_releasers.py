"""Which operations must be recorded beside those that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.verbs.releasers import with_releasers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine

MAPPING = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


@pytest.mark.parametrize(
    ("cores", "window", "first_tile"),
    [
        (1, range(5), 0),
        # Operations 66 to 87 are tile 3, the second of region 1, which begins with tile 2; before that region
        # two tiles may have been resident, 0 and 1, whose 32 computes are more than the pipeline holds.
        (1, range(70, 80), 0),
        # Tile 7 is the second of region 3: tiles 4 and 5 of region 2 come before it.
        (1, range(160, 170), 4),
        # On four cores no other tile runs on the core of region 3; region 3 itself begins with tile 6.
        (4, range(160, 170), 6),
    ],
)
def test_tiles_before_a_window(
    cores: int, window: range, first_tile: int, machine: Callable[..., Machine]
) -> None:
    lowered = pantile.lower("gemm:m=32,n=32,k=64", machine(num_cores=cores), mapping=MAPPING, window=window)
    recorded = with_releasers(lowered.listing)
    assert recorded == range(int(lowered.listing.starts[first_tile]), window.stop)
