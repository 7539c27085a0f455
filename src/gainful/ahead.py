"""Reading ahead: the core works through files on its own threads while Python still loads what comes after.

Importing NumPy takes longer than reading a collection of ordinary size. Nothing in this module loads it before the core
has started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gainful.core import core
from gainful.io.recognise import HEAD
from gainful.io.sources import Text, plain_view
from gainful.policy import Policy
from gainful.progress import Progress

if TYPE_CHECKING:
    from gainful._core import Joined, JoinJob
    from gainful.data.judged import Judged


class ReadRun:
    """A run's text and, when it is asked for, the join that was started ahead."""

    def __init__(self, text: Text, job: JoinJob, position: int) -> None:
        self.text = text
        self._job = job
        self._position = position

    def joined(self) -> Joined:
        """Waits for the join. To be called once."""
        return self._job.joined(self._position)


class ReadAhead:
    """Judgments and runs that are being read."""

    def __init__(self, qrels: tuple[str, memoryview], runs: Sequence[tuple[str, memoryview]], job: JoinJob) -> None:
        self._qrels = qrels
        self._runs = runs
        self._job = job

    @classmethod
    def start(
        cls,
        qrels: str,
        runs: Sequence[str],
        policy: Policy,
        threads: int,
        progress: Progress,
        is_trec: Callable[[bytes, str, bool], bool],
        *,
        want_facts: bool = False,
    ) -> ReadAhead | None:
        """Starts to read, if the core can and all files are plain TREC text; else None, and they are read as usual.

        ``is_trec`` decides that by the beginning of a file, its path, and whether it is a run.
        """
        views = [plain_view(path) for path in (qrels, *runs)]
        if not hasattr(core, "JoinJob") or not all(
            view is not None and is_trec(bytes(view[:HEAD]), path, i > 0)
            for i, (path, view) in enumerate(zip((qrels, *runs), views, strict=True))
        ):
            return None
        first, *others = [view for view in views if view is not None]
        progress.total += sum(map(len, others))
        job = core.JoinJob(first, others, *policy.join_options(), threads, progress.cells, want_facts)
        return cls((qrels, first), list(zip(runs, others, strict=True)), job)

    def judged(self, policy: Policy, scale: float | None) -> Judged:
        """The judgments, ready for all runs."""
        from gainful.data.judged import Judged
        from gainful.data.qrels import Qrels

        name, view = self._qrels
        qrels = Qrels.from_columns(Text.of_view(view, name), self._job.judgments(), scale)
        return Judged(qrels, policy, self._job.index())

    def runs(self) -> list[ReadRun]:
        """The runs, in their order."""
        return [ReadRun(Text.of_view(view, path), self._job, i) for i, (path, view) in enumerate(self._runs)]
