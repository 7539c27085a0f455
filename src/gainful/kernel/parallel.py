"""Several tasks at once in a way that an interrupt can reach, and how far they are."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
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


def in_parallel(tasks: Sequence[Callable[[], _Result]], workers: int, progress: Progress) -> list[_Result]:
    """Runs all tasks on some threads and returns their results in order; the first error among them is raised.

    >>> in_parallel([lambda: 1, lambda: 2], 2, Progress())
    [1, 2]
    """
    results: dict[int, _Result] = {}
    errors: dict[int, BaseException] = {}
    waiting = iter(range(len(tasks)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                i = next(waiting, None)
            if i is None or progress.cancelled:
                return
            try:
                results[i] = tasks[i]()
            except BaseException as error:
                errors[i] = error

    threads = [threading.Thread(target=work) for _ in range(workers)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                progress.report()
    except BaseException:  # an interrupt, or what somebody's handler of a signal raises
        progress.cancel()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if errors:
        raise errors[min(errors)]
    if len(results) < len(tasks):
        raise RuntimeError("cancelled")
    return [results[i] for i in range(len(tasks))]
