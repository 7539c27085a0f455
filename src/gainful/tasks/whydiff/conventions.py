"""Reported numbers, and how precise they are.

Which conventions reproduce a figure, the simplest first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError
from gainful.evaluation.explanation import judgments_of
from gainful.io.rows import read_id
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure, read_whole
from gainful.measures.catalog import parse
from gainful.notation import NUMBER, read_number, text_of_id
from gainful.pages.page import Page
from gainful.policy import Policy
from gainful.render.showable import Showable
from gainful.tasks.whydiff.dimensions import Dialect, Dimension, dialects_for, dimensions_for
from gainful.tasks.whydiff.orderings import Orderings
from gainful.tasks.whydiff.search import (
    Cluster,
    Combination,
    Outcome,
    Outcomes,
    Space,
    alike,
    clusters,
    departed,
    simplicity,
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
    value: float
    slack: float  # half a unit of the last digit

    @classmethod
    def of(cls, name: str, given: float | str) -> Figure:
        """A figure from its text, or from a number, which is as precise as it prints."""
        value = _read(name, given)
        text = str(given).strip()
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


def _read(name: str, given: float | str) -> float:
    """The number; who writes a per cent or a decimal comma is told how to write it here."""
    text = given.strip() if isinstance(given, str) else ""
    per_cent = _PER_CENT.fullmatch(text)
    number = per_cent[1] if per_cent else text
    if _WITH_COMMA.fullmatch(number):
        number = number.replace(",", ".")
    if number == text or not NUMBER.fullmatch(number):
        return read_number(given, name)
    value = Decimal(number).scaleb(-2) if per_cent else Decimal(number)
    raise UsageError(f"{name}: expected a number, found '{text}'", f"write {value:f}")


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

    def differs_from(self, other: Way) -> tuple[str, ...]:
        """The dimensions in which two ways differ."""
        return tuple(name for name, value in self.settings.items() if other.settings[name] != value)


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
        from gainful.tasks.whydiff.conventions_page import page_of

        return page_of(self)

    @property
    def reproduced(self) -> bool:
        """Whether every figure is."""
        return all(explained.reproduced for explained in self.figures)


def find_conventions(
    qrels: QrelsLike,
    run: RunLike,
    figures: Mapping[str, float | str],
    measure: str | Measure = "nDCG@10",
    *,
    policy: Policy | str | None = None,
    query: str | bytes | int | None = None,
    departures: int = 3,
    most: int = 5,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Findings:
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
    if not isinstance(figures, Mapping):
        raise UsageError(f"figures: expected numbers by name, found {figures!r}", 'give it a name: {"theirs": "0.785"}')
    wanted = [Figure.of(name, given) for name, given in figures.items()]
    if not wanted:
        raise UsageError("figures: expected at least one, found none")
    measure = parse(measure)
    settled = policy if isinstance(policy, Policy) else Policy() if policy is None else Policy.like(policy)
    judgments, given_run = Qrels.of(qrels), Run.of(run)
    identifier = None if query is None else read_id(query, "query")
    orderings = Orderings(
        judgments if identifier is None else judgments_of(judgments, identifier),
        given_run,
        settled,
        keeps_scores="scores" in measure.needed() or ("ties" in measure.needed() and given_run.has_scores),
        threads=default_threads() if threads is None else read_whole(threads, "threads"),
    )
    measure.check(orderings.first.judged.levels)
    dimensions = dimensions_for(measure, settled, orderings.facts)
    space = Space(dimensions)
    outcomes = Outcomes(space, orderings, measure, settled.recall_cut)
    search = _Search(space, outcomes, dialects_for(measure, dimensions), progress or Progress())
    search.try_all(read_whole(departures, "departures"))
    if not search.tried:
        raise InputError(f"{judgments.name}: {measure} has no value on these data, whatever the conventions")
    most = read_whole(most, "most")
    # A sum over queries has other bounds than its terms.
    bounds = measure.bounds if measure.aggregate != "sum" or identifier is not None else None
    return Findings(
        measure,
        settled,
        None if identifier is None else text_of_id(identifier),
        judgments.scale if judgments.scale > judgments.levels[-1] else None,
        search.start,
        dimensions,
        len(search.tried),
        len(search.clusters),
        tuple(search.explained(figure, most, bounds) for figure in wanted),
    )


class _Search:
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
        if matching:
            named = self._named(matching)
            chosen = sorted(matching, key=lambda cluster: self._rank(cluster.simplest, named[cluster.simplest]))[:most]
        else:
            chosen = sorted(
                self.clusters, key=lambda cluster: (abs(cluster.value - figure.value), simplicity(cluster.simplest))
            )[:most]
            named = self._named(chosen)
        return len(matching), tuple(self._way(cluster, named[cluster.simplest]) for cluster in chosen)

    def _named(self, found: Iterable[Cluster]) -> dict[Combination, list[Dialect]]:
        """For the simplest combination of each cluster the dialects that give the same."""
        spoken = {
            cluster.simplest: [(dialect, self._space.adopted(dialect, cluster.simplest)) for dialect in self._dialects]
            for cluster in found
        }
        wanted = [combination for pairs in spoken.values() for _, combination in pairs if combination is not None]
        outcomes = self._outcomes.of([*spoken, *wanted], self._progress)
        return {
            simplest: [
                dialect
                for dialect, other in pairs
                if other in outcomes
                and alike(outcomes[simplest], outcomes[other])
                and not self._is_of_users(simplest, dialect)
            ]
            for simplest, pairs in spoken.items()
        }

    def _departed(self, combination: Combination) -> tuple[str, ...]:
        return tuple(d.name for d, place in zip(self._space.dimensions, combination, strict=True) if place)

    def _is_of_users(self, combination: Combination, dialect: Dialect) -> bool:
        """Whether all that a combination changes is left to those who use the tool: then it explains nothing."""
        changed = self._departed(combination)
        return bool(changed) and all(map(dialect.leaves_open, changed))

    def _rank(self, combination: Combination, dialects: Iterable[Dialect]) -> tuple[object, ...]:
        """What sorts ways: what a known tool does by itself is one choice, however many departures it has."""
        changed = self._departed(combination)
        choices = [len(changed), *(1 + sum(map(dialect.leaves_open, changed)) for dialect in dialects)]
        return (min(choices), *simplicity(combination))

    def _way(self, cluster: Cluster, dialects: Iterable[Dialect]) -> Way:
        space, simplest = self._space, cluster.simplest
        settings = space.settings(simplest)
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
        changed = {name: settings[name] for name in self._departed(simplest)}
        return Way(
            cluster.value,
            settings,
            tuple(changed),
            tuple(dict.fromkeys(_name(dialect, changed) for dialect in dialects)),
            same,
            tuple(instead),
        )


def _name(dialect: Dialect, changed: Mapping[str, str]) -> str:
    """A dialect's name, with the changes that it leaves to those who use it."""
    chosen = [f"{name}={value}" for name, value in changed.items() if dialect.leaves_open(name)]
    return f"{dialect.name} with {', '.join(chosen)}" if chosen else dialect.name
