"""Contracts: which flags a sequence of instructions needs up when it begins, and leaves up when it ends.

They are read off the sequence itself. In the order in which the scalar unit walks the program, every wait
that no set before it in the sequence serves is a need; what is set and not taken is left. A flag that the
sequence sets before it waits for it must be down when it begins, or its set is a second one.

That order is all that counts between functions: a wait that a caller issues after a call stands in its
pipe's queue behind everything that the call issued there, and the k-th wait of a flag takes its k-th set. So
a caller's waits never take a set that belongs to a wait of the callee. They protect nothing else, however:
see ``docs/ascend-sync.md``.

Source: ascend-core.md sections 1.3, 1.4 and 4.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pantile.targets.ascend.events import Flag

FlagCounts = tuple[tuple[Flag, int], ...]
"""Flags in the order in which they were first met, and how often each is meant."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a sequence asks of the flags of those who run before it, and what it hands on.

    Attributes:
        needs: Flags that must be up when it begins, and how often they are taken.
        leaves: Flags that are up when it ends because of it, and how often.
        lowered: Flags that must be down when it begins, because it sets them first.
    """

    needs: FlagCounts = ()
    leaves: FlagCounts = ()
    lowered: tuple[Flag, ...] = ()

    def lines(self) -> list[str]:
        """Return one line for each part that is not empty, flags of one pair together."""
        rows = (
            ("needs up", _listed(self.needs)),
            ("leaves up", _listed(self.leaves)),
            ("needs down", _listed((flag, 1) for flag in self.lowered)),
        )
        return [f"{name} {text}" for name, text in rows if text]

    def __str__(self) -> str:
        return "\n".join(self.lines()) or "no flags"


def _listed(flags: Iterable[tuple[Flag, int]]) -> str:
    pairs: dict[tuple[str, str], list[str]] = {}
    for flag, count in sorted(flags):
        pairs.setdefault(flag[:2], []).append(f"{flag.id}{f' x{count}' if count > 1 else ''}")
    return "; ".join(f"{source} to {target} {', '.join(ids)}" for (source, target), ids in pairs.items())


def flag_of(instruction: Mapping[str, Any]) -> Flag:
    """Return the flag that a ``set_flag`` or ``wait_flag`` means."""
    args = instruction["args"]
    return Flag(args["src_pipe"], args["dst_pipe"], int(args["event_id"]))


def contract_of(instructions: Sequence[Mapping[str, Any]]) -> Contract:
    """Return the contract of a sequence.

    >>> from pantile.targets.ascend.instructions import set_flag, wait_flag
    >>> print(contract_of([wait_flag("PIPE_M", "PIPE_MTE1", 0), set_flag("PIPE_M", "PIPE_MTE1", 0)]))
    needs up PIPE_M to PIPE_MTE1 0
    leaves up PIPE_M to PIPE_MTE1 0
    """
    up: Counter[Flag] = Counter()
    needs: Counter[Flag] = Counter()
    sets_first: dict[Flag, bool] = {}
    for each in instructions:
        op = each["op"]
        if op == "set_flag":
            flag = flag_of(each)
            sets_first.setdefault(flag, True)
            up[flag] += 1
        elif op == "wait_flag":
            flag = flag_of(each)
            sets_first.setdefault(flag, False)
            if up[flag]:
                up[flag] -= 1
            else:
                needs[flag] += 1
    return Contract(
        needs=tuple((flag, needs[flag]) for flag in sets_first if needs[flag]),
        leaves=tuple((flag, up[flag]) for flag in sets_first if up[flag]),
        lowered=tuple(flag for flag, first in sets_first.items() if first),
    )
