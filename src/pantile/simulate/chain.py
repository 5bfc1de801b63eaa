"""The critical chain: from the last finish back, each time to what let the operation go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pantile.simulate.bound import Ints, Rows


def critical_chain(times: Rows) -> Ints:
    """Return the operations that decided when the run ended, first to last; none if nothing happened.

    Each was let go by the one before it: ``times["released_by"]`` says how. The chain begins with the first
    operation of a thread, or where one was let go by another that had not started yet itself, but only
    passed a wait.
    """
    chain: list[int] = []
    if len(times) and times["finish"].max() >= 0:
        latest = np.flatnonzero(times["finish"] == times["finish"].max())
        releaser, order = times["releaser"].tolist(), times["order"].tolist()
        chain.append(int(latest[times["order"][latest].argmax()]))
        while (before := releaser[chain[-1]]) >= 0 and 0 <= order[before] < order[chain[-1]]:
            chain.append(before)
    return np.array(chain[::-1], np.int64)
