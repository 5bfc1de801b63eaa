"""Tilings as the tile language writes them.

    tiling("ti,oi->to", total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))

Source: tile-language.md section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pantile.errors import MappingError, suggestion
from pantile.tiling.cut import read_levels
from pantile.tiling.tiling import OPERANDS, Tiling
from pantile.workload.einsum import Einsum
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from pantile.tiling.domain import Domain


def tiling(
    subscripts: str | Einsum | Matmul = "ti,oi->to",
    *,
    total: Sequence[int] | Mapping[str, int] | None = None,
    domain: Domain | None = None,
    **levels: object,
) -> Tiling:
    """Return the tiling of an Einstein sum, its levels by name, outermost first.

    The dimensions are those of the output and then the reductions: t, o, i of ``"ti,oi->to"``. A level gives
    one factor for each, the innermost counts elements. ``...`` for one level, or for one factor, is inferred
    by ceiling division. A factor may be a list of points to cut at, counted from the start of the tile that
    is cut. A level may also be a mapping from dimension to factor; a dimension that it leaves out is not cut.
    ``X=("D", "S")`` says at which levels an operand is moved.

    *total* may be left out where *subscripts* is a product that has sizes.

    >>> print(tiling(total=(32, 32, 128), D=(2, 2, 4), T=..., S=(8, 8, 16)))
    ti,oi->to t=32, o=32, i=128 D=(2, 2, 4) T=(2, 2, 2) S=(8, 8, 16)

    Raises:
        MappingError: If the levels do not cover the total, a factor is not positive, a dimension, level or
            operand is unknown, or two levels leave out a factor.
        WorkloadError: If the subscripts are no sum of two operands.
    """
    einsum = subscripts.einsum if isinstance(subscripts, Matmul) else subscripts
    if isinstance(einsum, Einsum):
        letters, sizes = einsum.subscripts, einsum.sizes
        if total is not None:
            raise MappingError(f"{letters!r} has sizes of its own, {sizes}; total was given too")
    else:
        letters, sizes = einsum.replace(" ", ""), ()
    dimensions = _dimensions(letters)
    if not isinstance(einsum, Einsum):
        sizes = _total(total, dimensions)
    cuts = _cuts(levels)
    moves = tuple((name, _moves(name, levels[name])) for name in OPERANDS if name in levels)
    if min(sizes) < 0:
        named = ", ".join(f"{name}={size}" for name, size in zip(dimensions, sizes, strict=True))
        raise MappingError(f"total must not be negative, got {named}")
    return Tiling(dimensions, sizes, read_levels(dimensions, sizes, cuts), letters, domain, moves)


def _dimensions(letters: str) -> tuple[str, ...]:
    """Return the dimensions of a sum: those of the output, then the reductions."""
    distinct = {letter for letter in letters if letter.isalpha()}
    return tuple(Einsum(letters, (1,) * len(distinct)).dimensions)


def _total(total: Sequence[int] | Mapping[str, int] | None, dimensions: tuple[str, ...]) -> tuple[int, ...]:
    sizes: Sequence[object] = ()
    if isinstance(total, Mapping):
        for name in total:
            if name not in dimensions:
                raise MappingError(
                    f"total names {name!r}, which is no dimension", mend=suggestion(str(name), dimensions)
                )
        sizes = [total.get(name) for name in dimensions]
    elif isinstance(total, Sequence):
        sizes = total
    whole = [size for size in sizes if isinstance(size, int) and not isinstance(size, bool)]
    if len(sizes) != len(dimensions) or len(whole) != len(sizes):
        raise MappingError(f"total needs one whole number for each of {', '.join(dimensions)}, got {total!r}")
    return tuple(whole)


def _cuts(levels: Mapping[str, object]) -> dict[str, object]:
    """Return the keywords that are levels; the others say where operands move."""
    cuts = {name: value for name, value in levels.items() if name not in OPERANDS}
    for name in cuts:
        if hasattr(Tiling, name) or name in Tiling.__dataclass_fields__:
            raise MappingError(
                f"a level cannot be called {name!r}: every tiling has an attribute of that name"
            )
    return cuts


def _moves(operand: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise MappingError(
        f"{operand} is an operand, and needs the names of the levels at which it moves, got {value!r}",
        mend=f'write {operand}=("D", "S"), or give the level another name',
    )
