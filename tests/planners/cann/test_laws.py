"""Laws of the planner, on random calls: coverage, capacity, and agreement of the two forms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.machine import load_machine
from pantile.planners.cann import fast_kernel, stages
from pantile.planners.cann.asw_basic import asw_basic
from pantile.planners.cann.block_order import BlockOrder, reduction_pieces
from pantile.planners.cann.fast import pick_many
from pantile.planners.cann.figures import Figures
from pantile.planners.cann.gates import BRANCHES, gate
from pantile.planners.cann.limits import violated
from pantile.planners.cann.normalise import figures_of, normalise
from pantile.planners.cann.planner import plan_problem
from pantile.planners.cann.platform import platform_of
from pantile.planners.cann.problem import OperatorProblem
from pantile.planners.cann.reasons import declined
from pantile.tiling.plan import Plan

PLATFORM = platform_of(load_machine("ascend-950pr"))
SIZES = st.one_of(st.integers(1, 80), st.integers(1, 9000), st.sampled_from([16, 64, 128, 256, 1024, 4096]))
BATCHES = st.lists(st.sampled_from([1, 2, 3, 7, 31, 32, 33, 64, 128]), max_size=2)


@st.composite
def calls(draw: st.DrawFn) -> OperatorProblem:
    """Any call that the operator takes, broadcasts and biases included."""
    m, n, k = draw(SIZES), draw(SIZES), draw(st.one_of(st.just(0), SIZES))
    transpose_a, transpose_b = draw(st.booleans()), draw(st.booleans())
    c_batch = tuple(draw(BATCHES))
    a_batch = tuple(draw(st.sampled_from([size, size, 1])) for size in c_batch)
    b_batch = tuple(
        draw(st.sampled_from([size, size, 1])) if a == size else size
        for size, a in zip(c_batch, a_batch, strict=True)
    )
    element, out, biases = draw(
        st.sampled_from(
            [
                ("fp16", "fp16", ("fp16", "fp32")),
                ("bf16", "bf16", ("bf16", "fp32")),
                ("bf16", "fp32", ("fp32",)),
                ("fp32", "fp32", ("fp32",)),
            ]
        )
    )
    bias = draw(st.sampled_from([None, *biases])) if k else None
    return OperatorProblem(
        a_shape=a_batch + ((k, m) if transpose_a else (m, k)),
        b_shape=b_batch + ((n, k) if transpose_b else (k, n)),
        c_shape=(*c_batch, m, n),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_dtype=element,
        b_dtype=element,
        c_dtype=out,
        bias_shape=(n,) if bias else None,
        bias_dtype=bias,
        hf32=draw(st.booleans()),
        b_format=draw(st.sampled_from(["ND", "ND", "FRACTAL_NZ"])),
        offset_x=draw(st.sampled_from([0, 0, 128])),
    )


def figures(call: OperatorProblem, cores: int = 32) -> Figures:
    platform = replace(PLATFORM, cores=cores, vector_cores=2 * cores, soc_cores=cores)
    return figures_of(normalise(call), platform)


def square(batch: int, m: int, n: int, k: int, cores: int = 32, **more: Any) -> Figures:
    shapes = {"a_shape": (batch, m, k), "b_shape": (batch, k, n), "c_shape": (batch, m, n)}
    return figures(OperatorProblem(**shapes, **more), cores)


@given(
    st.integers(1, 5),
    st.integers(1, 130),
    st.integers(1, 130),
    st.integers(1, 3000),
    st.sampled_from([1, 2, 6, 7, 13, 24, 28, 32, 36, 64]),
    st.sampled_from([16, 32, 48, 64]),
    st.sampled_from([16, 32, 128]),
    st.sampled_from([0, 1024]),
)
def test_the_block_order_covers_every_output_once_on_any_number_of_cores(
    batch: int, m: int, n: int, k: int, cores: int, rows: int, columns: int, length: int
) -> None:
    length = length if k > length else 0
    order = BlockOrder(square(batch, m, n, k, cores), rows, columns, reduction_pieces(k, length))
    done = np.zeros((batch, m, n), np.int64)
    busy: Counter[int] = Counter()
    for block in order:
        assert 0 <= block.core < cores
        at = np.s_[
            block.batch,
            block.m_offset : block.m_offset + block.single_m,
            block.n_offset : block.n_offset + block.single_n,
        ]
        done[at] += block.single_k
        busy[block.core] += block.k_offset == 0
        assert block.offset_c == (block.batch * m + block.m_offset) * n + block.n_offset
    assert (done == k).all()
    assert max(busy.values()) - min(busy[core] for core in range(cores)) <= 1


@given(st.integers(1, 40), st.integers(1, 12))
def test_the_order_inside_a_batch_is_that_of_the_kernel(m_count: int, n_count: int) -> None:
    """The kernel's own arithmetic (section 11.2), index by index."""
    window = min(4, m_count)
    full = m_count // window - 1
    expected = []
    for i in range(m_count * n_count):
        w = i // n_count // window
        if w < full:
            m_index, n_index = w * window + i % window, i // window % n_count
        else:
            w, j, tall = full, i - full * window * n_count, m_count - full * window
            m_index, n_index = full * window + j % tall, j // tall % n_count
        expected.append((m_index, n_count - 1 - n_index if w % 2 else n_index))
    order = BlockOrder(square(1, 16 * m_count, 16 * n_count, 16), 16, 16, ((0, 16),))
    assert list(order.swizzle) == expected


