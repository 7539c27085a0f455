"""What a report shows: who is better and how surely, by the functions that `gainful compare` and `gainful curves` have,
and the lists from which the page computes gain by rank itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np

from gainful.data.judged import Judged
from gainful.data.queries import Queries
from gainful.data.run import RunLike
from gainful.discounts import divisors
from gainful.evaluation.evaluate import check_measures
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.evaluation.results import settled
from gainful.evaluation.scores import Scores
from gainful.io.sources import fingerprint_of
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.parallel import Progress, reporting_to
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import units
from gainful.pages.charts import Axis, Plot
from gainful.render.cells import readable
from gainful.tasks.compare.comparison import Comparison
from gainful.tasks.compare.several_systems import SystemsComparison, compare_several, conclusion
from gainful.tasks.compare.two_systems import compare_two
from gainful.tasks.curves.averages import curve_line
from gainful.tasks.curves.recall_levels import RecallLevels, recall_plan
from gainful.tasks.report.page_data import PLACES, PageData, finite, gains_of, orders, pack
from gainful.tasks.report.report_lists import (
    FIRST_LEVEL,
    DocumentTitles,
    KeptRun,
    Pool,
    documents_of,
    kept_runs,
    level_counts,
)

#: Ranks of every list that are kept unless told, and those of which Judged@k is shown.
DEFAULT_RANKS = 100
_JUDGED_AT = (5, 10, 20, 50, 100)
#: What the page computes itself.
_LIVE = (CG, DCG, NCG, NDCG)
#: So many letters the page may have, at least and for each cell of systems x queries x ranks, without its script;
#: documents' details are what is cut.
_LEAST_LETTERS, _LETTERS_A_CELL = 1_850_000, 4
#: As many figures have the tests of pairs, of which there may be very many.
_FIGURES = 7
_DEPTHS_OF_DOCUMENTS = (100, 50, 20, 10)
#: More lines of a chart cannot be told from each other.
_MOST_LINES = 8


@dataclass(frozen=True, eq=False, repr=False)
class ReportData(PageData):
    """All that a page about runs is made of."""

    against: SystemsComparison | None  # the comparison with the baseline, where there are more than two systems
    kept: tuple[KeptRun, ...]
    judged_at: Mapping[int, Sequence[float]]
    recall: RecallLevels | None
    ranks: int
    titles: DocumentTitles | None

    @cached_property
    def places(self) -> Ints:
        """Where the queries stand among the judged ones: some may have been left out."""
        known = {query: place for place, query in enumerate(self.judged.qrels.query_ids)}
        return np.array([known[query] for query in self.first.query_ids], np.int64)

    @cached_property
    def live(self) -> CumulatedGain:
        """The measure that the page's controls start with: the first one asked for that they can be set to."""
        found = (each for each in self.measures if isinstance(each, _LIVE) and type(each) in _LIVE)
        return next((each for each in found if each.average is None and each.unjudged is None), NDCG(cutoff=10))

    def _live_place(self) -> int | None:
        """Which of the measures the controls start with; None where they cannot be set to any of them wholly."""
        is_whole = self.live.cutoff is not None or self.depth < self.ranks
        return self.measures.index(self.live) if is_whole and self.live in self.measures else None

    @cached_property
    def depth(self) -> int:
        """How many ranks of every list are kept: as many as wanted, unless lists and recall bases end before."""
        longest = max(int(run.lengths[self.places].max(initial=0)) for run in self.kept)
        deepest = int(self.judged.recall_base(None, None)[self.places].max(initial=0))
        return max(1, self.live.cutoff or 1, min(self.ranks, max(longest, deepest)))

    @cached_property
    def codes(self) -> np.ndarray[Any, Any]:
        """What stands at every rank: systems x queries x ranks."""
        made = np.zeros((len(self.kept), self.places.size, self.depth), np.uint16)
        for system, run in enumerate(self.kept):
            made[system, :, : run.codes.shape[1]] = run.codes[self.places, : self.depth]
        return made.astype(np.uint8 if self.judged.levels.size <= 250 else np.uint16)

    def found(self, comparison: Comparison) -> list[str]:
        said = super().found(comparison)
        if self.against is not None:  # says of the baseline what was said of all pairs
            said[-1] = conclusion(self.against.systems[comparison.primary], PLACES)
        return said

    @cached_property
    def notices(self) -> list[str]:
        """What is legal but suspicious."""
        of_scores = () if self.comparison is None else self.comparison.notices
        return list(dict.fromkeys([*notices(self.evaluations.values()), *of_scores]))

    @property
    def pair(self) -> list[int]:
        """The two systems that the page compares at first: the baseline or the second best, and the best."""
        best, *others = self.order
        if not others:
            return [best, best]
        base = others[0] if self.baseline is None else self.systems.index(self.baseline)
        return [base, best if best != base else others[0]]

    def _sources(self) -> list[str]:
        tables = (self.first.about, self.titles if self.documents else None)  # titles are read with the documents
        return [*super()._sources(), *(each.name for each in tables if each is not None and fingerprint_of(each.name))]

    def plots(self) -> Iterator[Plot]:
        """The curves of the measure that the page starts with, and of its gain without discount, with the ideal."""
        live = cast(CumulatedGain, self.live.replace(cutoff=None))
        plain = CG(gain=live.gain, rel=live.rel, level=live.level)
        shown = self.order[:_MOST_LINES]
        if self.baseline is not None and (base := self.systems.index(self.baseline)) not in shown:
            shown[-1] = base
        cut = f"{len(shown)} of {len(self.systems)} systems." if len(shown) < len(self.systems) else ""
        for measure in dict.fromkeys((live, plain)):
            lists = self.judged.ideal_lists(measure.gain, measure.rel, measure.level)
            ideal = measure.cumulated(lists.of_rows(self.places), self.depth)
            lines = [curve_line(self.systems[i], self._mean_curve(i, measure, ideal)) for i in sorted(shown)]
            if not measure.normalised:
                lines.insert(0, curve_line("ideal", self._mean(ideal), role="ideal"))
            yield Plot(
                f"{measure} by rank, mean over {units(len(self.first.query_ids), 'query')}",
                Axis("rank", 1.0, float(self.depth), is_whole=True),
                Axis(measure.name, 0.0, 1.0 if measure.normalised and measure.discount != "jarvelin2000" else None),
                tuple(lines),
                caption=cut,
            )

    def _mean_curve(self, place: int, measure: CumulatedGain, ideal: Floats) -> Floats:
        gains = np.concatenate((np.zeros(FIRST_LEVEL), gains_of(measure.gain, measure.rel, measure.level, self.judged)))
        by_rank = gains[self.codes[place]] / divisors(measure.discount, measure.base, np.arange(1.0, self.depth + 1.0))
        vectors = np.cumsum(by_rank, axis=1)
        policy = self.first.policy
        raw = measure.share(vectors, ideal) if measure.normalised else vectors
        undefined = 0.0 if policy.undefined == "zero" else np.nan
        answered = self.evaluations[self.systems[place]].answered[:, None]
        return self._mean(settled(raw, answered, measure, policy.missing, undefined))

    def _mean(self, vectors: Floats) -> Floats:
        """The mean over the queries that count at a rank; NaN where none does."""
        weights = np.ones(len(vectors)) if self.first.weights is None else self.first.weights
        counted = ~np.isnan(vectors)
        with np.errstate(invalid="ignore"):
            return np.asarray((weights @ np.where(counted, vectors, 0.0)) / (weights @ counted))

    @cached_property
    def numbers(self) -> str:
        return pack(self._described(), self._arrays())

    def _described(self) -> dict[str, object]:
        about, queries, live = self.first.about, self.first.queries, self.live
        tested = [self._pairs(number, str(measure)) for number, measure in enumerate(self.measures)]
        content: dict[str, object] = {
            **self.described(live.gain, live.rel, live.level),
            "pair": self.pair,
            "queries": [readable(query) for query in queries],
            "depth": self.depth,
            "settings": {
                "measure": live.name,
                "discount": live.discount,
                "base": live.base,
                "depth": min(live.cutoff or self.depth, self.depth),
                "average": "ratios",
            },
            "live": self._live_place(),
            "pairs": [each for each in tested if each is not None],
            "judged": {
                "k": list(self.judged_at),
                "share": [finite(each) for each in self.judged_at.values()],
                "tells": any(each.facts.unjudged_tells for each in self.evaluations.values()),
            },
            "recall": self._recall(),
        }
        if about is not None and about.has_texts:
            content["texts"] = [about.text(query) for query in queries]
        if about is not None and (segments := _segments(about, queries)):
            content["segments"] = segments
        return content

    def described_measure(self, measure: Measure) -> dict[str, object]:
        content = super().described_measure(measure)
        result = self.system_results.get(str(measure))
        if result is not None:
            content["ranks"] = [list(each) for each in result.family.rank_intervals]
            if result.letters:
                by_place = dict(zip(result.family.order, result.letters, strict=True))
                content["marks"] = [by_place[i] for i in range(len(self.systems))]
        return content

    def _pairs(self, number: int, measure: str) -> dict[str, object] | None:
        """The tests of all pairs, the second system of each minus the first."""
        if measure not in {**self.pair_results, **self.system_results}:
            return None
        if measure in self.pair_results:
            two = self.pair_results[measure]
            sign = 1 if two.names[0] == self.systems[1] else -1
            test, correction, rows = two.test.test.title, None, [(two.test.p, two.test.p, sign * two.difference)]
        else:
            result = self.system_results[measure]
            found = [result.family.pair(b, a) for a, b in combinations(self.systems, 2)]
            rows = [(each.p, each.adjusted, each.difference) for each in found]
            test, correction = result.family.test, result.deciding
        names = ("p", "adjusted", "difference")
        columns = {name: finite(column, _FIGURES) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        return {"measure": number, "test": test, "correction": correction, "alpha": 0.05, **columns}

    def _recall(self) -> list[dict[str, object]]:
        if self.recall is None:
            return []
        found: list[dict[str, object]] = []
        for base in self.recall.bases:
            points = [base.precision_at(recall) for recall in self.recall.recall]
            precision = [finite([each.mean(point) for point in points]) for each in self.recall.evaluations]
            found.append({"level": base.grade, "points": list(self.recall.recall), "precision": precision})
        return found

    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        begin, level, count = level_counts(self.judged, self.places)
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "grades": self.codes,
            "answered": np.array([each.answered for each in self.evaluations.values()], np.uint8),
            "poolAt": begin.astype(np.uint32),
            "poolLevel": level.astype(np.uint16),
            "poolCount": count.astype(np.uint32),
        }
        if self.first.weights is not None:
            arrays["weights"] = self.first.weights
        return arrays

    @cached_property
    def documents(self) -> tuple[str, str | None]:
        """The block of documents, and what is to say of it if it is not whole: to so many ranks that the page does not
        become too large."""
        cells = len(self.kept) * self.places.size * min(self.depth, DEFAULT_RANKS)
        most = max(_LETTERS_A_CELL * cells, _LEAST_LETTERS) - len(self.numbers)
        for depth in (self.depth, *(each for each in _DEPTHS_OF_DOCUMENTS if each < self.depth)):
            note = None
            if depth < self.depth:
                note = f"To keep the file small, documents are shown for the first {depth} of {self.depth} ranks."
            packed = self._documents(depth, note)
            if len(packed) <= most:
                return packed, note
        note = "To keep the file small, it does not say which documents stand at which rank."
        return "", note

    def _documents(self, depth: int, note: str | None) -> str:
        pool = Pool.of(self.judged, self.places, self.depth)
        found = documents_of(self.kept, self.places, pool, depth)
        content: dict[str, object] = {"depth": depth, "ids": found.ids}
        if note is not None:
            content["note"] = note
        if self.titles is not None:
            content["titles"] = self.titles.of(found.ids)
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "docs": (found.at_rank & 255).astype(np.uint8),
            "docsHigh": (found.at_rank >> 8).astype(np.uint8 if found.at_rank.max(initial=0) < 2**16 else np.uint32),
            "poolDocAt": pool.offsets.astype(np.uint32),
            "poolDoc": found.of_pool.astype(np.uint32),
            "poolDocLevel": pool.level.astype(np.uint16),
        }
        return pack(content, arrays)


