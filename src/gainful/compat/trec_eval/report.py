"""From names and parameters to the lines of trec_eval's report, each with a measure of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gainful.compat.trec_eval.faults import CALCULATION, FILE, RefusedError
from gainful.compat.trec_eval.names import FAMILIES, Family
from gainful.compat.trec_eval.numbers import leading_real, leading_whole
from gainful.compat.trec_eval.options import Options
from gainful.errors import GainfulError
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.notation import number_text


@dataclass(frozen=True)
class Line:
    """A number for every topic and one for all of them; ``measure`` is None for texts."""

    name: str
    family: Family
    measure: Measure | None = None
    given: str | None = None  # parameters that became part of the name

    @property
    def is_count(self) -> bool:
        """Whether it is printed as a whole number."""
        return self.family.summary in ("sum", "topics")

    @property
    def length(self) -> int:
        """How many documents a text is about."""
        return int(self.family.defaults[0] if self.given is None else leading_real(self.given))


def report_lines(options: Options, levels: Sequence[float]) -> list[Line]:
    """The lines that were asked for, in trec_eval's order; ``levels`` are the grades in the judgments."""
    lines: list[Line] = []
    for family in FAMILIES:
        if family.name in options.names:
            try:
                lines += _lines(family, options, levels)
            except GainfulError as error:
                code = error.code if isinstance(error, RefusedError) else FILE
                raise RefusedError(code, f"measure '{family.name}': {error.message}", error.hint) from error
    return lines


def _lines(family: Family, options: Options, levels: Sequence[float]) -> Iterable[Line]:
    given = options.parameters.get(family.name)
    if family.takes in ("nothing", "length"):
        measure = _measure(family, options) if family.ours else None
        return [_line(family, measure, given if family.takes == "length" else None)]
    if family.takes in ("ranks", "recalls"):
        return _cut_lines(family, options, given)
    make = _PARAMETERS[family.takes]
    return [_line(family, _measure(family, options, parameters=make(given, options, levels)), given)]


def _line(family: Family, measure: Measure | None, given: str | None) -> Line:
    return Line(family.name if given is None else f"{family.name}_{given}", family, measure, given)


def _cut_lines(family: Family, options: Options, given: str | None) -> list[Line]:
    cutoffs = family.defaults if given is None else _cutoffs(family, given)
    form = "{}_{:.0f}" if family.takes == "ranks" else "{}_{:3.2f}"
    return [Line(form.format(family.name, at), family, _measure(family, options, at=at)) for at in cutoffs]


def _cutoffs(family: Family, given: str) -> tuple[float, ...]:
    read: Callable[[str], float] = leading_whole if family.takes == "ranks" else leading_real
    cutoffs = sorted(read(part) for part in given.split(","))
    if family.takes == "ranks" and cutoffs[0] <= 0:
        raise RefusedError(FILE, f"expected cutoffs above 0, found {number_text(cutoffs[0])}")
    for one, other in pairwise(cutoffs):
        if one == other:
            raise RefusedError(FILE, f"expected every cutoff once, found {number_text(one)} twice")
    return tuple(cutoffs)


def _measure(
    family: Family, options: Options, *, at: float | None = None, parameters: Mapping[str, object] | None = None
) -> Measure:
    measure = parse(family.ours if at is None else family.ours.format(number_text(at)))
    changes = dict(parameters or {})
    if family.has_level and options.level != 1 and "rel" in measure.parameters():
        changes["rel"] = options.level
    return measure.replace(**changes) if changes else measure


# -- Parameters --------------------------------------------------------------------------------------------------------

_Parameters = Mapping[str, object]


def _utility(given: str | None, options: Options, levels: Sequence[float]) -> _Parameters:
    weights = [1.0, -1.0, 0.0, 0.0] if given is None else _numbers(given)
    if len(weights) != 4:
        raise RefusedError(CALCULATION, f"expected 4 numbers, found {len(weights)}")
    collection = {"N": options.documents} if options.documents else {}
    return {**dict(zip("abcd", weights, strict=True)), **collection}


def _weight(given: str | None, options: Options, levels: Sequence[float]) -> _Parameters:
    # trec_eval has x where the formula has beta^2.
    return {} if given is None else {"beta": max(0.0, _numbers(given)[0]) ** 0.5}


def _points(given: str | None, options: Options, levels: Sequence[float]) -> _Parameters:
    return {} if given is None else {"points": "-".join(map(number_text, _numbers(given)))}


def _gains(given: str | None, options: Options, levels: Sequence[float]) -> _Parameters:
    return {} if given is None else {"gain": _gain_table(_pairs(given), levels)}


def _patience(given: str | None, options: Options, levels: Sequence[float]) -> _Parameters:
    pairs = {} if given is None else _pairs(given)
    # The gains of a topic with grades above 1 are divided by its highest, which is what trec_eval 10 means to do.
    return {
        "p": pairs.get("p", 0.9),
        "gain": _gain_table(pairs, levels) if len(pairs) > 1 else "linear",
        "scale": "query",
    }


_PARAMETERS: Mapping[str, Callable[[str | None, Options, Sequence[float]], _Parameters]] = {
    "utility": _utility,
    "weight": _weight,
    "points": _points,
    "gains": _gains,
    "patience": _patience,
}


def _numbers(given: str) -> list[float]:
    return [leading_real(part) for part in given.split(",")]


def _pairs(given: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for part in given.split(","):
        name, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise RefusedError(FILE, f"expected name=number, found '{part}'")
        pairs.setdefault(name, leading_real(value))
    return pairs


def _gain_table(pairs: Mapping[str, float], levels: Iterable[float]) -> dict[float, float]:
    """The gain of every grade: given, or the grade itself."""
    given = {float(name): gain for name, gain in pairs.items() if name.lstrip("+-").isdecimal()}
    return {level: given.get(level, level) for level in sorted({*levels, *given, 0.0}) if level >= 0}
