"""Texts of single calls, and what is wrong with them."""

from __future__ import annotations

import pytest

from pantile.errors import ManyProblems, WorkloadError
from pantile.workload.dtypes import DTYPES
from pantile.workload.tilecall import is_tile_call, parse_tile_call

BARE = "mma-tile:m=16,n=32,k=0,dtype=half"


def test_everything_that_a_text_can_say() -> None:
    call = parse_tile_call(
        "mma-tile: m=16,n=32,k=64,dtype=fp32,ta,tb,hf32,bias=fp16,init=0,unit_flag=3,kloop=2,events=a:0+b:31"
    )
    assert (call.m, call.n, call.k, call.dtype) == (16, 32, 64, DTYPES["fp32"])
    assert (call.transpose_a, call.transpose_b, call.hf32, call.init) == (True, True, True, False)
    assert (call.bias, call.unit_flag, call.kloop) == (DTYPES["fp16"], 3, 2)
    assert call.events == (("a", 0), ("b", 31))
    assert call.place("bias").column == 48


def test_what_is_left_out() -> None:
    call = parse_tile_call(BARE)
    assert (call.k, call.dtype.name, call.init, call.unit_flag) == (0, "fp16", True, 0)
    assert (call.bias, call.kloop, call.events) == (None, None, ())
    assert call.place("bias").column == 1


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("mma-tile:m=1,n=1,k=1", 1, "mma-tile: lacks dtype; add dtype=fp16"),
        (f"{BARE},ta=1", 35, "ta takes no value, got '1'; write ta, or leave it out"),
        (f"{BARE},bias", 35, "bias needs a value; write bias=fp32"),
        (f"{BARE},init=2", 35, "init must be at most 1, got 2"),
        (f"{BARE},unit_flag=4", 35, "unit_flag must be at most 3, got 4"),
        (f"{BARE},kloop=-1", 35, "kloop must be at least 0, got -1"),
        (f"{BARE},events=", 35, "events needs a value; write events=NAME:0+NAME:1"),
        (f"{BARE},events=a", 35, "expected NAME:ID, got 'a'; write events=NAME:0+NAME:1"),
        (f"{BARE},events=a:0+a:1", 35, "event a is given twice"),
        (f"{BARE},events=a:x", 35, "the id of event a must be an integer, got 'x'"),
        (f"{BARE},b=8", 35, "unknown key 'b' in mma-tile:"),
        ("mma-tile:m=-1,n=1,k=1,dtype=fp16", 10, "m must be at least 0, got -1"),
    ],
)
def test_a_wrong_token_is_told_with_its_column(text: str, column: int, told: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        parse_tile_call(text)
    assert str(caught.value).startswith(f"{text}:{column}: {told}")


def test_all_problems_are_told_together() -> None:
    with pytest.raises(ManyProblems) as caught:
        parse_tile_call("mma-tile:m=x,dtype=int9,init=7")
    assert len(caught.value.problems) == 4


def test_what_is_a_call() -> None:
    assert is_tile_call(BARE)
    assert is_tile_call("mma-tile:")
    assert not is_tile_call("gemm:m=1,n=1,k=1")
    assert not is_tile_call("mma-tile")
    assert not is_tile_call(3)
