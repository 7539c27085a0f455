"""Systems with different sessions: choice of the test, sentences, several systems, and real sessions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gainful import Comparison, InputError, Scores, UsageError, compare
from gainful.evaluation.scores import SessionScores
from tests.together import together


def made(sizes: tuple[int, ...] = (9, 11), shift: float = 0.2, topics: int = 0, users: int = 0) -> SessionScores:
    rng = np.random.default_rng(sum(sizes))
    scores, factors = {}, {"topic": {}, "user": {}}
    for i, size in enumerate(sizes):
        name = f"s{i}"
        values = rng.normal(0.4 + shift * i, 0.1, size)
        scores[name] = {f"{name}-{j}": float(value) for j, value in enumerate(values)}
        for j, session in enumerate(scores[name]):
            for factor, levels in (("topic", topics), ("user", users)):
                if levels:
                    factors[factor][name, session] = f"{factor}{j % levels}"
    return SessionScores("nsDCG@10", "higher", scores, {name: each for name, each in factors.items() if each})


def found(scores: SessionScores, **options: object) -> Comparison:
    return compare(Scores(sessions={scores.measure: scores}), **options)  # type: ignore[arg-type]


def words(comparison: Comparison) -> str:
    return " ".join(comparison.text("table").split())


def test_different_sessions_are_compared_unpaired() -> None:
    comparison = found(made())
    [pair] = comparison.unpaired["nsDCG@10"].pairs
    assert (pair.names, pair.sizes, pair.test.name, comparison.unit) == (("s1", "s0"), (11, 9), "labels", "session")
    text = words(comparison)
    assert "s1 beats s0 by" in text and "11 and 9 sessions" in text and "quer" not in text
    assert "Each session belongs to one system, so the comparison is unpaired: the test of shuffled labels" in text
    assert repr(comparison) == "<UnpairedComparison of 2 systems by nsDCG@10>"


def test_labels_are_shuffled_within_repeated_topics() -> None:
    scores = made((9, 11), topics=3)
    assert found(scores).unpaired["nsDCG@10"].pairs[0].topics == 3
    assert "labels are shuffled within 3 topics that both systems have." in words(found(scores))
    scores.factors["topic"].update({("s1", f"s1-{i}"): "alone" for i in range(4)})  # type: ignore[attr-defined]
    comparison = found(scores)
    result = comparison.unpaired["nsDCG@10"]
    assert (result.pairs[0].sizes, result.pairs[0].alone) == ((7, 9), 4)
    assert {name: len(each) for name, each in result.compared.scores.items()} == {"s0": 9, "s1": 7}
    assert result.compared.mean("s1") == pytest.approx(result.pairs[0].mean_system)
    assert "4 sessions of other topics left out" in words(comparison)


def test_too_few_sessions_detect_nothing() -> None:
    # All 20 ways to give three sessions each of two labels: p is at least 2/20; of 4 and 4 there are 70.
    few = found(made((3, 3)))
    assert few.unpaired["nsDCG@10"].pairs[0].detectable == math.inf
    said = "3 and 3 sessions). No difference is detectable: more sessions are needed, such as 4 per system."
    assert said in words(few)
    assert "inimum detectable difference" in words(found(made((4, 4))))
    assert '"detectable": "inf"' in few.text("jsonl")


def test_the_same_sessions_are_paired() -> None:
    scores = SessionScores("nsDCG@10", "higher", {"a": {"s1": 0.5, "s2": 0.75}, "b": {"s1": 0.25, "s2": 1.0}})
    comparison = found(scores)
    assert comparison.pairs["nsDCG@10"].wins == 1
    text = words(comparison)
    assert "2 sessions" in text and "Sessions that favour b" in text and "quer" not in text
    assert "; paired on the same sessions." in text
    assert found(scores, test="welch").unpaired["nsDCG@10"].pairs[0].test.name == "welch"


def test_paired_sessions_of_several_systems_are_called_sessions() -> None:
    rng = np.random.default_rng(3)
    scores = {name: {f"s{i}": float(value) for i, value in enumerate(rng.random(8))} for name in "abc"}
    shared = SessionScores("nsDCG@10", "higher", scores)
    assert "8 sessions, the same for all systems, paired)." in words(found(shared))
    bayes: dict[str, object] = {"test": "bayes", "margin": 0.1}
    for options in ({}, {"procedure": "friedman"}, {"procedure": "anova"}, bayes, {"sequential": True}):
        text = words(found(shared, **options))
        assert "8 sessions" in text and "quer" not in text, options


@pytest.mark.parametrize("factor", ["topic", "user"])
def test_sessions_that_share_only_ids_are_not_paired(factor: str) -> None:
    scores = {"a": {"s1": 0.5, "s2": 0.75}, "b": {"s1": 0.25, "s2": 1.0}}
    levels = {("a", "s1"): "x", ("b", "s1"): "x", ("a", "s2"): "x", ("b", "s2"): "y"}
    shared = SessionScores("nsDCG@10", "higher", scores, {factor: levels})
    for options in ({}, {"test": "randomisation"}):
        with pytest.raises(InputError, match=f"for different sessions: 's2' with {factor} x of a and y of b"):
            found(shared, **options)
    assert f"Systems share session IDs, but not sessions ('s2' with {factor} x" in words(found(shared, test="labels"))
    levels["b", "s2"] = "x"
    assert found(SessionScores("nsDCG@10", "higher", scores, {factor: levels})).pairs


def test_partly_shared_sessions_require_a_test() -> None:
    scores = SessionScores("nsDCG@10", "higher", {"a": {"s1": 0.5, "s2": 0.75}, "b": {"s1": 0.25, "s3": 1.0}})
    with pytest.raises(InputError, match=r"systems share some of their sessions, but not all \(1 in common\)"):
        found(scores)
    with pytest.raises(UsageError, match="no two systems have sessions in common"):
        found(made(), test="t")
    unpaired, paired = found(scores, test="welch"), found(scores, test="randomisation")
    assert unpaired.unpaired["nsDCG@10"].pairs[0].sizes == (2, 2) and paired.pairs["nsDCG@10"].n == 1
    assert "Sessions that systems share are not paired by the test welch: Welch's test" in words(unpaired)
    assert "Each session belongs to one system" not in words(unpaired)
    assert "; paired on sessions that both systems have." in words(paired) and "the same sessions" not in words(paired)


def test_several_systems_are_corrected_for_their_number() -> None:
    scores = made((12, 15, 9), shift=0.08)
    result = found(scores, test="welch").unpaired["nsDCG@10"]
    pairs = [("s2", "s1"), ("s2", "s0"), ("s1", "s0")]
    p = [stats.ttest_ind(scores.values(a), scores.values(b), equal_var=False).pvalue for a, b in pairs]
    assert [pair.names for pair in result.pairs] == pairs
    assert result.adjusted == pytest.approx(multipletests(p, method="holm")[1], rel=1e-9)
    text = words(found(scores, test="welch"))
    assert "of 3 systems on different sessions" in text and "of 3 pairs (Welch's t, Holm, 5% level)" in text


def test_a_family_of_all_measures() -> None:
    one, other = made((12, 15), shift=0.1), made((12, 15), shift=0.05)
    both = {"nsDCG@10": one, "sDCG@10": SessionScores("sDCG@10", "higher", other.scores)}
    for result in compare(Scores(sessions=both), test="welch", family="all", correction="bonferroni").unpaired.values():
        assert result.adjusted == (min(1.0, 2 * result.pairs[0].p),)


def test_users_and_topics_as_factors() -> None:
    scores = made((12, 12), topics=3, users=4)
    table = found(scores, procedure="anova").unpaired["nsDCG@10"].anova
    assert table is not None and list(table.effects) == ["system", "topic", "user"]
    assert [effect.df for effect in table.effects.values()] == [1, 2, 3]
    assert "sessions of the same user are treated as independent" in words(found(scores))
    assert "--procedure anova accounts for them" not in words(found(scores, procedure="anova"))


@together(
    ("options", "message"),
    [
        ({"procedure": "tukey"}, "procedure tukey cannot be used with unpaired sessions"),
        ({"interval": "t"}, "interval cannot be used with unpaired sessions"),
        ({"correction": "maxt"}, "correction: expected"),
        ({"baseline": "s9"}, "baseline: unknown system 's9'"),
        ({"by": "length"}, "by cannot be used with unpaired sessions"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        found(made(), **options)


def test_machines_have_every_number() -> None:
    [record] = found(made(), test="mann-whitney").to_polars("unpaired").to_dicts()
    assert record["test"] == "mann-whitney" and record["sessions_system"] == 11 and record["superiority"] > 0.5
    assert record["hedges_g_low"] < record["hedges_g"] < record["hedges_g_high"]
