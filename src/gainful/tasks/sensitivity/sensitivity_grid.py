"""The grid of settings, the measure in every cell, and the order of systems there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.discounts import DISCOUNTS, Base, read_base
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix, upward
from gainful.frozen import dataclass, field
from gainful.gains import Gain
from gainful.measures.base import Measure, value_text
from gainful.notation import choose, grouped, nearest, number_text, printable, read_whole
from gainful.stats.agreement import kendall_tau_b
from gainful.stats.stability import Leads

#: With more levels, weights are too many to display, or grades are continuous.
_MOST_SHOWN, _MOST_WEIGHED = 6, 30
#: Above this grade, 2^grade - 1 is a gain for the top level only.
_HIGHEST_EXP2 = 20

#: Gains named by intention, converted to weights for any number of levels.
GAIN_WORDS = {
    "flat": "1 for every level above 0: 0-1-1-1",
    "tenfold": "every level has ten times the gain of the one below: 0-1-10-100",
    "top": "only the highest level counts: 0-0-0-1",
}


@dataclass(frozen=True)
class GradeLevels:
    """The grade levels above 0, ascending: for whole numbers all up to the highest, otherwise those that occur.

    >>> GradeLevels.of_grades([0, 1, 3]).named("tenfold"), GradeLevels.of_grades([0.5, 1]).named("top")
    (Gain(text='0-1-10-100', weights=((0, 0.0), (1, 1.0), (2, 10.0), (3, 100.0))), \
Gain(text='{0:0,0.5:0,1:1}', weights=((0.0, 0.0), (0.5, 0.0), (1.0, 1.0))))
    """

    levels: tuple[float, ...]
    is_whole: bool

    @classmethod
    def of(cls, judged: Judged) -> GradeLevels:
        return cls.of_grades(judged.levels.tolist())

    @classmethod
    def of_grades(cls, grades: Sequence[float]) -> GradeLevels:
        found = sorted({float(grade) for grade in grades if grade > 0})
        if found and found[-1] <= _MOST_WEIGHED and all(grade.is_integer() for grade in found):
            return cls(tuple(float(grade) for grade in range(1, int(found[-1]) + 1)), True)
        return cls(tuple(found), False)

    @property
    def can_be_weighed(self) -> bool:
        """Whether there are few enough levels for one weight each."""
        return 0 < len(self.levels) <= _MOST_WEIGHED

    def weighted(self, weights: Sequence[float]) -> Gain:
        """Return a gain map with these weights for the levels, and 0 for grade 0."""
        pairs = zip((0.0, *self.levels), (0.0, *weights), strict=True)
        if not self.is_whole:
            return Gain.of(dict(pairs))
        return Gain.of("-".join(np.format_float_positional(weight, trim="-") for _, weight in pairs))

    def named(self, word: str, what: str = "gain") -> Gain:
        if not self.can_be_weighed:
            hint = "linear, exp2, binary and scaled accept any grades"
            raise UsageError(f"{what}: '{word}' needs at most {_MOST_WEIGHED} levels, found {len(self.levels)}", hint)
        count = len(self.levels)
        weights = {"flat": [1.0] * count, "tenfold": [10.0**i for i in range(count)], "top": [0.0] * (count - 1) + [1]}
        return self.weighted(weights[word])

    def linear(self) -> Gain:
        """Return the grade itself as gain, written as weights if these are readable."""
        return self.weighted(self.levels) if self.is_whole and len(self.levels) <= _MOST_SHOWN else Gain("linear")

    def up_to_1(self, gain: Gain) -> Gain:
        """Return the gain map divided by its highest gain, for measures limited to gains from 0 to 1.

        >>> str(GradeLevels.of_grades([1, 2]).up_to_1(Gain("0-1-10")))
        '0-0.1-1'
        """
        values = gain.of_grades(np.array(self.levels), self.levels[-1])
        return self.weighted((values / (values.max() or 1.0)).tolist())

    def read(self, value: object, what: str) -> Gain:
        """Read a gain map from text, a mapping, or one of :data:`GAIN_WORDS`."""
        return self.named(value, what) if isinstance(value, str) and value in GAIN_WORDS else Gain.of(value, what)

    def defaults(self) -> list[tuple[Gain, float | None]]:
        """Return distinct default gains, flat to steep, with the lowest grade that counts (None: any)."""
        highest = self.levels[-1] if self.levels else 0.0
        exponential = [Gain("exp2")] if highest <= _HIGHEST_EXP2 else []
        if len(self.levels) > _MOST_SHOWN:
            thresholds = [highest / 2, *([highest] if self.is_whole else [])]
            named = (Gain("binary"), Gain("linear"), *exponential)
            return [*((gain, None) for gain in named), *((Gain("binary"), threshold) for threshold in thresholds)]
        words = [self.named(word) for word in GAIN_WORDS] if self.levels else []
        # Multiples of each other are tried once: comparison and normalisation cancel the factor.
        different: dict[tuple[float, ...], Gain] = {}
        for gain in (*words[:1], self.linear(), *exponential, *words[1:]):
            values = gain.of_grades(np.array(self.levels), 1.0)
            largest = values.max() if values.size else 0.0
            different.setdefault(tuple(np.round(values / (largest or 1.0), 12).tolist()), gain)
        return [(gain, None) for gain in different.values()]

    def check(self, gain: Gain, judged: Judged) -> None:
        """Refuse a gain map that lacks a grade of the judgments, with a hint."""
        try:
            gain.check(judged.levels)
        except InputError as error:
            if not (gain.weights and self.can_be_weighed and len(self.levels) <= _MOST_SHOWN):
                raise InputError(error.message, error.hint or "linear, exp2 and binary accept any grades") from None
            hint = f"the highest grade is {number_text(self.levels[-1])}: use for example {self.named('tenfold')}"
            raise InputError(error.message, f"{hint}, or the word tenfold, flat or top") from None


#: Default values of the axes.
DISCOUNTS_TRIED = ("jarvelin2002", "none")
BASES_TRIED: tuple[float | str, ...] = (2.0, "e", 10.0)
DEPTHS_TRIED = (10, 30, 100, 200)

_MOST_CELLS = 1000

#: Parameters set by each value of an axis, by label.
Options = dict[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Axis:
    """A varied parameter: ``gain`` (or ``urs``), ``discount``, ``depth``, or another parameter of the measure."""

    name: str
    options: Options

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.options)

    def label(self, place: int) -> str:
        """Return the label of a value for use in a list of several axes."""
        label = self.labels[place]
        if self.name == "depth":
            return f"@{label}"
        return label if self.name in ("gain", "urs", "discount") else f"{self.name}={label}"


def gain_parameter(measure: Measure) -> str | None:
    """Return the gain parameter: ``gain``, or ``urs`` for distance measures; None if there is none."""
    return next((name for name in ("gain", "urs") if name in measure.parameters()), None)


def takes_up_to_1(measure: Measure, judged: Judged) -> bool:
    """Whether the measure refuses gains above 1, as RBP does."""
    parameter, levels = gain_parameter(measure), GradeLevels.of(judged)
    if parameter is None or not levels.can_be_weighed:
        return False
    try:
        measure.replace(**{parameter: levels.weighted([2.0] * len(levels.levels))}).check(judged.levels)
    except InputError:
        return True
    return False


class Grid:
    """The axes, the measure in every cell by position on the axes (the last axis varies fastest), and notices.

    Values of None stand for the defaults. Parameters set in the measure are not varied.
    """

    def __init__(
        self,
        measure: Measure,
        judged: Judged,
        gain: Sequence[object] | None,
        discount: Sequence[str] | None,
        base: Sequence[object] | None,
        depth: Sequence[object] | None,
        others: Mapping[str, Sequence[object]] | None,
    ) -> None:
        if measure.better == "neither":
            raise UsageError(f"{measure}: the measure cannot order systems: neither higher nor lower is better")
        self._measure, self._judged, self._levels = measure, judged, GradeLevels.of(judged)
        self._parameters = measure.parameters()
        self._hint = f"{measure.name} takes {', '.join(self._parameters) or 'no parameters'}"
        self.notices: list[str] = []
        options = {gain_parameter(measure) or "gain": self._gains(gain)}
        options["discount"] = self._discounts(discount, base)
        options |= {name: self._others(name, values) for name, values in (others or {}).items()}
        options["depth"] = self._depths(depth)
        self.axes = tuple(Axis(name, values) for name, values in options.items() if values)
        if not self.axes:
            names = list(self._parameters)
            hint = f"--vary {names[0]}=... varies another parameter; available: {', '.join(names)}" if names else None
            raise UsageError(f"{measure.name}: has no gain, discount or depth to vary", hint)
        cells = math.prod(len(axis.options) for axis in self.axes)
        if cells > _MOST_CELLS:
            raise UsageError(f"the grid has {cells:,} cells, at most {_MOST_CELLS:,} are allowed", "use fewer values")
        self.measures: dict[tuple[int, ...], Measure] = {}
        for place in product(*(range(len(axis.options)) for axis in self.axes)):
            chosen = [axis.options[axis.labels[i]] for axis, i in zip(self.axes, place, strict=True)]
            changes = {name: value for parameters in chosen for name, value in parameters.items()}
            self.measures[place] = measure.replace(**changes)

    def label(self, place: tuple[int, ...]) -> str:
        return ", ".join(axis.label(i) for axis, i in zip(self.axes, place, strict=True))

    def _fixed(self, parameter: str, given: object) -> object | None:
        """Return the value set in the measure, if it is not the default."""
        value: object = getattr(self._measure, parameter)
        if value == self._parameters[parameter]:
            return None
        if given is not None:
            raise UsageError(f"{self._measure}: {parameter} is set in the measure and also varied")
        return value

    def _without(self, axis: str, given: object) -> Options:
        """Return an empty axis, because the measure has no parameter for it."""
        if given is not None:
            raise UsageError(f"{self._measure.name}: has no {axis} to vary", self._hint)
        self.notices.append(f"{self._measure.name} has no {axis}, which is therefore not varied")
        return {}

    def _gains(self, given: Sequence[object] | None) -> Options:
        parameter = gain_parameter(self._measure)
        if parameter is None:
            return self._without("gain", given)
        fixed = self._fixed(parameter, given)
        if fixed is not None:
            return {value_text(fixed): {parameter: fixed}}
        if given is not None:
            read: list[object] = []
            for value in several(given, "gain"):
                if parameter == "urs" and value == "given":
                    read.append(value)
                else:
                    read.append(gain := self._levels.read(value, "gain"))
                    self._levels.check(gain, self._judged)
            return {str(gain): {parameter: gain} for gain in read}
        has_rel = parameter == "gain" and "rel" in self._parameters
        has_rel = has_rel and all(getattr(self._measure, name, None) is None for name in ("rel", "level"))
        # Gains divided by their highest, labelled by their usual names.
        up_to_1 = takes_up_to_1(self._measure, self._judged)
        options: Options = {}
        for gain, rel in self._levels.defaults():
            value = self._levels.up_to_1(gain) if up_to_1 else gain
            if rel is None:
                options[str(gain)] = {parameter: value}
            elif has_rel:
                options[f"{gain} from {number_text(rel)}"] = {parameter: value, "rel": rel}
        if len(options) == 1:
            self.notices.append("the judgments have at most one level above 0, so gains have no effect")
        return options

    def _discounts(self, given: Sequence[str] | None, given_bases: Sequence[object] | None) -> Options:
        if "discount" not in self._parameters:
            if "query_base" in self._parameters and given is given_bases is None:
                return {}  # session discounts differ by base only
            return self._without("discount", given if given is not None else given_bases)
        fixed = self._fixed("discount", given)
        discounts = [choose(each, DISCOUNTS, "discount") for each in several(given or DISCOUNTS_TRIED, "discount")]
        discounts = discounts if fixed is None else [str(fixed)]
        has_base = "base" in self._parameters
        fixed_base = self._fixed("base", given_bases) if has_base else None
        bases = [read_base(base, "base") for base in several(given_bases or BASES_TRIED, "base")]
        bases = bases if fixed_base is None else [read_base(fixed_base)]
        logarithmic = {discount for discount in discounts if DISCOUNTS[discount].has_base}
        if given_bases is not None and not (logarithmic and has_base):
            raise UsageError(f"base: has no effect with discount {', '.join(discounts)}")
        options: Options = {}
        for discount in discounts:
            # The base cancels in the ratio of run and ideal: log_b(j + 1) is log(j + 1) / log b at every rank.
            cancels = discount == "burges2005" and getattr(self._measure, "normalised", False)
            if cancels and given_bases is not None:
                self.notices.append(
                    f"the base cancels in {self._measure.name} with discount={discount}: evaluated once "
                    "(the base matters for jarvelin2002)"
                )
            if discount not in logarithmic or not has_base or cancels:
                usual_base = {"base": self._parameters["base"]} if has_base else {}
                options[discount] = {"discount": discount, **usual_base}
                continue
            prefix = f"{discount} " if len(logarithmic) > 1 else ""
            for base in bases:
                options[f"{prefix}base {value_text(base)}"] = {"discount": discount, "base": base}
        return options

    def _others(self, name: str, values: Sequence[object]) -> Options:
        if name not in self._parameters:
            message = f"{self._measure.name}: unknown parameter '{name}'"
            raise UsageError(message, nearest(name, self._parameters) or self._hint)
        taken = {"gain": "gains", "urs": "gains", "discount": "discounts", "base": "bases", "cutoff": "depths"}
        if name in taken and not (name == "base" and "discount" not in self._parameters):
            raise UsageError(f"vary: {name} cannot be used here; set the {taken[name]} instead")
        self._fixed(name, values)
        read = [getattr(self._measure.replace(**{name: value}), name) for value in several(values, name)]
        return {value_text(value): {name: value} for value in read}

    def _depths(self, given: Sequence[object] | None) -> Options:
        if self._measure.at_parameter() != "cutoff":
            return self._without("depth", given)
        usual, needs_depth = self._parameters["cutoff"], False
        try:
            self._measure.replace(cutoff=usual)
        except UsageError:
            needs_depth = True
        # A measure that requires a depth (P, average=ranks) may have been given one only for that reason.
        fixed = None if given is not None and needs_depth else self._fixed("cutoff", given)
        # The default cutoff of a measure is also tried.
        tried = (*DEPTHS_TRIED, usual) if isinstance(usual, int) and usual not in DEPTHS_TRIED else DEPTHS_TRIED
        depths = [fixed] if fixed is not None else several(tried if given is None else given, "at")
        return {str(depth): {"cutoff": depth} for depth in (read_whole(each, "depth") for each in depths)}


def several(values: Iterable[object], what: str) -> list[Any]:
    """Return the values as a list; refuse an empty list and a single string."""
    if isinstance(values, (str, bytes, Gain, Mapping)) or not isinstance(values, Iterable):
        raise UsageError(f"{what}: expected several values, found {values!r}")
    found = list(values)
    if not found:
        raise UsageError(f"{what}: at least one value is required")
    return found


@dataclass(frozen=True)
class Scenario:
    """A user's search behaviour as parameters of a measure. ``gain`` may be a word (flat, tenfold, top) for any scale.

    None keeps the measure's own value, except that the discount defaults to jarvelin2002.
    >>> from gainful import Policy, Qrels, parse
    >>> judged = Judged(Qrels.from_dict({"q": {"d": 2, "e": 1}}), Policy())
    >>> Scenario("hurried", gain="tenfold", depth=5).measure_for(judged, parse("nDCG"))
    nDCG(gain=0-1-10, discount=jarvelin2002)@5
    """

    name: str
    gain: str | Gain | None = None
    discount: str | None = None
    base: Base | None = None
    depth: int | None = None
    measure: Measure | None = None
    about: str = ""
    where: str = ""

    def measure_for(self, judged: Judged, usual: Measure) -> Measure:
        """Return the scenario's measure (or ``usual``), with gains for the levels of these judgments."""
        measure, levels = self.measure or usual, GradeLevels.of(judged)
        where, parameters = f"{self.where}: " if self.where else f"scenario {self.name}: ", measure.parameters()
        takes_discount = "discount" in parameters
        changes: dict[str, Any] = {}

        def taken(parameter: str | None, key: str) -> str:
            if parameter is None:
                raise UsageError(f"{where}{key}: {measure.name} has no such parameter")
            return parameter

        try:
            if self.gain is not None:
                # 0-1-2-3 in the article is the grade itself, on any scale.
                gain = levels.linear() if self.gain == "linear" else levels.read(self.gain, f"{where}gain")
                levels.check(gain, judged)
                changes[taken(gain_parameter(measure), "gain")] = gain
        except InputError as error:
            raise InputError(f"{where}{error.message}", error.hint) from None
        if self.discount is not None or self.base is not None:
            taken("discount" if takes_discount else None, "discount and base")
        if takes_discount and measure.discount == parameters["discount"]:  # type: ignore[attr-defined]
            changes["discount"] = self.discount or "jarvelin2002"
        elif self.discount is not None:
            changes["discount"] = self.discount
        if self.base is not None:
            changes["base"] = self.base
        if self.depth is not None:
            changes[taken(measure.at_parameter(), "depth")] = self.depth
        try:
            return measure.replace(**changes)
        except UsageError as error:
            raise UsageError(f"{where}{error.message}", error.hint) from None


