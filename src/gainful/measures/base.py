"""What a measure is: a frozen set of parameters, read from texts or as such, and a formula over a block of queries."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, dataclass_transform

from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats
from gainful.measures.block import Block, score_list
from gainful.measures.parameters import MOST_RANKS, PARAMETERS
from gainful.notation import NUMBER, choose, nearest, number_text, read_number

if TYPE_CHECKING:
    from gainful.data.lists import GainLists, ItemLists
    from gainful.measures.arithmetic import Arithmetic


BINARY, LINEAR, SCALED = Gain("binary"), Gain("linear"), Gain("scaled")

Better = Literal["higher", "lower", "neither"]
Aggregate = Literal["mean", "sum", "geometric", "whole"]


@cache
def _parameters(kind: type[Measure]) -> Mapping[str, object]:
    return MappingProxyType({parameter.name: parameter.default for parameter in fields(_declared(kind))})


def _declared(kind: type[Measure]) -> type[Measure]:
    """The class as a frozen dataclass: as its author decorated it, else made one unless it has an ``__init__``."""
    if "__dataclass_fields__" not in vars(kind) and "__init__" not in vars(kind):
        # Equality, hash and text are Measure's: generating them would cost more than all else of loading.
        dataclass(frozen=True, eq=False, repr=False)(kind)
    return kind


@dataclass_transform(eq_default=False, frozen_default=True)
@dataclass(frozen=True, eq=False, repr=False)
class Measure(ABC):
    """The definition of a number for one query. Its fields are its parameters.

    A subclass, which is a frozen dataclass by itself, gives ``name`` and :meth:`compute`; its docstring is its help
    text. The other class attributes say how its scores are to be read.
    """

    name: ClassVar[str]
    #: What it gives one number for: a query, or a session of several.
    unit: ClassVar[str] = "query"
    #: Which direction is better, the values it can have, and what becomes of many scores; ``"whole"``: a query has
    #: none, and :meth:`whole` has the value of all lists together.
    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    aggregate: ClassVar[Aggregate] = "mean"
    #: What it needs beyond ranks and grades: ``"scores"``, ``"ties"`` (scores where there are any), ``"documents"``.
    needs: ClassVar[frozenset[str]] = frozenset()
    #: The parameter that ``@`` sets, if the measure has it, and whether it must be given.
    at: ClassVar[str] = "cutoff"
    needs_at: ClassVar[bool] = False
    #: Whether it looks at the whole list even where the policy removes unjudged documents.
    whole_list: ClassVar[bool] = False
    #: Whether ranks past the end of a list count, too, so that time grows with the cutoff.
    sees_past_end: ClassVar[bool] = False
    #: What there is to know about the name that it was asked for by.
    note: ClassVar[str] = ""
    #: What stands for it in trec_eval's format with all parameters at their defaults, and with ``@`` (``{}`` is its
    #: value), if not the name that trec_eval has for it.
    trec_eval: ClassVar[str | None] = None
    trec_eval_at: ClassVar[str | None] = None
    #: What its parameters mean, where that is not what those of other measures mean.
    meanings: ClassVar[Mapping[str, str]] = {}
    #: Laws that it is excused from, each with the reason.
    exempt: ClassVar[Mapping[str, str]] = {}

    #: Which tables it looks at: items, training, intents.
    tables: ClassVar[frozenset[str]] = frozenset()

    def needed(self) -> frozenset[str]:
        """What it needs with these parameters."""
        return self.needs

    def own_formula(self) -> str:
        """The formula with these parameters, where it is not that of the docstring; else empty."""
        return ""

    @abstractmethod
    def compute(self, block: Block) -> Floats:
        """One score for every query of the block; NaN where the formula divides by 0."""

    def whole(self, lists: ItemLists) -> float:
        """The value of all lists of a run together, where that is what is measured."""
        raise NotImplementedError

    def arithmetic(self, block: Block) -> Arithmetic | None:
        """How the score of a block of one query comes about, rank by rank; None where that is not written down.

        Its value comes from its columns, not from :meth:`compute`: it must be the same.
        """
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in cls.__bases__:
            if issubclass(base, Measure):
                _declared(base)

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        _declared(cls)  # not before: a decorator of the class itself comes after the class is made
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for parameter, default in self.parameters().items():
            value = getattr(self, parameter)
            if value is not None:
                object.__setattr__(self, parameter, self._read(parameter, default, value))
        self.validate()
        # What has no effect is not shown, so that measures with the same text are equal.
        for parameter in self._unused() & self.parameters().keys():
            object.__setattr__(self, parameter, self.parameters()[parameter])

    def validate(self) -> None:
        """Refuses parameters that do not go together. Subclasses extend it."""
        if getattr(self, "rel", None) is not None and getattr(self, "level", None) is not None:
            raise UsageError(f"{self.name}: expected rel or level, found both")
        at = self.at_parameter()
        if self.needs_at and at is not None and getattr(self, at) is None:
            raise UsageError(f"{self.name}: expected a {self.at}, found none", self._hint_at())
        if self.sees_past_end and (self.rank_cutoff or 0) > MOST_RANKS:
            raise UsageError(f"{self.name}: expected a cutoff of at most {MOST_RANKS:,}, found {self.rank_cutoff:,}")

    def _hint_at(self) -> str:
        return f"write {self.name}@{10 if self.at == 'cutoff' else 0.5}"

    def check(self, levels: Floats) -> None:
        """Refuses judgments that the measure has no value for; ``levels`` are their distinct grades."""
        gain = getattr(self, "gain", None)
        if isinstance(gain, Gain):
            gain.check(levels)

    def _read(self, parameter: str, default: object, value: object) -> object:
        what = f"{self.name}: {parameter}"
        if parameter in PARAMETERS:
            return PARAMETERS[parameter].read(value, what)
        if isinstance(default, bool):
            return value if isinstance(value, bool) else choose(value, ("true", "false"), what) == "true"
        if isinstance(default, str) or not isinstance(value, str):
            return value
        # A text for a number: an own measure's parameter from the command line.
        is_number = isinstance(default, (int, float)) or NUMBER.fullmatch(value)
        number = read_number(value, what) if is_number else None
        return value if number is None else int(number) if number == int(number) else number

    @classmethod
    def parameters(cls) -> Mapping[str, object]:
        """The names of the parameters and their defaults."""
        return _parameters(cls)

    @classmethod
    def at_parameter(cls) -> str | None:
        """The parameter that ``@`` sets, if the measure has it."""
        return cls.at if cls.at in cls.parameters() else None

    @classmethod
    def from_parameters(cls, given: Mapping[str, object]) -> Measure:
        """A measure from parameters by name, values as texts or as themselves."""
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

    # A measure never changes, and is asked for these once a query and once a cell of a table.
    @cached_property
    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, parameter) for parameter in self.parameters())

    @cached_property
    def _canonical(self) -> str:
        return self._text(lambda value, default: value is not None and value != default)

    def replace(self, **changes: Any) -> Measure:
        """A copy with some parameters changed."""
        return replace(self, **changes).noted(self.note)

    def noted(self, note: str) -> Measure:
        """Itself, just made, with what there is to know about the name that it was asked for by."""
        object.__setattr__(self, "note", note)
        return self

    def __matmul__(self, value: object) -> Measure:
        at = self.at_parameter()
        if at is None:
            raise UsageError(f"{self.name}: takes no @, found @{value}")
        return self.replace(**{at: value})

    def __str__(self) -> str:
        """The canonical text: parameters that differ from their defaults, in order, ``@`` last."""
        return self._canonical

    def full_text(self) -> str:
        """The text with all parameters that are set, defaults included."""
        return self._text(lambda value, default: value is not None)

    def _text(self, shown: Callable[[object, object], bool]) -> str:
        unused = self._unused()
        given = [(name, getattr(self, name), default) for name, default in self.parameters().items()]
        texts = [
            f"{name}={value_text(value)}"
            for name, value, default in given
            if name != self.at and name not in unused and shown(value, default)
        ]
        name = self.at_parameter()
        at = f"@{value_text(value)}" if name and shown(value := getattr(self, name), self.parameters()[name]) else ""
        return self.name + (f"({', '.join(texts)})" if texts else "") + at

    def _unused(self) -> frozenset[str]:
        """Parameters that have no effect beside the others."""
        return frozenset()

    @property
    def worst(self) -> float | None:
        """The worst value there is: 0, or where lower is better the upper bound. None if values have no end there, or
        no query has one."""
        low, high = self.bounds
        if self.aggregate == "whole":
            return None
        if self.better == "lower":
            return high if math.isfinite(high) else None
        return 0.0 if self.better == "neither" or math.isfinite(low) else None

    def require_scores(self) -> None:
        """Refuses to be asked for the score of a query where only all lists together have a value."""
        if self.aggregate == "whole":
            raise UsageError(
                f"{self}: expected a measure with a score of every query, found one of all lists together",
                "gainful eval shows it (gainful.evaluate in Python)",
            )

    @property
    def orders_by_mean(self) -> bool:
        """Whether systems can be compared by the mean of its scores."""
        return self.better != "neither" and self.aggregate in ("mean", "sum")

    @property
    def rank_cutoff(self) -> int | None:
        """The rank after which nothing counts, if there is one."""
        cutoff = getattr(self, "cutoff", None)
        return cutoff if isinstance(cutoff, int) else None

    @classmethod
    def help_text(cls) -> str:
        """The docstring, without its indentation."""
        return inspect.cleandoc(cls.__doc__ or "")

    def score(
        self,
        grades: Sequence[float | None],
        unretrieved: Sequence[float] = (),
        *,
        scale: float | None = None,
        **policy: Any,
    ) -> float:
        """The raw score of one list, given as its grades in rank order; None is an unjudged document.

        ``unretrieved`` are the grades of judged documents that the list misses; further arguments are the policy's.

        >>> from gainful.measures.catalog import parse
        >>> parse("P@4").score([2, None, 0, 1])
        0.5
        """
        return score_list(self, grades, unretrieved, scale, policy)


class OfGains(Measure):
    """A measure of gains, which lists these parameters itself, in the order in which they are printed."""

    gain = LINEAR
    rel = level = cast("float | None", None)

    def _run_lists(self, block: Block) -> GainLists:
        return block.gain_lists(self.gain, self.rel, self.level)

    def _ideal_lists(self, block: Block) -> GainLists:
        return block.ideal_lists(self.gain, self.rel, self.level)


class Graded(OfGains):
    """A measure of gains whose first parameters are those of most of them."""

    gain: Gain = LINEAR
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None


def value_text(value: object) -> str:
    """A parameter's value as measures write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, (int, float)) else str(value)
