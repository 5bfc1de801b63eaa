"""Products as Einstein sums over named dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pantile.errors import WorkloadError


@dataclass(frozen=True, slots=True)
class Einsum:
    """A product of two operands over named dimensions, e.g. ``"mk,kn->mn"``.

    Attributes:
        subscripts: NumPy's notation; one letter a dimension, two inputs, one output.
        sizes: Element count of every dimension, in the order of :attr:`dimensions`.

    Raises:
        WorkloadError: If the subscripts are malformed, or a size is missing or negative.
    """

    subscripts: str
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        inputs, arrow, output = self.subscripts.replace(" ", "").partition("->")
        operands = inputs.split(",")
        letters = set("".join(operands))
        if not arrow or len(operands) != 2 or not all(t.isalpha() for t in (*operands, output)):
            raise WorkloadError(
                f"expected two operands and an output such as 'mk,kn->mn', got {self.subscripts!r}"
            )
        if not set(output) <= letters:
            raise WorkloadError(f"output of {self.subscripts!r} has a dimension that no operand has")
        if any(len(set(text)) != len(text) for text in (*operands, output)):
            raise WorkloadError(f"a dimension stands twice in one operand of {self.subscripts!r}")
        if len(self.sizes) != len(self.dimensions):
            raise WorkloadError(
                f"{self.subscripts!r} has {len(self.dimensions)} dimensions, got {len(self.sizes)} sizes"
            )
        if min(self.sizes) < 0:
            raise WorkloadError(f"sizes of {self.subscripts!r} must not be negative, got {self.sizes}")

    @property
    def operands(self) -> tuple[str, str]:
        """Dimensions of the two inputs."""
        first, second = self.subscripts.replace(" ", "").partition("->")[0].split(",")
        return first, second

    @property
    def output(self) -> str:
        """Dimensions of the result."""
        return self.subscripts.replace(" ", "").partition("->")[2]

    @property
    def dimensions(self) -> str:
        """All dimensions: those of the output first, then the reductions in order of appearance."""
        return self.output + self.reductions

    @property
    def reductions(self) -> str:
        """Dimensions that the output lacks, in order of appearance."""
        seen = dict.fromkeys("".join(self.operands))
        return "".join(letter for letter in seen if letter not in self.output)

    @property
    def macs(self) -> int:
        """Multiply-accumulates: one per point of the iteration space."""
        return prod(self.sizes)

    def size_of(self, dimension: str) -> int:
        """Element count of one dimension."""
        return self.sizes[self.dimensions.index(dimension)]
