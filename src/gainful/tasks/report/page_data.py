"""The content shared by reports on runs and sessions: scores, conclusions, ranked lists, document titles, encoding."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant, ordinal_in_row
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError, option
from gainful.evaluation.beside import KINDS, Beside
from gainful.evaluation.evaluate import evaluate_graded, join_each
from gainful.evaluation.evaluations import Evaluation
from gainful.frozen import dataclass, replace
from gainful.gains import Gain
from gainful.io.columns import NAMES, Names, find_role, folded, listed_names
from gainful.io.records import read_records
from gainful.io.rows import Spans, joined_spans, read_id
from gainful.io.sources import fingerprint_of
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.help import Help
from gainful.measures.holes import has_exact_bounds
from gainful.notation import listed, plural_of, some_of, units
from gainful.pages.charts import LONGEST_NAME, Plot
from gainful.render.cells import readable
from gainful.stats.distributions import t_quantile
from gainful.stats.families import SystemsResult
from gainful.stats.paired import PairResult
from gainful.tasks.compare import Comparison, compare_words as words
from gainful.tasks.compare.several_systems import SystemsComparison, conclusions, decision
from gainful.tasks.compare.two_systems import PairComparison, pair_conclusion
from gainful.tasks.compare.unpaired_systems import UnpairedComparison
from gainful.tasks.curves.abstention import top_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Meanings for readers to whom the formulas of these measures say little.
_PLAIN = {
    "nDCG": "Normalised discounted cumulated gain: how close a list comes to the best possible one, which scores 1; "
    "better documents and higher ranks count more",
    "nCG": "Normalised cumulated gain: how close a list comes to the best possible one, which scores 1; better "
    "documents count more",
    "nsDCG": "Normalised session DCG: how close a session comes to the best possible one, which scores 1; better "
    "documents, higher ranks and earlier queries count more",
    "RR": "Reciprocal rank of the first relevant document: 1 at rank 1, 1/2 at rank 2, 0 without one",
}
#: Decimal places in sentences.
PLACES = 4


@dataclass(frozen=True, eq=False, repr=False)
class PageData:
    """The scores of systems by the measures of a report, and their comparison."""

    judged: Judged
    evaluations: Mapping[str, Evaluation]
    comparison: Comparison | None
    baseline: str | None

    @property
    def systems(self) -> list[str]:
        return list(self.evaluations)

    @property
    def first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.first.measures

    @property
    def primary(self) -> Measure:
        """The first measure that orders systems by its mean, or simply the first."""
        return next((each for each in self.measures if orders(each)), self.measures[0])

    @property
    def meaning(self) -> str:
        """The meaning of the primary measure, in one sentence."""
        measure = self.primary
        claim = _PLAIN.get(measure.name) or Help.of(measure).claim.removesuffix(".")
        claim = re.sub(r"\bk\b", str(measure.rank_cutoff or "k"), claim)
        return f"{measure}: {claim}{words.direction_text(measure.better)}."

    @property
    def title(self) -> str:
        short = [words.name_text(self.systems[place], self.systems) for place in self.order]
        names = listed(short, most=4 if max(map(len, short)) <= LONGEST_NAME else 2)
        unit, counts = self.first.unit, {len(each.query_ids) for each in self.evaluations.values()}
        return f"{names}: {self.primary} on {units(counts.pop(), unit) if len(counts) == 1 else plural_of(unit)}"

    @cached_property
    def order(self) -> list[int]:
        """The systems by their means of the first measure, best first."""
        measure = self.primary
        sign = 1 if measure.better == "lower" else -1
        means = [sign * each.aggregate(measure) for each in self.evaluations.values()]
        return sorted(range(len(means)), key=lambda i: math.inf if math.isnan(means[i]) else means[i])

    @property
    def weighted(self) -> str:
        """``weighted`` and a blank if queries have different weights."""
        return "weighted " if self.first.weights is not None and np.ptp(self.first.weights) else ""

    @property
    def pair_results(self) -> Mapping[str, PairResult]:
        return self.comparison.pairs if isinstance(self.comparison, PairComparison) else {}

    @property
    def system_results(self) -> Mapping[str, SystemsResult]:
        return self.comparison.systems if isinstance(self.comparison, SystemsComparison) else {}

    def reach(self, measure: str) -> float | None:
        """Return half the critical difference: systems differ if intervals of this half-width do not overlap."""
        if measure in self.pair_results:
            interval = self.pair_results[measure].interval
            width = math.inf if interval.is_stopgap else (interval.high - interval.low) / 2
        else:
            result = self.system_results.get(measure)
            width = math.inf if result is None or result.family.threshold is None else result.family.threshold
        return width / 2 if math.isfinite(width) else None

    @property
    def answer(self) -> list[str]:
        """A sentence without statistics, followed by the sentences of `gainful compare`."""
        if len(self.systems) == 1:
            value, count = self.first.aggregate(self.primary), self.first.count(self.primary)
            over = words.units_text(count, 0, self.first.unit, effective=self.first.effective)
            name = words.name_text(self.systems[0], self.systems)
            return [f"{name} has {self.primary} {value:.{PLACES}f}, the {self.weighted}mean over {over}."]
        if self.comparison is None:
            names = ", ".join(map(str, self.measures))
            return [f"The systems were not compared: means of {names} do not order systems."]
        return self.found(self.comparison)

    def found(self, comparison: Comparison) -> list[str]:
        primary = comparison.primary
        if isinstance(comparison, PairComparison):
            return [words.decision_sentence(comparison.pairs[primary]), pair_conclusion(comparison.pairs[primary])]
        if isinstance(comparison, SystemsComparison):
            result = comparison.systems[primary]
            return [decision(result), " ".join([*_lead(result), *self.verdicts(comparison)])]
        sentences = next(part for part in comparison.page().parts if isinstance(part, str)).splitlines()
        pairs = comparison.unpaired[primary].pairs if isinstance(comparison, UnpairedComparison) else ()
        return [words.decision_sentence(pairs[0]), *sentences] if len(pairs) == 1 else sentences

    def verdicts(self, comparison: SystemsComparison) -> list[str]:
        """Return the sentences on several systems by the primary measure."""
        return conclusions(comparison.systems[comparison.primary])

    @property
    def notices(self) -> list[str]:
        raise NotImplementedError

    @property
    def files(self) -> list[tuple[str, str | None]]:
        """All sources with the hash of their content; None if a source is not a file."""
        known = {self.judged.qrels.name: self.judged.qrels.content}
        known |= {name: fingerprint_of(name) for name in self._sources()}
        return [(name, None if content is None else content.sha256()) for name, content in known.items()]

    def _sources(self) -> list[str]:
        return [each.source for each in self.evaluations.values()]

    @property
    def documents(self) -> tuple[str, str | None]:
        """The data of documents, and a note if it is incomplete."""
        return "", None

    def plots(self) -> Iterator[Plot]:
        raise NotImplementedError

    @cached_property
    def numbers(self) -> str:
        raise NotImplementedError

    def described(self, gain: Gain, rel: float | None, level: float | None) -> dict[str, object]:
        """Return the page data shared by runs and sessions, with the gains of a measure."""
        sizes = [each.effective for each in self.evaluations.values()]
        return {
            "version": 1,
            "systems": [readable(name) for name in self.systems],
            "baseline": None if self.baseline is None else self.systems.index(self.baseline),
            "levels": self.judged.levels.tolist(),
            "gains": gains_of(gain, rel, level, self.judged).tolist(),
            "missing": self.first.policy.missing,
            "undefined": self.first.policy.undefined,
            "t": [t_quantile(0.975, each - 1) if each > 1 else None for each in sizes],
            "measures": [self.described_measure(measure) for measure in self.measures],
            "first": self.measures.index(self.primary),
        }

    def described_measure(self, measure: Measure) -> dict[str, object]:
        means = [each.aggregate(measure) for each in self.evaluations.values()]
        content = {"name": str(measure), "means": finite(means), "higherIsBetter": measure.better != "lower"}
        reach = self.reach(str(measure))
        if reach is not None:
            content |= {"low": finite([mean - reach for mean in means]), "high": finite([m + reach for m in means])}
        for kind in ("bounds", "loss"):
            of_runs = [each.beside(kind, measure) for each in self.evaluations.values()]
            # Some parts of the loss are named only for runs that have them.
            names = dict.fromkeys(name for parts in sorted(of_runs, key=len, reverse=True) for name in parts)
            if names:
                content[kind] = {name: finite([parts.get(name, 0.0) for parts in of_runs]) for name in names}
        return content


def _lead(result: SystemsResult) -> Iterator[str]:
    """Yield the difference between the two best systems, or the best one and the baseline, with its interval and p."""
    family = result.family
    first, second = (family.systems[i] for i in family.order[:2])
    if family.baseline is not None:
        first, second = second if first == family.baseline else first, family.baseline
    pair = family.pair(first, second)
    if pair.difference and pair.low is not None and pair.high is not None and math.isfinite(pair.high - pair.low):
        places = words.places_for(pair.difference)
        interval, p = words.limits_text(pair.low, pair.high, places), words.p_words(pair.adjusted, result.least_p)
        names = " and ".join(words.name_text(each, family.systems) for each in (first, second))
        yield (
            f"Difference between {names}: {pair.difference:+.{places}f} {family.measure} "
            f"(simultaneous 95% CI {interval}, adjusted p {p if p.startswith('<') else f'= {p}'})."
        )


def orders(measure: Measure) -> bool:
    """Whether means by a measure order systems."""
    return measure.better != "neither" and measure.aggregate != "geometric"


def gains_of(gain: Gain, rel: float | None, level: float | None, judged: Judged) -> Floats:
    """Return the gain of each level."""
    gains = gain.of_grades(judged.levels, judged.scale)
    if rel is None and level is None:
        return gains
    return np.where(is_relevant(judged.levels, rel, level), gains, 0.0)


def finite(values: Sequence[float | None], figures: int = 17) -> list[float | None]:
    """Round to significant figures for JSON; None for numbers that are not finite."""
    return [float(f"{each:.{figures}g}") if each is not None and math.isfinite(each) else None for each in values]


_KINDS = {np.dtype(dtype): kind for kind, dtype in {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f64": "<f8"}.items()}
_ALIGNED = 8
#: Compression level: a page of 20 systems is 4% larger than with level 7, in a quarter of the time.
_LEVEL = 4


def pack(content: Mapping[str, object], arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Encode content and arrays, reproducibly: the length of the JSON, the JSON with array positions, the arrays."""
    where: dict[str, dict[str, object]] = {}
    pieces: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        where[name] = {"type": _KINDS[array.dtype], "at": at, "length": int(array.size)}
        pieces.append(data + b"\0" * (-len(data) % _ALIGNED))
        at += len(pieces[-1])
    text = json.dumps({**content, "arrays": where}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    head = text.encode("utf-8", "replace")  # replaces lone surrogates
    head += b" " * (-(4 + len(head)) % _ALIGNED)
    packed = zlib.compress(b"".join((len(head).to_bytes(4, "little"), head, *pieces)), _LEVEL, 31)
    return base64.b64encode(packed).decode("ascii")


#: Codes of ranks past the end of a list, of unjudged documents, and of the lowest grade.
ENDED, UNJUDGED, FIRST_LEVEL = 0, 1, 2


class KeptRun(NamedTuple):
    """The scores of a run and the first ranks of its lists."""

    evaluation: Evaluation  # by the measures of the report
    auxiliary: Evaluation  # by further measures, without queries for which they are undefined
    codes: NDArray[np.uint16]  # of grades, queries x ranks
    lengths: Ints  # documents per list
    documents: Spans  # all IDs, list by list
    top: Floats  # the highest score of each list; -inf without one


def kept_runs(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    auxiliary: Sequence[Measure],
    depth: int,
    threads: int | None,
) -> list[KeptRun]:
    """Read and score every run once, and keep only its first ``depth`` ranks in memory."""
    needed = frozenset(need for measure in measures for need in measure.needed()) | {"documents"}
    if judged.policy.ties == "expected":
        hint = "ties=best and ties=worst show the range"
        raise UsageError("ties=expected cannot be used with a report, whose controls compute scores from ranks", hint)

    def keep(name: str, graded: GradedRun) -> KeptRun:
        skipping = replace(graded, policy=graded.policy.replace(undefined="skip"))
        shown = graded.condensed() if graded.policy.unjudged == "condensed" else graded
        lengths = np.minimum(shown.retrieved, depth)
        codes = np.where(np.arange(depth) < lengths[:, None], UNJUDGED, ENDED).astype(np.uint16)
        query, rank = np.repeat(np.arange(lengths.size), np.diff(shown.hit_offsets)), shown.hit_rank
        near = rank <= depth
        codes[query[near], rank[near] - 1] = FIRST_LEVEL + np.searchsorted(judged.levels, shown.hit_grade[near])
        rows = shown.row[np.repeat(shown.list_offsets[:-1], lengths) + _counting(lengths)]
        scores = _with_bounds_and_loss(graded, measures), evaluate_graded(skipping, auxiliary)
        run = cast(Run, graded.run)
        top = top_scores(graded, run.score[graded.row]) if run.has_scores else np.full(lengths.size, -np.inf)
        return KeptRun(*scores, codes, lengths, _documents_at(run, rows), top)

    return list(join_each(judged, runs, keep, needed, threads=threads).values())


def _with_bounds_and_loss(graded: GradedRun, measures: Sequence[Measure]) -> Evaluation:
    """Score a run, with exact bounds unless all unjudged documents count as not relevant, and with the loss."""
    scores, besides = evaluate_graded(graded, measures), Beside(loss=True)
    bounds = {}
    for measure in measures if scores.facts.others_judged else ():
        with suppress(UsageError):  # the conventions decide what unjudged documents are
            if has_exact_bounds(measure):
                bounds[str(measure)] = KINDS["bounds"].find(graded, measure, scores, besides)
    return replace(scores, besides={**besides.values(graded, scores), "bounds": bounds})


def _counting(lengths: Ints) -> Ints:
    """Return 0, 1, 2, ... for each length."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _documents_at(columns: Run | Qrels, rows: Ints) -> Spans:
    """Return the document IDs of some rows, without the bytes between them."""
    start, length = columns.document_start[rows], columns.document_length[rows]
    return columns.data[np.repeat(start, length) + _counting(length)], np.cumsum(length) - length, length


class Pool(NamedTuple):
    """The judged documents of some queries: offsets by query, and the level and ID of each document."""

    offsets: Ints
    level: Ints
    documents: Spans

    @classmethod
    def of(cls, judged: Judged, places: Ints, most: int) -> Pool:
        """Return up to ``most`` documents per query with a grade above 0, best first."""
        relevant = judged.grade > 0
        (offsets, found), items = judged.best_first_of(relevant), judged.items_best_first(relevant)
        row, at = gather(offsets, places)
        near = found.rank[at] <= most
        row, at = row[near], at[near]
        row_of = np.zeros(judged.grade.size, np.int64)
        row_of[judged.item] = np.arange(judged.item.size)
        counts = np.bincount(row, minlength=places.size)
        level = np.searchsorted(judged.levels, found.grade[at])
        documents = _documents_at(judged.qrels, row_of[items[at]])
        return cls(np.concatenate(([0], np.cumsum(counts))), level, documents)


def level_counts(judged: Judged, places: Ints) -> tuple[Ints, Ints, Ints]:
    """Count the judged documents of some queries by level: return offsets by query, levels, and counts."""
    offsets, found = judged.best_first
    row, at = gather(offsets, places)
    levels = judged.levels.size
    keys, counts = np.unique(row * levels + np.searchsorted(judged.levels, found.grade[at]), return_counts=True)
    begin = np.searchsorted(keys, np.arange(places.size + 1) * levels)
    return begin, keys % levels, counts


def documents_of(kept: Sequence[KeptRun], chosen: Ints, pool: Pool, depth: int) -> tuple[list[list[str]], Ints, Ints]:
    """Number the documents of the ``chosen`` queries: rank by rank over the runs, then those of the pool.

    Return the IDs of each query in order of appearance, their positions in runs, and the numbers of the pool. Positions
    (systems x queries x ranks) are 0 without a document, 1 for a document that appears for the first time, and 2 + d
    for the d-th document before the latest new one. Most numbers are therefore small and compress well.
    """
    size, spans, cells = chosen.size, [], []
    for system, run in enumerate(kept):
        row, at = gather(np.concatenate(([0], np.cumsum(run.lengths))), chosen)
        rank = ordinal_in_row(row) - 1
        near = rank < depth
        row, at, rank = row[near], at[near], rank[near]
        spans.append((run.documents[0], run.documents[1][at], run.documents[2][at]))
        cells.append(np.stack((row, rank, np.full(row.size, system))))
    in_pool = np.repeat(np.arange(size), np.diff(pool.offsets))
    spans.append(pool.documents)
    cells.append(np.stack((in_pool, np.full(in_pool.size, depth), np.arange(in_pool.size))))
    ids, number = core.number_ids(*joined_spans(spans))
    query, rank, system = np.concatenate(cells, axis=1)
    most = max(len(kept), in_pool.size)
    order = np.argsort((query * (depth + 1) + rank) * most + system, kind="stable")
    query, rank, system, number = query[order], rank[order], system[order], number[order]
    _, first, which = np.unique(query * (len(ids) + 1) + number, return_index=True, return_inverse=True)
    appears = np.zeros(number.size, bool)
    appears[first] = True
    # For each cell, the number of distinct documents of its query so far, and the number of its document, from 1.
    begins = np.searchsorted(query, np.arange(size + 1))
    before = np.concatenate(([0], np.cumsum(appears)))
    count = before[1:] - before[begins[query]]
    place = count[first][which.ravel()]
    names = np.array([each.decode("utf-8", "backslashreplace") for each in ids], object)[number[appears]]
    listed = [names[a:b].tolist() for a, b in pairwise(before[begins])]
    in_lists = rank < depth
    at_rank = np.zeros((len(kept), size, depth), np.int64)
    code = np.where(appears, 1, 2 + count - place)
    at_rank[system[in_lists], query[in_lists], rank[in_lists]] = code[in_lists]
    return listed, at_rank, place[~in_lists] - 1


_ID_TIERS = 2  # of document column names that always denote IDs
_NAMES: Names = {
    "document": (
        *NAMES["document"][:_ID_TIERS],
        "did",
        "id _id",
        *NAMES["document"][_ID_TIERS:],
        "query_id",  # the first column without a header
    ),
    "text": ("title headline name", "text body content contents passage abstract"),
}
_LONGEST = 160  # characters per text: the page shows one line per document


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTitles:
    """A table of documents: a CSV or TSV with a header, JSON objects, a data frame, or a dict of titles by ID."""

    table: Any
    called: Mapping[str, str]  # unusual names of the columns document and text

    @property
    def name(self) -> str:
        return os.fspath(self.table) if isinstance(self.table, (str, os.PathLike)) else "documents"

    @cached_property
    def _titles(self) -> dict[str, str]:
        found: dict[str, str] = {}
        columns: list[str] = []
        for record in read_records(self.table, self.name, (*_NAMES["document"], *map(folded, self.called.values()))):
            columns = columns or self._columns(list(record.values))
            value = record.values.get(columns[1])
            if value is not None and value != "":
                document = read_id(record.values.get(columns[0]), record.where).decode("utf-8", "backslashreplace")
                text = " ".join(str(value).split())
                text = text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
                found.setdefault(document, text)
        return found

    def _columns(self, names: list[str]) -> list[str]:
        found = []
        for role, what in (("document", "the document's id"), ("text", "its title or text")):
            place = find_role(role, names, self.called, self.name, _NAMES)
            if place is None:
                known = ", ".join(listed_names(_NAMES[role][: _ID_TIERS + 2]))
                hint = f"{option('columns', {f'documents.{role}': 'NAME'})} names it"
                problem = f"expected a column for {what} ({known}), found {', '.join(names)}"
                raise InputError(f"{self.name}: {problem}", hint)
            found.append(names[place])
        return found

    def of(self, documents: Sequence[Iterable[str]]) -> dict[str, str]:
        """Return the titles of the documents shown; raise InputError if there are none."""
        shown = dict.fromkeys(chain.from_iterable(documents))
        found = {each: title for each in shown if (title := self._titles.get(each)) is not None}
        if not found:
            there = f"it has {some_of(list(self._titles), 3)}" if self._titles else "it is empty"
            message = f"{self.name}: no titles of documents in the report, such as {some_of(list(shown), 3)}"
            raise InputError(message, f"{there}; use the same IDs as in the runs")
        return found
