"""The page: one file with template, style, script and data inside.

It asks the network for nothing. Its content security policy allows exactly the
style and the script that stand in it, by their hashes; every name that came
from the user travels as data and is set as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from pantile.errors import UsageError
from pantile.view.columns import KINDS, LARGEST, MODES, OPERANDS, encode
from pantile.view.outfile import write_atomically
from pantile.view.residency import residency

if TYPE_CHECKING:
    import os

    from pantile.view.columns import Table
    from pantile.view.pagedata import PageData, PlayedOrder

SCHEMA = "pantile/view/1"
MAX_OPERATIONS = 10_000
"""The most operations that one page holds; a longer program needs a window."""

SCRIPTS = (
    "dom", "words_en", "words_zh", "decode", "letters", "model", "moment", "state", "search", "paint",
    "overview", "list", "matrices", "lanes", "buffers", "memories", "steps", "inspector", "figures", "table",
    "dialogs", "transport", "keys", "top", "main",
)  # fmt: skip
"""The page's script, in the order in which its files are joined; main comes last."""


def refuse_too_many(operation_count: int) -> None:
    """Do nothing for a program that fits one page.

    Raises:
        UsageError: If it does not, naming the window to ask for.
    """
    if operation_count > MAX_OPERATIONS:
        raise UsageError(
            f"the program has {operation_count} operations, a page shows at most {MAX_OPERATIONS}",
            mend=f"add --window 0:{MAX_OPERATIONS}, or another range of that length",
        )


def render_page(data: PageData) -> str:
    """Return the page of *data*, the same characters for the same values.

    Raises:
        UsageError: If *data* holds more than :data:`MAX_OPERATIONS` operations.
    """
    refuse_too_many(data.operations.count)
    _check(data)
    style, script = _asset("style.css"), _script()
    lives = data.residency or residency(
        data.operations, data.accesses, data.bindings, data.tiles, windowed=data.window is not None
    )
    described, columns = encode(
        [
            *(data.operations, data.tiles, data.bindings, lives.touches, lives.entries, lives.blocks),
            *(each for order in data.orders for each in _tables_of(order, data)),
        ]
    )
    parts = {
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "head": _as_script_data(_head(data, described)),
        "columns": columns,
    }
    page = _asset("template.html")
    pieces = page.split("@@")  # @@name@@ marks a place; text between marks stands at even positions
    return "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces))


def write_page(data: PageData, path: str | os.PathLike[str]) -> None:
    """Write the page of *data* to *path*, whole or not at all.

    Raises:
        UsageError: As :func:`render_page`.
        OutputError: If *path* cannot be written.
    """
    write_atomically(path, render_page(data).encode("utf-8"))


@cache
def _asset(name: str) -> str:
    """Return a file of the page as text."""
    return (resources.files("pantile.view") / "page" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Return the page's script: its files in order, closed off from the page's global names."""
    body = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def _hash(text: str) -> str:
    """Return the policy's source for an inline block of exactly *text*."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _as_script_data(value: Any) -> str:
    """Return JSON that no HTML parser can take for the end of its script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _exact(value: Any) -> Any:
    """Return *value* with integers that JavaScript would round as texts, in nested values too."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
        return str(value)
    if isinstance(value, dict):
        return {str(key): _exact(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(part) for part in value]
    return value


_TABLES = frozenset({"operations", "tiles", "accesses", "bindings", "residency", "orders"})


def _tables_of(order: PlayedOrder, data: PageData) -> tuple[Table, ...]:
    """The same tables as of the run, of another order of its operations."""
    lives = order.lives
    return order.operations, order.tiles, data.bindings, lives.touches, lives.entries, lives.blocks


def _head(data: PageData, described: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the page's head: everything but the columns, and what the columns are."""
    names = [name for name in data.__dataclass_fields__ if name not in _TABLES]
    head: dict[str, Any] = {"schema": SCHEMA, "kinds": KINDS, "operands": OPERANDS, "modes": MODES}
    for name in names:
        head[name] = _plain(getattr(data, name))
    head["orders"] = [order.finding for order in data.orders]
    head["tables"] = described
    return {key: _exact(value) for key, value in head.items()}


def _plain(value: Any) -> Any:
    """Return dataclasses as dictionaries, wherever they stand in *value*."""
    if hasattr(value, "__dataclass_fields__"):
        return asdict(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "items"):
        return dict(value.items())
    return value


def _check(data: PageData) -> None:
    """Assert that every index in *data* points at something."""
    _check_operations(data.operations, data.tiles, data)
    for order in data.orders:
        assert order.finding < len(data.findings), "an order of no finding"
        _check_operations(order.operations, order.tiles, data)
    operations, tiles = data.operations, data.tiles
    _points(data.accesses, "operation", operations.count)
    _points(data.accesses, "mode", len(MODES))
    _points(data.accesses, "operand", len(OPERANDS))
    assert not (data.accesses["operation"][1:] < data.accesses["operation"][:-1]).any(), "accesses unordered"
    for table in (data.accesses, data.bindings):
        _points(table, "memory", len(data.memories))
        _points(table, "slot", max((memory.slots for memory in data.memories), default=0))
    _points(data.bindings, "tile", tiles.count)
    assert set(data.extents) in (set(), set("bmnk")), "extents need b, m, n and k, or nothing"


def _check_operations(operations: Table, tiles: Table, data: PageData) -> None:
    """Assert that every index in rows of operations points at something."""
    _points(operations, "kind", len(KINDS))
    _points(operations, "operand", len(OPERANDS))
    _points(operations, "opcode", len(data.opcodes))
    _points(operations, "engine", len(data.engines))
    _points(operations, "tile", tiles.count, least=-1)
    _points(operations, "waits", len(data.waits), least=-1)
    _points(operations, "posts", len(data.posts), least=-1)
    _points(operations, "cause", len(data.causes), least=-1)
    _points(operations, "releaser", operations.count, least=-1)
    _points(operations, "source", len(data.sources), least=-1)
    _points(operations, "text", len(data.texts), least=-1)


def _points(table: Table, name: str, count: int, *, least: int = 0) -> None:
    """Assert that all values of a column lie in [least, count)."""
    values = table[name]
    inside = not len(values) or (values.min() >= least and values.max() < count)
    assert inside, f"{table.schema.name}: column {name!r} leaves [{least}, {count})"
