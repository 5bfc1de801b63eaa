"""Little timelines, worked by hand from onnxim-model.md sections 5 to 9."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.overtaking import check_overtaking
from pantile.errors import ProgramError
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind
from pantile.targets.systolic.bounds import lower_bounds
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.result import TERMS
from pantile.targets.systolic.stream import stream_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
ONE = "[T] N1 C1 M1 - [O] N1 C1 M1 - [I] N8 C8 M8"


def test_the_minimum_timeline(lowered: Lowered, config_of: ConfigOf) -> None:
    """Section 10: 1 x 1 x 1, periods 1000 (core), 2500 (DRAM) and 500 ps (network); t counts core ticks.

    Tick 0 takes the tile and issues the weights at t = 1; tick 1 sends their request (t = 1) and issues the
    activation at t = 2; tick 2 sends its request. A request that enters the FIFO in the core tick at time T
    is injected in the network tick x at the same time (the core comes first), is ready at x + 1, moves in
    x + 1 and is pushed in x + 2. There, d DRAM ticks are done, and DRAM tick d + 10 finishes it at the time
    2500 * (d + 10); the response is injected in the network tick y of that time and delivered in y + 2.

    * weights: T = 1000, x = 2, pushed at 2000 with d = 1 (the tick at 0): finished at 27 500, y = 55,
      delivered at 28 500: ticks 0 to 28 are over, t = 29.
    * activation: T = 2000, x = 4, pushed at 3000 with d = 2: finished at 30 000, y = 60, delivered at 31 000,
      t = 32.
    * preload: issued in tick 32 at t = 33, enters in tick 33: start 33 + 2 * 8 - 1 = 48, finish
      48 + 8 + 8 - 2 + max(1, 4) = 66, retired in tick 66, which issues the store at t = 67.
    * store: tick 67 sends the request at T = 67 000 and the tile is finished at t = 68; x = 134, pushed at
      68 000 with d = 28 (ticks at 0 to 67 500): finished at 2500 * 38 = 95 000, y = 190, delivered at 96 000,
      network tick 192 (193 counted from 1). Ticks 0 to 96 are over: 97.
    """
    config = config_of()
    stream = stream_of([lowered(ONE, config)], config)
    result = simulate_plain(stream, config, record=range(4), requests=True)
    assert (result.core_ticks, result.noc_ticks, result.dram_ticks) == (97, 193, 39)
    assert result.operations[["issue", "enter", "start", "finish"]].tolist() == [
        (1, 1, 1, 29),
        (2, 2, 2, 32),
        (33, 33, 48, 66),
        (67, 67, 67, 97),
    ]
    # Weights at 0, input at 256 (its only element takes 16 B), output at 512. Request numbers 0, 8 and 16:
    # the hash of 8 is 1 + 2 + 8 = 11, of 16 is a4: 1 + 4 = 5: of two channels 0, 1 and 1.
    columns = ["addr", "write", "channel", "enqueue_core_cycle", "inject_icnt_tick", "dram_push_icnt_tick"]
    assert result.requests[columns].tolist() == [
        (0, 0, 0, 1, 3, 5),
        (256, 0, 1, 2, 5, 7),
        (512, 1, 1, 67, 135, 137),
    ]
    columns = ["dram_cycles_before_push", "dram_pop_icnt_tick", "response_icnt_tick", "response_core_cycle"]
    assert result.requests[columns].tolist() == [(1, 56, 58, 29), (2, 61, 63, 32), (28, 191, 193, 97)]
    assert result.requests[["core", "src_port", "dst_node"]].tolist() == [(0, 0, 1), (0, 0, 2), (0, 0, 2)]
    assert result.requests_per_channel.tolist() == [1, 2]
    assert (result.layer_start.tolist(), result.layer_finish.tolist()) == ([0], [68])
    # Core 0, issued at 0, left at 68, halves 1 and 1, two reads, one write, nothing overtaken.
    assert result.tiles.tolist() == [(0, 0, 68, 1, 1, 2, 1, 0)]


def test_counters_and_terms_of_the_minimum_timeline(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    result = simulate_plain(stream_of([lowered(ONE, config)], config), config)
    counters = dict(zip(result.cores.dtype.names or (), result.cores[0].tolist(), strict=True))
    assert counters == {
        "matmul_active_cycle": 0,  # floor(1 / 64)
        "memory_idle_cycle": 94,  # the FIFO holds a request at the sampling of ticks 1, 2 and 67
        "systolic_bubble_cycle": 0,
        "core_idle_cycle": 0,
        "systolic_active_cycle": 66 - 48,
        "total_cycle": 97,
        "read_responses": 2,
        "write_responses": 1,
        "systolic_inst_issue_count": 1,
        "systolic_preload_issue_count": 1,
    }
    # Tick 0: nothing is under way yet. 1 to 31: loads are out. 32: the preload is about to issue. 33 to 47:
    # the pipeline fills. 48 to 55: the head has started less than H = 8 ago. 56 to 65: it drains. 66: the
    # store is about to issue. 67 to 96: the write is out.
    terms = dict(zip(TERMS, result.terms[0, 0].tolist(), strict=True))
    assert {name: cycles for name, cycles in terms.items() if cycles} == {
        "issue": 1 + 1 + 1,
        "wait-load": 31,
        "fill": 15,
        "compute": 8,
        "drain": 10,
        "wait-store": 30,
    }


def test_preloads_start_an_array_height_apart(lowered: Lowered, config_of: ConfigOf) -> None:
    # Reduction 32 on an array of 8: four preloads of one block. The first enters an empty pipeline: t + 15;
    # each later one 8 after its predecessor: max(rows 8, 4, H 8).
    config = config_of()
    program = lowered("[T] N8 C32 M8 - [O] N1 C1 M1 - [I] N8 C32 M8", config)
    result = simulate_plain(stream_of([program], config), config, record=range(2, 7))
    computes = result.operations[:4]
    enter = int(computes["enter"][0])
    assert computes["enter"].tolist() == [enter, enter + 1, enter + 2, enter + 3]
    assert computes["start"].tolist() == [enter + 15 + 8 * at for at in range(4)]
    assert np.all(computes["finish"] - computes["start"] == 8 + 8 - 2 + 8)
    # The store issues in the tick that retires the last one, and shows the counter after it.
    assert result.operations["issue"][4] == computes["finish"][3] + 1


def test_at_most_an_array_height_of_computes_in_flight(lowered: Lowered, config_of: ConfigOf) -> None:
    # Array of 2 x 2: the third preload enters in the tick that retires the first.
    config = config_of(core_height=2, core_width=2)
    program = lowered("[T] N2 C8 M2 - [O] N1 C1 M1 - [I] N2 C8 M2", config)
    result = simulate_plain(stream_of([program], config), config, record=range(2, 6))
    enter, finish = result.operations["enter"].tolist(), result.operations["finish"].tolist()
    assert enter[1] == enter[0] + 1
    # It is retired first and the freed place seen when the next one issues, later in that tick.
    assert enter[2] == finish[0] + 1
    assert enter[3] == finish[1] + 1


def test_two_tiles_are_resident_and_a_core_takes_one_per_cycle(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N8 C8 M24 - [O] N1 C1 M3 - [I] N8 C8 M8", config)
    result = simulate_plain(stream_of([program], config), config)
    tiles = result.tiles
    # Halves alternate from 1; the third waits for the first to leave, and is issued in the tick after.
    assert tiles["issue_cycle"][:2].tolist() == [0, 1]
    assert tiles["issue_cycle"][2] == tiles["finish_cycle"][0]
    assert tiles["scratchpad_half"].tolist() == [1, 0, 1]
    assert tiles["accumulator_half"].tolist() == [1, 0, 1]


def test_reduction_stages_keep_their_accumulator_half(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N8 C24 M16 - [O] N1 C3 M2 - [I] N8 C8 M8", config)
    tiles = simulate_plain(stream_of([program], config), config).tiles
    assert tiles["scratchpad_half"].tolist() == [1, 0, 1, 0, 1, 0]
    assert tiles["accumulator_half"].tolist() == [1, 1, 1, 0, 0, 0]


def test_regions_go_to_cores_in_turn_shifted_by_the_layer(lowered: Lowered, config_of: ConfigOf) -> None:
    # Queue index = (core counter + L) mod cores, L = 1 for the first layer.
    config = config_of(num_cores=3)
    program = lowered("[T] N8 C16 M32 - [O] N1 C2 M4 - [I] N8 C8 M8", config)
    result = simulate_plain(stream_of([program, program], config), config)
    assert result.tiles["core"].tolist() == [1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]
    assert result.layer_start[1] == result.layer_finish[0]


def test_a_layer_begins_in_the_tick_that_ends_the_one_before(lowered: Lowered, config_of: ConfigOf) -> None:
    # One tile a layer on two cores: on core 1, then 0, then 1. Core 0 is served first in a tick, so that it
    # takes a tile that core 1's report releases one tick later; the other way round it is the same tick.
    config = config_of(num_cores=2)
    one = lowered(ONE, config)
    result = simulate_plain(stream_of([one, one, one], config), config)
    tiles = result.tiles
    assert tiles["core"].tolist() == [1, 0, 1]
    assert result.layer_finish.tolist() == tiles["finish_cycle"].tolist()
    assert result.layer_start[1:].tolist() == result.layer_finish[:-1].tolist()
    assert (tiles["issue_cycle"] - result.layer_start).tolist() == [0, 1, 0]


def test_clocks_are_whole_picoseconds(config_of: ConfigOf) -> None:
    config = config_of(core_freq=1200, dram_freq=700, icnt_freq=1300)
    assert (config.core_ps, config.dram_ps, config.noc_ps) == (833, 1428, 769)


def test_ports_inject_in_parallel(lowered: Lowered, config_of: ConfigOf) -> None:
    # Eight weight requests of one row each: through one port in eight network ticks, through eight in one.
    for ports, ticks in ((1, 8), (8, 1)):
        config = config_of(icnt_injection_ports_per_core=ports)
        program = lowered("[T] N8 C32 M8 - [O] N1 C1 M1 - [I] N8 C32 M8", config)
        result = simulate_plain(stream_of([program], config), config, requests=True)
        weights = result.requests[result.requests["op"] == 0]
        assert len(weights) == 8
        assert len(set(weights["inject_icnt_tick"].tolist())) == ticks
        # A response comes back to port (channel mod ports) of its core: only its node is told by dst_node.
        assert set(weights["src_port"].tolist()) <= set(range(ports))
        assert set((weights["dst_node"] - ports).tolist()) == set(weights["channel"].tolist())


# -- what ends a run -----------------------------------------------------------------------------------


def only(program: Program, keep: Callable[[np.ndarray], np.ndarray]) -> Program:
    """The program with only some rows of operations left in each piece."""
    pieces = []
    for piece in program.pieces:
        kept = piece.tables["op"]["id"][keep(piece.tables["op"])]
        tables = dict(piece.tables)
        for name, column in (("op", "id"), ("box", "op"), ("access", "op"), ("sync", "op")):
            tables[name] = tables[name][np.isin(tables[name][column], kept)]
        pieces.append(Piece(tables, piece.loops))
    return replace(program, pieces=tuple(pieces))


def test_a_tile_of_loads_alone_never_ends(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q4: a MOVIN as last instruction marks nothing finished.
    config = config_of()
    program = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    loads = only(program, lambda ops: ops["opcode"] == ops["opcode"][0])
    with pytest.raises(ProgramError, match=r"layer 1 tile 1: never finishes"):
        simulate_plain(stream_of([program, loads], config), config)


def test_a_compute_without_its_weights_never_issues(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    lame = only(program, lambda ops: ops["id"] != 0)
    with pytest.raises(ProgramError, match=r"layer 0 tile 0: never finishes"):
        simulate_plain(stream_of([lame], config), config)


def test_a_window_in_the_padding_alone_never_ends(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    # CV11: output row 0 of a 1 x 1 kernel over one row of padding reads nothing.
    conv = Convolution(
        batch=1, in_channels=8, out_channels=8, height=4, width=4, kernel=(1, 1), pads=(1, 0, 1, 0)
    )
    counts = (
        LoopCounts(1, 8, 8, Q=6, P=4),
        LoopCounts(1, 1, 1, Q=6),
        LoopCounts(1, 8, 8, P=4),
    )
    config = config_of()
    program = lowered_counts(conv_network(conv), counts, config, semantics="fixed")
    with pytest.raises(ProgramError, match=r"layer 0 tile 0: never finishes"):
        simulate_plain(stream_of([program], config), config)


@pytest.mark.parametrize(
    ("spad", "acc", "text"),
    [
        # Weights 8 rows of 2 requests, 512 B, then activations as many: 1024 B of a half of 512 B.
        (1, 16, "layer 0 tile 0: the scratchpad half would hold 1024 B of 512 B"),
        # Three blocks of 8 rows, 256 B each; the half holds two.
        (64, 1, "layer 0 tile 0: the accumulator half would hold 768 B of 512 B"),
    ],
)
def test_what_does_not_fit_is_named_with_both_sizes(
    lowered: Lowered, config_of: ConfigOf, spad: int, acc: int, text: str
) -> None:
    config = config_of(spad_size=spad, accum_spad_size=acc)
    program = lowered("[T] N24 C64 M8 - [O] N1 C1 M1 - [I] N24 C64 M8", config)
    with pytest.raises(ProgramError) as caught:
        simulate_plain(stream_of([program], config), config)
    assert str(caught.value).startswith(text)


def test_a_block_that_is_loaded_twice_is_refused(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N16 C8 M8 - [O] N1 C1 M1 - [I] N16 C8 M8", config)
    (piece,) = program.pieces
    access = piece.tables["access"].copy()
    loads = np.flatnonzero((access["mode"] == 1) & (access["space"] == access["space"][1]))
    access["lo"][loads[2]] = access["lo"][loads[1]]  # the second activation into the first one's entry
    doubled = replace(program, pieces=(Piece({**piece.tables, "access": access}, piece.loops),))
    with pytest.raises(ProgramError, match=r"layer 0 tile 0: a load into an entry of the scratchpad"):
        simulate_plain(stream_of([doubled], config), config)


# -- overtaking ----------------------------------------------------------------------------------------


def test_a_later_stage_can_overtake_an_earlier_one(lowered_counts: Lowered, config_of: ConfigOf) -> None:
    # Quirk Q28's second part, with its configuration and its figures.
    config = config_of(
        num_cores=3,
        core_height=3,
        core_width=3,
        precision=2,
        core_freq=1200,
        dram_freq=2000,
        icnt_freq=1000,
        dram_channels=8,
        icnt_injection_ports_per_core=20,
        dram_latency=0,
        icnt_latency=0,
    )
    counts = (LoopCounts(17, 6, 64), LoopCounts(2, 2, 6), LoopCounts(16, 4, 12))  # the automatic mapping
    network = network_of(Matmul(m=17, k=6, n=64))
    program = lowered_counts(network, counts, config, has_bias=True)  # Gemm without C: Q3
    stream = stream_of([program], config)
    result = simulate_plain(stream, config)
    assert result.core_ticks == 776
    assert result.tiles["finish_cycle"][:2].tolist() == [688, 146]
    # The successor's stores, 6 rows of blocks by 4 columns, left while tile 0 had computes to issue.
    assert result.tiles["overtaken"][:2].tolist() == [0, 24]
    overtaken = int(result.tiles["overtaken"].sum())
    (finding,) = check_overtaking(program, overtaken).findings
    assert finding.severity == "error"
    assert finding.sentence.startswith(f"{overtaken} of ")


def test_a_surplus_stage_stores_blocks_with_a_bias_too_early(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q6: the blocks of the first row exist and are valid as soon as the bias is there. The surplus stage has
    # nothing to load, and stores them before the true stage's weights have come.
    config = config_of()
    line = "[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16"
    with_bias, without = (
        simulate_plain(stream_of([lowered(line, config, bias=bias)], config), config).tiles
        for bias in (True, False)
    )
    assert with_bias["overtaken"].tolist() == [0, 1]
    assert without["overtaken"].tolist() == [0, 0]
    # 2 x 2 blocks of 8 rows of 16 B, two rows to a request: 16 requests, written by both stages.
    assert with_bias["write_requests"].tolist() == without["write_requests"].tolist() == [16, 16]


# -- skip tiles ----------------------------------------------------------------------------------------


def test_a_skip_layer_lasts_a_tick_on_one_core(config_of: ConfigOf) -> None:
    # onnxim-conv.md C6: issued and finished in tick t, reported in tick t + 1, which issues the next one.
    config = config_of()
    result = simulate_plain(stream_of([1, 2, 1], config), config)
    assert result.tiles["issue_cycle"].tolist() == result.tiles["finish_cycle"].tolist() == [0, 1, 2, 3]
    assert result.layer_start.tolist() == [0, 1, 3]
    assert result.layer_finish.tolist() == [1, 3, 4]
    assert result.core_ticks == 5
    assert result.terms[:, 0, TERMS.index("idle")].tolist() == [2, 2, 1]


def test_skip_tiles_go_round_the_cores(lowered: Lowered, config_of: ConfigOf) -> None:
    # Golden run cv_block_c4_conv_relu_pool_conv_gap_fc (ONNXim a1e86296e080): four tiles, Relu on core 0,
    # MaxPool on 1 and 2, one tile, GlobalAveragePool on 3, Flatten on 0, four tiles from core 3 on.
    config = config_of(num_cores=4)
    four = lowered("[T] N8 C8 M32 - [O] N1 C1 M4 - [I] N8 C8 M8", config)
    one = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    result = simulate_plain(stream_of([four, 1, 2, one, 1, 1, four], config), config)
    assert result.tiles["core"].tolist() == [1, 2, 3, 0, 0, 1, 2, 0, 3, 0, 3, 0, 1, 2]
    # There too: MaxPool's two tiles one tick after Relu's, the next layer on the lower core two ticks later.
    relu, pool, pool2, after = result.tiles["issue_cycle"][[4, 5, 6, 7]].tolist()
    assert (pool - relu, pool2 - relu, after - relu) == (1, 1, 3)
    # A skip tile flips the halves as any tile does: from 0 and 0 of an empty core to 1 and 1.
    assert result.tiles[["scratchpad_half", "accumulator_half"]][[4, 5, 6, 8, 9]].tolist() == [(1, 1)] * 5


# -- laws ----------------------------------------------------------------------------------------------


@st.composite
def machines(draw: st.DrawFn) -> dict[str, object]:
    side = draw(st.sampled_from([1, 2, 3, 4, 8]))
    cores = draw(st.integers(1, 3))
    other = draw(st.sampled_from([{}, {}, {"core_height": 2, "core_width": 5}, {"core_height": 9}]))
    return {
        "num_cores": cores,
        "per_core": [{}, other] if cores > 1 else [],
        "core_height": side,
        "core_width": draw(st.sampled_from([side, side, 2 * side, 1])),
        "core_freq": draw(st.sampled_from([500, 1000, 1700])),
        "dram_freq": draw(st.sampled_from([100, 1000, 2300])),
        "icnt_freq": draw(st.sampled_from([400, 1000, 1900])),
        "dram_channels": draw(st.sampled_from([1, 2, 3, 16])),
        "icnt_injection_ports_per_core": draw(st.integers(1, 4)),
        "dram_latency": draw(st.integers(0, 30)),
        "icnt_latency": draw(st.integers(0, 4)),
        "precision": draw(st.sampled_from([1, 2, 4])),
    }


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(data=st.data(), machine=machines(), bias=st.booleans(), layers=st.integers(1, 2))
def test_no_run_stays_below_its_bounds_and_terms_sum(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[tuple[LoopCounts, LoopCounts, LoopCounts]],
    data: st.DataObject,
    machine: dict[str, object],
    bias: bool,
    layers: int,
) -> None:
    counts = data.draw(product_cuts)
    total = counts[0]
    config = config_of(**machine, spad_size=1024, accum_spad_size=1024)
    product = Matmul(m=total.N, k=total.C, n=total.M, bias="default" if bias else None)
    program = lowered_counts(network_of(product), counts, config)
    stream = stream_of([program] * layers, config)
    result = simulate_plain(stream, config, record=range(stream.operations), requests=True)

    assert np.all(result.terms.sum(axis=(0, 2)) == result.core_ticks)
    bounds = lower_bounds(stream, config, result, program.macs * layers)
    assert all(0 <= bound <= result.core_ticks for bound in bounds.values())
    if all(config.heights[0] <= min(sides) for sides in zip(config.heights, config.widths, strict=True)):
        elements = sum(h * w for h, w in zip(config.heights, config.widths, strict=True))
        assert bounds["macs"] == -(-program.macs * layers // elements)
    # Every request is served, and every write answered; only a bias that no store waits for may be under way.
    moved = int(result.tiles["read_requests"].sum() + result.tiles["write_requests"].sum())
    assert int(result.requests_per_channel.sum()) <= moved == len(result.requests)
    assert int(result.cores["write_responses"].sum()) == int(result.tiles["write_requests"].sum())
    # Every instruction issues once, and none before the layer it belongs to.
    times = result.operations
    assert np.all(times["issue"] > 0)
    ops = program.tables()["op"]
    computes = int(ops["count"][ops["kind"] == Kind.COMPUTE].sum()) * layers
    assert int(result.cores["systolic_inst_issue_count"].sum()) == computes
    assert result.layer_start[1:].tolist() == result.layer_finish[:-1].tolist()
