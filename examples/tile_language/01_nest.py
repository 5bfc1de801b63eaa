"""Worked example 1: an off-chip and an on-chip loop nest, one after the other, without overlap.

One thread does everything, so nothing has to wait: the tiles need no states and no buffers. ``load_store``
says neither which operand it moves nor which way: toward compute it is the inputs, away from it the output,
after the last reduction step.

    python examples/tile_language/01_nest.py          prints the program
    pantile check examples/tile_language/01_nest.py   proves it right
"""

from pantile.language import (
    DDR,
    SRAM,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    load_store,
    thread,
)

tiling = Tiling("ti,oi->to", total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
core = Core(0, 0)
ddr, sram, engine = DDR(0), SRAM(core), Compute(core)


@thread
def nest() -> None:
    """Load a tile, compute its children, store the output when it is complete."""
    for d in Range(tiling.D):
        tile = Tile(tiling, d, location=core)
        load_store(src=ddr, dst=sram, tile=tile)
        for t in Range(tiling.T):
            child = tile.child(t)
            load_store(src=sram, dst=engine, tile=child)
            compute(child)
        load_store(src=sram, dst=ddr, tile=tile)


program = Program(tiling, nest)

if __name__ == "__main__":
    print(program.to_text(), end="")
