"""The scores of a run, raw and under its policy; and the signature, a line with all conventions that can be parsed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from gainful._version import __version__
from gainful.data.graded import JoinFacts
from gainful.errors import InputError, UsageError, option
from gainful.frozen import dataclass, field, replace
from gainful.io.sources import Fingerprint
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.exact_sums import effective_number, exact_sum, weighted_mean
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import (
    choose,
    duration_text,
    number_text,
    plural_of,
    printable,
    read_duration,
    read_number,
    text_of_id,
    units,
)
from gainful.pages.page import Conventions
from gainful.policy import Policy
from gainful.render import Framed

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.lists import ItemLists
    from gainful.data.queries import Queries
    from gainful.data.run import RunLike
    from gainful.render.cells import FrameColumn


class Sources(NamedTuple):
    """The sources of an evaluation: the judgments, a way to read the run again (if any), and fingerprints of files."""

    judged: Judged
    run: RunLike | None
    judgments_content: Fingerprint | None = None
    run_content: Fingerprint | None = None


#: Smallest factor of geometric means, as in trec_eval: a single 0 would make the mean 0.
LEAST_FACTOR = 1e-5
_OTHERWISE = "scores them 0, skip leaves them out"
#: The queries of sessions that were cut from a log: their made-up IDs match only if their queries do.
QUERIES = "queries"

_Scored = TypeVar("_Scored", bound="ScoredRun")

#: Further values by name, such as "lowest" and "highest": one per query, NaN where the policy leaves the query out.
Parts: TypeAlias = Mapping[str, Floats]


class Score(NamedTuple):
    """A query's value under the policy. ``value`` is None if the policy leaves the query out; ``status`` is
    ``"missing"`` or ``"undefined"`` if the policy decided the value, else None."""

    query: str
    value: float | None
    status: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ScoredRun(Framed):
    """The scores of one run, queries x measures; :class:`gainful.Evaluation` adds display and explanations."""

    run: str
    source: str  # the run's file or description
    query_ids: tuple[bytes, ...]
    measures: tuple[Measure, ...]
    raw: Floats  # measures x queries
    answered: Bools
    policy: Policy
    scale: float
    facts: JoinFacts
    sources: Sources | None = None  # dropped by pickling and merging
    judged_by: str | None = None  # sessions only: the key of judgments; ``query_ids`` are then session IDs
    about: Queries | None = None  # query attributes and weights
    of_queries: int | None = None  # number of judged queries, if these are a selection
    factors: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)  # sessions only: topics and users
    lists: ItemLists | None = None  # the lists' items, if measures need them
    session_gap: float | None = None  # sessions only: idle seconds that ended sessions of a log
    ties: Callable[[], Floats | None] | None = None  # computes ``tied``; dropped by pickling
    besides: Mapping[str, Mapping[str, Parts]] = field(default_factory=dict)  # further values by kind and measure

    def __post_init__(self) -> None:
        self.raw.setflags(write=False)
        extra, turns, unanswered = (
            [text_of_id(identifier) for identifier in identifiers]
            for identifiers in (self.facts.extra_ids, self.facts.extra_turns, self.facts.unanswered_turns)
        )
        if self.policy.extra == "error":
            self._forbid("extra", extra, self.unit, after=" without judgments")
            self._forbid("extra", turns, "query", after=" without judgments")
        if self.policy.missing == "error":
            self._forbid("missing", self.missing, self.unit, after=f" {self.unanswered}")
            self._forbid("missing", unanswered, "query", after=" judged but not answered")
        if self.policy.undefined == "error":
            for measure in self.measures:
                self._forbid("undefined", self.undefined(measure), self.unit, f"{measure} is undefined for ")

    def __repr__(self) -> str:
        means = ", ".join(
            f"{measure}: {self.aggregate(measure):.{0 if measure.aggregate == 'sum' else 4}f}"
            for measure in self.measures
        )
        return f"<Evaluation of {printable(self.run)}, {units(len(self.query_ids), self.unit)}: {means}>"

    @property
    def unit(self) -> str:
        """The unit that is scored: query or session."""
        return "query" if self.judged_by is None else "session"

    @cached_property
    def sha256(self) -> dict[str, str | None]:
        """The SHA-256 hashes of the judgments and run files, as from `sha256sum`; None without a file, or if it changed
        since."""
        return {which: self.sha256_of(which) for which in ("judgments", "run")}

    def sha256_of(self, which: Literal["judgments", "run"]) -> str | None:
        """Return one of the hashes; several runs share the judgments' hash."""
        content = None if self.sources is None else getattr(self.sources, f"{which}_content")
        return None if content is None else content.sha256()

    @cached_property
    def queries(self) -> list[str]:
        """The judged queries (or sessions) in byte order."""
        return [text_of_id(identifier) for identifier in self.query_ids]

    @cached_property
    def _position(self) -> dict[Measure, int]:
        return {measure: i for i, measure in enumerate(self.measures)}

    def mean(self, measure: str | Measure) -> float:
        """Return the arithmetic mean over queries under the policy; NaN if no query is left. Measures of all lists
        together have a single value."""
        measure = self._measure(measure)
        return self.aggregate(measure) if measure.aggregate == "whole" else _mean(*self.counted(measure))

    def count(self, measure: str | Measure) -> int:
        """Return the number of queries in the mean, without those that the policy leaves out."""
        return int(self.counted(measure)[0].size)

    def aggregate(self, measure: str | Measure) -> float:
        """Return the value printed in tables: the mean over queries, the sum of counts, a geometric mean, or the single
        value of a measure of all lists together."""
        measure = self._measure(measure)
        if measure.aggregate == "whole":
            return math.nan if self.lists is None else measure.whole(self.lists)
        return aggregated(*self.counted(measure), measure)

    __getitem__ = aggregate

    def by_query(self, measure: str | Measure) -> dict[str, float | None]:
        """Return each query's value; None if the policy leaves it out of the mean."""
        values = self.settled_scores(self._measure(measure)).tolist()
        return {query: None if math.isnan(value) else value for query, value in zip(self.queries, values, strict=True)}

    def scores(self, measure: str | Measure) -> Iterator[Score]:
        """Yield each query's value with the policy's effect, in byte order of the queries."""
        measure = self._measure(measure)
        for query, value, answered, bad in zip(
            self.queries,
            self.settled_scores(measure).tolist(),
            self.answered.tolist(),
            self._is_undefined(measure).tolist(),
            strict=True,
        ):
            status = "missing" if not answered else "undefined" if bad else None
            yield Score(query, None if math.isnan(value) else value, status)

    def beside(self, kind: str, measure: str | Measure) -> dict[str, float]:
        """Return further values of the aggregate, such as ``beside("bounds", "nDCG@10")["lowest"]``.

        ``evaluate`` computes them on request: ``evaluate(qrels, run, bounds=True)``. A measure without any has ``{}``.
        """
        measure, kind = self._measure(measure), choose(kind, ("bounds", "chance", "loss"), "beside")
        parts = self.besides.get(kind, {}).get(str(measure), {})
        return {name: aggregated(*self._weighted(values), measure) for name, values in parts.items()}

    def beside_margins(self, kind: str, measure: str | Measure) -> dict[str, float]:
        """Return half the widths of the 95% CIs of these means, by Student's t over queries; NaN for a single query."""
        parts = self.besides.get(kind, {}).get(str(self._measure(measure)), {})
        return {name: _margin(*self._weighted(values)) for name, values in parts.items()}

    def beside_by_query(self, kind: str, measure: str | Measure) -> dict[str, dict[str, float | None]]:
        """Return further values of each query; None if the policy leaves it out of the mean."""
        parts = self.besides.get(kind, {}).get(str(self._measure(measure)), {})
        rows = zip(*(values.tolist() for values in parts.values()), strict=True)
        of_queries = ({n: None if math.isnan(v) else v for n, v in zip(parts, row, strict=True)} for row in rows)
        return dict(zip(self.queries, of_queries, strict=False))

    def signature(self, measure: str | Measure | None = None) -> Signature:
        """Return the signature: one line with all conventions behind these numbers."""
        chosen = None
        if self.of_queries is not None:
            from hashlib import sha256  # loaded late: few evaluations are of some queries only

            chosen = sha256(b"\n".join(sorted(self.query_ids))).hexdigest()[:8]
        return Signature(
            None if measure is None else self._measure(measure),
            self.policy,
            self.scale,
            len(self.query_ids),
            judged_by=self.judged_by,
            excluded=self.facts.exclusions or None,
            weights=None if self.about is None else self.about.weights,
            of_queries=self.of_queries,
            chosen=chosen,
            items=None if self.lists is None else self.lists.catalogue,
            training=None if self.lists is None else self.lists.training,
            intents=self.facts.intents or None,
            session_gap=self.session_gap,
        )

    def chosen(self, about: Queries) -> Self:
        """Return the evaluation of the selected queries, with their attributes and weights."""
        about.check(self.queries)
        kept = about.kept(self.queries)
        facts = replace(self.facts, notes=(*self.facts.notes, *about.passed_over(self.queries)))
        if kept is None:
            return replace(self, about=about, facts=facts)
        some = self.at(np.flatnonzero(kept).tolist())
        return replace(some, about=about, facts=facts, of_queries=len(self.query_ids))

    def at(self, places: Sequence[int]) -> Self:
        """Return the evaluation of the queries at some positions."""
        return replace(
            self,
            query_ids=tuple(self.query_ids[place] for place in places),
            raw=self.raw[:, places],
            ties=None if self.ties is None else lambda: None if self.tied is None else self.tied[:, :, places],
            besides={
                kind: {of: {name: each[places] for name, each in parts.items()} for of, parts in measures.items()}
                for kind, measures in self.besides.items()
            },
            answered=self.answered[places],
            lists=None if self.lists is None else self.lists.at(places),
        )

    @cached_property
    def tied(self) -> Floats | None:
        """Raw scores with the worst and with the best order of equal scores; None if ties cannot change a score."""
        return None if self.ties is None else self.ties()

    @cached_property
    def weights(self) -> Floats | None:
        """The weight of each query, 1 on average; None if all are equal."""
        return None if self.about is None else self.about.weights_of(self.queries)

    @property
    def effective(self) -> float:
        """The effective number of queries: how many of equal weight carry the same information."""
        return len(self.query_ids) if self.weights is None else effective_number(self.weights)

    @property
    def unanswered(self) -> str:
        """The word for missing queries or sessions in messages."""
        return "not answered" if self.judged_by is None else "not among the sessions"

    @property
    def missing(self) -> list[str]:
        """Judged queries that the run does not answer."""
        return self._named(~self.answered)

    def undefined(self, measure: str | Measure) -> list[str]:
        """Answered queries for which the measure's formula divides by 0."""
        return self._named(self._is_undefined(self._measure(measure)))

    def _is_undefined(self, measure: Measure) -> Bools:
        found: Bools = np.isnan(self.raw[self._position[measure]]) & self.answered
        return found & (measure.aggregate != "whole")

    def _named(self, wanted: Bools) -> list[str]:
        """Return the names of some queries; few are wanted of possibly millions."""
        return [text_of_id(self.query_ids[i]) for i in np.flatnonzero(wanted).tolist()]

    def __getstate__(self) -> dict[str, object]:
        # Pickles contain scores only, without judgments and run.
        return {name: value for name, value in self.__dict__.items() if name != "tied"} | {
            "sources": None,
            "ties": None,
        }

    def merge(self, *others: Self) -> Self:
        """Merge with evaluations of other queries, such as the partitions of a larger job."""
        return reduce(_merge_two, others, self)

    def frame_columns(self, table: str | None = None) -> dict[str, FrameColumn]:
        """Return one row per query: run, query, and a column per measure; counts are integers."""
        from gainful.render.cells import FrameColumn, readable

        if table is not None:
            raise UsageError(f"table: an evaluation has only one table, not '{printable(table)}'")
        queries = [readable(query) for query in self.queries]
        columns = {"run": FrameColumn(str, [readable(self.run)] * len(queries)), self.unit: FrameColumn(str, queries)}
        if self.weights is not None:
            columns["weight"] = FrameColumn(float, self.weights.tolist())
        for measure in self.measures:
            values = list(self.by_query(measure).values())
            is_whole = measure.aggregate == "sum" and all(value is None or value.is_integer() for value in values)
            whole = [None if value is None else int(value) for value in values] if is_whole else values
            columns[str(measure)] = FrameColumn(int if is_whole else float, whole)
            for parts in (of_measures.get(str(measure), {}) for of_measures in self.besides.values()):
                columns |= {f"{measure} {name}": FrameColumn(float, each.tolist()) for name, each in parts.items()}
        return columns

    def _measure(self, measure: str | Measure) -> Measure:
        # These may be user-defined measures that no catalogue has.
        known = next((each for each in self.measures if measure in (each, str(each))), None)
        found = known or (measure if isinstance(measure, Measure) else parse(measure))
        if found not in self._position:
            raise UsageError(f"{found} was not evaluated; evaluated: {', '.join(map(str, self.measures))}")
        return found

    def counted(self, measure: str | Measure) -> tuple[Floats, Floats | None]:
        """Return the values that count, and their weights."""
        return self._weighted(self.settled_scores(self._measure(measure)))

    def _weighted(self, values: Floats) -> tuple[Floats, Floats | None]:
        counts = ~np.isnan(values)
        if counts.all():
            return values, self.weights
        return values[counts], None if self.weights is None else self.weights[counts]

    def settled_scores(self, measure: Measure) -> Floats:
        """Return values under the policy, NaN if the query is left out."""
        return self.settled(measure, self.raw[self._position[measure]])

    def settled(self, measure: Measure, raw: Floats) -> Floats:
        """Return the values of other raw scores under the policy."""
        return settled(raw, self.answered, measure, self.policy.missing, self.policy.undefined)

    def _forbid(self, choice: str, queries: Sequence[str], unit: str, before: str = "", after: str = "") -> None:
        if queries:
            shown = ", ".join(f"'{printable(query)}'" for query in queries[:5]) + (", ..." if len(queries) > 5 else "")
            what = f"{before}{units(len(queries), unit)} ({shown}){after}"
            value, does = ("ignore", "ignores them") if choice == "extra" else ("zero", _OTHERWISE)
            hint = f"{option(choice, value)} {does}"
            raise InputError(f"{self.source}: {what}, and {choice}=error forbids it", hint)


