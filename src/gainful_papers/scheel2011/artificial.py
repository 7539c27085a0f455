"""The artificial experiment of scheel2011: what does a measure make of the same mistakes on scales of other lengths?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from gainful import Measure, UsageError, evaluate_arrays, parse
from gainful.kernel.parallel import Progress
from gainful.notation import read_whole
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import head
from gainful.stats.repeatable import check_seed, stream
from gainful_papers.claims import Claim, Floats, Ints, LateParts, Part, Section, claims_tables, flat, table

#: A reference ranking has so many items; test rankings have from 0 to one less swaps.
ITEMS = 100
LEVEL_COUNTS = (2, 10, 20, 50)
_MOST_REPETITIONS = 10_000

#: A measure that does not depend on the number of levels has a smaller spread; one that does has a far larger one. What
#: lies between bears out neither statement.
SMALL_SPREAD, LARGE_SPREAD = 0.1, 0.2

#: A spread decides if it is so many standard errors above a limit, or below it: a largest difference is made larger by
#: chance rather than smaller. Of fewer repetitions standard errors are chance themselves.
_ERRORS_ABOVE, _ERRORS_BELOW = 3, 1
_FEWEST_REPETITIONS = 10


class _Panel(NamedTuple):
    """A measure as one chart shows it, and whether the paper says that it depends on the number of levels."""

    title: str
    measure: Measure
    depends: bool


_PANELS = (
    _Panel("NDCG, mean over ranks", parse(f"nDCG(gain=exp2, average=ranks)@{ITEMS}"), True),
    _Panel("NDCG, whole list", parse("nDCG(gain=exp2)"), True),
    _Panel("NDCNG, mean over ranks", parse(f"NDCNG(average=ranks)@{ITEMS}"), False),
    _Panel("NDCNG, whole list", parse("NDCNG"), False),
    _Panel("muAP", parse("muAP"), False),
)


@dataclass(frozen=True, eq=False)
class SwapCurves:
    """The mean scores of test rankings: measures x numbers of levels x numbers of swaps.

    For every measure ``spreads`` are the largest differences, over all numbers of swaps, between two numbers of levels,
    and ``errors`` the standard errors of these differences: infinite where there are too few ``repetitions`` for one.
    """

    measures: tuple[str, ...]
    values: Floats
    spreads: Floats
    errors: Floats
    repetitions: int

    @classmethod
    def of_scores(cls, measures: tuple[str, ...], scores: Floats) -> SwapCurves:
        """From the scores of single test rankings: measures x numbers of levels x numbers of swaps x repetitions."""
        values, repetitions = scores.mean(axis=3), scores.shape[3]
        places = np.arange(len(values))
        swaps = (values.max(axis=1) - values.min(axis=1)).argmax(axis=1)
        widest = values[places, :, swaps]
        # The same positions are swapped on all scales: scores of one repetition belong together.
        apart = scores[places, widest.argmax(axis=1), swaps] - scores[places, widest.argmin(axis=1), swaps]
        errors = np.full(len(values), np.inf)
        if repetitions >= _FEWEST_REPETITIONS:
            errors = apart.std(axis=1, ddof=1) / math.sqrt(repetitions)
        return cls(measures, values, np.ptp(widest, axis=1), errors, repetitions)


def figures(
    repetitions: int = 100, seed: int = 0, threads: int | None = None, progress: Progress | None = None
) -> tuple[Section, Section]:
    """Figures 4 and 5: references with equally many items a level, and with random shares of them.

    The experiment of each is run when somebody looks at it."""
    if read_whole(repetitions, "repetitions") > _MOST_REPETITIONS:
        raise UsageError(f"repetitions: expected at most {_MOST_REPETITIONS:,}, found {repetitions:,}")
    check_seed(seed)
    found = partial(swap_experiment, repetitions, seed, threads=threads, progress=progress)
    means = f"the mean of {repetitions:,} test rankings" if repetitions > 1 else "one test ranking"
    uniform, random = LateParts(lambda: _parts(found("uniform"))), LateParts(lambda: _parts(found("random")))
    return (
        Section("Figure 4", f"Every level has the same number of items; each point is {means}.", uniform),
        Section("Figure 5", f"Levels are of random frequency, some without an item; each point is {means}.", random),
    )


def swap_experiment(
    repetitions: int,
    seed: int,
    references: Literal["uniform", "random"],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SwapCurves:
    """The mean scores after 0 to 99 swaps, for uniform or for random reference rankings.

    The positions that are swapped are the same for all references, so that differences come from the levels alone.
    """
    repetitions = read_whole(repetitions, "repetitions")
    progress = progress or Progress()
    progress.total += len(LEVEL_COUNTS)
    lists = swapped_lists(repetitions, stream(seed))
    measures = tuple(str(panel.measure) for panel in _PANELS)
    scores = []
    for levels in LEVEL_COUNTS:
        if references == "uniform":
            grades = np.tile(uniform_grades(levels), (repetitions, 1))
        else:
            random = stream(seed, levels)
            grades = np.array([random_grades(levels, random) for _ in range(repetitions)])
        scores.append(_scores(grades, lists, threads))
        progress.advance(1)
    return SwapCurves.of_scores(measures, np.stack(scores, axis=1))


def swapped_lists(repetitions: int, random: np.random.Generator) -> Ints:
    """Test rankings: repetitions x numbers of swaps x ranks. An item is called by its rank in the reference, from 0.

    Every swap takes two distinct positions at random, whatever was swapped before.
    """
    lists = np.tile(np.arange(ITEMS), (repetitions, ITEMS, 1))
    for done in range(ITEMS - 1):
        unfinished = lists[:, done + 1 :]
        one = random.integers(ITEMS, size=unfinished.shape[:2])
        other = random.integers(ITEMS - 1, size=unfinished.shape[:2])
        pair = np.stack((one, other + (other >= one)), axis=2)
        np.put_along_axis(unfinished, pair, np.take_along_axis(unfinished, pair[:, :, ::-1], axis=2), axis=2)
    return lists


def uniform_grades(levels: int) -> Floats:
    """A reference ranking, best first, with equally many items on each of the levels 0, 1, and so on.

    >>> uniform_grades(50)[:5].tolist(), float(uniform_grades(2).sum())
    ([49.0, 49.0, 48.0, 48.0, 47.0], 50.0)
    """
    return np.repeat(np.arange(levels - 1.0, -1.0, -1.0), ITEMS // levels)


def random_grades(levels: int, random: np.random.Generator) -> Floats:
    """A reference ranking, best first, whose levels are as frequent as chance has it; at least two of them occur."""
    while True:
        shares = random.uniform(size=levels)
        grades = np.sort(random.choice(levels, ITEMS, p=shares / shares.sum()))[::-1]
        if grades[0] != grades[-1]:
            return grades.astype(np.float64)


def _scores(grades: Floats, lists: Ints, threads: int | None) -> Floats:
    """Measures x numbers of swaps x repetitions; a row of both arrays is a query."""
    found = evaluate_arrays(
        ranked_items=lists.reshape(-1, ITEMS),
        relevance=np.repeat(grades, ITEMS, axis=0),
        measures=[panel.measure for panel in _PANELS],
        threads=threads,
    )
    in_order = np.argsort([int(query) for query in found.queries])
    return found.raw[:, in_order].reshape(len(_PANELS), len(grades), ITEMS).swapaxes(1, 2)


def _parts(found: SwapCurves) -> Iterator[Part]:
    swaps = tuple(float(swap) for swap in range(ITEMS))
    x, y = Axis("number of swaps", 0, ITEMS - 1, is_whole=True), Axis("mean score", 0, 1)
    charts = []
    for panel, curves in zip(_PANELS, found.values.tolist(), strict=True):
        by_levels = zip(LEVEL_COUNTS, curves, strict=True)
        lines = tuple(Line(f"{levels} levels", swaps, tuple(curve)) for levels, curve in by_levels)
        charts.append(Plot(panel.title, x, y, lines))
    ends = table(
        f"Mean score after {ITEMS - 1} swaps",
        (*head("measure"), *head(f"{levels} levels .3" for levels in LEVEL_COUNTS), *head("spread .3 | error .3")),
        (
            (panel.title, *map(float, curves[:, -1]), float(spread), float(error) if math.isfinite(error) else None)
            for panel, curves, spread, error in zip(_PANELS, found.values, found.spreads, found.errors, strict=True)
        ),
        "spread: the largest difference, over all numbers of swaps, between the means of two numbers of levels; error: "
        f"the standard error of that difference, from {_FEWEST_REPETITIONS} repetitions on",
        "gain=exp2: 2^grade - 1 is what the paper's NDCG gains; muAP is of whole lists",
    )
    all_values = table(
        "",
        f"levels # | swaps # | {' | '.join(f'{measure} .' for measure in found.measures)}",
        (
            (levels, swap, *map(float, found.values[:, i, swap]))
            for i, levels in enumerate(LEVEL_COUNTS)
            for swap in range(ITEMS)
        ),
        for_machines=True,
    )
    return flat(charts, ends, claims_tables("", _claims(found)), _RULE, all_values)


def _claims(found: SwapCurves) -> Iterator[Claim]:
    at_start = found.values[:, :, 0]
    finds = "1 everywhere" if (at_start == 1.0).all() else f"as low as {at_start.min():.6f}"
    yield Claim.statement("without a swap", "1.0", finds, bool((abs(at_start - 1.0) < 1e-12).all()))
    for panel, spread, error in zip(_PANELS, found.spreads.tolist(), found.errors.tolist(), strict=True):
        yield _spread_claim(panel, spread, error)


def _spread_claim(panel: _Panel, spread: float, error: float) -> Claim:
    says = "depends on the number of levels" if panel.depends else "does not depend on it"
    limit = LARGE_SPREAD if panel.depends else SMALL_SPREAD
    side, errors = ("above", _ERRORS_ABOVE) if spread > limit else ("below", _ERRORS_BELOW)
    if abs(spread - limit) <= errors * error:
        return Claim.undecided(panel.title, says, f"spread {spread:.3f}, not clearly {side} {limit}")
    return Claim.statement(panel.title, says, f"spread {spread:.3f}, {side} {limit}", (spread > limit) == panel.depends)


_RULE = (
    f"That a measure depends on the number of levels holds if its spread is clearly above {LARGE_SPREAD}, and fails "
    f"if it is clearly below. That it does not depend on it holds if the spread is clearly below {SMALL_SPREAD}, and "
    f"fails if it is clearly above: a spread between {SMALL_SPREAD} and {LARGE_SPREAD} bears out neither. Clearly "
    f"above is by more than {_ERRORS_ABOVE} standard errors, clearly below by more than {_ERRORS_BELOW}, because "
    f"chance makes spreads larger rather than smaller. All else decides nothing (not seen), nor do fewer than "
    f"{_FEWEST_REPETITIONS} repetitions."
)
