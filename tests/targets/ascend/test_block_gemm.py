"""The macro GEMM: its order of blocks, and that it computes what NumPy does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import ManyProblems, ProgramError, UsageError
from pantile.targets.ascend.block_call import BlockCall
from pantile.targets.ascend.block_execute import execute_gemm
from pantile.targets.ascend.block_gemm import gemm_block
from pantile.targets.ascend.block_swizzle import block_order
from pantile.targets.ascend.elements import ELEMENTS

sizes = st.integers(1, 5000)


@given(sizes, sizes, sizes, st.integers(1, 64))
def test_every_block_is_taken_once(m: int, n: int, k: int, cores: int) -> None:
    order = block_order(m, n, k, m_tile=256, n_tile=128, block_num=cores)
    taken = sorted(order.block(task) for task in range(order.blocks))
    assert taken == [(row, column) for row in range(order.m_loops) for column in range(order.n_loops)]


def test_every_other_group_runs_backwards() -> None:
    order = block_order(512, 256, 256, m_tile=256, n_tile=128, block_num=1)
    assert [order.block(task) for task in range(4)] == [(0, 0), (0, 1), (1, 1), (1, 0)]


@st.composite
def launches(draw: st.DrawFn) -> BlockCall:
    extent = st.sampled_from([1, 7, 16, 31, 100, 129, 257])
    return BlockCall(
        element=ELEMENTS[draw(st.sampled_from(["half", "int8"]))],
        m=draw(extent),
        n=draw(extent),
        k=draw(st.sampled_from([1, 15, 33, 64, 200, 300])),
        ta=draw(st.booleans()),
        tb=draw(st.booleans()),
        has_bias=draw(st.booleans()),
        block_num=draw(st.sampled_from([1, 2, 3])),
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(launches())
def test_any_launch_equals_numpy(launch: BlockCall) -> None:
    random = np.random.default_rng(0)
    a = random.integers(-2, 3, (launch.m, launch.k))
    b = random.integers(-2, 3, (launch.k, launch.n))
    bias = random.integers(-9, 10, launch.n) if launch.has_bias else None
    # The library reads the scales of the first columns in every block: only equal ones tell nothing apart.
    scales = np.full(launch.n, 0.5) if launch.has_scales else None
    wanted = (a @ b + (0 if bias is None else bias)) * (0.5 if launch.has_scales else 1)
    result = execute_gemm(launch, a, b, bias=bias, scales=scales)
    assert np.array_equal(result, wanted.astype(np.float16))


def test_scales_of_the_first_columns_serve_every_block() -> None:
    launch = BlockCall(element=ELEMENTS["int8"], m=16, n=256, k=32)
    a, b = np.ones((16, 32), int), np.ones((32, 256), int)
    scales = np.arange(256) / 8
    result = execute_gemm(launch, a, b, scales=scales)
    assert np.array_equal(result[0], 32 * np.tile(scales[:128], 2))


@given(launches(), st.integers(0, 5))
def test_every_stream_takes_what_it_raises(launch: BlockCall, core: int) -> None:
    balance: dict[tuple[object, ...], int] = {}
    for each in gemm_block(replace(launch, block_idx=core)):
        if each["op"] in ("set_flag", "wait_flag"):
            key = tuple(each["args"].values())
            balance[key] = balance.get(key, 0) + (1 if each["op"] == "set_flag" else -1)
    assert not any(balance.values())


def test_no_kernel_of_the_library_is_refused() -> None:
    with pytest.raises(ManyProblems) as caught:
        BlockCall(element=ELEMENTS["bf16"], m=0, n=1, k=1, block_num=0)
    assert len(caught.value.problems) == 3
    with pytest.raises(ProgramError, match="expected operands of half or int8, got float"):
        BlockCall(element=ELEMENTS["float"], m=1, n=1, k=1)
    launch = BlockCall(element=ELEMENTS["int8"], m=1, n=1, k=1)
    with pytest.raises(UsageError, match="no array for scales"):
        execute_gemm(launch, [[1]], [[1]])
