"""The file of a gate: a frozen baseline, what it was measured on, the rule, and how it came about."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache, cached_property
from typing import Any

from gainful._version import __version__
from gainful.data.qrels import Qrels
from gainful.errors import InputError, UsageError
from gainful.io.atomic import write_bytes
from gainful.io.formats import parse_json
from gainful.io.sources import open_source
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import number_text, printable, read_number, some_of, text_of_id
from gainful.policy import Policy
from gainful.stats.regression_rule import USUAL_SPREAD, RunNoise

#: The form of the file, and of the numbers in it: raised when a measure's values change.
SCHEMA, NUMBERS = 1, 1
#: A query collapsed that lost this share of a score of at least so much.
COLLAPSED, COLLAPSED_FROM = 0.8, 0.1
_DIGITS = 16  # of a query's hash
_LARGEST = 1e150  # of a number, so that squares are numbers, too


@dataclass(frozen=True)
class Rule:
    """What a gate goes by. ``margin`` is a share of the baseline's mean (``is_relative``), or absolute.

    ``floors`` are least means by measure, ``must_hold`` queries that may not fall at all. ``by`` is the column that
    queries are grouped by, ``weights`` that of their weights. ``missing_at_most`` queries of a run may be missing;
    ``judged_at_least`` of the documents in the top ranks have to be judged, and at most ``judged_drop`` fewer than with
    the baseline. ``spread`` is that of per-query differences, relative to the mean, as long as none is known.
    """

    margin: float = 0.02
    is_relative: bool = True
    floors: dict[str, float] = field(default_factory=dict)
    must_hold: list[str] = field(default_factory=list)
    by: str | None = None
    weights: str | None = None
    missing_at_most: int = 0
    judged_at_least: float = 0.0
    judged_drop: float = 0.05
    spread: float = USUAL_SPREAD

    def __post_init__(self) -> None:
        for name, least, most in (
            ("margin", 0.0, math.inf),
            ("spread", 0.0, math.inf),
            ("judged_at_least", 0.0, 1.0),
            ("judged_drop", 0.0, 1.0),
            ("missing_at_most", 0, math.inf),
        ):
            value = getattr(self, name)
            # What is compared or divided by has to be above 0.
            is_wrong = not _is_number(value) or not least <= value <= most or math.isinf(value)
            if is_wrong or (name in ("margin", "spread") and not value):
                wanted = "a number above 0" if math.isinf(most) else "a share from 0 to 1"
                wanted = "a whole number from 0 on" if name == "missing_at_most" else wanted
                raise UsageError(f"{name.replace('_', '-')}: expected {wanted}, found {value!r}")
        floors = {str(parse(measure)): floor for measure, floor in self.floors.items()}
        object.__setattr__(self, "floors", floors)

    @property
    def margin_text(self) -> str:
        """The margin as people write it."""
        return f"{number_text(round(100 * self.margin, 10))} %" if self.is_relative else number_text(self.margin)

    def margin_of(self, baseline: float) -> float:
        """The margin of a measure whose baseline has this mean."""
        return self.margin * abs(baseline) if self.is_relative else self.margin


@dataclass(frozen=True)
class FrozenQuery:
    """A query: what tells its judgments, the baseline's scores (None: the policy left it out), and what is known."""

    judgments: str
    scores: list[float | None]
    text: str | None = None
    group: str | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Accepted:
    """A baseline that was frozen: when, why, from which run, its means, and how far queries differed from the one
    before (the standard deviation by measure, relative to the mean; none where nothing differed or judgments did)."""

    date: str
    reason: str
    run: str
    sha256: str | None
    means: dict[str, float]
    spreads: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Gate:
    """All that a gate knows."""

    measures: list[str]
    rule: Rule
    policy: dict[str, str]
    scale: float
    judgments: dict[str, Any]  # path, sha256 of the file, sha256 of the content
    judged: float  # the share of judged documents in the baseline's top ranks
    queries: dict[str, FrozenQuery]
    history: list[Accepted]
    runs: int = 1  # that the baseline is the mean of
    run_variances: dict[str, float] = field(default_factory=dict)  # of one run's mean, by measure
    version: str = __version__
    numbers: int = NUMBERS

    def run_noise(self, measure: str) -> RunNoise:
        """How far runs of the baseline's system vary as a whole."""
        return RunNoise(self.run_variances.get(measure, 0.0), self.runs - 1, self.runs)

    @cached_property
    def parsed(self) -> tuple[Measure, ...]:
        """The gated measures."""
        return tuple(parse(name) for name in self.measures)

    @cached_property
    def conventions(self) -> Policy:
        """The conventions of the baseline."""
        return Policy.from_texts(self.policy)

    def known_spread(self, measure: str, baseline: float, least: int) -> float | None:
        """The median spread of accepted changes, absolute; None while there are too few. One large change among small
        ones does not make the gate blind."""
        known = [each.spreads[measure] for each in self.history if each.spreads.get(measure)]
        if len(known) < least:
            return None
        from statistics import median  # loaded late: most gates do not know that many

        return median(known) * abs(baseline)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, whole or not at all: a line a query, so that changes can be reviewed."""
        write_bytes(path, self.text().encode())

    def text(self) -> str:
        """The content of the file."""
        head: dict[str, Any] = {"gainful-gate": SCHEMA, "gainful": self.version, "numbers": self.numbers}
        named = ("measures", "policy", "scale", "judgments", "judged", "runs", "run_variances")
        head |= {name: getattr(self, name) for name in named}
        head["rule"] = asdict(self.rule)
        lines = [f"  {_json(name)}: {_json(value)}," for name, value in head.items()]
        history = [f"    {_json(asdict(each))}" for each in self.history]
        queries = [f"    {_json(query)}: {_json(_without_none(asdict(each)))}" for query, each in self.queries.items()]
        parts = ['  "history": [', ",\n".join(history), "  ],", '  "queries": {', ",\n".join(queries), "  }"]
        return "\n".join(["{", *lines, *parts, "}", ""])

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Gate:
        """Reads the file; what it does not know there is an error."""
        name = os.fspath(path)
        return cls.of(parse_json(bytes(open_source(name).buffer), name, name), name)

    @classmethod
    def of(cls, value: Any, name: str) -> Gate:
        """The gate that the content of a file is."""
        if not isinstance(value, dict) or "gainful-gate" not in value:
            raise InputError(f"{name}: expected a file of `gainful gate init`, found something else")
        schema = value.pop("gainful-gate")
        if not _KINDS["int"](schema) or not 1 <= schema <= SCHEMA:
            raise InputError(
                f"{name}: expected a gate of form {SCHEMA} or older, found {schema!r}", "a newer gainful wrote it"
            )
        if "version" in value:
            raise _unknown_key(name, "version")
        value["version"] = value.pop("gainful", None)
        _check_keys(value, cls, name)
        queries = {
            query: _made(FrozenQuery, each, f"{name}: query {printable(query)}")
            for query, each in _dict(value["queries"], f"{name}: queries").items()
        }
        history = [_made(Accepted, each, f"{name}: history {i}") for i, each in enumerate(value["history"], 1)]
        try:
            rule = _made(Rule, value["rule"], f"{name}: rule")
            found = cls(**{**value, "rule": rule, "queries": queries, "history": history})
            _ = found.parsed, found.conventions
        except UsageError as error:
            raise InputError(f"{name}: {error.message}", error.hint) from error
        _check_whole(found, name)
        return found


def _check_whole(gate: Gate, name: str) -> None:
    """Refuses a gate whose parts do not belong together."""
    changed = "was the file changed by hand? `gainful gate init` freezes a baseline anew"
    if not gate.queries or not gate.history or gate.scale <= 0 or gate.runs < 1:
        raise InputError(f"{name}: expected queries, a history and a scale above 0, found something else", changed)
    weighted = gate.rule.weights is not None
    for query, each in gate.queries.items():
        if len(each.scores) != len(gate.measures):
            raise InputError(f"{name}: query {printable(query)}: expected a score of each measure", changed)
        if (each.weight is not None) != weighted or (weighted and not (each.weight or 0) > 0):
            raise InputError(
                f"{name}: query {printable(query)}: expected a weight just if the rule has weights", changed
            )
    if content_hash({query: each.judgments for query, each in gate.queries.items()}) != gate.judgments.get("content"):
        raise InputError(f"{name}: expected the judgments that were frozen, found other queries or hashes", changed)
    unknown = [query for query in gate.rule.must_hold if query not in gate.queries]
    lost = [measure for measure in gate.rule.floors if measure not in gate.measures]
    if unknown or lost:
        raise InputError(
            f"{name}: rule: expected gated queries and measures, found {some_of(unknown or lost)}", changed
        )
    if any(spread < 0 for each in gate.history for spread in each.spreads.values()):
        raise InputError(f"{name}: history: expected spreads from 0 on, found one below", changed)


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Ids that are not UTF-8 are escaped.
    return text if _is_unicode(text) else json.dumps(value, allow_nan=False)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_none(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _dict(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected names and values, found {printable(repr(value))}")
    return value


def _unknown_key(where: str, name: str) -> InputError:
    return InputError(f"{where}: unknown key '{printable(name)}'", "was the file changed by hand?")


def _check_keys(value: Mapping[str, Any], kind: type, where: str) -> None:
    known, needed = _keys_of(kind)
    for name in value:
        if name not in known:
            raise _unknown_key(where, name)
    for name in needed:
        if name not in value:
            raise InputError(f"{where}: expected '{name}', found none")
    for name, content in value.items():
        is_kind = _KINDS.get(known[name])
        if is_kind is not None and not is_kind(content):
            found = printable(json.dumps(content))
            raise InputError(f"{where}: {name}: expected {_IN_WORDS[known[name]]}, found {found}")


@cache
def _keys_of(kind: type) -> tuple[dict[str, str], list[str]]:
    """The fields with their annotations, and those that have to be there."""
    needed = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    return {each.name: str(each.type) for each in fields(kind)}, needed


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST


#: What a value of a kind of field is, by its annotation.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: value is None or isinstance(value, str),
    "float": _is_number,
    "float | None": lambda value: value is None or _is_number(value),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "list[str]": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "list[float | None]": lambda value: (
        isinstance(value, list) and all(each is None or _is_number(each) for each in value)
    ),
    "dict[str, float]": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(isinstance(each, str) for each in value.values()),
    "dict[str, Any]": lambda value: isinstance(value, dict),
    "list[Accepted]": lambda value: isinstance(value, list),
}
#: The same for people.
_IN_WORDS = {
    "str": "a text",
    "str | None": "a text or null",
    "float": "a number",
    "float | None": "a number or null",
    "int": "a whole number",
    "bool": "true or false",
    "list[str]": "a list of texts",
    "list[float | None]": "a list of numbers or null",
    "dict[str, float]": "names and numbers",
    "dict[str, str]": "names and texts",
    "dict[str, Any]": "names and values",
    "list[Accepted]": "a list",
}


def _made(kind: type, value: object, where: str) -> Any:
    found = _dict(value, where)
    _check_keys(found, kind, where)
    return kind(**found)


def hashes_of(qrels: Qrels) -> dict[str, str]:
    """What tells each query's judgments: a hash of its documents, sub-topics and grades, in any order."""
    lines: dict[bytes, list[bytes]] = {identifier: [] for identifier in qrels.query_ids}
    grades = {grade: number_text(grade).encode() for grade in set(qrels.grade.tolist())}
    rows = zip(qrels.query.tolist(), qrels.subtopic.tolist(), qrels.grade.tolist(), strict=True)
    for row, (query, subtopic, grade) in enumerate(rows):
        told = (qrels.document(row), qrels.subtopic_ids[subtopic], grades[grade])
        lines[qrels.query_ids[query]].append(b"\t".join(told))
    return {
        text_of_id(identifier): hashlib.sha256(b"\n".join(sorted(each))).hexdigest()[:_DIGITS]
        for identifier, each in lines.items()
    }


