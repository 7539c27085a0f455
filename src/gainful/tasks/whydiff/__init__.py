"""Search for the conventions that reproduce reported numbers, simplest first, and the page that shows them."""

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

from gainful.data.graded import GradedRun
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
    dialects_for,
    dimensions_for,
    formula_scores,
    meaning,
    usual_divisor,
)

#: Numerical tolerance for a reported number, relative to max(1, value), in addition to its rounding.
_NOISE = 1e-9

_PERCENTAGE = re.compile(r"(.*\S)\s*%")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Figure:
    """A reported number. The digits of its text give its precision: 0.785 is any value that rounds to 0.785.

    >>> Figure.of("theirs", "0.785").holds(0.78463), Figure.of("theirs", "0.7850").holds(0.78463)
    (True, False)
    """

    name: str
    text: str

    @classmethod
    def of(cls, name: str, given: float | str) -> Figure:
        """Read a figure from its text, or from a number, which has the precision of its repr."""
        what, text = for_asker(f"--{name}", name), str(given).strip()
        # Percentages and decimal commas are refused with a hint that shows the right spelling.
        percentage = _PERCENTAGE.fullmatch(text) if isinstance(given, str) else None
        number = percentage[1] if percentage else text
        number = number.replace(",", ".") if _WITH_COMMA.fullmatch(number) else number
        if number != text and NUMBER.fullmatch(number):
            wanted = Decimal(number).scaleb(-2 if percentage else 0)
            raise UsageError(f"{what}: expected a number, found '{text}'", f"write {wanted:f}")
        value = read_number(given, what)
        return cls(name, text if NUMBER.fullmatch(text) else str(value))

    @cached_property
    def value(self) -> float:
        return float(self.text)

    @cached_property
    def _exponent(self) -> int:
        return int(Decimal(self.text).as_tuple().exponent)

    @property
    def places(self) -> int:
        return max(0, -self._exponent)

    @cached_property
    def _room(self) -> float:
        """The tolerance: half a unit of the last digit, plus numerical noise."""
        return 0.5 * 10.0**self._exponent + _NOISE * max(1.0, abs(self.value))

    def cuts(self, value: float) -> bool:
        """Whether the figure is a value truncated instead of rounded."""
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
    """One way to compute the measure: the value of each dimension, and known tools and papers that use it.

    ``departed`` are the dimensions changed from the start, ``dialects`` the tools and papers that give the same on
    these data (``with`` the choices that they leave to their users), ``alike`` the values that change nothing, by
    dimension, and ``instead`` other equally simple combinations with the same score for every query.
    """

    value: float
    settings: Mapping[str, str]
    departed: tuple[str, ...]
    dialects: tuple[str, ...]
    alike: Mapping[str, tuple[str, ...]]
    instead: tuple[Mapping[str, str], ...]

    @property
    def departures(self) -> str:
        return ", ".join(f"{name}={self.settings[name]}" for name in self.departed) or "none"


@dataclass(frozen=True)
class Explained:
    """A figure and the ways that reproduce it, simplest first; if there are none, the nearest.

    ``found`` counts all ways with different scores that reproduce the figure, including those not listed. ``outside``
    are the measure's bounds if the figure lies outside them; ``per_cent`` is then the figure read as a percentage.
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
        return self.per_cent or self.figure


#: The index of one value per dimension; 0 is the start.
Combination: TypeAlias = tuple[int, ...]

#: Scores whose difference is at most this, relative to max(1, score), differ by rounding only.
_ROUNDING = 1e-11

#: Replaces the score of an omitted query; no formula gives it.
_LEFT_OUT = -math.sqrt(3.0)

#: Number of formulas computed together.
_AT_ONCE = 64


class Outcome(NamedTuple):
    """The aggregate of a combination, and a weighted sum of its per-query scores, equal (except for rounding) for two
    combinations only if all scores are equal."""

    value: float
    trace: float

    def is_like(self, other: Outcome) -> bool:
        return abs(self.trace - other.trace) <= _ROUNDING * max(1.0, abs(self.trace))


class Cluster(NamedTuple):
    """Combinations with equal scores on these data, simplest first."""

    value: float
    members: tuple[Combination, ...]


def simplicity(combination: Combination) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return a sort key: fewest departures first, then the most likely, by the order of dimensions and values."""
    departures = tuple((i, place) for i, place in enumerate(combination) if place)
    return len(departures), departures


