"""Which conventions reproduce reported numbers, the simplest first: the search over all combinations with few
departures, what they give, and the page that says which of them lead to a figure."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, cached_property, partial
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError, UsageError, for_asker
from gainful.evaluation.explained_page import Explanation
from gainful.evaluation.explanation import judgments_of
from gainful.evaluation.results import aggregated, settled
from gainful.frozen import dataclass
from gainful.io.rows import read_id
from gainful.kernel.arrays import Floats
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import NUMBER, count_of, number_text, printable, read_number, text_of_id
from gainful.pages.page import Column, Table
from gainful.policy import CHOICES, Policy
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.run_questions import ConventionOptions
from gainful.tasks.whydiff.settings import (
    DECIDE_FORMULA,
    DIALECTS,
    Dialect,
    Dimension,
    Formula,
    ListsBySettings,
    RankedLists,
    dialects_for,
    dimensions_for,
    meaning,
    usual_divisor,
)

#: A figure may be off by this, relative to 1 or to itself, beyond what its last digit leaves open.
_NOISE = 1e-9

_PER_CENT = re.compile(r"(.*\S)\s*%")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Figure:
    """A number that somebody reported. Its text says how precise it is: 0.785 is anything that rounds to that.

    >>> Figure.of("theirs", "0.785").holds(0.78463), Figure.of("theirs", "0.7850").holds(0.78463)
    (True, False)
    """

    name: str
    text: str

    @classmethod
    def of(cls, name: str, given: float | str) -> Figure:
        """A figure from its text, or from a number, which is as precise as it prints."""
        what, text = for_asker(f"--{name}", name), str(given).strip()
        # Who writes a per cent or a decimal comma is told how to write it here.
        per_cent = _PER_CENT.fullmatch(text) if isinstance(given, str) else None
        number = per_cent[1] if per_cent else text
        number = number.replace(",", ".") if _WITH_COMMA.fullmatch(number) else number
        if number != text and NUMBER.fullmatch(number):
            wanted = Decimal(number).scaleb(-2 if per_cent else 0)
            raise UsageError(f"{what}: expected a number, found '{text}'", f"write {wanted:f}")
        value = read_number(given, what)
        return cls(name, text if NUMBER.fullmatch(text) else str(value))

    @cached_property
    def value(self) -> float:
        return float(self.text)

    @cached_property
    def _exponent(self) -> int:
        """The power of ten of its last digit."""
        return int(Decimal(self.text).as_tuple().exponent)

    @property
    def places(self) -> int:
        return max(0, -self._exponent)

    @cached_property
    def _room(self) -> float:
        """The distance of what rounds to the figure: half a unit of the last digit, and a little noise."""
        return 0.5 * 10.0**self._exponent + _NOISE * max(1.0, abs(self.value))

    def as_share(self) -> Figure:
        """The figure read as a per cent: 46.4 is 0.464."""
        return Figure(self.name, format(Decimal(self.text).scaleb(-2), "f"))

    def cuts(self, value: float) -> bool:
        """Whether the figure is the first digits of a value, the rest cut off."""
        unit = 10.0**self._exponent
        return math.floor(value / unit + _NOISE) == round(self.value / unit)

    def holds(self, value: float) -> bool:
        return abs(value - self.value) <= self._room

    def is_within(self, bounds: tuple[float, float]) -> bool:
        """Whether a value between two bounds can round to the figure."""
        low, high = bounds
        return low - self._room <= self.value <= high + self._room


@dataclass(frozen=True)
class Way:
    """One way to compute the measure: the value of every dimension, and what the data say of it.

    ``departed`` are the dimensions in which it leaves the start, ``dialects`` the tools and papers that compute it so,
    as far as these data show (``with`` what those who use them choose); ``alike`` has for a dimension the other values
    that would make no difference, ``instead`` other combinations, as simple, that give the same for every query.
    """

    value: float
    settings: Mapping[str, str]
    departed: tuple[str, ...]
    dialects: tuple[str, ...]
    alike: Mapping[str, tuple[str, ...]]
    instead: tuple[Mapping[str, str], ...]

    @property
    def departures(self) -> str:
        """The values in which it leaves the start, as people read them."""
        return ", ".join(f"{name}={self.settings[name]}" for name in self.departed) or "no departure"


@dataclass(frozen=True)
class Explained:
    """A figure and the ways that reproduce it, the simplest first; where there is none, the nearest.

    ``found`` counts all the ways that give different scores and reproduce the figure; some may not be listed.
    ``outside`` are the measure's bounds where the figure lies outside them; ``per_cent`` is how it is read then.
    """

    figure: Figure
    found: int
    ways: tuple[Way, ...]
    outside: tuple[float, float] | None = None
    per_cent: Figure | None = None

    @property
    def reproduced(self) -> bool:
        return self.found > 0

    @property
    def read_as(self) -> Figure:
        """The figure that the ways are compared with."""
        return self.per_cent or self.figure


#: One value, by its place, for every dimension; 0 is where the search starts.
Combination: TypeAlias = tuple[int, ...]

#: Scores whose difference is not larger than this, relative to 1 or to themselves, differ by rounding only.
_ROUNDING = 1e-11

#: What stands for the score of a query that is left out; no formula gives it.
_LEFT_OUT = -math.sqrt(3.0)

#: So many formulas are computed together.
_AT_ONCE = 64


class Outcome(NamedTuple):
    """What a combination gives: the aggregate, and a weighted sum of all queries' scores that is (but for rounding) the
    same for two combinations only if they agree on every query."""

    value: float
    trace: float

    def is_like(self, other: Outcome) -> bool:
        return abs(self.trace - other.trace) <= _ROUNDING * max(1.0, abs(self.trace))


class Cluster(NamedTuple):
    """Combinations that the data cannot tell apart, the simplest first."""

    value: float
    members: tuple[Combination, ...]


def simplicity(combination: Combination) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Sort key of combinations: few departures first, then likely ones, by the order of dimensions and values."""
    departures = tuple((i, place) for i, place in enumerate(combination) if place)
    return len(departures), departures


