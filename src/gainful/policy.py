"""All conventions that can change a score, by name, with their defaults.

Tools disagree on nDCG because they read, order and average differently. gainful gives each convention a name, a flag
and a place in the signature, so that every score comes with its conventions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gainful.errors import UsageError
from gainful.frozen import dataclass, field, fields, replace
from gainful.kernel import core
from gainful.notation import choose, nearest, number_text, read_number
from gainful.question import Setting

if TYPE_CHECKING:
    from gainful.kernel.core import JoinOptions


#: Returns the document of a chunk, None or an empty text for other IDs; in Python a dict may take its place.
Parent: TypeAlias = Callable[[str], str | None]
#: Stands for functions and dicts in signatures, from which they cannot be restored.
_FUNCTION = "<function>"


class Choice(NamedTuple):
    """A convention: its values (the first is the default) and a description."""

    name: str
    values: tuple[str, ...]
    about: str

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def default(self) -> str:
        return self.values[0]


def _choice(values: str, about: str, default: object = ..., metavar: str = "N") -> Any:
    """Declare a convention: its values (the first is the default, unless ``default`` is given) and a description."""
    words = tuple(values.split())
    declared = Setting(
        f"{about[0].upper()}{about[1:]}.",
        kind="switch" if isinstance(default, bool) else "text",
        choices=words if len(words) > 1 else (),
        metavar=metavar if len(words) == 1 else None,
        shown=words[0],
    )
    metadata = {"setting": declared, "values": words, "about": about}
    return field(default=words[0] if default is ... else default, metadata=metadata)


#: Treatments of equal scores that depend on grades; the core breaks them by ID first.
BY_GRADE = ("expected", "best", "worst")

#: Conventions that order and cut lists; others need judgments.
LIST_CHOICES = ("order", "ties", "scores", "duplicates", "parent", "depth")

#: Conventions of other tools, as differences from the defaults.
DIALECTS: Mapping[str, Mapping[str, str]] = {
    "trec_eval-9": {"scores": "float32", "missing": "skip", "negative": "unjudged", "recall_cut": "ceil0.9"},
    "trec_eval-10": {"missing": "error", "negative": "unjudged", "recall_cut": "round"},
    "ntcireval": {"order": "input"},
}


@dataclass(frozen=True)
class Policy:
    """All conventions of an evaluation; each field is one choice.

    >>> Policy(missing="skip").differences()
    {'missing': 'skip'}
    >>> Policy.like("trec_eval-9", missing="zero").scores
    'float32'
    """

    order: str = _choice("score rank input", "order of a list; runs without scores use ranks, or else input order")
    ties: str = _choice(
        "docid-desc docid-asc rank input expected best worst",
        "order of tied documents; IDs compare as bytes, rank falls back on docid-desc, order=rank ties on rank; "
        "with judgments, expected averages scores over all orders, best and worst put higher or lower grades first",
    )
    scores: str = _choice("float64 float32", "precision of scores; float32 rounds scores before comparing them")
    duplicates: str = _choice("error first", "treatment of duplicates in a list; first keeps the best-ranked one")
    parent: str | Parent = _choice(
        "none",
        "documents of chunks, ranked by their first chunk; a column of the run, a pattern with one group such as "
        "'(.+)#.*', or a file of chunks and documents",
        metavar="HOW",
    )
    parent_of: str = _choice("run both", "where chunks become documents; both: in the run and the judgments")
    spans: str = _choice(
        "none",
        "credit chunks to the judged spans they cover; IDs such as doc[120:480], share multiplies the grade by the "
        "covered share, a number is the minimum share that counts",
        metavar="HOW",
    )
    depth: int | None = _choice("all", "maximum length of lists; all, or a number", None)
    unjudged: str = _choice("zero condensed", "treatment of unjudged documents; gain 0 at their rank, or removed")
    negative: str = _choice(
        "judged unjudged", "treatment of negative grades; judged not relevant, or not judged (after grade-zero)"
    )
    grade_zero: float = _choice("0", "grade that means not relevant; subtracted first, lower grades count as 0", 0.0)
    judges: str = _choice(
        "error mean median max min turn", "treatment of conflicting grades; turn takes each judge (column 2) in turn"
    )
    subtopics: bool = _choice("no yes", "read sub-topics from column 2 of the judgments", False)
    missing: str = _choice("zero skip error", "treatment of judged queries without results")
    undefined: str = _choice("zero skip error", "treatment of queries with undefined scores")
    extra: str = _choice("ignore error", "treatment of queries without judgments")
    recall_cut: str = _choice(
        "exact round ceil0.9",
        "documents at recall level r of n; at least r * n, r * n rounded, or r * n + 0.9 truncated",
    )

    def __post_init__(self) -> None:
        for choice in CHOICES:
            object.__setattr__(self, choice.field, _read(choice, getattr(self, choice.field)))
        if self.ties in BY_GRADE and (self.depth or self.order == "rank" or self.spans == "share"):
            other = "depth" if self.depth else "order=rank" if self.order == "rank" else "spans=share"
            hint = "a cutoff such as nDCG@10 counts all documents that are tied at it"
            raise UsageError(f"ties={self.ties} cannot be used with {other}", hint if self.depth else None)

    @classmethod
    def of(cls, value: PolicyLike) -> Policy:
        """Convert a policy, a dict of choices, a text, or None (the defaults) to a policy.

        A text names another tool or lists choices: ``"trec_eval-9"``, ``"duplicates:first, missing:skip"``.

        >>> Policy.of("duplicates:first, missing=skip") == Policy.of({"duplicates": "first", "missing": "skip"})
        True
        """
        if isinstance(value, str) and re.search("[:=]", value):
            value = dict(part.replace("=", ":", 1).partition(":")[::2] for part in value.split(","))
        if isinstance(value, Mapping):
            chosen: dict[str, Any] = {str(name).strip().replace("-", "_"): each for name, each in value.items()}
            _refuse_unknown(chosen, [choice.field for choice in CHOICES])
            texts = {name: each.strip() for name, each in chosen.items() if isinstance(each, str)}
            return cls().replace(**{**chosen, **texts})
        for choice in CHOICES if isinstance(value, str) and value not in DIALECTS else ():
            if value in choice.values:
                raise UsageError(f"policy: {value!r} is a value of {choice.field}", f"{choice.field}={value!r}")
        return value if isinstance(value, Policy) else cls() if value is None else cls.like(value)

    @classmethod
    def gathered(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Combine keywords that are choices into a policy.

        >>> Policy.gathered({"duplicates": "first", "threads": 2})["policy"].differences()
        {'duplicates': 'first'}
        """
        choices = {choice.field: given[choice.field] for choice in CHOICES if choice.field in given}
        policy = {"policy": cls.of(given.get("policy")).replace(**choices)} if choices else {}
        return {**{name: value for name, value in given.items() if name not in choices}, **policy}

    @classmethod
    def like(cls, dialect: str, **explicit: object) -> Policy:
        """Return the policy of another tool; explicit choices take precedence."""
        _refuse_unknown(explicit, [choice.field for choice in CHOICES])
        return cls(**{**DIALECTS[choose(dialect, DIALECTS, "like")], **explicit})  # type: ignore[arg-type]

    @classmethod
    def from_texts(cls, texts: Mapping[str, str]) -> Policy:
        """Restore a policy from :meth:`texts`; missing choices keep their defaults."""
        known = {choice.name: choice.field for choice in CHOICES}
        _refuse_unknown(texts, known)
        if texts.get("parent") == _FUNCTION:
            raise UsageError("parent: a function or a dict cannot be read back", "write chunks and documents to a file")
        plain = {known[name]: text.replace("%2C", ",").replace("%7C", "|") for name, text in texts.items()}
        return cls(**{name: text.replace("%25", "%") for name, text in plain.items()})  # type: ignore[arg-type]

    def replace(self, **changes: object) -> Policy:
        """Return a copy with some choices changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def texts(self) -> dict[str, str]:
        """Return every choice and its value as text, in signature order."""
        return {choice.name: _write(getattr(self, choice.field)) for choice in CHOICES}

    def differences(self) -> dict[str, str]:
        """Return the choices that differ from the defaults."""
        return {c.name: text for c, text in zip(CHOICES, self.texts().values(), strict=True) if text != c.default}

    def __str__(self) -> str:
        return "|".join(f"{name}:{text}" for name, text in self.texts().items())

    def join_options(
        self, *, want_scores: bool = False, want_rows: bool = False, want_facts: bool = False
    ) -> JoinOptions:
        """Return the options of the core's join, with the data wanted of it."""
        values = {choice.field: choice.values for choice in CHOICES}
        ties = "docid-desc" if self.ties in BY_GRADE else self.ties
        if self.order == "input":
            ties = "input"  # lists in input order have no ties to break
        return core.JoinOptions(
            values["order"].index(self.order),
            values["ties"].index(ties),
            float32=self.scores == "float32",
            keep_first=self.duplicates == "first" or self.credits_chunks,
            depth=self.depth or 0,
            want_scores=want_scores,
            want_rows=want_rows,
            want_facts=want_facts,
        )

    @property
    def has_parents(self) -> bool:
        """Whether chunks are replaced by their documents."""
        return self.parent != "none"

    @property
    def credits_chunks(self) -> bool:
        """Whether chunks are replaced by documents or spans, which count at their first chunk."""
        return self.has_parents or self.spans != "none"

    @property
    def least_share(self) -> float:
        """The minimum share of a span that a chunk must cover."""
        return float(self.spans) if self.spans[0].isdigit() else 0.0

    @cached_property
    def needs_rank(self) -> bool:
        """Whether the run's rank column is used."""
        return self.order == "rank" or (self.ties == "rank" and self.order == "score")


