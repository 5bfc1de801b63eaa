"""What would be tried for ever, or counted wrong in 64 bits, is refused with its two numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pantile.errors import OutsideModelError
from pantile.planners.asw.chip import Chip
from pantile.planners.asw.exact import Judge
from pantile.planners.asw.limits import LARGEST_SIZE, MOST_CORES, MOST_TRIED
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.pipeline import SEMANTICS, run_stages
from pantile.planners.asw.problem import Problem

CHIP = Chip()
PROBLEM = Problem(batch=8, m=2048, n=2048, k=1024)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("axis", ["batch", "m", "n", "k"])
def test_a_size_beyond_what_is_counted_is_refused(axis: str, semantics: str) -> None:
    problem = replace(PROBLEM, **{axis: 10**12})
    with pytest.raises(OutsideModelError, match=f"takes {axis} up to {LARGEST_SIZE}, got {10**12}"):
        run_stages(problem, CHIP, semantics)  # type: ignore[arg-type]


def test_every_size_at_its_largest_is_planned_at_once() -> None:
    for problem in (
        Problem(m=LARGEST_SIZE, n=LARGEST_SIZE, k=LARGEST_SIZE),
        Problem(batch=LARGEST_SIZE, m=65536, n=65536, k=LARGEST_SIZE),
        Problem(batch=LARGEST_SIZE, m=1, n=1, k=1),
    ):
        assert run_stages(problem, CHIP).feasible


@pytest.mark.parametrize(
    ("chip", "said"),
    [
        (replace(CHIP, cores=MOST_CORES + 1), f"cores up to {MOST_CORES}, got {MOST_CORES + 1}"),
        (replace(CHIP, l1_bytes=2**63), f"l1_bytes up to {2**63 - 1}, got {2**63}"),
        (replace(CHIP, l1_bytes=2**40), f"at most {MOST_TRIED}, and there are"),
        (replace(CHIP, grain=2**31), f"grain up to {LARGEST_SIZE}, got {2**31}"),
    ],
)
def test_a_chip_on_which_too_much_would_be_tried_is_refused(chip: Chip, said: str) -> None:
    with pytest.raises(OutsideModelError, match=said):
        run_stages(Problem(m=LARGEST_SIZE, n=LARGEST_SIZE, k=64), chip)


def test_too_many_blocks_are_refused() -> None:
    problem = Problem(batch=LARGEST_SIZE, m=LARGEST_SIZE, n=LARGEST_SIZE, k=64)
    with pytest.raises(OutsideModelError, match="blocks of one grain up to"):
        run_stages(problem, CHIP)


def test_an_l0c_of_less_than_a_grain_has_no_tile() -> None:
    chip = replace(CHIP, l0c_bytes=512)
    for semantics in SEMANTICS:
        stages = run_stages(Problem(m=1, n=1, k=64), chip, semantics)
        assert stages.base.m == 0
        assert not stages.feasible


def test_the_judge_counts_blocks_without_listing_them() -> None:
    """2^20 rows and columns of whole blocks on 32 cores: each core has 2^35 of them."""
    judge = Judge(problem=Problem(m=2**28, n=2**28, k=64), chip=CHIP)
    times = judge.whole(256, 256)
    assert times.longest == times.shortest == 2**35 * judge.block(256, 256)
    uneven = Judge(problem=Problem(m=2**28, n=2**28, k=64), chip=replace(CHIP, cores=3))
    pieces = Pieces(axis="n", size=128, count=2, seconds=judge.block(256, 128))
    cut = uneven.with_pieces(256, 256, pieces)
    # 2^40 = 3 * 366503875925 + 1: the last block goes to two cores, half of it each.
    whole, half = uneven.block(256, 256), uneven.block(256, 128)
    assert (cut.longest, cut.shortest) == (366503875925 * whole + half, 366503875925 * whole)
