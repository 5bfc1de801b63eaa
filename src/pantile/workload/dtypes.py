"""Element types and their widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pantile.errors import Place, WorkloadError, suggestion
from pantile.workload.sizes import quoted


@dataclass(frozen=True, slots=True)
class Dtype:
    """One element type.

    Attributes:
        name: Canonical short name, e.g. ``"bf16"``.
        bits: Width of one element in bits; below 8 elements share a byte.
        kind: Arithmetic it takes part in.
    """

    name: str
    bits: int
    kind: Literal["float", "int"]

    @property
    def bytes(self) -> float:
        """Width of one element in bytes; 0.5 for 4-bit types."""
        return self.bits / 8

    def __str__(self) -> str:
        return self.name


DTYPES = {
    dtype.name: dtype
    for dtype in (
        Dtype("fp64", 64, "float"),
        Dtype("fp32", 32, "float"),
        Dtype("fp16", 16, "float"),
        Dtype("bf16", 16, "float"),
        Dtype("fp8", 8, "float"),
        Dtype("int64", 64, "int"),
        Dtype("int32", 32, "int"),
        Dtype("int16", 16, "int"),
        Dtype("int8", 8, "int"),
        Dtype("uint8", 8, "int"),
        Dtype("int4", 4, "int"),
    )
}
"""Every element type by its name."""

_ALIASES = {"half": "fp16", "float": "fp32", "float16": "fp16", "float32": "fp32", "bfloat16": "bf16"}


def dtype(name: str, place: Place | None = None) -> Dtype:
    """Return the element type called *name*; ``half`` and ``float32`` style aliases are known.

    Raises:
        WorkloadError: If there is no such type.
    """
    found = DTYPES.get(_ALIASES.get(name, name))
    if found is None:
        raise WorkloadError(
            f"unknown dtype {quoted(name)}", place=place, mend=suggestion(name.lower(), DTYPES)
        )
    return found
