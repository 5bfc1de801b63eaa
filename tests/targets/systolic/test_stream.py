"""Programs as integer tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pantile.errors import ProgramError
from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.instructions import program_instructions
from pantile.targets.systolic.stream import (
    KIND_OPS,
    MOVE_ENTRY,
    MOVE_SPACE,
    OPERAND_WRAP,
    RUN_COUNT,
    RUN_DEPTH,
    RUN_DEST,
    RUN_FIRST,
    RUN_SECOND,
    RUN_STEP,
    TILE_CORE,
    TILE_KIND,
    TILE_LAYER,
    TILE_OP,
    TILE_REGION,
    stream_of,
)

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
MAIN = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def test_tiles_name_their_core_region_and_first_instruction(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(num_cores=3)
    program = lowered(MAIN, config)
    stream = stream_of([program, program], config)
    tiles = stream.tiles
    assert tiles[:, TILE_LAYER].tolist() == [0] * 8 + [1] * 8
    assert stream.layers.tolist() == [[0, 8], [8, 16]]
    # Regions 0 to 3 go to cores 0, 1, 2, 0 before the layer counter is added.
    assert tiles[:8, TILE_REGION].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert tiles[:8, TILE_CORE].tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    lengths = [len(listing) for listing in program_instructions(program, config)]
    starts = np.cumsum([0, *lengths, *lengths])
    assert tiles[:, TILE_OP].tolist() == starts[:-1].tolist()
    assert stream.operations == starts[-1]
    assert stream.layer_programs == (0, 1)


def test_kinds_hold_runs_and_entries(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    stream = stream_of([lowered(MAIN, config)], config)
    # Two kinds: the stage that begins, 4 loads and 16 computes; the one that stores, 4 stores more.
    assert stream.kinds[:, KIND_OPS].tolist() == [20, 24]
    assert len(stream.loads) == 8
    assert len(stream.computes) == 8  # 4 blocks a kind, each one run of 4 c_iter
    assert stream.computes[:, [RUN_COUNT, RUN_DEPTH, RUN_STEP]].tolist() == [[4, 32, 8]] * 8
    assert (stream.scratchpad_entries, stream.accumulator_entries) == (4, 4)
    # Entries by first use: weight 0, activations 1 and 2, weight 3; blocks in the order of the computes.
    assert stream.loads[:4, [MOVE_SPACE, MOVE_ENTRY]].tolist() == [[0, 0], [0, 1], [0, 2], [0, 3]]
    assert stream.computes[:4, [RUN_DEST, RUN_FIRST, RUN_SECOND]].tolist() == [
        [0, 1, 0],
        [1, 2, 0],
        [2, 1, 3],
        [3, 2, 3],
    ]


def test_skip_layers_have_tiles_without_instructions(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    stream = stream_of([2, lowered(MAIN, config), 1], config)
    assert stream.layers.tolist() == [[0, 2], [2, 10], [10, 11]]
    assert stream.tiles[[0, 1, 10], TILE_KIND].tolist() == [-1, -1, -1]
    assert stream.tiles[[0, 1, 10], TILE_CORE].tolist() == [-1, -1, -1]
    assert stream.layer_programs == (-1, 1, -1)


def test_only_faithful_offsets_wrap(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    for semantics, wraps in (("faithful", 1), ("fixed", 0)):
        stream = stream_of([lowered(MAIN, config, semantics=semantics)], config)
        assert stream.operands[:, OPERAND_WRAP].tolist() == [wraps] * 3


def test_a_layer_without_tiles_is_refused(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    empty = lowered("[T] N8 C8 M8 - [O] N0 C1 M1 - [I] N8 C8 M8", config)
    with pytest.raises(ProgramError, match=r"layer 1 has no tiles"):
        stream_of([1, empty], config)
