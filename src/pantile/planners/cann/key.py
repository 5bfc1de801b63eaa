"""The tiling key: which kernel runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingKey:
    """Fields of the key, lowest bits first (section 9).

    Attributes:
        api_level: Interface, 4 bits: 0 high, 1 basic, 2 tensor.
        a_trans: Whether A is stored transposed, 2 bits; likewise *b_trans*.
        batch_model: How batches are gone through, 4 bits.
        model: How the product is cut, 4 bits.
        full_load: Which input stays in L1, 4 bits: 1 A, 2 B.
        l0c2out: How results leave L0C, 4 bits.
    """

    api_level: int
    a_trans: int = 0
    b_trans: int = 0
    batch_model: int = 0
    model: int = 0
    full_load: int = 0
    l0c2out: int = 0

    @property
    def value(self) -> int:
        """The key as one number.

        >>> TilingKey(api_level=2, a_trans=1, full_load=2).value
        131090
        """
        return (
            self.api_level
            + (self.a_trans << 4)
            + (self.b_trans << 6)
            + (self.batch_model << 8)
            + (self.model << 12)
            + (self.full_load << 16)
            + (self.l0c2out << 20)
        )

    def to_json(self) -> dict[str, int]:
        """Return value and fields under the source's names."""
        fields = {_NAMES.get(name, name): field for name, field in asdict(self).items()}
        return {"value": self.value, **fields}


_NAMES = {
    "api_level": "apiLevel",
    "a_trans": "aTrans",
    "b_trans": "bTrans",
    "batch_model": "batchModel",
    "full_load": "fullLoad",
}
