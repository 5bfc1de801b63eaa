"""Pages as results: what was written where, and the page itself for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pantile.verbs.result import as_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.view.pagedata import PageData

MAX_FRAMED_BYTES = 2_000_000
"""Largest page that a notebook shows in a frame."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, and where it was written.

    Attributes:
        head: The keys that every object has, for :meth:`to_json`.
        data: Everything that it shows.
        html: The page itself.
        output: Path of the file; empty if it was not written.
    """

    head: Mapping[str, Any]
    data: PageData
    html: str
    output: str

    @property
    def ok(self) -> bool:
        """A page that was written is fine."""
        return True

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return len(self.html.encode())

    def to_json(self) -> dict[str, Any]:
        """Return what was written where, and the page's figures by their keys."""
        data = self.data
        return {
            **self.head,
            "output": self.output,
            "size_bytes": self.size_bytes,
            "command": data.command,
            "operations": data.operations.count,
            "first_operation": data.window.start if data.window else 0,
            "figures": {figure.key: figure.value for figure in data.figures},
        }

    def __str__(self) -> str:
        data, shown = self.data, self.data.operations.count
        total = data.window.total if data.window else shown
        what = f"{shown} of {total} operations of {data.workload} on {data.machine}"
        return f"{self.output or 'a page, not written'}: {what}, {self.size_bytes} B"

    def _repr_html_(self) -> str:
        if self.size_bytes > MAX_FRAMED_BYTES:
            return as_html(str(self))
        frame = f'<iframe width="100%" height="700" srcdoc="{escape(self.html)}"></iframe>'
        return as_html(str(self)) + frame
