"""Worked example 4: a mesh of chiplets with a memory each, double buffers, and neighbours that swap tiles.

Chiplet (r, c) computes block (r, c) of the output, one shard of X and one of W a step. What differs is where
a shard comes from:

    cannon   each memory loads what it owns once; then shards circulate: those of X to the left, of W up
    summa    each memory loads what it owns once; its chiplet broadcasts it, neighbour by neighbour
    direct   nobody swaps: every chiplet loads all it needs, from whichever memory has it
    central  the same from one memory at a corner

A thread that finds no free slot waits for one. (If it skipped the tile, as in the seed, the tile would never
be computed.) Where loads and swaps fill the same slots one thread does both: of two that acquired from one
buffer, the timing would decide which gets which slot.

    pantile check examples/tile_language/04_mesh.py:cannon -m mesh-2x2
    python examples/tile_language/04_mesh_figures.py    prints the figures of docs/mesh.md
"""

from itertools import pairwise

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Chiplet,
    Core,
    Place,
    Program,
    Thread,
    Tile,
    Tiling,
    barrier,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)
from pantile.tiling.tiling import Tiling as TilingValue

INPUTS = ("X", "W")


class Cannon:
    """Shards circulate on a square grid: everyone begins with another one and passes it on."""

    lag = 1
    """Steps between the use of a shard and its use by who takes it."""

    lanes = ("",)
    """Buffers of each input: one for all."""

    def __init__(self, side: int) -> None:
        self.side = side

    def piece(self, core: Place, step: int) -> int:
        """Return the piece of the reduction that *core* works on."""
        return (sum(core.at) + step) % self.side

    def source(self, name: str, core: Place, step: int) -> Place:
        """Return where *core* gets its shard: the memory that owns it, or a neighbour."""
        row, column = core.at
        if step == 0:
            return owner(self.side, name, core, self.piece(core, step))
        return Core(row, (column + 1) % self.side) if name == "X" else Core((row + 1) % self.side, column)

    def lane(self, source: Place) -> str:
        """Return the buffer for what comes from *source*."""
        return self.lanes[-1] if source.memory == "core" else self.lanes[0]


class Summa(Cannon):
    """Owners broadcast along rows and columns, and all work on one piece at a time.

    What a chiplet owns has slots of its own, so that its memory can work ahead of its turn.
    """

    lag = 0
    lanes = ("own", "passed")

    def piece(self, core: Place, step: int) -> int:
        """Return the piece of the reduction: the same for all."""
        return step

    def source(self, name: str, core: Place, step: int) -> Place:
        """Return where *core* gets its shard: the memory that owns it, or the neighbour nearer to it."""
        row, column = core.at
        at = column if name == "X" else row
        if at == step:
            return owner(self.side, name, core, step)
        ahead = at + (1 if step > at else -1)
        return Core(row, ahead) if name == "X" else Core(ahead, column)


class Direct(Cannon):
    """Every chiplet loads all it needs."""

    def piece(self, core: Place, step: int) -> int:
        """Return the piece of the reduction: the same for all."""
        return step

    def source(self, name: str, core: Place, step: int) -> Place:
        """Return the memory that has the shard."""
        return owner(self.side, name, core, step)


class Central(Direct):
    """Every chiplet loads all it needs from the memory at chiplet (0, 0)."""

    def source(self, name: str, core: Place, step: int) -> Place:
        """Return the one memory."""
        return DDR(0)


def owner(side: int, name: str, core: Place, piece: int) -> DDR:
    """Return the memory that owns a shard: X(r, k) belongs to chiplet (r, k), W(k, c) to (k, c)."""
    row, column = core.at
    return DDR(row * side + piece if name == "X" else piece * side + column)


def cut(side: int, total: tuple[int, int, int], columns: list[int] | None) -> TilingValue:
    """Return the tiling: one piece for each row and column of chiplets, and as many of the reduction."""
    rows, width, depth = (-(-size // side) for size in total)
    if columns:
        width = max(stop - start for start, stop in pairwise([0, *columns, total[1]]))
    return Tiling("mk,kn->mn", total=total, C=(side, columns or side, side), S=(rows, width, depth))


def mesh(how: Cannon, total: tuple[int, int, int], slots: int, columns: list[int] | None = None) -> Program:
    """Return the program.

    Args:
        how: Where shards come from.
        total: Rows, columns and reduction.
        slots: Slots of each buffer.
        columns: Cut points of the output's columns, where they are not cut evenly.
    """
    side, tiling, grid = how.side, cut(how.side, total, columns), Chiplet(how.side, how.side)
    buffers = {
        (x, lane): Buffer(slots=slots, array=grid, name=x + lane) for x in INPUTS for lane in how.lanes
    }
    fetch: dict[tuple[str, str, Place], Thread] = {}
    multiply: dict[Place, Thread] = {}

    def tile(core: Place, step: int) -> Tile:
        row, column = core.at
        return Tile(tiling, (row, column, how.piece(core, step)), location=core)

    def handed_on(name: str, giver: Place, step: int) -> None:
        """Meet the chiplet that gives its shard of a step and all that take it: now the copy may end."""
        later = step + how.lag
        takers = [each for each in grid if later < side and how.source(name, each, later) == giver]
        if takers:
            barrier(multiply[giver], *(fetch[name, how.lanes[-1], each] for each in takers))

    def fetch_thread(name: str, lane: str, core: Core) -> Thread:
        @thread(name=f"fetch {name} {lane} {core.at}", core=core)
        def memory_and_chiplet_swap() -> None:
            for step in range(side):
                mine, source = tile(core, step).operand(name), how.source(name, core, step)
                if how.lane(source) != lane:
                    continue
                buffers[name, lane][core].acquire()  # waits for a free slot: skipping the tile would lose it
                start_writing(mine)
                if isinstance(source, DDR):
                    load_store(src=source, dst=SRAM(core), tile=mine)
                    finish_writing(mine)
                    continue
                theirs = tile(source, step - how.lag).operand(name)
                start_reading(theirs)
                load_store(src=SRAM(source), dst=SRAM(core), tile=theirs)
                finish_reading(theirs)
                finish_writing(mine)
                handed_on(name, source, step - how.lag)

        return memory_and_chiplet_swap

    def multiply_thread(core: Core) -> Thread:
        @thread(name=f"multiply {core.at}", core=core)
        def sram_compute() -> None:
            for step in range(side):
                now = tile(core, step)
                start_reading(now)
                compute(now)
                finish_reading(now)
                for name in INPUTS:
                    handed_on(name, core, step)
                    destroy(now.operand(name))
                    buffers[name, how.lane(how.source(name, core, step))][core].release()
            load_store(src=SRAM(core), dst=DDR(core.at[0] * side + core.at[1]), tile=now.Y)

        return sram_compute

    for core in grid:
        multiply[core] = multiply_thread(core)
        for name, lane in buffers:
            fetch[name, lane, core] = fetch_thread(name, lane, core)
    label = f"{type(how).__name__.lower()} {side}x{side}"
    return Program(tiling, *fetch.values(), *multiply.values(), name=label, grid=grid)


cannon, summa, direct = (mesh(how(2), (64, 64, 64), slots=2) for how in (Cannon, Summa, Direct))
cannon_4x4, summa_4x4, direct_4x4 = (mesh(how(4), (64, 64, 64), slots=2) for how in (Cannon, Summa, Direct))
central_4x4 = mesh(Central(4), (64, 64, 64), slots=2)

if __name__ == "__main__":
    print(cannon.to_text(), end="")
