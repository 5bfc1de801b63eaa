"""Executed streams of ``mma_tile`` give what NumPy gives, and show where the library is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.program import check_program
from pantile.errors import ProgramError, UsageError
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.memref import dense
from pantile.targets.ascend.mma_call import Bias, Events, MmaCall
from pantile.targets.ascend.mma_caller import in_caller
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_execute import execute_mma
from pantile.targets.ascend.mma_json import call_of_json, json_of_call
from pantile.targets.ascend.mma_tile import REVISIONS, Revision, mma_tile
from pantile.targets.ascend.numbers import round_to_hf32
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trace_parse import parse_trace
from pantile.targets.ascend.trace_text import print_trace

GOLDEN = Path(__file__).parents[2] / "golden" / "mma_tile"
CASES = sorted(each.stem for each in GOLDEN.glob("*.json"))


def recorded_call(name: str) -> MmaCall:
    """Return the call of a recorded case."""
    return call_of_json(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["input"])


def arrays(mma: MmaCall, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
    """Return operands of whole or half numbers, of which every sum is exact in any order."""
    random = np.random.default_rng(seed)
    twice = 2 if mma.element.is_int4 else 1
    half = 2 if mma.element.accumulator == "float" else 1
    m, n, k = mma.m, twice * mma.n, twice * mma.k
    found: dict[str, npt.NDArray[Any]] = {
        "a": random.integers(-8, 8, (m, k)),
        "b": random.integers(-8, 8, (k, n)),
        "c": random.integers(-99, 99, (m, n)),
    }
    if half == 2:
        found = {name: values / 2 for name, values in found.items()}
    if mma.bias is not None:
        found["bias"] = random.integers(-9, 9, n)
    return found


def expected(mma: MmaCall, given: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return what NumPy says."""
    product = given["a"] @ given["b"]
    if not mma.init:
        return np.asarray(given["c"] + product)
    return np.asarray(product + given.get("bias", 0))


OF_NO_DEFINED_FLOW = {
    "half_big_k2048": "its operands overlap in L1 as they were placed",
    "int4_nn_big": "the library's parts of the right operand do not fit those of the left one",
    "int4_tb": "the library loads no transposed right operand of int4",
    "trap_2064": "it traps",
    "trap_uf_was": "it traps",
    "zero_k": "nothing is computed, so that L0C keeps what it held",
}
ROOMY = {**BUFFERS_220X, "L1": 1 << 22}
"""Recorded blocks lie apart from what fits an L1."""


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", [name for name in CASES if name not in OF_NO_DEFINED_FLOW])
def test_every_recorded_call_with_a_data_flow_equals_numpy(name: str, revision: Revision) -> None:
    mma = recorded_call(name)
    given = arrays(mma)
    assert np.array_equal(execute_mma(mma, **given, revision=revision), expected(mma, given))


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_operands_that_overlap_as_recorded_equal_numpy_once_they_are_apart(revision: Revision) -> None:
    mma = recorded_call("half_big_k2048")
    given = arrays(mma)
    assert not np.array_equal(
        execute_mma(mma, **given, revision=revision, capacities=ROOMY), expected(mma, given)
    )
    apart = replace(mma, b=replace(mma.b, base=2 * mma.a.elements))
    assert np.array_equal(
        execute_mma(apart, **given, revision=revision, capacities=ROOMY), expected(mma, given)
    )


def test_int4_with_a_transposed_right_operand_never_looks_at_it() -> None:
    mma = recorded_call("int4_tb")
    given = arrays(mma)
    result = execute_mma(mma, **given)
    assert not np.array_equal(result, expected(mma, given))
    other = {**given, "b": np.zeros_like(given["b"])}
    assert np.array_equal(execute_mma(mma, **other), result)
    stale = np.full_like(given["b"], -1)  # what nobody wrote is all ones
    assert np.array_equal(result, given["a"] @ stale)


def test_int4_in_several_parts_reaches_beyond_l0b() -> None:
    mma = recorded_call("int4_nn_big")
    with pytest.raises(ProgramError, match="67584 B of L0B are reached, which has 65536 B"):
        execute_mma(mma, **arrays(mma))
    given = arrays(mma)
    result = execute_mma(mma, **given, capacities={**BUFFERS_220X, "L0B": 1 << 20})
    assert not np.array_equal(result, expected(mma, given))


def test_int4_in_several_parts_is_right_where_the_right_operand_is_the_wider_one() -> None:
    mma = default_call(ELEMENTS["int4"], 16, 128, 300)
    given = arrays(mma)
    assert np.array_equal(execute_mma(mma, **given), expected(mma, given))


def test_a_trap_is_told() -> None:
    mma = recorded_call("trap_2064")
    with pytest.raises(ProgramError, match=r"stream:1: the program traps here"):
        execute_mma(mma, **arrays(mma), capacities={**BUFFERS_220X, "L0C": 1 << 20})


def test_no_work_leaves_what_l0c_held() -> None:
    mma = recorded_call("zero_k")
    given = arrays(mma)
    assert np.array_equal(execute_mma(mma, **given), given["c"])


