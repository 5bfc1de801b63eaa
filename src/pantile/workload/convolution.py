"""Two-dimensional convolutions, which ONNX networks bring along with their products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import WorkloadError

if TYPE_CHECKING:
    from pantile.workload.dtypes import Dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """A 2-D convolution; pairs are (height, width), pads are (top, left, bottom, right).

    Attributes:
        batch: Pictures.
        in_channels: Channels of the input.
        out_channels: Channels of the output.
        height: Rows of the input picture.
        width: Columns of the input picture.
        kernel: Rows and columns of the kernel.
        strides: Steps of the window.
        pads: Zero rows and columns around the input.
        dilations: Distance between neighbouring kernel elements.
        groups: Channel groups that are convolved apart.
        dtype: Element type; ``None`` leaves it to the machine.
        name: What the user calls it; empty where it has no name.

    Raises:
        WorkloadError: If a quantity is not positive, channels do not divide into groups, or the
            output is empty.
    """

    batch: int
    in_channels: int
    out_channels: int
    height: int
    width: int
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    groups: int = 1
    dtype: Dtype | None = None
    name: str = ""

    def __post_init__(self) -> None:
        counts = (self.batch, self.in_channels, self.out_channels, self.height, self.width, self.groups)
        if min(*counts, *self.kernel, *self.strides, *self.dilations) < 1 or min(self.pads) < 0:
            raise WorkloadError("every count of a convolution must be at least 1, every pad at least 0")
        if self.in_channels % self.groups or self.out_channels % self.groups:
            raise WorkloadError(
                f"{self.groups} groups do not divide {self.in_channels} input "
                f"and {self.out_channels} output channels"
            )
        if min(self.out_height, self.out_width) < 1:
            reach = "x".join(str(self._reach(axis)) for axis in (0, 1))
            padded = "x".join(str(self._padded(axis)) for axis in (0, 1))
            raise WorkloadError(f"the kernel reaches over {reach}, but the padded picture is {padded}")

    def _reach(self, axis: int) -> int:
        return self.dilations[axis] * (self.kernel[axis] - 1) + 1

    def _padded(self, axis: int) -> int:
        return (self.height, self.width)[axis] + self.pads[axis] + self.pads[axis + 2]

    def _extent(self, axis: int) -> int:
        return (self._padded(axis) - self._reach(axis)) // self.strides[axis] + 1

    @property
    def out_height(self) -> int:
        """Rows of the output picture (ONNX: floor rounding)."""
        return self._extent(0)

    @property
    def out_width(self) -> int:
        """Columns of the output picture."""
        return self._extent(1)

    @property
    def macs(self) -> int:
        """Multiply-accumulates, those on padding included."""
        positions = self.batch * self.out_height * self.out_width
        window = self.kernel[0] * self.kernel[1] * self.in_channels // self.groups
        return positions * self.out_channels * window

    def __str__(self) -> str:
        s, r = self.kernel
        return (
            f"{self.batch}x{self.in_channels}x{self.height}x{self.width} * "
            f"{self.out_channels}x{self.in_channels // self.groups}x{s}x{r}"
        )
