"""Dynamic programs: threads that ask whether a buffer is full, and go on by the answer.

Each thread of the program runs in a Python thread of its own, of which exactly one runs at a time: it goes on
until it asks, and waits for the answer. So what happens depends on the answers alone, never on Python's
scheduling, and a thread that does not ask is recorded in one go.

Source: tile-language.md section 8.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pantile.errors import ManyProblems, PantileError, Place, ProgramError, place_in
from pantile.program.language.lower import lower, operands_of
from pantile.program.language.places import GRID
from pantile.program.language.plain import CounterStart, PlainLowering, Step
from pantile.program.language.recorder import CURRENT, FULL, Log, Recording
from pantile.program.language.run import checked

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Mapping
    from types import FrameType, TracebackType

    from pantile.program.language.arrays import Arrays
    from pantile.program.language.buffers import Slots
    from pantile.program.language.places import Chiplet
    from pantile.program.language.threads import Thread
    from pantile.program.program import Program
    from pantile.tiling.tiling import Tiling


class _Stopped(BaseException):
    """Ends a thread whose answer nobody will give."""


class _AskingLog(Log):
    """A log whose queries are answered by who carries the program out."""

    __slots__ = ("worker",)

    worker: _Worker

    def ask(self, query: str, slots: Slots) -> bool:
        """Return whether a member is full, or whether all are empty, once the answer is known."""
        values = self.worker.ask(slots)
        if query == FULL:
            return any(value == 0 for value in values)
        return all(value == slots.buffer.slots for value in values)


class _Worker:
    """One thread of the program in a Python thread of its own."""

    def __init__(self, log: _AskingLog, grid: Chiplet | None) -> None:
        self.log, self.grid = log, grid
        self.question: Slots | None = None
        self.answer: tuple[int, ...] = ()
        self.line = 0
        self.error: BaseException | None = None
        self.ended = False
        self._stopping = False
        self._mine, self._theirs = threading.Semaphore(0), threading.Semaphore(0)
        self._python = threading.Thread(target=self._body, name=f"pantile {log.thread.name}", daemon=True)
        self._started = False

    def resume(self, answer: tuple[int, ...] = ()) -> None:
        """Let the thread go on until it asks or ends.

        Raises:
            Exception: What the thread's function raised.
        """
        self.answer, self.question = answer, None
        if self._started:
            self._mine.release()
        else:
            self._started = True
            self._python.start()
        self._theirs.acquire()
        if self.error is not None:
            raise _told(self.error, self.log.thread.place.path)

    def ask(self, slots: Slots) -> tuple[int, ...]:
        """Wait, in the thread, for the free slots of every member."""
        self.line = _line_of(self.log.thread.place.path)
        self.question = slots
        self._theirs.release()
        self._mine.acquire()
        if self._stopping:
            raise _Stopped
        return self.answer

    def stop(self) -> None:
        """End the thread where it waits for an answer."""
        if self._started and not self.ended:
            self._stopping = True
            self._mine.release()
            self._theirs.acquire()
            self._python.join()

    def _body(self) -> None:
        CURRENT.set(self.log)
        GRID.set(self.grid)
        try:
            self.log.thread.run()
        except _Stopped:
            pass
        except BaseException as error:  # handed to who resumed the thread
            self.error = error
        finally:
            self.ended = True
            self._theirs.release()


def _line_of(path: str) -> int:
    """Return the line of a file that runs; 0 if none does."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    return frame.f_lineno if frame else 0


def _told(error: BaseException, path: str) -> BaseException:
    """Return what a thread raised as an error that names file and line."""
    if isinstance(error, PantileError):
        for problem in error.problems if isinstance(error, ManyProblems) else (error,):
            problem.place = problem.place or place_in(path, error)
        return error
    if not isinstance(error, Exception):
        return error
    what = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ")
    return ProgramError(f"raised {what}", place=place_in(path, error))


@dataclass(frozen=True, slots=True)
class DynamicSource:
    """A program that is recorded while it is carried out.

    Attributes:
        name: What it is called.
        tiling: The tiling that its tiles belong to.
        threads: Its threads.
        dtypes: Element type of all operands, or by operand.
        grid: Says which place is nearest where ``Any`` is read.
        arrays: The systolic arrays of cores that have one.
    """

    name: str
    tiling: Tiling
    threads: tuple[Thread, ...]
    dtypes: str | Mapping[str, str]
    grid: Chiplet | None = None
    arrays: Arrays = field(default_factory=dict)

    def start(self) -> DynamicRun:
        """Return a run of the program; close it, or use it in a ``with`` statement."""
        return DynamicRun(self)


class DynamicRun:
    """One run of a dynamic program, whose threads are carried out by someone else.

    Attributes:
        source: What runs.
        recording: What was recorded so far.
    """

    def __init__(self, source: DynamicSource) -> None:
        self.source = source
        self.recording = Recording(source.tiling, keeps=True)
        operands = operands_of(source.tiling, source.dtypes)
        self._plain = PlainLowering(self.recording, operands, source.grid, source.arrays)
        self._workers: list[_Worker] = []
        for thread in checked(source.threads):
            log = _AskingLog(self.recording, thread)
            log.worker = _Worker(log, source.grid)
            self.recording.logs.append(log)
            self._workers.append(log.worker)
        try:
            for number in range(len(self._workers)):
                self._go_on(number)
        except BaseException:
            self.close()
            raise

    def counter(self, key: Hashable) -> CounterStart:
        """Return what the counter of a step's key is at the start."""
        return self._plain.counters[key]

    def asks_at(self, thread: int) -> Place:
        """Return where a thread asked last."""
        return Place(self.recording.logs[thread].thread.place.path, self._workers[thread].line)

    def steps(self, thread: int) -> Generator[Step, int | None, None]:
        """Yield the operations of one thread; a query is answered by sending its counter's value.

        Raises:
            PantileError: If a statement is misused.
        """
        log, worker = self.recording.logs[thread], self._workers[thread]
        at = 0
        while True:
            while at < len(log):
                yield from self._plain.steps(thread, at)
                at += 1
            if worker.ended:
                return
            assert worker.question is not None
            values = []
            for key in self._plain.slot_counters(worker.question):
                value = yield Step(query=key)
                if value is None:
                    raise ProgramError("a query of the program was not answered")
                values.append(value)
            self._go_on(thread, tuple(values))

    def program(self) -> Program:
        """Return what was recorded so far as a static program: the run as it went.

        Where a thread still waits for an answer, copies that it was to make may be missing; misuses are then
        listed in ``parameters["faults"]``.

        Raises:
            ProgramError: If every thread came to its end, and a statement is misused.
        """
        source = self.source
        unfinished = any(not worker.ended for worker in self._workers)
        return lower(
            self.recording,
            name=source.name,
            dtypes=source.dtypes,
            grid=source.grid,
            arrays=source.arrays,
            keep_faults=unfinished,
        )

    def close(self) -> None:
        """End threads that still wait for an answer."""
        for worker in self._workers:
            worker.stop()

    def __enter__(self) -> DynamicRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _go_on(self, thread: int, answer: tuple[int, ...] = ()) -> None:
        log = self.recording.logs[thread]
        before = len(log)
        self._workers[thread].resume(answer)
        self._plain.learn(thread, before, len(log))
