"""A progress bar for work that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from gainful.kernel.parallel import Progress, reporting_to

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0


class ProgressBar:
    """Shows how many bytes are read (or steps are done), on a terminal's standard error, once the wait gets long."""

    def __init__(self, what: str, wanted: bool = True, in_bytes: bool = True) -> None:
        self.progress = Progress(self._report)
        self._what = what
        self._in_bytes = in_bytes
        self._wanted = wanted and sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        self._listening = reporting_to(self.progress)
        return self._listening.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.__exit__(kind, error, trace)
        if self._bar is not None:
            self._bar.stop()

    def _report(self, done: int, total: int) -> None:
        if not self._wanted or time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar(self._in_bytes)
            self._bar.add_task(self._what, completed=done, total=max(total, 1))
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=max(total, 1))


def _new_bar(in_bytes: bool) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
