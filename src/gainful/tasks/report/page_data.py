"""What pages about runs and about sessions are made of: systems in order, their scores and what was found; what is kept
of ranked lists; titles of documents; and how the page is given numbers."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant, ordinal_in_row
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, option
from gainful.evaluation.evaluate import evaluate_graded, join_each
from gainful.evaluation.evaluations import Evaluation
from gainful.frozen import dataclass, replace
from gainful.gains import Gain
from gainful.io.columns import NAMES, Names, find_role, folded, listed_names
from gainful.io.records import read_records
from gainful.io.rows import Spans, read_id
from gainful.io.sources import fingerprint_of
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.help import Help
from gainful.notation import count_of, listed, plural_of, printable, some_of, units
from gainful.pages.charts import Plot
from gainful.render.cells import readable
from gainful.stats.distributions import t_quantile
from gainful.stats.families import SystemsResult
from gainful.stats.paired import PairResult
from gainful.tasks.compare import Comparison
from gainful.tasks.compare.compare_words import decision_sentence, direction_text, units_text
from gainful.tasks.compare.several_systems import SystemsComparison, conclusions, decision
from gainful.tasks.compare.two_systems import PairComparison, pair_conclusion
from gainful.tasks.compare.unpaired_systems import UnpairedComparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Decimal places in sentences.
PLACES = 4


@dataclass(frozen=True, eq=False, repr=False)
class PageData:
    """Systems by the measures that were asked for, and how they compare."""

    judged: Judged
    evaluations: Mapping[str, Evaluation]
    comparison: Comparison | None
    baseline: str | None

    @property
    def systems(self) -> list[str]:
        return list(self.evaluations)

    @property
    def first(self) -> Evaluation:
        """Any of the evaluations, for what all share."""
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
        """What the first measure means, in the words of its documentation."""
        measure, claim = self.primary, Help.of(self.primary).claim.removesuffix(".")
        claim = re.sub(r"\bk\b", str(measure.rank_cutoff or "k"), claim)
        return f"{measure}: {claim}{direction_text(measure.better)}."

    @property
    def title(self) -> str:
        short = [printable(self.systems[place], 40) for place in self.order]
        names = listed(short, most=4) if len(set(short)) == len(short) else count_of(len(short), "system")
        unit, counts = self.first.unit, set(self._sizes)
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
        """What means are called whose queries do not weigh the same."""
        return "weighted " if self.first.weights is not None and np.ptp(self.first.weights) else ""

    @property
    def pair_results(self) -> Mapping[str, PairResult]:
        return self.comparison.pairs if isinstance(self.comparison, PairComparison) else {}

    @property
    def system_results(self) -> Mapping[str, SystemsResult]:
        return self.comparison.systems if isinstance(self.comparison, SystemsComparison) else {}

    def reach(self, measure: str) -> float | None:
        """Half the least significant difference: systems whose reaches do not overlap differ significantly."""
        if measure in self.pair_results:
            interval = self.pair_results[measure].interval
            width = math.inf if interval.is_stopgap else (interval.high - interval.low) / 2
        else:
            result = self.system_results.get(measure)
            width = math.inf if result is None or result.family.threshold is None else result.family.threshold
        return width / 2 if math.isfinite(width) else None

    @property
    def answer(self) -> list[str]:
        """What was found, for people who decide; then the sentences that `gainful compare` prints."""
        if len(self.systems) == 1:
            value, count = self.first.aggregate(self.primary), self.first.count(self.primary)
            over = units_text(count, 0, self.first.unit, effective=self.first.effective)
            name = printable(self.systems[0], 40)
            return [f"{name} has {self.primary} {value:.{PLACES}f}, the {self.weighted}mean over {over}."]
        if self.comparison is None:
            names = ", ".join(map(str, self.measures))
            return [f"Nothing was compared: the means of {names} do not order systems."]
        return self.found(self.comparison)

    def found(self, comparison: Comparison) -> list[str]:
        """What was found by the primary measure, and with which test."""
        primary = comparison.primary
        if isinstance(comparison, PairComparison):
            return [decision_sentence(comparison.pairs[primary]), pair_conclusion(comparison.pairs[primary])]
        if isinstance(comparison, SystemsComparison):
            return [decision(comparison.systems[primary]), " ".join(conclusions(comparison.systems[primary], PLACES))]
        said = next(part for part in comparison.page().parts if isinstance(part, str)).splitlines()
        pairs = comparison.unpaired[primary].pairs if isinstance(comparison, UnpairedComparison) else ()
        return [decision_sentence(pairs[0]), *said] if len(pairs) == 1 else said

    @property
    def notices(self) -> list[str]:
        """Warnings about the inputs."""
        raise NotImplementedError

    @property
    def files(self) -> list[tuple[str, str | None]]:
        """All files that were read, and what tells their content; None where it was no file."""
        known = {self.judged.qrels.name: self.judged.qrels.content}
        known |= {name: fingerprint_of(name) for name in self._sources()}
        return [(name, None if content is None else content.sha256()) for name, content in known.items()]

    def _sources(self) -> list[str]:
        """The names of all sources but the judgments."""
        return [each.source for each in self.evaluations.values()]

    @property
    def documents(self) -> tuple[str, str | None]:
        """The block of documents, and what is to say of it if it is not whole."""
        return "", None

    def plots(self) -> Iterator[Plot]:
        """The curves that can be looked at without a script."""
        raise NotImplementedError

    @cached_property
    def numbers(self) -> str:
        """The block of numbers."""
        raise NotImplementedError

    def described(self, gain: Gain, rel: float | None, level: float | None) -> dict[str, object]:
        """The part of the page's data that runs and sessions share; the gains are those of a measure."""
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

    @property
    def _sizes(self) -> list[int]:
        return [len(each.query_ids) for each in self.evaluations.values()]

    def described_measure(self, measure: Measure) -> dict[str, object]:
        means = [each.aggregate(measure) for each in self.evaluations.values()]
        content = {"name": str(measure), "means": finite(means), "higherIsBetter": measure.better != "lower"}
        reach = self.reach(str(measure))
        if reach is not None:
            content |= {"low": finite([mean - reach for mean in means]), "high": finite([m + reach for m in means])}
        return content


