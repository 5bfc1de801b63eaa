"""Worked example 2: systolic arrays, each declared by one streaming equation.

Four threads: ``memory`` loads tiles into the SRAM, ``skew`` moves what one run needs into the registers at
the edges of the array, ``array`` runs it, ``store`` takes finished results away. A run is one operation of
the array with all its edge injections; the array takes the next one while results of the last still leave
through its ports. Which operand stays at its unit is not said anywhere: it follows from the equation.

    python examples/tile_language/02_systolic.py          prints the program
    pantile check examples/tile_language/02_systolic.py   proves it right
"""

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Empty,
    Program,
    Range,
    ResolveActive,
    ResolveRange,
    SpatialMapping,
    StreamingEquation,
    SystolicArray,
    Tile,
    Tiling,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)

core, ddr = Core(0, 0), DDR(0)
sram, edges = SRAM(core), Compute(core)

SPACE = (16, 14, 12)
"""Rows, columns, reduction: the last tile of 14 columns has 2 of 4."""

# D: off-chip tiles, C: runs of the array, T: steps in time, S: units.
OUTPUT = Tiling("ti,oi->to", total=SPACE, D=(2, 2, 1), C=(2, 2, 1), T=(1, 1, 12), S=(4, 4, 1))
WEIGHT = Tiling("ti,oi->to", total=SPACE, D=(2, 2, 1), C=(1, 2, 3), T=(8, 1, 1), S=(1, 4, 4))
INPUT = Tiling("ti,oi->to", total=SPACE, D=(2, 2, 1), C=(2, 1, 3), T=(1, 8, 1), S=(4, 1, 4))

output_stationary = SystolicArray(
    StreamingEquation("tau = row + col + it", OUTPUT, SpatialMapping("S.ts->row", "S.os->col"))
)
weight_stationary = SystolicArray(
    StreamingEquation("tau = row + col + tt", WEIGHT, SpatialMapping("S.is->row", "S.os->col"))
)
input_stationary = SystolicArray(
    StreamingEquation("tau = row + col + ot", INPUT, SpatialMapping("S.ts->row", "S.is->col"))
)


def injected(array: SystolicArray, run: Tile) -> dict[str, int]:
    """Return the data that enter during a run, by operand: the seed's loop over set differences."""
    equation = array.equation.bind(within=run)
    entered = dict.fromkeys(equation.operands, 0)
    last_active = Empty()
    for tau in ResolveRange(equation):
        current_active = ResolveActive(equation, tau)
        load_data = current_active - last_active
        for operand in entered:
            entered[operand] += len(load_data[operand])
        last_active = current_active
    return entered


def systolic(array: SystolicArray) -> Program:
    """Return the program of *array*; if its ports overlap, runs follow one another as fast as they allow."""
    tiling = array.tiling
    tiles, results = Buffer(slots=2), Buffer(slots=2)
    skewed = Buffer(slots=3)  # one run leaves the array, one enters, one is made ready

    @thread
    def memory() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            tiles.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def skew() -> None:
        runs: list[Tile] = []
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            for c in Range(tiling.C, within=tile):
                run = Tile(tiling, (d, c), location=edges)
                skewed.acquire()
                if len(runs) >= skewed.slots:
                    destroy(runs[-skewed.slots])  # the array has given its slot back
                runs.append(run)
                start_writing(run)
                load_store(src=sram, dst=edges, tile=run)
                finish_writing(run)
            finish_reading(tile)
            destroy(tile)
            tiles.release()

    @thread(name="array", core=core, pipelined=array.overlap)
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            results.acquire()
            start_writing(tile.Y)
            for c in Range(tiling.C, within=tile):
                run = Tile(tiling, (d, c), location=edges)
                start_reading(run)
                compute(run)
                finish_reading(run)
                skewed.release()
            finish_writing(tile.Y)

    @thread
    def store() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile.Y)
            load_store(src=sram, dst=ddr, tile=tile.Y)
            finish_reading(tile.Y)
            destroy(tile.Y)
            results.release()

    return Program(tiling, memory, skew, multiply, store, name=array.equation.dataflow, arrays={core: array})


program = systolic(output_stationary)

if __name__ == "__main__":
    print(program.to_text(), end="")
