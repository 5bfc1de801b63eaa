"""Buffers of a core, and bytes of them as kernels write them: ``L0A[0:32768]``.

Source: ascend-core.md section 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from pantile.errors import ProgramError
from pantile.targets.ascend.ranges import Range
from pantile.targets.ascend.work import GLOBAL


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes *lo* to *hi* of a buffer; *hi* is not among them."""

    buffer: str
    lo: int
    hi: int

    def range(self, *, writes: bool) -> Range:
        """Return it as something that is read or written."""
        return Range(self.buffer, self.lo, self.hi, writes)

    def to_json(self) -> dict[str, str | int]:
        """Return it as recorded cases write it."""
        return {"buf": self.buffer, "lo": self.lo, "hi": self.hi}


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of a core, or a tensor in global memory; ``buffer[lo:hi]`` are bytes of it.

    >>> Buffer("L0A")[512:1024]
    Bytes(buffer='L0A', lo=512, hi=1024)
    """

    name: str

    def __getitem__(self, span: object) -> Bytes:
        if not isinstance(span, slice):
            raise ProgramError(f"expected bytes such as {self.name}[0:512], got {self.name}[{span!r}]")
        lo, hi = span.start, span.stop
        if span.step is not None or not isinstance(lo, int) or not isinstance(hi, int) or not 0 <= lo < hi:
            got = f"{self.name}[{_end(lo)}:{_end(hi)}{'' if span.step is None else f':{span.step}'}]"
            raise ProgramError(f"expected bytes such as {self.name}[0:512], got {got}")
        return Bytes(self.name, lo, hi)


def _end(value: object) -> str:
    return "" if value is None else str(value)


def tensor(name: str) -> Buffer:
    """Return a tensor in global memory; its bytes count from its own start.

    >>> tensor("A").name
    'GM_A'
    """
    return Buffer(name if name.startswith(GLOBAL) else f"{GLOBAL}_{name}")
