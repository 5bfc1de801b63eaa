"""Addresses of a network's tensors.

Source: onnxim-model.md section 2 (one bump pointer; graph inputs take sixteen times their size, and
a tensor that ends on a 256-byte boundary is followed by a gap of 256 bytes, quirk Q25).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pantile.workload.network import Network

_GRANULE = 256
_INPUT_FACTOR = 16  # the original allocates graph inputs as if every element had 16 bytes times precision
_WRAP = 1 << 32


def tensor_addresses(network: Network, element_bytes: int, *, wrap: bool) -> dict[str, int]:
    """Return the address of every tensor of *network*, by tensor name.

    The order is that of ``network.tensors``: initializers, graph inputs, then results as their nodes are
    constructed, with tensors computed from constants where they are first used.

    Args:
        network: The graph.
        element_bytes: Width of one element of every tensor.
        wrap: Sizes and addresses are 32-bit, as in the original (quirk Q24); else they do not wrap.
    """
    base = 0
    addresses: dict[str, int] = {}
    for tensor in network.tensors:
        factor = _INPUT_FACTOR if tensor.role == "input" else 1
        size = prod(tensor.dims) * element_bytes * factor
        address = -(-base // _GRANULE) * _GRANULE
        base = address + (size % _WRAP if wrap else size)
        base += _GRANULE - base % _GRANULE
        if wrap:
            address, base = address % _WRAP, base % _WRAP
        addresses[tensor.name] = address
    return addresses