#: The scenarios of Järvelin and Kekäläinen, TOIS 2002, section 4.
SCENARIOS: Mapping[str, Scenario] = {
    "impatient": Scenario(
        "impatient", "tenfold", "jarvelin2002", 2.0, 30, about="a very busy user who reads only the best answers"
    ),
    "patient": Scenario(
        "patient", "linear", "jarvelin2002", 10.0, 200, about="a patient user who also reads late and marginal answers"
    ),
}


class RunScore(NamedTuple):
    """A system's mean and rank: 1 is best, ties share a rank; None if no query counts."""

    run: str
    value: float | None
    rank: int | None


@dataclass(frozen=True)
class Cell:
    """The order of systems by one measure: a cell of the grid, or a scenario.

    ``place`` is its position on every axis (empty for scenarios), ``label`` its name; ``scores`` keep the order of the
    runs; ``leads`` are the results of tests of all pairs of systems.
    """

    label: str
    measure: Measure
    place: tuple[int, ...]
    scores: tuple[RunScore, ...]
    leads: Leads | None = field(default=None, repr=False, compare=False)

    @cached_property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """The systems, best first, with ties grouped and sorted by name. Systems without a mean are omitted."""
        by_rank = grouped((score.rank, score.run) for score in self.scores if score.rank is not None)
        return tuple(tuple(sorted(by_rank[rank])) for rank in sorted(by_rank))

    @property
    def winners(self) -> tuple[str, ...]:
        """The best system, or all that tie for rank 1."""
        return self.order[0] if self.order else ()

    @cached_property
    def _best_two(self) -> list[float]:
        placed = [(score.rank, score.value) for score in self.scores if score.rank is not None]
        return [value or 0.0 for _, value in sorted(placed, key=lambda each: each[0])[:2]]

    @property
    def value(self) -> float | None:
        """The winner's mean."""
        return self._best_two[0] if self._best_two else None

    @property
    def lead(self) -> float | None:
        """The winner's lead over the next system: 0 if several win, None if there is no other."""
        if len(self._best_two) < 2:
            return None
        return 0.0 if len(self.winners) > 1 else abs(self._best_two[0] - self._best_two[1])

    @property
    def relative_lead(self) -> float | None:
        """The lead as a share of the larger of the two means."""
        return self.lead / max(map(abs, self._best_two)) if self.lead else self.lead

    @cached_property
    def ranks(self) -> tuple[int | None, ...]:
        """Every system's rank, in the order of the runs."""
        return tuple(score.rank for score in self.scores)


