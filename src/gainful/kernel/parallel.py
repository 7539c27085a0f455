"""Several tasks at once in a way that an interrupt can reach, and how far they are."""

from __future__ import annotations

import _thread
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar


class Progress:
    """How far a job is, in bytes or steps; the core counts in ``cells`` while it works. ``on_report`` is called now and
    then."""

    def __init__(self, on_report: Callable[[int, int], None] | None = None) -> None:
        self.cells = array("q", [0, 0])  # done, and whether to give up
        self.total = 0
        self._on_report = on_report

    def report(self) -> None:
        """Tells the listener what is done and what there is to do."""
        if self._on_report:
            self._on_report(self.cells[0], self.total)

    def advance(self, done: int) -> None:
        """Adds to what is done, for work that is not the core's, and tells the listener."""
        self.cells[0] += done
        self.report()

    def follow(self, other: Progress) -> None:
        """Goes on where another job has begun to count, which is part of this one."""
        if self.cells is not other.cells:
            self.cells, self.total = other.cells, self.total + other.total

    def cancel(self) -> None:
        """Makes joins that are under way give up."""
        self.cells[1] = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.cells[1])


_Result = TypeVar("_Result")
_current: ContextVar[Progress | None] = ContextVar("_current", default=None)


@contextmanager
def reporting_to(progress: Progress) -> Iterator[Progress]:
    """Have the question that is asked within report how far it is."""
    before = _current.set(progress)
    try:
        yield progress
    finally:
        _current.reset(before)


def current_progress() -> Progress:
    """The progress that the question at hand reports to, if anyone listens."""
    return _current.get() or Progress()


@contextmanager
def counting(steps: int) -> Iterator[Progress]:
    """Have a question report how many of its steps are done; what it asks within them reports to nobody."""
    progress = current_progress()
    progress.total += steps
    with reporting_to(Progress()):
        yield progress


def in_parallel(tasks: Sequence[Callable[[], _Result]], workers: int, progress: Progress) -> list[_Result]:
    """Runs all tasks on some threads and returns their results in order; the first error among them is raised.

    >>> in_parallel([lambda: 1, lambda: 2], 2, Progress())
    [1, 2]
    """
    results: dict[int, _Result] = {}
    errors: dict[int, BaseException] = {}
    waiting = iter(range(len(tasks)))
    taking = _thread.allocate_lock()

    def work(working: _thread.LockType) -> None:
        try:
            while not progress.cancelled:
                with taking:
                    i = next(waiting, None)
                if i is None:
                    return
                try:
                    results[i] = tasks[i]()
                except BaseException as error:
                    errors[i] = error
        finally:
            finished.append(working)
            working.release()

    # Threads of the lowest kind: those of `threading` run Python code where an interrupt would be lost.
    started: list[_thread.LockType] = []
    finished: list[_thread.LockType] = []
    try:
        for _ in range(workers):
            working = _thread.allocate_lock()
            working.acquire()
            _thread.start_new_thread(work, (working,))
            started.append(working)
        for working in started:
            while working not in finished:
                working.acquire(timeout=0.1)
                progress.report()
    except BaseException:  # an interrupt, or what somebody's handler of another signal raises
        progress.cancel()
        for working in started:
            while working not in finished:
                working.acquire(timeout=0.1)
        raise
    if errors:
        raise errors[min(errors)]
    if len(results) < len(tasks):
        raise RuntimeError("cancelled")
    return [results[i] for i in range(len(tasks))]