def orders(measure: Measure) -> bool:
    """Whether means by a measure order systems."""
    return measure.better != "neither" and measure.aggregate != "geometric"


def gains_of(gain: Gain, rel: float | None, level: float | None, judged: Judged) -> Floats:
    """The gain of every level."""
    gains = gain.of_grades(judged.levels, judged.scale)
    if rel is None and level is None:
        return gains
    return np.where(is_relevant(judged.levels, rel, level), gains, 0.0)


def finite(values: Sequence[float | None], figures: int = 17) -> list[float | None]:
    """Numbers that JSON has, with so many figures; None for others."""
    return [float(f"{each:.{figures}g}") if each is not None and math.isfinite(each) else None for each in values]


_KINDS = {np.dtype(dtype): kind for kind, dtype in {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f64": "<f8"}.items()}
_ALIGNED = 8
#: A page of 20 systems is 4% larger than with level 7, in a quarter of the time.
_LEVEL = 4


def pack(content: Mapping[str, object], arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """The length of the JSON, the JSON with the places of the arrays, and the arrays; the same bytes every time."""
    where: dict[str, dict[str, object]] = {}
    pieces: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        where[name] = {"type": _KINDS[array.dtype], "at": at, "length": int(array.size)}
        pieces.append(data + b"\0" * (-len(data) % _ALIGNED))
        at += len(pieces[-1])
    text = json.dumps({**content, "arrays": where}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    head = text.encode("utf-8", "replace")  # half a pair of surrogates is no text
    head += b" " * (-(4 + len(head)) % _ALIGNED)
    packed = zlib.compress(b"".join((len(head).to_bytes(4, "little"), head, *pieces)), _LEVEL, 31)
    return base64.b64encode(packed).decode("ascii")


#: Codes of ranks without a grade (past the end, unjudged), and the code of the lowest grade.
ENDED, UNJUDGED, FIRST_LEVEL = 0, 1, 2


class KeptRun(NamedTuple):
    """The scores of a run by the measures that were asked for, and by others, which leave out queries for which they
    are undefined; and the first ranks of its lists: ``codes`` are queries x ranks, documents one after the other as the
    lists have them, ``lengths`` of each."""

    evaluation: Evaluation
    beside: Evaluation
    codes: NDArray[np.uint16]
    lengths: Ints
    documents: Spans


def kept_runs(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    beside: Sequence[Measure],
    depth: int,
    threads: int | None,
) -> list[KeptRun]:
    """Reads every run once: scores it, and keeps the first ``depth`` ranks. Nothing else of it stays in memory."""
    needed = frozenset(need for measure in measures for need in measure.needed()) | {"documents"}

    def keep(name: str, graded: GradedRun) -> KeptRun:
        skipping = replace(graded, policy=graded.policy.replace(undefined="skip"))
        shown = graded.condensed() if graded.policy.unjudged == "condensed" else graded
        lengths = np.minimum(shown.retrieved, depth)
        codes = np.where(np.arange(depth) < lengths[:, None], UNJUDGED, ENDED).astype(np.uint16)
        query, rank = np.repeat(np.arange(lengths.size), np.diff(shown.hit_offsets)), shown.hit_rank
        near = rank <= depth
        codes[query[near], rank[near] - 1] = FIRST_LEVEL + np.searchsorted(judged.levels, shown.hit_grade[near])
        rows = shown.row[np.repeat(shown.list_offsets[:-1], lengths) + _counting(lengths)]
        scores = evaluate_graded(graded, measures), evaluate_graded(skipping, beside)
        return KeptRun(*scores, codes, lengths, _documents_at(cast(Run, graded.run), rows))

    return list(join_each(judged, runs, keep, needed, threads=threads).values())


def _counting(lengths: Ints) -> Ints:
    """0, 1, 2, ... for each of these lengths."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _documents_at(columns: Run | Qrels, rows: Ints) -> Spans:
    """The documents of some rows, without what stands between them."""
    start, length = columns.document_start[rows], columns.document_length[rows]
    return columns.data[np.repeat(start, length) + _counting(length)], np.cumsum(length) - length, length


class Pool(NamedTuple):
    """Judged documents of the queries at some places: where each query's begin, and of each its level."""

    offsets: Ints
    level: Ints
    documents: Spans

    @classmethod
    def of(cls, judged: Judged, places: Ints, most: int) -> Pool:
        """Those with a grade above 0, best first, so many a query at most."""
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
    """The levels of the judged documents of some queries and how many have each: offsets by query, levels, counts."""
    offsets, found = judged.best_first
    row, at = gather(offsets, places)
    levels = judged.levels.size
    keys, counts = np.unique(row * levels + np.searchsorted(judged.levels, found.grade[at]), return_counts=True)
    begin = np.searchsorted(keys, np.arange(places.size + 1) * levels)
    return begin, keys % levels, counts


class Documents(NamedTuple):
    """The documents of every query in the order in which they appear, and which one stands at the ranks of each run
    (systems x queries x ranks) and in the pool (its place).

    At a rank is 0 where there is no document, 1 where a new one appears, and 2 + d where it is the d-th before the one
    that appeared last: most numbers are small then, which is what makes a page of many lists small.
    """

    ids: list[list[str]]
    at_rank: Ints
    of_pool: Ints


def documents_of(kept: Sequence[KeptRun], chosen: Ints, pool: Pool, depth: int) -> Documents:
    """Numbers the documents of the queries at the ``chosen`` places: rank by rank over the runs, then the pool's."""
    size, spans, cells = chosen.size, [], []
    for system, run in enumerate(kept):
        offsets = np.concatenate(([0], np.cumsum(run.lengths)))
        row, at = gather(offsets, chosen)
        rank = ordinal_in_row(row) - 1
        near = rank < depth
        row, at, rank = row[near], at[near], rank[near]
        spans.append((run.documents[0], run.documents[1][at], run.documents[2][at]))
        cells.append(np.stack((row, rank, np.full(row.size, system))))
    in_pool = np.repeat(np.arange(size), np.diff(pool.offsets))
    spans.append(pool.documents)
    cells.append(np.stack((in_pool, np.full(in_pool.size, depth), np.arange(in_pool.size))))
    data, starts, lengths = zip(*spans, strict=True)
    offsets = np.cumsum([0, *(each.size for each in data[:-1])])
    shifted = [start + offset for start, offset in zip(starts, offsets, strict=True)]
    ids, number = core.number_ids(*map(np.concatenate, (data, shifted, lengths)))
    query, rank, system = np.concatenate(cells, axis=1)
    most = max(len(kept), in_pool.size)
    order = np.argsort((query * (depth + 1) + rank) * most + system, kind="stable")
    query, rank, system, number = query[order], rank[order], system[order], number[order]
    _, first, which = np.unique(query * (len(ids) + 1) + number, return_index=True, return_inverse=True)
    appears = np.zeros(number.size, bool)
    appears[first] = True
    # How many of its query's documents there are down to every cell, and which of them stands there, both from 1.
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
    return Documents(listed, at_rank, place[~in_lists] - 1)


_ID_TIERS = 2  # of the names of documents those that are sure to be ids
_NAMES: Names = {
    "document": (
        *NAMES["document"][:_ID_TIERS],
        "did",
        "id _id",
        *NAMES["document"][_ID_TIERS:],
        "query_id",  # what records have without a header
    ),
    "text": ("title headline name", "text body content contents passage abstract"),
}
#: Longer texts are cut: a page shows a line a document.
_LONGEST = 160


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTitles:
    """A table of documents: a CSV or TSV with a header, JSON objects, a data frame, or a dict of titles by id;
    ``called`` is what its columns for document and text are called, if by no usual name."""

    table: Any
    called: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name in messages: the file, if it has one."""
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
                hint = f"{option('columns', {f'documents.{role}': 'NAME'})} says which it is"
                problem = f"expected a column for {what} ({known}), found {', '.join(names)}"
                raise InputError(f"{self.name}: {problem}", hint)
            found.append(names[place])
        return found

    def of(self, documents: Sequence[Iterable[str]]) -> dict[str, str]:
        """The titles of the documents that are shown; a table that has none of them is refused."""
        shown = dict.fromkeys(chain.from_iterable(documents))
        found = {each: title for each in shown if (title := self._titles.get(each)) is not None}
        if not found:
            there = f"there are {some_of(list(self._titles), 3)}" if self._titles else "it is empty"
            raise InputError(
                f"{self.name}: expected titles of documents such as {some_of(list(shown), 3)}, found none of them",
                f"{there}; are its ids those of the runs?",
            )
        return found
