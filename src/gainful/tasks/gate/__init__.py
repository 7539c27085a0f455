"""The gate file: a frozen baseline, its judgments, the rule, and the history of baselines.

Does not import NumPy, because a gate defines the conventions for reading files and is therefore read first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from gainful._version import __version__
from gainful.errors import InputError, UsageError, for_asker
from gainful.frozen import MISSING, Field, asdict, dataclass, field, fields, is_dataclass, replace
from gainful.io.atomic import write_bytes
from gainful.io.formats import parse_json
from gainful.io.sources import open_source
from gainful.measures.catalog import parse
from gainful.notation import count_of, number_text, percent_text, printable, read_number, some_of, text_of_id
from gainful.policy import Policy
from gainful.question import number, setting

if TYPE_CHECKING:
    from gainful.data.qrels import Qrels
    from gainful.measures.base import Measure

#: Versions of the file format, and of the values of measures.
SCHEMA, NUMBERS = 1, 1
#: A query has collapsed if it lost this share of a score of at least ``COLLAPSED_FROM``.
COLLAPSED, COLLAPSED_FROM = 0.8, 0.1
#: The default margin, relative to the mean, if the queries can detect it.
MARGIN = 0.02
_DIGITS = 16  # of a query's hash
_LARGEST = 1e150  # squares of larger numbers overflow
_BY_HAND = "was the file changed by hand?"


@dataclass(frozen=True)
class Rule:
    """The rule of a gate.

    ``margin`` is the drop that matters: a share of the baseline's mean (``is_relative``), or absolute. None stands for
    2%, or more if the queries cannot detect 2%. ``spread`` is used until enough changes are known.
    """

    margin: float | None = None
    is_relative: bool = True
    floors: dict[str, float] = field(default_factory=dict)  # worst acceptable means by measure
    must_hold: list[str] = field(default_factory=list)  # queries whose score must not fall
    by: str | None = None  # column of groups
    weights: str | None = None  # column of weights
    missing_at_most: int = setting(0, "Number of queries that a run may leave out.", kind="whole", least=0)
    judged_at_least: float = number(0.0, "Required share of judged documents in the top ranks.", "SHARE")
    judged_drop: float = number(0.05, "Largest acceptable drop of the judged share.", "SHARE")
    spread: float = number(0.13, "Per-query spread of a small change, relative to the mean.", "SHARE")
    forbid: str | None = setting(None, "Fail if a query has a forbidden document in the top k.", metavar="Leak@K")

    def __post_init__(self) -> None:
        above, share = (5e-324, _LARGEST, "a number above 0"), (0, 1, "a share from 0 to 1")
        for name, (least, most, wanted) in {
            "margin": above,
            "spread": above,
            "judged_at_least": share,
            "judged_drop": share,
            "missing_at_most": (0, _LARGEST, "a whole number of at least 0"),
        }.items():
            value = getattr(self, name)
            if not (_is_number(value) and least <= value <= most) and (name, value) != ("margin", None):
                raise UsageError(f"{name.replace('_', '-')}: expected {wanted}, found {value!r}")
        if self.forbid is not None and parse(self.forbid).name != "Leak":
            flag = for_asker("--forbid", "forbid")
            raise UsageError(f"{flag}: expected Leak, such as Leak@10, found '{printable(self.forbid)}'")
        object.__setattr__(self, "floors", {str(parse(measure)): floor for measure, floor in self.floors.items()})

    @classmethod
    def of(
        cls,
        margin: str | None = None,
        floors: Mapping[str, float] | Iterable[str] = (),
        must_hold: Iterable[str] | str = (),
        **others: Any,
    ) -> Rule:
        """Return a rule from texts: its margin, its floors, and the IDs of queries that must hold, or a file of them.

        >>> rule = Rule.of("0.01", ["ndcg@10 >= 0.40", "ESL<=3"])
        >>> rule.margin, rule.is_relative, rule.floors
        (0.01, False, {'nDCG@10': 0.4, 'ESL': 3.0})
        """
        what, text = for_asker("--margin", "margin"), "2%" if margin is None else margin.strip()
        size, is_relative = read_number(text.removesuffix("%").strip(), what), text.endswith("%")
        if size <= 0:
            raise UsageError(f"{what}: expected a margin above 0, found '{margin}'")
        chosen = None if margin is None else size / 100 if is_relative else size
        if isinstance(must_hold, str):
            from gainful.data.queries import read_ids

            ids = read_ids(must_hold, "must-hold")
            if not ids:
                raise InputError(f"{must_hold}: no IDs of queries that must hold")
            must_hold = ids
        least = dict(floors) if isinstance(floors, Mapping) else read_floors(floors)
        return cls(chosen, is_relative, least, list(must_hold), **others)

    @property
    def margin_text(self) -> str:
        return (percent_text if self.is_relative else number_text)(self.margin or MARGIN)

    def margin_of(self, baseline: float) -> float:
        """Return the absolute margin for a baseline mean."""
        return (self.margin or MARGIN) * (abs(baseline) if self.is_relative else 1.0)


def refuse_existing(gate: str | os.PathLike[str]) -> None:
    """Raise UsageError if the file exists, because replacing a baseline requires a reason."""
    if os.path.exists(gate):
        hint = "`gainful gate update` replaces a baseline, with a reason"
        raise UsageError(f"{os.fspath(gate)}: file already exists", hint)


def read_floors(texts: Iterable[str]) -> dict[str, float]:
    """Read the worst acceptable means: minima, or maxima if lower is better.

    >>> read_floors(["ndcg@10 >= 0.40", "ESL<=3"])
    {'nDCG@10': 0.4, 'ESL': 3.0}
    """
    what, floors = for_asker("--floor", "floors"), dict[str, float]()
    for text in texts:
        sign = next((sign for sign in (">=", "<=") if sign in text), None)
        if sign is None:
            raise UsageError(f"{what}: expected a floor such as nDCG@10>=0.40, found '{printable(text)}'")
        name, _, value = text.partition(sign)
        measure = parse(name.strip())
        if (measure.better == "lower") != (sign == "<="):
            raise UsageError(f"{what}: {measure}: {measure.better} is better, found '{printable(text)}'")
        if str(measure) in floors:
            raise UsageError(f"{what}: duplicate floor of {measure}")
        floors[str(measure)] = read_number(value.strip(), what)
    return floors


def broken_floor(measure: Measure, floor: float, mean: float) -> str | None:
    """Describe how a mean breaks a floor; None if it does not."""
    is_lower = measure.better == "lower"
    holds, side = (mean <= floor, "above its limit") if is_lower else (mean >= floor, "below its floor")
    if math.isnan(mean):
        return f"{measure} is undefined for all queries"
    return None if holds else f"{measure} is {mean:.4f}, {side} of {floor:g}"


@dataclass(frozen=True)
class FrozenQuery:
    """A query: the hash of its judgments, the scores of the baseline (None if left out), and its description."""

    judgments: str
    scores: list[float | None]
    text: str | None = None
    group: str | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Accepted:
    """A frozen baseline: date, reason, run, means, and the spread of per-query changes from the previous one.

    ``spreads`` are standard deviations by measure, relative to the mean; missing if nothing or the judgments changed.
    """

    date: str
    reason: str
    run: str
    sha256: str | None
    means: dict[str, float]
    spreads: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Gate:
    """A gate; ``path`` is the file it was read from, ``notices`` are warnings about its baseline."""

    measures: list[str]
    rule: Rule
    policy: dict[str, str]
    scale: float
    judgments: dict[str, Any]  # path, sha256 of the file, sha256 of the content
    judged: float  # share of judged documents in the top ranks of the baseline
    queries: dict[str, FrozenQuery]
    history: list[Accepted]
    runs: int = 1  # averaged in the baseline
    run_variances: dict[str, float] = field(default_factory=dict)  # variance of a run's mean, by measure
    version: str = __version__
    numbers: int = NUMBERS
    path: str | None = field(default=None, compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    read_as: bytes | None = field(default=None, compare=False, repr=False)  # content of the file

    @cached_property
    def parsed(self) -> tuple[Measure, ...]:
        try:
            return tuple(parse(name) for name in self.measures)
        except UsageError as error:
            raise InputError(f"{self.path or 'the gate'}: {error.message}", error.hint) from error

    @cached_property
    def conventions(self) -> Policy:
        return Policy.from_texts(self.policy)

    @property
    def summary(self) -> str:
        means = ", ".join(f"{measure} {mean:.4f}" for measure, mean in self.history[-1].means.items())
        return f"{means} over {count_of(len(self.queries), 'query', 'queries')}, margin {self.rule.margin_text}"

    @property
    def qrels_path(self) -> str:
        """The file of the baseline's judgments, at its recorded path or in the folder of the gate."""
        path = str(self.judgments.get("path", ""))
        for place in (path, os.path.join(os.path.dirname(self.path or ""), os.path.basename(path))):
            if os.path.exists(place):
                return place
        where = self.path or "the gate"
        raise UsageError(f"{where}: judgments {path} not found", "name them: gainful gate update GATE QRELS RUN")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically; a new gate never overwrites an existing one."""
        if self.path is None and len(self.history) == 1:
            refuse_existing(path)
        name, content = os.fspath(path), self.text().encode()
        # Compare paths, because another process may replace the file between two accesses.
        is_other = os.path.realpath(name) != os.path.realpath(self.path or name)
        if self.read_as is None or is_other or not os.path.isfile(name):
            write_bytes(name, content)
            return
        with open(name, "rb") as held:
            with contextlib.suppress(ImportError):
                import fcntl  # not on Windows

                fcntl.flock(held, fcntl.LOCK_EX)  # concurrent updates wait
            found = b""
            with contextlib.suppress(InputError):  # changed while being read
                found = bytes(open_source(name).buffer)
            if found not in (self.read_as, content):
                wrong = f"{name}: the file has changed since it was read, so nothing was written"
                raise InputError(wrong, "`gainful gate history` shows the other update; then update again")
            write_bytes(name, content)

    def text(self) -> str:
        """Return the content of the file, with one line per query for easy review."""
        head: dict[str, Any] = {"gainful-gate": SCHEMA, "gainful": self.version, "numbers": self.numbers}
        named = ("measures", "policy", "scale", "judgments", "judged", "runs", "run_variances")
        head |= {name: getattr(self, name) for name in named} | {"scores": self._scores_hash}
        head["rule"] = asdict(self.rule)
        lines = [f"  {_json(name)}: {_json(value)}," for name, value in head.items()]
        history = [f"    {_json(asdict(each))}" for each in self.history]
        known = [(query, asdict(each).items()) for query, each in self.queries.items()]
        queries = [f"    {_json(query)}: {_json({k: v for k, v in each if v is not None})}" for query, each in known]
        parts = ['  "history": [', ",\n".join(history), "  ],", '  "queries": {', ",\n".join(queries), "  }"]
        return "\n".join(["{", *lines, *parts, "}", ""])

    @property
    def _scores_hash(self) -> str:
        return content_hash({query: _json(each.scores) for query, each in self.queries.items()})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Gate:
        """Read the file; unknown keys are errors."""
        name = os.fspath(path)
        try:
            content = bytes(open_source(name).buffer)
        except InputError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            how = f"gainful gate init QRELS RUN -o {shlex.quote(name)}"
            raise InputError(f"{name}: no such file", f"{how} creates it from the baseline's run") from None
        value = parse_json(content, name, name) if content.lstrip()[:1] in (b"", b"{", b"[") else None
        if not isinstance(value, dict) or "gainful-gate" not in value:
            raise InputError(f"{name}: not a gate file", "the gate comes first; `gainful gate init` writes one")
        schema = value.pop("gainful-gate")
        if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
            message = f"{name}: expected gate format {SCHEMA} or older, found {schema!r}"
            raise InputError(message, "a newer version of gainful wrote it")
        for key in ("version", "path", "notices", "read_as"):
            if key in value:
                raise InputError(f"{name}: unknown key '{key}'", _BY_HAND)
        value["version"], scores = value.pop("gainful", None), value.pop("scores", None)
        try:
            found: Gate = replace(_read(cls, value, (name,)), path=name, read_as=content)
            _ = found.conventions
        except UsageError as error:
            raise InputError(f"{name}: {error.message}", error.hint) from error
        found._check_consistency(name, scores)
        return found

    def _check_consistency(self, name: str, scores_hash: object) -> None:
        queries, rule, wrong = self.queries, self.rule, ""
        strangers = [query for query in rule.must_hold if query not in queries]
        strangers = strangers or [measure for measure in rule.floors if measure not in self.measures]
        if not queries or not self.history or self.scale <= 0 or self.runs < 1:
            wrong = "queries, a history and a scale above 0 are required"
        elif self.judgments.get("content") != content_hash({q: each.judgments for q, each in queries.items()}):
            wrong = "the queries or the hashes of their judgments have changed since they were frozen"
        elif strangers:
            wrong = f"rule: {some_of(strangers)}: not in the gate"
        elif any(spread < 0 for each in self.history for spread in each.spreads.values()):
            wrong = "history: a spread is below 0"
        for query, each in queries.items():
            weight_fits = each.weight is None if rule.weights is None else (each.weight or 0) > 0
            if len(each.scores) != len(self.measures):
                wrong = f"query {printable(query)}: expected a score by each measure"
            elif not weight_fits:
                wrong = f"query {printable(query)}: expected a weight if and only if the rule has weights"
        wrong = wrong or self._changed_scores(scores_hash)
        if wrong:
            raise InputError(f"{name}: {wrong}", f"{_BY_HAND} `gainful gate init` freezes a new baseline")

    def _changed_scores(self, scores_hash: object) -> str:
        """Describe how the scores have changed since they were frozen, if so; older files have no hash."""
        for place, measure in enumerate(self.measures):
            frozen = ((each.scores[place], each.weight or 1.0) for each in self.queries.values())
            scored = [(score * weight, weight) for score, weight in frozen if score is not None]
            mean = math.fsum(score for score, _ in scored) / (math.fsum(weight for _, weight in scored) or 1.0)
            if measure not in self.history[-1].means:
                _ = self.parsed  # raises the clearer error if the measure is unknown
            known = self.history[-1].means.get(measure, math.nan)
            if not math.isclose(mean, known, rel_tol=1e-9, abs_tol=1e-9):
                return f"{measure}: expected scores with the mean {known:.4f} of the last baseline, found {mean:.4f}"
        return "" if scores_hash in (None, self._scores_hash) else "the scores have changed since they were frozen"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # escape IDs that are not UTF-8
        return json.dumps(value, allow_nan=False)
    return text


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST


#: Names of types in messages.
_WORDS = {str: "a text", float: "a number", int: "a whole number", bool: "true or false", list: "a list", dict: "a map"}


#: Types with many values, which are checked without recursion.
_FREQUENT: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    float | None: lambda value: value is None or _is_number(value),
}


@cache
def _form(kind: Any) -> tuple[Any, tuple[Any, ...], dict[str, tuple[Field[Any], Any]]]:
    """Return the type of an annotation, its parameters, and the fields of a dataclass with their types."""
    hints = get_type_hints(kind) if is_dataclass(kind) else {}
    return get_origin(kind) or kind, get_args(kind), {e.name: (e, hints[e.name]) for e in fields(kind)} if hints else {}


def _read(kind: Any, value: Any, where: tuple[str, ...]) -> Any:
    """Convert a JSON value to the annotated type; raise InputError if it has another."""
    if kind in _FREQUENT and _FREQUENT[kind](value):
        return value
    origin, inside, known = _form(kind)
    if origin is UnionType:
        return None if value is None else _read(inside[0], value, where)
    basic = dict if known else origin
    fits = type(value) is basic or basic in (Any, float)
    if not fits or (basic in (int, float) and not _is_number(value)):
        raise InputError(f"{': '.join(where)}: expected {_WORDS[basic]}, found {printable(json.dumps(value))}")
    if origin is list:
        if inside[0] in _FREQUENT and all(map(_FREQUENT[inside[0]], value)):
            return value
        return [_read(inside[0], each, (*where, str(i))) for i, each in enumerate(value, 1)]
    if origin is dict:
        return {name: _read(inside[1], each, (*where, name)) for name, each in value.items()}
    if not known:
        return value
    for name in value:
        if name not in known:
            raise InputError(f"{': '.join(where)}: unknown key '{printable(name)}'", _BY_HAND)
    for name, (each, _) in known.items():
        if name not in value and each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"{': '.join(where)}: missing key '{name}'")
    return kind(**{name: _read(known[name][1], content, (*where, name)) for name, content in value.items()})


def hashes_of(qrels: Qrels) -> dict[str, str]:
    """Return a hash of each query's documents, sub-topics (with probabilities, if known) and grades, in any order."""
    likely = qrels.intents or {}
    lines = {of: [b"%s\t%r" % pair for pair in likely.get(of, {}).items()] for of in qrels.query_ids}
    grades = {grade: number_text(grade).encode() for grade in set(qrels.grade.tolist())}
    rows = zip(qrels.query.tolist(), qrels.subtopic.tolist(), qrels.grade.tolist(), strict=True)
    for row, (query, subtopic, grade) in enumerate(rows):
        judgment = (qrels.document(row), qrels.subtopic_ids[subtopic], grades[grade])
        lines[qrels.query_ids[query]].append(b"\t".join(judgment))
    return {
        text_of_id(identifier): hashlib.sha256(b"\n".join(sorted(each))).hexdigest()[:_DIGITS]
        for identifier, each in lines.items()
    }


def content_hash(hashes: Mapping[str, str]) -> str:
    """Return one hash of many."""
    lines = "\n".join(f"{query}\t{hashes[query]}" for query in sorted(hashes))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
