"""One line that says everything that made a number, and can be read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gainful._version import __version__
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import duration_text, number_text, read_duration, read_number
from gainful.pages.page import Conventions
from gainful.policy import Policy

_SHORT, _DEFAULT = "conventions:", "all default"


@dataclass(frozen=True)
class Signature:
    """A measure with all its parameters, every policy, and the facts: scale, number of queries, version.

    >>> line = str(Signature(parse("P@5"), Policy(missing="skip"), scale=2.0, queries=50))
    >>> line.split("|")[0], line.split("|")[-3:]
    ('P@5', ['scale:2', 'queries:50', 'gainful:0.1.0'])
    >>> Signature.parse(line).policy.missing
    'skip'
    """

    measure: Measure | None
    policy: Policy
    scale: float
    queries: int
    version: str = __version__
    judged_by: str | None = None  # of sessions, which are then what is counted
    excluded: int | None = None  # pairs of query and document that were left out of the run
    weights: str | None = None  # the column that says how much each query counts
    of_queries: int | None = None  # of how many judged queries those counted were chosen
    chosen: str | None = None  # a hash of their ids
    items: int | None = None  # of the catalogue, and interactions before, where measures are of these
    training: int | None = None
    session_gap: float | None = None  # seconds without a query after which sessions were cut from a log

    def __str__(self) -> str:
        measure = [self.measure.full_text()] if self.measure else []
        return "|".join([*measure, *_pairs({**self.policy.texts(), **self._gap, **self._facts()})])

    def short(self) -> str:
        """What people want to know: which conventions are not the defaults, and the facts.

        >>> Signature(None, Policy(), scale=3, queries=50).short()
        'conventions: all default | scale:3 | queries:50 | gainful:0.1.0'
        """
        measure = [str(self.measure)] if self.measure else []
        return " | ".join([*measure, short_conventions(self.policy.differences() | self._gap, self._facts())])

    def note(self, before: str = "") -> Conventions:
        """What a page says of it, in short and in full."""
        return Conventions(before + self.short(), before + str(self))

    @property
    def _gap(self) -> dict[str, str]:
        return {} if self.session_gap is None else {"session-gap": duration_text(self.session_gap)}

    def _facts(self) -> dict[str, str]:
        judged = {} if self.judged_by is None else {"judged-by": self.judged_by}
        for name in ("excluded", "items", "training"):
            if getattr(self, name) is not None:
                judged[name] = str(getattr(self, name))
        counted = "queries" if self.judged_by is None else "sessions"
        chosen = {} if self.of_queries is None else {"of": str(self.of_queries)}
        if self.chosen is not None:
            chosen["chosen"] = self.chosen
        if self.weights is not None:
            chosen["weights"] = self.weights.replace("%", "%25").replace("|", "%7C")
        facts = {"scale": number_text(self.scale), **judged, counted: str(self.queries), **chosen}
        return {**facts, "gainful": self.version}

    @classmethod
    def parse(cls, line: str) -> Signature:
        """The signature that a line, whole or short, was written from; its parts may be in any order, measure first."""
        parts = [part.strip() for part in line.split("|")]
        measure = None if ":" in parts[0].split("(")[0] else parse(parts.pop(0))
        if parts and parts[0].startswith(_SHORT):
            changed = parts.pop(0).removeprefix(_SHORT).strip()
            parts += [] if changed == _DEFAULT else re.split(r",\s+", changed)
        texts: dict[str, str] = {}
        for part in parts:
            name, colon, text = part.partition(":")
            if not colon or name in texts:
                raise UsageError(f"signature: expected name:value once each, found '{part}'")
            texts[name] = text
        try:
            judged_by = texts.pop("judged-by", None)
            counted = "queries" if judged_by is None else "sessions"
            scale, queries, version = texts.pop("scale"), texts.pop(counted), texts.pop("gainful")
        except KeyError as missing:
            raise UsageError(f"signature: expected {missing.args[0]}:..., found none") from None
        if not queries.isdecimal():
            raise UsageError(f"signature: expected a whole number of {counted}, found '{queries}'")
        counts = {name: _count(texts.pop(name, None), name) for name in ("excluded", "items", "training")}
        of_queries = _count(texts.pop("of", None), "of")
        weights, chosen = texts.pop("weights", None), texts.pop("chosen", None)
        weights = None if weights is None else weights.replace("%7C", "|").replace("%25", "%")
        gap = texts.pop("session-gap", None)
        policy, read = Policy.from_texts(texts), read_number(scale, "signature: scale")
        facts: dict[str, Any] = {"judged_by": judged_by, "weights": weights, "of_queries": of_queries, **counts}
        facts["session_gap"] = None if gap is None else read_duration(gap, "signature: session-gap")
        return cls(measure, policy, read, int(queries), version, **facts, chosen=chosen)


def _count(text: str | None, name: str) -> int | None:
    if text is not None and not text.isdecimal():
        raise UsageError(f"signature: expected a whole number as {name}, found '{text}'")
    return None if text is None else int(text)


def short_conventions(changed: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """The conventions that are not the defaults, then facts.

    >>> short_conventions({"depth": "10", "missing": "skip"}, {"scale": "3"})
    'conventions: depth:10, missing:skip | scale:3'
    """
    return " | ".join([f"{_SHORT} {', '.join(_pairs(changed)) or _DEFAULT}", *_pairs(facts)])


def _pairs(texts: Mapping[str, str]) -> list[str]:
    return [f"{name}:{text}" for name, text in texts.items()]
