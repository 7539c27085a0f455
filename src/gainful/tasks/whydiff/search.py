"""The search: all combinations with few departures, what they give, and which of them reproduce a reported number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.errors import UsageError, for_asker
from gainful.evaluation.results import aggregated, settled
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.notation import NUMBER, read_number
from gainful.tasks.whydiff.dimensions import Dialect, Dimension
from gainful.tasks.whydiff.settings_scores import DECIDE_FORMULA, Formula, ListsBySettings, RankedLists

#: One value, by its place, for every dimension; 0 is where the search starts.
Combination: TypeAlias = tuple[int, ...]

#: Scores whose difference is not larger than this, relative to 1 or to themselves, differ by rounding only.
_ROUNDING = 1e-11

#: What stands for the score of a query that is left out; no formula gives it.
_LEFT_OUT = -math.sqrt(3.0)

#: So many formulas are computed together.
_AT_ONCE = 64

_MISSING = ("zero", "skip")


class Outcome(NamedTuple):
    """What a combination gives: the aggregate, and a weighted sum of all queries' scores that is (but for rounding) the
    same for two combinations only if they agree on every query."""

    value: float
    trace: float


@dataclass(frozen=True)
class Cluster:
    """Combinations that the data cannot tell apart, the simplest first."""

    value: float
    members: tuple[Combination, ...]

    @property
    def simplest(self) -> Combination:
        return self.members[0]


class Space:
    """The combinations of the dimensions' values."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self.dimensions = tuple(dimensions)
        self.start: Combination = (0,) * len(dimensions)

    def settings(self, combination: Combination) -> dict[str, str]:
        """The value of every dimension."""
        return {d.name: d.values[i] for d, i in zip(self.dimensions, combination, strict=True)}

    def combination(self, settings: Mapping[str, str]) -> Combination:
        """The inverse of :meth:`settings`."""
        return tuple(dimension.values.index(settings[dimension.name]) for dimension in self.dimensions)

    def near(self, departures: int) -> Iterator[Combination]:
        """Every combination with at most so many departures, those with fewer first."""
        for count in range(min(departures, len(self.dimensions)) + 1):
            for changed in combinations(range(len(self.dimensions)), count):
                for places in product(*(range(1, len(self.dimensions[i].values)) for i in changed)):
                    combination = list(self.start)
                    for i, place in zip(changed, places, strict=True):
                        combination[i] = place
                    yield tuple(combination)

    def neighbours(self, combination: Combination) -> Iterator[Combination]:
        """Every combination with another value in exactly one dimension."""
        for i, dimension in enumerate(self.dimensions):
            for place in range(len(dimension.values)):
                if place != combination[i]:
                    yield (*combination[:i], place, *combination[i + 1 :])

    def without_one_departure(self, combination: Combination) -> Iterator[Combination]:
        """The combinations that have one departure less."""
        yield from ((*combination[:i], 0, *combination[i + 1 :]) for i, place in enumerate(combination) if place)

    def adopted(self, dialect: Dialect, combination: Combination) -> Combination | None:
        """The combination with what a dialect has otherwise put right."""
        settings = dialect.adopted(self.settings(combination), self.dimensions)
        return None if settings is None else self.combination(settings)

    def spoken(self, dialect: Dialect) -> Iterator[Combination]:
        """The ways in which a dialect is used: all that it has itself, and in what it leaves open at most one step."""
        if self.adopted(dialect, self.start) is None:
            return
        is_open = [dialect.leaves_open(dimension.name) for dimension in self.dimensions]
        places = [range(len(dimension.values)) for dimension in self.dimensions]
        own = [
            [0] if is_open[i] else [dimension.values.index(value) for value in dialect.choices(dimension)]
            for i, dimension in enumerate(self.dimensions)
        ]
        for combination in product(*own):
            yield combination
            for i in (i for i, free in enumerate(is_open) if free):
                yield from ((*combination[:i], place, *combination[i + 1 :]) for place in places[i][1:])


def departed(combination: Combination) -> int:
    """In how many dimensions a combination leaves the start."""
    return sum(place > 0 for place in combination)


def simplicity(combination: Combination) -> tuple[int, tuple[tuple[int, int], ...]]:
    """What sorts combinations: few departures first, then likely ones, by the order of dimensions and values."""
    return departed(combination), tuple((i, place) for i, place in enumerate(combination) if place)


