"""Two calls of ``mma_tile``, the first double-buffered, the second single-buffered, in two revisions.

The caller owns the two ids by which M tells MTE1 that a half of L0 is free again.

    pantile check examples/ascend/two_tiles.py:seed -m ascend-910b
"""

from pantile.ascend import MTE1, Core, M, Program, tile_call


def kernel(revision: str) -> Program:
    """Return both calls between the flags that the caller raises and takes."""
    core = Core(f"two_tiles.{revision}")
    for event in (0, 1):
        core.set(M, MTE1, event)
    core.mma_tile(tile_call("fp16", 112, 128, 256, back0=0, back1=1), revision)
    core.mma_tile(tile_call("fp16", 16, 1040, 32, a=262144, b=327680, c=57344, back0=0, back1=1), revision)
    for event in (0, 1):
        core.wait(M, MTE1, event)
    return core.program()


seed = kernel("seed")
head = kernel("head")