def settled(raw: Floats, answered: Bools, measure: Measure, missing: str, undefined: str) -> Floats:
    """Return values under the policy, NaN for queries left out. ``undefined`` may also be "one", as in other tools."""
    is_undefined = np.isnan(raw)
    if answered.all() and not is_undefined.any():
        return raw
    worst = np.nan if measure.worst is None else measure.worst
    values = np.where(is_undefined, {"zero": worst, "one": 1.0}.get(undefined, np.nan), raw)
    if missing == "skip":
        return np.where(answered, values, np.nan)
    # Unanswered queries get the worst score; counts, and measures with no
    # worst score, get their empty-list value.
    unanswered = raw if measure.better == "neither" or measure.bounds[0] < 0 else worst
    return np.where(answered, values, np.where(is_undefined, worst, unanswered))


def aggregated(values: Floats, weights: Floats | None, measure: Measure) -> float:
    """Aggregate scores; without scores a sum (which has no weights) is 0, everything else NaN."""
    if measure.aggregate == "sum":
        return exact_sum(values)
    if measure.aggregate == "geometric":
        return math.exp(_mean(np.log(np.maximum(values, LEAST_FACTOR)), weights))
    return _mean(values, weights)


def _mean(values: Floats, weights: Floats | None) -> float:
    if not values.size:
        return math.nan
    return exact_sum(values) / values.size if weights is None else weighted_mean(values, weights)


