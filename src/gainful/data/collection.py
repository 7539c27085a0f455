"""Runs by name: what is said where they are not, and of names that no run has.

Reading ahead: the core works through files on its own threads while Python still loads what comes after.

Importing NumPy takes longer than reading a collection of ordinary size. Nothing in this module loads it before the core
has started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gainful.errors import UsageError
from gainful.io.formats import HEAD
from gainful.io.sources import Text, plain_view
from gainful.kernel import core
from gainful.kernel.parallel import Progress
from gainful.notation import nearest, printable
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.run import ReadRun
    from gainful.kernel.core import JoinJob


def require_runs(runs: object, *, at_least_one: bool = True) -> None:
    """Refuses what is no dict of names and runs, and an empty one."""
    if not isinstance(runs, Mapping):
        raise UsageError(
            f"runs: expected a dict of names and runs, found {type(runs).__name__}", 'give it a name: {"bm25": run}'
        )
    if at_least_one and not runs:
        raise UsageError("runs: expected at least one, found none")


def no_such_run(name: str, names: Iterable[str], what: str = "") -> UsageError:
    """What is said of a name that none of the runs has; ``what`` asked for it.

    >>> print(no_such_run("bm52", ["bm25", "dense"], "baseline"))
    baseline: no run is called 'bm52'; there are bm25, dense
    hint: did you mean bm25?
    """
    names = list(names)
    where, listed = f"{what}: " if what else "", ", ".join(map(printable, names))
    return UsageError(f"{where}no run is called '{printable(name)}'; there are {listed}", nearest(name, names))


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
        job = core.JoinJob(first, others, policy.join_options(want_facts=want_facts), threads, progress.cells)
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
        from gainful.data.run import ReadRun

        return [ReadRun(Text.of_view(view, path), self._job, i) for i, (path, view) in enumerate(self._runs)]
