"""What is computed, in the figures that the analysis reads.

Source: asw-theory.md section 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, WorkloadError

if TYPE_CHECKING:
    from pantile.workload.dtypes import Dtype
    from pantile.workload.matmul import Matmul


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A batched product ``out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]``.

    Attributes:
        batch: Outputs.
        m: Rows of one output, in elements; likewise n and k.
        element_bytes: Bytes of one input element.
        out_bytes: Bytes of one output element.
        a_batch: Distinct left operands; 0 means one per output. Likewise b_batch.
        transpose_a: The left operand is stored as ``[k, m]``.
        transpose_b: The right operand is stored as ``[n, k]``.

    Raises:
        WorkloadError: If a size is below 1.
    """

    batch: int = 1
    m: int
    n: int
    k: int
    element_bytes: int = 2
    out_bytes: int = 2
    a_batch: int = 0
    b_batch: int = 0
    transpose_a: bool = False
    transpose_b: bool = False

    def __post_init__(self) -> None:
        named = {"batch": self.batch, "m": self.m, "n": self.n, "k": self.k}
        named |= {"element_bytes": self.element_bytes, "out_bytes": self.out_bytes}
        for name, size in named.items():
            if size < 1:
                raise WorkloadError(f"planner asw needs {name} of at least 1, got {size}")

    @property
    def shares(self) -> tuple[bool, bool]:
        """Whether all outputs read the same left operand, and the same right one."""
        return self.batch > 1 and self.a_batch == 1, self.batch > 1 and self.b_batch == 1

    @property
    def left_bytes(self) -> int:
        """Bytes of one left operand."""
        return self.m * self.k * self.element_bytes

    @property
    def right_bytes(self) -> int:
        """Bytes of one right operand."""
        return self.k * self.n * self.element_bytes

    @property
    def input_bytes(self) -> int:
        """Bytes of all inputs, each counted once (S_in)."""
        lefts, rights = self.a_batch or self.batch, self.b_batch or self.batch
        return lefts * self.left_bytes + rights * self.right_bytes

    @property
    def output_bytes(self) -> int:
        """Bytes of all outputs (S_out)."""
        return self.batch * self.m * self.n * self.out_bytes

    @property
    def flops(self) -> int:
        """Floating-point operations of the whole product."""
        return 2 * self.batch * self.m * self.n * self.k


def problem_of(product: Matmul, default: Dtype) -> Problem:
    """Return the problem that *product* is, of element type *default* where it names none.

    Raises:
        WorkloadError: If a size is below 1.
        OutsideModelError: If the analysis does not cover the element type or an option.
    """
    element = product.dtype or default
    out = product.out or element
    if element.bits % 8 or out.bits % 8:
        raise OutsideModelError(f"planner asw computes in whole bytes, got {element} to {out}")
    if product.nz:
        raise OutsideModelError("planner asw is about ND operands, got nz", mend="leave nz out")
    lefts, rights = (_distinct(product, operand) for operand in ("a", "b"))
    return Problem(
        batch=product.batch,
        m=product.m,
        n=product.n,
        k=product.k,
        element_bytes=element.bits // 8,
        out_bytes=out.bits // 8,
        a_batch=lefts,
        b_batch=rights,
        transpose_a=product.transpose_a,
        transpose_b=product.transpose_b,
    )


def _distinct(product: Matmul, operand: str) -> int:
    shape = product.a_batch if operand == "a" else product.b_batch
    count = 1
    for size in shape:
        count *= size
    return count
