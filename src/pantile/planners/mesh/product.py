"""The product to plan: its sizes, element types and the order in which its operands are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError
from pantile.workload.dtypes import DTYPES, Dtype, dtype

if TYPE_CHECKING:
    from pantile.workload.matmul import Matmul

BY_PRECISION = {1: "int8", 2: "bf16", 4: "fp32"}
"""Element type of a machine whose elements have that many bytes."""


@dataclass(frozen=True, slots=True)
class Product:
    """A batch of products of equal sizes.

    Attributes:
        sizes: Products, rows, columns and reduction.
        dtypes: Element types of a, b and the output.
        subscripts: The sum, with the dimensions of each operand in the order in which it is stored.
    """

    sizes: tuple[int, int, int, int]
    dtypes: tuple[str, str, str]
    subscripts: str

    @property
    def widths(self) -> tuple[int, int, int]:
        """Bytes of an element of a, b and the output."""
        a, b, out = (DTYPES[name].bits // 8 for name in self.dtypes)
        return a, b, out

    @property
    def operand_bytes(self) -> tuple[int, int, int]:
        """Bytes of a, b and the output, all products together."""
        (batch, m, n, k), (a, b, out) = self.sizes, self.widths
        return batch * m * k * a, batch * k * n * b, batch * m * n * out


def product_of(matmul: Matmul, precision: int) -> Product:
    """Return the product to plan.

    Args:
        matmul: What is computed.
        precision: Bytes of an element on the machine, where the product names no type.

    Raises:
        OutsideModelError: If a mesh does not compute such a product here.
    """
    element = matmul.dtype or _by_precision(precision)
    out = _summed_in(element)
    for why in _outside(matmul, element, out):
        raise OutsideModelError(why)
    a = "bkm" if matmul.transpose_a else "bmk"
    b = "bnk" if matmul.transpose_b else "bkn"
    sizes = (matmul.batch, matmul.m, matmul.n, matmul.k)
    return Product(sizes, (element.name, element.name, out.name), f"{a},{b}->bmn")


def _by_precision(precision: int) -> Dtype:
    if precision not in BY_PRECISION:
        raise OutsideModelError(
            f"family.mesh.precision_bytes is {precision}, which names no element type",
            mend="write 1, 2 or 4, or name the type in the workload, as in dtype=fp16",
        )
    return dtype(BY_PRECISION[precision])


def _summed_in(element: Dtype) -> Dtype:
    """The type of sums, in which outputs leave: 32 bits, or 64 where elements have 64."""
    bits = 64 if element.bits == 64 else 32
    return dtype(f"{'fp' if element.kind == 'float' else 'int'}{bits}")


def _outside(matmul: Matmul, element: Dtype, out: Dtype) -> list[str]:
    """Reasons why *matmul* is outside the model."""
    own = [batch for batch in (matmul.a_batch, matmul.b_batch) if batch != matmul.batch_shape]
    found = {
        "a reduction of no elements computes nothing": matmul.k == 0,
        "a bias is not added on a mesh": matmul.bias is not None,
        "hf32 has no meaning on a mesh": matmul.hf32,
        "nz has no meaning on a mesh": matmul.nz,
        f"elements of {element.bits} bits; a mesh has whole bytes": element.bits % 8 > 0,
        f"fp8 and the like are not computed with, got {element}": element.name == "fp8",
        f"sums leave as {out}, got out={matmul.out}": matmul.out not in (None, out),
        "operands of unequal batches: a shard would serve several products": bool(own),
    }
    return [reason for reason, holds in found.items() if holds]
