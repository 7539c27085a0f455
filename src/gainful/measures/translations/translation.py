"""What a translation is: one of our measures, or several, and what makes the numbers the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import MEASURES, is_ours
from gainful.notation import nearest, number_text
from gainful.policy import DIALECTS, Policy


class Setting(NamedTuple):
    """The policy under which a tool's numbers come out, and what else there is to know about them.

    >>> Setting("trec_eval 9.0.8 -c", "trec_eval-9", {"missing": "zero"}).flags
    '--like trec_eval-9 --missing zero'
    """

    tool: str
    like: str | None = None
    choices: Mapping[str, str] = {}
    note: str = ""
    scale: float | None = None

    @property
    def policy(self) -> Policy:
        """The policy, for Python."""
        given = {name.replace("-", "_"): value for name, value in self.choices.items()}
        return Policy.like(self.like, **given) if self.like else Policy.from_texts(self.choices)

    @property
    def flags(self) -> str:
        """The policy, for the command line; empty where it is the default."""
        flags = [f"--like {self.like}"] if self.like else []
        flags += [f"--{name} {value}" for name, value in self.choices.items()]
        return " ".join([*flags, *([f"--scale {number_text(self.scale)}"] if self.scale is not None else [])])

    def __str__(self) -> str:
        """In words: what gives the tool's number."""
        changed = {**DIALECTS[self.like], **self.choices} if self.like else {}
        listed = ", ".join(f"{name.replace('_', '-')}={value}" for name, value in changed.items())
        how = (self.flags or "the defaults") + (f" ({listed})" if listed else "")
        return f"The number of {self.tool}: {how}{'; ' if self.note else ''}{self.note}."


class Translation(NamedTuple):
    """Another tool's name, the measures of ours that it stands for, and how to get that tool's numbers."""

    text: str
    tool: str
    measures: tuple[Measure, ...]
    settings: tuple[Setting, ...]

    @property
    def claim(self) -> str:
        """What stands for what, in a sentence."""
        names = [str(measure) for measure in self.measures]
        theirs = self.text if self.text.startswith(f"{self.tool}:") else f"{self.tool}'s {self.text}"
        ours = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{theirs} is {ours} here."


class NoEqual(NamedTuple):
    """Why a name of another tool has no equal here, and what comes nearest."""

    why: str
    nearest: str

    def refuse(self, text: str) -> NoReturn:
        """Says so."""
        raise UsageError(f"{text}: has no equal here: {self.why}", f"what comes nearest is {self.nearest}")


def unknown(tool: str, name: str, known: Iterable[str], text: str) -> UsageError:
    """What to say about a name that the tool does not have."""
    word = re.match(r"[\w+#-]*", name)
    hint = f"without the prefix, {name} is ours" if word and is_ours(word[0]) else nearest(name, known)
    return UsageError(f"{text}: {tool} has no such measure", hint)


def build(name: str, parameters: Mapping[str, object] = {}) -> Measure:
    """One of our measures from its name and parameters; ``@`` is what ``@`` sets."""
    measure = MEASURES[name]
    at = measure.at_parameter()
    return measure.from_parameters({(at if key == "@" and at else key): value for key, value in parameters.items()})


def table_of_gains(pairs: Mapping[int, float]) -> str:
    """A gain map from a table that leaves grades out which keep their own value, as far as the table goes.

    >>> table_of_gains({1: 3, 3: 9})
    '{0:0,1:3,2:2,3:9}'
    """
    gains = [(grade, pairs.get(grade, grade)) for grade in range(max(pairs) + 1)]
    return "{" + ",".join(f"{grade}:{number_text(gain)}" for grade, gain in gains) + "}"
