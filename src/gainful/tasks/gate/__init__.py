"""The file of a gate: a frozen baseline, what it was measured on, the rule, and how it came about.

Nothing here loads NumPy: a gate says by which conventions files are read, so that it is read before them.
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

#: The form of the file, and of the numbers in it: raised when a measure's values change.
SCHEMA, NUMBERS = 1, 1
#: A query collapsed that lost this share of a score of at least so much.
COLLAPSED, COLLAPSED_FROM = 0.8, 0.1
#: The margin, as a share of the mean, where nobody chose one and the queries can show it.
MARGIN = 0.02
_DIGITS = 16  # of a query's hash
_LARGEST = 1e150  # of a number, so that squares are numbers, too
_BY_HAND = "was the file changed by hand?"


@dataclass(frozen=True)
class Rule:
    """What a gate goes by. ``margin`` is a share of the baseline's mean (``is_relative``), or absolute; None is 2%, or
    what the queries of the baseline can show.

    ``floors`` are least means by measure, ``must_hold`` queries that may not fall at all. ``by`` is the column that
    queries are grouped by, ``weights`` that of their weights. ``missing_at_most`` queries of a run may be missing;
    ``judged_at_least`` of the documents in the top ranks have to be judged, and at most ``judged_drop`` fewer than with
    the baseline. ``spread`` is that of per-query differences, relative to the mean, as long as none is known: what
    small changes have, of which real collections have less.
    """

    margin: float | None = None
    is_relative: bool = True
    floors: dict[str, float] = field(default_factory=dict)
    must_hold: list[str] = field(default_factory=list)
    by: str | None = None
    weights: str | None = None
    missing_at_most: int = setting(0, "Queries a run may leave out.", kind="whole", least=0)
    judged_at_least: float = number(0.0, "The least share of judged documents in the top ranks.", "SHARE")
    judged_drop: float = number(0.05, "How much less of them may be judged than with the baseline.", "SHARE")
    spread: float = number(0.13, "How far queries differ by a small change, relative to the mean.", "SHARE")

    def __post_init__(self) -> None:
        above, share = (5e-324, _LARGEST, "a number above 0"), (0, 1, "a share from 0 to 1")
        for name, (least, most, wanted) in {
            "margin": above,
            "spread": above,
            "judged_at_least": share,
            "judged_drop": share,
            "missing_at_most": (0, _LARGEST, "a whole number from 0 on"),
        }.items():
            value = getattr(self, name)
            if not (_is_number(value) and least <= value <= most) and (name, value) != ("margin", None):
                raise UsageError(f"{name.replace('_', '-')}: expected {wanted}, found {value!r}")
        object.__setattr__(self, "floors", {str(parse(measure)): floor for measure, floor in self.floors.items()})

    @classmethod
    def of(
        cls,
        margin: str | None = None,
        floors: Mapping[str, float] | Iterable[str] = (),
        must_hold: Iterable[str] | str = (),
        **others: Any,
    ) -> Rule:
        """A rule as people write it: its margin, its floors, and the ids of queries that must hold or a file of them.

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
                raise InputError(f"{must_hold}: expected the ids of queries that must hold, found none")
            must_hold = ids
        least = dict(floors) if isinstance(floors, Mapping) else read_floors(floors)
        return cls(chosen, is_relative, least, list(must_hold), **others)

    @property
    def margin_text(self) -> str:
        return (percent_text if self.is_relative else number_text)(self.margin or MARGIN)

    def margin_of(self, baseline: float) -> float:
        """The margin of a measure whose baseline has this mean."""
        return (self.margin or MARGIN) * (abs(baseline) if self.is_relative else 1.0)


def refuse_existing(gate: str | os.PathLike[str]) -> None:
    """Refuses a file that exists: a new baseline comes with a reason."""
    if os.path.exists(gate):
        raise UsageError(
            f"{os.fspath(gate)}: expected a new file, found one that exists",
            "`gainful gate update` changes a baseline, with a reason",
        )


