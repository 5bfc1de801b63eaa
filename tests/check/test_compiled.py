"""Kernels run the same on lists and compiled."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from pantile.check.compiled import pack, run_kernel, vector


class Two(NamedTuple):
    left: np.ndarray
    right: np.ndarray


def test_pack_puts_columns_one_after_the_other_and_leaves_room_for_numbers() -> None:
    packed, views = pack(Two(np.array([7, 8]), np.array([9])), numbers=1)
    assert packed.tolist() == [3, 5, 0, 7, 8, 9]
    views.right[0] = 5
    assert packed.tolist() == [3, 5, 0, 7, 8, 5]


def test_vector_is_int64() -> None:
    assert vector([True, False]).dtype == np.int64


def arguments() -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Columns of group_kernel.run: four accesses by two chains to one memory."""
    one = np.ones(4, np.int64)
    given = (
        np.arange(4),
        one,
        0 * one,
        np.array([0, 0, 8, 0]),
        8 * one,
        one,
        0 * one,
        np.array([0, 1, 1, 0]),
        0 * one[:2],
    )
    state = (
        np.array([-1]),
        np.array([1 << 40]),
        np.zeros(1, np.int64),
        np.full(8, -1),
        np.full(4, -1),
        np.zeros(4, np.int64),
    )
    return given, state


def test_lists_are_written_back() -> None:
    given, state = arguments()
    assert run_kernel("pantile.check.group_kernel", "run", given, state, compiled=False) == 3
    assert state[4].tolist() == [0, 1, 2, 0]


@pytest.mark.slow
def test_compiled_gives_the_same_and_says_when_it_compiles() -> None:
    given, plain = arguments()
    run_kernel("pantile.check.group_kernel", "run", given, plain, compiled=False)
    given, fast = arguments()
    calls: list[int] = []
    for _ in range(2):
        given, fast = arguments()
        run_kernel(
            "pantile.check.group_kernel",
            "run",
            given,
            fast,
            compiled=True,
            on_compile=lambda: calls.append(1),
        )
    assert len(calls) <= 1
    assert [each.tolist() for each in fast] == [each.tolist() for each in plain]


def test_a_small_check_loads_no_compiler() -> None:
    code = """
import sys
from pantile.check.program import check_program
from pantile.targets.ascend.trace import program_of_trace
access = {"op": "access", "args": {"pipe": "PIPE_V", "label": "", "reads": [], "writes": []}}
assert check_program(program_of_trace([access] * 100)).ok
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
