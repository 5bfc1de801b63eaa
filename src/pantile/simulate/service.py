"""How long a resource serves an amount of work, exactly.

Time is counted in ticks of one picosecond; a resource serves ``rate`` units (bytes, MACs) per second, and
the first ``amount`` units of one operation take ``ceil(amount * 10^12 / rate)`` ticks of its service, so
that rounding never adds up over the quanta of a transfer (design section 3, Time).
"""

from __future__ import annotations

from math import gcd

import numpy as np
import numpy.typing as npt

TICKS_PER_SECOND = 10**12
"""Ticks are picoseconds, whatever clocks the machine has."""

LONGEST = 1 << 60
"""No program may take this many ticks: the kernel packs a time and its rank into 64 bits."""

MOST = 1 << 52
"""Largest amount of one operation on a shared link, for the same reason as :data:`STEEPEST`."""

STEEPEST = 1 << 52
"""Largest reduced denominator of a rate, so that the kernel's long division stays within 64 bits."""


def service_ticks(amount: int, rate: int) -> int:
    """Return the ticks of service that the first *amount* units take at *rate* units per second.

    >>> service_ticks(64, 25_600_000_000), service_ticks(1, 3_000_000_000_000)
    (2500, 1)
    """
    return -(-amount * TICKS_PER_SECOND // rate)


def ratio(rate: int) -> tuple[int, int]:
    """Return ``10^12 / rate`` in lowest terms: ticks per unit as numerator and denominator.

    >>> ratio(25_600_000_000)
    (625, 16)
    """
    divisor = gcd(TICKS_PER_SECOND, rate)
    return TICKS_PER_SECOND // divisor, rate // divisor


def service_column(
    amounts: npt.NDArray[np.int64], rates: npt.NDArray[np.int64], which: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return :func:`service_ticks` of *amounts* at ``rates[which]``; 0 where the rate is 0.

    Raises:
        OverflowError: If one of them is longer than 64 bits can say.
    """
    ratios = np.array([ratio(int(rate)) if rate else (0, 1) for rate in rates], np.int64).reshape(-1, 2)
    numerators, denominators = ratios[which, 0], ratios[which, 1]
    largest = (np.iinfo(np.int64).max - denominators) // np.maximum(numerators, 1)
    ticks: npt.NDArray[np.int64] = (
        np.minimum(amounts, largest) * numerators + denominators - 1
    ) // denominators
    for row in np.flatnonzero(amounts > largest):  # the product overflows
        ticks[row] = service_ticks(int(amounts[row]), int(rates[which[row]]))
    return ticks
