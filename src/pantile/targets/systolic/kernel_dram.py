"""Compiled simple DRAM: when a channel answers, in closed form per request.

Source: onnxim-model.md section 9. A channel answers a request its latency after the DRAM tick that
follows the push, and one DRAM tick after its last answer at least. The network sees the answer in its
next tick.
"""

from __future__ import annotations

from pantile.targets.systolic.kernel_state import (
    ANSWER_REST,
    ANSWER_STEP,
    DRAM_BOUND,
    DRAM_LATENCY,
    DRAM_PHASE,
    DRAM_PS,
    DRAM_PUSHED,
    DRAM_REST,
    DRAM_SEEN,
    DRAM_SENT,
    DRAM_SLACK,
    DRAM_STEP,
    FAR,
    NOC_PS,
    NOC_REST,
    Array,
    inlined,
)

Dram = tuple[int, int, int, int, int, int]
"""What is known of a channel: columns ``DRAM_PUSHED`` to ``DRAM_SENT`` of its row."""


@inlined
def load_dram(channel: Array, d: int) -> Dram:
    """Return what is known of channel *d*."""
    return (
        channel[d, DRAM_PUSHED],
        channel[d, DRAM_PHASE],
        channel[d, DRAM_BOUND],
        channel[d, DRAM_SEEN],
        channel[d, DRAM_SLACK],
        channel[d, DRAM_SENT],
    )


@inlined
def store_dram(channel: Array, d: int, state: Dram) -> None:
    """Keep what is known of channel *d*."""
    channel[d, DRAM_PUSHED], channel[d, DRAM_PHASE], channel[d, DRAM_BOUND] = state[0], state[1], state[2]
    channel[d, DRAM_SEEN], channel[d, DRAM_SLACK], channel[d, DRAM_SENT] = state[3], state[4], state[5]


@inlined
def dram_answers(config: Array, y: int, state: Dram) -> Dram:
    """Let a channel take a request in NoC tick *y*; requests come in the order of their ticks."""
    pushed, phase, bound, seen, slack, sent = state
    noc_ps, dram_ps = config[NOC_PS], config[DRAM_PS]
    time = y * noc_ps
    if time < bound:
        # Busy: the response comes one DRAM tick after the last one.
        seen += config[DRAM_STEP]
        slack -= config[DRAM_REST]
        if slack < 0:
            slack += noc_ps
            seen += 1
        return pushed, phase, bound + dram_ps, seen, slack, max(seen, sent + 1)
    # At rest: the response comes its latency after the next DRAM tick.
    if y == pushed + 1:
        phase += config[NOC_REST]
        if phase >= dram_ps:
            phase -= dram_ps
    else:
        phase = time % dram_ps
    slack = phase - config[ANSWER_REST]
    seen = y + config[ANSWER_STEP]
    if slack < 0:
        slack += noc_ps
        seen += 1
    elif slack >= noc_ps:
        seen -= slack // noc_ps
        slack %= noc_ps
    return y, phase, time - phase + dram_ps, seen, slack, max(seen, sent + 1)


@inlined
def earliest_response(config: Array, x: int) -> int:
    """Return the first NoC tick in which a request that leaves its hop in tick *x* or later can answer."""
    if x >= FAR:
        return FAR
    k = (x + 1) * config[NOC_PS] // config[DRAM_PS] + 1 + config[DRAM_LATENCY]
    return int((k * config[DRAM_PS] + config[NOC_PS] - 1) // config[NOC_PS])
