"""The dynamic executor: threads are iterators of statements, so that a query can decide what comes next.

At one instant whatever can happen is done in this order: finishes, posts, waits (with them the operations
that need no resource), issues, starts; within each kind by the time at which it was asked for, the thread's
place in the declaration and the operation's number; and after each step the earlier kinds come first again
(design section 3, Time).
"""

from __future__ import annotations

from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from pantile.errors import ProgramError
from pantile.program.tables import Edge, Kind, Overflow, ReleasedBy, Sharing, Test
from pantile.simulate.outcome import Fault, Run, Stuck, blank_times
from pantile.simulate.running import Arbiter, Counter, Operation, Resource, Thread
from pantile.simulate.service import service_ticks
from pantile.simulate.shared_link import SharedLink, Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pantile.simulate.running import ArbiterSpec, Key, ThreadSource
    from pantile.simulate.statement import CounterSpec, ResourceSpec, Statement, Sync

    Action = Callable[[], None]

_POST, _WAIT, _ISSUE, _START, _LAST = range(1, 6)  # a finish, which would be 0, is never put off

ASKED_AT_ONCE, IDLE = 100, 10_000
"""Queries that a thread makes one after the other without letting time pass; and that all threads make while
nothing else happens, before that is taken to be without end."""


class AsksWithoutEnd(ProgramError):
    """A thread asks on and on, and nothing happens any more that could change the answer."""

    def __init__(self, thread: int) -> None:
        super().__init__("asks without end: nothing else happens any more", mend="wait with acquire instead")
        self.thread = thread