def content_hash(hashes: Mapping[str, str]) -> str:
    """One hash of all of them."""
    lines = "\n".join(f"{query}\t{hashes[query]}" for query in sorted(hashes))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def read_margin(text: str, what: str) -> tuple[float, bool]:
    """A margin and whether it is relative.

    >>> read_margin("2%", "--margin"), read_margin("0.01", "--margin")
    ((0.02, True), (0.01, False))
    """
    stripped = text.strip()
    is_relative = stripped.endswith("%")
    value = read_number(stripped.removesuffix("%").strip(), what)
    if value <= 0:
        raise UsageError(f"{what}: expected a margin above 0, found '{text}'")
    return (value / 100 if is_relative else value), is_relative


def read_floor(text: str, what: str) -> tuple[str, float]:
    """A measure and the worst mean that it may have: the least one, or where lower is better the largest.

    >>> read_floor("ndcg@10 >= 0.40", "--floor"), read_floor("ESL<=3", "--floor")
    (('nDCG@10', 0.4), ('ESL', 3.0))
    """
    sign = next((sign for sign in (">=", "<=") if sign in text), None)
    if sign is None:
        raise UsageError(f"{what}: expected something like nDCG@10>=0.40, found '{printable(text)}'")
    name, _, value = text.partition(sign)
    measure = parse(name.strip())
    if (measure.better == "lower") != (sign == "<="):
        raise UsageError(f"{what}: {measure}: {measure.better} is better, found '{printable(text)}'")
    return str(measure), read_number(value.strip(), what)


def broken_floor(measure: Measure, floor: float, mean: float) -> str | None:
    """How a mean breaks a floor, if it does."""
    is_lower = measure.better == "lower"
    holds, side = (mean <= floor, "above its limit") if is_lower else (mean >= floor, "below its floor")
    if math.isnan(mean):
        return f"{measure} has no value for any query"
    return None if holds else f"{measure} is {mean:.4f}, {side} of {floor:g}"
