"""The judge agrees with the planner about its own plans, and measures any cut alike."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.planners.asw.chip import Chip
from pantile.planners.asw.errata import errata_met
from pantile.planners.asw.judge import judged
from pantile.planners.asw.pipeline import run_stages
from pantile.planners.asw.problem import Problem

CHIP = Chip()
PROBLEMS = st.builds(
    Problem,
    batch=st.integers(1, 40),
    m=st.integers(1, 3000),
    n=st.integers(1, 3000),
    k=st.sampled_from([96, 128, 640, 1024, 4096]),
)


@settings(max_examples=150)
@given(PROBLEMS)
def test_the_closed_form_is_the_planners_own_time(problem: Problem) -> None:
    stages = run_stages(problem, CHIP)
    cut, tail = stages.cut, stages.tail
    if cut is None or tail is None or stages.executed is None:
        return
    totals = stages.executed.totals
    assert totals.total is not None
    pieces = tail.pieces if tail.effective == "A1" else None
    found = judged(problem, CHIP, (cut.m, cut.n), "closed", pieces)
    assert found.seconds == totals.total - totals.drain
    assert found.terms["schedule"] >= found.terms["compute"]
    assert found.seconds == max(found.terms.values())
    assert found.bound in found.terms


@settings(max_examples=100)
@given(PROBLEMS, st.sampled_from([10**9, 10**10, 3 * 10**10, 10**11]))
def test_the_judges_know_what_one_core_draws(problem: Problem, rate: int) -> None:
    """Few cores or all: the closed form is the plan's own time, and the exact one keeps its bounds."""
    chip = replace(CHIP, core_gm_bytes_per_second=rate)
    stages = run_stages(problem, chip)
    cut, few = stages.cut, stages.reduction
    assert cut is not None
    cores = few.cores if few is not None else CHIP.cores
    pieces = stages.tail.pieces if stages.tail is not None and stages.tail.effective == "A1" else None
    closed, exact = (
        judged(problem, chip, (cut.m, cut.n), how, pieces, few.cores if few is not None else 0)
        for how in ("closed", "exact")
    )
    drawn = min(chip.gm_bytes_per_second, cores * rate)
    for found in (closed, exact):
        assert found.seconds >= Fraction(max(problem.input_bytes, problem.output_bytes), drawn)
    if few is not None:
        assert closed.terms["schedule"] == few.waves * few.time.total
    else:
        assert stages.executed is not None
        totals = stages.executed.totals
        assert closed.seconds == totals.total - totals.drain  # type: ignore[operator]


@pytest.mark.parametrize(("rate", "load_us"), [(10**10, 419.4304), (10**11, 41.94304), (None, 83.88608)])
def test_four_cores_load_at_the_rate_of_four(rate: int | None, load_us: float) -> None:
    problem = Problem(batch=4, m=256, n=256, k=4096)
    chip = replace(CHIP, core_gm_bytes_per_second=rate)
    few = run_stages(problem, chip).reduction
    assert few is not None
    assert float(few.time.load) * 1e6 == pytest.approx(load_us)
    for how in ("closed", "exact"):
        found = judged(problem, chip, (256, 256), how, cores=4)  # type: ignore[arg-type]
        assert float(found.seconds) * 1e6 == pytest.approx(load_us)
        assert judged(problem, chip, (256, 256), how) == found  # type: ignore[arg-type]


@settings(max_examples=100)
@given(PROBLEMS, st.sampled_from([(256, 256), (128, 512), (384, 192), (64, 64)]))
def test_both_judges_keep_every_lower_bound(problem: Problem, size: tuple[int, int]) -> None:
    for how, busiest in (("closed", "schedule"), ("exact", "busiest core")):
        found = judged(problem, CHIP, size, how)  # type: ignore[arg-type]
        assert found.terms[busiest] >= Fraction(problem.flops, CHIP.peak_flops)
        assert found.terms[busiest] >= Fraction(problem.output_bytes, CHIP.gm_bytes_per_second)
        assert found.seconds >= Fraction(problem.input_bytes, CHIP.gm_bytes_per_second)


@pytest.mark.parametrize(
    ("problem", "codes"),
    [
        (Problem(batch=64, m=32, n=32, k=64), {"E-06", "E-54"}),
        (Problem(batch=7, m=768, n=896, k=640), {"E-05", "E-12", "E-22"}),
        (Problem(batch=4, m=2048, n=2048, k=96), {"E-13"}),
        (Problem(batch=64, m=2048, n=2048, k=1024), {"E-29", "E-30"}),
        (Problem(batch=1, m=2048, n=65536, k=8192), {"E-31"}),
        (Problem(batch=1, m=128, n=20000, k=512), {"E-48"}),
        (Problem(batch=1, m=100, n=4096, k=512), {"E-08"}),
        (Problem(batch=32, m=512, n=8192, k=4096, b_batch=1), {"E-21"}),
        (Problem(batch=1, m=1536, n=1536, k=256), {"E-11", "E-19"}),
        (Problem(batch=1, m=1536, n=2048, k=4096), {"E-15"}),
    ],
)
def test_a_product_is_told_the_errata_that_show_on_it(problem: Problem, codes: set[str]) -> None:
    found = [note.code for note in errata_met(problem, CHIP)]
    assert codes <= set(found)
    assert found == sorted(set(found)), "each once, in order"


def test_a_product_that_shows_no_tail_is_told_nothing_of_tails() -> None:
    codes = {note.code for note in errata_met(Problem(batch=8, m=2048, n=2048, k=1024), CHIP)}
    assert not codes & {"E-15", "E-17", "E-18", "E-19", "E-32", "E-33", "E-37"}
