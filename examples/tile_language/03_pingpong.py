"""Worked example 3: ping-pong, a loader and a multiplier that share two slots.

``slots=2`` lets the loader fill one slot while the multiplier works on the other. With one slot the two take
turns; with three the loader may run two tiles ahead. Leave ``release`` out and the loader waits for ever.

    python examples/tile_language/03_pingpong.py          prints the program
    pantile check examples/tile_language/03_pingpong.py   proves it right
"""

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Program,
    Range,
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

tiling = Tiling("ti,oi->to", total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
core, ddr = Core(0, 1), DDR(0)
sram = SRAM(core)


def ping_pong(slots: int) -> Program:
    """Return the program with a buffer of *slots*."""
    buf = Buffer(slots=slots)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            buf.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            for t in Range(tiling.T):
                child = tile.child(t)
                load_store(src=sram, dst=Compute(core), tile=child)
                compute(child)
            finish_reading(tile)
            if d.last("i"):
                load_store(src=sram, dst=ddr, tile=tile.Y)
            destroy(tile)
            buf.release()

    return Program(tiling, load, multiply, name=f"ping-pong with {slots} slots")


program = ping_pong(slots=2)

if __name__ == "__main__":
    print(program.to_text(), end="")