def cell_of(
    label: str, measure: Measure, place: tuple[int, ...], evaluations: Mapping[str, Evaluation], *, tested: bool = False
) -> Cell:
    """Return the cell for a measure; ``tested`` also tests all pairs of systems."""
    means = [evaluation.aggregate(measure) for evaluation in evaluations.values()]
    values = [None if math.isnan(mean) else mean for mean in means]
    leads = None
    if tested and len(values) > 1:
        with suppress(InputError, UsageError):  # no query scored by all systems, or scores are not averaged
            if are_paired(evaluations):
                leads = Leads.by_means(upward(ScoreMatrix.from_evaluations(evaluations, measure)))
            else:
                sign = -1 if measure.better == "lower" else 1
                groups = [each.by_query(measure).values() for each in evaluations.values()]
                leads = Leads.by_groups([np.array([sign * x for x in each if x is not None]) for each in groups])
    ranks = ranks_of(values, lower_is_better=measure.better == "lower")
    return Cell(label, measure, place, tuple(map(RunScore, evaluations, values, ranks)), leads)


def are_paired(evaluations: Mapping[str, Evaluation]) -> bool:
    """Whether all systems have the same queries or sessions."""
    first, *others = evaluations.values()
    return first.unit == "query" or all(set(each.query_ids) == set(first.query_ids) for each in others)


