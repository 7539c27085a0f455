"""How far a job is."""

from __future__ import annotations

from array import array
from collections.abc import Callable


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

    def cancel(self) -> None:
        """Makes joins that are under way give up."""
        self.cells[1] = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.cells[1])
