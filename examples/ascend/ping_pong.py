"""A kernel of one's own: two halves of L0A, a function that is called for each tile, and ids from alloc.

pantile check examples/ascend/ping_pong.py:right -m ascend-910b
"""

from pantile.ascend import FIX, L0A, L0C, L1, MTE1, Core, M, Program, function, tensor

HALF = 32768


@function
def tile(core, half, free, ready):
    """Load half of L0A when it is free, multiply when it is there, give it back."""
    mine = slice(half * HALF, (half + 1) * HALF)
    core.wait(free)
    core.access(MTE1, reads=L1[0:HALF], writes=L0A[mine], label="load")
    core.set(ready)
    core.wait(ready)
    core.access(M, reads=L0A[mine], writes=L0C[0:65536], label="multiply", cycles=512)
    core.barrier(M)
    core.set(free)


def kernel(reserve: bool) -> Program:
    """Return four tiles; the ids by which M learns of a half are reserved, or only looked up."""
    core = Core("ping_pong.py")
    free = [core.alloc(M, MTE1) for _ in range(2)]
    ready = [(core.alloc if reserve else core.fetch)(MTE1, M) for _ in range(2)]
    for event in free:
        core.set(event)
    for number in range(4):
        tile(core, number % 2, free[number % 2], ready[number % 2])
    for event in free:
        core.wait(event)
    done = core.fetch(M, FIX)
    core.set(done)
    core.wait(done)
    core.access(FIX, reads=L0C[0:65536], writes=tensor("C")[0:HALF], label="store")
    for event in (*free, *ready) if reserve else free:
        core.release(event)
    return core.program()


right = kernel(reserve=True)
fetched = kernel(reserve=False)
