"""The tile language, as programs write it: ``from pantile.language import Buffer, Core, Program, Tiling, …``.

    tiling = Tiling("ti,oi->to", total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
    program = Program(tiling, load, multiply)
    program.check()

Source: tile-language.md; docs/tile-language.md teaches it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self
from typing import Any as Anything

from pantile.errors import ProgramError
from pantile.program.language.buffers import Buffer
from pantile.program.language.dynamic import DynamicSource
from pantile.program.language.listing import parse_text, to_text
from pantile.program.language.lower import DTYPE, FAMILY, lower
from pantile.program.language.places import (
    DDR,
    SRAM,
    Adjacent,
    Any,
    Chiplet,
    Compute,
    Core,
    Memory,
    Place,
)
from pantile.program.language.run import checked, record, uncollected
from pantile.program.language.statements import (
    barrier,
    compute,
    destory,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
)
from pantile.program.language.threads import Thread, thread
from pantile.program.program import Program as Tables
from pantile.tiling.active import Empty
from pantile.tiling.domain import Domain
from pantile.tiling.maps import SpatialMapping, TemporalMapping
from pantile.tiling.notation import tiling as Tiling  # noqa: N812 -- the notation's word
from pantile.tiling.ranges import Range, diagonal, hilbert, listed, morton, nest, swizzle
from pantile.tiling.streaming import ResolveActive, ResolveRange, StreamingEquation
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from pantile.program.language.dynamic import DynamicRun
    from pantile.tiling.tiling import Tiling as TilingValue

__all__ = [
    "DDR",
    "SRAM",
    "Adjacent",
    "Any",
    "Buffer",
    "Chiplet",
    "Compute",
    "Core",
    "Domain",
    "Empty",
    "Memory",
    "Place",
    "Program",
    "Range",
    "ResolveActive",
    "ResolveRange",
    "SpatialMapping",
    "StreamingEquation",
    "TemporalMapping",
    "Thread",
    "Tile",
    "Tiling",
    "barrier",
    "compute",
    "destory",
    "destroy",
    "diagonal",
    "finish_reading",
    "finish_writing",
    "hilbert",
    "listed",
    "load_store",
    "morton",
    "nest",
    "start_reading",
    "start_writing",
    "swizzle",
    "thread",
]


class Program(Tables):
    """What the threads of a tile-language program do.

    A static program is recorded when it is made: every thread is run once, in order of declaration. A dynamic
    one (``dynamic=True``) may ask buffers whether they are full or empty, and is recorded when it runs.

    Args:
        tiling: How the product is cut.
        threads: Functions marked :func:`thread`.
        name: What listings call the program; by default the file of the first thread.
        dtype: Element type of all operands, or by operand: ``{"X": "int8", "W": "int8", "Y": "int32"}``.
        grid: The chiplets, for ``Adjacent(place)`` and for what is nearest where ``Any`` is read.
        dynamic: Whether threads may ask.
        keep_faults: List misuses of statements in ``parameters["faults"]`` instead of refusing the program.

    Raises:
        ProgramError: If a statement is misused whatever the timing: all misuses with file and line.
    """

    __slots__ = ("source",)

    source: DynamicSource | None
    """What a dynamic program runs; ``None`` for what is recorded."""

    def __init__(
        self,
        tiling: TilingValue,
        *threads: Thread,
        name: str = "",
        dtype: str | Mapping[str, str] = DTYPE,
        grid: Chiplet | None = None,
        dynamic: bool = False,
        keep_faults: bool = False,
    ) -> None:
        chosen = checked(threads)
        name = name or Path(chosen[0].place.path).stem
        if dynamic:
            source = DynamicSource(name, tiling, chosen, dtype, grid)
            _fill(self, _unrecorded(source), source)
            return
        with uncollected():
            recording = record(tiling, chosen, grid=grid)
            tables = lower(recording, name=name, dtypes=dtype, grid=grid, keep_faults=keep_faults)
        _fill(self, tables)

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """Return a program of any origin as one that can be asked."""
        self = object.__new__(cls)
        _fill(self, tables)
        return self

    @property
    def dynamic(self) -> bool:
        """Whether it is recorded only when it runs."""
        return self.source is not None

    def start(self) -> DynamicRun:
        """Return a run of a dynamic program, for an executor to carry out.

        Raises:
            ProgramError: If the program is static.
        """
        if self.source is None:
            raise ProgramError(
                f"program {self.name!r} is static", mend="its tables say all: Program.tables()"
            )
        return self.source.start()

    def tables(self) -> dict[str, np.ndarray]:
        """Return all tables.

        Raises:
            ProgramError: If the program is dynamic.
        """
        self._require_static()
        return super().tables()

    def to_json(self) -> dict[str, Anything]:
        """Return a JSON-able description, read back by :meth:`from_json`.

        Raises:
            ProgramError: If the program is dynamic.
        """
        self._require_static()
        return super().to_json()

    @classmethod
    def from_json(cls, data: dict[str, Anything]) -> Self:
        """Rebuild a program from :meth:`to_json`'s object."""
        return cls.of(Tables.from_json(data))

    def to_text(self) -> str:
        """Return the listing, read back by :meth:`from_text`.

        Raises:
            ProgramError: If the program is dynamic.
        """
        self._require_static()
        return to_text(self)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Rebuild a program from :meth:`to_text`'s listing.

        Raises:
            ProgramError: If it is none.
        """
        return cls.of(parse_text(text))

    def check(self, machine: object = None, **options: Anything) -> Anything:
        """Return the report of all checks, on *machine* if one is given."""
        return _verb("check_program")(self, machine=machine, **options)

    def simulate(self, machine: object) -> Anything:
        """Return when each operation happens on *machine*, and why not earlier."""
        return _verb("simulate_program")(self, machine)

    def timeline(self, machine: object = None) -> Anything:
        """Return the start and the finish of every operation on *machine*.

        Without one every move and compute takes one tick, and nothing is shared.
        """
        if machine is not None:
            return self.simulate(machine).timeline
        if self.source is not None:
            return import_module("pantile.simulate.queries").simulate_dynamic(self.source)
        bound = import_module("pantile.simulate.bound").unit_time(self)
        return import_module("pantile.simulate.timeline").Timeline(
            bound, import_module("pantile.simulate.engine").run(bound)
        )

    def execute(self, **arrays: Anything) -> Anything:
        """Return the output for arrays given by operand, ``execute(x=..., w=...)``."""
        return _verb("execute_program")(self, arrays)

    def show(self, machine: object = None, output: object = None) -> Anything:
        """Return a page on which to step through a run on *machine*; a notebook shows it.

        It is written to the file *output* if one is named.
        """
        return _verb("view_program")(self, machine, output)

    def _require_static(self) -> None:
        if self.source is not None:
            raise ProgramError(
                f"program {self.name!r} is dynamic: what it does is known when it has run",
                mend="simulate it, or leave dynamic=True out if no thread asks full or empty",
            )

    def __repr__(self) -> str:
        what = "dynamic" if self.source is not None else f"{self.operations} operations"
        return f"<program {self.name}: {what}>"


def _fill(program: Program, tables: Tables, source: DynamicSource | None = None) -> None:
    """Give a new program the values of *tables*."""
    fields = {name: getattr(tables, name) for name in Tables.__dataclass_fields__}
    Tables.__init__(program, **fields)
    object.__setattr__(program, "source", source)


def _unrecorded(source: DynamicSource) -> Tables:
    """Return what is known of a dynamic program before it runs."""
    tiling = source.tiling
    return Tables(
        name=source.name,
        family=FAMILY,
        semantics="dynamic",
        axes=tuple(tiling.dimensions),
        extents=tuple(tiling.total),
        loops=(),
        reductions=tuple(tiling.reductions),
        names=(),
        operands=(),
        pieces=(),
    )


def _verb(name: str) -> Anything:
    """Return a verb on programs; verbs are loaded when they are first asked for."""
    return getattr(import_module("pantile.verbs.program"), name)
