"""The critical chain: from the last finish back, each time to what let the operation go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pantile.simulate.bound import Ints, Rows


def critical_chain(times: Rows) -> Ints:
    """Return the operations that decided when the run ended, first to last; none if nothing happened.

    Each was let go by the one before it: ``times["released_by"]`` says how.
    """
    chain: list[int] = []
    if len(times) and times["finish"].max() >= 0:
        latest = np.flatnonzero(times["finish"] == times["finish"].max())
        releaser = times["releaser"].tolist()
        op = int(latest[times["order"][latest].argmax()])
        while op >= 0:
            chain.append(op)
            op = releaser[op]
    return np.array(chain[::-1], np.int64)
