"""What alloc, fetch and release do, and what goes wrong with them.

pantile check examples/ascend/events.py:after_release
"""

from pantile.ascend import MTE1, Core, M, Program


def used_after_release() -> Program:
    """The id is given back before its last use."""
    core = Core("events.py")
    event = core.alloc(M, MTE1)
    core.set(event)
    core.wait(event)
    core.release(event)
    core.set(event)
    core.wait(event)
    return core.program()


def fetched_twice() -> Program:
    """Two flags are up at once, and fetch gave both the same id."""
    core = Core("events.py")
    first = core.fetch(M, MTE1)
    core.set(first)
    second = core.fetch(M, MTE1)
    core.set(second)
    core.wait(first)
    core.wait(second)
    return core.program()


def one_too_many() -> Program:
    """Nine ids of one pair are wanted at once, and there are eight."""
    core = Core("events.py")
    events = [core.alloc(M, MTE1) for _ in range(9)]
    for event in events[:8]:
        core.release(event)
    return core.program()


after_release = used_after_release()
twice = fetched_twice()
exhausted = one_too_many()
