"""An immutable table of constants, for what one family or one duration model alone reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, Union

from pantile.errors import MachineError
from pantile.machine.units import shown

Value: TypeAlias = Union[bool, int, float, str, "tuple[Value, ...]", "Table"]


class Table(Mapping[str, Value]):
    """Constants by key, in the order in which they were written.

    Nested mappings become tables and lists become tuples, so that a table can be shared, hashed
    and sent to another process.

    >>> Table({"rows": 8, "sizes": [1, 2]}).to_json()
    {'rows': 8, 'sizes': [1, 2]}

    Raises:
        MachineError: If a value is neither number, text, truth value, list nor table.
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, object] | None = None) -> None:
        self._items: dict[str, Value] = {key: _freeze(key, value) for key, value in (items or {}).items()}

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Table({self._items!r})"

    def table(self, *keys: str) -> Table:
        """Return the table below *keys*; an empty one where there is none."""
        found: Table = self
        for key in keys:
            below = found.get(key)
            found = below if isinstance(below, Table) else _EMPTY
        return found

    def to_json(self) -> dict[str, object]:
        """Return plain dicts, lists and scalars."""
        return {key: _thaw(value) for key, value in self._items.items()}


def _freeze(key: str, value: object) -> Value:
    if isinstance(value, Mapping):
        return Table(value)
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(key, item) for item in value)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise MachineError(f"{key}: expected a number, text, true, false, a list or a table, got {shown(value)}")


def _thaw(value: Value) -> object:
    if isinstance(value, Table):
        return value.to_json()
    return [_thaw(item) for item in value] if isinstance(value, tuple) else value


_EMPTY = Table()
