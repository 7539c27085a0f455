"""Which conventions reproduce a figure, the simplest first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gainful.conventions.dialects import Dialect, dialects_for
from gainful.conventions.dimensions import Dimension, dimensions_for
from gainful.conventions.orderings import Orderings
from gainful.conventions.search import (
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
from gainful.core import default_threads
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError
from gainful.measures.base import Measure, read_whole
from gainful.measures.grammar import parse
from gainful.notation import read_number
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render.page import Page, Showable

#: A figure may be off by this, relative to 1 or to itself, beyond what its last digit leaves open.
_NOISE = 1e-9


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
        value = read_number(given, name)
        text = given.strip() if isinstance(given, str) else str(given if isinstance(given, int) else value)
        exponent = Decimal(text).as_tuple().exponent
        return cls(name, text, value, 0.5 * 10.0 ** int(exponent))

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
        return abs(value - self.value) <= self.slack + _NOISE * max(1.0, abs(self.value))


@dataclass(frozen=True)
class Explanation:
    """One way to compute the measure: the value of every dimension, and what the data say of it.

    ``departed`` are the dimensions in which it leaves the start, ``dialects`` the tools and papers that compute it so,
    as far as these data show; ``alike`` has for a dimension the other values that would make no difference, ``instead``
    other combinations, as simple, that give the same for every query.
    """

    value: float
    settings: Mapping[str, str]
    departed: tuple[str, ...]
    dialects: tuple[str, ...]
    alike: Mapping[str, tuple[str, ...]]
    instead: tuple[Mapping[str, str], ...]

    def differs_from(self, other: Explanation) -> tuple[str, ...]:
        """The dimensions in which two explanations differ."""
        return tuple(name for name, value in self.settings.items() if other.settings[name] != value)


@dataclass(frozen=True)
class Explained:
    """A figure and the ways that reproduce it, the simplest first; where there is none, the nearest.

    ``found`` counts all the ways that give different scores and reproduce the figure; some may not be listed.
    """

    figure: Figure
    found: int
    explanations: tuple[Explanation, ...]

    @property
    def reproduced(self) -> bool:
        return self.found > 0


@dataclass(frozen=True)
class Findings(Showable):
    """What a search over conventions found: where it started, what it tried, and each figure explained."""

    measure: Measure
    policy: Policy
    query: str | None
    start: float | None  # what the measure gives where the search starts
    dimensions: tuple[Dimension, ...]
    tried: int  # combinations
    different: int  # of which so many give different scores
    figures: tuple[Explained, ...]

    # A dataclass would otherwise print itself where people want to see the page.
    __str__ = Showable.__str__

    def page(self) -> Page:
        from gainful.conventions.page import page_of

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
    query: str | None = None,
    departures: int = 3,
    most: int = 5,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Which conventions turn this run into these figures.

    The search starts from ``measure`` and ``policy`` and tries everything that differs from them in at most
    ``departures`` dimensions, and what the known tools do. ``figures`` are by name; a text such as ``"0.785"`` says by
    its digits how precise it is. Figures are aggregates over queries, or with ``query`` that query's scores. At most
    ``most`` explanations of a figure are returned, those with the fewest departures first (a known tool's conventions
    count as one, because choosing the tool is one choice), then the likely ones.

    >>> judgments = {"q": {"d1": 3, "d2": 2, "d3": 3, "d4": 0, "d5": 1, "d6": 2, "d7": 3, "d8": 2}}
    >>> ranking = {"q": ["d1", "d2", "d3", "d4", "d5", "d6"]}
    >>> found = find_conventions(judgments, ranking, {"mine": "0.961", "theirs": "0.785"}, "nDCG@6")
    >>> [explained.explanations[0].settings["ideal"] for explained in found.figures]
    ['retrieved', 'judged']
    """
    wanted = [Figure.of(name, given) for name, given in figures.items()]
    if not wanted:
        raise UsageError("figures: expected at least one, found none")
    measure = parse(measure)
    settled = policy if isinstance(policy, Policy) else Policy() if policy is None else Policy.like(policy)
    judgments = Qrels.of(qrels)
    orderings = Orderings(
        judgments if query is None else judgments.select([query]),
        Run.of(run),
        settled,
        keeps_scores="scores" in measure.needed(),
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
    return Findings(
        measure,
        settled,
        query,
        search.start,
        dimensions,
        len(search.tried),
        len(search.clusters),
        tuple(search.explained(figure, most) for figure in wanted),
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
        spoken = (self._space.adopted(dialect, self._space.start) for dialect in self._dialects)
        wanted = [*self._space.near(departures), *(combination for combination in spoken if combination is not None)]
        self.tried = self._outcomes.of(wanted, self._progress)
        self.clusters = clusters(self.tried)

    def explained(self, figure: Figure, most: int) -> Explained:
        """The ways that reproduce a figure, or else the nearest."""
        matching = [cluster for cluster in self.clusters if figure.holds(cluster.value)]
        if matching:
            named = self._named(matching)
            chosen = sorted(matching, key=lambda cluster: self._rank(cluster.simplest, named[cluster.simplest]))[:most]
        else:
            chosen = sorted(
                self.clusters, key=lambda cluster: (abs(cluster.value - figure.value), simplicity(cluster.simplest))
            )[:most]
            named = self._named(chosen)
        return Explained(
            figure, len(matching), tuple(self._explanation(cluster, named[cluster.simplest]) for cluster in chosen)
        )

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
                dialect for dialect, other in pairs if other in outcomes and alike(outcomes[simplest], outcomes[other])
            ]
            for simplest, pairs in spoken.items()
        }

    def _rank(self, combination: Combination, dialects: Iterable[Dialect]) -> tuple[object, ...]:
        """What sorts explanations: what a known tool does by itself is one choice, however many departures it has."""
        changed = {d.name for d, place in zip(self._space.dimensions, combination, strict=True) if place}
        choices = [len(changed), *(1 + len(changed - dialect.values.keys()) for dialect in dialects)]
        return (min(choices), *simplicity(combination))

    def _explanation(self, cluster: Cluster, dialects: Iterable[Dialect]) -> Explanation:
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
        return Explanation(
            cluster.value,
            settings,
            tuple(d.name for d, place in zip(space.dimensions, simplest, strict=True) if place),
            tuple(dict.fromkeys(dialect.name for dialect in dialects)),
            same,
            tuple(instead),
        )