def _refuse_unknown(names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"policy: unknown choice '{name}'", nearest(name, known))


def _read(choice: Choice, value: object) -> object:
    if choice.name == "depth":
        if value is None or value == "all":
            return None
        number = read_number(value, "depth")
        if number != int(number) or not 1 <= number <= 2**53:
            raise UsageError(f"depth: expected 'all' or a whole number of at least 1, found {value!r}")
        return int(number)
    if choice.name == "grade-zero":
        number = read_number(value, "grade-zero")
        if number < 0:
            raise UsageError(f"grade-zero: expected a number of at least 0, found {number_text(number)}")
        return number
    if choice.name == "parent":
        if isinstance(value, Mapping):
            return value.get
        if isinstance(value, str) and "(" in value:
            try:
                found = re.compile(value).groups
            except re.error as error:
                raise UsageError(f"parent: '{value}' is not a regular expression: {error}", PARENT_FORMS) from error
            if found != 1:
                raise UsageError(f"parent: expected a pattern with one group, found {found} in '{value}'", PARENT_FORMS)
        elif not value or not (callable(value) or isinstance(value, str)):
            raise UsageError(f"parent: expected a text, a dict or a function, found {value!r}", PARENT_FORMS)
        return value
    if choice.name == "spans" and value not in ("none", "share"):
        number = read_number(value, "spans")
        if not 0 < number <= 1:
            raise UsageError(f"spans: expected 'share' or a number above 0 and at most 1, found {number_text(number)}")
        return number_text(number)
    if choice.name == "spans":
        return value
    if choice.name == "subtopics":
        return value if isinstance(value, bool) else choose(value, choice.values, "subtopics") == "yes"
    return choose(value, choice.values, choice.name)


#: Ways to give the documents of chunks.
PARENT_FORMS = (
    "a pattern such as '(.+)#.*' captures the document in parentheses; other values name a column of the run, such as "
    "doc_id, or a file of chunks and documents"
)


def _write(value: object) -> str:
    if callable(value):
        return _FUNCTION
    if isinstance(value, str):
        return value.replace("%", "%25").replace("|", "%7C").replace(",", "%2C")  # which separate choices
    if value is None:
        return "all"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value)  # type: ignore[arg-type]


#: Anything that :meth:`Policy.of` converts.
PolicyLike: TypeAlias = Policy | Mapping[str, Any] | str | None


def policy_field() -> Any:
    """Declare a policy option, whose choices may also be keywords."""
    return field(default=None, metadata={"gather": Policy.gathered})


CHOICES = tuple(Choice(f.name.replace("_", "-"), f.metadata["values"], f.metadata["about"]) for f in fields(Policy))


def lenient(policy: Policy) -> Policy:
    """Return the policy without choices that would raise errors before findings are reported.

    >>> lenient(Policy(judges="mean")).differences()
    {'duplicates': 'first', 'judges': 'mean'}
    """
    return policy.replace(duplicates="first", judges="max" if policy.judges == "error" else policy.judges)
