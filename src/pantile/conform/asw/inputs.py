"""What a recorded case is about."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pantile.conform.case_inputs import CaseInputs, Size
from pantile.planners.asw.chip import Chip, with_symbols
from pantile.planners.asw.problem import Problem

_ELEMENT_BYTES = (1, 2, 4)


def _known_width(value: int) -> int:
    if value not in _ELEMENT_BYTES:
        raise ValueError(f"bytes of a known element type: {', '.join(map(str, _ELEMENT_BYTES))}")
    return value


ElementBytes = Annotated[int, AfterValidator(_known_width)]


class _OnChip(CaseInputs):
    """A case on a chip whose constants may be changed, by the document's symbols."""

    dtype: ElementBytes
    chip_overrides: dict[str, Any] | None = None

    @property
    def chip(self) -> Chip:
        """The chip.

        Raises:
            MachineError: If a constant is unknown, or its value cannot be one.
        """
        return with_symbols(Chip(), self.chip_overrides or {})


class ProductInput(_OnChip):
    """One batched product, in the document's letters; *dtype* and *outB* are bytes of an element."""

    B: Size
    M: Size
    N: Size
    K: Size
    outB: ElementBytes | None = None  # noqa: N815  # these are the files' own names
    batchA: Size | None = None  # noqa: N815
    transA: bool = False  # noqa: N815
    transB: bool = False  # noqa: N815
    bias_batch: Annotated[int, Field(ge=0)] = 1
    streamk_eligible: bool = False

    @property
    def problem(self) -> Problem:
        """The product."""
        return Problem(
            batch=self.B,
            m=self.M,
            n=self.N,
            k=self.K,
            element_bytes=self.dtype,
            out_bytes=self.outB or self.dtype,
            a_batch=self.batchA or 0,
            transpose_a=self.transA,
            transpose_b=self.transB,
        )


class BlockMapInput(CaseInputs):
    """A grid of blocks, in windows of W, on C cores."""

    B: Size
    mCnt: Size  # noqa: N815
    nCnt: Size  # noqa: N815
    C: Size
    W: Size


class PieceInput(_OnChip):
    """A block of sM rows whose pieces along n are to be hidden."""

    sM: Size  # noqa: N815
    K: Size
    kL1: Size  # noqa: N815
