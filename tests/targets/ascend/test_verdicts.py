"""Verdicts in the terms of the recorded cases."""

from __future__ import annotations

from typing import Any

from pantile.check.conflicts import conflicts_of, exemptions_of
from pantile.check.order import happens_before
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.verdicts import verdicts_on


def access(pipe: str, **ranges: tuple[int, int]) -> Any:
    both = {key: [{"buf": "UB", "lo": lo, "hi": hi}] for key, (lo, hi) in ranges.items()}
    return {"op": "access", "args": {"pipe": pipe, "label": "", "reads": [], "writes": []} | both}


def flag(op: str, src: str, dst: str, event: int = 0) -> Any:
    return {"op": op, "args": {"src_pipe": src, "dst_pipe": dst, "event_id": event}}


def verdicts(*trace: Any, budget: int = 1_000) -> dict[str, Any]:
    return verdicts_on(program_of_trace(list(trace)), budget)


def test_a_clean_handshake() -> None:
    found = verdicts(
        access("PIPE_MTE2", writes=(0, 64)),
        flag("set_flag", "PIPE_MTE2", "PIPE_V"),
        flag("wait_flag", "PIPE_MTE2", "PIPE_V"),
        access("PIPE_V", reads=(0, 64)),
    )
    assert found == {
        "races": [],
        "double_set": [],
        "unmatched_wait": [],
        "unmatched_set": [],
        "deadlock_counter": False,
        "stuck_ops": [],
        "deadlock_bit": "never",
        "flags_left_set": [],
        "source_scope_conflicts": [],
        "id_out_of_range": [],
        "same_pipe": [],
    }


def test_in_these_terms_a_set_orders_its_queue() -> None:
    fill, add = access("PIPE_V", writes=(0, 64)), access("PIPE_V", reads=(0, 64))
    bare = verdicts(fill, add)
    with_set = verdicts(fill, flag("set_flag", "PIPE_V", "PIPE_MTE3"), add)
    assert bare["same_pipe"] == [[0, 1]]
    assert with_set["same_pipe"] == []
    assert with_set["unmatched_set"] == [1]
    assert with_set["flags_left_set"] == [
        {"src_pipe": "PIPE_V", "dst_pipe": "PIPE_MTE3", "event_id": 0, "count": 1}
    ]


def test_a_stuck_scalar_unit_issues_nothing_more() -> None:
    found = verdicts(
        flag("wait_flag", "PIPE_MTE2", "PIPE_S"),
        access("PIPE_V", writes=(0, 64)),
        flag("set_flag", "PIPE_V", "PIPE_MTE3"),
    )
    assert (found["deadlock_counter"], found["stuck_ops"], found["deadlock_bit"]) == (True, [0], "always")
    assert found["flags_left_set"] == []
    assert found["races"] is None


def test_beyond_the_budget_the_one_bit_answer_is_undecided() -> None:
    trace = []
    for event in range(3):
        trace += [flag("set_flag", "PIPE_MTE2", "PIPE_V", event)] * 2
        trace += [flag("wait_flag", "PIPE_MTE2", "PIPE_V", event)] * 2
    assert verdicts(*trace)["deadlock_bit"] == "schedule-dependent"
    assert verdicts(*trace, budget=-1)["deadlock_bit"] == "undecided"


def register(op: str = "set_nd_para") -> Any:
    return {"op": op, "args": {"value": 1}}


def barrier(pipe: str = "PIPE_ALL") -> Any:
    return {"op": "pipe_barrier", "args": {"pipe": pipe}}


def test_register_writes_hold_no_barrier() -> None:
    wait = flag("wait_flag", "PIPE_MTE2", "PIPE_V")
    assert verdicts(register(), wait, barrier())["stuck_ops"] == [1]
    assert verdicts(wait, barrier(), register())["stuck_ops"] == [0]
    # What stands in the queue of the scalar unit does: a flag that it sets, an access of its own.
    sets = flag("set_flag", "PIPE_S", "PIPE_V", 3)
    assert verdicts(sets, register(), wait, barrier())["stuck_ops"] == [2, 3]
    assert verdicts(register(), access("PIPE_S", writes=(0, 4)), wait, barrier())["stuck_ops"] == [2, 3]


def mad(m: int, n: int, off: int = 0, init: bool = False) -> Any:
    pointer = {"off": 0, "elem": "half"}
    args = {
        "dst": {"buf": "L0C", "off": off, "elem": "float"},
        "src0": {"buf": "L0A", **pointer},
        "src1": {"buf": "L0B", **pointer},
        "m": m,
        "k": 16,
        "n": n,
        "cmatrix_source": False,
        "cmatrix_init_val": init,
    }
    return {"op": "mad", "args": args}


def on(buffer: str, **ranges: tuple[int, int]) -> Any:
    made = access("PIPE_M", **ranges)
    for key in ranges:
        made["args"][key][0]["buf"] = buffer
    return made


def test_only_long_products_of_one_sum_need_no_barrier() -> None:
    def pairs(*trace: Any) -> Any:
        return verdicts(*trace)["same_pipe"]

    assert pairs(mad(160, 16), mad(160, 16), mad(160, 16)) == []
    assert pairs(mad(160, 16), mad(160, 16, init=True)) == []
    assert pairs(mad(144, 16), mad(144, 16)) == [[0, 1]]
    # Whose fractals are not the same ones in the same order, may overtake.
    assert pairs(mad(160, 16), mad(160, 16, off=1024)) == [[0, 1]]
    assert pairs(mad(160, 32), mad(320, 16)) == [[0, 1]]
    assert pairs(mad(160, 16), mad(16, 16)) == [[0, 1]]
    assert pairs(mad(16, 16), mad(160, 16)) == [[0, 1]]
    # Whatever else M runs is no such product.
    assert pairs(mad(160, 16), on("L0C", reads=(0, 4))) == [[0, 1]]
    assert pairs(mad(160, 16), on("L0A", writes=(0, 4))) == [[0, 1]]
    assert pairs(on("L0C", writes=(0, 4)), mad(160, 16)) == [[0, 1]]
    assert pairs(mad(160, 16), on("L0C", writes=(0, 4)), mad(160, 16)) == [[0, 1], [1, 2]]


def test_a_sum_that_the_cube_goes_on_with_is_handed_over_with_it() -> None:
    """FIX waits for the last product alone; those before it are over, for it goes on with them."""

    def races(*products: Any) -> int:
        copy = {
            "dst": {"buf": "GM_C", "off": 0, "elem": "half"},
            "src": {"buf": "L0C", "off": 0, "elem": "float"},
            "n_size": 16,
            "m_size": 160,
            "dst_stride": 16,
            "src_stride": 160,
            "unit_flag_mode": 3,
            "quant_pre": "F322F16",
            "nz2nd_en": True,
        }
        last = len(products) - 1
        for at, product in enumerate(products):
            product["args"]["unit_flag"] = 3 if at == last else 2
        trace = [*products, {"op": "copy_matrix_cc_to_gm", "args": copy}]
        program = program_of_trace(trace, unit_flags=True)
        rows = conflicts_of(happens_before(program), **exemptions_of(program))
        return int((~rows["same_thread"]).sum())

    assert races(mad(160, 16, init=True), mad(160, 16), mad(160, 16)) == 0
    # One that starts anew does not read what was there.
    assert races(mad(160, 16, init=True), mad(160, 16, init=True)) == 1
