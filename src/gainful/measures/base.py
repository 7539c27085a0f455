"""The base class of measures: a frozen set of parameters, and a formula over a block of queries."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, cast, dataclass_transform

from gainful.data.lists import GainLists, ItemLists
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats
from gainful.measures.arithmetic import Arithmetic
from gainful.measures.block import Block, score_list
from gainful.measures.parameters import MOST_RANKS, PARAMETERS
from gainful.notation import NUMBER, Budget, choose, nearest, number_text, read_number

BINARY, LINEAR, SCALED = Gain("binary"), Gain("linear"), Gain("scaled")

Better = Literal["higher", "lower", "neither"]
Aggregate = Literal["mean", "sum", "geometric", "whole"]


@cache
def _parameters(kind: type[Measure]) -> Mapping[str, object]:
    return MappingProxyType({parameter.name: parameter.default for parameter in fields(_declared(kind))})


def _declared(kind: type[Measure]) -> type[Measure]:
    """Make the class a frozen dataclass, unless its author did or it has an ``__init__``."""
    if "__dataclass_fields__" not in vars(kind) and "__init__" not in vars(kind):
        # Equality, hash and repr are Measure's: generating them would dominate the time of loading.
        dataclass(frozen=True, eq=False, repr=False)(kind)
    return kind


@dataclass_transform(eq_default=False, frozen_default=True)
@dataclass(frozen=True, eq=False, repr=False)
class Measure(ABC):
    """The definition of a score for one query. Its fields are its parameters.

    A subclass, which becomes a frozen dataclass automatically, defines ``name`` and :meth:`compute`; its docstring is
    its help text. The other class attributes describe its scores.
    """

    name: ClassVar[str]
    #: The unit of a score: a query, or a session of several.
    unit: ClassVar[str] = "query"
    #: The better direction, the range, and the aggregation over queries; ``"whole"``: queries have no score, and
    #: :meth:`whole` returns the value of all lists together.
    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    aggregate: ClassVar[Aggregate] = "mean"
    #: Required data beyond ranks and grades: ``"scores"``, ``"ties"`` (scores if the run has any), ``"documents"``.
    needs: ClassVar[frozenset[str]] = frozenset()
    #: The parameter that ``@`` sets, if the measure has it, and whether it is required.
    at: ClassVar[str] = "cutoff"
    needs_at: ClassVar[bool] = False
    #: Whether it uses the whole list even if the policy removes unjudged documents.
    whole_list: ClassVar[bool] = False
    #: Whether ranks past the end of a list count, so that time grows with the cutoff.
    sees_past_end: ClassVar[bool] = False
    #: A note on the name by which it was requested.
    note: ClassVar[str] = ""
    #: The budget given in place of a cutoff, which keeps its default: lists are cut before they are scored.
    budget: ClassVar[Budget | None] = None
    #: Its name in trec_eval's format, with all parameters at their defaults and with ``@`` (``{}`` is its value), if
    #: trec_eval has none.
    trec_eval: ClassVar[str | None] = None
    trec_eval_at: ClassVar[str | None] = None
    #: Descriptions of its parameters that differ from the shared ones.
    meanings: ClassVar[Mapping[str, str]] = {}
    #: Laws from which it is exempt, with reasons.
    exempt: ClassVar[Mapping[str, str]] = {}

    #: Tables that it uses: items, training, intents.
    tables: ClassVar[frozenset[str]] = frozenset()

    def needed(self) -> frozenset[str]:
        """Return the data that it requires with these parameters."""
        return self.needs if self.budget is None else self.needs | {"documents"}

    def own_formula(self) -> str:
        """Return the formula with these parameters if it differs from the docstring's; else an empty string."""
        return ""

    @abstractmethod
    def compute(self, block: Block) -> Floats:
        """Return one score per query of the block; NaN if the formula divides by 0."""

    def whole(self, lists: ItemLists) -> float:
        """Return the value of all lists of a run together, for measures with ``aggregate = "whole"``."""
        raise NotImplementedError

    def arithmetic(self, block: Block) -> Arithmetic | None:
        """Return the working of the score of a block of one query, rank by rank; None if it is not defined.

        Its value is computed from its columns and must equal that of :meth:`compute`.
        """
        return None

    def __init_subclass__(cls, *, takes: str = "", **options: Any) -> None:
        """Declare the parameters that a class ``takes``, in this order; defaults are (inherited) attributes."""
        super().__init_subclass__(**options)
        if takes:
            cls.__annotations__ = {**dict.fromkeys(takes.split(), "Any"), **cls.__annotations__}
        for base in cls.__bases__:
            if issubclass(base, Measure):
                _declared(base)

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        _declared(cls)  # not earlier: a class's own decorator runs after the class is created
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for parameter, default in self.parameters().items():
            value = getattr(self, parameter)
            if value is not None:
                read = self._read(parameter, default, value)
                if isinstance(read, Budget):
                    object.__setattr__(self, "budget", read)
                    object.__setattr__(self, "tables", self.tables | {"items"})
                    read = default
                object.__setattr__(self, parameter, read)
        self.validate()
        # Reset parameters without effect, so that measures with the same text are equal.
        for parameter in self._unused() & self.parameters().keys():
            object.__setattr__(self, parameter, self.parameters()[parameter])

    def validate(self) -> None:
        """Reject parameters that cannot be combined. Subclasses extend it."""
        if getattr(self, "rel", None) is not None and getattr(self, "level", None) is not None:
            raise UsageError(f"{self.name}: rel and level cannot be combined")
        at = self.at_parameter()
        if self.budget is not None:
            if why := self.why_no_budget():
                raise UsageError(f"{self.name}: a budget ({self.budget}) cannot cut its lists: {why}", self._hint_at())
        elif self.needs_at and at is not None and getattr(self, at) is None:
            raise UsageError(f"{self.name}: a {self.at} is required", self._hint_at())
        if self.sees_past_end and (self.rank_cutoff or 0) > MOST_RANKS:
            raise UsageError(f"{self.name}: expected a cutoff of at most {MOST_RANKS:,}, found {self.rank_cutoff:,}")

    @classmethod
    def why_no_budget(cls) -> str:
        """Return the reason why lists cannot be cut by their lengths; empty if they can."""
        is_of_list = cls.unit == "query" and cls.aggregate != "whole"
        return cls.exempt.get("cutoff", "") if is_of_list else "it does not score single lists"

    def _hint_at(self) -> str:
        return f"write {self.name}@{10 if self.at == 'cutoff' else 0.5}"

    def check(self, levels: Floats) -> None:
        """Reject judgments for which the measure is not defined; ``levels`` are their distinct grades."""
        if isinstance(gain := getattr(self, "gain", None), Gain):
            gain.check(levels)

    def _read(self, parameter: str, default: object, value: object) -> object:
        what = f"{self.name}: {parameter}"
        if parameter in PARAMETERS:
            return PARAMETERS[parameter].read(value, what)
        if isinstance(default, bool):
            return value if isinstance(value, bool) else choose(value, ("true", "false"), what) == "true"
        if isinstance(default, str) or not isinstance(value, str):
            return value
        # Numbers as text: parameters of a user's own measure from the command line.
        is_number = isinstance(default, (int, float)) or NUMBER.fullmatch(value)
        number = read_number(value, what) if is_number else None
        return value if number is None else int(number) if number == int(number) else number

    @classmethod
    def parameters(cls) -> Mapping[str, object]:
        """Return the names of the parameters and their defaults."""
        return _parameters(cls)

    @classmethod
    def at_parameter(cls) -> str | None:
        """Return the parameter that ``@`` sets, if the measure has it."""
        return cls.at if cls.at in cls.parameters() else None

    @classmethod
    def from_parameters(cls, given: Mapping[str, object]) -> Measure:
        """Create a measure from named parameters, whose values may be strings."""
        known = cls.parameters()
        for parameter in given:
            if parameter not in known:
                listed = f"{cls.name} takes {', '.join(known)}" if known else f"{cls.name} takes no parameters"
                close = nearest(parameter, known)
                raise UsageError(
                    f"{cls.name}: unknown parameter '{parameter}'", f"{close} {listed}" if close else listed
                )
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values == other._values

    def __hash__(self) -> int:
        return hash((type(self), self._values))

    def __repr__(self) -> str:
        return str(self)

    # Cached, because they are used per query and per table cell, and a measure never changes.
    @cached_property
    def _values(self) -> tuple[object, ...]:
        return tuple(map(self._given, self.parameters()))

    @cached_property
    def _canonical(self) -> str:
        return self._text(lambda value, default: value is not None and value != default)

    def _given(self, parameter: str) -> object:
        """Return the value of a parameter; of the cutoff, the budget if there is one."""
        return self.budget if parameter == "cutoff" and self.budget else getattr(self, parameter)

    def replace(self, **changes: Any) -> Measure:
        """Return a copy with some parameters changed."""
        changes = changes if self.budget is None else {"cutoff": self.budget, **changes}
        return replace(self, **changes).noted(self.note)

    def at_end(self, length: int) -> Measure:
        """Return the measure of lists that its budget has cut to a length: with that as its cutoff if it needs one."""
        by_rank = self.needs_at or self.sees_past_end or getattr(self, "average", None) is not None
        if not self.budget or not by_rank:
            return self
        measure = self.replace(cutoff=max(1, length))
        object.__setattr__(measure, "_canonical", str(self))  # as steps and messages name it
        return measure

    def noted(self, note: str) -> Measure:
        """Set the note of a new measure and return it."""
        object.__setattr__(self, "note", note)
        return self

    def __matmul__(self, value: object) -> Measure:
        at = self.at_parameter()
        if at is None:
            raise UsageError(f"{self.name} takes no @ (@{value})")
        return self.replace(**{at: value})

    def __str__(self) -> str:
        """Return the canonical text: parameters that differ from their defaults, in order, ``@`` last."""
        return self._canonical

    def full_text(self) -> str:
        """Return the text with all parameters that are set, including defaults."""
        return self._text(lambda value, default: value is not None)

    def _text(self, shown: Callable[[object, object], bool]) -> str:
        unused = self._unused()
        given = [(name, self._given(name), default) for name, default in self.parameters().items()]
        texts = [
            f"{name}={value_text(value)}"
            for name, value, default in given
            if name != self.at and name not in unused and shown(value, default)
        ]
        name = self.at_parameter()
        at = f"@{value_text(value)}" if name and shown(value := self._given(name), self.parameters()[name]) else ""
        return self.name + (f"({', '.join(texts)})" if texts else "") + at

    def _unused(self) -> frozenset[str]:
        """Return parameters without effect, given the others."""
        return frozenset()

    @property
    def worst(self) -> float | None:
        """The value without an answer or with an undefined score: the worst possible unless a measure declares another,
        None if the range is unbounded there, or queries have no scores."""
        low, high = self.bounds
        if self.aggregate == "whole":
            return None
        if self.better == "lower":
            return high if math.isfinite(high) else None
        return 0.0 if self.better == "neither" or math.isfinite(low) else None

    def require_scores(self) -> None:
        """Raise UsageError if only all lists together have a value."""
        if self.aggregate == "whole":
            hint = "gainful eval shows it (gainful.evaluate in Python)"
            raise UsageError(f"{self}: has no per-query scores, only a value of all lists together", hint)

    @property
    def orders_by_mean(self) -> bool:
        """Whether systems can be compared by mean score."""
        return self.better != "neither" and self.aggregate in ("mean", "sum")

    @property
    def rank_cutoff(self) -> int | None:
        """The last rank that counts, if there is a cutoff."""
        cutoff = getattr(self, "cutoff", None)
        return cutoff if isinstance(cutoff, int) else None

    @classmethod
    def help_text(cls) -> str:
        """Return the docstring without indentation."""
        return inspect.cleandoc(cls.__doc__ or "")

    def score(
        self,
        grades: Sequence[float | None],
        unretrieved: Sequence[float] = (),
        *,
        scale: float | None = None,
        **policy: Any,
    ) -> float:
        """Return the raw score of one list, given as grades in rank order; None is an unjudged document.

        ``unretrieved`` are grades of judged documents not in the list; further arguments are passed to the policy.

        >>> from gainful.measures.catalog import parse
        >>> parse("P@4").score([2, None, 0, 1])
        0.5
        """
        return score_list(self, grades, unretrieved, scale, policy)


class Usual(Measure):
    """A measure with usual parameters, of which subclasses take some, in the order in which they are printed."""

    rel = level = cast("float | None", None)
    unjudged, cutoff = cast("str | None", None), cast("int | None", None)


class OfGains(Usual):
    """A measure of gains; subclasses take this parameter and the usual ones."""

    gain = LINEAR

    def _run_lists(self, block: Block) -> GainLists:
        return block.gain_lists(self.gain, self.rel, self.level)

    def _ideal_lists(self, block: Block) -> GainLists:
        return block.ideal_lists(self.gain, self.rel, self.level)


class Graded(OfGains, takes="gain rel level unjudged"):
    """A measure of gains with the usual first parameters."""


def value_text(value: object) -> str:
    """Format a parameter's value as in a measure's text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, (int, float)) else str(value)