def test_hf32_rounds_what_fp32_keeps() -> None:
    mma = replace(recorded_call("hf32_nn"))
    a, b = np.full((mma.m, mma.k), 1 + 2**-13, np.float32), np.ones((mma.k, mma.n), np.float32)
    assert np.all(execute_mma(mma, a, b) == mma.k)
    kept = execute_mma(replace(mma, hf32=False), a, b)
    assert np.all(kept > mma.k)
    random = np.random.default_rng(1)
    a, b = random.standard_normal(a.shape), random.standard_normal(b.shape)
    rounded = round_to_hf32(a).astype(float) @ round_to_hf32(b).astype(float)
    assert np.allclose(execute_mma(mma, a, b), rounded, rtol=1e-5, atol=1e-5)


def test_bf16_rounds_its_operands_and_sums_in_fp32() -> None:
    mma = default_call(ELEMENTS["bf16"], 16, 16, 32)
    a = np.full((16, 32), 1 + 2**-9, np.float32)  # rounds to 1
    assert np.all(execute_mma(mma, a, np.ones((32, 16))) == 32)


sizes = st.sampled_from([1, 3, 7, 15, 16, 17, 31, 33, 48, 65, 100])


@st.composite
def calls(draw: st.DrawFn) -> MmaCall:
    """Calls of every type, transpose, bias and set of events that the library has."""
    element = ELEMENTS[draw(st.sampled_from(sorted(ELEMENTS)))]
    ta = draw(st.booleans()) and not element.is_int4
    tb = draw(st.booleans()) and not element.is_int4
    biases = {"int8": [None, "int32"], "int4": [None]}.get(element.name, [None, "half", "float"])
    m, n = draw(sizes), draw(sizes)
    k = draw(st.one_of(sizes, st.integers(1, 64) if element.is_int4 else st.integers(200, 500)))
    mma = default_call(element, m, n, k, ta=ta, tb=tb, bias=draw(st.sampled_from(biases)))
    events = draw(
        st.sampled_from([Events(), Events(l1a_wait=0, l1b_set=3, back0=0, back1=1), Events(back1=5, kloop=1)])
    )
    init = draw(st.booleans())
    return replace(mma, init=init, events=events, unit_flag=draw(st.sampled_from([0, 2, 3])))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(calls(), st.sampled_from(REVISIONS))
def test_any_call_equals_numpy(mma: MmaCall, revision: Revision) -> None:
    given_arrays = arrays(mma)
    result = execute_mma(mma, **given_arrays, revision=revision)
    assert np.array_equal(result, expected(mma, given_arrays))


@settings(deadline=None, max_examples=200)
@given(calls(), st.sampled_from(REVISIONS))
def test_flags_that_a_call_primes_itself_are_all_taken(mma: MmaCall, revision: Revision) -> None:
    """What is set and not taken, or taken and not set, are the caller's flags alone."""
    stream = mma_tile(mma, revision).instructions
    balance: dict[tuple[str, str, int], int] = {}
    for each in stream:
        if each["op"] in ("set_flag", "wait_flag"):
            key = (each["args"]["src_pipe"], each["args"]["dst_pipe"], each["args"]["event_id"])
            balance[key] = balance.get(key, 0) + (1 if each["op"] == "set_flag" else -1)
    events = mma.events
    owed: dict[tuple[str, str, int], int] = {}
    for event, key_of, sign in (
        (events.l1a_wait, ("PIPE_MTE2", "PIPE_MTE1"), -1),
        (events.l1b_wait, ("PIPE_MTE2", "PIPE_MTE1"), -1),
        (events.l1a_set, ("PIPE_MTE1", "PIPE_MTE2"), 1),
        (events.l1b_set, ("PIPE_MTE1", "PIPE_MTE2"), 1),
    ):
        if event >= 0:
            owed[(*key_of, event)] = owed.get((*key_of, event), 0) + sign
    assert {key: count for key, count in balance.items() if count} == owed


@settings(deadline=None, max_examples=100)
@given(calls(), st.sampled_from(REVISIONS))
def test_any_stream_is_read_back_from_its_text(mma: MmaCall, revision: Revision) -> None:
    stream = mma_tile(mma, revision).instructions
    assert json.dumps(parse_trace(print_trace(stream), "t").instructions) == json.dumps(stream)
    assert call_of_json(json.loads(json.dumps(json_of_call(mma)))) == mma


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(calls())
def test_any_call_of_revision_seed_is_ordered_under_every_timing(mma: MmaCall) -> None:
    """In a caller that keeps its flags. The bias, which nothing guards, is left out, and so is ``head``."""
    whole = in_caller(replace(mma, bias=None), mma_tile(replace(mma, bias=None), "seed").instructions)
    report = check_program(program_of_trace(whole.stream, "t", lines=whole.lines, unit_flags=True))
    assert not [each for each in report.findings if each.severity == "error"]


def test_arrays_that_do_not_fit_are_refused() -> None:
    mma = default_call(ELEMENTS["half"], 4, 5, 6)
    a, b = np.zeros((4, 6)), np.zeros((6, 5))
    with pytest.raises(UsageError, match=r"a is \(4, 6\), got an array of shape \(6, 4\)"):
        execute_mma(mma, a.T, b)
    with_bias = replace(mma, bias=Bias("float", dense(500_000, (1, 1, 1, 5))))
    with pytest.raises(UsageError, match="no array for bias"):
        execute_mma(with_bias, a, b)
    int4 = default_call(ELEMENTS["int4"], 4, 5, 6)
    with pytest.raises(UsageError, match="from -8 to 7"):
        execute_mma(int4, np.full((4, 12), 8), np.zeros((12, 10), int))
