"""The compiled engine, the dynamic executor and a slow reference give the same times of every operation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pantile.program.tables import (
    ArbiterPolicy,
    Completes,
    Edge,
    Kind,
    Overflow,
    Sharing,
    Test,
)
from pantile.simulate.bound import BoundProgram
from pantile.simulate.engine import run_compiled
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.service import service_ticks
from pantile.simulate.timeline import Timeline

Make = Callable[[], Any]


class Reference:
    """The rules as the design states them: look at everything, do the first thing that can be done.

    Shared links serve quantum by quantum. Returns asked, ready, issue, start, finish of every operation.
    """

    def __init__(self, bound: BoundProgram) -> None:
        tables = bound.tables
        self.bound, self.now = bound, 0
        self.sync = [tables["sync"][tables["sync"]["op"] == op] for op in range(bound.operations)]
        self.use = [bound.use[bound.use["op"] == op] for op in range(bound.operations)]
        self.queue = [
            np.flatnonzero(tables["op"]["thread"] == t).tolist() for t in range(len(tables["thread"]))
        ]
        self.value = tables["counter"]["initial"].tolist()
        self.posted = [0] * len(self.value)
        self.times = {
            name: [-1] * bound.operations for name in ("asked", "ready", "issue", "start", "finish")
        }
        self.head: list[int | None] = [None] * len(self.queue)
        self.steps: dict[int, list[list[Any]]] = {}
        self.asking: dict[int, int] = {}  # operations that want their next resource, since when
        self.owned: dict[int, list[int]] = {}
        self.holder: dict[int, int] = {}
        self.links: dict[int, list[list[int]]] = {}  # [op, bytes left to serve, bytes served, end of quantum]
        self.reached: dict[int, list[int]] = {}
        self.later: list[tuple[int, int, Callable[[], None]]] = []
        self.posts: list[tuple[tuple[int, int, int, int], Callable[[], None]]] = []
        self.candidates: dict[int, dict[int, int]] = {}
        self.issued: dict[int, tuple[int, int]] = {}
        self.last = dict.fromkeys(range(len(tables["arbiter"])), 0)
        self.fault = False

    def run(self) -> dict[str, list[int]]:
        for thread in range(len(self.queue)):
            self.advance(thread)
        while not self.fault:
            due = sorted((each for each in self.later if each[0] == self.now), key=lambda each: each[1])
            if due:
                self.later.remove(due[0])
                due[0][2]()
            elif self.posts:
                self.posts.sort(key=lambda each: each[0])
                self.posts.pop(0)[1]()
            elif not (self.wait() or self.issue() or self.start()):
                times = [each[0] for each in self.later]
                if not times:
                    break
                self.now = min(times)
        return self.times

    def at(self, time: int, action: Callable[[], None]) -> None:
        self.later.append((time, len(self.later) and max(each[1] for each in self.later) + 1, action))

    def after(self, ticks: int, action: Callable[[], None]) -> None:
        if ticks:
            self.at(self.now + ticks, action)
        else:
            action()

    def thread(self, op: int) -> int:
        return int(self.bound.tables["op"]["thread"][op])

    def pipelined(self, op: int) -> bool:
        return bool(self.bound.tables["thread"]["completes"][self.thread(op)] == Completes.PIPELINED)

    def is_sync(self, op: int) -> bool:
        return bool(self.bound.tables["op"]["kind"][op] == Kind.SYNC)

    def only_posts(self, op: int) -> bool:
        return self.is_sync(op) and not np.any(self.sync[op]["test"] != Test.POST)

    def advance(self, thread: int) -> None:
        while self.queue[thread]:
            op = self.queue[thread].pop(0)
            self.times["asked"][op] = self.now
            if self.pipelined(op) and self.only_posts(op):
                self.settle(thread)
                continue
            self.head[thread] = op
            steps: dict[int, list[Any]] = {}
            for position, row in enumerate(self.sync[op]):
                if row["test"] != Test.POST:
                    steps.setdefault(row["group"] if row["group"] >= 0 else -1 - position, []).append(row)
            self.steps[op] = list(steps.values())
            return
        self.head[thread] = None

    def settle(self, thread: int) -> None:
        """Posts of a pipelined thread happen once everything before them has finished."""
        ops = np.flatnonzero(self.bound.tables["op"]["thread"] == thread).tolist()
        for op in ops:
            if self.times["finish"][op] >= 0:
                continue
            if self.times["asked"][op] < 0 or not self.only_posts(op):
                return
            for name in ("ready", "issue", "start", "finish"):
                self.times[name][op] = self.now
            self.post_later(op, Edge.AFTER_FINISH)

    def post_later(self, op: int, edge: Edge) -> None:
        key = (self.times["asked"][op], self.thread(op), op, int(edge == Edge.AFTER_FINISH))
        self.posts.append((key, lambda: self.post(op, edge)))

    def post(self, op: int, edge: Edge) -> None:
        for row in self.sync[op]:
            if row["test"] == Test.POST and row["edge"] == edge:
                amount = int(row["amount"])
                self.change(row["counter"], np.sign(amount) if edge == Edge.ALONG else amount)

    def change(self, counter: int, amount: int) -> None:
        row = self.bound.tables["counter"][counter]
        self.value[counter] += int(amount)
        self.posted[counter] += max(0, int(amount))
        if row["overflow"] == Overflow.SATURATE:
            self.value[counter] = min(self.value[counter], int(row["capacity"]))
        elif row["overflow"] == Overflow.ERROR and not 0 <= self.value[counter] <= row["capacity"]:
            self.fault = True

    def holds(self, row: Any) -> bool:
        if row["test"] == Test.TAKE:
            return bool(self.value[row["counter"]] >= row["amount"])
        if row["test"] == Test.REACH:
            return bool(self.posted[row["counter"]] >= row["amount"])
        return bool(self.value[row["counter"]] == 0)

    def wait(self) -> bool:
        heads = [op for op in self.head if op is not None and self.times["ready"][op] < 0]
        for op in sorted(heads, key=lambda op: (self.times["asked"][op], self.thread(op))):
            step = self.steps[op][0] if self.steps[op] else []
            if all(self.holds(row) for row in step):
                for row in step:
                    if row["test"] == Test.TAKE:
                        self.change(row["counter"], -row["amount"])
                self.steps[op] = self.steps[op][1:]
                if not self.steps[op]:
                    self.proceed(op)
                return True
        return False

    def proceed(self, op: int) -> None:
        self.times["ready"][op] = self.times["issue"][op] = self.now
        self.post(op, Edge.BEFORE_START)
        arbiter = int(self.bound.tables["thread"]["arbiter"][self.thread(op)])
        if arbiter >= 0 and not self.is_sync(op):
            self.candidates.setdefault(arbiter, {})[self.thread(op)] = op
        else:
            self.request(op)

    def request(self, op: int) -> None:
        if len(self.use[op]):
            self.asking[op] = self.now
            self.owned[op] = []
        else:
            self.begin(op)

    def issue(self) -> bool:
        for arbiter, waiting in sorted(self.candidates.items()):
            row, ticks = self.bound.tables["arbiter"][arbiter], int(self.bound.arbiter_ticks[arbiter])
            tick, done = self.issued.get(arbiter, (-1, 0))
            done = done if tick == self.now // ticks else 0
            if not waiting:
                continue
            if done == row["issues_per_tick"]:
                turn = (self.now // ticks + 1) * ticks
                if turn not in [each[0] for each in self.later]:
                    self.at(turn, self.idle)
                continue
            fixed = row["policy"] == ArbiterPolicy.FIXED
            base, count = (0 if fixed else self.last[arbiter]), len(self.queue)
            thread = min(waiting, key=lambda each: (each - base) % count)
            op = waiting.pop(thread)
            self.times["issue"][op], self.last[arbiter] = self.now, thread
            self.issued[arbiter] = (self.now // ticks, done + 1)
            self.request(op)
            return True
        return False

    def idle(self) -> None:
        """Something may be possible now that was not before."""

    def exclusive(self, op: int) -> list[int]:
        policy = self.bound.resources["policy"]
        return [int(r) for r in self.use[op]["resource"] if policy[r] == Sharing.EXCLUSIVE]

    def start(self) -> bool:
        for op in sorted(self.asking, key=lambda op: (self.asking[op], self.thread(op))):
            wanted = [r for r in self.exclusive(op) if r not in self.owned[op]]
            if wanted and wanted[0] in self.holder:
                continue
            if wanted:
                self.holder[wanted[0]] = op
                self.owned[op].append(wanted[0])
                self.asking[op] = self.now
            if len(wanted) <= 1:
                del self.asking[op]
                self.begin(op)
            return True
        return False

    def chunks(self, op: int) -> int:
        along = self.sync[op]["amount"][self.sync[op]["edge"] == Edge.ALONG]
        return int(abs(along[0])) if len(along) else 1

    def begin(self, op: int) -> None:
        self.times["start"][op] = self.now
        resources, chunks = self.bound.resources, self.chunks(op)
        own = int(self.bound.ticks[op])
        shared = []
        for row in self.use[op]:
            resource = resources[row["resource"]]
            if resource["policy"] == Sharing.SHARED:
                if row["amount"]:
                    shared.append((int(row["resource"]), int(row["amount"])))
            elif resource["rate"]:
                own = max(own, service_ticks(int(row["amount"]), int(resource["rate"])))
        parts = len(shared) + (own > 0 or not shared)
        self.reached[op] = [parts] * chunks
        for link, amount in shared:
            self.links.setdefault(link, []).append([op, amount, 0, -1])
            self.serve(link)
        if self.pipelined(op) and not self.is_sync(op):
            self.advance(self.thread(op))
        if own or not shared:
            for chunk in range(chunks):
                self.after(-(-(chunk + 1) * own // chunks), lambda chunk=chunk: self.reach(op, chunk))

    def serve(self, link: int) -> None:
        """Let the first in the queue be served a quantum, if the link is idle."""
        queue = self.links[link]
        if queue and queue[0][3] < 0:
            row = self.bound.resources[link]
            _, amount, served, _ = queue[0]
            upto = min(served + int(row["quantum"]), amount)
            span = service_ticks(upto, int(row["rate"])) - service_ticks(served, int(row["rate"]))
            queue[0][3] = self.now + span
            self.at(self.now + span, lambda: self.served(link, upto))

    def served(self, link: int, upto: int) -> None:
        transfer = self.links[link].pop(0)
        op, amount, before, _ = transfer
        transfer[2], transfer[3] = upto, -1
        if upto < amount:
            self.links[link].append(transfer)
        self.serve(link)
        chunks = self.chunks(op)
        for chunk in range(chunks):
            goal = -(-(chunk + 1) * amount // chunks)
            if before < goal <= upto:
                self.reach(op, chunk)

    def reach(self, op: int, chunk: int) -> None:
        self.reached[op][chunk] -= 1
        if self.reached[op][chunk]:
            return
        latency = int(self.bound.resources["latency"][self.use[op]["resource"]].sum())
        if np.any(self.sync[op]["edge"] == Edge.ALONG):
            self.after(latency, lambda: self.post_later(op, Edge.ALONG))
        if chunk == self.chunks(op) - 1:
            self.release(op, held=False)
            self.after(latency, lambda: self.finish(op))

    def release(self, op: int, held: bool) -> None:
        for resource in self.exclusive(op):
            if (self.bound.resources["rate"][resource] == 0) == held and self.holder.get(resource) == op:
                del self.holder[resource]

    def finish(self, op: int) -> None:
        self.times["finish"][op] = self.now
        self.release(op, held=True)
        self.post_later(op, Edge.AFTER_FINISH)
        if self.pipelined(op):
            self.settle(self.thread(op))
        if not self.pipelined(op) or self.is_sync(op):
            self.advance(self.thread(op))


@st.composite
def programs(draw: st.DrawFn, make: Make) -> Any:
    """A program of a few threads that wait, post and compete at random; many of them get stuck."""
    b = make()
    few = st.integers(0, 3)
    for _ in range(draw(st.integers(0, 2))):
        b.arbiter(draw(st.sampled_from(ArbiterPolicy)), draw(st.integers(1, 2)), draw(st.integers(1, 7)))
    for _ in range(draw(st.integers(1, 4))):
        b.thread(pipelined=draw(st.booleans()), arbiter=draw(st.integers(-1, len(b.arbiter_ticks) - 1)))
    counters = [
        b.counter(
            draw(few), draw(st.integers(2, 6)), draw(st.sampled_from([*Overflow, *[Overflow.NONE] * 5]))
        )
        for _ in range(draw(st.integers(1, 4)))
    ]
    resources = [
        b.resource(
            draw(st.sampled_from([0, 10**12, 3 * 10**11, 7 * 10**12])) or 10**12,
            latency=draw(st.sampled_from([0, 0, 5])),
        )
        for _ in range(2)
    ]
    resources += [b.resource(0)]
    resources += [
        b.resource(
            draw(st.sampled_from([10**12, 3 * 10**11, 7 * 10**12])),
            shared=True,
            latency=draw(st.sampled_from([0, 4])),
            quantum=draw(st.sampled_from([1, 3, 8])),
        )
        for _ in range(2)
    ]
    for _ in range(draw(st.integers(1, 25))):
        syncs: list[tuple[Any, ...]] = []
        for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3]))):
            counter = draw(st.sampled_from(counters))
            test = draw(st.sampled_from([*Test, Test.POST, Test.POST]))
            if test == Test.POST:
                edge = draw(st.sampled_from([Edge.AFTER_FINISH, Edge.AFTER_FINISH, Edge.BEFORE_START]))
                syncs.append((edge, counter, test, draw(st.sampled_from([1, 1, 2, -1]))))
            else:
                group = draw(st.sampled_from([-1, 0, 1]))
                syncs.append((Edge.BEFORE_START, counter, test, draw(st.integers(0, 2)), group))
        kind = draw(st.sampled_from([Kind.SYNC, Kind.MOVE, Kind.MOVE, Kind.COMPUTE]))
        uses, ticks = [], 0
        if kind != Kind.SYNC:
            chosen = draw(st.lists(st.sampled_from(resources), unique=True, max_size=3))
            uses = [(each, draw(st.integers(0, 30))) for each in chosen]
            ticks = draw(st.sampled_from([0, 0, 6, 11]))
            if draw(st.booleans()):
                chunks = draw(st.integers(1, 4))
                syncs.append((Edge.ALONG, draw(st.sampled_from(counters)), Test.POST, chunks))
        b.op(draw(st.integers(0, len(b.rows["thread"]) - 1)), syncs, uses, kind=kind, ticks=ticks)
    return b.bound()


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_dynamic_executor_and_reference_agree(builder: Make, data: st.DataObject) -> None:
    bound = data.draw(programs(builder))
    times = run_plain(bound).times
    expected = Reference(bound).run()
    for name, values in expected.items():
        assert times[name].tolist() == values, name


@pytest.mark.slow
@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_compiled_engine_and_dynamic_executor_agree(builder: Make, data: st.DataObject) -> None:
    bound = data.draw(programs(builder))
    plain, compiled = run_plain(bound), run_compiled(bound)
    assert plain.times.tolist() == compiled.times.tolist()
    assert (plain.stuck, plain.fault) == (compiled.stuck, compiled.fault)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_program_does_its_timeline_adds_up(builder: Make, data: st.DataObject) -> None:
    bound = data.draw(programs(builder))
    timeline = Timeline(bound, run_plain(bound))
    for terms in timeline.unit_terms.values():
        assert sum(terms.values()) == timeline.total
        assert min(terms.values()) >= 0
    assert max(timeline.lower_bounds.values()) <= timeline.total
    starts, order = timeline.times["start"][timeline.chain], timeline.times["order"][timeline.chain]
    assert np.all(np.diff(starts) >= 0)
    assert np.all(np.diff(order) > 0)
    assert json.dumps(timeline.to_json(operations=True))
    assert str(timeline) in timeline.show()


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_compiled_engine_runs_any_size(builder: Make, count: int) -> None:
    b = builder()
    t, wire = b.thread(), b.resource(10**12)
    for _ in range(count):
        b.op(t, uses=[(wire, 2)])
    times = run_compiled(b.bound()).times
    assert times["finish"].tolist() == [2 * (each + 1) for each in range(count)]
