"""The matrix product, the workload everything else is about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import WorkloadError, raise_all
from pantile.workload.dtypes import DTYPES, Dtype
from pantile.workload.einsum import Einsum

if TYPE_CHECKING:
    from pantile.errors import PantileError


_KINDS = {bool: "True or False", str: "a text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matmul:
    """``out[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]``, batch dimensions broadcast.

    Attributes:
        m: Rows of the output.
        n: Columns of the output.
        k: Reduction length; 0 is a product, of zeros, that planners may refuse.
        a_batch: Leading dimensions of the left operand, outermost first.
        b_batch: Leading dimensions of the right operand.
        dtype: Element type of both operands; ``None`` leaves it to the machine.
        out: Element type of the result; ``None`` means that of the operands.
        bias: Element type of a bias of *n* elements, ``"default"`` for the operands' type, or ``None``.
        transpose_a: The left operand is stored as ``[k, m]``.
        transpose_b: The right operand is stored as ``[n, k]``.
        hf32: fp32 inputs are rounded to hf32 before they are multiplied.
        nz: The right operand is stored in the fractal NZ layout.
        name: What the user calls it; empty where it has no name.

    Raises:
        WorkloadError: If a size is not positive (k: negative), or the batches do not broadcast.
    """

    m: int
    n: int
    k: int
    a_batch: tuple[int, ...] = ()
    b_batch: tuple[int, ...] = ()
    dtype: Dtype | None = None
    out: Dtype | None = None
    bias: Dtype | str | None = None
    transpose_a: bool = False
    transpose_b: bool = False
    hf32: bool = False
    nz: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        self._refuse_other_types()
        for letter, size in (("m", self.m), ("n", self.n)):
            if size < 1:
                raise WorkloadError(f"{letter} must be at least 1, got {size}")
        if self.k < 0:
            raise WorkloadError(f"k must not be negative, got {self.k}")
        for size in (*self.a_batch, *self.b_batch):
            if size < 1:
                raise WorkloadError(f"a batch dimension must be at least 1, got {size}")
        if any(a != b and 1 not in (a, b) for a, b in self._batch_pairs):
            raise WorkloadError(
                f"batches {_by_x(self.a_batch)} and {_by_x(self.b_batch)} do not broadcast",
                mend="make each pair of batch dimensions equal, or one of them 1",
            )

    def _refuse_other_types(self) -> None:
        """Return if every field has its type.

        Raises:
            WorkloadError: If one has not; all problems at once.
        """
        problems: list[PantileError] = []
        sizes: list[tuple[str, object]] = [("m", self.m), ("n", self.n), ("k", self.k)]
        shapes: list[tuple[str, object]] = [("a_batch", self.a_batch), ("b_batch", self.b_batch)]
        elements: list[tuple[str, object]] = [("dtype", self.dtype), ("out", self.out), ("bias", self.bias)]
        for name, shape in shapes:
            if isinstance(shape, tuple):
                sizes += [(name, size) for size in shape]
            else:
                problems.append(WorkloadError(f"{name} must be a tuple of whole numbers, got {shape!r}"))
        for name, size in sizes:
            if not isinstance(size, int) or isinstance(size, bool):
                problems.append(WorkloadError(f"{name} must be a whole number, got {size!r}"))
        for name, element in elements:
            if element is None or isinstance(element, Dtype) or (name, element) == ("bias", "default"):
                continue
            known = isinstance(element, str) and element in DTYPES
            mend = f"write {name}=DTYPES[{element!r}], from pantile.workload.dtypes" if known else None
            problems.append(WorkloadError(f"{name} must be an element type, got {element!r}", mend=mend))
        others = (("transpose_a", bool), ("transpose_b", bool), ("hf32", bool), ("nz", bool), ("name", str))
        problems += [
            WorkloadError(f"{name} must be {_KINDS[kind]}, got {getattr(self, name)!r}")
            for name, kind in others
            if not isinstance(getattr(self, name), kind)
        ]
        raise_all(problems)

    @property
    def _batch_pairs(self) -> list[tuple[int, int]]:
        pairs = zip_longest(reversed(self.a_batch), reversed(self.b_batch), fillvalue=1)
        return list(pairs)[::-1]

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Batch dimensions of the result, after broadcasting."""
        return tuple(b if a == 1 else a for a, b in self._batch_pairs)

    @property
    def batch(self) -> int:
        """Products computed: the product of :attr:`batch_shape`."""
        return prod(self.batch_shape)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the whole product."""
        return self.batch * self.m * self.n * self.k

    @property
    def einsum(self) -> Einsum:
        """The same product over dimensions b, m, n, k, with the batch as one dimension.

        >>> Matmul(m=2, n=3, k=4).einsum.subscripts
        'bmk,bkn->bmn'
        """
        return Einsum("bmk,bkn->bmn", (self.batch, self.m, self.n, self.k))

    def batch_indices(self, operand: str) -> tuple[int, ...]:
        """Return, for every product in row-major order, the batch element of ``"a"`` or ``"b"`` it reads."""
        own = self.a_batch if operand == "a" else self.b_batch
        shape = self.batch_shape
        own = (1,) * (len(shape) - len(own)) + own
        indices = [0]
        for size, mine in zip(shape, own, strict=True):
            steps = range(size) if mine > 1 else [0] * size
            indices = [index * mine + step for index in indices for step in steps]
        return tuple(indices)

    def __str__(self) -> str:
        batch = f"{_by_x(self.batch_shape)} of " if self.batch_shape else ""
        return f"{batch}m{self.m} n{self.n} k{self.k}"


def _by_x(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "()"
