"""Trials: exact in every type, the same every time, refused where they would say nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pantile.errors import OutsideModelError
from pantile.language import (
    DDR,
    SRAM,
    Core,
    Domain,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    load_store,
    thread,
)
from pantile.simulate import trial
from pantile.simulate.execute import execute
from pantile.simulate.trial import Trial, trial_of


def nest(total: tuple[int, int, int] = (6, 5, 7), dtype: Any = "fp32", **options: Any) -> Program:
    tiling = Tiling("ti,oi->to", total=total, D=..., S=(3, 2, 4), **options)
    ddr, sram = DDR(0), SRAM(Core(0, 0))

    @thread
    def work() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=Core(0, 0))
            load_store(src=ddr, dst=sram, tile=tile)
            compute(tile)
            load_store(src=sram, dst=ddr, tile=tile)

    return Program(tiling, work, dtype=dtype)


@pytest.mark.parametrize(
    "dtype", ["fp64", "fp32", "fp16", "bf16", "int8", "uint8", {"X": "int8", "W": "int8", "Y": "int32"}]
)
def test_a_right_program_gives_exactly_what_is_expected(dtype: Any) -> None:
    program = nest(dtype=dtype)
    made = trial_of(program)
    outputs = execute(program, made.arrays)
    assert made.difference(outputs[made.output]) == ""
    assert made.expected.any()


def test_by_hand_and_the_same_again() -> None:
    one, other = trial_of(nest()), trial_of(nest())
    assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in "XW")
    x, w = (one.arrays[name].astype(np.int64) for name in "XW")
    assert np.array_equal(one.expected, x @ w.T)
    assert (np.abs(x).max(), np.abs(w).max()) == (4, 4)


def test_values_shrink_until_every_sum_is_exact() -> None:
    assert np.abs(trial_of(nest((4, 4, 200), "bf16")).arrays["X"]).max() == 1  # 200 ones fit into 8 bits
    with pytest.raises(OutsideModelError, match="sums of 257 products are rounded in bf16"):
        trial_of(nest((4, 4, 257), "bf16"))


def test_the_first_difference_is_told() -> None:
    made = Trial({}, "Y", np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert made.difference(np.array([[1, 2], [np.nan, 4]])) == (
        "Y[1, 0] is nan (never written), NumPy gives 3 (1 of 4 elements differ)"
    )
    assert (
        made.difference(np.array([[1.5, 2], [3, 0]]))
        == "Y[0, 0] is 1.5, NumPy gives 1 (2 of 4 elements differ)"
    )


def test_what_is_not_tried(monkeypatch: pytest.MonkeyPatch, builder: Callable[[], Any]) -> None:
    with pytest.raises(OutsideModelError, match="it does not say what its operations do"):
        trial_of(builder().program())
    with pytest.raises(OutsideModelError, match="its domain is no box"):
        trial_of(nest(domain=Domain("t >= o")))
    for name, words in (
        ("MOST_MACS", "210 MACs are more than the 9"),
        ("MOST_BYTES", r"428 B of arrays are more than the 9"),  # 4 (42 + 35 + 30)
        ("MOST_OPERATIONS", "operations are more than the 9"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(trial, name, 9)
            with pytest.raises(OutsideModelError, match=words):
                trial_of(nest())
