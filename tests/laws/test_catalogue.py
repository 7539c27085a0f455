"""Each measure of the catalogue has a documented example, laws, and an independent computation.

The laws are in test_laws.py, the independent computations in conformance/naive.py; test_naive.py compares.
"""

from __future__ import annotations

import doctest
import re

from gainful.measures.base import Measure
from gainful.measures.catalog import MEASURES
from gainful.measures.help import SECTIONS, Help

from .test_laws import LAWS, bound_by


def examples(measure: type[Measure]) -> list[doctest.Example]:
    """Return the lines of the docstring's example that name the measure and have a value."""
    text = Help.of(measure).sections.get("Example", "")
    in_quotes = re.compile(rf"""["']{re.escape(measure.name)}["'(@]""")
    return [line for line in doctest.DocTestParser().get_examples(text) if line.want and in_quotes.search(line.source)]


def test_docstrings() -> None:
    for name, measure in MEASURES.items():
        text = Help.of(measure)
        assert text.claim.endswith((".", "?")) and not text.claim.endswith(".."), f"{name}: its claim is not a sentence"
        missing = {"Formula", "Conventions", "Reference", "Example"} - set(text.sections)
        assert not missing, f"{name}: its docstring has no {', '.join(sorted(missing))}"
        assert set(text.sections) <= set(SECTIONS), name
        assert examples(measure), f"{name}: its docstring has no example with a value"


def test_laws() -> None:
    bound = {name for name in MEASURES for law in LAWS if bound_by(law, name)}
    assert set(MEASURES) - bound == set(), "excused from every law"


def test_an_example_without_the_measure_does_not_count() -> None:
    class Other(MEASURES["AP"]):  # type: ignore[misc, name-defined]
        """A measure with an example of another one.

        Example:
            >>> from gainful import parse
            >>> parse("AP").score([1])
            1.0
        """

        name = "Other"

    assert examples(MEASURES["AP"]) and not examples(Other)