class Search:
    """Combinations of conventions for one run: their outcomes, and those that reproduce a figure.

    Each formula on the same lists, and each outcome, is computed once.
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
        self._settled: dict[tuple[GradedRun, Formula], dict[tuple[str, str], Outcome]] = {}
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
        """Return the outcomes of combinations that are consistent and leave at least one query."""
        wanted = list(dict.fromkeys(wanted))
        new = [combination for combination in wanted if combination not in self._known]
        self._progress.total += len(new)
        asked: dict[Combination, tuple[tuple[GradedRun, Formula], tuple[str, str]]] = {}
        formulas: dict[GradedRun, dict[Formula, None]] = {}
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
            # In batches, to limit memory and to update the progress.
            for first in range(0, len(of_lists), _AT_ONCE):
                chosen = list(of_lists)[first : first + _AT_ONCE]
                for formula, raw in formula_scores(lists, chosen).items():
                    self._settled[lists, formula] = self._endings(raw)
                self._progress.advance(len(chosen))
        self._known.update(dict.fromkeys(new))
        for combination, (computed, ending) in asked.items():
            outcome = self._settled[computed][ending]
            self._known[combination] = None if math.isnan(outcome.value) else outcome
        return {one: known for one in wanted if (known := self._known[one]) is not None}

    def _endings(self, raw: Floats) -> dict[tuple[str, str], Outcome]:
        """Return the outcomes of raw scores for every treatment of missing and undefined scores."""
        answered, measure = self._lists.first.answered, self._measure
        found: dict[tuple[str, str], Outcome] = {}
        is_missing, is_undefined = not answered.all(), bool(np.isnan(raw[answered]).any())
        for missing, undefined in product(("zero", "skip"), ("zero", "skip", "one")):
            # Share the result if there are no missing or undefined scores.
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
        """Compute every combination with at most this many departures, and all dialects."""
        tried = self.outcomes([*self._near(departures), *(one for each in self._dialects for one in self._used(each))])
        far = [combination for combination in tried if len(self._departed(combination)) > departures]
        self.tried = {**tried, **self._trimmed(far)}
        # Group combinations that agree on every query.
        groups: list[list[Combination]] = []
        for one in sorted(self.tried, key=lambda combination: self.tried[combination].trace):
            if not groups or not self.tried[groups[-1][-1]].is_like(self.tried[one]):
                groups.append([])
            groups[-1].append(one)
        ordered = [tuple(sorted(members, key=simplicity)) for members in groups]
        self.clusters = [Cluster(self.tried[members[0]].value, members) for members in ordered]

    def _near(self, departures: int) -> Iterator[Combination]:
        for count in range(min(departures, len(self.dimensions)) + 1):
            for changed in combinations(range(len(self.dimensions)), count):
                for places in product(*(range(1, len(self.dimensions[i].values)) for i in changed)):
                    at = dict(zip(changed, places, strict=True))
                    yield tuple(at.get(i, 0) for i in range(len(self.dimensions)))

    def _used(self, dialect: Dialect) -> Iterator[Combination]:
        """Yield a dialect's own settings, each also with one change in a dimension that it leaves open."""
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
        """Return the combination with a dialect's settings; None if one of them is not among the values searched."""
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
        """Return the combinations without the departures that change nothing on these data."""
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
        """Return one way per distinct result of the dialects, with all dialects that give it."""
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
        """Explain a figure; one outside the bounds is read as a percentage."""
        is_reached = any(figure.holds(cluster.value) for cluster in self.clusters)
        if bounds is None or is_reached or figure.is_within(bounds):
            return Explained(figure, *self._ways(figure, most))
        share = Figure(figure.name, format(Decimal(figure.text).scaleb(-2), "f"))  # 46.4 is 0.464
        if bounds != (0.0, 1.0) or not share.is_within(bounds):
            return Explained(figure, *self._ways(figure, most), bounds)
        return Explained(figure, *self._ways(share, most), bounds, share)

    def _ways(self, figure: Figure, most: int) -> tuple[int, tuple[Way, ...]]:
        """Return the number of ways that reproduce a figure, and the simplest; if there are none, the nearest."""
        matching = [cluster for cluster in self.clusters if figure.holds(cluster.value)]
        nearest = sorted(self.clusters, key=lambda each: (abs(each.value - figure.value), simplicity(each.members[0])))
        named = self._dialects_of([cluster.members[0] for cluster in matching or nearest[:most]])

        def rank(cluster: Cluster) -> tuple[object, ...]:
            """Return a sort key that counts a known tool's settings as one choice."""
            simplest = cluster.members[0]
            changed = self._departed(simplest)
            choices = (1 + sum(map(dialect.leaves_open, changed)) for dialect in named[simplest])
            return (min([len(changed), *choices]), *simplicity(simplest))

        chosen = sorted(matching, key=rank) if matching else nearest
        return len(matching), tuple(self._way(cluster, named[cluster.members[0]]) for cluster in chosen[:most])

    def _dialects_of(self, combinations: Sequence[Combination]) -> dict[Combination, list[Dialect]]:
        """Return the dialects that give the same as each combination, unless it only changes what they leave open."""
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
        single_changes = {
            other: dimension.name
            for i, dimension in enumerate(self.dimensions)
            for other in _with_others(simplest, i, range(len(dimension.values)))
            if other != simplest
        }
        neighbours = self.outcomes([simplest, *single_changes])
        same: dict[str, tuple[str, ...]] = {}
        for other, name in single_changes.items():
            if other in neighbours and neighbours[simplest].is_like(neighbours[other]):
                same[name] = (*same.get(name, ()), self.settings(other)[name])
        alike = [each for each in others if len(self._departed(each)) == len(changed) and each not in neighbours]
        names = []
        for dialect in dialects:  # with the user's choices
            chosen = [f"{name}={settings[name]}" for name in changed if dialect.leaves_open(name)]
            names.append(f"{dialect.name} with {', '.join(chosen)}" if chosen else dialect.name)
        instead = tuple(map(self.settings, alike))
        return Way(cluster.value, settings, changed, tuple(dict.fromkeys(names)), same, instead)


