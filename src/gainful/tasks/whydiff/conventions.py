"""Which conventions reproduce reported numbers, the simplest first; and the page that says so."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError, for_asker
from gainful.evaluation.explained_page import Explanation
from gainful.evaluation.explanation import judgments_of
from gainful.io.rows import read_id
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text, printable, read_whole, text_of_id
from gainful.pages.page import Column, Table
from gainful.policy import CHOICES, Policy
from gainful.render import Page, Showable
from gainful.tasks.whydiff.dimensions import DIALECTS, Dimension, dialects_for, dimensions_for, meaning, usual_divisor
from gainful.tasks.whydiff.search import Explained, Figure, Outcomes, Search, Space
from gainful.tasks.whydiff.settings_scores import Formula, ListsBySettings


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
            Column("reported", get=lambda row: row[0].figure.text + ("" if row[0].per_cent is None else " %")),
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
    if not figures:
        raise UsageError(
            for_asker("expected --mine, --theirs or both, found neither", "figures: expected at least one, found none"),
            for_asker("give a number as it was reported: --theirs 0.785", 'for example {"theirs": "0.785"}'),
        )
    wanted = [Figure.of(name, given) for name, given in figures.items()]
    measure = parse(measure)
    settled = Policy.of(policy)
    judgments = Qrels.of(qrels)
    identifier = None if query is None else read_id(query, "query")
    chosen = judgments if identifier is None else judgments_of(judgments, identifier)
    search, dimensions = _search(chosen, Run.of(run), measure, settled, thread_count(threads), progress)
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


def _search(
    judgments: Qrels, run: Run, measure: Measure, policy: Policy, threads: int, progress: Progress | None = None
) -> tuple[Search, tuple[Dimension, ...]]:
    """A search that has tried nothing yet, and the dimensions of its space."""
    lists = ListsBySettings(
        judgments,
        run,
        policy,
        keeps_scores="scores" in measure.needed() or ("ties" in measure.needed() and run.has_scores),
        threads=threads,
    )
    measure.check(lists.first.judged.levels)
    dimensions = dimensions_for(measure, policy, lists.facts)
    space = Space(dimensions)
    outcomes = Outcomes(space, lists, measure, policy.recall_cut)
    dialects = dialects_for(measure, dimensions, bool(lists.first.answered.all()))
    return Search(space, outcomes, dialects, progress or Progress()), dimensions


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
        search, _ = _search(judgments_of(qrels, identifier), run.select([identifier]), measure, policy, threads=1)
        title = f"{measure} of {name} for {explanation.subject}, as others compute it"
        yield Table.of(columns, search.of_dialects(), title=title, notes=(note,))


#: The most names of tools, combinations that do the same, and decimal places that are shown.
_MOST_NAMES, _MOST_INSTEAD, _MOST_PLACES = 3, 2, 15

#: What only this search computes; no choice of the policy and no parameter of a measure does.
_NOT_OFFERED = {
    "ideal": ("retrieved", "shown", "uncut", "highest"),
    "ties": ("averaged",),
    "undefined": ("one",),
    "duplicates": ("last", "all"),
}


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
    usual = usual_divisor(measure)
    refused = any(settings.get(name) in values for name, values in _NOT_OFFERED.items())
    if refused or settings.get("divisor", usual) != usual:
        return None
    changes = {choice.field: settings[choice.name] for choice in CHOICES if choice.name in settings}
    formula = Formula.of(measure, settings, policy.recall_cut)
    departures = policy.replace(**changes).differences()
    flags = [f"--{name} {value}" for name, value in departures.items() if name != "subtopics"]
    flags += ["--subtopics"] if policy.subtopics else []
    flags += [] if findings.scale is None else [f"--scale {number_text(findings.scale)}"]
    name = shlex.quote(str(formula.measure))
    if findings.query is None:
        return " ".join(["gainful eval prints it with -m", name, *flags])
    query = shlex.quote(printable(findings.query))
    return " ".join(["gainful explain", name, "--qrels QRELS --run RUN --query", query, *flags, "prints it"])
