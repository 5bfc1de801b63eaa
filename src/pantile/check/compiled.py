"""One source, two speeds: functions that run as they stand, or compiled where the work is large.

A kernel module holds functions that index one-dimensional sequences of integers and call one another. They
run on lists without compiling anything, and on arrays once Numba has compiled them.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

COMPILED_FROM = 50_000
"""Operations from which on compiling is worth its time; below, a first answer compiles nothing."""


def run_kernel(
    module: str,
    entry: str,
    given: tuple[np.ndarray, ...],
    state: tuple[np.ndarray, ...],
    *,
    compiled: bool,
    on_compile: Callable[[], None] = lambda: None,
) -> Any:
    """Call function *entry* of kernel *module* on vectors, and return its result.

    Args:
        module: Full name of the module.
        entry: The function.
        given: What it reads: its first arguments.
        state: What it reads and writes: the others.
        compiled: Whether to compile it; the result is the same.
        on_compile: Called before anything is compiled.
    """
    if compiled:
        kernel = _kernel(module, entry)
        if not kernel.signatures and not kernel._cache._cache_file._load_index():
            on_compile()
        return kernel(*given, *state)
    writes = [column.tolist() for column in state]
    result = getattr(import_module(module), entry)(*(column.tolist() for column in given), *writes)
    for column, values in zip(state, writes, strict=True):
        column[:] = values
    return result


@lru_cache(maxsize=16)
def _kernel(module: str, entry: str) -> Any:
    """Compile the module's functions under the names by which they call one another.

    Only the entry is kept on the disk; what it calls is part of it. Numba compiles it anew when its file
    changes, so a kernel calls no function of another file.
    """
    from numba import njit

    scope = dict(vars(import_module(module)))
    for name, value in list(scope.items()):
        if isinstance(value, FunctionType) and value.__module__ == module:
            twin = FunctionType(value.__code__, scope, name, value.__defaults__)
            scope[name] = njit(cache=name == entry, error_model="numpy", _nrt=False)(twin)
    return scope[entry]


Columns = TypeVar("Columns", bound=tuple[np.ndarray, ...])


def pack(columns: Columns, numbers: int = 0) -> tuple[np.ndarray, Columns]:
    """Return columns as one vector of int64, and views of it in their place.

    A kernel that is handed many arrays spends its time copying their descriptions. Element *k* of the vector
    is where column *k* begins; then come *numbers* zeros for single numbers.

    Args:
        columns: A named tuple of vectors.
        numbers: How many single numbers to leave room for.
    """
    head = len(columns) + numbers
    starts = head + np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    packed = np.empty(starts[-1], np.int64)
    packed[:head] = 0
    packed[: len(columns)] = starts[:-1]
    views = [packed[start : start + len(column)] for start, column in zip(starts, columns, strict=False)]
    for view, column in zip(views, columns, strict=True):
        view[:] = column
    return packed, type(columns)(*views)


def vector(values: Any) -> np.ndarray:
    """Return *values* as a vector of int64 that a kernel may read."""
    return np.ascontiguousarray(values, np.int64)
