"""Which recorded cases are beyond the models of this version, by what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.machine.families import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping

PRODUCTS = ("MatMul", "Gemm", "FusedGemm")
"""Operators whose runs are exact."""

_MODELS = {"dram_type": "dram_type", "icnt_type": "noc_type", "scheduler": "scheduler"}
"""Keys of a configuration that name a model, and the machine's own names for them."""


def outside_config(config: Mapping[str, Any]) -> str:
    """Return which model a configuration asks for that this version lacks; empty if none."""
    for key, constant in _MODELS.items():
        found = config.get(key)
        if found != "simple" and found in FAMILIES["systolic"][constant].choices:
            return f"config.{key} is {found!r}: of these models only 'simple' is there"
    return ""


def outside_layers(layers: Any) -> str:
    """Return which layer of a run is no product; empty if all are."""
    for at, layer in enumerate(layers if isinstance(layers, list) else ()):
        node = layer.get("node") if isinstance(layer, dict) else None
        if isinstance(node, str) and node not in PRODUCTS:
            return f"layers[{at}] is {node}: the exact model has {', '.join(PRODUCTS)} alone"
    return ""
