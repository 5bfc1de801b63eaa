"""The operations of a bound program, written into the compiled engine's memory in one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from numba import njit

from pantile.program.tables import Edge, Kind, Sharing, Test
from pantile.simulate import layout as at
from pantile.simulate.kernel_heaps import compiled

if TYPE_CHECKING:
    from pantile.simulate.bound import Ints, Rows
    from pantile.simulate.kernel_heaps import Memory

_SYNC, _EXCLUSIVE = int(Kind.SYNC), int(Sharing.EXCLUSIVE)
_TAKE, _REACH, _POST = int(Test.TAKE), int(Test.REACH), int(Test.POST)
_BEFORE, _ALONG = int(Edge.BEFORE_START), int(Edge.ALONG)


def build_layout(stamp: int) -> Callable[..., None]:
    """Return what writes operations; see :func:`~pantile.simulate.kernel.build` for *stamp*.

    It takes the memory, the addresses of rows, exclusive uses, transfers and chunks, and then the tables.
    """

    def fill(
        m: Ints,
        places: tuple[int, int, int, int],
        ops: Rows,
        sync: Rows,
        use: Rows,
        resources: Rows,
        ticks: Ints,
        use_ticks: Ints,
    ) -> None:
        m[at.STAMP] = stamp
        row, exclusive, shared, along = places
        spread = m[at.SPREAD]
        first, taken = 0, 0
        for op in range(len(ops) + 1):
            record = m[at.OPS] + op * at.OP_WIDTH
            m[record + at.ROW], m[record + at.EXCLUSIVE], m[record + at.SHARED] = row, exclusive, shared
            if op == len(ops):
                break
            stop = first
            while stop < len(sync) and sync[stop]["op"] == op:
                stop += 1
            chunks = _chunks(sync, first, stop) if spread else 0
            m[record + at.ALONG] = along if chunks else at.NONE
            if chunks:
                m[along + at.CHUNKS], m[along + at.HOLD_CHUNK] = chunks, 0
                m[along + at.REACHED : along + at.REACHED + chunks] = 0
                along += at.REACHED + chunks
            begin = row
            row = _write_waits(m, sync, first, stop, row)
            waits = row > begin
            row = _write_posts(m, sync, first, stop, row)
            first, begin = stop, taken
            hold, latency = ticks[op], 0
            while taken < len(use) and use[taken]["op"] == op:
                resource = use[taken]["resource"]
                latency += resources[resource]["latency"]
                if resources[resource]["policy"] == _EXCLUSIVE:
                    m[exclusive] = m[at.RESOURCES] + resource * at.RESOURCE_WIDTH
                    exclusive += 1
                    hold = max(hold, use_ticks[taken])
                elif use[taken]["amount"] > 0:
                    m[shared + at.LINK] = m[at.RESOURCES] + resource * at.RESOURCE_WIDTH
                    m[shared + at.AMOUNT], m[shared + at.DONE] = use[taken]["amount"], 0
                    shared += at.TRANSFER_WIDTH
                taken += 1
            flags = at.HAS_USES if taken > begin else 0
            if ops[op]["kind"] == _SYNC:
                flags |= at.IS_SYNC if waits else at.IS_SYNC | at.ONLY_POSTS
            m[record + at.HOLD], m[record + at.LATENCY], m[record + at.FLAGS] = hold, latency, flags
            m[record + at.THREAD] = m[at.THREADS] + ops[op]["thread"] * at.THREAD_WIDTH

    compile_it: Callable[[Callable[..., None]], Callable[..., None]] = njit(cache=True, error_model="numpy")
    return compile_it(fill)


@compiled
def _chunks(sync: Rows, first: int, stop: int) -> int:
    """How many times an operation posts along."""
    for row in range(first, stop):
        if sync[row]["edge"] == _ALONG:
            return abs(int(sync[row]["amount"]))
    return 0


@compiled
def _write_row(m: Memory, row: int, counter: int, code: int, amount: int) -> int:
    m[row + at.ROW_COUNTER] = m[at.COUNTERS] + counter * at.COUNTER_WIDTH
    m[row + at.ROW_CODE], m[row + at.ROW_AMOUNT], m[row + at.ROW_LAST] = code, amount, 1
    return row + at.ROW_WIDTH


@compiled
def _together(sync: Rows, one: int, other: int) -> bool:
    """Whether two rows of an operation are waits of one group."""
    same = sync[one]["group"] >= 0 and sync[one]["group"] == sync[other]["group"]
    return bool(same and sync[one]["test"] != _POST and sync[other]["test"] != _POST)


@compiled
def _write_waits(m: Memory, sync: Rows, first: int, stop: int, row: int) -> int:
    """Write waits by step: at the first row of a group all of it, any other wait alone."""
    for leader in range(first, stop):
        leads = sync[leader]["test"] != _POST
        for before in range(first, leader):
            leads = leads and not _together(sync, before, leader)
        if not leads:
            continue
        for other in range(leader, stop):
            if other == leader or _together(sync, leader, other):
                test, code = sync[other]["test"], at.CODE_ZERO
                if test == _TAKE:
                    code = at.CODE_TAKE
                elif test == _REACH:
                    code = at.CODE_REACH
                row = _write_row(m, row, sync[other]["counter"], code, sync[other]["amount"])
                m[row - at.ROW_WIDTH + at.ROW_LAST] = 0
        m[row - at.ROW_WIDTH + at.ROW_LAST] = 1
    return row


@compiled
def _write_posts(m: Memory, sync: Rows, first: int, stop: int, row: int) -> int:
    """Write the posts: those at the start, those along, those after the finish, each in order."""
    for code in range(at.POST_BEFORE, at.POST_AFTER + 1):
        for each in range(first, stop):
            edge = sync[each]["edge"]
            own = at.POST_BEFORE if edge == _BEFORE else (at.POST_ALONG if edge == _ALONG else at.POST_AFTER)
            if sync[each]["test"] == _POST and own == code:
                row = _write_row(m, row, sync[each]["counter"], code, sync[each]["amount"])
    return row