def _with_others(combination: Combination, i: int, places: Iterable[int]) -> Iterator[Combination]:
    yield from ((*combination[:i], place, *combination[i + 1 :]) for place in places)


@dataclass(frozen=True)
class Findings(Showable):
    """Result of a search over conventions: its start, the combinations tried, and the explanation of each figure."""

    measure: Measure
    policy: Policy
    query: str | None
    scale: float | None  # the highest possible grade, if no judgment has it
    start: float | None  # the measure's value at the start
    dimensions: tuple[Dimension, ...]
    tried: int  # combinations
    different: int  # number of different results
    figures: tuple[Explained, ...]

    # Otherwise dataclass would define __str__.
    __str__ = Showable.__str__

    def page(self) -> Page:
        """Return the table of ways, the meaning of its terms, and the conclusions."""
        of_query = "" if self.query is None else f" of query {printable(self.query)}"
        value = "has no value" if self.start is None else f"is {self.start:.6g}"
        parts: list[Table | str] = [
            f"{self.measure}{of_query} {value} at the start. {count_of(self.tried, 'combination')} of "
            f"conventions give {count_of(self.different, 'different result')}.",
            self._table(),
        ]
        undecided: dict[str, list[str]] = {}  # values that the data do not distinguish, by dimension
        ways = [each.ways[0] for each in self.figures]
        for dimension in self.dimensions:
            sets = {frozenset({way.settings[dimension.name], *way.alike.get(dimension.name, ())}) for way in ways}
            if len(sets) == 1 and len(alike_values := sets.pop()) > 1:
                undecided[dimension.name] = [value for value in dimension.values if value in alike_values]
        if undecided:
            counts = {dimension.name: len(dimension.values) for dimension in self.dimensions}
            alike = [name for name, values in undecided.items() if len(values) == counts[name]]
            partly = [f"{name} ({', '.join(values)})" for name, values in undecided.items() if name not in alike]
            wholly = [f"all values of {', '.join(alike)}"] if alike else []
            parts.append(f"The data do not distinguish: {'; '.join([*wholly, *partly])}.")
        conclusions = [_conclusion(self, each, undecided) for each in self.figures]
        if len(self.figures) == 2 and self.reproduced:
            one, other = (each.ways[0].settings for each in self.figures)
            listed = ", ".join(f"{name} ({one[name]}, {other[name]})" for name in one if one[name] != other[name])
            same = "The same conventions give both figures."
            conclusions.append(f"The figures differ in: {listed}." if listed else same)
        parts.append("\n".join(conclusions))
        start = {dimension.name: dimension.values[0] for dimension in self.dimensions}
        header = {"measure": str(self.measure), "query": self.query, "start": start, "value": self.start}
        return Page("whydiff", tuple(parts), header=header)

    def _table(self) -> Table:
        places = min(_MOST_PLACES, max(4, *(each.read_as.places + 2 for each in self.figures)))
        rows = [(each, way) for each in self.figures for way in each.ways]
        columns = (
            Column("source", get=lambda row: row[0].figure.name),
            Column("reported", get=lambda row: row[0].figure.text + ("" if row[0].per_cent is None else "%")),
            Column("value", "number", places, get=lambda row: row[1].value),
            Column("off by", "number", places, get=lambda row: row[1].value - row[0].read_as.value),
            Column("changes", "count", get=lambda row: len(row[1].departed)),
            Column("conventions", get=lambda row: row[1].departures),
            Column("known as", none="", get=lambda row: ", ".join(row[1].dialects) or None),
        )
        departed = dict.fromkeys((name, way.settings[name]) for _, way in rows for name in way.departed)
        notes = [f"{name}={value}: {meaning(name, value)}" for name, value in departed]
        for each in self.figures:
            if each.found > len(each.ways):
                more = count_of(each.found - len(each.ways), "more way")
                notes.append(f"{each.figure.name}: {more} to obtain {each.figure.text}")
        return Table.of(columns, rows, notes=tuple(notes))

    @property
    def reproduced(self) -> bool:
        return all(explained.reproduced for explained in self.figures)


