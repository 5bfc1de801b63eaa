"""Iteration spaces that are not whole boxes: triangular, banded and other affine ones.

Source: tile-language.md section 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pantile.errors import MappingError, suggestion
from pantile.tiling.affine import Affine, parse_relations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantile.tiling.lattice import Inequality


@dataclass(frozen=True)
class Domain:
    """The points of a box where affine relations between the dimensions hold; all of it without any.

    A tile without such a point does not exist. A tile across the border keeps its box, and is masked: it
    counts its points only.

    Attributes:
        where: Relations such as ``"t >= o"`` or ``"0 <= t - o < 8"``; a comma, ``and`` or several texts join
            them.
        relations: The same, as expressions that are all at least 0 on the domain.

    Raises:
        MappingError: If a text is no relation between affine expressions.
    """

    where: tuple[str, ...]
    relations: tuple[Affine, ...] = field(init=False, compare=False, repr=False)

    def __init__(self, where: str | Sequence[str] = ()) -> None:
        texts = (where,) if isinstance(where, str) else tuple(where)
        object.__setattr__(self, "where", texts)
        object.__setattr__(self, "relations", tuple(each for text in texts for each in parse_relations(text)))

    @property
    def is_box(self) -> bool:
        """Whether nothing restricts the domain."""
        return not self.relations

    def contains(self, point: Mapping[str, int]) -> bool:
        """Whether a point, given by dimension, belongs to the domain.

        >>> Domain("t >= o").contains({"t": 3, "o": 4})
        False
        """
        return all(relation.at(point) >= 0 for relation in self.relations)

    def inequalities(self, dimensions: Sequence[str]) -> tuple[Inequality, ...]:
        """Return the relations with one coefficient for each of *dimensions*, in that order.

        Raises:
            MappingError: If a relation has a name that is no dimension.
        """
        for relation in self.relations:
            for name in relation.names:
                if name not in dimensions:
                    raise MappingError(
                        f"domain {' and '.join(self.where)!r} names {name!r}, which is no dimension",
                        mend=suggestion(name, dimensions),
                    )
        return tuple(
            (tuple(relation.coefficient(each) for each in dimensions), relation.constant)
            for relation in self.relations
        )

    def __str__(self) -> str:
        return " and ".join(self.where) or "box"
