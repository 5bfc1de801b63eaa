"""The kinds of case files, told apart by what they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pantile.conform import gemm_core, mma_tile, sync_cases
from pantile.conform.cann import detect as cann
from pantile.conform.onnxim import detect as onnxim
from pantile.conform.result import CaseOutcome

Checker = Callable[[Any, str, Callable[[], None]], list[CaseOutcome]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of case files.

    Attributes:
        name: What messages call it.
        matches: Whether a file's value is of this kind; looks at its outermost keys alone.
        check: Return the outcomes of a file's value. Its other arguments are the file's name without
            extension, for cases that bear no name, and what is called before anything is compiled.
    """

    name: str
    matches: Callable[[Any], bool]
    check: Checker


KINDS = (
    Kind("onnxim run", onnxim.is_run, onnxim.check_run),
    Kind("onnxim mapping table", onnxim.is_mapping_table, onnxim.check_mapping_table),
    Kind("onnxim failures", onnxim.is_failures, onnxim.check_failures),
    Kind("synchronisation case", sync_cases.is_case, sync_cases.check_case),
    Kind("mma_tile call", mma_tile.is_case, mma_tile.check_case),
    Kind("gemm core", gemm_core.is_case, gemm_core.check_case),
    Kind("gemm swizzle table", gemm_core.is_swizzle_table, gemm_core.check_swizzle_table),
    Kind("cann case", cann.is_cases, cann.check_cases),
    Kind("cann block order", cann.is_block_orders, cann.check_block_orders),
    Kind("cann random table", cann.is_random_table, cann.check_random_table),
    Kind("cann unit test", cann.is_unit_tests, cann.check_unit_tests),
    Kind("cann unit test of MatMulV3", cann.is_other_unit_tests, cann.skip_unit_tests),
)
"""Every kind that this version knows; no file is of two."""


def kind_of(value: Any) -> Kind | None:
    """Return the kind of a file's *value*, or ``None`` where it is of none."""
    return next((kind for kind in KINDS if kind.matches(value)), None)
