"""The element width of a run: the machine's, or the one that the workload names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, PantileError, Place, raise_all
from pantile.tiling.plan import Note
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.targets.systolic.config import SystolicConfig
    from pantile.workload.network import Network

_FLAGS = ("hf32", "nz")
"""Ways to compute and to store that only another family has."""


def with_element_width(config: SystolicConfig, network: Network) -> tuple[SystolicConfig, tuple[Note, ...]]:
    """Return *config* with the element width that *network* names, and a note where it is not the machine's.

    Raises:
        OutsideModelError: If a product has elements of several widths, or of a part of a byte, or asks for
            what only another family has; all problems at once.
    """
    products = [node.computation for node in network.nodes if isinstance(node.computation, Matmul)]
    widths = sorted({bits for product in products for bits in _named_bits(product)})
    raise_all(list(_problems(products, widths, Place(network.source or network.name))))
    if not widths or widths == [config.precision * 8]:
        return config, ()
    width = widths[0] // 8
    text = f"elements of {width} B, as the workload says; the machine's are {config.precision} B"
    return replace(config, precision=width), (Note("dtype", text),)


def _named_bits(product: Matmul) -> Iterator[int]:
    """Widths of the element types that *product* names."""
    for each in (product.dtype, product.out, product.bias):
        if each is not None and not isinstance(each, str):
            yield each.bits


def _problems(products: list[Matmul], widths: list[int], place: Place) -> Iterator[PantileError]:
    for flag in _FLAGS:
        if any(getattr(product, flag) for product in products):
            yield OutsideModelError(
                f"{flag}: no meaning on a systolic machine", place=place, mend="leave it out"
            )
    if len(widths) > 1:
        wide = " and ".join(f"{bits} bits" for bits in widths)
        yield OutsideModelError(
            f"elements of {wide} in one run; a systolic machine has one width",
            place=place,
            mend="name one type",
        )
    elif widths and widths[0] % 8:
        yield OutsideModelError(
            f"elements of {widths[0]} bits; a systolic machine has whole bytes",
            place=place,
            mend="name a type of 8 bits or more",
        )
