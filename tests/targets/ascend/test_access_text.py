"""Accesses and calls as lines of a trace."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.ascend.access_text import call_lines, parse_access, print_access, read_calls
from pantile.targets.ascend.calls import Call
from pantile.targets.ascend.trace_parse import parse_trace

spans = st.builds(
    lambda buf, lo, length: {"buf": buf, "lo": lo, "hi": lo + length},
    st.sampled_from(["L1", "L0A", "GM_A"]),
    st.integers(0, 10**6),
    st.integers(1, 10**6),
)
accesses = st.fixed_dictionaries(
    {
        "pipe": st.sampled_from(["PIPE_M", "PIPE_FIX"]),
        "label": st.sampled_from(["x", "load a", "k-loop 3", "a.b:c*"[:5]]),
        "reads": st.lists(spans, max_size=3),
        "writes": st.lists(spans, max_size=2),
    },
    optional={"cycles": st.integers(0, 10**6), "unit_flag": st.integers(0, 3)},
)


@given(accesses)
def test_an_access_reads_back(args: dict[str, Any]) -> None:
    parsed = parse_trace(print_access(args), "t")
    assert parsed.instructions == ({"op": "access", "args": args},)
    assert parsed.lines == (1,)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["PIPE_M"], "a pipe and a label"),
        (["PIPE_M", "reads=L1[0:8]"], "a pipe and a label"),
        (["PIPE_M", "x", "reads=L1[8:8]"], "bytes such as"),
        (["PIPE_M", "x", "reads=L1"], "bytes such as"),
        (["PIPE_M", "x", "cycles=-1"], "reads=, writes=, cycles= or unit_flag="),
        (["PIPE_M", "x", "y"], "reads=, writes=, cycles= or unit_flag="),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(texts: list[str], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_access(texts)


def printed(calls: list[Call], count: int) -> str:
    lines: list[str] = []
    for position in range(count + 1):
        lines += call_lines(calls, position)
        lines += ["set_padding(0)"] if position < count else []
    return "\n".join(lines)


@pytest.mark.parametrize(
    "calls",
    [
        [Call("outer", 0, 3, 5), Call("inner", 1, 2, 6, from_library=True)],
        [Call("a", 0, 2, 5), Call("b", 2, 3, 6)],
        [Call("outer", 0, 2, 1), Call("inner", 1, 2, 1)],
        [Call("nothing", 1, 1, 9)],
        [Call("whole", 0, 3, 1)],
    ],
)
def test_calls_read_back(calls: list[Call]) -> None:
    text = printed(calls, 3)
    assert list(read_calls(text, parse_trace(text, "t").lines)) == calls


def test_a_call_that_never_returns_goes_to_the_end_and_a_return_alone_means_nothing() -> None:
    text = "// return\n// call a, line 3\nset_padding(0)\nset_padding(0)"
    assert read_calls(text, parse_trace(text, "t").lines) == (Call("a", 0, 2, 3),)
