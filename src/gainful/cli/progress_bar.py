"""A progress bar for work that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from gainful.kernel.parallel import Progress, reporting_to

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0


@contextmanager
def progress_bar(what: str, wanted: bool = True, in_bytes: bool = True) -> Iterator[Progress]:
    """Show the bytes read (or steps done) on a terminal's standard error, once the wait gets long."""
    wanted, started = wanted and sys.stderr.isatty(), time.monotonic()

    def report(done: int, total: int) -> None:
        if not wanted or time.monotonic() - started < _PATIENCE:
            return
        from rich import progress
        from rich.console import Console

        if not bars:
            amount = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
            label, left = progress.TextColumn("{task.description}"), progress.TimeRemainingColumn()
            columns = label, progress.BarColumn(), amount, left
            bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            bar.add_task(what, completed=done, total=max(total, 1))
            bars.append(shown.enter_context(bar))
        bars[0].update(bars[0].task_ids[0], completed=done, total=max(total, 1))

    bars: list[Bar] = []
    with ExitStack() as shown, reporting_to(Progress(report)) as progressing:
        yield progressing
