"""What the operator checks and normalises before any branch is asked (section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import WorkloadError, raise_all
from pantile.planners.cann.figures import Figures
from pantile.planners.cann.problem import NZ, is_known, width

if TYPE_CHECKING:
    from pantile.planners.cann.platform import Platform
    from pantile.planners.cann.problem import OperatorProblem

LARGEST = 2**31 - 1
"""Most rows, columns or reduction steps that any branch takes."""

_RANK = 6
_AVOID_TENSOR = 0x80

# A and B, output, biases: section 2.4.
_DTYPES = (
    ("fp16", "fp16", ("fp16", "fp32")),
    ("fp16", "fp32", ("fp16", "fp32")),
    ("fp32", "fp32", ("fp32",)),
    ("bf16", "bf16", ("fp32", "bf16")),
    ("bf16", "fp32", ("bf16", "fp32")),
)

Dims = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """A checked problem, batches folded into rows where the operator does so.

    Attributes:
        problem: As it was called.
        m: Rows after folding; likewise n, k.
        a_dims: A's four batch dimensions, outermost first; likewise B's and the output's.
        batch_bias: Product of the bias's batch dimensions.
        folded: Batches that became rows; 1 where none did.
    """

    problem: OperatorProblem
    m: int
    n: int
    k: int
    a_dims: Dims
    b_dims: Dims
    c_dims: Dims
    batch_bias: int
    folded: int

    @property
    def batch_a(self) -> int:
        """Products that A holds rows for."""
        return prod(self.a_dims)

    @property
    def batch_b(self) -> int:
        """Products that B holds columns for."""
        return prod(self.b_dims)

    @property
    def batch_c(self) -> int:
        """Products computed."""
        return prod(self.c_dims)


def normalise(problem: OperatorProblem) -> Normalised:
    """Return *problem* checked and normalised, in the operator's order.

    Raises:
        WorkloadError: If the operator refuses it.
        ManyProblems: If it has several reasons to.
    """
    problems = [WorkloadError(text) for text in _format_problems(problem)]
    if min(len(problem.a_shape), len(problem.b_shape), len(problem.c_shape)) < 2:
        short = "A, B and the output need at least 2 dimensions each"
        shapes = ", ".join(_text(each) for each in (problem.a_shape, problem.b_shape, problem.c_shape))
        raise_all([*problems, WorkloadError(f"{short}, got {shapes}")])
    a_rows, a_columns = problem.a_shape[-2:]
    b_rows, b_columns = problem.b_shape[-2:]
    m, k = (a_columns, a_rows) if problem.transpose_a else (a_rows, a_columns)
    n, b_k = (b_rows, b_columns) if problem.transpose_b else (b_columns, b_rows)
    found = [
        *_size_problems(m, n, k, b_k, biased=problem.bias_shape is not None),
        *_bias_problems(problem),
        *_dtype_problems(problem),
        *_batch_problems(problem),
    ]
    a_dims, b_dims, c_dims = (_dims(each) for each in (problem.a_shape, problem.b_shape, problem.c_shape))
    folded = 1
    if prod(b_dims) == 1 and not problem.transpose_a:  # section 2.6: rows of all batches lie end to end
        folded = prod(a_dims)
        a_dims = c_dims = (1, 1, 1, 1)
    found += _bias_batch_problems(problem.bias_shape or (), a_dims, b_dims, c_dims)
    raise_all([*problems, *(WorkloadError(text) for text in found)])
    batch_bias = prod(problem.bias_shape[:-2]) if problem.bias_shape else 1
    return Normalised(
        problem=problem,
        m=m * folded,
        n=n,
        k=k,
        a_dims=a_dims,
        b_dims=b_dims,
        c_dims=c_dims,
        batch_bias=batch_bias,
        folded=folded,
    )


def figures_of(given: Normalised, platform: Platform) -> Figures:
    """Return the numbers that the rules read."""
    call = given.problem
    level = call.deterministic_level
    strided_a, strided_b = (
        is_exchanged_view(shape, strides)
        for shape, strides in ((call.a_shape, call.a_strides), (call.b_shape, call.b_strides))
    )
    nz = call.b_format == NZ
    a0, a1, a2, a3 = given.a_dims
    b0, b1, b2, b3 = given.b_dims
    return Figures(
        m=given.m,
        n=given.n,
        k=given.k,
        transpose_a=int(call.transpose_a),
        transpose_b=int(call.transpose_b),
        element_bytes=width(call.a_dtype),
        out_bytes=width(call.c_dtype),
        bias_bytes=width(call.bias_dtype) if call.bias_dtype else 0,
        true_fp32=int(call.a_dtype == "fp32" and not call.hf32),
        hf32=int(call.hf32),
        one_dtype=int(call.a_dtype == call.b_dtype == call.c_dtype),
        nz=int(nz),
        nz_allowed=int(not nz or call.a_dtype != "fp32"),
        strided_a=int(strided_a),
        strided_b=int(strided_b),
        dense=int(is_dense(call.a_shape, call.a_strides) and is_dense(call.b_shape, call.b_strides)),
        a0=a0,
        a1=a1,
        a2=a2,
        a3=a3,
        b0=b0,
        b1=b1,
        b2=b2,
        b3=b3,
        batch_a=given.batch_a,
        batch_b=given.batch_b,
        batch_c=given.batch_c,
        batch_bias=given.batch_bias,
        a_row=call.a_shape[-1],
        avoid_tensor=int(call.offset_x == _AVOID_TENSOR),
        deterministic=platform.deterministic_level if level is None else level,
        cores=platform.cores,
        vector_cores=platform.vector_cores,
        soc_cores=platform.soc_cores,
        l0a=platform.l0a,
        l0b=platform.l0b,
        l0c=platform.l0c,
        l1=platform.l1,
        ub=platform.ub,
        bt=platform.bt,
        l2=platform.l2,
        cube_freq=platform.cube_freq,
        ddr_rate=platform.ddr_rate,
        l2_rate=platform.l2_rate,
    )


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Whether the elements of an input lie in the order of its shape, without gaps."""
    return strides is None or strides == tuple(prod(shape[at + 1 :]) for at in range(len(shape)))