def gathered(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    queries: Queries | None = None,
    titles: DocumentTitles | None = None,
    ranks: int = DEFAULT_RANKS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ReportData:
    """Reads and scores the runs once, compares them, and keeps what the page shows."""
    check_measures(measures, judged)
    progress = progress or Progress()
    judged_at = {k: parse(f"Judged@{k}") for k in _JUDGED_AT if k <= ranks}
    bases, recall = recall_plan(judged)
    of_recall = [base.precision_at(point) for base in bases for point in recall]
    deepest = max([ranks, *(each.cutoff or 0 for each in measures if isinstance(each, _LIVE))])
    kept = tuple(kept_runs(judged, runs, measures, [*judged_at.values(), *of_recall], deepest, threads, progress))
    scores = [each[:2] if queries is None else [one.chosen(queries) for one in each[:2]] for each in kept]
    evaluations = {asked.run: asked for asked, _ in scores}
    with reporting_to(progress):
        found, against = _compared(evaluations, baseline, threads)
    return ReportData(
        judged,
        evaluations,
        found,
        baseline,
        against,
        kept,
        {k: [beside.mean(measure) for _, beside in scores] for k, measure in judged_at.items()},
        RecallLevels(tuple(beside for _, beside in scores), recall, next(iter(runs)), False, bases) if bases else None,
        ranks,
        titles,
    )


def _compared(
    evaluations: Mapping[str, Evaluation], baseline: str | None, threads: int | None
) -> tuple[Comparison | None, SystemsComparison | None]:
    """All pairs of systems by every measure that orders them; and where there are more than two, those with the
    baseline by the first measure."""
    first = next(iter(evaluations.values()))
    ordering = [each for each in first.measures if orders(each)]
    if len(evaluations) < 2 or not ordering:
        return None, None
    scores = Scores.of(evaluations, ordering)
    if len(evaluations) == 2:
        return compare_two(scores, baseline=baseline), None
    against = None
    if baseline is not None:
        against = compare_several(Scores.of(evaluations, ordering[:1]), baseline=baseline, threads=threads)
    return compare_several(scores, threads=threads), against


#: A column with more different values than these groups nothing.
_MOST_SEGMENTS = 50


def _segments(about: Queries, queries: Sequence[str]) -> dict[str, list[str | None]]:
    """What the columns that group queries say of each."""
    found: dict[str, list[str | None]] = {}
    for column in about.columns:
        groups = about.segments(column, queries)
        if 2 <= len(groups) <= min(_MOST_SEGMENTS, max(2, len(queries) // 2)):
            values: list[str | None] = [None] * len(queries)
            for name, places in groups.items():
                for place in places:
                    values[place] = name
            found[column] = values
    return found
