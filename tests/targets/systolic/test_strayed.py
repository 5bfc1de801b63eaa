"""Tiles that add to another output's half."""

from __future__ import annotations

from collections.abc import Callable

from pantile.check.overtaking import check_overtaking
from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.strayed import strayed_tiles
from pantile.targets.systolic.stream import stream_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def test_stages_of_an_ordinary_run_stay_in_their_half(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N8 C24 M16 - [O] N1 C3 M2 - [I] N8 C8 M8", config)
    stream = stream_of([1, program, program], config)
    assert not strayed_tiles(stream, simulate_plain(stream, config)).any()


def test_a_younger_tile_that_finishes_first_leads_the_next_ones_astray(
    lowered: Lowered, config_of: ConfigOf
) -> None:
    # Fast memory and a short pipeline, as in Q28; found by random search. No store overtakes in this run.
    config = config_of(
        core_height=3,
        core_width=3,
        precision=4,
        core_freq=300,
        dram_freq=2000,
        icnt_freq=500,
        dram_channels=16,
        icnt_injection_ports_per_core=20,
        dram_latency=0,
        icnt_latency=0,
        spad_size=512,
        accum_spad_size=512,
    )
    program = lowered("[T] N15 C8 M16 - [O] N3 C4 M3 - [I] N6 C2 M6", config, bias=True)
    stream = stream_of([program], config)
    result = simulate_plain(stream, config)
    # Regions have 4 tiles each. Tile 8 begins region 2 in half 1, and finishes at 187; tile 7, the last of
    # region 1, does at 194, in half 0. So tile 9, which continues region 2, comes beside tile 7 into half 0.
    tiles = result.tiles
    assert tiles[["finish_cycle", "accumulator_half"]][[7, 8]].tolist() == [(194, 0), (187, 1)]
    assert tiles[["issue_cycle", "accumulator_half"]][9].tolist() == (187, 0)
    assert strayed_tiles(stream, result).nonzero()[0].tolist() == [9, 13, 17, 21]
    assert tiles["overtaken"].sum() == 0
    finding, warning = check_overtaking(program, 0, 4).findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-RACE", "error", "wrong value")
    assert finding.sentence == "4 tiles add to the slot of another output"
    assert warning.severity == "warning"
