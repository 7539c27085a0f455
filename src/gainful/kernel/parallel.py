"""Parallel tasks that can be interrupted, and their progress."""

from __future__ import annotations

import _thread
import os
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TypeVar


def _renew_locks() -> None:
    """Renew the locks of cached properties in a child of fork: the thread that held one may be gone."""
    modules = [module for name, module in sys.modules.items() if name.startswith("gainful")]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    for each in [value for kind in classes for value in vars(kind).values() if type(value) is cached_property]:
        vars(each)["lock"] = _thread.RLock()


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):  # later versions have no such locks
    os.register_at_fork(after_in_child=_renew_locks)


class Progress:
    """The progress of a job in bytes or steps, counted by the core in ``cells`` and reported to ``on_report``."""

    def __init__(self, on_report: Callable[[int, int], None] | None = None) -> None:
        self.cells = array("q", [0, 0])  # work done, and whether to cancel
        self.total = 0
        self._on_report = on_report

    def report(self) -> None:
        if self._on_report:
            self._on_report(self.cells[0], self.total)

    def advance(self, done: int) -> None:
        """Add to the work done outside the core, and call the listener."""
        self.cells[0] += done
        self.report()

    def follow(self, other: Progress) -> None:
        """Continue counting where another job, which is part of this one, has begun."""
        if self.cells is not other.cells:
            self.cells, self.total = other.cells, self.total + other.total

    def cancel(self) -> None:
        self.cells[1] = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.cells[1])


_Result = TypeVar("_Result")
_current: ContextVar[Progress | None] = ContextVar("_current", default=None)


@contextmanager
def reporting_to(progress: Progress) -> Iterator[Progress]:
    """Send the progress of everything within the block to this object."""
    before = _current.set(progress)
    try:
        yield progress
    finally:
        _current.reset(before)


def current_progress() -> Progress:
    """Return the progress to report to, or an unused one if there is no listener."""
    return _current.get() or Progress()


@contextmanager
def counting(steps: int) -> Iterator[Progress]:
    """Report the given number of steps; progress within each step is not reported."""
    progress = current_progress()
    progress.total += steps
    with reporting_to(Progress()):
        yield progress


def in_parallel(tasks: Sequence[Callable[[], _Result]], workers: int, progress: Progress) -> list[_Result]:
    """Run all tasks on several threads and return their results in order, or raise the first error.

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

    # Low-level threads: those of `threading` run Python code at places where an interrupt would be lost.
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
    except BaseException:  # an interrupt, or an exception raised by another signal handler
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
