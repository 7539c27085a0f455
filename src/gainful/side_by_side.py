"""Several tasks at once, in a way that an interrupt can reach."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from gainful.progress import Progress

_Result = TypeVar("_Result")


def side_by_side(tasks: Sequence[Callable[[], _Result]], workers: int, progress: Progress) -> list[_Result]:
    """Runs all tasks on some threads and returns their results in order; the first error among them is raised.

    >>> side_by_side([lambda: 1, lambda: 2], 2, Progress())
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

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                progress.report()
    except KeyboardInterrupt:
        progress.cancel()
        for thread in threads:
            thread.join(1.0)
        raise
    if errors:
        raise errors[min(errors)]
    if len(results) < len(tasks):
        raise RuntimeError("cancelled")
    return [results[i] for i in range(len(tasks))]