class Search:
    """Combinations of conventions on one run: what they give, and which of them lead to a figure.

    Each formula on the same lists is computed once, and so is each outcome.
    """

    def __init__(
        self, judgments: Qrels, run: Run, measure: Measure, policy: Policy, threads: int, progress: Progress
    ) -> None:
        needed = measure.needed()
        keeps_scores = "scores" in needed or ("ties" in needed and run.has_scores)
        self._lists = ListsBySettings(judgments, run, policy, keeps_scores=keeps_scores, threads=threads)
        first = self._lists.first
        measure.check(first.judged.levels)
        self.dimensions = dimensions_for(measure, policy, first, run)
        self._dialects = dialects_for(measure, self.dimensions, bool(first.answered.all()))
        self._measure, self._formula = measure, cache(partial(Formula.of, measure, policy.recall_cut))
        self._progress = progress
        self._start: Combination = (0,) * len(self.dimensions)
        self._settled: dict[tuple[RankedLists, Formula], dict[tuple[str, str], Outcome]] = {}
        self._known: dict[Combination, Outcome | None] = {}
        queries = len(first.query_ids)
        self._weights = (0.5 + np.mod(np.arange(1, queries + 1) * math.sqrt(5.0), 1.0)) / queries
        self.tried: Mapping[Combination, Outcome] = {}
        self.clusters: Sequence[Cluster] = ()

    @property
    def start(self) -> float | None:
        outcome = self.tried.get(self._start)
        return None if outcome is None else outcome.value

    def settings(self, combination: Combination) -> dict[str, str]:
        return {d.name: d.values[i] for d, i in zip(self.dimensions, combination, strict=True)}

    def _departed(self, combination: Combination) -> tuple[str, ...]:
        return tuple(d.name for d, place in zip(self.dimensions, combination, strict=True) if place)

    def outcomes(self, wanted: Iterable[Combination]) -> dict[Combination, Outcome]:
        """The outcomes of those combinations that make sense and leave a query to average over."""
        wanted = list(dict.fromkeys(wanted))
        new = [combination for combination in wanted if combination not in self._known]
        self._progress.total += len(new)
        asked: dict[Combination, tuple[tuple[RankedLists, Formula], tuple[str, str]]] = {}
        formulas: dict[RankedLists, dict[Formula, None]] = {}
        for combination in new:
            settings = self.settings(combination)
            lists = self._lists.lists(settings)
            if lists is not None:
                computed = lists, self._formula(*map(settings.get, DECIDE_FORMULA))
                asked[combination] = computed, (settings.get("missing", "zero"), settings.get("undefined", "zero"))
                if computed not in self._settled:
                    formulas.setdefault(lists, {})[computed[1]] = None
            self._progress.advance(1)
        self._progress.total += sum(map(len, formulas.values()))
        for lists, of_lists in formulas.items():
            # A few at a time: as many as fit into memory together, and often enough to say how far it is.
            for first in range(0, len(of_lists), _AT_ONCE):
                chosen = list(of_lists)[first : first + _AT_ONCE]
                for formula, raw in zip(chosen, lists.scores(chosen), strict=True):
                    self._settled[lists, formula] = self._endings(raw)
                self._progress.advance(len(chosen))
        self._known.update(dict.fromkeys(new))
        for combination, (computed, ending) in asked.items():
            outcome = self._settled[computed][ending]
            self._known[combination] = None if math.isnan(outcome.value) else outcome
        return {one: known for one in wanted if (known := self._known[one]) is not None}

    def _endings(self, raw: Floats) -> dict[tuple[str, str], Outcome]:
        """The outcomes of raw scores, for every way to deal with missing and undefined ones."""
        answered, measure = self._lists.first.answered, self._measure
        found: dict[tuple[str, str], Outcome] = {}
        is_missing, is_undefined = not answered.all(), bool(np.isnan(raw[answered]).any())
        for missing, undefined in product(("zero", "skip"), ("zero", "skip", "one")):
            # What does not occur makes no difference.
            same = (missing if is_missing else "zero", undefined if is_undefined else "zero")
            if same not in found:
                values = settled(raw, answered, measure, missing, undefined)
                left_out = np.isnan(values)
                kept = values[~left_out]
                value = aggregated(kept, None, measure) if kept.size else math.nan
                found[same] = Outcome(value, float(np.dot(self._weights, np.where(left_out, _LEFT_OUT, values))))
            found[missing, undefined] = found[same]
        return found

    def try_all(self, departures: int) -> None:
        """Computes every combination with so many departures, and the dialects, however many they have."""
        tried = self.outcomes([*self._near(departures), *(one for each in self._dialects for one in self._used(each))])
        far = [combination for combination in tried if len(self._departed(combination)) > departures]
        self.tried = {**tried, **self._trimmed(far)}
        # Combinations that agree on every query, together.
        groups: list[list[Combination]] = []
        for one in sorted(self.tried, key=lambda combination: self.tried[combination].trace):
            if not groups or not self.tried[groups[-1][-1]].is_like(self.tried[one]):
                groups.append([])
            groups[-1].append(one)
        ordered = [tuple(sorted(members, key=simplicity)) for members in groups]
        self.clusters = [Cluster(self.tried[members[0]].value, members) for members in ordered]

    def _near(self, departures: int) -> Iterator[Combination]:
        """Every combination with at most so many departures, those with fewer first."""
        for count in range(min(departures, len(self.dimensions)) + 1):
            for changed in combinations(range(len(self.dimensions)), count):
                for places in product(*(range(1, len(self.dimensions[i].values)) for i in changed)):
                    at = dict(zip(changed, places, strict=True))
                    yield tuple(at.get(i, 0) for i in range(len(self.dimensions)))

    def _used(self, dialect: Dialect) -> Iterator[Combination]:
        """The ways in which a dialect is used: all that it has itself, and in what it leaves open at most one step."""
        if self._adopted(dialect, self._start) is None:
            return
        own: list[Sequence[int]] = []
        for dimension in self.dimensions:
            allowed = dialect.values.get(dimension.name)
            values = enumerate(dimension.values)
            own.append([0] if allowed is None else [i for i, value in values if value in allowed])
        for combination in product(*own):
            yield combination
            for i, dimension in enumerate(self.dimensions):
                if dialect.leaves_open(dimension.name):
                    yield from _with_others(combination, i, range(1, len(dimension.values)))

    def _adopted(self, dialect: Dialect, combination: Combination) -> Combination | None:
        """The combination with what a dialect has otherwise put right; None where it has what is not searched here."""
        places = list(combination)
        for i, dimension in enumerate(self.dimensions):
            allowed = dialect.values.get(dimension.name)
            if allowed is not None and dimension.values[combination[i]] not in allowed:
                possible = [dimension.values.index(value) for value in allowed if value in dimension.values]
                if not possible:
                    return None
                places[i] = possible[0]
        return tuple(places)

    def _trimmed(self, found: Sequence[Combination]) -> dict[Combination, Outcome]:
        """The same combinations without the departures that make no difference on these data."""
        trimmed: dict[Combination, Outcome] = {}
        while found:
            shorter = {
                one: [other for i, place in enumerate(one) if place for other in _with_others(one, i, (0,))]
                for one in found
            }
            outcomes = self.outcomes([*found, *(other for others in shorter.values() for other in others)])
            same = {
                other: outcomes[other]
                for one, others in shorter.items()
                for other in others
                if other in outcomes and outcomes[one].is_like(outcomes[other])
            }
            found = [one for one in same if one not in trimmed]
            trimmed.update(same)
        return trimmed

    def of_dialects(self) -> list[Way]:
        """What the dialects give, those together that do the same as far as it makes a difference."""
        names: dict[Combination, list[str]] = {}
        for dialect in self._dialects:
            adopted = self._adopted(dialect, self._start)
            if adopted is not None and adopted in self.outcomes([adopted]):
                needed = min(self._trimmed([adopted]), key=simplicity, default=adopted)
                names.setdefault(needed, []).append(dialect.name)
        found = self.outcomes(names)
        return [
            Way(found[one].value, self.settings(one), self._departed(one), tuple(tools), {}, ())
            for one, tools in names.items()
        ]

    def explained(self, figure: Figure, most: int, bounds: tuple[float, float] | None) -> Explained:
        """The ways that reproduce a figure, or else the nearest; what cannot be is read as a per cent."""
        is_reached = any(figure.holds(cluster.value) for cluster in self.clusters)
        if bounds is None or is_reached or figure.is_within(bounds):
            return Explained(figure, *self._ways(figure, most))
        share = figure.as_share()
        if bounds != (0.0, 1.0) or not share.is_within(bounds):
            return Explained(figure, *self._ways(figure, most), bounds)
        return Explained(figure, *self._ways(share, most), bounds, share)

    def _ways(self, figure: Figure, most: int) -> tuple[int, tuple[Way, ...]]:
        """How many ways reproduce a figure, and the simplest of them; where there is none, the nearest."""
        matching = [cluster for cluster in self.clusters if figure.holds(cluster.value)]
        nearest = sorted(self.clusters, key=lambda each: (abs(each.value - figure.value), simplicity(each.members[0])))
        named = self._dialects_of([cluster.members[0] for cluster in matching or nearest[:most]])

        def rank(cluster: Cluster) -> tuple[object, ...]:
            """What a known tool does by itself is one choice, however many departures it has."""
            simplest = cluster.members[0]
            changed = self._departed(simplest)
            choices = (1 + sum(map(dialect.leaves_open, changed)) for dialect in named[simplest])
            return (min([len(changed), *choices]), *simplicity(simplest))

        chosen = sorted(matching, key=rank) if matching else nearest
        return len(matching), tuple(self._way(cluster, named[cluster.members[0]]) for cluster in chosen[:most])

    def _dialects_of(self, combinations: Sequence[Combination]) -> dict[Combination, list[Dialect]]:
        """The dialects that give the same as each combination, unless all that it changes is left to their users."""
        adopted = [
            (one, dialect, other)
            for one, dialect in product(combinations, self._dialects)
            if (other := self._adopted(dialect, one)) is not None
        ]
        outcomes = self.outcomes([*combinations, *(other for *_, other in adopted)])
        found: dict[Combination, list[Dialect]] = {one: [] for one in combinations}
        for one, dialect, other in adopted:
            changed = self._departed(one)
            is_left_open = bool(changed) and all(map(dialect.leaves_open, changed))
            if other in outcomes and outcomes[one].is_like(outcomes[other]) and not is_left_open:
                found[one].append(dialect)
        return found

    def _way(self, cluster: Cluster, dialects: Iterable[Dialect]) -> Way:
        simplest, *others = cluster.members
        settings, changed = self.settings(simplest), self._departed(simplest)
        beside = {
            other: dimension.name
            for i, dimension in enumerate(self.dimensions)
            for other in _with_others(simplest, i, range(len(dimension.values)))
            if other != simplest
        }
        neighbours = self.outcomes([simplest, *beside])
        same: dict[str, tuple[str, ...]] = {}
        for other, name in beside.items():
            if other in neighbours and neighbours[simplest].is_like(neighbours[other]):
                same[name] = (*same.get(name, ()), self.settings(other)[name])
        instead = [
            self.settings(other)
            for other in others
            if len(self._departed(other)) == len(changed) and other not in neighbours
        ]
        names = []
        for dialect in dialects:  # with the changes that it leaves to those who use it
            chosen = [f"{name}={settings[name]}" for name in changed if dialect.leaves_open(name)]
            names.append(f"{dialect.name} with {', '.join(chosen)}" if chosen else dialect.name)
        return Way(cluster.value, settings, changed, tuple(dict.fromkeys(names)), same, tuple(instead))


