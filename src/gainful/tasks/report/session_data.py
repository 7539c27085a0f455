"""The content of a report on sessions: scores, curves by position, and the lists from which sDCG is recomputed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gainful.data.collection import no_such_run
from gainful.data.judged import Judged
from gainful.data.sessions import Sessions
from gainful.evaluation.beside import Beside
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.evaluation.scores import Scores, SessionScores, scores_of_sessions
from gainful.frozen import dataclass
from gainful.kernel.arrays import Ints
from gainful.measures.base import Measure
from gainful.measures.block import condenses
from gainful.measures.catalog import parse_all
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_gain import NSDCG, SDCG, SessionGain
from gainful.pages.charts import Plot
from gainful.render.cells import readable
from gainful.tasks.compare import compare
from gainful.tasks.report.page_data import ENDED, FIRST_LEVEL, UNJUDGED, PageData, level_counts, orders, pack
from gainful.tasks.run_questions import SessionCurveOptions, SessionReportOptions
from gainful.tasks.sessions.session_curves import CurveGathering, SessionCurves
from gainful.tasks.sessions.session_evaluation import SystemWatch, score_systems, session_measures

#: The normalised measure is the primary one, as in `gainful compare`.
DEFAULT_SESSION_MEASURES = ("nsDCG@10", "sDCG@10")


@dataclass(frozen=True, eq=False, repr=False)
class SessionReportData(PageData):
    """The content of a report on sessions."""

    scores: Mapping[str, SessionScores]
    curves: SessionCurves
    kept: Mapping[str, KeptSessions]
    ranks: int

    @property
    def notices(self) -> list[str]:
        lines = [line for each in self.scores.values() for line in each.notices()]
        return list(dict.fromkeys([*notices(self.evaluations.values()), *lines]))

    def plots(self) -> Iterator[Plot]:
        return (part for part in self.curves.page().parts if isinstance(part, Plot))

    @property
    def live(self) -> SessionGain:
        return live_measure(self.measures)

    @cached_property
    def numbers(self) -> str:
        systems = list(self.evaluations.items())
        content: dict[str, object] = {
            **self.described(self.live.gain, self.live.rel, self.live.level),
            "mode": "sessions",
            "settings": {
                "measure": self.live.name,
                "base": self.live.base,
                "queryBase": self.live.query_base,
                "depth": min(self.live.cutoff or self.ranks, self.ranks),
            },
            "ranks": self.ranks,
            "queriesMost": self.curves.longest,
            "sessions": [[readable(session) for session in each.queries] for _, each in systems],
            "live": self.measures.index(self.live) if self.live.cutoff and self.live in self.measures else None,
        }
        begin, level, count = level_counts(self.judged, np.arange(len(self.judged.qrels.query_ids)))
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "poolAt": begin.astype(np.uint32),
            "poolLevel": level.astype(np.uint16),
            "poolCount": count.astype(np.uint32),
        }
        for s, (name, evaluation) in enumerate(systems):
            arrays |= {f"{what}{s}": each for what, each in self.kept[name].arrays(evaluation, self.ranks).items()}
            arrays[f"answered{s}"] = evaluation.answered.astype(np.uint8)
        return pack(content, arrays)


class KeptSessions:
    """The judged sessions of a system: the codes of each session's turns (turns x ranks), and judged queries or -1."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._turns: dict[bytes, tuple[Ints, Ints]] = {}
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        if block.judged.policy.unjudged == "condensed":
            block = block.condensed
        lengths, documents = np.minimum(block.shown, self._ranks), block.documents
        codes = np.where(np.arange(self._ranks) < lengths[:, None], UNJUDGED, ENDED)
        near = documents.rank <= self._ranks
        turn, rank, grade = documents.turn[near], documents.rank[near], documents.grade[near]
        codes[turn, rank - 1] = FIRST_LEVEL + np.searchsorted(block.judged.levels, grade)
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        for i, session in enumerate(part.session_ids[chosen]):
            turns = slice(*block.turn_offsets[i : i + 2].tolist())
            self._turns[session] = codes[turns], block.judged_query[turns]

    def arrays(self, evaluation: Evaluation, ranks: int) -> dict[str, np.ndarray[Any, Any]]:
        """Return all data in the order of an evaluation's sessions, to a number of ranks."""
        nothing = np.zeros((0, self._ranks), np.int64), np.zeros(0, np.int64)
        found = [self._turns.get(session, nothing) for session in evaluation.query_ids]
        counts = [pool.size for _, pool in found]
        codes = np.concatenate([codes for codes, _ in found])[:, :ranks]
        return {
            "turnAt": np.cumsum([0, *counts]).astype(np.uint32),
            "grades": codes.astype(np.uint8 if codes.max(initial=0) < 2**8 else np.uint16),
            "pool": (np.concatenate([pool for _, pool in found]) + 1).astype(np.uint32),
        }


def live_measure(measures: Sequence[Measure]) -> SessionGain:
    """Return the first measure that the page can recompute: sDCG or nsDCG as in the paper, with any bases."""
    plain = {"variant", "repeats", "summary", "scan", "ideal_queries", "normalise", "unjudged"}
    for measure in measures:
        if isinstance(measure, (SDCG, NSDCG)):
            usual = type(measure)()
            if all(getattr(measure, name, None) == getattr(usual, name, None) for name in plain):
                return measure
    return NSDCG(cutoff=10)


def gathered_sessions(asked: SessionReportOptions) -> SessionReportData:
    """Read and score all sessions once, compare the systems, and keep the content of the page."""
    judged, baseline, threads = Judged.of(asked.qrels, asked.policy), asked.baseline, asked.threads
    sessions = asked.sessions if isinstance(asked.sessions, Mapping) else {"sessions": asked.sessions}
    measures = session_measures(parse_all(DEFAULT_SESSION_MEASURES if asked.measures is None else asked.measures))
    live = live_measure(measures)
    deepest = max(asked.ranks, live.cutoff or 1)
    drawn = live if live.cutoff else live.replace(cutoff=10)
    curves = CurveGathering(SessionCurveOptions(judged, sessions, draws=0), drawn)
    kept: dict[str, KeptSessions] = {}

    def keep(system: str) -> SystemWatch:
        kept[system] = KeptSessions(deepest)
        return kept[system].add

    watches = [curves.watch, keep]
    bounds = judged.levels[0] <= 0 and not any(condenses(measure, judged.policy) for measure in measures)
    how: dict[str, Any] = {"judged_by": asked.judged_by, "by_system": True, "beside": Beside(bounds=bounds)}
    evaluations, _ = score_systems(judged, sessions, measures, watches, threads=threads, **how)
    if baseline is not None and baseline not in evaluations:
        raise no_such_run(baseline, evaluations, "baseline")
    ordering = [each for each in measures if orders(each)]
    scores = scores_of_sessions(evaluations, ordering) if ordering else {}
    found = None
    if len(evaluations) > 1 and scores:
        # If only some sessions are shared, compare these.
        test = "randomisation" if next(iter(scores.values())).pairing == "some" else None
        found = compare(Scores(sessions=scores), baseline=baseline, test=test, threads=threads)
    longest = max(each.longest for each in kept.values())
    ranks, shown = max(1, live.cutoff or 1, min(asked.ranks, longest)), curves.curves(evaluations)
    return SessionReportData(judged, evaluations, found, baseline, scores, shown, kept, ranks)
