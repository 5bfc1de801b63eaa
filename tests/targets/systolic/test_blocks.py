"""Blocks against the arrays they may run on (quirks Q10 and Q19)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pantile.errors import OutsideModelError
from pantile.program.program import Program
from pantile.targets.systolic.blocks import require_blocks_fit
from pantile.targets.systolic.config import SystolicConfig
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.network import Network

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
LINE = "[T] N32 C32 M32 - [O] N1 C1 M1 - [I] N32 C32 M32"


def test_blocks_as_high_as_the_array_fit_a_wider_one(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(core_height=8, core_width=16)
    require_blocks_fit(lowered(LINE, config), config)


def test_a_narrow_array_is_refused_with_both_sizes(lowered: Lowered, config_of: ConfigOf) -> None:
    # 16 x 16 products per cycle on 64 elements would be a utilisation of 400 %.
    config = config_of(core_height=16, core_width=4)
    with pytest.raises(OutsideModelError, match=r"blocks of 16 x 16 on an array of 16 x 4, of core 0"):
        lowered(LINE, config, semantics="fixed")
    assert lowered(LINE, config, semantics="faithful").macs == 32**3


def test_blocks_that_are_small_anyway_fit(lowered: Lowered, config_of: ConfigOf) -> None:
    # 3 columns and a reduction of 2 fill 2 x 3 elements of an array of 4 x 3.
    config = config_of(core_height=4, core_width=3)
    lowered("[T] N9 C2 M3 - [O] N1 C1 M1 - [I] N12 C4 M4", config, semantics="fixed")


def test_a_smaller_core_is_refused(lowered: Lowered, config_of: ConfigOf) -> None:
    smaller = config_of(
        num_cores=3, core_height=8, core_width=8, per_core=[{}, {}, {"core_height": 4, "core_width": 4}]
    )
    with pytest.raises(OutsideModelError, match=r"blocks of 8 x 8 on an array of 4 x 4, of core 2"):
        lowered(LINE, smaller, semantics="fixed")
    larger = config_of(num_cores=2, per_core=[{}, {"core_height": 16, "core_width": 16}])
    lowered(LINE, larger, semantics="fixed")


def test_a_convolution_is_cut_by_the_width(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    conv = Convolution(batch=1, in_channels=16, out_channels=16, height=4, width=4, kernel=(1, 1))
    whole = LoopCounts(1, 16, 16, 1, 1, 4, 4)
    config = config_of(core_height=8, core_width=16)
    with pytest.raises(OutsideModelError, match=r"blocks of 16 x 16 on an array of 8 x 16, of core 0"):
        lowered_counts(conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config, semantics="fixed")
