"""The mapping as nested cuts, in the house's letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.onnxim.coverage import CONVOLUTION_ORDER, AxisCut, ceil_div, convolution_axes, gemm_axes
from pantile.tiling.tiling import Level, Tiling

if TYPE_CHECKING:
    from pantile.planners.onnxim.capacity import SystolicFigures
    from pantile.planners.onnxim.layer import Layer
    from pantile.tiling.onnxim import Mapping

GEMM_LETTERS = {"m": "N", "n": "M", "k": "C"}
"""ONNXim's letter of each of the house's, in the order of the loops over tiles."""
LEVELS = ("tile", "block", "element")


def tiling_of(layer: Layer, mapping: Mapping, machine: SystolicFigures) -> Tiling | None:
    """Return the levels *tile*, *block* (one array step) and *element* of a mapping.

    A product has dimensions m, n, k, and b before them where there are several; a convolution n, p, q, m,
    s, r, c. ``None`` where work is lost or repeated: nested cuts do neither.
    """
    if layer.kind == "conv":
        cuts = convolution_axes(mapping, machine.widths[0])
        axes = {letter.lower(): cuts[letter] for letter in CONVOLUTION_ORDER}
    else:
        cuts = gemm_axes(mapping, machine.heights[0])
        axes = {name: cuts[letter] for name, letter in GEMM_LETTERS.items()}
        if layer.batch > 1:
            axes = {"b": AxisCut(layer.batch, layer.batch, 1, 1, True), **axes}
    if any(axis.lost or axis.repeated for axis in axes.values()):
        return None
    factors = [_factors(axis) for axis in axes.values()]
    levels = (Level(name, sizes) for name, sizes in zip(LEVELS, zip(*factors, strict=True), strict=True))
    return Tiling(tuple(axes), tuple(axis.total for axis in axes.values()), tuple(levels))


def order_of(layer: Layer) -> tuple[str, ...]:
    """Return the loops over tiles, outermost first."""
    if layer.kind == "conv":
        return tuple(CONVOLUTION_ORDER.lower())
    return ("b", *GEMM_LETTERS) if layer.batch > 1 else tuple(GEMM_LETTERS)


def _factors(axis: AxisCut) -> tuple[int, int, int]:
    """Return tiles, blocks per tile and elements per block.

    Where several tiles are no whole number of blocks, the tile's own size must stand, so that the block
    level does not cut.
    """
    if axis.inner % axis.side == 0 or axis.tiles == 1:
        return axis.outer, ceil_div(axis.inner, axis.side), axis.side
    return axis.outer, 1, axis.inner