def read_floors(texts: Iterable[str]) -> dict[str, float]:
    """The worst means that measures may have: the least ones, or where lower is better the largest.

    >>> read_floors(["ndcg@10 >= 0.40", "ESL<=3"])
    {'nDCG@10': 0.4, 'ESL': 3.0}
    """
    what, floors = for_asker("--floor", "floors"), dict[str, float]()
    for text in texts:
        sign = next((sign for sign in (">=", "<=") if sign in text), None)
        if sign is None:
            raise UsageError(f"{what}: expected something like nDCG@10>=0.40, found '{printable(text)}'")
        name, _, value = text.partition(sign)
        measure = parse(name.strip())
        if (measure.better == "lower") != (sign == "<="):
            raise UsageError(f"{what}: {measure}: {measure.better} is better, found '{printable(text)}'")
        if str(measure) in floors:
            raise UsageError(f"{what}: expected one of each measure, found two")
        floors[str(measure)] = read_number(value.strip(), what)
    return floors


def broken_floor(measure: Measure, floor: float, mean: float) -> str | None:
    """How a mean breaks a floor, if it does."""
    is_lower = measure.better == "lower"
    holds, side = (mean <= floor, "above its limit") if is_lower else (mean >= floor, "below its floor")
    if math.isnan(mean):
        return f"{measure} has no value for any query"
    return None if holds else f"{measure} is {mean:.4f}, {side} of {floor:g}"


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
    """All that a gate knows. ``path`` is the file it was read from, ``notices`` what is suspicious of its baseline."""

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
    path: str | None = field(default=None, compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    read_as: bytes | None = field(default=None, compare=False, repr=False)  # what the file held

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
        """The judgments that the baseline was made with: where they were, or beside the gate."""
        path = str(self.judgments.get("path", ""))
        for place in (path, os.path.join(os.path.dirname(self.path or ""), os.path.basename(path))):
            if os.path.exists(place):
                return place
        where = self.path or "the gate"
        raise UsageError(
            f"{where}: its judgments {path} are not there", "name them: gainful gate update GATE QRELS RUN"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, whole or not at all; a baseline that was frozen anew overwrites no gate."""
        if self.path is None and len(self.history) == 1:
            refuse_existing(path)
        name, content = os.fspath(path), self.text().encode()
        # Paths, not files: another process may replace the file between two looks at it.
        is_other = os.path.realpath(name) != os.path.realpath(self.path or name)
        if self.read_as is None or is_other or not os.path.isfile(name):
            write_bytes(name, content)
            return
        with open(name, "rb") as held:
            with contextlib.suppress(ImportError):
                import fcntl  # not on Windows

                fcntl.flock(held, fcntl.LOCK_EX)  # of two that update it, one waits for the other
            found = b""
            with contextlib.suppress(InputError):  # changed while being read
                found = bytes(open_source(name).buffer)
            if found not in (self.read_as, content):
                wrong = f"{name}: the file has changed since it was read, so nothing was written"
                raise InputError(wrong, "`gainful gate history` shows who came first; then update it again")
            write_bytes(name, content)

    def text(self) -> str:
        """The content of the file: one line per query, so that changes can be reviewed."""
        head: dict[str, Any] = {"gainful-gate": SCHEMA, "gainful": self.version, "numbers": self.numbers}
        named = ("measures", "policy", "scale", "judgments", "judged", "runs", "run_variances")
        head |= {name: getattr(self, name) for name in named} | {"scores": self._scores_hash}
        head["rule"] = asdict(self.rule)
        lines = [f"  {_json(name)}: {_json(value)}," for name, value in head.items()]
        history = [f"    {_json(asdict(each))}" for each in self.history]
        known = {
            query: {name: value for name, value in asdict(each).items() if value is not None}
            for query, each in self.queries.items()
        }
        queries = [f"    {_json(query)}: {_json(each)}" for query, each in known.items()]
        parts = ['  "history": [', ",\n".join(history), "  ],", '  "queries": {', ",\n".join(queries), "  }"]
        return "\n".join(["{", *lines, *parts, "}", ""])

    @property
    def _scores_hash(self) -> str:
        """What tells the frozen scores."""
        return content_hash({query: _json(each.scores) for query, each in self.queries.items()})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Gate:
        """Reads the file; what it does not know there is an error."""
        name = os.fspath(path)
        try:
            content = bytes(open_source(name).buffer)
        except InputError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            how = f"gainful gate init QRELS RUN -o {shlex.quote(name)}"
            raise InputError(f"{name}: no such file", f"{how} makes it of the baseline's run") from None
        value = parse_json(content, name, name)
        if not isinstance(value, dict) or "gainful-gate" not in value:
            raise InputError(f"{name}: expected a file of `gainful gate init`, found something else")
        schema = value.pop("gainful-gate")
        if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
            raise InputError(
                f"{name}: expected a gate of form {SCHEMA} or older, found {schema!r}", "a newer gainful wrote it"
            )
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
            wrong = "expected queries, a history and a scale above 0, found something else"
        elif self.judgments.get("content") != content_hash({q: each.judgments for q, each in queries.items()}):
            wrong = "expected the judgments that were frozen, found other queries or hashes"
        elif strangers:
            wrong = f"rule: expected gated queries and measures, found {some_of(strangers)}"
        elif any(spread < 0 for each in self.history for spread in each.spreads.values()):
            wrong = "history: expected spreads from 0 on, found one below"
        for query, each in queries.items():
            weight_fits = each.weight is None if rule.weights is None else (each.weight or 0) > 0
            if len(each.scores) != len(self.measures):
                wrong = f"query {printable(query)}: expected a score of each measure"
            elif not weight_fits:
                wrong = f"query {printable(query)}: expected a weight just if the rule has weights"
        wrong = wrong or self._contradiction(scores_hash)
        if wrong:
            raise InputError(f"{name}: {wrong}", f"{_BY_HAND} `gainful gate init` freezes a baseline anew")

    def _contradiction(self, scores_hash: object) -> str:
        """How the scores are not those that were frozen, if so; older files have no hash of them."""
        for place, measure in enumerate(self.measures):
            frozen = ((each.scores[place], each.weight or 1.0) for each in self.queries.values())
            scored = [(score * weight, weight) for score, weight in frozen if score is not None]
            mean = math.fsum(score for score, _ in scored) / (math.fsum(weight for _, weight in scored) or 1.0)
            if measure not in self.history[-1].means:
                _ = self.parsed  # a measure that there is not is the better message
            known = self.history[-1].means.get(measure, math.nan)
            if not math.isclose(mean, known, rel_tol=1e-9, abs_tol=1e-9):
                return f"{measure}: expected scores with the mean {known:.4f} of the last baseline, found {mean:.4f}"
        return "" if scores_hash in (None, self._scores_hash) else "expected the scores that were frozen, found others"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # ids that are not UTF-8 are escaped
        return json.dumps(value, allow_nan=False)
    return text


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST


#: What values are called in messages.
_WORDS = {
    str: "a text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "names and values",
}


#: Kinds of which a large gate has many values: all of them are looked at, the place of each only where one is wrong.
_FREQUENT: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    float | None: lambda value: value is None or _is_number(value),
}


@cache
def _form(kind: Any) -> tuple[Any, tuple[Any, ...], dict[str, Field[Any]]]:
    """What an annotation is made of: its kind, what is inside, and the fields of a class."""
    return get_origin(kind) or kind, get_args(kind), {e.name: e for e in fields(kind)} if is_dataclass(kind) else {}


def _read(kind: Any, value: Any, where: tuple[str, ...]) -> Any:
    """What a file has at a place, as the kind that an annotation names; anything else is refused."""
    if kind in _FREQUENT and _FREQUENT[kind](value):
        return value
    origin, inside, known = _form(kind)
    if origin is UnionType:
        return None if value is None else _read(inside[0], value, where)
    basic = dict if known else origin
    if not (basic is Any or (_is_number(value) if basic is float else type(value) is basic)):
        raise InputError(f"{': '.join(where)}: expected {_WORDS[basic]}, found {printable(json.dumps(value))}")
    if origin is list:
        if inside[0] in _FREQUENT and all(map(_FREQUENT[inside[0]], value)):
            return value
        return [_read(inside[0], each, (*where, str(i))) for i, each in enumerate(value, 1)]
    if origin is dict:
        return {name: _read(inside[1], each, (*where, name)) for name, each in value.items()}
    if not known:
        return value
    hints = _hints(kind)
    for name in value:
        if name not in known:
            raise InputError(f"{': '.join(where)}: unknown key '{printable(name)}'", _BY_HAND)
    for name, each in known.items():
        if name not in value and each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"{': '.join(where)}: expected '{name}', found none")
    return kind(**{name: _read(hints[name], content, (*where, name)) for name, content in value.items()})


_hints = cache(get_type_hints)


def hashes_of(qrels: Qrels) -> dict[str, str]:
    """What tells each query's judgments: a hash of its documents, sub-topics and grades, in any order."""
    lines: dict[bytes, list[bytes]] = {identifier: [] for identifier in qrels.query_ids}
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
    """One hash of all of them."""
    lines = "\n".join(f"{query}\t{hashes[query]}" for query in sorted(hashes))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
