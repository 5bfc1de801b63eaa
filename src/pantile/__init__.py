"""How a matrix product is cut, ordered, checked and timed on tiled accelerators.

The verbs :func:`plan`, :func:`lower`, :func:`check`, :func:`simulate`, :func:`execute` and
:func:`view` take what the command line takes, or values, and return values that print and serialise
themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pantile.conform.run import conform
    from pantile.errors import PantileError
    from pantile.machine import Machine, load_machine
    from pantile.program.language.load import load_program
    from pantile.verbs.check import check
    from pantile.verbs.execute import execute
    from pantile.verbs.lower import lower
    from pantile.verbs.plan import plan
    from pantile.verbs.simulate import simulate
    from pantile.verbs.view import view
    from pantile.workload.load import load_workload
    from pantile.workload.matmul import Matmul

__version__ = "0.1.0"

_HOMES = {
    "Machine": "pantile.machine",
    "Matmul": "pantile.workload.matmul",
    "PantileError": "pantile.errors",
    "check": "pantile.verbs.check",
    "conform": "pantile.conform.run",
    "execute": "pantile.verbs.execute",
    "load_machine": "pantile.machine",
    "load_program": "pantile.program.language.load",
    "load_workload": "pantile.workload.load",
    "lower": "pantile.verbs.lower",
    "plan": "pantile.verbs.plan",
    "simulate": "pantile.verbs.simulate",
    "view": "pantile.verbs.view",
}

__all__ = [
    "Machine",
    "Matmul",
    "PantileError",
    "__version__",
    "check",
    "conform",
    "execute",
    "load_machine",
    "load_program",
    "load_workload",
    "lower",
    "plan",
    "simulate",
    "view",
]


# Importing a sub-package binds its name here, and some verbs share theirs with one. Loaded once and unbound,
# the names are free for the verbs; `pantile.check.report` and the like are found all the same.
for _package in ("check", "conform", "simulate", "view"):
    import_module(f"{__name__}.{_package}")
    del globals()[_package]


def __getattr__(name: str) -> Any:
    # Verbs are loaded when they are first asked for: importing the package must cost next to nothing.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
