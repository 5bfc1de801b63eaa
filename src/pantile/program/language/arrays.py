"""Computes on systolic arrays: one operation per tile, with its edge injections and its steps.

Source: tile-language.md section 9 ("an array is lowered to one engine operation per tile with its edge
injections").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import PantileError, ProgramError
from pantile.program.language.places import IN_ENGINE, Place
from pantile.program.language.recorder import COMPUTE
from pantile.tiling.array import ArrayRun, SystolicArray
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from pantile.errors import Place as SourcePlace
    from pantile.program.language.facts import Facts
    from pantile.program.language.geometry import Ints
    from pantile.program.language.recorder import Recording
    from pantile.tiling.tiling import Tiling

Arrays = Mapping[Place, SystolicArray]
"""The arrays of cores, by core."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """What the computes on arrays are.

    Attributes:
        model: Duration model of every operation: from 1 on a position among *kinds*, else -1.
        kinds: Every kind of run once: the place of its array among the arrays, and the run.
    """

    model: Ints
    kinds: tuple[tuple[int, ArrayRun], ...]


def array_at(arrays: Arrays, place: Place) -> tuple[int, SystolicArray] | None:
    """Return the array with which a unit computes, and its place among *arrays*; ``None`` without one."""
    for number, (core, array) in enumerate(arrays.items()):
        if core.at == place.at:
            return number, array
    return None


def run_of(array: SystolicArray, tile: Tile, where: SourcePlace) -> ArrayRun:
    """Return what a tile that is computed at *where* in the source is for an array.

    Raises:
        ProgramError: If the array cannot take it at once.
    """
    try:
        return array.run(tile)
    except PantileError as error:
        raise ProgramError(error.problem, place=where, mend=error.mend) from None


def runs_of(recording: Recording, facts: Facts, arrays: Arrays) -> Runs:
    """Return what the computes of *recording* are for its arrays; equal tiles on one array are one kind.

    Raises:
        ProgramError: If an array cannot take a tile at once, with the line of its first compute.
    """
    ops, geometry = facts.ops, facts.geometry
    model = np.full(len(ops), -1, np.int64)
    kinds: list[tuple[int, ArrayRun]] = []
    computes = ops.of(COMPUTE) if arrays else np.zeros(0, np.int64)
    for place in np.unique(ops.first[computes]).tolist():
        found = array_at(arrays, recording.places[place])
        if found is None:
            continue
        mine = computes[ops.first[computes] == place]
        tiles = ops.tile[mine]
        shapes = np.concatenate([(geometry.hi - geometry.lo)[-1][:, tiles], geometry.depth[tiles][None]])
        _, firsts, which = np.unique(shapes, axis=1, return_index=True, return_inverse=True)
        model[mine] = len(kinds) + 1 + which.reshape(-1)
        for first in firsts.tolist():
            tile = Tile(recording.tiling, recording.paths[int(tiles[first])])
            kinds.append((found[0], run_of(found[1], tile, ops.place(int(mine[first])))))
    return Runs(model, tuple(kinds))


def arrays_json(arrays: Arrays, runs: Runs) -> dict[str, Any]:
    """Return the parameters of a program with arrays.

    ``durations`` has, for each kind of run, the cycles after which the array takes the next tile and those
    of the whole run; ``arrays`` what it is an array of, and for each kind what enters at its edges. Results
    leave an array in the order in which its runs begin, so each run sees the sums of those before:
    ``forwarding``.
    """
    described = []
    for number, (core, array) in enumerate(arrays.items()):
        mine = [(model, run) for model, (owner, run) in enumerate(runs.kinds, 1) if owner == number]
        described.append(
            {
                "engine": f"compute@({','.join(map(str, core.at))})",
                "equation": str(array.equation),
                "dataflow": array.equation.dataflow,
                "sides": array.sides,
                "runs": [
                    {"duration": model, "units": list(run.units), "injections": dict(run.injections)}
                    for model, run in mine
                ],
            }
        )
    durations = [[run.held, run.total] for _, run in runs.kinds]
    forwarding = np.flatnonzero(runs.model > 0).tolist()
    return {"arrays": described, "durations": durations, "forwarding": forwarding}


def checked_arrays(arrays: object, tiling: Tiling) -> Arrays:
    """Return *arrays* if they are arrays by core, for tiles of *tiling*.

    Raises:
        ProgramError: If they are not.
    """
    if not isinstance(arrays, Mapping):
        raise ProgramError(f"expected arrays by core, got {arrays!r}", mend="write arrays={core: array}")
    for core, array in arrays.items():
        if not isinstance(core, Place) or not core.at or core.level == 0 or core.level > IN_ENGINE:
            raise ProgramError(
                f"expected a core that has the array, got {core!r}", mend="write arrays={core: array}"
            )
        if not isinstance(array, SystolicArray):
            raise ProgramError(
                f"expected a systolic array of {core}, got {array!r}",
                mend="write SystolicArray(StreamingEquation(text, tiling, SpatialMapping(...)))",
            )
        if array.tiling != tiling:
            raise ProgramError(
                f"the array of {core} is of another tiling than the program", mend="give both the same tiling"
            )
    return arrays
