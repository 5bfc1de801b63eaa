"""What this version takes on at most.

Beyond it a product is refused at once, with the limit and the number that exceeds it, instead of running
for hours or out of memory. Sizes are exact up to there: all figures stay within 64 bits.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, PantileError, Place, raise_all
from pantile.planners.onnxim.capacity import ACCUMULATOR_ELEMENT_BYTES, BUFFERS, Overflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.targets.systolic.config import SystolicConfig
    from pantile.tiling.onnxim import Mapping
    from pantile.workload.network import Network

MAX_TILES = 1 << 20
"""Tiles of one product."""
MAX_BLOCKS = 1 << 17
"""Compute rows of one tile: output blocks of a product, and with every weight block of a convolution."""
MAX_NOMINAL = 1 << 56
"""Product of a tile's nominal sizes, on which the labels of its blocks depend."""
MAX_BYTES = 1 << 58
"""Bytes of all tensors; inputs are spaced as if they had sixteen times as many (quirk Q25)."""
MAX_MACS = 1 << 62
"""Multiply-accumulates of a run."""
MAX_NODES = 1 << 12
"""Network nodes of a machine: ports of all cores, and channels."""
MAX_LATENCY = 1 << 16
"""Cycles of a DRAM access or of a network hop."""


def require_manageable(config: SystolicConfig, place: Callable[[str], Place | None]) -> None:
    """Check that a machine is small and quick enough to be simulated cycle by cycle.

    Args:
        config: The machine.
        place: Where a labelled constant of it stands.

    Raises:
        OutsideModelError: For every figure that is too large.
    """
    nodes = config.cores * config.ports + config.channels
    figures = (
        ("family.systolic.ports_per_core", f"{nodes} network nodes", nodes, MAX_NODES),
        *(
            (f"family.systolic.{key}", f"a latency of {cycles} cycles", cycles, MAX_LATENCY)
            for key, cycles in (
                ("dram_latency_cycles", config.dram_latency),
                ("noc_latency_cycles", config.noc_latency),
            )
        ),
    )
    problems: list[PantileError] = [
        OutsideModelError(f"{label}: {what}: this version takes at most {limit}", place=place(label))
        for label, what, figure, limit in figures
        if figure > limit
    ]
    raise_all(problems)


def require_addressable(network: Network, element_bytes: int) -> None:
    """Check that tensors and products are small enough for 64-bit figures.

    Raises:
        OutsideModelError: If they are not.
    """
    held = sum(prod(tensor.dims) for tensor in network.tensors) * element_bytes
    macs = sum(node.macs for node in network.nodes)
    problems: list[PantileError] = [
        OutsideModelError(
            f"{figure} {what}: this version takes at most {limit}",
            place=Place(network.source or network.name),
            mend="split the workload",
        )
        for what, figure, limit in (
            ("bytes of tensors", held, MAX_BYTES),
            ("multiply-accumulates", macs, MAX_MACS),
        )
        if figure > limit
    ]
    raise_all(problems)


def require_within_limits(mapping: Mapping, batch: int) -> None:
    """Check that a mapping cuts no more tiles than can be handled, and none of absurd nominal size.

    Raises:
        OutsideModelError: If it does.
    """
    tiles, nominal = batch * mapping.outer.volume, mapping.inner.volume
    if tiles > MAX_TILES:
        raise OutsideModelError(
            f"{tiles} tiles: this version takes at most {MAX_TILES}",
            place=mapping.at("O", "N"),
            mend="split the product, or give a mapping with larger tiles",
        )
    if nominal > MAX_NOMINAL:
        raise OutsideModelError(
            f"a nominal tile of {nominal} steps: this version takes at most {MAX_NOMINAL}",
            place=mapping.at("I", "N"),
            mend="lower the counts of [I]",
        )


def overflow_of_huge_tile(
    mapping: Mapping, config: SystolicConfig, *, is_convolution: bool
) -> Overflow | None:
    """Return the overflow of a tile that has too many blocks to be spelled out, ``None`` for others.

    Elements are counted here, not requests: such a tile is far too large in either.

    Raises:
        OutsideModelError: If it has too many blocks, and would fit.
    """
    sizes = {letter: min(count, mapping.total[letter]) for letter, count in mapping.inner.items()}
    blocks = _blocks(sizes, config, is_convolution=is_convolution)
    if blocks <= MAX_BLOCKS:
        return None
    loaded = sizes["M"] * sizes["S"] * sizes["R"] * sizes["C"]
    if not is_convolution:
        loaded += sizes["N"] * sizes["C"]
    summed = sizes["N"] * sizes["Q"] * sizes["P"] * sizes["M"] * ACCUMULATOR_ELEMENT_BYTES
    for memory, needed, capacities in (
        ("scratchpad", loaded * config.precision, config.scratchpad_bytes),
        ("accumulator", summed, config.accumulator_bytes),
    ):
        if needed > min(capacities) // BUFFERS:
            return Overflow(memory, needed, min(capacities) // BUFFERS)
    raise OutsideModelError(
        f"{blocks} blocks in one tile: this version takes at most {MAX_BLOCKS}",
        place=mapping.at("I", "N"),
        mend="give a mapping with smaller tiles",
    )


def _blocks(sizes: dict[str, int], config: SystolicConfig, *, is_convolution: bool) -> int:
    """Compute rows of a full tile."""

    def pieces(letter: str, side: int) -> int:
        return -(-sizes[letter] // side)

    if not is_convolution:
        return pieces("N", config.heights[0]) * pieces("M", config.heights[0])
    side = config.widths[0]
    weights = pieces("M", side) * sizes["S"] * sizes["R"] * pieces("C", side)
    return weights * sizes["N"] * pieces("Q", side) * pieces("P", side)
