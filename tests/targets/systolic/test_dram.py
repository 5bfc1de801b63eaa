"""The simple DRAM, tick by tick (onnxim-model.md section 9)."""

from __future__ import annotations

from pantile.targets.systolic.dram import Request, SimpleDram


def request(number: int) -> Request:
    return Request(number, 0, False, 0, 0, 0, 0, 0, 0)


def served(dram: SimpleDram, channel: int, ticks: int) -> list[tuple[int, int]]:
    """(tick after which it is there, operation) of every response of *channel* within *ticks* more ticks."""
    found = []
    for _ in range(ticks):
        dram.tick()
        while (response := dram.response(channel)) is not None:
            found.append((dram.ticks, response.op))
    return found


def test_a_request_takes_its_latency() -> None:
    # Pushed when 0 ticks are done, ready = 3: the tick that finds 3 done, the fourth, finishes it.
    dram = SimpleDram(1, 3)
    dram.push(0, request(7))
    assert served(dram, 0, 6) == [(4, 7)]


def test_one_request_per_channel_and_tick() -> None:
    dram = SimpleDram(2, 0)
    for number in range(3):
        dram.push(0, request(number))
    dram.push(1, request(9))
    dram.tick()
    first, second = dram.response(0), dram.response(1)
    assert first is not None
    assert second is not None
    assert (first.op, second.op) == (0, 9)
    assert dram.response(0) is None
    assert served(dram, 0, 3) == [(2, 1), (3, 2)]


def test_nothing_is_there_before_the_first_tick() -> None:
    dram = SimpleDram(1, 0)
    dram.push(0, request(1))
    assert dram.response(0) is None
    assert dram.ticks == 0
