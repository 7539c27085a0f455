"""A measure's docstring, taken apart: the same text serves the command line and the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gainful.measures.base import Measure

SECTIONS = ("Formula", "Conventions", "Agrees with", "Differs from", "Reference", "Example")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$")


@dataclass(frozen=True)
class Help:
    """The claim in one line, and the sections by name."""

    claim: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, measure: type[Measure]) -> Help:
        """The help of a measure, from its docstring."""
        claim, _, rest = measure.help_text().partition("\n")
        sections: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in rest.splitlines():
            heading = _HEADING.match(line)
            if heading:
                lines = sections.setdefault(heading[1], [])
            else:
                lines.append(line)
        return cls(claim, {name: "\n".join(text).strip("\n") for name, text in sections.items()})
