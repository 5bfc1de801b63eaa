"""What a table that only one model reads may hold: its keys, their types and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pantile.machine.checks import ConstantError, check_choice, check_quantity, unknown_key
from pantile.machine.table import Table
from pantile.machine.units import LARGEST, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """One key of such a table.

    Attributes:
        meaning: One sentence, shown in the JSON Schema and the documentation.
        kind: ``count`` is a whole number, ``text`` a text, ``counts`` a list of whole numbers,
            ``table`` anything below a key of its own.
        minimum: Smallest whole number, *maximum* the largest.
        choices: The texts allowed; none means any.
        required: The table is incomplete without it.
        needed_with: Another key and its value that make this one required.
        per_core: A ``[[core]]`` table may override it.
    """

    meaning: str
    kind: Literal["count", "counts", "text", "table"] = "count"
    minimum: int = 1
    maximum: int = LARGEST
    choices: tuple[str, ...] = ()
    required: bool = True
    needed_with: tuple[str, str] | None = None
    per_core: bool = False

    def check(self, table: str, key: str, value: object) -> None:
        """Raise :class:`ConstantError` unless *value* is what this key may hold."""
        if self.choices:
            check_choice(table, key, value, self.choices)
        elif self.kind == "count":
            check_quantity(table, key, value, minimum=self.minimum, maximum=self.maximum)
        elif self.kind == "text":
            if not isinstance(value, str) or not value:
                raise ConstantError(table, key, f"expected a text, got {shown(value)}")
        elif self.kind == "counts":
            if not isinstance(value, list | tuple):
                raise ConstantError(table, key, f"expected a list of whole numbers, got {shown(value)}")
            for item in value:
                check_quantity(table, key, item, minimum=self.minimum, maximum=self.maximum)
        elif not isinstance(value, Mapping):
            raise ConstantError(table, key, f"expected a table, got {shown(value)}")
        else:
            Table(value)


def constant_problems(
    table: str,
    values: Mapping[str, object],
    constants: Mapping[str, Constant],
    also_known: Collection[str] = (),
) -> Iterator[ConstantError]:
    """Yield every problem that *values* have as the table labelled *table*, in the order of its keys.

    *constants* says what the table may hold; the keys *also_known* are checked by somebody else.
    """
    for key, value in values.items():
        if key in also_known:
            continue
        if key not in constants:
            yield unknown_key(table, key, (*also_known, *constants))
            continue
        try:
            constants[key].check(table, key, value)
        except ConstantError as error:
            yield error
    for key, constant in constants.items():
        if key in values:
            continue
        if constant.needed_with and values.get(constant.needed_with[0]) == constant.needed_with[1]:
            other = " ".join(constant.needed_with)
            yield ConstantError(table, key, f"missing: {constant.meaning}, which {other} needs")
        elif constant.required and not constant.needed_with:
            yield ConstantError(table, key, f"missing: {constant.meaning}")