def _with_others(combination: Combination, i: int, places: Iterable[int]) -> Iterator[Combination]:
    yield from ((*combination[:i], place, *combination[i + 1 :]) for place in places)


@dataclass(frozen=True)
class Findings(Showable):
    """What a search over conventions found: where it started, what it tried, and each figure explained."""

    measure: Measure
    policy: Policy
    query: str | None
    scale: float | None  # the highest grade there can be, where none reaches it
    start: float | None  # what the measure gives where the search starts
    dimensions: tuple[Dimension, ...]
    tried: int  # combinations
    different: int  # of which so many give different scores
    figures: tuple[Explained, ...]

    # A dataclass would otherwise print itself where people want to see the page.
    __str__ = Showable.__str__

    def page(self) -> Page:
        """A table of the ways to each figure, what its words mean, and a conclusion."""
        of_query = "" if self.query is None else f" of query {printable(self.query)}"
        value = "has no value" if self.start is None else f"is {self.start:.6g}"
        parts: list[Table | str] = [
            f"{self.measure}{of_query} {value} where the search starts. {count_of(self.tried, 'combination')} of "
            f"conventions give {count_of(self.different, 'different result')}.",
            self._table(),
        ]
        undecided = self._undecided()
        if undecided:
            counts = {dimension.name: len(dimension.values) for dimension in self.dimensions}
            alike = [name for name, values in undecided.items() if len(values) == counts[name]]
            partly = [f"{name} ({', '.join(values)})" for name, values in undecided.items() if name not in alike]
            wholly = [f"all values of {', '.join(alike)}"] if alike else []
            parts.append(f"The data do not decide between: {'; '.join([*wholly, *partly])}.")
        conclusions = [_conclusion(self, each, undecided) for each in self.figures]
        if len(self.figures) == 2 and self.reproduced:
            one, other = (each.ways[0].settings for each in self.figures)
            listed = ", ".join(f"{name} ({one[name]}, {other[name]})" for name in one if one[name] != other[name])
            same = "They do not differ: the same conventions give both."
            conclusions.append(f"They differ in: {listed}." if listed else same)
        parts.append("\n".join(conclusions))
        start = {dimension.name: dimension.values[0] for dimension in self.dimensions}
        header = {"measure": str(self.measure), "query": self.query, "start": start, "value": self.start}
        return Page("whydiff", tuple(parts), header=header)

    def _table(self) -> Table:
        """A row for each way to a figure; below it what the departures mean."""
        places = min(_MOST_PLACES, max(4, *(each.read_as.places + 2 for each in self.figures)))
        rows = [(each, way) for each in self.figures for way in each.ways]
        columns = (
            Column("figure", get=lambda row: row[0].figure.name),
            Column("reported", get=lambda row: row[0].figure.text + ("" if row[0].per_cent is None else "%")),
            Column("value", "number", places, get=lambda row: row[1].value),
            Column("off by", "number", places, get=lambda row: row[1].value - row[0].read_as.value),
            Column("departures", "count", get=lambda row: len(row[1].departed)),
            Column("conventions", get=lambda row: row[1].departures),
            Column("known as", none="", get=lambda row: ", ".join(row[1].dialects) or None),
        )
        departed = dict.fromkeys((name, way.settings[name]) for _, way in rows for name in way.departed)
        notes = [f"{name}={value}: {meaning(name, value)}" for name, value in departed]
        for each in self.figures:
            if each.found > len(each.ways):
                more = count_of(each.found - len(each.ways), "more way")
                notes.append(f"{each.figure.name}: {more} to {each.figure.text}")
        return Table.of(columns, rows, notes=tuple(notes))

    def _undecided(self) -> dict[str, list[str]]:
        """The values between which no figure can decide, by dimension."""
        ways = [each.ways[0] for each in self.figures]
        found = {}
        for dimension in self.dimensions:
            sets = {frozenset({way.settings[dimension.name], *way.alike.get(dimension.name, ())}) for way in ways}
            if len(sets) == 1 and len(values := sets.pop()) > 1:
                found[dimension.name] = [value for value in dimension.values if value in values]
        return found

    @property
    def reproduced(self) -> bool:
        """Whether every figure is."""
        return all(explained.reproduced for explained in self.figures)


