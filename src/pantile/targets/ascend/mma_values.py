"""Whether a call of ``mma_tile`` computes what it should: executed on small numbers, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.report import Finding, Report
from pantile.errors import ProgramError
from pantile.targets.ascend.mma_execute import execute_mma
from pantile.targets.ascend.trial import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.targets.ascend.mma_call import MmaCall
    from pantile.targets.ascend.mma_tile import Revision
    from pantile.targets.ascend.numbers import Numbers

_DATA = f"on small integers (seed {SEED})"


def check_values(mma: MmaCall, revision: Revision, capacities: Mapping[str, int]) -> Report:
    """Report a call whose result, executed in the order of its stream, is not NumPy's.

    The numbers are so small that every sum is exact in any order. A call without work, and one that reaches
    beyond a buffer, are not executed.

    Args:
        mma: The call.
        revision: Of the library.
        capacities: Bytes of each buffer.
    """
    if 0 in (mma.m, mma.n, mma.k):
        return Report()
    given = _operands(mma)
    try:
        result = execute_mma(mma, **given, revision=revision, capacities=capacities)
    except ProgramError:  # which the check of capacities tells
        return Report()
    wanted = given["a"] @ given["b"] + (given.get("bias", 0) if mma.init else given["c"])
    wrong = np.argwhere(result != wanted)
    if not len(wrong):
        return Report(proved=(f"values: executed as listed {_DATA}, the result is NumPy's",))
    row, column = map(int, wrong[0])
    finding = Finding(
        code="PT-COVERAGE",
        severity="error",
        sentence=f"{len(wrong)} of {result.size} elements of the result are not NumPy's",
        evidence=f"executed as listed {_DATA}, element ({row}, {column}) is {result[row, column]:g}, "
        f"not {wanted[row, column]:g}",
        grade="wrong value",
        mend="do not use this call: the library itself is wrong here",
    )
    return Report((finding,))


def _operands(mma: MmaCall) -> dict[str, Numbers]:
    random, twice = np.random.default_rng(SEED), 2 if mma.element.is_int4 else 1
    m, n, k = mma.m, twice * mma.n, twice * mma.k
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n)} | ({"bias": (n,)} if mma.bias is not None else {})
    return {name: random.integers(-4, 5, size) for name, size in sizes.items()}
