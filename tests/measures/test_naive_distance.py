"""Distances on continuous scores against a naive computation, in exact fractions where there are any."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest

from gainful import InputError, Policy, Qrels, UsageError, evaluate, parse
from gainful.measures.catalog import FAMILIES

Spec = dict[str, Any]
Points = list[tuple[Fraction, Fraction]]


@cache
def exact(number: float) -> Fraction:
    return Fraction(str(number))


def user_score(grade: float | None, spec: Spec, scale: float) -> Fraction:
    if grade is None or grade < 0:
        return Fraction(0)
    urs = spec.get("urs", "scaled")
    if urs == "given":
        return exact(grade)
    if isinstance(urs, dict):
        return exact(urs[grade]) / exact(max(urs.values()))
    if urs == "binary":
        return Fraction(int(grade > 0))
    if scale <= 0:
        return Fraction(0)
    return Fraction((2**grade - 1) / (2**scale - 1)) if urs == "exp2" else exact(grade) / exact(scale)


def system_scores(scores: list[float], spec: Spec) -> list[Fraction]:
    """Of the documents of a list that is already cut, in rank order."""
    srs, given = spec.get("srs", "rank"), [exact(score) for score in scores]
    if srs == "rank":
        depth = spec.get("k", 1000)
        return [1 - Fraction(rank - 1, depth) for rank in range(1, len(scores) + 1)]
    if srs == "minmax":
        low, high = min(given, default=0), max(given, default=0)
        return [(score - low) / (high - low) if high > low else Fraction(1) for score in given]
    if srs == "max":
        high = max(given, default=Fraction(0))
        return [score / high if high else Fraction(0) for score in given]
    if srs == "ratio":
        return [score / (1 + score) for score in given]
    if srs == "exp":
        return [Fraction(1 - math.exp(-score)) for score in scores]
    return given


def in_levels(score: Fraction, levels: int | None) -> Fraction:
    return score if levels is None else Fraction(min(math.floor(score * levels), levels - 1), levels - 1)


def points_of(lists: Any, query: str, spec: Spec, scale: float) -> tuple[Points, int]:
    """(SRS, URS) of all documents that count, and how many more there are at (0, 0)."""
    view = spec.get("unjudged")
    ranked = lists.ranked(query, None if view is None else view == "condensed")[: spec.get("k", 1000)]
    grades = lists.grades(query)
    estimates = dict(zip(ranked, system_scores([lists.run[query][d] for d in ranked], spec), strict=True))
    relevant = {d for d, grade in grades.items() if (grade >= spec["rel"] if "rel" in spec else grade > 0)}
    over = spec.get("over", "retrieved+relevant")
    documents = {
        "retrieved": set(ranked),
        "relevant": relevant,
        "judged": set(grades),
    }.get(over, set(ranked) | relevant)
    worth = {
        grade: in_levels(user_score(grade, spec, scale), spec.get("urs_levels")) for grade in {None, *grades.values()}
    }
    points = [
        (in_levels(estimates.get(document, Fraction(0)), spec.get("srs_levels")), worth[grades.get(document)])
        for document in documents
    ]
    return points, over - len(points) if isinstance(over, int) else 0


def share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def average_distance(points: Points, rest: int, spec: Spec) -> Fraction | None:
    if not points and not rest:
        return None
    power, total = 2 if spec.get("distance") == "squared" else 1, Fraction(0)
    for srs, urs in points:
        counts = {"ADM": True, "ADP": srs > urs, "ADR": srs < urs}[spec["name"]]
        total += abs(srs - urs) ** power if counts else 0
    return 1 - total / (len(points) + rest)


def agreement(points: Points, rest: int, spec: Spec) -> Fraction | None:
    t = exact(spec.get("t", 0.1))
    n0 = sum(abs(srs - urs) <= t for srs, urs in points) + rest
    beyond = sum((srs - urs if spec["name"] == "Pstar" else urs - srs) > t for srs, urs in points)
    return share(n0, n0 + beyond)


def thresholds(points: Points, rest: int, spec: Spec) -> Fraction | None:
    marks = [
        (srs >= exact(spec.get("srs_threshold", 0.5)), urs >= exact(spec.get("urs_threshold", 0.5)))
        for srs, urs in points
    ]
    both = sum(retrieved and relevant for retrieved, relevant in marks)
    precision = share(both, sum(retrieved for retrieved, _ in marks))
    recall = share(both, sum(relevant for _, relevant in marks))
    if spec["name"] == "PRmean":
        return None if precision is None or recall is None else (precision + recall) / 2
    return precision if spec["name"] == "ThresholdP" else recall


NAIVE: dict[str, Callable[[Points, int, Spec], Fraction | None]] = {
    **dict.fromkeys(("ADM", "ADP", "ADR"), average_distance),
    **dict.fromkeys(("Pstar", "Rstar"), agreement),
    **dict.fromkeys(("ThresholdP", "ThresholdR", "PRmean"), thresholds),
}

OVER: list[Spec] = [{}, *({"over": over} for over in ("retrieved", "relevant", "judged", 60))]
OVER += [{"over": "relevant", "rel": 2}, {"rel": 0.5}, {"rel": 2, "over": 70}, {"rel": 0, "over": "relevant"}]
SRS: list[Spec] = [{}, *({"srs": srs} for srs in ("score", "minmax", "max", "ratio", "exp"))]
URS: list[Spec] = [{}, {"urs": "linear"}, {"urs": "binary"}, {"urs": "exp2"}]
OTHER: list[Spec] = [
    *({}, {"k": 1}, {"k": 4}, {"k": 10}, {"unjudged": "condensed"}, {"unjudged": "zero", "k": 3}),
    *({"srs_levels": 2}, {"urs_levels": 2}, {"srs_levels": 10, "urs_levels": 3}, {"srs_levels": 4, "k": 8}),
]
OWN: dict[str, list[Spec]] = {
    **{name: [{}, {"distance": "squared"}] for name in ("ADM", "ADP", "ADR")},
    **{name: [{}, {"t": 0}, {"t": 0.25}, {"t": 0.5}] for name in ("Pstar", "Rstar")},
    **{
        name: [{}, {"srs_threshold": 0.3}, {"urs_threshold": 1}, {"srs_threshold": 0.25, "urs_threshold": 0.1}]
        for name in ("ThresholdP", "ThresholdR", "PRmean")
    },
}
OWN_KEYS = {key for options in OWN.values() for option in options for key in option}
VIEWS: list[Spec] = [{**over, **srs, **urs, **other} for over, srs, urs, other in product(OVER, SRS, URS, OTHER)]


def some_specs(seed: int, **given: Any) -> list[Spec]:
    """Views of the documents, each with four measures."""
    rng = random.Random(seed)
    return [
        {"name": name, **rng.choice(OWN[name]), **view, **given}
        for view in rng.sample(VIEWS, 20)
        for name in rng.sample(list(OWN), 4)
    ]


def text_of(spec: Spec) -> str:
    def written(value: object) -> str:
        return "{" + ",".join(f"{g}:{w}" for g, w in value.items()) + "}" if isinstance(value, dict) else str(value)

    inside = ", ".join(f"{key}={written(value)}" for key, value in spec.items() if key not in ("name", "k"))
    return spec["name"] + (f"({inside})" if inside else "") + (f"@{spec['k']}" if "k" in spec else "")


def compare(lists: Any, specs: list[Spec], queries: list[str] | None = None) -> None:
    specs = list({text_of(spec): spec for spec in specs}.values())
    measures = [parse(text_of(spec)) for spec in specs]
    policy = Policy(**lists.policy, missing="skip", undefined="skip")
    result = evaluate(lists.qrels, lists.run, measures, policy=policy)
    scale = lists.scale
    points: dict[str, tuple[Points, int]] = {}  # the same for all measures
    for spec, measure in zip(specs, measures, strict=True):
        values = result.by_query(measure)
        of_points = {key: value for key, value in spec.items() if key != "name" and key not in OWN_KEYS}
        for query in queries or lists.qrels:
            expected = None
            if query in lists.run:
                key = f"{query} {of_points}"
                if key not in points:
                    points[key] = points_of(lists, query, spec, scale)
                expected = NAIVE[spec["name"]](*points[key], spec)
            found = values[query]
            where = f"{measure}, {query}: expected {expected}, found {found}"
            assert (found is None) == (expected is None), where
            assert expected is None or math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12), where


def test_the_family_is_covered() -> None:
    assert set(NAIVE) == set(OWN) == set(FAMILIES["Distances on continuous scores"])


@pytest.mark.parametrize("seed", range(16))
def test_random_lists(seed: int, random_lists: Callable[[int], Any]) -> None:
    compare(random_lists(seed), some_specs(seed))


@pytest.mark.parametrize("seed", range(60, 66))
def test_grades_as_they_are(seed: int, random_lists: Callable[[int], Any]) -> None:
    drawn = random_lists(seed)
    within = {q: {d: min(grade, 1) for d, grade in grades.items()} for q, grades in drawn.qrels.items()}
    lists = drawn._replace(qrels=within, policy={**drawn.policy, "grade_zero": 0})
    compare(lists, some_specs(seed, urs="given"))


@pytest.mark.parametrize("seed", range(70, 76))
def test_weights(seed: int, random_lists: Callable[[int], Any]) -> None:
    """Weights need not rise with the grade, and grade 0 may have one."""
    drawn = random_lists(seed)
    whole = {q: {d: float(math.floor(grade)) for d, grade in grades.items()} for q, grades in drawn.qrels.items()}
    lists = drawn._replace(qrels=whole, policy={**drawn.policy, "grade_zero": 0})
    urs = {0: 1, 1: 8, 2: 2, 3: 4}
    compare(lists, some_specs(seed, urs=urs))


REAL: dict[str, list[Spec]] = {
    "web": [{}, {"over": "judged", "k": 20}, {"srs": "minmax"}, {"rel": 2, "over": "relevant"}],
    "covid": [{}, {"over": 50000}, {"srs": "minmax", "k": 100}, {"srs": "minmax", "over": "judged"}],
    "robust": [{"srs": "max"}, {"srs": "score"}, {"srs_levels": 5, "urs_levels": 3}, {"over": "retrieved", "k": 10}],
}


@pytest.mark.parametrize("name", REAL)
def test_real_lists(name: str, real_lists: Callable[[str], Any]) -> None:
    lists = real_lists(name)
    compare(lists, [{"name": measure, **spec} for measure in NAIVE for spec in REAL[name]], sorted(lists.qrels)[::25])


@pytest.mark.parametrize("k", [1, 3, 7, 10, 49, 1000])
def test_ranks_are_what_they_are_written_as(k: int) -> None:
    """Rank k of k is worth 1/k, which reaches a threshold of 1/k in whatever way rounding goes."""
    grades = [1] * k
    for rank in range(1, min(k, 60) + 1):
        threshold = round((k - rank + 1) / k, 12)
        assert parse(f"ThresholdR(srs_threshold={threshold})@{k}").score(grades) == pytest.approx(rank / k, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 3, 7, 10, 50, 100])
def test_levels_start_where_they_are_written(levels: int) -> None:
    """.29 * 100 is below 29 in binary, but .29 is the start of the level 29."""
    for level in range(levels):
        score = round(level / levels, 12)
        user = Qrels.from_dict({"q": {"d": score, "e": 1}}, scale=1)
        result = evaluate(user, {"q": {"d": 0.0, "e": 1.0}}, f"ADR(srs=score, urs_levels={levels}, over=retrieved)")
        exactly = level if score * levels >= level - 1e-9 else level - 1
        assert result.mean(result.measures[0]) == pytest.approx(1 - exactly / (levels - 1) / 2, abs=1e-9)


@pytest.mark.parametrize("tenths", range(10))
def test_a_distance_of_a_tenth_is_a_tenth(tenths: int) -> None:
    """.4 - .3 is above .1 in binary; it does not exceed t = .1."""
    user = Qrels.from_dict({"q": {"d": tenths / 10, "e": (tenths + 1) / 10}}, scale=1)
    names = ["Pstar(srs=score, over=judged)", "Rstar(srs=score, over=judged)"]
    result = evaluate(user, {"q": {"d": (tenths + 1) / 10, "e": tenths / 10}}, names)
    assert [result.mean(name) for name in names] == [1, 1]


def test_half_way_between_the_lowest_and_the_highest_score_is_a_half() -> None:
    """(.6 - .3) / (.9 - .3) is below .5 in binary."""
    result = evaluate({"q": {"d": 1, "e": 1}}, {"q": {"d": 0.9, "e": 0.6, "x": 0.3}}, "ThresholdR(srs=minmax)")
    assert result.mean("ThresholdR(srs=minmax)") == 1


class TestScores:
    QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}

    def of(self, run: dict[str, float], measure: str) -> float:
        return evaluate({"q": self.QRELS["q"]}, {"q": run}, measure).mean(measure)

    def test_constant_scores_are_all_1(self) -> None:
        assert self.of({"a": 7.0, "b": 7.0}, "ADM(srs=minmax)") == 0.5

    def test_scores_that_are_all_0_are_0(self) -> None:
        assert self.of({"a": 0.0, "b": 0.0}, "ADM(srs=max)") == 0.5

    def test_very_different_scores(self) -> None:
        assert self.of({"a": 1e308, "b": -1e308}, "ADM(srs=minmax)") == 1

    def test_lowest_and_highest_are_those_of_the_first_k(self) -> None:
        assert self.of({"a": 3.0, "x": 2.0, "b": 1.0}, "ADM(srs=minmax)@2") == 1

    @pytest.mark.parametrize(
        ("srs", "score", "expected"),
        [("score", 1.5, "from 0 to 1"), ("score", -0.5, "from 0 to 1")]
        + [(srs, -3.0, "of at least 0") for srs in ("max", "ratio", "exp")],
    )
    def test_scores_that_are_none(self, srs: str, score: float, expected: str) -> None:
        run = {"q": {"a": 0.5}, "r": {"a": 0.75, "x": score}}
        rank = 1 if score > 1 else 2
        with pytest.raises(InputError) as caught:
            evaluate(self.QRELS, run, f"ADM(srs={srs})")
        assert caught.value.message == (
            f"<dict>: expected scores {expected} for ADM(srs={srs}), found {score:g} at rank {rank} of query 'r'"
        )
        assert "minmax" in str(caught.value.hint)

    def test_what_is_below_the_cut_may_be_anything(self) -> None:
        assert self.of({"a": 1.0, "b": -3.0}, "ADM(srs=score)@1") == 1

    def test_scores_are_needed_only_where_they_count(self) -> None:
        assert parse("ADM").needed() == frozenset()
        assert parse("PRmean(srs=exp)").needed() == {"scores"}
        assert evaluate(self.QRELS, {"q": ["a"]}, "ADM").by_query("ADM")["q"] == 1
        with pytest.raises(InputError, match="expected scores, found a run without them"):
            evaluate(self.QRELS, {"q": ["a"]}, "ADM(srs=minmax)")


class TestParameters:
    def test_a_collection_smaller_than_what_is_known_of_it(self) -> None:
        qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": ["a", "x"]}
        assert evaluate(qrels, run, "ADM(over=3)@2").mean("ADM(over=3)@2") == pytest.approx(1 - 1.5 / 3)
        with pytest.raises(InputError) as caught:
            evaluate(qrels, run, "ADM(over=2)@2")
        assert caught.value.message == (
            "<dict>: expected a collection of at least 3 documents, found ADM(over=2)@2: so many are retrieved or "
            "relevant for query 'q'"
        )

    def test_grades_above_1_cannot_be_given(self) -> None:
        with pytest.raises(InputError, match=r"\AADM\(urs=given\): expected grades up to 1 with urs=given, found 2"):
            parse("ADM(urs=given)").score([2])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "ADM(over=retreived)",
                "ADM: over: expected retrieved+relevant | retrieved | relevant | judged, or the size of the "
                "collection, found 'retreived'\nhint: did you mean retrieved",
            ),
            ("ADM(over=0)", "ADM: over: expected a whole number from 1 to 2^53, found 0"),
            ("ADM(over=1.5)", "ADM: over: expected a whole number from 1 to 2^53, found 1.5"),
            ("ADM(srs=ranks)", "ADM: srs: expected rank | score | minmax | max | ratio | exp, found 'ranks'"),
            ("ADM(distance=cubic)", "ADM: distance: expected absolute | squared, found 'cubic'"),
            ("ADM(srs_levels=1)", "ADM: srs_levels: expected at least 2, found 1"),
            ("ADM(urs_levels=2.5)", "ADM: urs_levels: expected a whole number"),
            ("Pstar(t=2)", "Pstar: t: expected a number from 0 to 1, found 2"),
            (
                "ThresholdP(srs_threshold=0)",
                "ThresholdP: srs_threshold: expected a number above 0 and up to 1, found 0",
            ),
            ("PRmean(urs_threshold=1.1)", "PRmean: urs_threshold: expected a number above 0 and up to 1, found 1.1"),
            ("muAP(levels=some)", "muAP: levels: expected query | all, found 'some'"),
            ("muAP@10", "muAP: takes no @, found @10"),
            ("gP", "gP: expected a cutoff, found none\nhint: write gP@10"),
            ("gIPrec", "gIPrec: expected a recall, found none\nhint: write gIPrec@0.5"),
        ],
    )
    def test_mistakes(self, text: str, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(text)
        assert str(caught.value).startswith(message)

    def test_an_unknown_urs_says_what_else_there_is(self) -> None:
        with pytest.raises(UsageError, match="`given` takes grades as they are"):
            parse("ADM(urs=qqqq)")

    def test_the_depth_is_1000_unless_given(self) -> None:
        assert parse("ADM") == parse("ADM@1000")
        assert str(parse("ADM@1000")) == "ADM"
        assert parse("ADM").full_text() == "ADM(distance=absolute, over=retrieved+relevant, srs=rank, urs=scaled)@1000"
        assert str(parse("ADM(over=1e6)@10")) == "ADM(over=1000000)@10"

    def test_what_comes_after_the_depth_was_not_retrieved(self) -> None:
        run = [f"x{i}" for i in range(1000)]
        here = evaluate({"q": {"d": 1}}, {"q": [*run, "d"]}, "ADM").mean("ADM")
        assert here == evaluate({"q": {"d": 1}}, {"q": run}, "ADM").mean("ADM")