class Outcomes:
    """What combinations give on one run. Each formula on the same lists is computed once, and so is each outcome."""

    def __init__(self, space: Space, lists: ListsBySettings, measure: Measure, recall_cut: str) -> None:
        self._space = space
        self._lists = lists
        self._measure = measure
        self._recall_cut = recall_cut
        self._formulas: dict[tuple[str | None, ...], Formula] = {}
        self._settled: dict[tuple[RankedLists, Formula], dict[tuple[str, str], Outcome]] = {}
        self._known: dict[Combination, Outcome | None] = {}
        queries = len(lists.first.query_ids)
        self._weights = (0.5 + np.mod(np.arange(1, queries + 1) * math.sqrt(5.0), 1.0)) / queries

    def of(self, wanted: Iterable[Combination], progress: Progress) -> dict[Combination, Outcome]:
        """The outcomes of those combinations that make sense and leave a query to average over."""
        wanted = list(dict.fromkeys(wanted))
        new = [combination for combination in wanted if combination not in self._known]
        progress.total += len(new)
        asked: list[tuple[Combination, tuple[RankedLists, Formula], tuple[str, str]]] = []
        formulas: dict[RankedLists, dict[Formula, None]] = {}
        for combination in new:
            settings = self._space.settings(combination)
            lists = self._lists.lists(settings)
            self._known[combination] = None
            if lists is not None:
                formula = self._formula(settings)
                ending = settings.get("missing", "zero"), settings.get("undefined", "zero")
                asked.append((combination, (lists, formula), ending))
                if (lists, formula) not in self._settled:
                    formulas.setdefault(lists, {})[formula] = None
            progress.advance(1)
        progress.total += sum(map(len, formulas.values()))
        for lists, of_lists in formulas.items():
            # A few at a time: as many as fit into memory together, and often enough to say how far it is.
            for first in range(0, len(of_lists), _AT_ONCE):
                chosen = list(of_lists)[first : first + _AT_ONCE]
                for formula, raw in zip(chosen, lists.scores(chosen), strict=True):
                    self._settled[lists, formula] = self._endings(raw)
                progress.advance(len(chosen))
        for combination, computed, ending in asked:
            outcome = self._settled[computed][ending]
            self._known[combination] = None if math.isnan(outcome.value) else outcome
        found = {combination: self._known[combination] for combination in wanted}
        return {combination: outcome for combination, outcome in found.items() if outcome is not None}

    def _formula(self, settings: Mapping[str, str]) -> Formula:
        key = tuple(settings.get(name) for name in DECIDE_FORMULA)
        if key not in self._formulas:
            self._formulas[key] = Formula.of(self._measure, settings, self._recall_cut)
        return self._formulas[key]

    def _endings(self, raw: Floats) -> dict[tuple[str, str], Outcome]:
        """What becomes of raw scores, for every way to deal with missing and undefined ones."""
        answered = self._lists.first.answered
        worst = math.nan if self._measure.worst is None else self._measure.worst
        becomes = {"zero": worst, "skip": math.nan, "one": 1.0}
        found: dict[tuple[str, str], Outcome] = {}
        is_missing, is_undefined = not answered.all(), bool(np.isnan(raw[answered]).any())
        for missing, undefined in product(_MISSING, becomes):
            # What does not occur makes no difference.
            same = (missing if is_missing else "zero", undefined if is_undefined else "zero")
            if same not in found:
                found[same] = self._outcome(settled(raw, answered, self._measure, missing, becomes[undefined]))
            found[missing, undefined] = found[same]
        return found

    def _outcome(self, values: Floats) -> Outcome:
        left_out = np.isnan(values)
        kept = values[~left_out]
        value = aggregated(kept, None, self._measure) if kept.size else math.nan
        return Outcome(value, float(np.dot(self._weights, np.where(left_out, _LEFT_OUT, values))))


