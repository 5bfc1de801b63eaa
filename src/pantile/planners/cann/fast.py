"""Branch and base block of many problems at once, compiled, without the log.

The rules are those of ``gates.py``, ``search.py`` and ``stages.py`` themselves: they are compiled as they
stand, and only the loop over candidates is written again. Where compiling is not worth it, use
:func:`~pantile.planners.cann.asw_basic.asw_basic`.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.planners.cann.fast_kernel import FIRST_FLOAT, OUTPUTS, kernel
from pantile.planners.cann.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

_RULES = ("integers", "gates", "search", "stages", "fast_kernel")
_PACKAGE = "pantile.planners.cann"

PICK = np.dtype([(name, "f8" if at >= FIRST_FLOAT else "i8") for at, name in enumerate(OUTPUTS)])
"""One row a problem: ``branch`` is a position in ``gates.BRANCHES``, ``capable`` has bit *i* where that
branch would take it; the others are figures of ASW_BASIC, 0 where another branch has the problem."""

_EXACT = 2.0**62


def pick_many(problems: Sequence[Figures]) -> npt.NDArray[np.void]:
    """Return what the planner picks for each problem, rows of :data:`PICK` in order.

    The first call compiles, unless that is on the disk already.

    Raises:
        OverflowError: If a product of a problem's sizes passes 62 bits, which the compiled form cannot count.
    """
    table = np.array(problems, dtype=np.int64).reshape(len(problems), len(Figures._fields))
    _refuse_huge(table)
    picks = np.zeros(len(table), PICK)
    whole = np.zeros((len(table), FIRST_FLOAT), np.int64)
    real = np.zeros((len(table), len(OUTPUTS) - FIRST_FLOAT), np.float64)
    _compiled()(table, whole, real)
    for at, name in enumerate(OUTPUTS):
        picks[name] = whole[:, at] if at < FIRST_FLOAT else real[:, at - FIRST_FLOAT]
    return picks


def _refuse_huge(table: npt.NDArray[np.int64]) -> None:
    """Refuse sizes whose bytes, padded to fractals and to four batches, would not fit in a word."""
    named = {name: table[:, at].astype(float) + 16 for at, name in enumerate(Figures._fields)}
    m, n, k = named["m"], named["n"], named["k"]
    batches = np.maximum.reduce([named["batch_a"], named["batch_b"], named["batch_c"]])
    largest = 64 * batches * np.maximum.reduce([m * n, m * k, n * k])
    if (largest > _EXACT).any():
        worst = int(np.argmax(largest > _EXACT))
        raise OverflowError(f"problem {worst} has sizes whose product passes 62 bits")


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., None]:
    """Compile the kernel and every rule that it calls, or read them from the disk."""
    from numba import njit

    scope: dict[str, Any] = {}
    digest = sha256()
    modules = [import_module(f"{_PACKAGE}.{name}") for name in _RULES]
    for module in modules:
        scope |= vars(module)
        digest.update(Path(str(module.__file__)).read_bytes())
    digest.update(Path(str(import_module(f"{_PACKAGE}.figures").__file__)).read_bytes())
    names = {module.__name__ for module in modules}
    for name, value in list(scope.items()):
        if isinstance(value, FunctionType) and value.__module__ in names and name != kernel.__name__:
            twin = FunctionType(value.__code__, scope, name, value.__defaults__)
            scope[name] = njit(error_model="numpy")(twin)
    scope["figures"] = njit(_figures(len(Figures._fields)))
    # Numba's cache knows the file of the entry only; the stamp, part of what it compares, stands for all.
    stamp = int.from_bytes(digest.digest()[:7], "little")
    entry = FunctionType(kernel.__code__, scope, kernel.__name__)(stamp)
    try:
        return _jit(njit, entry, cache=True)
    except RuntimeError:  # no folder to keep it in: every process compiles anew
        return _jit(njit, entry, cache=False)


def _figures(count: int) -> Callable[[Any], Figures]:
    """Return what makes figures of a row: compiled code takes a tuple apart only if its length is known."""
    from numba.np.unsafe.ndarray import to_fixed_tuple

    def figures(row: Any) -> Figures:
        return Figures(*to_fixed_tuple(row, count))

    return figures


def _jit(njit: Any, entry: Callable[..., None], *, cache: bool) -> Callable[..., None]:
    compiled: Callable[..., None] = njit(cache=cache, error_model="numpy")(entry)
    return compiled