@question(ConventionOptions)
def find_conventions(asked: ConventionOptions) -> Findings:
    """Find the conventions that give the reported figures for a run.

    The search starts from ``measure`` and ``policy`` and tries everything that differs from them in at most
    ``departures`` dimensions, and known tools' conventions. ``figures`` are by name; the digits of a text such as
    ``"0.785"`` give its precision. A figure outside the measure's bounds is tried as a percentage. Figures are
    aggregates over queries, or with ``query`` that query's scores. At most ``most`` ways are returned per figure: those
    with the fewest departures first (a known tool's conventions count as one choice), then the most likely; if no way
    reproduces the figure, the nearest.

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
            for_asker("--mine, --theirs or both are required", "figures: at least one is required"),
            for_asker("give the number as reported: --theirs 0.785", 'for example {"theirs": "0.785"}'),
        )
    wanted = [Figure.of(name, given) for name, given in figures.items()]
    measure, started, judgments = parse(asked.measure), Policy.of(asked.policy), Qrels.of(asked.qrels)
    identifier = None if query is None else read_id(query, "query")
    chosen = judgments if identifier is None else judgments_of(judgments, identifier)
    run, threads = Run.of(asked.run, policy=started), thread_count(asked.threads)
    search = Search(chosen, run, measure, started, threads, current_progress())
    search.try_all(asked.departures)
    if not search.tried:
        raise InputError(f"{judgments.name}: {measure} is undefined on these data under all conventions")
    # Sums over queries are not limited by the bounds of their terms.
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
    """Yield what known tools and papers compute for an explained query's lists, and how they differ."""
    measure, query = explanation.measure, explanation.query
    if query is None or not any(dialect.computes(measure) for dialect in DIALECTS):
        return
    identifier = read_id(query, "query")
    columns = (
        Column("computed by", get=lambda way: ", ".join(way.dialects)),
        Column(str(measure), "number", places, get=lambda way: way.value),
        Column("differences", get=lambda way: "; ".join(meaning(n, way.settings[n]) for n in way.departed)),
    )
    note = "from the tools' sources and the papers; only differences that affect this list"
    for name, run in runs.items():
        alone = judgments_of(qrels, identifier), run.select([identifier])
        search = Search(*alone, measure, policy, threads=1, progress=Progress())
        title = f"{measure} of {name} for {explanation.subject}, as others compute it"
        yield Table.of(columns, search.of_dialects(), title=title, notes=(note,))


