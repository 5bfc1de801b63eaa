"""How full memories get, and when.

A copy takes up its bytes from ``start_writing`` to ``destroy``. The most that can be taken up at once is
bounded by the bytes of all ranges together, since a race-free program has one copy in a byte at a time; what
lives within one thread is bounded by the order of that thread. One legal order tells how much is reached.
Where the two agree, the figure is exact under every timing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.naming import Naming
from pantile.check.overlap import normal, stop
from pantile.check.report import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pantile.check.order import Order
    from pantile.program.program import Program


@dataclass(frozen=True, slots=True)
class Fullness:
    """How full one memory gets.

    Attributes:
        space: The memory, as a place in the program's list.
        reached_bytes: What is taken up at once in one legal order.
        operation: The operation at which that is so.
        bound_bytes: What is taken up at most, whatever the timing: the bytes of all ranges.
        end: One more than the highest address used.
        lives: Whether that goes by the lives of copies; else by the addresses that accesses touch.
    """

    space: int
    reached_bytes: int
    operation: int
    bound_bytes: int
    end: int
    lives: bool

    @property
    def exact(self) -> bool:
        """Whether the bound is reached."""
        return self.reached_bytes == self.bound_bytes


def fullness_of(program: Program, order: Order, spaces: Collection[int] | None = None) -> list[Fullness]:
    """Return how full memories get.

    A memory in which nothing has a life, such as an off-chip memory or a buffer of a trace, is measured by
    the bytes that accesses touch.

    Args:
        program: What runs.
        order: Its happens-before.
        spaces: Which memories; by default those in which something has a life.
    """
    lives = np.array(program.parameters.get("lives", ()), np.int64).reshape(-1, 5)
    access = order.tables["access"]
    rank = np.zeros(len(order.topo), np.int64)
    rank[order.topo] = np.arange(len(order.topo))
    found = []
    for space in sorted(set(lives[:, 0].tolist()) if spaces is None else spaces):
        mine = lives[lives[:, 0] == space]
        if len(mine):
            reached, operation = _peak(mine, rank)
            bound, end = _union(mine[:, 1], mine[:, 1] + mine[:, 2])
            reached = min(reached, bound)  # what an operation replaces in its place counts once
            bound = max(min(bound, _bound(order, mine)), reached)  # a race may put two in one place
        else:
            touched = access[access["space"] == space]
            if not len(touched):
                continue
            spans = normal(touched)
            bound, end = _union(spans["lo"], stop(spans))
            reached, operation = bound, int(touched["op"][0])
        found.append(Fullness(int(space), reached, operation, bound, end, bool(len(mine))))
    return found


def _bound(order: Order, lives: np.ndarray) -> int:
    """Return a bound whatever the timing.

    Lives that begin and end in one thread that completes in order come in the order of that thread; for the
    others all their bytes count, wherever they lie.
    """
    chains = order.chains
    ended = lives[:, 4] >= 0
    dead = np.where(ended, lives[:, 4], 0)
    thread = chains.thread[lives[:, 3]]
    inside = ended & (chains.thread[dead] == thread) & ~chains.pipelined[lives[:, 3]]
    others = lives[~inside]
    total, _ = _union(others[:, 1], others[:, 1] + others[:, 2])
    for each in np.unique(thread[inside]).tolist():
        mine = lives[inside & (thread == each)]
        total += _in_turn(chains.position, mine[:, 3], mine[:, 4], mine[:, 2])[0]
    return total


def fullness_over_time(
    program: Program, start: np.ndarray, finish: np.ndarray
) -> dict[int, tuple[int, int, int]]:
    """Return the most bytes taken up at once in a timed run, by memory: bytes, when, and the operation.

    Args:
        program: What ran.
        start: Start of every operation, in ticks.
        finish: Its end.
    """
    lives = np.array(program.parameters.get("lives", ()), np.int64).reshape(-1, 5)
    far = int(np.max(finish, initial=0)) + 1
    found = {}
    for space in np.unique(lives[:, 0]).tolist():
        mine = lives[lives[:, 0] == space]
        begins = start[mine[:, 3]]
        ends = np.where(mine[:, 4] >= 0, finish[mine[:, 4]], far)
        bytes_at, at = _sweep(begins, ends, mine[:, 2])
        found[int(space)] = (bytes_at, int(begins[at]), int(mine[at, 3]))
    return found


def _peak(lives: np.ndarray, rank: np.ndarray) -> tuple[int, int]:
    """Return the most bytes alive at once in the order of *rank*, and the birth at which that is."""
    last = np.where(lives[:, 4] >= 0, lives[:, 4], len(rank))
    most, at = _in_turn(np.append(rank, len(rank)), lives[:, 3], last, lives[:, 2])
    return most, int(lives[at, 3])


def _in_turn(rank: np.ndarray, first: np.ndarray, last: np.ndarray, sizes: np.ndarray) -> tuple[int, int]:
    """Sweep lives from operation to operation: what ends with one is there while it is carried out."""
    return _sweep(2 * rank[first], 2 * rank[last] + 1, sizes)


def _sweep(begins: np.ndarray, ends: np.ndarray, sizes: np.ndarray) -> tuple[int, int]:
    """Return the largest sum of sizes at once, and the life that brings it about; ends come first."""
    when = np.concatenate([ends, begins])
    change = np.concatenate([-sizes, sizes])
    order = np.lexsort((np.arange(len(when)) >= len(ends), when))
    level = np.cumsum(change[order])
    at = int(np.argmax(level))
    return int(level[at]), int(order[at] - len(ends))


def _union(lo: np.ndarray, hi: np.ndarray) -> tuple[int, int]:
    """Return how many bytes ranges cover together, and their highest end."""
    order = np.argsort(lo, kind="stable")
    lo, hi = lo[order], hi[order]
    reach = np.maximum.accumulate(hi)
    before = np.concatenate([[lo[0] if len(lo) else 0], reach[:-1]])
    return int(np.maximum(hi - np.maximum(lo, before), 0).sum()), int(reach[-1]) if len(reach) else 0


def check_fullness(program: Program, order: Order, capacities: Mapping[str, int] | None = None) -> Report:
    """Report memories that overflow, and how full the others get.

    Args:
        program: What runs.
        order: Its happens-before.
        capacities: Bytes of each memory, by its name in the program; without it only figures are given.
    """
    naming = Naming(program)
    sizes = dict(program.parameters.get("capacities", {})) | dict(capacities or {})
    report = Report()
    names = [str(name) for name in program.parameters.get("spaces", ())]
    sized = {at for at, name in enumerate(names) if name in sizes}
    alive = {int(space) for space, *_ in program.parameters.get("lives", ())}
    for each in fullness_of(program, order, sized | alive):
        name = naming.space(each.space)
        if name in sizes:
            report += _against(naming, each, name, int(sizes[name]))
        else:
            report += Report(proved=(f"capacity: {name} holds {_figures(naming, each)}",))
    return report


def _figures(naming: Naming, each: Fullness) -> str:
    if each.exact:
        return f"at most {each.bound_bytes} B at once, as at {naming.op(each.operation)}"
    reached = f"{each.reached_bytes} B are reached at {naming.op(each.operation)}"
    return f"at most {each.bound_bytes} B at once; {reached}"


def _against(naming: Naming, each: Fullness, name: str, capacity: int) -> Report:
    if each.bound_bytes <= capacity and (each.end <= capacity or each.lives):
        return Report(proved=(f"capacity: {name} of {capacity} B holds {_figures(naming, each)}",))
    certain = each.reached_bytes > capacity or not each.lives
    needed = each.bound_bytes if each.lives else max(each.end, each.bound_bytes)
    finding = Finding(
        code="PT-CAPACITY",
        severity="error" if certain else "warning",
        sentence=f"{name} needs {needed} B of {capacity} B",
        operations=(each.operation,),
        evidence=f"{each.reached_bytes} B are taken up at once at {naming.op(each.operation)}; "
        f"addresses go up to {each.end}",
        grade="" if certain else "timing-dependent",
        mend="make the tiles smaller, or give the buffer fewer slots",
    )
    return Report((finding,))
