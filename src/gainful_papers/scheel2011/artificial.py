"""The artificial experiment of scheel2011: the effect of the same errors on scales of different lengths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from gainful import Measure, UsageError, evaluate_arrays, parse
from gainful.kernel.parallel import counting
from gainful.notation import read_whole
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import head
from gainful.stats.repeatable import check_seed, stream
from gainful_papers.claims import Claim, Floats, Ints, LateParts, Part, Section, claims_tables, flat, table

#: Items in a reference ranking; test rankings have 0 to ``ITEMS - 1`` swaps.
ITEMS = 100
LEVEL_COUNTS = (2, 10, 20, 50)
_MOST_REPETITIONS = 10_000

#: Spreads below the first show independence of the number of levels, above the second dependence; between them, and
#: with fewer repetitions, claims are undecided.
_SMALL_SPREAD, _LARGE_SPREAD = 0.1, 0.2
_FEWEST_REPETITIONS = 10
#: Test rankings scored at once, which limits memory.
_PART = 1000


class Panel(NamedTuple):
    """A chart's measure, and whether it depends on the number of levels according to the paper."""

    title: str
    measure: Measure
    depends: bool


_PANELS = (
    Panel("NDCG, mean over ranks", parse(f"nDCG(gain=exp2, average=ranks)@{ITEMS}"), True),
    Panel("NDCG, whole list", parse("nDCG(gain=exp2)"), True),
    Panel("NDCNG, mean over ranks", parse(f"NDCNG(average=ranks)@{ITEMS}"), False),
    Panel("NDCNG, whole list", parse("NDCNG"), False),
    Panel("muAP", parse("muAP"), False),
)


def figures(repetitions: int = 100, seed: int = 0, threads: int | None = None) -> tuple[Section, Section]:
    """Return Figures 4 and 5: levels of equal and of random frequency. Each experiment runs on first access."""
    repetitions = read_whole(repetitions, "repetitions")
    if repetitions > _MOST_REPETITIONS:
        raise UsageError(f"repetitions: expected at most {_MOST_REPETITIONS:,}, found {repetitions:,}")
    check_seed(seed)
    found = partial(swap_experiment, repetitions, seed, threads=threads)
    means = f"the mean of {repetitions:,} test rankings" if repetitions > 1 else "one test ranking"
    uniform = LateParts(lambda: _parts(found("uniform"), repetitions))
    random = LateParts(lambda: _parts(found("random"), repetitions))
    return (
        Section("Figure 4", f"All levels have the same number of items; each point is {means}.", uniform),
        Section("Figure 5", f"Levels have random frequencies, and may be empty; each point is {means}.", random),
    )


def swap_experiment(
    repetitions: int, seed: int, references: Literal["uniform", "random"], *, threads: int | None = None
) -> Floats:
    """Return mean scores after 0 to 99 swaps, of shape (measures, numbers of levels, swaps).

    The swapped positions are the same for all references, so differences are due to the levels alone.
    """
    lists = swapped_lists(repetitions, stream(seed))
    scores = []
    with counting(len(LEVEL_COUNTS)) as progress:
        for levels in LEVEL_COUNTS:
            if references == "uniform":
                grades = np.tile(uniform_grades(levels), (repetitions, 1))
            else:
                random = stream(seed, levels)
                grades = np.array([random_grades(levels, random) for _ in range(repetitions)])
            scores.append(_scores(grades, lists, threads))
            progress.advance(1)
    return np.asarray(np.stack(scores, axis=1).mean(axis=3))