@given(calls())
def test_no_tile_exceeds_a_memory(call: OperatorProblem) -> None:
    f = figures(call)
    if f.k == 0:
        return
    asw, info = asw_basic(f), asw_basic(f).packed
    size = f.element_bytes
    assert 2 * asw.base_m * asw.base_k * size <= f.l0a
    assert 2 * asw.base_n * asw.base_k * size <= f.l0b
    assert info.l0c_db * asw.base_m * asw.base_n * 4 <= f.l0c
    chunk = asw.base_k * asw.steps * (asw.base_m + asw.base_n) * size
    assert asw.steps >= 1
    assert chunk * 2 + asw.base_n * f.bias_bytes <= f.l1
    if info.l1_buffer_num == 4:
        assert chunk * 4 <= f.l1
    assert violated(asw) == ""


def test_a_memory_that_is_too_small_is_named_with_both_numbers() -> None:
    f = square(8, 512, 512, 512)
    tiny = f._replace(l1=512)
    assert violated(asw_basic(tiny)).endswith("B of L1, which has 512 B")
    assert violated(asw_basic(f._replace(l0b=1024))) == (
        "a block of 256 x 256 x 64 needs 65536 B of L0B, which has 1024 B"
    )


@given(calls())
def test_any_call_is_classified_and_says_why_each_earlier_branch_declined(call: OperatorProblem) -> None:
    f = figures(call)
    answers = [gate(f, branch) for branch in range(len(BRANCHES))]
    assert answers[-1] == 0
    for branch, answer in enumerate(answers):
        if answer:
            assert declined(f, branch, answer).text
    plan = plan_problem(call, PLATFORM)
    assert plan.feasible
    assert plan.parameters["branch"] == BRANCHES[answers.index(0)]
    named = [each.name for each in plan.decisions if each.stage == "branch"]
    assert named == [*BRANCHES[: answers.index(0)], "branch"]
    assert Plan.from_json(plan.to_json()) == plan
    if plan.tiling is not None:
        assert plan.tiling.volume == plan.predicted["macs"]


def logged(f: Figures) -> list[float]:
    """What the compiled form gives, from the logged form."""
    answers = [gate(f, branch) for branch in range(len(BRANCHES))]
    picked = [answers.index(0), sum((answer == 0) << at for at, answer in enumerate(answers))]
    if BRANCHES[picked[0]] != "ASW_BASIC" or f.k == 0:
        return picked + [0] * (len(fast_kernel.OUTPUTS) - 2)
    asw, info, search = asw_basic(f), asw_basic(f).packed, asw_basic(f).search
    whole = [info.base_m, info.base_n, info.base_k, asw.steps, info.k_l1, info.l1_buffer_num, info.l0c_db]
    whole += [info.ub_db, info.used_core_num, info.l2_cache_disable, stages.interface(f)]
    limits = search.limits
    whole += [int(limits.memory_bound), limits.max_m, limits.max_n, limits.unit_m, limits.unit_n]
    whole += [search.candidates, len(search.updates)]
    return [*picked, *whole, search.rates.edge, search.best.edge, search.best.param, search.best.rate]


@given(calls(), st.sampled_from([8, 24, 32, 36]))
def test_the_form_to_be_compiled_equals_the_logged_one(call: OperatorProblem, cores: int) -> None:
    f = figures(call, cores)
    first = fast_kernel.FIRST_FLOAT
    whole, real = [0] * first, [0.0] * (len(fast_kernel.OUTPUTS) - first)
    fast_kernel.kernel(1)([f], [whole], [real])
    assert [*whole, *real] == logged(f)


@pytest.mark.slow
def test_the_compiled_form_equals_the_logged_one() -> None:
    rng = np.random.default_rng(5)
    problems = []
    for _ in range(400):
        batch, m, n, k = (int(2 ** rng.uniform(0, top)) for top in (8, 13, 13, 13))
        element = str(rng.choice(["fp16", "bf16", "fp32"]))
        ta, tb = (bool(each) for each in rng.integers(0, 2, 2))
        call = OperatorProblem(
            a_shape=(batch, k, m) if ta else (batch, m, k),
            b_shape=(batch, n, k) if tb else (batch, k, n),
            c_shape=(batch, m, n),
            transpose_a=ta,
            transpose_b=tb,
            a_dtype=element,
            b_dtype=element,
            c_dtype=element,
        )
        problems.append(figures(call, int(rng.choice([8, 20, 32, 36]))))
    picks = pick_many(problems)
    for f, pick in zip(problems, picks, strict=True):
        assert list(pick.tolist()) == logged(f)
    assert len({pick["branch"] for pick in picks}) >= 5


def test_a_product_over_nothing_that_no_branch_is_made_for_is_classified() -> None:
    call = OperatorProblem(a_shape=(2, 5, 0), b_shape=(2, 0, 7), c_shape=(2, 5, 7), b_format="FRACTAL_NZ")
    plan = plan_problem(call, PLATFORM)
    assert (plan.parameters["branch"], plan.tiling) == ("ASW_BASIC", None)
    assert str(plan.notes[0]).startswith("model: the search divides by k = 0")


def test_sizes_that_the_compiled_form_cannot_count_are_refused() -> None:
    with pytest.raises(OverflowError, match="problem 1 has sizes whose product passes 62 bits"):
        pick_many([square(1, 16, 16, 16), square(2, 2**31 - 1, 2**31 - 1, 16)])
