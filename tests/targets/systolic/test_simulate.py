"""Small programs run in the plain form, and nothing is compiled for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pantile.errors import ProgramError
from pantile.program.program import Program
from pantile.targets.systolic import simulate as module
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.simulate import simulate

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
ONE = "[T] N1 C1 M1 - [O] N1 C1 M1 - [I] N8 C8 M8"


def refuse() -> None:
    raise AssertionError("compiled for a small program")


def test_small_programs_are_not_compiled_for(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    stream, result = simulate([lowered(ONE, config), 1], config, record=range(4), on_compile=refuse)
    # The minimum timeline's tile leaves at 68; the skip tile is issued in that tick and reported in the next.
    assert result.layer_finish.tolist() == [68, 69]
    assert result.core_ticks == 97
    assert len(result.operations) == stream.operations == 4


def test_work_is_instructions_and_requests(
    lowered: Lowered, config_of: ConfigOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 2 loads, 1 compute and 1 store, of one request each: 4 + 3.
    config = config_of()
    monkeypatch.setattr(module, "PLAIN_WORK", 7)
    simulate([lowered(ONE, config)], config, on_compile=refuse)


def test_faults_pass_through(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(spad_size=1)
    program = lowered("[T] N24 C64 M8 - [O] N1 C1 M1 - [I] N24 C64 M8", config)
    with pytest.raises(ProgramError, match="1024 B of 512 B"):
        simulate([program], config)