def ranks_of(values: Sequence[float | None], *, lower_is_better: bool = False) -> list[int | None]:
    """Return the rank of every value: 1 is best, values that differ only by rounding tie; None stays None.

    >>> ranks_of([0.5, 0.7, None, 0.1 + 0.4, 0.2])
    [2, 1, None, 2, 4]
    """
    known = [(value, i) for i, value in enumerate(values) if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=not lower_is_better)
    ranks: list[int | None] = [None] * len(values)
    for position, (value, i) in enumerate(known):
        before, j = known[max(position - 1, 0)]
        # Tolerance for sums added in a different order, relative for large means (sums of large gains).
        is_tie = position > 0 and abs(before - value) <= 1e-12 * max(1.0, abs(before), abs(value))
        ranks[i] = ranks[j] if is_tie else position + 1
    return ranks


@lru_cache(maxsize=1 << 16)  # many cells have the same order
def tau_of_ranks(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> float | None:
    """Return Kendall's tau-b of two orders over systems ranked in both; None if one has only ties."""
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    return kendall_tau_b([x for x, _ in both], [y for _, y in both])


#: Maximum width of an order in characters.
_WIDEST_ORDER = 50


def order_text(order: Sequence[Sequence[str]], *, whole: bool = False) -> str:
    """Return an order in one line, shortened to fit unless ``whole``; ties are joined by =.

    >>> order_text([("a",), ("b", "c"), ("d",)])
    'a > b = c > d'
    """
    shown: list[str] = []
    left = sum(map(len, order))
    for names in order:
        text = " = ".join(printable(name, 40) for name in names)
        if not whole and shown and left > 1 and len(" > ".join([*shown, text])) > _WIDEST_ORDER:
            return " > ".join([*shown, f"{left} more"])
        shown.append(text)
        left -= len(names)
    return " > ".join(shown)
