"""Oddities of the library that one call of ``mma_tile`` runs into.

They are reproduced, not mended; ``docs/ascend-core.md`` tells of them under the same names.

Source: ascend-core.md sections 2.9 and 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.targets.ascend.events import LIBRARY_IDS
from pantile.targets.ascend.mma_call import ABSENT
from pantile.targets.ascend.mma_split import split_of

if TYPE_CHECKING:
    from pantile.targets.ascend.mma_call import MmaCall
    from pantile.targets.ascend.mma_tile import Revision


def oddities_of(mma: MmaCall, revision: Revision) -> list[tuple[str, str]]:
    """Return name and description of every oddity that a call runs into."""
    if 0 in (mma.m, mma.n, mma.k):
        empty = "nothing is computed: of a result over no K, L0C keeps what it held"
        return [("empty", empty)] if mma.m and mma.n and mma.init else []
    split, events, found = split_of(mma), mma.events, []
    head, several = revision == "head", split.count > 1
    passed = (events.back0, events.back1)
    if mma.element.is_int4 and mma.tb:
        found.append(("int4-tb", "nothing of a transposed int4 right operand is loaded: the result is wrong"))
    if mma.element.is_int4 and not mma.tb and several and split.kb_part == split.k_part:
        text = "parts of the int4 right operand hold half the K of those of the left one: the result is wrong"
        found.append(("int4-parts", text))
    others = any(each not in (ABSENT, at) for at, each in enumerate(passed))
    if head and split.fits and not split.is_double and others:
        text = "one buffer: it waits for flags 0 and 1 of M, whatever ids were passed"
        found.append(("fixed-ids", f"{text}, here {passed[0]} and {passed[1]}"))
    if head and several and split.is_double:
        text = "both halves are told to M by one flag, 7: it can be raised twice before it is taken"
        found.append(("one-id", text))
    if (passed[0] == ABSENT) != (passed[1] == ABSENT):
        other = passed[1] if passed[0] == ABSENT else passed[0]
        if other == (0 if passed[0] == ABSENT else 1):
            found.append(("mixed", f"it raises flag {other} of M itself, and the caller passed the same id"))
    if mma.bias is not None and several:
        found.append(("bias", "the bias is loaded again for every part, and no flag guards its table"))
    given = (events.l1a_wait, events.l1b_wait, events.l1a_set, events.l1b_set, *passed)
    kept = sorted({event for event in given if event in LIBRARY_IDS})
    if kept:
        found.append(("kept-ids", f"the library keeps ids 6 and 7 for itself, and is passed {kept}"))
    return found
