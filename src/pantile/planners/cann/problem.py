"""The problem as the operator is called: shapes as stored, attributes, types, formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pantile.workload.matmul import Matmul

ND, NZ = "ND", "FRACTAL_NZ"

DEFAULT_DTYPE = "bf16"
"""Where a workload names no type: the one that the chip's peak is stated for."""

_WIDTHS = {"fp16": 2, "bf16": 2, "fp32": 4}


def width(dtype: str) -> int:
    """Return the bytes of an element of one of the operator's types.

    >>> width("bf16"), width("fp32")
    (2, 4)
    """
    return _WIDTHS[dtype]


def is_known(dtype: str) -> bool:
    """Whether the operator takes elements of this type at all."""
    return dtype in _WIDTHS


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorProblem:
    """One call of BatchMatMulV3.

    Attributes:
        a_shape: As stored, batch dimensions first; likewise *b_shape*; *c_shape* is the output's.
        transpose_a: The last two of *a_shape* are k and m (adj_x1); *transpose_b*: n and k (adj_x2).
        a_dtype: Name of the element type; likewise the others.
        bias_shape: ``None`` where there is no bias.
        hf32: Attribute enable_hf32.
        offset_x: Attribute offset_x; 0x80 forbids the tensor interface.
        deterministic_level: Of the context; ``None`` takes the platform's.
        a_format: ``ND`` or ``FRACTAL_NZ``; any other name counts as ``ND``, as in the source.
        a_strides: In elements, where the input is a view; ``None`` where it is dense.
    """

    a_shape: tuple[int, ...]
    b_shape: tuple[int, ...]
    c_shape: tuple[int, ...]
    transpose_a: bool = False
    transpose_b: bool = False
    a_dtype: str = DEFAULT_DTYPE
    b_dtype: str = DEFAULT_DTYPE
    c_dtype: str = DEFAULT_DTYPE
    bias_shape: tuple[int, ...] | None = None
    bias_dtype: str | None = None
    hf32: bool = False
    offset_x: int = 0
    deterministic_level: int | None = None
    a_format: str = ND
    b_format: str = ND
    c_format: str = ND
    a_strides: tuple[int, ...] | None = None
    b_strides: tuple[int, ...] | None = None


def problem_of(matmul: Matmul) -> OperatorProblem:
    """Return the operator's call for a product; a bias is one row for all batches."""
    m, n, k = matmul.m, matmul.n, matmul.k
    element = matmul.dtype.name if matmul.dtype else DEFAULT_DTYPE
    bias = None
    if matmul.bias is not None:
        bias = element if matmul.bias == "default" else str(matmul.bias)
    return OperatorProblem(
        a_shape=matmul.a_batch + ((k, m) if matmul.transpose_a else (m, k)),
        b_shape=matmul.b_batch + ((n, k) if matmul.transpose_b else (k, n)),
        c_shape=(*matmul.batch_shape, m, n),
        transpose_a=matmul.transpose_a,
        transpose_b=matmul.transpose_b,
        a_dtype=element,
        b_dtype=element,
        c_dtype=matmul.out.name if matmul.out else element,
        bias_shape=(n,) if bias else None,
        bias_dtype=bias,
        hf32=matmul.hf32,
        b_format=NZ if matmul.nz else ND,
    )
