"""How full memories get, and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.check.capacity_time import Fullness, check_fullness, fullness_of, fullness_over_time
from pantile.check.order import happens_before


@pytest.mark.parametrize(("slots", "bytes_at_once"), [(1, 64), (2, 128), (3, 192)])
def test_slots_of_a_buffer_fill_up_to_all_of_them(ping_pong: Any, slots: int, bytes_at_once: int) -> None:
    program = ping_pong(4, slots).program()
    (found,) = fullness_of(program, happens_before(program))
    births = [life[3] for life in program.parameters["lives"]]
    assert found == Fullness(0, bytes_at_once, births[slots - 1], bytes_at_once, 64 * slots, True)
    assert found.exact


def test_lives_of_one_thread_go_by_its_order(literal: Any) -> None:
    made = literal()
    thread, space = made.thread("t"), made.space("sram")
    ops = [made.op(thread, "x") for _ in range(4)]
    made.lives += [
        [space, 0, 100, ops[0], ops[1]],
        [space, 100, 60, ops[1], ops[3]],
        [space, 160, 50, ops[2], ops[3]],
    ]
    program = made.program()
    (found,) = fullness_of(program, happens_before(program))
    # Operation 1 reads the first and writes the second, so both are there while it is carried out.
    assert (found.reached_bytes, found.bound_bytes, found.operation) == (160, 160, ops[1])


def test_an_end_and_a_birth_in_the_same_bytes_do_not_add_up(literal: Any) -> None:
    made = literal()
    thread, space = made.thread("t"), made.space("sram")
    ops = [made.op(thread, "x") for _ in range(3)]
    made.lives += [[space, 0, 100, ops[0], ops[1]], [space, 0, 100, ops[1], ops[2]]]
    program = made.program()
    (found,) = fullness_of(program, happens_before(program))
    assert found.reached_bytes == 100


def test_against_a_capacity(ping_pong: Any) -> None:
    program = ping_pong(4, 2).program()
    order = happens_before(program)
    (finding,) = check_fullness(program, order, {"sram": 127}).findings
    assert (finding.code, finding.severity) == ("PT-CAPACITY", "error")
    assert finding.sentence == "sram needs 128 B of 127 B"
    fits = check_fullness(program, order, {"sram": 128})
    assert not fits.findings
    assert fits.proved[0].startswith("capacity: sram of 128 B holds at most 128 B at once, as at operation 5")


def test_a_bound_that_no_order_reaches_is_a_warning_only(literal: Any) -> None:
    made = literal()
    a, b, space, flag = made.thread("a"), made.thread("b"), made.space("sram"), made.flag("a", "b")
    first = [made.op(a, "x"), made.op(a, "x")]
    made.set(a, flag)
    made.wait(b, flag)
    then = [made.op(b, "x"), made.op(a, "x")]
    made.lives += [[space, 0, 100, *first], [space, 100, 100, *then]]
    program = made.program()
    (finding,) = check_fullness(program, happens_before(program), {"sram": 150}).findings
    assert (finding.severity, finding.grade) == ("warning", "timing-dependent")


def test_addresses_alone_are_measured_against_a_capacity(literal: Any) -> None:
    made = literal()
    made.op(made.thread("MTE1"), "load", writes=[("L0B", 32768, 131072 - 32768)])  # A25: 131072 B of 65536 B
    program = made.program()
    order = happens_before(program)
    assert not check_fullness(program, order).findings
    (finding,) = check_fullness(program, order, {"L0B": 65536}).findings
    assert finding.sentence == "L0B needs 131072 B of 65536 B"


def test_over_the_time_of_a_run(ping_pong: Any) -> None:
    program = ping_pong(3, 2).program()
    count = len(program.pieces[0].tables["op"])
    start = np.arange(count) * 10
    births = [life[3] for life in program.parameters["lives"]]
    assert fullness_over_time(program, start, start + 10) == {0: (192, births[2] * 10, births[2])}