def is_exchanged_view(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Whether a 3-D input is a view of a dense tensor with batch and rows exchanged.

    >>> is_exchanged_view((16, 196, 128), (128, 2048, 1))
    True
    """
    if strides is None or len(shape) != 3 or is_dense(shape, strides):
        return False
    batch, _, row = shape
    return strides == (row, batch * row, 1)


def _format_problems(problem: OperatorProblem) -> list[str]:
    named = (("A", problem.a_format), ("the output", problem.c_format))
    return [f"{name} must be stored as ND, got {NZ}" for name, found in named if found == NZ]


def _size_problems(m: int, n: int, k: int, b_k: int, *, biased: bool) -> list[str]:
    found = []
    if k != b_k:
        found.append(f"k must be the same in A and B, got {k} and {b_k}")
    if k == 0 and biased:
        found.append("a product over k = 0 takes no bias, got one")
    for letter, size, least in (("m", m, 1), ("n", n, 1), ("k", k, 0)):
        if not least <= size <= LARGEST:
            found.append(f"{letter} must be from {least} to {LARGEST}, got {size}")
    return found


def _bias_problems(problem: OperatorProblem) -> list[str]:
    bias, columns = problem.bias_shape, problem.c_shape[-1]
    if bias is None:
        return []
    found = []
    if not bias or bias[-1] != columns:
        found.append(f"a bias must end in the output's {columns} columns, got {_text(bias)}")
    if len(bias) >= 2 and bias[-2] != 1:
        found.append(f"a bias has one row, got {bias[-2]} in {_text(bias)}")
    return found


def _bias_batch_problems(bias: tuple[int, ...], a_dims: Dims, b_dims: Dims, c_dims: Dims) -> list[str]:
    """Check the batches of a bias against those left after folding (section 2.8)."""
    if len(bias) <= 2:
        return []
    found = []
    if a_dims != b_dims:
        found.append(f"a bias of several batches needs A and B of equal batches, got {_text(bias)}")
    if len(bias) > _RANK or _dims(bias) != c_dims:
        found.append(f"batches of the bias must be the output's {_text(c_dims)}, got {_text(bias[:-2])}")
    return found


def _dtype_problems(problem: OperatorProblem) -> list[str]:
    a, b, out, bias = problem.a_dtype, problem.b_dtype, problem.c_dtype, problem.bias_dtype
    unknown = dict.fromkeys(each for each in (a, b, out, bias) if each is not None and not is_known(each))
    if unknown:
        return [f"dtype must be fp16, bf16 or fp32, got {name}" for name in unknown]
    if any(a == b == ab and out == to and (bias is None or bias in biases) for ab, to, biases in _DTYPES):
        return []
    got = f"{a} x {b} to {out}" + (f" with a bias of {bias}" if bias else "")
    allowed = "fp16 or bf16 to the same or fp32, with a bias of either, or all fp32"
    return [f"types must be {allowed}, got {got}"]


def _batch_problems(problem: OperatorProblem) -> list[str]:
    found = [
        f"{name} has at most {_RANK} dimensions, got {len(shape)}"
        for name, shape in (("A", problem.a_shape), ("B", problem.b_shape))
        if len(shape) > _RANK
    ]
    if found:
        return found
    a_dims, b_dims, c_dims = _dims(problem.a_shape), _dims(problem.b_shape), _dims(problem.c_shape)
    if min(*a_dims, *b_dims, *c_dims) < 1:
        batches = [problem.a_shape[:-2], problem.b_shape[:-2], problem.c_shape[:-2]]
        found.append(f"no batch dimension may be below 1, got {', '.join(map(_text, batches))}")
    if any(a != b and 1 not in (a, b) for a, b in zip(a_dims, b_dims, strict=True)):
        got = f"{_text(problem.a_shape[:-2])} and {_text(problem.b_shape[:-2])}"
        found.append(f"batches must be equal or 1, dimension by dimension, got {got}")
    return found


def _dims(shape: tuple[int, ...]) -> Dims:
    """Return the four batch dimensions, missing outer ones as 1."""
    a, b, c, d = (1, 1, 1, 1, *shape[:-2])[-4:]
    return a, b, c, d


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "none"
