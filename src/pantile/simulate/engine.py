"""The static event engine: plain for small programs, compiled for large ones; both give the same times."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pantile.simulate import layout as at
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.memory import lay_out, read_run

if TYPE_CHECKING:
    from pantile.simulate.bound import BoundProgram
    from pantile.simulate.outcome import Run

SMALL = 5_000
"""Operations up to which the plain engine takes less time than loading the compiled one."""

LARGE = 100_000
"""Operations from which on compiling takes less time than the plain engine."""


def run(bound: BoundProgram) -> Run:
    """Return when each operation of *bound* happens, on the engine that is faster for its size."""
    if bound.operations <= SMALL or (bound.operations <= LARGE and not is_compiled()):
        return run_plain(bound)
    return run_compiled(bound)


def run_compiled(bound: BoundProgram) -> Run:
    """Run *bound* on the compiled engine, which compiles at the first call on a computer."""
    from pantile.simulate.kernel import PAUSED  # Numba is loaded only when it is needed

    fill, kernel = _kernel()
    memory = lay_out(bound, fill)
    address = memory.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert memory[at.STAMP] == _stamp()
    while kernel(address, memory.size) == PAUSED:
        pass
    assert memory[at.STAMP] == _stamp()
    return read_run(memory, bound)


def is_compiled() -> bool:
    """Whether the compiled engine is at hand, in this process or on the disk; else a run compiles first."""
    from pantile.simulate.kernel import is_cached

    return _kernel.cache_info().currsize > 0 or is_cached(_stamp())


@lru_cache(maxsize=1)
def _kernel() -> tuple[Any, Any]:
    from pantile.simulate.kernel import build
    from pantile.simulate.kernel_layout import build_layout

    return build_layout(_stamp()), build(_stamp())


@lru_cache(maxsize=1)
def _stamp() -> int:
    """Return a number that stands for the text of everything that is compiled."""
    digest = sha256()
    folder = Path(__file__).parent
    for path in (*sorted(folder.glob("kernel*.py")), folder / "layout.py"):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:7], "little")