def alike(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are the same for every query."""
    return abs(one.trace - other.trace) <= _ROUNDING * max(1.0, abs(one.trace))


def clusters(outcomes: Mapping[Combination, Outcome]) -> list[Cluster]:
    """Combinations that agree on every query, together."""
    found: list[list[Combination]] = []
    for combination in sorted(outcomes, key=lambda combination: outcomes[combination].trace):
        if not found or not alike(outcomes[found[-1][-1]], outcomes[combination]):
            found.append([])
        found[-1].append(combination)
    ordered = [tuple(sorted(members, key=simplicity)) for members in found]
    return [Cluster(outcomes[members[0]].value, members) for members in ordered]


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
    value: float
    slack: float  # half a unit of the last digit

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
        return cls._of_text(name, text if NUMBER.fullmatch(text) else str(value))

    @classmethod
    def _of_text(cls, name: str, text: str) -> Figure:
        return cls(name, text, float(text), 0.5 * 10.0 ** int(Decimal(text).as_tuple().exponent))

    def as_share(self) -> Figure:
        """The figure read as a per cent: 46.4 is 0.464."""
        return self._of_text(self.name, format(Decimal(self.text).scaleb(-2), "f"))

    def cuts(self, value: float) -> bool:
        """Whether the figure is the first digits of a value, the rest cut off."""
        unit = 2.0 * self.slack
        return math.floor(value / unit + _NOISE) == round(self.value / unit)

    @property
    def places(self) -> int:
        """How many decimal places it has."""
        return max(0, -int(Decimal(self.text).as_tuple().exponent))

    def holds(self, value: float) -> bool:
        """Whether a value rounds to the figure."""
        return abs(value - self.value) <= self._room

    def is_within(self, bounds: tuple[float, float]) -> bool:
        """Whether a value between two bounds can round to the figure."""
        low, high = bounds
        return low - self._room <= self.value <= high + self._room

    @property
    def _room(self) -> float:
        return self.slack + _NOISE * max(1.0, abs(self.value))


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


class Search:
    """What was tried, and what can be said about it."""

    def __init__(self, space: Space, outcomes: Outcomes, dialects: Sequence[Dialect], progress: Progress) -> None:
        self._space = space
        self._outcomes = outcomes
        self._dialects = dialects
        self._progress = progress
        self.tried: Mapping[Combination, Outcome] = {}
        self.clusters: Sequence[Cluster] = ()

    @property
    def start(self) -> float | None:
        """What there is without any departure."""
        outcome = self.tried.get(self._space.start)
        return None if outcome is None else outcome.value

    def try_all(self, departures: int) -> None:
        """Computes every combination with so many departures, and the dialects, however many they have."""
        spoken = (combination for dialect in self._dialects for combination in self._space.spoken(dialect))
        tried = self._outcomes.of([*self._space.near(departures), *spoken], self._progress)
        self.tried = {**tried, **self._trimmed([one for one in tried if departed(one) > departures])}
        self.clusters = clusters(self.tried)

    def of_dialects(self) -> list[Way]:
        """What the dialects give, those together that do the same as far as it makes a difference."""
        speakers: dict[Combination, list[str]] = {}
        for dialect in self._dialects:
            adopted = self._space.adopted(dialect, self._space.start)
            if adopted is not None and adopted in self._outcomes.of([adopted], self._progress):
                needed = min(self._trimmed([adopted]), key=simplicity, default=adopted)
                speakers.setdefault(needed, []).append(dialect.name)
        outcomes = self._outcomes.of(list(speakers), self._progress)
        return [
            Way(outcomes[one].value, self._space.settings(one), self._departed(one), tuple(names), {}, ())
            for one, names in speakers.items()
        ]

    def _trimmed(self, found: Sequence[Combination]) -> dict[Combination, Outcome]:
        """The same combinations without the departures that make no difference on these data."""
        trimmed: dict[Combination, Outcome] = {}
        while found:
            shorter = {one: list(self._space.without_one_departure(one)) for one in found}
            wanted = [*found, *(other for others in shorter.values() for other in others)]
            outcomes = self._outcomes.of(wanted, self._progress)
            same = {
                other: outcomes[other]
                for one, others in shorter.items()
                for other in others
                if other in outcomes and alike(outcomes[one], outcomes[other])
            }
            found = [one for one in same if one not in trimmed]
            trimmed.update(same)
        return trimmed

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
        nearest = sorted(self.clusters, key=lambda each: (abs(each.value - figure.value), simplicity(each.simplest)))
        found = matching or nearest[:most]
        named = self._dialects_of([cluster.simplest for cluster in found])

        def rank(cluster: Cluster) -> tuple[object, ...]:
            """What a known tool does by itself is one choice, however many departures it has."""
            changed = self._departed(cluster.simplest)
            choices = (1 + sum(map(dialect.leaves_open, changed)) for dialect in named[cluster.simplest])
            return (min([len(changed), *choices]), *simplicity(cluster.simplest))

        chosen = sorted(matching, key=rank)[:most] if matching else found
        return len(matching), tuple(self._way(cluster, named[cluster.simplest]) for cluster in chosen)

    def _dialects_of(self, combinations: Sequence[Combination]) -> dict[Combination, list[Dialect]]:
        """The dialects that give the same as each combination, unless all that it changes is left to their users."""
        adopted = [
            (one, dialect, other)
            for one, dialect in product(combinations, self._dialects)
            if (other := self._space.adopted(dialect, one)) is not None
        ]
        outcomes = self._outcomes.of([*combinations, *(other for *_, other in adopted)], self._progress)
        found: dict[Combination, list[Dialect]] = {one: [] for one in combinations}
        for one, dialect, other in adopted:
            changed = self._departed(one)
            is_left_open = bool(changed) and all(map(dialect.leaves_open, changed))
            if other in outcomes and alike(outcomes[one], outcomes[other]) and not is_left_open:
                found[one].append(dialect)
        return found

    def _departed(self, combination: Combination) -> tuple[str, ...]:
        return tuple(d.name for d, place in zip(self._space.dimensions, combination, strict=True) if place)

    def _way(self, cluster: Cluster, dialects: Iterable[Dialect]) -> Way:
        space, simplest = self._space, cluster.simplest
        settings, changed = space.settings(simplest), self._departed(simplest)
        neighbours = self._outcomes.of([simplest, *space.neighbours(simplest)], self._progress)
        same: dict[str, tuple[str, ...]] = {}
        for combination, outcome in neighbours.items():
            if combination != simplest and alike(neighbours[simplest], outcome):
                [(name, value)] = space.settings(combination).items() - settings.items()
                same[name] = (*same.get(name, ()), value)
        instead = [
            space.settings(member)
            for member in cluster.members[1:]
            if departed(member) == departed(simplest) and member not in neighbours
        ]
        names = []
        for dialect in dialects:  # with the changes that it leaves to those who use it
            chosen = [f"{name}={settings[name]}" for name in changed if dialect.leaves_open(name)]
            names.append(f"{dialect.name} with {', '.join(chosen)}" if chosen else dialect.name)
        return Way(cluster.value, settings, changed, tuple(dict.fromkeys(names)), same, tuple(instead))
