"""Reading of reported numbers, and order, groups and names of explanations."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import gainful
from gainful import InputError, Policy, Qrels, UsageError, find_conventions
from gainful.measures.base import Measure
from gainful.measures.catalog import MEASURES
from gainful.tasks.whydiff import Figure, Findings, Way
from gainful.tasks.whydiff.settings import DIALECTS, MEANINGS, meaning

# Six documents are retrieved of the eight that are judged; every document's grade is in its place.
JUDGMENTS = {"q": {"d1": 3, "d2": 2, "d3": 3, "d4": 0, "d5": 1, "d6": 2, "d7": 3, "d8": 2}}
RANKING = {"q": {f"d{i}": 10.0 - i for i in range(1, 7)}}


def explained(qrels: Any, run: Any, measure: str | Measure, figure: float | str = "0.5", **more: Any) -> Findings:
    return find_conventions(qrels, run, {"figure": figure}, measure, **more)


def first(qrels: Any, run: Any, measure: str | Measure, figure: float | str, **more: Any) -> Way:
    return explained(qrels, run, measure, figure, **more).figures[0].ways[0]


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


# --- Figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("0.785", 0.7845, True),
        ("0.785", 0.7855, True),
        ("0.785", 0.7856, False),
        ("0.7850", 0.7846, False),
        ("78.5", 78.46, True),
        ("7.85e-1", 0.7846, True),
        (".785", 0.7854, True),
        ("1", 1.4, True),
        ("1", 1.6, False),
        ("-0.5", -0.54, True),
        ("901", 901.0, True),
        (0.785, 0.7854, True),
        (0.7850023, 0.7854, False),
        (1 / 3, 0.3333333333, True),
        (np.float64(0.25), 0.254, True),
        (np.float64(0.25), 0.256, False),
        (np.float32(0.4671), 0.46714, True),
        (np.float32(0.4671), 0.46716, False),
        (Fraction(1, 4), 0.254, True),
        (901, 901.4, True),
    ],
)
def test_a_figure_is_as_precise_as_its_text(text: float | str, value: float, holds: bool) -> None:
    assert Figure.of("mine", text).holds(value) is holds


@pytest.mark.parametrize("text", ["", "about 0.7", "nan", "0,785", "0.7.8", True, None])
def test_what_is_not_a_number_is_no_figure(text: Any) -> None:
    with pytest.raises(UsageError, match=r"mine: expected"):
        Figure.of("mine", text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("46.4%", "write 0.464"), ("46.40%", "write 0.4640"), ("0,464", "write 0.464"), ("46,4%", "write 0.464")],
)
def test_other_notations_are_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        Figure.of("mine", text)
    assert (caught.value.message, caught.value.hint) == (f"mine: expected a number, found '{text}'", hint)


# --- The example of the papers' kind ----------------------------------------------------------------------------------


def test_two_figures_that_differ_in_the_ideal() -> None:
    mine = discounted([3, 2, 3, 0, 1, 2]) / discounted([3, 3, 2, 2, 1, 0])
    theirs = discounted([3, 2, 3, 0, 1, 2]) / discounted([3, 3, 3, 2, 2, 2])
    assert (f"{mine:.3f}", f"{theirs:.3f}") == ("0.961", "0.785")
    found = find_conventions(JUDGMENTS, RANKING, {"mine": "0.961", "theirs": "0.785"}, "nDCG@6")
    assert found.reproduced and [each.figure.name for each in found.figures] == ["mine", "theirs"]
    yours, other = (each.ways[0] for each in found.figures)
    assert yours.departed == ("ideal",) and yours.settings["ideal"] == "retrieved"
    assert yours.value == pytest.approx(mine) and other.value == pytest.approx(theirs)
    assert yours.dialects == ("scikit-learn", "torchmetrics")
    assert other.departed == () and other.dialects[:2] == ("gainful", "trec_eval 9.0.8")
    assert [name for name, value in yours.settings.items() if other.settings[name] != value] == ["ideal"]
    assert found.start == pytest.approx(theirs)


def test_lists_without_scores_are_not_asked_about_ties() -> None:
    found = explained(JUDGMENTS, {"q": list(RANKING["q"])}, "nDCG@6", "0.961")
    assert found.figures[0].ways[0].departed == ("ideal",)
    assert not {"order", "ties", "scores"} & {dimension.name for dimension in found.dimensions}


# --- Nothing fits -----------------------------------------------------------------------------------------------------


def test_the_nearest_come_where_nothing_fits() -> None:
    found = explained(JUDGMENTS, RANKING, "nDCG@6", "0.123456", most=4)
    [figure] = found.figures
    assert not found.reproduced and not figure.reproduced and figure.found == 0
    distances = [abs(explanation.value - 0.123456) for explanation in figure.ways]
    assert len(distances) == 4 and distances == sorted(distances) and distances[0] > 1e-6


def test_one_of_two_fits() -> None:
    found = find_conventions(JUDGMENTS, RANKING, {"a": "0.785", "b": "0.123456"}, "nDCG@6")
    assert [each.reproduced for each in found.figures] == [True, False]
    assert not found.reproduced


# --- What the data cannot tell apart ----------------------------------------------------------------------------------


def test_grades_of_one_level_cannot_tell_gains_apart() -> None:
    explanation = first({"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"c": 3.0, "a": 2.0}}, "nDCG@3", "0.387")
    assert explanation.departed == () and explanation.alike["gain"] == ("exp2", "binary")
    assert "rel" not in explanation.settings


def test_the_first_rank_cannot_tell_discounts_apart() -> None:
    found = explained({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG@1", "0.5")
    [discount] = [dimension for dimension in found.dimensions if dimension.name == "discount"]
    assert found.figures[0].ways[0].alike["discount"] == discount.values[1:]


def test_what_gives_the_same_is_one_explanation() -> None:
    # All scores are equal: to keep ties as they come is to keep everything as it comes.
    run = {"q": dict.fromkeys(["a", "b", "c", "d"], 1.0)}
    found = explained(
        {"q": {"a": 1, "c": 3, "d": 2}}, run, "nDCG@4", f"{discounted([1, 0, 3, 2]) / discounted([3, 2, 1]):.6f}"
    )
    explanation = found.figures[0].ways[0]
    assert explanation.settings["ties"] == "docid-asc"
    assert explanation.alike["ties"] == ("input",)
    assert [settings["order"] for settings in explanation.instead] == ["input"]
    assert found.figures[0].found == 1


def test_equal_means_of_different_scores_are_two_explanations() -> None:
    # Precision at 1 is 1/2 either way, but for another query each.
    qrels = {"p": {"a": 2, "b": 0}, "q": {"a": 0, "b": 2}}
    run = {"p": {"a": 1.0, "b": 1.0}, "q": {"a": 1.0, "b": 1.0}}
    found = explained(qrels, run, "P@1", "0.5")
    assert found.figures[0].found == 2
    assert [explanation.departed for explanation in found.figures[0].ways] == [(), ("ties",)]


# --- Order ------------------------------------------------------------------------------------------------------------


def test_fewer_departures_come_first() -> None:
    found = explained(JUDGMENTS, RANKING, "nDCG@6", "0.8", most=30)
    explanations = found.figures[0].ways
    choices = [1 if e.dialects and e.departed else len(e.departed) for e in explanations]
    assert len(explanations) > 10 and choices == sorted(choices)


def test_a_tool_is_one_choice() -> None:
    # The tool departs in gain, ideal and what an undefined score is; few digits leave simpler ways that fit by chance.
    qrels = {"p": {"a": 1, "b": 3, "c": 2, "e": 3}, "q": {"a": 0}}
    run = {"p": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5}, "q": {"a": 1.0}}
    figure = (discounted([1, 7, 3, 0]) / discounted([7, 3, 1]) + 1) / 2
    found = explained(qrels, run, "nDCG@4", f"{figure:.1f}", most=500)
    explanations = found.figures[0].ways
    [position] = [i for i, explanation in enumerate(explanations) if "LightGBM" in explanation.dialects]
    assert explanations[position].departed == ("gain", "ideal", "undefined")
    assert explanations[position].value == pytest.approx(figure)
    assert all(len(explanation.departed) == 1 or explanation.dialects for explanation in explanations[:position])
    assert any(len(explanation.departed) == 2 for explanation in explanations[position:])


def test_the_same_search_finds_the_same() -> None:
    qrels = {"q2": {"a": 1, "b": 3, "c": 2}, "q1": {"x": 2, "y": 1}}
    run = {"q1": {"x": 1.0, "y": 1.0, "z": 1.0}, "q2": {"c": 2.0, "b": 1.0, "d": 1.0}}
    again = explained(dict(reversed(qrels.items())), dict(reversed(run.items())), "nDCG@2", "0.8", threads=1)
    once = explained(qrels, run, "nDCG@2", "0.8", threads=4)
    assert once == again and once.figures[0].found > 1


# --- Where the search starts ------------------------------------------------------------------------------------------

GAPS = {"p": {"a": 1, "b": 2}, "q": {"a": 1}, "r": {"a": 0}}
ANSWERED = {"p": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}


def test_it_starts_from_the_given_conventions() -> None:
    value = discounted([1, 3]) / discounted([3, 1])
    policy = Policy(missing="skip", undefined="skip")
    explanation = first(GAPS, ANSWERED, "nDCG(gain=exp2)@2", f"{value:.4f}", policy=policy)
    assert explanation.departed == () and explanation.settings["gain"] == "exp2"
    departed = first(GAPS, ANSWERED, "nDCG(gain=exp2)@2", f"{value / 3:.4f}", policy=policy)
    assert departed.departed == ("missing", "undefined")
    assert departed.dialects[0] == "gainful"


def test_it_starts_from_a_dialect() -> None:
    findings = explained(GAPS, ANSWERED, "nDCG@2", policy="trec_eval-9")
    starts = {dimension.name: dimension.values[0] for dimension in findings.dimensions}
    assert (starts["missing"], starts["scores"]) == ("skip", "float32")


def test_an_error_is_no_number_to_start_from() -> None:
    policy = Policy(missing="error", undefined="error", extra="error")
    value = discounted([1, 2]) / discounted([2, 1])
    assert first(GAPS, ANSWERED, "nDCG@2", f"{value / 3:.4f}", policy=policy).departed == ()


def test_weights_and_levels_of_the_measure_are_kept() -> None:
    grades, run = {"q": {"a": 1, "b": 2, "c": 3}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    value = discounted([1, 10, 100]) / discounted([100, 10, 1])
    findings = explained(grades, run, "nDCG(gain=0-1-10-100)@3", f"{value:.4f}")
    assert findings.figures[0].ways[0].departed == ()
    assert "rel" not in {dimension.name for dimension in explained(grades, run, "P(level=2)@3").dimensions}


def test_a_query_alone() -> None:
    value = discounted([1, 3]) / discounted([3, 1])
    explanation = first(GAPS, ANSWERED, "nDCG@2", f"{value:.4f}", query="p")
    assert explanation.departed == ("gain",) and explanation.value == pytest.approx(value)
    unanswered = explained(GAPS, ANSWERED, "nDCG@2", "0", query="q")
    assert unanswered.reproduced and unanswered.query == "q"


def test_a_count() -> None:
    explanation = first(GAPS, ANSWERED, "NumRel", "2")
    assert explanation.settings == {**explanation.settings, "missing": "skip"} and explanation.value == 2


def test_a_measure_of_ones_own() -> None:
    @dataclasses.dataclass(frozen=True)
    class Highest(Measure):
        name = "Highest"
        needs = frozenset({"scores"})

        def compute(self, block: Any) -> Any:
            return block.scores()[:, 0] / 10

    run = {"p": {"a": 9.0, "b": 1.0}, "r": {"a": 3.0}}
    assert first(GAPS, run, Highest(), f"{(0.9 + 0.3) / 2}").departed == ("missing",)


# --- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"figures": {}}, "figures: at least one is required"),
        ({"figures": {"mine": "much"}}, "mine: expected a number"),
        ({"query": "x"}, "query 'x' is not judged"),
        ({"query": "p"}, "judged queries are q"),
        ({"figures": "0.5"}, "figures: expected numbers by name, found '0.5'"),
        ({"figures": 0.5}, "figures: expected numbers by name, found 0.5"),
        ({"departures": 0}, "departures: expected a whole number"),
        ({"most": 0}, "most: expected a whole number"),
        ({"threads": 0}, "threads: expected a whole number"),
        ({"measure": "nDGC@10"}, "unknown measure"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_conventions(**{"qrels": JUDGMENTS, "run": RANKING, "figures": {"mine": "0.5"}, **arguments})


def test_bad_data_are_refused_as_everywhere() -> None:
    with pytest.raises(InputError, match="none of its queries is judged"):
        explained(JUDGMENTS, {"other": {"d1": 1.0}}, "nDCG@6")
    with pytest.raises(InputError, match="no weight for these grades"):
        explained(JUDGMENTS, RANKING, "nDCG(gain=0-1)@6")
    with pytest.raises(InputError, match="needs a rank column"):
        explained(JUDGMENTS, RANKING, "nDCG@6", policy=Policy(ties="rank"))


def test_a_measure_without_a_value_has_nothing_to_explain() -> None:
    @dataclasses.dataclass(frozen=True)
    class Nowhere(Measure):
        name = "Nowhere"
        better = "lower"
        bounds = (0.0, math.inf)

        def compute(self, block: Any) -> Any:
            return np.full(block.size, np.nan)

    with pytest.raises(InputError, match="Nowhere is undefined on these data"):
        explained(JUDGMENTS, RANKING, Nowhere())


# --- The tables behind it ---------------------------------------------------------------------------------------------


def test_dialects_say_only_what_there_is() -> None:
    qrels = Qrels.from_dict({"q": {"a": -1, "b": 1, "c": 2}})
    run = gainful.Run.read(b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 b 3 1 t\n")
    known: dict[str, set[str]] = {}
    for measure in ("nDCG@2", "DCG@2", "AP@2", "P@2", "R@2", "IPrec@0.5"):
        for dimension in explained(qrels, run, measure).dimensions:
            known.setdefault(dimension.name, set()).update(dimension.values)
    for dialect in DIALECTS:
        assert {name.removesuffix("@k") for name in dialect.measures.split()} <= set(MEASURES)
        for name, values in dialect.values.items():
            # What a tool refuses is a value that no combination has.
            assert set(values) <= known[name] or (name, values) == ("duplicates", ("refused",)), (dialect.name, name)
    assert known.keys() == MEANINGS.keys()


def test_every_value_has_a_meaning() -> None:
    for name, values in MEANINGS.items():
        assert all(meaning(name, value) for value in values)
    assert meaning("rel", "2") == "only grades 2 and above count"
    assert meaning("discount", "jarvelin2002 base 10").endswith("1 for j < b, else log_b j, b = 10")
    assert meaning("gain", "0-1-10-100").endswith("0-1-10-100")