def swapped_lists(repetitions: int, random: np.random.Generator) -> Ints:
    """Return test rankings of shape (repetitions, swaps, ranks); items are ranks in the reference, from 0.

    Each swap takes two distinct random positions, independent of earlier swaps.
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
    """Return a reference ranking, best first, with the same number of items at each level.

    >>> uniform_grades(50)[:5].tolist(), float(uniform_grades(2).sum())
    ([49.0, 49.0, 48.0, 48.0, 47.0], 50.0)
    """
    return np.repeat(np.arange(levels - 1.0, -1.0, -1.0), ITEMS // levels)


def random_grades(levels: int, random: np.random.Generator) -> Floats:
    """Return a reference ranking, best first, with random frequencies of levels, at least two of which occur."""
    while True:
        shares = random.uniform(size=levels)
        grades = np.sort(random.choice(levels, ITEMS, p=shares / shares.sum()))[::-1]
        if grades[0] != grades[-1]:
            return grades.astype(np.float64)


def _scores(grades: Floats, lists: Ints, threads: int | None) -> Floats:
    """Return scores of shape (measures, swaps, repetitions); each row of both arrays is a query."""
    measures, step, parts = [panel.measure for panel in _PANELS], _PART // ITEMS, []
    for first in range(0, len(lists), step):
        found = evaluate_arrays(
            ranked_items=lists[first : first + step].reshape(-1, ITEMS),
            relevance=np.repeat(grades[first : first + step], ITEMS, axis=0),
            measures=measures,
            threads=threads,
        )
        in_order = np.argsort([int(query) for query in found.queries])
        parts.append(found.raw[:, in_order].reshape(len(measures), -1, ITEMS))
    return np.concatenate(parts, axis=1).swapaxes(1, 2)


def _parts(values: Floats, repetitions: int) -> Iterator[Part]:
    swaps = tuple(float(swap) for swap in range(ITEMS))
    x, y = Axis("number of swaps", 0, ITEMS - 1, is_whole=True), Axis("mean score", 0, 1)
    charts = []
    for panel, curves in zip(_PANELS, values.tolist(), strict=True):
        by_levels = zip(LEVEL_COUNTS, curves, strict=True)
        lines = tuple(Line(f"{levels} levels", swaps, tuple(curve)) for levels, curve in by_levels)
        charts.append(Plot(panel.title, x, y, lines))
    spreads = np.ptp(values, axis=1).max(axis=1).tolist()
    ends = table(
        f"Mean score after {ITEMS - 1} swaps",
        (*head("measure"), *head(f"{levels} levels .3" for levels in LEVEL_COUNTS), *head("spread .3")),
        (
            (panel.title, *map(float, curves[:, -1]), spread)
            for panel, curves, spread in zip(_PANELS, values, spreads, strict=True)
        ),
        "spread: largest difference between the means of two numbers of levels, over all numbers of swaps",
        "NDCG uses the paper's gain, 2^grade - 1 (gain=exp2); muAP is computed over whole lists",
    )
    all_values = table(
        "",
        f"levels # | swaps # | {' | '.join(f'{panel.measure} .' for panel in _PANELS)}",
        (
            (levels, swap, *map(float, values[:, i, swap]))
            for i, levels in enumerate(LEVEL_COUNTS)
            for swap in range(ITEMS)
        ),
        for_machines=True,
    )
    at_start = values[:, :, 0]
    finds = "1 everywhere" if (at_start == 1.0).all() else f"as low as {at_start.min():.6f}"
    claims = [Claim.statement("without a swap", "1.0", finds, bool((abs(at_start - 1.0) < 1e-12).all()))]
    for panel, spread in zip(_PANELS, spreads, strict=True):
        claims.append(spread_claim(panel, spread if repetitions >= _FEWEST_REPETITIONS else None))
    return flat(charts, ends, claims_tables("", claims), _RULE, all_values)


def spread_claim(panel: Panel, spread: float | None) -> Claim:
    """Check whether the measure depends on the number of levels; None: too few repetitions to know the spread."""
    says = "depends on the number of levels" if panel.depends else "does not depend on it"
    if spread is None:
        return Claim.undecided(panel.title, says, f"fewer than {_FEWEST_REPETITIONS} repetitions")
    finds, depends = f"between {_SMALL_SPREAD} and {_LARGE_SPREAD}", None
    if spread > _LARGE_SPREAD:
        finds, depends = f"above {_LARGE_SPREAD}", True
    elif spread < _SMALL_SPREAD:
        finds, depends = f"below {_SMALL_SPREAD}", False
    holds = None if depends is None else depends == panel.depends
    return Claim.statement(panel.title, says, f"spread {spread:.3f}, {finds}", holds)


_RULE = (
    f"A measure depends on the number of levels if its spread is above {_LARGE_SPREAD}, and does not if it is below "
    f"{_SMALL_SPREAD}. Spreads in between, and fewer than {_FEWEST_REPETITIONS} repetitions, are undecided (not seen)."
)