#: The normal quantile, and by how much Student's exceeds it: a series in 1/df (Abramowitz and Stegun 26.7.5), with all
#: digits for a df of at least ``_MANY``.
_NORMAL, _SERIES, _MANY = 1.959963984540054, (2.372271230298562, 2.8224986157396, 2.5558496795077, 1.589534053394), 999


def _margin(values: Floats, weights: Floats | None) -> float:
    df = (values.size if weights is None else effective_number(weights)) - 1
    if df <= 0:
        return math.nan
    if df < _MANY:
        from scipy.special import stdtrit

        quantile = float(stdtrit(df, 0.975))
    else:  # the same digits, without the time that loading SciPy takes
        quantile = math.fsum([_NORMAL, *(each / df**power for power, each in enumerate(_SERIES, 1))])
    return quantile * math.sqrt(_mean((values - _mean(values, weights)) ** 2, weights) / df)


def factors_together(
    parts: Sequence[tuple[int, Mapping[str, tuple[str | None, ...]]]], order: Sequence[int] | slice
) -> dict[str, tuple[str | None, ...]]:
    """Concatenate the factors of parts, given with their numbers of sessions, in an order."""
    names = dict.fromkeys(name for _, factors in parts for name in factors)
    whole = {name: [*chain(*(of.get(name) or (None,) * size for size, of in parts))] for name in names}
    return {name: tuple(np.fromiter(values, object)[order].tolist()) for name, values in whole.items()}


