"""One line that says everything that made a number, and can be read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gainful._version import __version__
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import number_text, read_number
from gainful.policy import Policy


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

    def __str__(self) -> str:
        return "|".join([*([self.measure.full_text()] if self.measure else []), *_pairs(self._texts())])

    def short(self) -> str:
        """The line without the measure, what differs from the defaults first."""
        texts, changed = self._texts(), self.policy.differences()
        return "|".join(_pairs({**changed, **{name: text for name, text in texts.items() if name not in changed}}))

    def _texts(self) -> dict[str, str]:
        facts = {"scale": number_text(self.scale)}
        if self.judged_by is not None:
            facts["judged-by"] = self.judged_by
        if self.excluded is not None:
            facts["excluded"] = str(self.excluded)
        counted = "queries" if self.judged_by is None else "sessions"
        return {**self.policy.texts(), **facts, counted: str(self.queries), "gainful": self.version}

    @classmethod
    def parse(cls, line: str) -> Signature:
        """The signature that a line was written from; its parts may stand in any order, the measure first."""
        parts = line.strip().split("|")
        measure = None if ":" in parts[0].split("(")[0] else parse(parts.pop(0))
        texts: dict[str, str] = {}
        for part in parts:
            name, colon, text = part.partition(":")
            if not colon or name in texts:
                raise UsageError(f"signature: expected name:value once each, found '{part}'")
            texts[name] = text
        try:
            judged_by = texts.pop("judged-by", None)
            counted = "queries" if judged_by is None else "sessions"
            excluded = texts.pop("excluded", None)
            scale, queries, version = texts.pop("scale"), texts.pop(counted), texts.pop("gainful")
        except KeyError as missing:
            raise UsageError(f"signature: expected {missing.args[0]}:..., found none") from None
        if not queries.isdecimal():
            raise UsageError(f"signature: expected a whole number of {counted}, found '{queries}'")
        if excluded is not None and not excluded.isdecimal():
            raise UsageError(f"signature: expected a whole number as excluded, found '{excluded}'")
        policy, read = Policy.from_texts(texts), read_number(scale, "signature: scale")
        return cls(measure, policy, read, int(queries), version, judged_by, None if excluded is None else int(excluded))


def _pairs(texts: Mapping[str, str]) -> list[str]:
    return [f"{name}:{text}" for name, text in texts.items()]
