"""The log of decisions and notes."""

from __future__ import annotations

from pantile.tiling.log import DecisionLog
from pantile.tiling.plan import Decision, Note


def test_decisions_keep_their_order_and_stage_and_return_their_value() -> None:
    log = DecisionLog("one")
    assert log.add("a", 4, "2 · x", {"x": 2}, rejected=("5: odd",)) == 4
    log.stage = "two"
    log.add("a", 8, "2 · a")
    assert log.decisions == [
        Decision(stage="one", name="a", inputs={"x": 2}, formula="2 · x", value=4, rejected=("5: odd",)),
        Decision(stage="two", name="a", formula="2 · a", value=8),
    ]


def test_a_note_is_kept_once() -> None:
    log = DecisionLog()
    for text in ("idle cores", "other", "idle cores"):
        log.note("Q17", text)
    assert log.notes == [Note("Q17", "idle cores"), Note("Q17", "other")]
