"""The simple network, tick by tick (onnxim-model.md section 9)."""

from __future__ import annotations

import pytest

from pantile.targets.systolic.dram import Request
from pantile.targets.systolic.network import SimpleNetwork


def request(number: int) -> Request:
    return Request(number, 0, False, 0, 0, 0, 0, 0, 0)


def arrivals(network: SimpleNetwork, node: int, ticks: int) -> list[tuple[int, int]]:
    """(ticks done, operation) of every packet that reaches *node* within *ticks* more ticks."""
    found = []
    for _ in range(ticks):
        network.tick()
        while (packet := network.deliver(node)) is not None:
            found.append((network.ticks, packet.op))
    return found


@pytest.mark.parametrize("latency", [0, 1, 5])
def test_a_hop_takes_its_latency_and_one_tick(latency: int) -> None:
    # Injected with 0 ticks done, ready = latency: the tick that finds it done moves the packet.
    network = SimpleNetwork(2, latency)
    network.inject(0, 1, request(3))
    assert arrivals(network, 1, latency + 3) == [(latency + 1, 3)]


def test_packets_of_one_pair_follow_one_tick_apart() -> None:
    # The second is ready one tick after the first, not after a latency of its own.
    network = SimpleNetwork(2, 4)
    for number in range(3):
        network.inject(0, 1, request(number))
    assert arrivals(network, 1, 9) == [(5, 0), (6, 1), (7, 2)]


def test_a_destination_takes_one_packet_per_tick_round_robin() -> None:
    network = SimpleNetwork(4, 0)
    for source in (2, 0):
        for number in range(2):
            network.inject(source, 3, request(10 * source + number))
    # The pointer starts at 0, then stands behind the source that was served.
    assert arrivals(network, 3, 5) == [(1, 0), (2, 20), (3, 1), (4, 21)]


def test_the_pointer_stays_where_no_packet_is_ready() -> None:
    network = SimpleNetwork(3, 0)
    network.inject(1, 2, request(1))
    network.tick()
    network.tick()
    # The pointer stands at node 2: of sources 0 and 1 the first found from there is 0.
    network.inject(1, 2, request(11))
    network.inject(0, 2, request(10))
    assert arrivals(network, 2, 3) == [(2 + 1, 1), (3, 10), (4, 11)]


def test_destinations_do_not_disturb_one_another() -> None:
    network = SimpleNetwork(3, 0)
    network.inject(0, 1, request(1))
    network.inject(0, 2, request(2))
    network.tick()
    first, second = network.deliver(1), network.deliver(2)
    assert first is not None
    assert second is not None
    assert (first.op, second.op) == (1, 2)