@question(ConventionOptions)
def find_conventions(asked: ConventionOptions) -> Findings:
    """Which conventions turn this run into these figures.

    The search starts from ``measure`` and ``policy`` and tries everything that differs from them in at most
    ``departures`` dimensions, and what the known tools do. ``figures`` are by name; a text such as ``"0.785"`` says by
    its digits how precise it is. One outside the bounds of the measure is tried as a per cent. Figures are aggregates
    over queries, or with ``query`` that query's scores. At most ``most`` ways to a figure are returned, those with the
    fewest departures first (a known tool's conventions count as one, because choosing the tool is one choice), then the
    likely ones; where no way leads to the figure, the nearest.

    >>> judgments = {"q": {"d1": 3, "d2": 2, "d3": 3, "d4": 0, "d5": 1, "d6": 2, "d7": 3, "d8": 2}}
    >>> ranking = {"q": ["d1", "d2", "d3", "d4", "d5", "d6"]}
    >>> found = find_conventions(judgments, ranking, {"mine": "0.961", "theirs": "0.785"}, "nDCG@6")
    >>> [explained.ways[0].settings["ideal"] for explained in found.figures]
    ['retrieved', 'judged']
    """
    figures, query = asked.figures, asked.query
    if not isinstance(figures, Mapping):
        raise UsageError(f"figures: expected numbers by name, found {figures!r}", 'give it a name: {"theirs": "0.785"}')
    if not figures:
        raise UsageError(
            for_asker("expected --mine, --theirs or both, found neither", "figures: expected at least one, found none"),
            for_asker("give a number as it was reported: --theirs 0.785", 'for example {"theirs": "0.785"}'),
        )
    wanted = [Figure.of(name, given) for name, given in figures.items()]
    measure, started, judgments = parse(asked.measure), Policy.of(asked.policy), Qrels.of(asked.qrels)
    identifier = None if query is None else read_id(query, "query")
    chosen = judgments if identifier is None else judgments_of(judgments, identifier)
    search = Search(
        chosen, Run.of(asked.run, policy=started), measure, started, thread_count(asked.threads), current_progress()
    )
    search.try_all(asked.departures)
    if not search.tried:
        raise InputError(f"{judgments.name}: {measure} has no value on these data, whatever the conventions")
    # A sum over queries has other bounds than its terms.
    bounds = measure.bounds if measure.aggregate != "sum" or identifier is not None else None
    return Findings(
        measure,
        started,
        None if identifier is None else text_of_id(identifier),
        judgments.scale if judgments.scale > judgments.levels[-1] else None,
        search.start,
        search.dimensions,
        len(search.tried),
        len(search.clusters),
        tuple(search.explained(figure, asked.most, bounds) for figure in wanted),
    )


