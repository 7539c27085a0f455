"""Nothing enters the catalogue unproved: an example, laws, and a peer or an independent computation for every measure.

What proves a measure is found in the tests themselves: in the files below, a text that names the measure, as ours or as
trec_eval's. A measure that nothing can be compared with says so in ``WITHOUT_COMPARISON``, with the reason.
"""

from __future__ import annotations

import ast
import doctest
import re
from functools import cache
from pathlib import Path

from gainful import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import MEASURES, parse_all
from gainful.measures.help import SECTIONS, Help

from .test_laws import LAWS, VARIANTS, bound_by

TESTS = Path(__file__).parents[1]

#: Tests of peers that compare no measure's values, or only show that they differ.
COMPARING_NOTHING = {"test_check_real.py", "test_dialects.py", "test_differences.py"}

#: Measures that no peer has and that no naive computation could be written for, each with the reason.
WITHOUT_COMPARISON: dict[str, str] = {}

#: A name of ours, as a whole text or, with parameters to be filled in, at its beginning.
NAMED = re.compile(rf"({'|'.join(sorted(map(re.escape, MEASURES), key=len, reverse=True))})(?=[@(]|$)")


def comparing_files() -> list[Path]:
    """The tests that compare our values with a peer's, or with a naive computation's."""
    peers = [path for path in (TESTS / "peers").glob("test_*.py") if path.name not in COMPARING_NOTHING]
    return sorted([*peers, *(TESTS / "measures").glob("test_naive*.py")])


def named_in(source: str, in_trec_eval: bool = False) -> set[str]:
    """The measures that a program names in its texts, docstrings aside."""
    tree = ast.parse(source)
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    }
    ours = {found[1] for found in map(NAMED.match, texts) if found}
    return ours | {name for text in texts for name in named_as_trec_eval(text)} if in_trec_eval else ours


@cache
def named_as_trec_eval(text: str) -> set[str]:
    """The measure that a text names as trec_eval does; words for whole groups of measures do not count."""
    if len(text) > 40 or not re.fullmatch(r"[\w.,@-]+", text):
        return set()
    try:
        names = {measure.name for measure in parse_all(text)}
    except UsageError:
        return set()
    return names if len(names) == 1 else set()


def comparisons() -> dict[str, list[str]]:
    """Every measure with the tests that compare its values."""
    found: dict[str, list[str]] = {name: [] for name in MEASURES}
    for path in comparing_files():
        for name in named_in(path.read_text(encoding="utf-8"), path.parent.name == "peers") & found.keys():
            found[name].append(f"{path.parent.name}/{path.name}")
    return found


def examples(measure: type[Measure]) -> list[doctest.Example]:
    """The lines of the docstring's example that name the measure and have a value."""
    text = Help.of(measure).sections.get("Example", "")
    in_quotes = re.compile(rf"""["']{re.escape(measure.name)}["'(@]""")
    return [line for line in doctest.DocTestParser().get_examples(text) if line.want and in_quotes.search(line.source)]


# -- The catalogue -----------------------------------------------------------------------------------------------------


def test_docstrings() -> None:
    for name, measure in MEASURES.items():
        assert measure.name == name
        text = Help.of(measure)
        assert text.claim.endswith((".", "?")) and not text.claim.endswith(".."), name
        assert {"Formula", "Conventions", "Reference", "Example"} <= set(text.sections) <= set(SECTIONS), name
        assert examples(measure), f"{name}: its docstring has no example with a value"


def test_laws() -> None:
    assert [name for name in MEASURES if not VARIANTS.get(name)] == [], "no variants in tests/laws/test_laws.py"
    bound = {name for name in MEASURES for law in LAWS if bound_by(law, name)}
    assert set(MEASURES) - bound == set(), "excused from every law"


def test_comparisons() -> None:
    """Neither a peer in tests/peers nor a naive computation in tests/measures, and no excuse; or an excuse for no
    reason."""
    assert {name for name, files in comparisons().items() if not files} == set(WITHOUT_COMPARISON)


def test_excuses_are_for_measures_that_there_are() -> None:
    assert WITHOUT_COMPARISON.keys() <= set(MEASURES)
    assert all(WITHOUT_COMPARISON.values())


# -- The search itself -------------------------------------------------------------------------------------------------


def test_what_counts_as_naming_a_measure() -> None:
    program = (
        '''"""AP in a docstring."""\nRR = 1\nx = ["P@5", f"nDCG(gain={y})", "map_cut.5,10", "Rprec", "no measure"]'''
    )
    assert named_in(program) == {"P", "nDCG", "Rprec"}
    assert named_in(program, in_trec_eval=True) == {"P", "nDCG", "AP", "Rprec"}
    assert named_in("x = 'RRx', 'rrx', 'Success story', 'set', AP", in_trec_eval=True) == set()


def test_what_is_searched() -> None:
    searched = {path.name for path in comparing_files()}
    assert {"test_naive.py", "test_pytrec_eval.py", "test_ndeval.py"} <= searched
    assert {path.name for path in (TESTS / "peers").iterdir()} >= COMPARING_NOTHING
    assert not COMPARING_NOTHING & searched


def test_an_example_without_the_measure_does_not_count() -> None:
    class Other(MEASURES["AP"]):  # type: ignore[misc, name-defined]
        """Has an example of another measure.

        Example:
            >>> from gainful import parse
            >>> parse("AP").score([1])
            1.0
        """

        name = "Other"

    assert examples(MEASURES["AP"]) and not examples(Other)