def _merge_two(one: _Scored, other: _Scored) -> _Scored:
    for what in ("measures", "policy", "scale", "judged_by", "session_gap", "about"):
        if getattr(one, what) != getattr(other, what):
            raise UsageError(f"merge: different {what}: {getattr(one, what)} and {getattr(other, what)}")
    kinds = [", ".join(each.besides) or "none" for each in (one, other)]
    if one.besides.keys() != other.besides.keys():
        raise UsageError(f"merge: different further values: {kinds[0]} and {kinds[1]}")
    whole = next((measure for measure in one.measures if measure.aggregate == "whole"), None)
    if whole is not None:
        raise UsageError(f"merge: {whole} is a measure of all lists together")
    shared = set(one.query_ids).intersection(other.query_ids)
    if shared:
        raise UsageError(f"merge: {plural_of(one.unit)} must be disjoint, but '{text_of_id(min(shared))}' is in both")
    query_ids = one.query_ids + other.query_ids
    order = sorted(range(len(query_ids)), key=query_ids.__getitem__)

    def tied() -> Floats | None:
        ends = [np.stack([each.raw] * 2) if each.tied is None else each.tied for each in (one, other)]
        return None if one.tied is other.tied is None else np.concatenate(ends, axis=2)[:, :, order]

    return replace(
        one,
        query_ids=tuple(query_ids[i] for i in order),
        raw=np.concatenate((one.raw, other.raw), axis=1)[:, order],
        ties=None if one.ties is other.ties is None else tied,
        answered=np.concatenate((one.answered, other.answered))[order],
        facts=one.facts.merge(other.facts, set(query_ids)),
        besides={
            kind: {
                of: {
                    # A part that one of them lacks is 0.
                    name: np.concatenate([each.get(name, 0.0 * next(iter(each.values()))) for each in both])[order]
                    for name in dict.fromkeys(chain(*both))
                }
                for of, parts in measures.items()
                if (both := (parts, other.besides[kind].get(of, {})))[1]
            }
            for kind, measures in one.besides.items()
        },
        sources=None,
        lists=None,
        factors=factors_together([(len(each.query_ids), each.factors) for each in (one, other)], order),
    )


