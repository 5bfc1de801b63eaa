"""Terms of a plan in closed form: what its program will hold, without building it.

Source: onnxim-model.md section 4, onnxim-conv.md C3 and C4 with every loop clipped.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pantile.planners.onnxim.coverage import convolution_axes, gemm_axes

if TYPE_CHECKING:
    from pantile.planners.onnxim.capacity import SystolicFigures
    from pantile.planners.onnxim.layer import Layer
    from pantile.tiling.onnxim import Mapping


def predicted_terms(layer: Layer, mapping: Mapping, machine: SystolicFigures) -> dict[str, int]:
    """Return tiles, regions, compute_instructions, macs and padded_macs of the whole layer.

    Empty tiles are not counted; repeated work is counted as often as it is done. Padded MACs are what
    the array could have done: H · W · max(rows, H) per compute instruction.
    """
    terms = _gemm_terms if layer.kind == "gemm" else _convolution_terms
    return {name: layer.batch * value for name, value in terms(mapping, machine).items()}


def _gemm_terms(mapping: Mapping, machine: SystolicFigures) -> dict[str, int]:
    height, width = machine.heights[0], machine.widths[0]
    axes = gemm_axes(mapping, height)
    regions = axes["N"].tiles * axes["M"].tiles
    computes = prod(axis.blocks for axis in axes.values())
    return {
        "tiles": regions * mapping.outer.C,
        "regions": regions,
        "compute_instructions": computes,
        "macs": prod(axis.computed for axis in axes.values()),
        "padded_macs": computes * height * width * height,
    }


def _convolution_terms(mapping: Mapping, machine: SystolicFigures) -> dict[str, int]:
    height, width = machine.heights[0], machine.widths[0]
    axes = convolution_axes(mapping, width)
    per_position = prod(axes[letter].blocks for letter in "NMSRC")
    rows = [
        (q_count * p_count, q * p)
        for q, q_count in axes["Q"].block_sizes.items()
        for p, p_count in axes["P"].block_sizes.items()
    ]
    regions = prod(axes[letter].tiles for letter in "NPQM")
    return {
        "tiles": regions * prod(axes[letter].tiles for letter in "SRC"),
        "regions": regions,
        "compute_instructions": per_position * sum(count for count, _ in rows),
        "macs": prod(axis.computed for axis in axes.values()),
        "padded_macs": per_position * height * width * sum(count * max(size, height) for count, size in rows),
    }