class DynamicExecutor:
    """Carries out threads of statements; :meth:`run` once.

    Attributes:
        statements: After the run, by number: the place of its thread and the statement.
    """

    def __init__(
        self,
        threads: Sequence[ThreadSource],
        counter_spec: Callable[[Hashable], CounterSpec],
        resource_spec: Callable[[Hashable], ResourceSpec],
        arbiters: Sequence[ArbiterSpec] = (),
    ) -> None:
        """Take the *threads* in the order of their declaration, which decides ties.

        *counter_spec* and *resource_spec* are asked once for every key, when it is first mentioned.
        """
        self.statements: dict[int, tuple[int, Statement]] = {}
        self._threads = [Thread(place, source) for place, source in enumerate(threads)]
        self._arbiters = [Arbiter(place, spec) for place, spec in enumerate(arbiters)]
        self._counter_spec, self._resource_spec = counter_spec, resource_spec
        self._counters: dict[Hashable, Counter] = {}
        self._resources: dict[Hashable, Resource] = {}
        self._ops: list[Operation] = []
        self._now = 0
        self._later: list[tuple[int, int, Action]] = []
        self._pending: list[tuple[int, Key, int, Action]] = []
        self._serial, self._starts = count(), count()
        self._fault: Fault | None = None
        self._idle = 0

    def run(self) -> Run:
        """Return the times of all operations, by number."""
        for thread in self._threads:
            self._next(thread, -1)
        while self._fault is None:
            if self._later and self._later[0][0] == self._now:
                heappop(self._later)[2]()
            elif self._pending:
                heappop(self._pending)[3]()
            elif self._later:
                self._now = self._later[0][0]
            else:
                break
        return Run(self._times(), () if self._fault else self._stuck(), self._fault)

    def _schedule(self, at: int, action: Action) -> None:
        heappush(self._later, (at, next(self._serial), action))

    def _defer(self, kind: int, key: Key, action: Action) -> None:
        heappush(self._pending, (kind, key, next(self._serial), action))

    # Program order

    def _next(self, thread: Thread, before: int) -> None:
        """Let *thread* reach its next operation; a pipelined one passes by those that only post."""
        while True:
            statement = self._fetch(thread)
            if statement is None:
                thread.head = None
                return
            number = statement.number if statement.number >= 0 else len(self.statements)
            self.statements[number] = (thread.place, statement)
            op = Operation(thread, statement, number, self._now, before, statement.steps())
            self._ops.append(op)
            if thread.source.pipelined:
                thread.unfinished.append(op)
                if statement.only_posts:
                    if thread.unfinished[0] is op:
                        self._settle(thread, before)
                    continue
            thread.head = op
            self._defer(_WAIT, op.key, partial(self._wait, op))
            return

    def _fetch(self, thread: Thread) -> Statement | None:
        answer, thread.answer = thread.answer, None
        source: Any = thread.source.statements
        try:
            statement: Statement = next(source) if answer is None else source.send(answer)
        except StopIteration:
            return None
        return statement

    def _settle(self, thread: Thread, cause: int) -> None:
        """Drop finished operations from the front of a pipelined thread; posts that get there happen."""
        while thread.unfinished:
            op = thread.unfinished[0]
            if op.finish < 0:
                if not op.statement.only_posts:
                    return
                op.ready = op.issue = op.start = op.finish = self._now
                op.releaser = cause
                self._defer(_POST, op.key, partial(self._post_only, op))
            elif op.finish == self._now:
                cause = op.number
            thread.unfinished.popleft()

    # Counters

    def _counter(self, key: Hashable) -> Counter:
        if key not in self._counters:
            spec = self._counter_spec(key)
            self._counters[key] = Counter(key, spec, spec.initial)
        return self._counters[key]

    def _wait(self, op: Operation) -> None:
        """Carry out the next step of *op*'s waits if it holds; with the last, all that follows."""
        if op.statement.query is not None:
            if self._puts_off(op):
                return
            op.thread.answer = self._counter(op.statement.query).value
        else:
            op.thread.asked, self._idle = 0, 0
        if op.steps:
            for sync in op.steps[0]:
                counter = self._counter(sync.counter)
                if not counter.holds(sync):
                    op.watched = counter
                    counter.waiting[op] = None
                    return
            if op.watched is not None and self._now > op.asked:
                op.released_by, op.releaser = ReleasedBy.COUNTER, op.woken_by
            op.watched = None
            for sync in op.steps.pop(0):
                if sync.test == Test.TAKE:
                    self._change(op, sync, -sync.amount)
        if op.steps:
            self._defer(_WAIT, op.key, partial(self._wait, op))
        else:
            self._pass(op)

    def _puts_off(self, op: Operation) -> bool:
        """Whether a thread that asks on and on has to let time pass, or the others, before it is answered.

        Raises:
            AsksWithoutEnd: If nothing else happens any more.
        """
        op.thread.asked += 1
        if op.thread.asked <= ASKED_AT_ONCE or op.put_off:
            return False
        op.put_off = True
        again = partial(self._wait, op)
        if self._pending and self._pending[0][0] < _LAST:
            self._defer(_LAST, op.key, again)
        elif self._later:
            self._schedule(self._later[0][0], partial(self._defer, _LAST, op.key, again))
        else:
            self._idle += 1
            if self._idle > IDLE:
                raise AsksWithoutEnd(op.thread.place)
            op.put_off = False
            return False
        return True

    def _pass(self, op: Operation) -> None:
        """All waits of *op* hold: post what it posts at its start and ask for what it needs."""
        op.ready = op.issue = self._now
        if op.released_by == ReleasedBy.PROGRAM:
            op.releaser = op.before
        self._post(op, Edge.BEFORE_START)
        place = op.thread.source.arbiter
        if place >= 0 and op.statement.kind != Kind.SYNC:
            self._arbiters[place].candidates[op.thread.place] = op
            self._plan_issue(self._arbiters[place])
        else:
            self._request(op)

    def _post(self, op: Operation, edge: Edge) -> None:
        for sync in op.statement.posts(edge):
            self._change(op, sync, sync.amount)

    def _post_only(self, op: Operation) -> None:
        op.order = next(self._starts)
        self._post(op, Edge.AFTER_FINISH)

    def _defer_posts(self, op: Operation) -> None:
        if op.statement.posts(Edge.AFTER_FINISH):
            self._defer(_POST, op.key, partial(self._post, op, Edge.AFTER_FINISH))

    def _change(self, op: Operation, sync: Sync, amount: int) -> None:
        counter = self._counter(sync.counter)
        value, spec = counter.value + amount, counter.spec
        counter.posted += max(0, amount)
        if spec.overflow == Overflow.SATURATE:
            value = min(value, spec.capacity)
        elif spec.overflow == Overflow.ERROR and not 0 <= value <= spec.capacity:
            limit = spec.capacity if value > 0 else 0
            self._fault = self._fault or Fault(op=op.number, counter=counter.key, value=value, limit=limit)
        counter.value = value
        for waiting in list(counter.waiting):
            if all(counter.holds(each) for each in waiting.steps[0] if each.counter == counter.key):
                del counter.waiting[waiting]
                waiting.woken_by = op.number
                self._defer(_WAIT, waiting.key, partial(self._wait, waiting))

    # Issue and resources

    def _plan_issue(self, arbiter: Arbiter) -> None:
        if arbiter.candidates and not arbiter.awake:
            arbiter.awake = True
            self._defer(_ISSUE, (arbiter.place, 0, 0), partial(self._issue, arbiter))

    def _issue(self, arbiter: Arbiter) -> None:
        spec, tick = arbiter.spec, self._now // arbiter.spec.ticks
        if tick != arbiter.tick:
            arbiter.tick, arbiter.issued = tick, 0
        if arbiter.issued == spec.issues:
            turn = partial(self._defer, _ISSUE, (arbiter.place, 0, 0), partial(self._issue, arbiter))
            self._schedule((tick + 1) * spec.ticks, turn)
            return
        op = arbiter.choose(len(self._threads))
        op.issue = self._now
        if op.issue > op.ready:
            op.released_by, op.releaser = ReleasedBy.ARBITER, arbiter.last_op
        arbiter.last_thread, arbiter.last_op = op.thread.place, op.number
        arbiter.issued, arbiter.awake = arbiter.issued + 1, False
        self._request(op)
        self._plan_issue(arbiter)

    def _resource(self, key: Hashable) -> Resource:
        if key not in self._resources:
            spec = self._resource_spec(key)
            shared = spec.policy == Sharing.SHARED
            self._resources[key] = Resource(
                key, spec, SharedLink(spec.rate, spec.quantum) if shared else None
            )
        return self._resources[key]

    def _request(self, op: Operation) -> None:
        op.requested = self._now
        if op.statement.uses:
            self._defer(_START, op.request, partial(self._take, op))
        else:
            self._begin(op)

    def _take(self, op: Operation) -> None:
        """Take the next exclusive resource of *op*, in route order; begin once it has them all."""
        wanted = [each for each in self._exclusive(op) if each not in op.taken]
        if wanted:
            resource = wanted[0]
            if resource.holder is not None:
                op.awaits = resource
                heappush(resource.waiting, (op.request, op))
                return
            if op.requested < self._now:
                op.released_by, op.releaser = ReleasedBy.RESOURCE, resource.last_holder
            resource.holder, op.awaits = op, None
            op.taken.append(resource)
        if len(wanted) > 1:
            self._request(op)  # behind those who asked for the next one before
        else:
            self._begin(op)

    def _exclusive(self, op: Operation) -> list[Resource]:
        resources = (self._resource(use.resource) for use in op.statement.uses)
        return [each for each in resources if each.link is None]

    def _release(self, op: Operation, held: bool) -> None:
        """Free what *op* has taken: what is held as long as it takes, or else what serves at a rate."""
        for resource in op.taken:
            if held == (resource.spec.rate == 0):
                resource.holder, resource.last_holder = None, op.number
                if resource.waiting:
                    key, heir = heappop(resource.waiting)
                    self._defer(_START, key, partial(self._take, heir))

    def _begin(self, op: Operation) -> None:
        """Start *op*: its links serve it side by side, and beside them its own duration runs."""
        op.start, op.order = self._now, next(self._starts)
        ticks, shared = op.statement.ticks, []
        for use in op.statement.uses:
            resource = self._resource(use.resource)
            if resource.link is None and resource.spec.rate:
                ticks = max(ticks, service_ticks(use.amount, resource.spec.rate))
            elif resource.link is not None and use.amount:
                shared.append((resource, use.amount))
        chunks = max((abs(sync.amount) for sync in op.statement.posts(Edge.ALONG)), default=1)
        op.parts = len(shared) + bool(ticks or not shared)
        for resource, amount in shared:
            self._transfer(op, resource, amount, chunks)
        if op.thread.source.pipelined and op.statement.kind != Kind.SYNC:
            self._next(op.thread, op.number)
        for chunk in range(1, chunks + 1):
            if ticks:
                turn = partial(self._reach, op, chunk, chunks)
                self._schedule(self._now - (-chunk * ticks // chunks), turn)
            elif not shared:
                self._reach(op, chunk, chunks)

    def _transfer(self, op: Operation, resource: Resource, amount: int, chunks: int) -> None:
        link = resource.link
        assert link is not None
        goals = tuple(link.quanta(-(-chunk * amount // chunks)) for chunk in range(1, chunks + 1))
        link.arrive(Transfer(amount, goals, op), self._now)
        self._watch_link(resource, link)

    def _watch_link(self, resource: Resource, link: SharedLink) -> None:
        resource.version += 1
        at = link.next_event()
        if at is not None:
            self._schedule(at, partial(self._link_event, resource, link, resource.version))

    def _link_event(self, resource: Resource, link: SharedLink, version: int) -> None:
        if version != resource.version:
            return  # a transfer arrived meanwhile
        transfer, reported = link.take_event(self._now)
        self._watch_link(resource, link)
        for chunk in reported:
            self._reach(transfer.tag, chunk, len(transfer.goals))

    # The end of an operation

    def _reach(self, op: Operation, chunk: int, chunks: int) -> None:
        """One part of *op* has done *chunk* of its *chunks*; the last ends it when all parts have."""
        op.milestones[chunk] = op.milestones.get(chunk, 0) + 1
        if op.milestones[chunk] < op.parts:
            return
        latency = sum(self._resource(use.resource).spec.latency for use in op.statement.uses)
        if op.statement.posts(Edge.ALONG):
            turn = partial(self._defer, _POST, op.key, partial(self._post_chunk, op))
            self._schedule(self._now + latency, turn) if latency else turn()
        if chunk == chunks:
            self._release(op, held=False)
            self._schedule(self._now + latency, partial(self._finish, op)) if latency else self._finish(op)

    def _post_chunk(self, op: Operation) -> None:
        for sync in op.statement.posts(Edge.ALONG):
            self._change(op, sync, 1 if sync.amount > 0 else -1)

    def _finish(self, op: Operation) -> None:
        op.finish = self._now
        self._release(op, held=True)
        self._defer_posts(op)
        if op.thread.source.pipelined:
            self._settle(op.thread, op.number)
        if not op.thread.source.pipelined or op.statement.kind == Kind.SYNC:
            self._next(op.thread, op.number)

    # The result

    def _times(self) -> Any:
        times = blank_times(max(self.statements, default=-1) + 1)
        for op in self._ops:
            row = times[op.number]
            for name in ("ready", "issue", "start", "finish", "asked", "order", "released_by", "releaser"):
                row[name] = getattr(op, name)
        return times

    def _stuck(self) -> tuple[Stuck, ...]:
        found = []
        for thread in self._threads:
            op = thread.head
            if op is None or (op.awaits is None and op.watched is None):
                continue
            holder, counter = op.awaits.holder if op.awaits else None, op.watched
            found.append(
                Stuck(
                    thread=thread.place,
                    op=op.number,
                    counter=counter.key if counter else None,
                    value=counter.value if counter else 0,
                    resource=op.awaits.key if op.awaits else None,
                    holder=holder.number if holder else -1,
                )
            )
        return tuple(found)
