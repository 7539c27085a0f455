"""An interactive HTML report on runs or sessions: the comparison, leaderboard, curves, queries and documents.

Readers can change gains, discounts and depths in the browser.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np

from gainful._version import __version__
from gainful.data.exclusion import Exclusion
from gainful.data.judged import Judged
from gainful.data.queries import Queries
from gainful.data.run import RunLike, RunSource, runs_by_name
from gainful.discounts import divisors
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import check_measures
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.evaluation.results import settled
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass
from gainful.io.atomic import write_bytes
from gainful.io.columns import columns_by_side
from gainful.io.sources import fingerprint_of
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_MEASURES, parse, parse_all
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import listed, printable, today, units
from gainful.pages.charts import Axis, Plot
from gainful.pages.page import Column, Table, head
from gainful.question import question
from gainful.render.cells import plain, readable
from gainful.render.figure import CHART_STYLE, chart_html
from gainful.render.markup import html_table
from gainful.tasks.compare import Comparison
from gainful.tasks.compare.compare_words import places_text
from gainful.tasks.compare.several_systems import SystemsComparison, compare_several
from gainful.tasks.compare.two_systems import compare_two
from gainful.tasks.curves.abstention import can_abstain, curve_of, nothing_relevant
from gainful.tasks.curves.averages import checked_baseline, curve_line
from gainful.tasks.curves.recall_levels import RecallLevels, recall_plan
from gainful.tasks.report.page_data import (
    FIRST_LEVEL,
    DocumentTitles,
    KeptRun,
    PageData,
    Pool,
    documents_of,
    finite,
    gains_of,
    kept_runs,
    level_counts,
    orders,
    pack,
)
from gainful.tasks.run_questions import DEFAULT_RANKS, AbstentionOptions, ReportOptions, SessionReportOptions

#: The ranks at which Judged@k is shown.
_JUDGED_AT = (5, 10, 20, 50, 100)
#: Measures recomputed in the browser.
_LIVE = (CG, DCG, NCG, NDCG)
#: Size limit of the page without its script: at least, and per cell of systems x queries x ranks. Documents are cut.
_LEAST_LETTERS, _LETTERS_PER_CELL = 1_850_000, 4
_FIGURES = 7  # significant figures of p and differences, because there may be many pairs
_DEPTHS_OF_DOCUMENTS = (100, 50, 20, 10)
_MOST_SEGMENTS = 50  # values of a column that still define groups
_MOST_RESAMPLED = 2_500  # top scores of which resampling takes less than a tenth of a second
_MOST_LINES = 8  # distinguishable lines in a chart


class HtmlReport:
    """A report to save, open, or show in a notebook."""

    def __init__(self, data: PageData) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<HtmlReport: {self.data.title}>"

    @cached_property
    def html(self) -> str:
        return write_page(self.data, today())

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about the inputs, and parts left out of the page, one line each."""
        return (*self.data.notices, *filter(None, [self.data.documents[1]]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page atomically, to a file that ends in .html or .htm, or has no ending."""
        check_page(path)
        write_bytes(path, self.html.encode("utf-8"))

    def open(self) -> None:
        """Open the page in a browser, from a temporary file."""
        path = Path(tempfile.mkdtemp(prefix="gainful-")) / "report.html"
        self.save(path)
        if not show(path):
            raise UsageError(f"no browser found; the page is {path}")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(self.data.title)}" '
            'width="100%" height="800" style="border:0"></iframe>'
        )


def check_page(path: str | os.PathLike[str]) -> None:
    """Reject a file name with an ending other than .html or .htm."""
    name = os.fspath(path)
    if (ending := os.path.splitext(name)[1].lower()) not in (".html", ".htm", ""):
        hint = "to get a PDF, print the page in a browser" if ending == ".pdf" else "report writes one HTML page"
        raise UsageError(f"{name}: expected a file that ends in .html, found {ending}", hint)


def show(path: str | os.PathLike[str]) -> bool:
    """Open a page in a browser; return False if there is none."""
    return webbrowser.open(Path(path).resolve().as_uri())


@warns
@question(ReportOptions)
def report(asked: ReportOptions) -> HtmlReport:
    """Create an interactive HTML report: ``report("qrels.txt", {"bm25": "bm25.run"}).save("report.html")``.

    Judgments, runs, ``measures``, ``policy``, ``exclude``, ``columns`` and ``queries`` are as in
    :func:`gainful.evaluate`. The page is one self-contained file. It compares the systems by the first measure, as
    :func:`gainful.compare` does, and lets readers change gains, discounts and depths. ``baseline`` is the run that the
    others are compared with. ``documents`` are titles or texts: a table with one row per document, or a dict by ID.
    ``ranks`` is the number of ranks kept per list.

    >>> page = report({"q1": {"d1": 1}}, {"old": {"q1": ["d2", "d1"]}, "new": {"q1": ["d1"]}}, "RR")
    >>> page.data.title
    'new and old: RR on 1 query'
    """
    several = runs_by_name(asked.runs) if asked.runs else {}
    found: Mapping[str, RunLike] = {"run": asked.runs} if several is None else several
    checked_baseline(found, asked.baseline)
    called = columns_by_side(asked.columns, ("qrels", "run", "documents"))
    exclusion = None if asked.exclude is None else Exclusion.of(asked.exclude)
    found = {name: RunSource.of(run, called["run"], name).without(exclusion) for name, run in found.items()}
    titles = asked.documents
    if titles is not None and not isinstance(titles, DocumentTitles):
        titles = DocumentTitles(titles, called["documents"])
    judged = Judged.of(asked.qrels, asked.policy, called["qrels"])
    measures = parse_all(DEFAULT_MEASURES if asked.measures is None else asked.measures)
    chosen = None if asked.queries is None else Queries.of(asked.queries)
    ranks = asked.ranks
    check_measures(measures, judged)
    judged_at = {k: parse(f"Judged@{k}") for k in _JUDGED_AT if k <= ranks}
    bases, recall = recall_plan(judged)
    of_recall = [base.precision_at(point) for base in bases for point in recall]
    deepest = max([ranks, *(each.cutoff or 0 for each in measures if isinstance(each, _LIVE))])
    kept = tuple(kept_runs(judged, found, measures, [*judged_at.values(), *of_recall], deepest, asked.threads))
    scores = [each[:2] if chosen is None else [one.chosen(chosen) for one in each[:2]] for each in kept]
    evaluations = {each.run: each for each, _ in scores}
    with_undefined_skipped = tuple(each for _, each in scores)
    comparison, against = _compared(evaluations, asked.baseline, asked.threads)
    shares = {k: [each.mean(measure) for each in with_undefined_skipped] for k, measure in judged_at.items()}
    levels = RecallLevels(with_undefined_skipped, recall, next(iter(found)), False, bases) if bases else None
    compared = judged, evaluations, comparison, asked.baseline, against
    return HtmlReport(ReportData(*compared, kept, shares, levels, ranks, titles))


def _compared(
    evaluations: Mapping[str, Evaluation], baseline: str | None, threads: int | None
) -> tuple[Comparison | None, SystemsComparison | None]:
    """Compare all pairs by every measure that orders systems, and several systems with the baseline by the first."""
    ordering = [each for each in next(iter(evaluations.values())).measures if orders(each)]
    if len(evaluations) < 2 or not ordering:
        return None, None
    scores = Scores.of(evaluations, ordering)
    if len(evaluations) == 2:
        return compare_two(scores, baseline=baseline), None
    against = None
    if baseline is not None:
        against = compare_several(Scores.of(evaluations, ordering[:1]), baseline=baseline, threads=threads)
    return compare_several(scores, threads=threads), against


@warns
@question(SessionReportOptions)
def report_sessions(asked: SessionReportOptions) -> HtmlReport:
    """Create an interactive HTML report on sessions by system, as in :func:`gainful.evaluate_sessions`."""
    from gainful.tasks.report.session_data import gathered_sessions

    return HtmlReport(gathered_sessions(asked))


@dataclass(frozen=True, eq=False, repr=False)
class ReportData(PageData):
    """The content of a report on runs."""

    against: SystemsComparison | None  # the comparison of several systems with the baseline
    kept: tuple[KeptRun, ...]
    judged_at: Mapping[int, Sequence[float]]
    recall: RecallLevels | None
    ranks: int
    titles: DocumentTitles | None

    @cached_property
    def places(self) -> Ints:
        """The positions of the queries among the judged ones."""
        known = {query: place for place, query in enumerate(self.judged.qrels.query_ids)}
        return np.array([known[query] for query in self.first.query_ids], np.int64)

    @cached_property
    def live(self) -> CumulatedGain:
        """The initial measure of the page's controls: the first measure that they support."""
        found = (each for each in self.measures if isinstance(each, _LIVE) and type(each) in _LIVE)
        plain = (each for each in found if each.average is None and each.unjudged is None and each.budget is None)
        return next(plain, NDCG(cutoff=10))

    @cached_property
    def depth(self) -> int:
        """The number of ranks kept per list, limited by the longest list and recall base."""
        longest = max(int(run.lengths[self.places].max(initial=0)) for run in self.kept)
        deepest = int(self.judged.recall_base(None, None)[self.places].max(initial=0))
        return max(1, self.live.cutoff or 1, min(self.ranks, max(longest, deepest)))

    @cached_property
    def codes(self) -> np.ndarray[Any, Any]:
        """The code of every rank (see ``FIRST_LEVEL``): systems x queries x ranks."""
        codes = np.zeros((len(self.kept), self.places.size, self.depth), np.uint16)
        for system, run in enumerate(self.kept):
            codes[system, :, : run.codes.shape[1]] = run.codes[self.places, : self.depth]
        return codes.astype(np.uint8 if self.judged.levels.size <= 250 else np.uint16)

    def verdicts(self, comparison: SystemsComparison) -> list[str]:
        return super().verdicts(self.against or comparison)

    @cached_property
    def notices(self) -> list[str]:
        of_scores = () if self.comparison is None else self.comparison.notices
        return list(dict.fromkeys([*notices(self.evaluations.values()), *of_scores]))

    @property
    def pair(self) -> list[int]:
        """The two systems compared initially: the baseline or the second best, and the best."""
        best, *others = self.order
        if not others:
            return [best, best]
        base = others[0] if self.baseline is None else self.systems.index(self.baseline)
        return [base, best if best != base else others[0]]

    def _sources(self) -> list[str]:
        tables = (self.first.about, self.titles if self.documents else None)  # titles are read with the documents
        return [*super()._sources(), *(each.name for each in tables if each is not None and fingerprint_of(each.name))]

    def plots(self) -> Iterator[Plot]:
        """Yield the curves of the initial measure and of its undiscounted gain, with the ideal."""
        live = cast(CumulatedGain, self.live.replace(cutoff=None))
        plain = CG(gain=live.gain, rel=live.rel, level=live.level)
        shown = self.order[:_MOST_LINES]
        if self.baseline is not None and (base := self.systems.index(self.baseline)) not in shown:
            shown[-1] = base
        cut = f"{len(shown)} of {len(self.systems)} systems." if len(shown) < len(self.systems) else ""
        for measure in dict.fromkeys((live, plain)):
            lists = self.judged.ideal_lists(measure.gain, measure.rel, measure.level)
            ideal = measure.cumulated(lists.of_rows(self.places), self.depth)
            ends = np.count_nonzero(self.codes.any(axis=1), axis=1)  # curves end with the longest list
            lines = [curve_line(self.systems[i], self._mean_curve(i, measure, ideal)[: ends[i]]) for i in sorted(shown)]
            if not measure.normalised:
                lines.insert(0, curve_line("ideal", self._mean(ideal), role="ideal"))
            yield Plot(
                f"{measure} by rank, {self.weighted}mean over {units(len(self.first.query_ids), 'query')}",
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
        answered = self.evaluations[self.systems[place]].answered[:, None]
        return self._mean(settled(raw, answered, measure, policy.missing, policy.undefined))

    def _mean(self, vectors: Floats) -> Floats:
        """Return the mean over the defined values at each rank; NaN if there are none."""
        weights = np.ones(len(vectors)) if self.first.weights is None else self.first.weights
        counted = ~np.isnan(vectors)
        with np.errstate(invalid="ignore"):
            return np.asarray((weights @ np.where(counted, vectors, 0.0)) / (weights @ counted))

    @cached_property
    def numbers(self) -> str:
        about, queries, live = self.first.about, self.first.queries, self.live
        tested = [self._pairs(number, str(measure)) for number, measure in enumerate(self.measures)]
        # Without a cutoff, the initial measure may be deeper than the ranks kept.
        is_whole = live.cutoff is not None or self.depth < self.ranks
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
            "live": self.measures.index(live) if is_whole and live in self.measures else None,
            "pairs": [each for each in tested if each is not None],
            "judged": {
                "k": list(self.judged_at),
                "share": [finite(each) for each in self.judged_at.values()],
                "tells": any(each.facts.unjudged_tells for each in self.evaluations.values()),
            },
            "recall": self._recall(),
            "abstention": self._abstention(),
        }
        if about is not None and about.has_texts:
            content["texts"] = [about.text(query) for query in queries]
        by_column = {} if about is None else {each: about.segment_of_each(each, queries) for each in about.columns}
        most = min(_MOST_SEGMENTS, max(2, len(queries) // 2))
        if segments := {name: each for name, each in by_column.items() if 2 <= len(set(each)) <= most}:
            content["segments"] = segments
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
        return pack(content, arrays)

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
        """Return the tests of all pairs; differences are the second system minus the first."""
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
        found: list[dict[str, object]] = []
        if (levels := self.recall) is not None:
            for base in levels.bases:
                points = [base.precision_at(recall) for recall in levels.recall]
                precision = [finite([each.mean(point) for point in points]) for each in levels.evaluations]
                found.append({"level": base.grade, "points": list(levels.recall), "precision": precision})
        return found

    def _abstention(self) -> dict[str, object] | None:
        """Return the curves of :func:`gainful.abstention_curves` by the primary measure; None without top scores."""
        measure, tops = self.primary, [run.top[self.places] for run in self.kept]
        if not can_abstain(measure) or self.weighted or all(np.unique(top[top > -np.inf]).size < 2 for top in tops):
            return None
        is_small = len(tops) * self.places.size <= _MOST_RESAMPLED
        asked = AbstentionOptions(self.judged, {}, draws=AbstentionOptions.draws if is_small else 0)
        none = nothing_relevant(measure, self.judged)[self.places]
        scores = [each.settled_scores(measure) for each in self.evaluations.values()]
        curves = [curve_of(top, score, none, asked) for top, score in zip(tops, scores, strict=True)]
        return {
            "measure": str(measure),
            "level": asked.level,
            "area": [finite(curve.area.tolist()) for curve in curves],
            "rows": [[finite(curve.row(i)) for i in curve.shown] for curve in curves],
            "lowest": [None if curve.lowest is None else finite(curve.row(curve.lowest)) for curve in curves],
        }

    @cached_property
    def documents(self) -> tuple[str, str | None]:
        """The data of documents, to a depth that keeps the page small, and a note if ranks are left out."""
        cells = len(self.kept) * self.places.size * min(self.depth, DEFAULT_RANKS)
        most = max(_LETTERS_PER_CELL * cells, _LEAST_LETTERS) - len(self.numbers)
        pool = Pool.of(self.judged, self.places, self.depth)
        for depth in (self.depth, *(each for each in _DEPTHS_OF_DOCUMENTS if each < self.depth)):
            ids, at_rank, of_pool = documents_of(self.kept, self.places, pool, depth)
            content: dict[str, object] = {"depth": depth, "ids": ids}
            note = None
            if depth < self.depth:
                note = f"To keep the file small, documents are shown for the first {depth} of {self.depth} ranks."
                content["note"] = note
            if self.titles is not None:
                content["titles"] = self.titles.of(ids)
            high = at_rank >> 8
            arrays: dict[str, np.ndarray[Any, Any]] = {
                "docs": (at_rank & 255).astype(np.uint8),
                "docsHigh": high.astype(np.uint8 if high.max(initial=0) < 2**8 else np.uint32),
                "poolDocAt": pool.offsets.astype(np.uint32),
                "poolDoc": of_pool.astype(np.uint32),
                "poolDocLevel": pool.level.astype(np.uint16),
            }
            packed = pack(content, arrays)
            if len(packed) <= most:
                return packed, note
        return "", "To keep the file small, documents are not listed."


def write_page(data: PageData, date: str) -> str:
    """Return a self-contained page: it loads nothing, and only its own script can run."""
    bundle = ("report.js", "report.css")  # built in web/
    script, style = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in bundle)
    style += CHART_STYLE
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = _text(data.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="gainful {__version__}">\n<title>{title}</title>\n'
        f"<style>{style}</style></head>\n<body>\n"
        f'<a class="skip" href="#answer">Skip to the answer</a>\n'
        f'<main id="static">\n<h1>{title}</h1>\n{_static(data, date)}</main>\n<div id="app" hidden></div>\n'
        f'<script type="application/octet-stream" id="data">{data.numbers}</script>\n'
        f'<script type="application/octet-stream" id="documents">{data.documents[0]}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(text: str) -> str:
    """Escape a text for HTML, including unprintable characters."""
    return escape(plain(text))


def _static(data: PageData, date: str) -> str:
    curves = f"Gain by {'rank' if data.first.unit == 'query' else 'position'}"
    paragraphs = [f"<p>{_text(each)}</p>" for each in (*data.answer, data.meaning)]
    sections = [
        ("answer", "The answer", [*paragraphs, _about(data, date)]),
        ("leaderboard", "Leaderboard", [_leaderboard(data)]),
        ("curves", curves, [chart_html(plot, data.systems) for plot in data.plots()]),
    ]
    if notices := [*data.notices, *filter(None, [data.documents[1]])]:
        items = "".join(f"<li>{_text(line)}</li>\n" for line in notices)
        sections.append(("notices", "Before you rely on this", [f"<ul>\n{items}</ul>"]))
    return "".join(
        f'<section id="{name}"><h2>{title}</h2>\n' + "".join(f"{part}\n" for part in parts) + "</section>\n"
        for name, title, parts in sections
    )


def _leaderboard(data: PageData) -> str:
    reach = data.reach(str(data.primary))
    result = data.system_results.get(str(data.primary))
    ranges = () if result is None else result.family.rank_intervals
    columns = [Column("system"), *(Column(str(measure), "number") for measure in data.measures)]
    if ranges:
        columns.append(Column("rank range", "number"))
    rows = []
    for place in data.order:
        evaluation = data.evaluations[data.systems[place]]
        means = [f"{evaluation.aggregate(measure):.4f}" for measure in data.measures]
        if reach is not None:
            means[data.measures.index(data.primary)] += f" ± {reach:.4f}"
        rows.append((data.systems[place], *means, *([places_text(ranges[place])] if ranges else [])))
    notes = () if reach is None else (f"Systems whose {data.primary} intervals do not overlap differ significantly.",)
    return _scrolled(Table(tuple(columns), rows, notes=notes))


def _about(data: PageData, date: str) -> str:
    """Return a line with the date and files, which unfolds to conventions and hashes."""
    first, files = data.first, data.files
    names = [os.path.basename(printable(name, 40)) for name, content in files if content]
    source = f" from {listed(names, most=3)}" if names else ""
    line, conventions = _text(f"Created on {date}{source}"), f"<p>{_text(first.signature().short())}</p>"
    table = Table(head("file | sha256"), [(name, content or "not a file") for name, content in files])
    signatures = "".join(f"<li><code>{_text(str(first.signature(measure)))}</code></li>" for measure in data.measures)
    details = f"{conventions}{_scrolled(table)}\n<ul>{signatures}</ul>"
    return f'<details id="about"><summary>{line}</summary>{details}</details>'


def _scrolled(table: Table) -> str:
    """Wrap a table in a box that scrolls by keyboard on narrow screens."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="Table">{html_table(table)}</div>'
