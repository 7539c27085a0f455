"""Options declared once, as fields of frozen dataclasses.

:func:`question` gives a public function the signature of such a class and checks names and choices; the command line
derives its flags, help and parsing from the same fields. NumPy is not imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Real
from typing import Any, Literal, ParamSpec, TypeVar, cast

from gainful.errors import UsageError
from gainful.frozen import Field, dataclass, field, fields
from gainful.notation import check_whole, choose, read_number

_Value = TypeVar("_Value")
_Options = TypeVar("_Options")
_Answer = TypeVar("_Answer")
_Parameters = ParamSpec("_Parameters")

#: Reads the text of an option; the second argument is the option's name, for messages.
Reader = Callable[[str, str], object]


@dataclass(frozen=True)
class Setting:
    """The syntax and help of an option; its name and default are those of its field.

    Attributes:
        help: Text for ``--help``; up to the first semicolon it is the short help.
        kind: ``flag``, ``switch`` (a flag with a negation; None if not given), ``whole`` (an integer from ``least`` to
            ``most``), ``file`` (to read), ``written`` (a file to write) or ``text``, converted by ``read`` if given.
        choices: The allowed words, also in Python; hyphens equal underscores unless ``keeps_spelling``.
        shown: The default in words, if its value is not clear.
        repeatable: Whether the option may be repeated; its value is then a tuple.
        complete: Completes partial input in shells.
        read_all: Reads all texts of a repeatable option at once.
        flag: Its flags, if they differ from the field's name.
    """

    help: str
    kind: Literal["flag", "switch", "whole", "file", "written", "text"] = "text"
    read: Reader | None = None
    choices: tuple[str, ...] = ()
    keeps_spelling: bool = False
    metavar: str | None = None
    shown: str | None = None
    least: int | None = None
    most: int | None = None
    repeatable: bool = False
    read_all: Callable[[Sequence[str], str], object] | None = None
    values: int = 1
    flag: str | None = None
    complete: Callable[[str], Iterable[str]] | None = None


def setting(
    default: _Value,
    help: str,  # noqa: A002 - click's name
    *,
    choices: Iterable[str] = (),
    **how: Any,
) -> _Value:
    """Declare an option as a dataclass field; other keywords are attributes of :class:`Setting`."""
    if isinstance(default, bool):
        how["kind"] = "flag"
    return field(default=default, metadata={"setting": Setting(help, choices=tuple(choices), **how)})


def number(default: _Value, help: str, metavar: str, **how: Any) -> _Value:  # noqa: A002
    """Declare an option that is one number."""
    return setting(default, help, metavar=metavar, read=read_number, **how)


def settings_of(options: type) -> dict[str, tuple[Field[Any], Setting]]:
    """Return the options that a class declares, with their fields, by name."""
    return {each.name: (each, each.metadata["setting"]) for each in fields(options) if "setting" in each.metadata}


def question(
    options: Callable[_Parameters, _Options],
) -> Callable[[Callable[[_Options], _Answer]], Callable[_Parameters, _Answer]]:
    """Turn a function of an options object into one that takes the options as arguments.

    >>> @dataclass(frozen=True)
    ... class Asked:
    ...     name: str
    ...     colour: str = setting("red", "Which colour.", choices=["red", "dark-red"])
    >>> @question(Asked)
    ... def paint(asked: Asked) -> str:
    ...     return f"{asked.name} {asked.colour}"
    >>> paint("a", colour="dark_red"), str(inspect.signature(paint))
    ('a dark-red', "(name: 'str', colour: 'str' = 'red') -> 'str'")
    """

    def decorate(answer: Callable[[_Options], _Answer]) -> Callable[_Parameters, _Answer]:
        @wraps(answer)
        def asked(*args: _Parameters.args, **given: _Parameters.kwargs) -> _Answer:
            for each in fields(cast(Any, options)):
                given = each.metadata.get("gather", dict)(given)
            try:
                signature.bind(*args, **given)
            except TypeError as error:
                raise misuse(answer.__name__, signature, args, given, error) from None
            checked: Any = checked_choices(cast(type, options), given)
            return answer(options(*args, **checked))

        signature = inspect.signature(options)
        returned = inspect.signature(answer).return_annotation
        described: Any = asked
        described.__signature__ = signature.replace(return_annotation=returned)
        described.options = options
        return asked

    return decorate


def checked_choices(options: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Normalise the spelling of choices, and make single values of options that take several tuples."""
    known, checked = settings_of(options), dict(given)
    for name, value in given.items():
        if name not in known:
            continue
        declared, how = known[name]
        if how.kind == "whole" and not (value is None and declared.default is None):
            check_whole(value, name, how.least, how.most)
        takes_several = isinstance(declared.default, tuple)
        if takes_several and (value is None or (isinstance(value, Mapping) and not value)):
            checked[name] = declared.default
            continue
        if value is None or isinstance(value, Mapping):
            continue
        values = value if takes_several and not isinstance(value, (str, Real)) else (value,)
        if how.choices:
            spelt = {choice.replace("_", "-"): choice for choice in how.choices}
            same = [spelt.get(each.replace("_", "-"), each) if isinstance(each, str) else each for each in values]
            values = tuple(choose(each, how.choices, name) for each in same)
        checked[name] = tuple(values) if takes_several else values[0]
    return checked


def differs(value: object, default: object) -> bool:
    """Whether an option differs from its default; arrays and frames are not compared."""
    return value is not default and (type(value) is not type(default) or value != default)


#: Options of other tools, with hints.
_INSTEAD: Mapping[str, str] = {
    "k cutoff cutoffs at top_k": 'a cut-off is part of a measure\'s name, as in "nDCG@5"',
    "rel relevance_level rel_lvl threshold min_rel": "the lowest relevant grade is part of a measure's name, as in "
    '"P(rel=2)@5"',
    "metric metrics measure": "it is measures=",
    "like": 'the name of a tool is a policy: policy="trec_eval-9"',
    "max_p level p_value": "the level of tests is that of compare: compare(..., alpha=0.01)",
    "stat_test": 'compare(..., test="t") chooses a test; without it signs are flipped, as in Fisher\'s',
    "make_comparable": 'queries that are not answered count 0 here, unless policy=Policy(missing="skip")',
    "only marks sort chart": "it is how a result is shown: compare(...).page(marks=...), .table() or .plot()",
    "grades": 'Qrels.of(judgments, grades={"Good": 1, "Bad": 0}) reads words as grades',
    "qrels": 'judgments come first, without a name: compare("qrels.txt", {"old": run, "new": run})',
    "places": "it is how a result is shown: result.page(places=...)",
}


def unknown_option(function: str, name: str) -> Exception:
    """Return the error for an unknown option, with a hint if other tools have it."""
    hint = next((hint for names, hint in _INSTEAD.items() if name in names.split()), None)
    if hint is None:
        return TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return UsageError(f"{function}: no option {name}", hint)


def misuse(
    function: str, signature: inspect.Signature, args: Sequence[object], given: Mapping[str, object], error: TypeError
) -> Exception:
    """Return the error for arguments that do not fit the signature."""
    for name in given:
        if name not in signature.parameters:
            return unknown_option(function, name)
    by_place = [name for name, each in signature.parameters.items() if each.kind is not each.KEYWORD_ONLY]
    if len(args) > len(by_place):
        expected, hint = ", ".join(by_place), None
        if "runs" in by_place:
            expected, hint = "the runs in a dict by their names", f'{function}(qrels, {{"old": run, "new": run}}, "AP")'
        return UsageError(f"{function}: expected {expected}, found {len(args)} arguments", hint)
    return TypeError(f"{function}(): {error}")
