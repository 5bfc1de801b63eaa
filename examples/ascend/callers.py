"""Callers that do not keep what the functions that they call ask for.

pantile check examples/ascend/callers.py:other_ids -m ascend-910b
"""

from pantile.ascend import L0A, L1, MTE1, Core, Flag, M, Program, function, tile_call

FREE = Flag(M, MTE1, 0)


@function(needs=[FREE], leaves=[])
def load(core):
    """Load L0A when it is free; its contract forgets that the flag is raised again."""
    core.wait(*FREE)
    core.access(MTE1, reads=L1[0:512], writes=L0A[0:512], label="load")
    core.barrier(MTE1)
    core.set(*FREE)


def leaking() -> Program:
    """A function returns with a flag up that its contract does not name."""
    core = Core("callers.py")
    core.set(*FREE)
    load(core)
    core.wait(*FREE)
    return core.program()


def passing(revision: str, first: int, second: int) -> Program:
    """A single-buffered tile whose caller owns other ids than 0 and 1."""
    core = Core("callers.py")
    for event in (first, second):
        core.set(M, MTE1, event)
    core.mma_tile(tile_call("fp16", 16, 1040, 32, back0=first, back1=second), revision)
    for event in (first, second):
        core.wait(M, MTE1, event)
    return core.program()


leaks = leaking()
other_ids = passing("head", 2, 3)
other_ids_seed = passing("seed", 2, 3)
