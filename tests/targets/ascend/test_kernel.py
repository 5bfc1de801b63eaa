"""Kernels that do not fit, or that no core computes, are refused with the limit and both numbers."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import CapacityError, OutsideModelError, PantileError, ProgramError
from pantile.targets.ascend.kernel import counts_of

from .small_kernels import kernel_of

CORE = {"L1": 524288, "L0A": 65536, "L0B": 65536, "L0C": 131072, "BT": 1024}


def refused(**rest: Any) -> list[str]:
    with pytest.raises(PantileError) as caught:
        kernel_of(**rest)
    return str(caught.value).splitlines()


def test_a_right_tile_too_wide_for_half_of_l0b() -> None:
    """Row A15 of the inputs that broke other tools: 128 x 512 halves of a word."""
    first, *rest = refused(
        m=64, n=512, k=128, tile_m=64, tile_n=512, chunk=128, step=128, capacities=CORE | {"L0C": 262144}
    )
    assert first.startswith("L0B needs 131072 B of 32768 B, 1 of 2 parts of 65536 B, for 512 x 128 elements")
    assert not rest


def test_capacity_comes_before_all_else() -> None:
    """Row A25: a right tile of 256 x 256, here with a step that no load takes besides."""
    lines = refused(m=64, n=256, k=256, tile_m=60, tile_n=256, chunk=256, step=256, capacities=CORE)
    assert lines[0].startswith("L0B needs 131072 B of 32768 B")
    assert "tile_m must be a multiple of 16, or all of 64, got 60" in lines[-1]


def test_a_sum_too_wide_for_l0c_is_named_with_its_bytes() -> None:
    """Row A23: 1152 columns of four bytes."""
    lines = refused(
        m=32, n=1152, k=16, tile_m=32, tile_n=1152, chunk=16, step=16, capacities=CORE | {"L0B": 131072}
    )
    assert lines == [
        "L0C needs 147456 B of 131072 B for 32 x 1152 sums of 4 B; make the tile smaller [PT-CAPACITY]"
    ]


def test_chunks_and_bias_must_fit_too() -> None:
    (line,) = refused(
        m=64, n=64, k=4096, tile_m=64, tile_n=64, chunk=1024, step=64, capacities=CORE, l1_buffers=4
    )
    assert line.startswith("L1 needs 262144 B of 131072 B, 1 of 4 parts of 524288 B, for a chunk of both")
    (line,) = refused(
        m=16, n=512, k=16, tile_m=16, tile_n=512, chunk=16, step=16, bias="half", capacities=CORE
    )
    assert line.startswith("BT needs 2048 B of 1024 B for the bias of a tile")


@pytest.mark.parametrize(
    ("rest", "kind", "said"),
    [
        ({"step": 24}, ProgramError, "step must be a multiple of 16, or all of 100, got 24"),
        ({"tile_n": 0}, ProgramError, "expected sizes of at least 1, got tile_n 0"),
        ({"out": "int32_t"}, OutsideModelError, "sums of float leave a core as half or bfloat16_t or float"),
        ({"bias": "int32_t"}, OutsideModelError, "a bias added to float is half or bfloat16_t or float"),
        ({"l1_buffers": 5}, OutsideModelError, "4 ids tell chunks of L1 apart, got 5 chunks"),
        (
            {"capacities": {"L1": 65536, "L0A": 8192, "L0B": 8192}},
            OutsideModelError,
            "no memory 'l0c' in a core",
        ),
    ],
)
def test_what_no_core_computes(rest: dict[str, Any], kind: type[PantileError], said: str) -> None:
    with pytest.raises(kind, match=said):
        kernel_of(**rest)


def test_fractals_of_bytes_are_outside_the_model() -> None:
    with pytest.raises(OutsideModelError, match="right operands of bytes are lowered from rows"):
        kernel_of("int8", nz=True)


def test_a_tile_as_large_as_the_product_needs_no_multiple() -> None:
    kernel = kernel_of(m=7, n=5, k=3, tile_m=7, tile_n=5, chunk=3, step=3)
    assert counts_of(kernel, 3) == (1, 1)
    assert kernel.left_bytes == kernel.right_bytes == 512


def test_chunks_and_steps_of_a_reduction() -> None:
    kernel = kernel_of(chunk=96, step=64, k=250)
    assert counts_of(kernel, 250) == (3, 2 + 2 + 1)


def test_a_problem_of_capacity_is_one_error_each() -> None:
    with pytest.raises(CapacityError):
        kernel_of(m=32, n=16, k=16, tile_m=32, tile_n=16, chunk=16, step=16, capacities=CORE | {"L0C": 512})
