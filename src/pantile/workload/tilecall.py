"""One call of a library's product of tiles, as a line of text: ``mma-tile:m=128,n=128,k=512,dtype=fp16``.

It is no product to be planned: how it is cut is the library's own affair. What its events are called, and
which types it takes, only the target knows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import Place, WorkloadError
from pantile.workload.dtypes import dtype
from pantile.workload.sizes import parse_size, quoted
from pantile.workload.tokens import Fields, Scheme, label

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from pantile.workload.dtypes import Dtype

SCHEME = "mma-tile"

_FLAGS = frozenset({"ta", "tb", "hf32"})
_SCHEME = Scheme(
    name=SCHEME,
    keys={"m": "m=128", "n": "n=128", "k": "k=512", "dtype": "dtype=fp16", "ta": "ta", "tb": "tb"}
    | {"hf32": "hf32", "bias": "bias=fp32", "init": "init=1", "unit_flag": "unit_flag=0"}
    | {"kloop": "kloop=0", "events": "events=NAME:0+NAME:1"},
    flags=_FLAGS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TileCall:
    """What a text of the scheme ``mma-tile`` says.

    Attributes:
        text: The text.
        m: Rows; likewise columns *n* and reduction *k*, as the call's own arguments count them. May be 0.
        dtype: Type of both operands.
        transpose_a: Whether the left operand is stored k by m.
        transpose_b: Whether the right operand is stored n by k.
        hf32: Whether fp32 is rounded to HF32.
        bias: Type of the bias, if there is one.
        init: Whether the sum starts anew.
        unit_flag: Mode of the hand-over of the result.
        kloop: Number of the iteration around the call, if it is said.
        events: Names of events and their ids, as they are written.
    """

    text: str
    m: int
    n: int
    k: int
    dtype: Dtype
    transpose_a: bool = False
    transpose_b: bool = False
    hf32: bool = False
    bias: Dtype | None = None
    init: bool = True
    unit_flag: int = 0
    kloop: int | None = None
    events: tuple[tuple[str, int], ...] = ()

    def place(self, key: str) -> Place:
        """Return where the token of *key* begins in the text, or the text's beginning if there is none."""
        fields = Fields(self.text, _SCHEME)
        return fields.tokens[key].place if key in fields else Place(label(self.text), column=1)


def is_tile_call(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether *value* is a text of the scheme ``mma-tile``."""
    if not isinstance(value, str | os.PathLike):
        return False
    word, colon, _ = os.fspath(value).partition(":")
    return bool(colon) and word.strip() == SCHEME


def parse_tile_call(text: str) -> TileCall:
    """Return the call that *text* describes.

    ``mma-tile:m=,n=,k=,dtype=[,ta][,tb][,hf32][,bias=TYPE][,init=0|1][,unit_flag=0..3][,kloop=I]
    [,events=NAME:ID+NAME:ID…]``

    Raises:
        WorkloadError: If the text has a problem; its place names the column of the token.
        ManyProblems: If it has several.

    >>> call = parse_tile_call("mma-tile:m=16,n=32,k=64,dtype=int8,tb,events=l1a_wait:0+back0:2")
    >>> call.n, call.transpose_b, call.events
    (32, True, (('l1a_wait', 0), ('back0', 2)))
    """
    fields = Fields(text, _SCHEME)
    fields.require("m", "n", "k", "dtype")
    m, n, k = (fields.read(key, _number(key), 0) for key in "mnk")
    element = fields.read("dtype", dtype, dtype("fp16"))
    bias = fields.read("bias", dtype, None)
    init = fields.read("init", _number("init", 1), 1)
    unit_flag = fields.read("unit_flag", _number("unit_flag", 3), 0)
    kloop = fields.read("kloop", _number("kloop"), None)
    events = fields.read("events", _events, ())
    fields.raise_problems()
    return TileCall(
        text=text,
        m=m,
        n=n,
        k=k,
        dtype=element,
        transpose_a="ta" in fields,
        transpose_b="tb" in fields,
        hf32="hf32" in fields,
        bias=bias,
        init=bool(init),
        unit_flag=unit_flag,
        kloop=kloop,
        events=events,
    )


def _number(name: str, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of numbers from 0 to *most*."""

    def read(text: str) -> int:
        value = parse_size(text, name, least=0)
        if most is not None and value > most:
            raise WorkloadError(f"{name} must be at most {most}, got {value}")
        return value

    return read


def _events(text: str) -> tuple[tuple[str, int], ...]:
    """Return names and ids of ``NAME:ID+NAME:ID``."""
    found: dict[str, int] = {}
    for part in text.split("+"):
        name, colon, number = (piece.strip() for piece in part.partition(":"))
        if not name or not colon:
            raise WorkloadError(f"expected NAME:ID, got {quoted(part)}", mend="write events=NAME:0+NAME:1")
        if name in found:
            raise WorkloadError(f"event {name} is given twice")
        found[name] = parse_size(number, f"the id of event {name}", least=0)
    return tuple(found.items())
