"""A core's queues carried out one event at a time, in random order: the model that verdicts are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from pantile.targets.ascend.pipes import ALL, PIPELINED, REGISTER_WRITES, pipe_of

_SYNC = ("set_flag", "wait_flag", "pipe_barrier")


def random_run(stream: Sequence[Mapping[str, Any]], random: Random) -> list[int] | None:
    """Carry queues out in a random legal order, counting flags; nothing if they come to a stop.

    An instruction ends some time after it began, and its effect is at its end. Accesses of pipelined queues
    end in any order, products one after the other. Registers are written at issue, and are none of this.

    Returns:
        Places in the stream in the order in which they took effect.
    """
    places = [at for at, each in enumerate(stream) if each["op"] not in REGISTER_WRITES]
    queue_of = {at: _queue(stream[at]) for at in places}
    queues = {
        pipe: [at for at in places if queue_of[at] in (pipe, ALL)] for pipe in set(queue_of.values()) - {ALL}
    }
    up: Counter[tuple[Any, ...]] = Counter()
    under_way: dict[str, list[int]] = {pipe: [] for pipe in queues}
    done: list[int] = []
    while any(queues.values()) or any(under_way.values()):
        moves = [("end", pipe, at) for pipe, going in under_way.items() for at in _may_end(stream, going)]
        for pipe, queue in queues.items():
            if queue and _may_begin(stream[queue[0]], pipe, queues, under_way, up):
                moves.append(("begin", pipe, queue[0]))
        if not moves:
            return None
        what, pipe, at = random.choice(moves)
        if what == "end":
            under_way[pipe].remove(at)
            done.append(at)
            continue
        op = stream[at]["op"]
        for each in queues if queue_of[at] == ALL else [pipe]:
            queues[each].remove(at)
        if op in _SYNC:
            up[_key(stream[at])] += {"set_flag": 1, "wait_flag": -1}.get(op, 0)
            done.append(at)
        else:
            under_way[pipe].append(at)
    return done


def _queue(each: Mapping[str, Any]) -> str:
    key = {"set_flag": "src_pipe", "wait_flag": "dst_pipe", "pipe_barrier": "pipe", "access": "pipe"}
    if each["op"] in key:
        return str(each["args"][key[each["op"]]])
    return pipe_of(each["op"]) or ""


def _key(each: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(each["args"].get(name) for name in ("src_pipe", "dst_pipe", "event_id"))


def _may_end(stream: Sequence[Mapping[str, Any]], going: list[int]) -> list[int]:
    return going if all(stream[at]["op"] == "access" for at in going) else going[:1]


def _may_begin(
    each: Mapping[str, Any],
    pipe: str,
    queues: Mapping[str, list[int]],
    under_way: Mapping[str, list[int]],
    up: Counter[Any],
) -> bool:
    op = each["op"]
    if op == "wait_flag":
        return up[_key(each)] > 0
    if op == "pipe_barrier" and each["args"]["pipe"] == ALL:
        heads = {queue[0] for queue in queues.values() if queue}
        return len(heads) == 1 and all(queues.values()) and not any(under_way.values())
    if op not in _SYNC and pipe in PIPELINED:
        return True
    return not under_way[pipe]