def chosen_measures(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    """Return the names of the requested measures as the files have them, matched literally or as canonical names."""
    chosen = []
    for text in wanted:
        names = [text]
        with suppress(UsageError):
            names.append(str(parse(text)))
        found = next((name for name in names if name in there), None)
        if found is None:
            raise UsageError(f"scores: no measure '{text}'", f"measures are {', '.join(there)}")
        chosen.append(found)
    return list(dict.fromkeys(chosen))


_SHORT, _DEFAULT = "conventions:", "all default"
#: Signature facts that are whole numbers.
_NUMBERS = frozenset({"queries", "sessions", "excluded", "items", "training", "intents", "of"})


@dataclass(frozen=True)
class Signature:
    """A measure with all its parameters, every policy, and the facts: scale, number of queries, version.

    >>> line = str(Signature(parse("P@5"), Policy(missing="skip"), scale=2.0, queries=50))
    >>> line.split("|")[0], line.split("|")[-3:]
    ('P@5', ['scale:2', 'queries:50', 'gainful:1.0.0rc1'])
    >>> Signature.parse(line).policy.missing
    'skip'
    """

    measure: Measure | None
    policy: Policy
    scale: float
    queries: int
    version: str = __version__
    judged_by: str | None = None  # sessions only; ``queries`` then counts sessions
    excluded: int | None = None  # excluded (query, document) pairs
    weights: str | None = None  # the column of query weights
    of_queries: int | None = None  # number of judged queries before selection
    chosen: str | None = None  # a hash of the selected IDs
    items: int | None = None  # catalogue size; like ``training``, only if measures use it
    training: int | None = None
    intents: int | None = None  # number of sub-topics with a probability
    session_gap: float | None = None  # idle seconds that ended sessions of a log

    def __str__(self) -> str:
        measure = [self.measure.full_text()] if self.measure else []
        return "|".join([*measure, *_pairs({**self.policy.texts(), **self._gap, **self._facts()})])

    def short(self) -> str:
        """Return the conventions that differ from the defaults, and the facts.

        >>> Signature(None, Policy(), scale=3, queries=50).short()
        'conventions: all default | scale:3 | queries:50 | gainful:1.0.0rc1'
        """
        measure = [str(self.measure)] if self.measure else []
        return " | ".join([*measure, short_conventions(self.policy.differences() | self._gap, self._facts())])

    def note(self, before: str = "") -> Conventions:
        """Return the note of a page, in short and in full."""
        return Conventions(before + self.short(), before + str(self))

    @property
    def _gap(self) -> dict[str, str]:
        return {} if self.session_gap is None else {"session-gap": duration_text(self.session_gap)}

    def _facts(self) -> dict[str, str]:
        facts = {
            "scale": number_text(self.scale),
            "judged-by": self.judged_by,
            "excluded": self.excluded,
            "items": self.items,
            "training": self.training,
            "intents": self.intents,
            "queries" if self.judged_by is None else "sessions": self.queries,
            "of": self.of_queries,
            "chosen": self.chosen,
            "weights": None if self.weights is None else self.weights.replace("%", "%25").replace("|", "%7C"),
            "gainful": self.version,
        }
        return {name: str(value) for name, value in facts.items() if value is not None}

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Parse a signature line, full or short; parts may be in any order after the measure."""
        parts = [part.strip() for part in line.split("|")]
        measure = None if ":" in parts[0].split("(")[0] else parse(parts.pop(0))
        if parts and parts[0].startswith(_SHORT):
            changed = parts.pop(0).removeprefix(_SHORT).strip()
            parts += [] if changed == _DEFAULT else re.split(r",\s+", changed)
        texts: dict[str, str] = {}
        for part in parts:
            name, colon, text = part.partition(":")
            if not colon or name in texts:
                raise UsageError(f"signature: expected name:value once each, found '{part}'")
            texts[name] = text
        counted = "sessions" if "judged-by" in texts else "queries"
        for name in ("scale", counted, "gainful"):
            if name not in texts:
                raise UsageError(f"signature: {name}: is missing")
        facts: dict[str, Any] = {}
        for name in _NUMBERS & texts.keys():
            text = texts.pop(name)
            if not text.isdecimal():
                what = f"of {name}" if name == counted else f"as {name}"
                raise UsageError(f"signature: expected a whole number {what}, found '{text}'")
            facts[{"sessions": "queries", "of": "of_queries"}.get(name, name)] = int(text)
        for name in {"judged-by", "chosen", "gainful", "weights"} & texts.keys():
            text = texts.pop(name).replace("%7C", "|").replace("%25", "%")
            facts[{"judged-by": "judged_by", "gainful": "version"}.get(name, name)] = text
        if "session-gap" in texts:
            facts["session_gap"] = read_duration(texts.pop("session-gap"), "signature: session-gap")
        scale = read_number(texts.pop("scale"), "signature: scale")
        return cls(measure, Policy.from_texts(texts), scale, **facts)


def short_conventions(changed: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """Write the conventions that differ from the defaults, then facts.

    >>> short_conventions({"depth": "10", "missing": "skip"}, {"scale": "3"})
    'conventions: depth:10, missing:skip | scale:3'
    """
    return " | ".join([f"{_SHORT} {', '.join(_pairs(changed)) or _DEFAULT}", *_pairs(facts)])


def _pairs(texts: Mapping[str, str]) -> list[str]:
    return [f"{name}:{text}" for name, text in texts.items()]
