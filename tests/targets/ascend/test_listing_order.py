"""Accesses that flags put in the opposite order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.order import happens_before
from pantile.program.tables import Mode
from pantile.targets.ascend.buffers import Buffer
from pantile.targets.ascend.instructions import set_flag, wait_flag
from pantile.targets.ascend.listing_order import check_listing_order, turned_pairs
from pantile.targets.ascend.record import Recorder
from pantile.targets.ascend.trace import program_of_trace

M, FIX, MTE1 = "PIPE_M", "PIPE_FIX", "PIPE_MTE1"
PIPES = (MTE1, FIX, "PIPE_MTE2")


def test_a_wait_that_takes_a_leftover_puts_the_copy_before_the_product() -> None:
    """FIX is told of the first product twice: what it copies the second time is not the second product."""
    core = Recorder("k.py")
    core.set(M, FIX, 0)
    core.wait(M, FIX, 0)
    core.wait(FIX, M, 0)
    core.access(M, writes=Buffer("L0C")[0:1024], label="product")
    core.access(FIX, reads=Buffer("L0C")[0:1024], label="copy")
    core.set(FIX, M, 0)
    program = core.tables()
    report = check_listing_order(program, happens_before(program), lambda order: f"carried out {len(order)}")
    (found,) = report.findings
    assert (found.code, found.severity, found.grade) == ("PT-RACE", "error", "wrong value")
    assert found.operations == (3, 4)
    assert found.sentence.startswith("RAW on L0C at byte 0: operation 4 'copy' of PIPE_FIX")
    assert found.evidence == "carried out 6"


def test_a_copy_under_the_unit_flag_that_goes_ahead() -> None:
    """The first copy keeps its blocks, so that the second one has them before the second product."""
    core = Recorder("k.py")
    for copy in (2, 3):
        core.access(M, writes=Buffer("L0C")[0:1024], label="product", unit_flag=3)
        core.access(FIX, reads=Buffer("L0C")[0:1024], label="copy", unit_flag=copy)
    program = core.tables()
    pairs = turned_pairs(program, happens_before(program))
    assert pairs[:, :2].tolist() == [[2, 3]]


def test_a_program_in_order_has_none() -> None:
    core = Recorder("k.py")
    core.access(M, writes=Buffer("L0C")[0:1024])
    core.set(M, FIX, 0)
    core.wait(M, FIX, 0)
    core.access(FIX, reads=Buffer("L0C")[512:1024])
    program = core.tables()
    order = happens_before(program)
    assert not len(turned_pairs(program, order))
    assert not check_listing_order(program, order, lambda order: "").findings


def access(pipe: str, lo: int, length: int, writes: bool) -> dict[str, Any]:
    span = [{"buf": "UB", "lo": lo, "hi": lo + length}]
    args = {"pipe": pipe, "label": "x", "reads": [] if writes else span, "writes": span if writes else []}
    return {"op": "access", "args": args}


steps = st.one_of(
    st.builds(access, st.sampled_from(PIPES), st.integers(0, 4), st.integers(1, 3), st.booleans()),
    st.builds(set_flag, st.sampled_from(PIPES), st.sampled_from(PIPES), st.just(0)),
    st.builds(wait_flag, st.sampled_from(PIPES), st.sampled_from(PIPES), st.just(0)),
)


@settings(max_examples=300)
@given(st.lists(steps, max_size=14))
def test_same_as_all_pairs_of_bytes(stream: list[dict[str, Any]]) -> None:
    """Whether any pair is turned, where none is unordered: that neighbours suffice rests on that."""
    program = program_of_trace(stream, "t")
    order = happens_before(program)
    if order.stuck:
        return
    rows = order.tables["access"].tolist()
    turned, unordered = set(), False
    for a in rows:
        for b in rows:
            meet = a[3] < b[3] + b[4] and b[3] < a[3] + a[4]
            if a[0] < b[0] and meet and Mode.WRITE in (a[1], b[1]):
                forth, back = (bool(order.before([x], [y])[0]) for x, y in ((a[0], b[0]), (b[0], a[0])))  # type: ignore[arg-type]
                unordered |= not forth and not back
                if back:
                    turned.add((a[0], b[0]))
    found = {(first, second) for first, second, _, _ in turned_pairs(program, order).tolist()}
    assert found <= turned
    if not unordered:
        assert bool(found) == bool(turned)