#: Limits on the tools named, equivalent combinations listed, and decimal places shown.
_MOST_NAMES, _MOST_INSTEAD, _MOST_PLACES = 3, 2, 15


def _conclusion(findings: Findings, explained: Explained, undecided: Mapping[str, Sequence[str]]) -> str:
    figure, first = explained.read_as, explained.ways[0]
    changes = first.departures if first.departed else "no changes"
    opening = f"{explained.figure.name} {explained.figure.text}"
    if explained.outside is not None:
        low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in explained.outside)
        opening += f" lies outside {low}..{high}"
        if explained.per_cent is not None:
            which = ", which can be reproduced" if explained.reproduced else ""
            opening += f"; as a percentage it is {explained.per_cent.text}{which}"
    if not explained.reproduced:
        off = first.value - figure.value
        cut = "; the figure is its first digits, truncated" if figure.cuts(first.value) else ""
        text = f"off by {off:+.{min(_MOST_PLACES, figure.places + 2)}f} ({changes}){cut}"
        return f"{opening}: not reproduced; the nearest is {text}."
    tools = list(first.dialects)
    if len(tools) > _MOST_NAMES:
        rest = len(tools) - _MOST_NAMES + 1
        tools = [f"{', '.join(tools[: _MOST_NAMES - 1])} and {rest} more"]
    text = f"{opening}: {changes}" + (f" (as {', '.join(tools)})." if tools else ".")
    same = [f"{name}={'|'.join(values)}" for name, values in first.alike.items() if name not in undecided]
    for settings in first.instead[:_MOST_INSTEAD]:
        changed = [(name, value) for name, value in settings.items() if first.settings[name] != value]
        same.append(" with ".join(f"{name}={value}" for name, value in changed))
    text += f" The same with {' or '.join(same)}." if same else ""
    # A run with duplicates needs an explicit choice of duplicates, even at the start.
    printed = printing(findings, first.settings) if first.departed or "duplicates" in first.settings else None
    text += f" {printed}." if printed else ""
    if len(first.departed) > 1 and not tools:
        share = f"{explained.found} of {findings.different} results round to {figure.text}"
        text += f" With several changes this may be a coincidence ({share}); more digits would decide."
    return text


def printing(findings: Findings, settings: Mapping[str, str]) -> str | None:
    """Return the command that prints the value of some settings; None if no command can."""
    measure, policy = findings.measure, findings.policy
    formula = Formula.of(measure, policy.recall_cut, *map(settings.get, DECIDE_FORMULA))
    if (formula.ideal, formula.divisor) != ("judged", usual_divisor(measure)):
        return None
    try:
        changes = {choice.field: settings[choice.name] for choice in CHOICES if choice.name in settings}
        departures = policy.replace(**changes).differences()
    except UsageError:  # computed by this search only
        return None
    flags = [f"--{name} {value}" for name, value in departures.items() if name != "subtopics"]
    flags += ["--subtopics"] if policy.subtopics else []
    flags += [] if findings.scale is None else [f"--scale {number_text(findings.scale)}"]
    name = shlex.quote(str(formula.measure))
    if findings.query is None:
        return " ".join(["gainful eval prints it with -m", name, *flags])
    query = shlex.quote(printable(findings.query))
    return " ".join(["gainful explain", name, "--qrels QRELS --run RUN --query", query, *flags, "prints it"])
