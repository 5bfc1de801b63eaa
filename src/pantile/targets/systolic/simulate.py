"""The exact simulation: its plain form for small programs, its compiled form for all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pantile.targets.systolic.counting import count_requests
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.stream import Stream, stream_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.result import SystolicResult

PLAIN_WORK = 20_000
"""Requests and instructions up to which the plain form costs less than compiling would."""


def simulate(
    layers: Sequence[Program | int],
    config: SystolicConfig,
    *,
    record: range | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> tuple[Stream, SystolicResult]:
    """Run *layers* one after the other and return what ran and what was measured.

    Args:
        layers: Programs in execution order; an integer is a layer of that many skip tiles.
        config: The machine.
        record: Numbers of the instructions whose times are recorded.
        on_compile: Called before the compiled form is built for the first time, which takes a while.

    Raises:
        ProgramError: If a block does not fit, is loaded twice, or the run never ends.
    """
    stream = stream_of(layers, config)
    programs = [layer for layer in layers if not isinstance(layer, int)]
    requests = 0
    for program in programs:
        counts = count_requests(program, config)
        requests += int(counts.reads.sum() + counts.writes.sum())
    if stream.operations + requests <= PLAIN_WORK:
        result = simulate_plain(stream, config, record=record)
    else:
        from pantile.targets.systolic.fast import is_compiled, simulate_fast

        if not is_compiled():
            on_compile()
        result = simulate_fast(stream, config, record=record)
    assert np.all(result.terms.sum(axis=(0, 2)) == result.core_ticks)
    return stream, result
