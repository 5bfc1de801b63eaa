"""The automatic mapping of a convolution."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pantile.planners.onnxim.capacity import Overflow
from pantile.planners.onnxim.conv import automatic_convolution, conv_mapping
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping
from pantile.workload.convolution import Convolution

TABLE = json.loads((Path(__file__).parents[2] / "golden/onnxim/mapping_table.json").read_text())
MACHINES = {row[0]: row[1:] for row in TABLE["hw"]}
ORDER = "NCMPQSR"  # of the golden table's columns


def counts(values: list[int]) -> LoopCounts:
    return LoopCounts(**dict(zip(ORDER, values, strict=True)))


@pytest.mark.parametrize("row", TABLE["conv"], ids=lambda row: f"{row[0]}-{row[1]}")
def test_equals_the_original_on_resnet_50(row: list[Any], figures: Callable[..., Any]) -> None:
    machine, _, n, c, m, kernel, size, stride, padding, outer, inner = row
    total = LoopCounts(n, c, m, kernel, kernel, size, size)
    log = DecisionLog()
    outcome = conv_mapping(total, stride, padding, figures(*MACHINES[machine]), log)
    assert outcome.mapping == Mapping(total, counts(outer), counts(inner))
    assert [each.name for each in log.decisions] == [
        "max_spad_rows", "max_acc_rows", "whole layer", "shrunk", "widened", "grown",
    ]  # fmt: skip


def test_rows_of_the_whole_layer_are_logged(figures: Callable[..., Any]) -> None:
    """3x3 over 8x8 outputs, 16 to 16 channels: 2·10·10 + 2·3·3·16 = 488 rows, 2·8·8 = 128 sums."""
    log = DecisionLog()
    conv_mapping(LoopCounts(1, 16, 16, 3, 3, 8, 8), 1, 1, figures(), log)
    (whole,) = [each for each in log.decisions if each.name == "whole layer"]
    assert whole.inputs == {"spad_rows": 488, "max_spad_rows": 4096, "acc_rows": 128, "max_acc_rows": 256}
    assert whole.value == {"batch": 1, "orows": 8, "ocols": 8, "och": 16, "krow": 3, "kcol": 3, "kch": 16}


CONVOLUTION = Convolution(
    batch=1, in_channels=64, out_channels=64, height=28, width=28, kernel=(3, 3), pads=(1, 1, 1, 1)
)
TOTAL = LoopCounts(1, 64, 64, 3, 3, 28, 28)


def at_most(elements: int) -> Callable[[Mapping], Overflow | None]:
    """A stand-in for the request count: inputs and weights of a tile, in elements."""

    def fits(mapping: Mapping) -> Overflow | None:
        i = mapping.inner
        taken = i.N * i.C * (i.Q + 2) * (i.P + 2) + i.M * i.C * i.S * i.R
        return Overflow("scratchpad", taken, elements) if taken > elements else None

    return fits


@pytest.mark.parametrize("semantics", ["fixed", "faithful"])
@pytest.mark.parametrize("elements", [30000, 5000, 200])
def test_an_overflowing_tile_is_cut_until_it_fits(
    semantics: Any, elements: int, figures: Callable[..., Any]
) -> None:
    fits, log = at_most(elements), DecisionLog()
    machine = figures(spad_kib=512, acc_kib=512)
    outcome = automatic_convolution(TOTAL, CONVOLUTION, machine, fits, log, semantics)
    assert outcome.mapping is not None
    assert fits(outcome.mapping) is None
    inner, outer = outcome.mapping.inner, outcome.mapping.outer
    assert inner.C % 8 == inner.M % 8 == 0
    for letter, total in TOTAL.items():
        assert (outer[letter] - 1) * inner[letter] < total <= outer[letter] * inner[letter]
    assert [note.code for note in log.notes] == ["CV16"]


def test_nothing_fits_names_the_last_overflow(figures: Callable[..., Any]) -> None:
    """The smallest tile is 1 pixel, 8 to 8 channels, 1x1: 8·3·3 inputs + 64 weights = 136 elements."""
    outcome = automatic_convolution(TOTAL, CONVOLUTION, figures(), at_most(135), DecisionLog(), "fixed")
    assert outcome.mapping is None
    assert outcome.overflow == Overflow("scratchpad", 136, 135)


def test_a_mapper_that_finds_no_candidate(figures: Callable[..., Any]) -> None:
    """No accumulator: even one element of every loop takes one row of 8 sums of 4 B."""
    machine = figures(acc_kib=0)
    outcome = automatic_convolution(TOTAL, CONVOLUTION, machine, at_most(10**6), DecisionLog(), "fixed")
    assert outcome.overflow == Overflow("accumulator", 32, 0)
    with pytest.raises(MapperStop, match=r"32 B of accumulator are needed, a half holds 0 B \(CV16\)"):
        automatic_convolution(TOTAL, CONVOLUTION, machine, at_most(10**6), DecisionLog(), "faithful")


@pytest.mark.parametrize("semantics", ["fixed", "faithful"])
def test_one_pixel_takes_the_mapper_of_products(semantics: Any, figures: Callable[..., Any]) -> None:
    """Golden cv_1x1_on_1x1_c64m40: P = Q = S = R = 1, inner N 8 for one picture."""
    total = LoopCounts(1, 64, 40)
    log = DecisionLog()
    outcome = automatic_convolution(total, CONVOLUTION, figures(), at_most(10**6), log, semantics)
    assert outcome.mapping == Mapping(total, LoopCounts(1, 1, 1), LoopCounts(8, 64, 40))


def test_not_square_arrays_are_refused(figures: Callable[..., Any]) -> None:
    with pytest.raises(MapperStop, match="Q19"):
        conv_mapping(TOTAL, 1, 1, figures(width=16), DecisionLog())