def others_tables(
    explanation: Explanation, qrels: Qrels, runs: Mapping[str, Run], policy: Policy, places: int = 4
) -> Iterator[Table]:
    """What the known tools and papers compute for the lists of an explained query, and what they do differently."""
    measure, query = explanation.measure, explanation.query
    if query is None or not any(dialect.computes(measure) for dialect in DIALECTS):
        return
    identifier = read_id(query, "query")
    columns = (
        Column("computed by", get=lambda way: ", ".join(way.dialects)),
        Column(str(measure), "number", places, get=lambda way: way.value),
        Column("what is different", get=lambda way: "; ".join(meaning(n, way.settings[n]) for n in way.departed)),
    )
    note = "as their sources and papers say, as far as it makes a difference for this list"
    for name, run in runs.items():
        alone = judgments_of(qrels, identifier), run.select([identifier])
        search = Search(*alone, measure, policy, threads=1, progress=Progress())
        title = f"{measure} of {name} for {explanation.subject}, as others compute it"
        yield Table.of(columns, search.of_dialects(), title=title, notes=(note,))


#: The most names of tools, combinations that do the same, and decimal places that are shown.
_MOST_NAMES, _MOST_INSTEAD, _MOST_PLACES = 3, 2, 15


def _conclusion(findings: Findings, explained: Explained, undecided: Mapping[str, Sequence[str]]) -> str:
    """How a figure came about, in a sentence or two."""
    figure, first = explained.read_as, explained.ways[0]
    opening = f"{explained.figure.name} {explained.figure.text}"
    if explained.outside is not None:
        low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in explained.outside)
        opening += f" lies outside {low}..{high}"
        if explained.per_cent is not None:
            which = ", which is reproduced" if explained.reproduced else ""
            opening += f"; as a per cent it is {explained.per_cent.text}{which}"
    if not explained.reproduced:
        off = first.value - figure.value
        cut = ", and the figure is its first digits, not rounded" if figure.cuts(first.value) else ""
        text = f"off by {off:+.{min(_MOST_PLACES, figure.places + 2)}f} ({first.departures}){cut}"
        return f"{opening}: not reproduced; the nearest is {text}."
    tools = list(first.dialects)
    if len(tools) > _MOST_NAMES:
        rest = len(tools) - _MOST_NAMES + 1
        tools = [f"{', '.join(tools[: _MOST_NAMES - 1])} and {rest} more"]
    text = f"{opening}: {first.departures}" + (f" (as {', '.join(tools)})." if tools else ".")
    same = [f"{name}={'|'.join(values)}" for name, values in first.alike.items() if name not in undecided]
    for settings in first.instead[:_MOST_INSTEAD]:
        changed = [(name, value) for name, value in settings.items() if first.settings[name] != value]
        same.append(" with ".join(f"{name}={value}" for name, value in changed))
    text += f" The same with {' or '.join(same)}." if same else ""
    # A run with duplicates is refused unless a choice is made, even if it is the one that the search starts from.
    printed = printing(findings, first.settings) if first.departed or "duplicates" in first.settings else None
    text += f" {printed}." if printed else ""
    if len(first.departed) > 1 and not tools:
        text += (
            f" With several departures it may be chance ({explained.found} of {findings.different} results round to "
            f"{figure.text}); more digits would tell."
        )
    return text


def printing(findings: Findings, settings: Mapping[str, str]) -> str | None:
    """Which command prints the value of some settings; None where none offers them."""
    measure, policy = findings.measure, findings.policy
    formula = Formula.of(measure, policy.recall_cut, *map(settings.get, DECIDE_FORMULA))
    if (formula.ideal, formula.divisor) != ("judged", usual_divisor(measure)):
        return None
    try:
        changes = {choice.field: settings[choice.name] for choice in CHOICES if choice.name in settings}
        departures = policy.replace(**changes).differences()
    except UsageError:  # only this search computes it
        return None
    flags = [f"--{name} {value}" for name, value in departures.items() if name != "subtopics"]
    flags += ["--subtopics"] if policy.subtopics else []
    flags += [] if findings.scale is None else [f"--scale {number_text(findings.scale)}"]
    name = shlex.quote(str(formula.measure))
    if findings.query is None:
        return " ".join(["gainful eval prints it with -m", name, *flags])
    query = shlex.quote(printable(findings.query))
    return " ".join(["gainful explain", name, "--qrels QRELS --run RUN --query", query, *flags, "prints it"])
