"""Measures of recommendation against naive computations, item by item and pair by pair."""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

from gainful import InputError, UsageError, compare, evaluate, explain, parse
from gainful.evaluation.results import Signature
from gainful.measures.help import Help, reading
from gainful.measures.measure_families import ALL_FAMILIES

ITEMS = [f"i{j}" for j in range(40)]
#: Items that the table does not have.
OTHERS = ["x1", "x2"]


class Case:
    """Users with judgments, lists and a past, some without; items with genres, some without, some unknown."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.genres = {item: set(rng.sample("abcde", rng.choice([0, 1, 2, 3]))) for item in ITEMS}
        users = [f"u{i}" for i in range(25)]
        pool = [*ITEMS[: rng.choice([10, 30])], *OTHERS]
        self.qrels = {user: {item: rng.choice([0, 1, 2]) for item in rng.sample(pool, 6)} for user in users}
        self.run = {user: rng.sample(pool, rng.randint(0, len(pool))) for user in users[:-2]}
        self.past = {user: rng.sample([*ITEMS, "x1", "old"], rng.randint(1, 9)) for user in [*users[3:], "v"]}
        self.tables: dict[str, Any] = {
            "items": {item: "|".join(sorted(genres)) for item, genres in self.genres.items()},
            "training": self.past,
        }

    def similarity(self, one: str, other: str, coef: str) -> float:
        a, b = self.genres[one], self.genres[other]
        return len(a & b) / (len(a | b) if coef == "jaccard" else math.sqrt(len(a) * len(b)))

    def known(self, items: list[str]) -> list[str]:
        return [item for item in items if self.genres.get(item)]

    def novelty(self, user: str, k: int, share: str) -> float:
        users = Counter(item for items in self.past.values() for item in items)
        whole = len(self.past) if share == "users" else sum(users.values())
        values = [-math.log2(max(users[item], 1) / whole) for item in self.run[user][:k]]
        return sum(values) / len(values) if values else math.nan

    def ild(self, user: str, k: int, coef: str) -> float:
        distances = [1 - self.similarity(*pair, coef) for pair in combinations(self.known(self.run[user][:k]), 2)]
        return sum(distances) / len(distances) if distances else math.nan

    def serendipity(self, user: str, k: int, coef: str, rel: int = 1) -> float:
        past = self.known(self.past.get(user, []))
        relevant = [item for item in self.run[user][:k] if self.qrels[user].get(item, 0) >= rel]
        if not past:
            return math.nan
        unexpected = [1 - sum(self.similarity(i, h, coef) for h in past) / len(past) for i in self.known(relevant)]
        return sum(unexpected) / k

    def exposure(self, k: int) -> Counter[str]:
        return Counter(item for items in self.run.values() for item in items[:k])


@pytest.mark.parametrize("seed", range(6))
def test_users(seed: int) -> None:
    case = Case(seed)
    expected = {
        **{f"Novelty@{k}": lambda user, k=k: case.novelty(user, k, "users") for k in (1, 5)},
        "Novelty(share=interactions)@5": lambda user: case.novelty(user, 5, "interactions"),
        **{f"ILD@{k}": lambda user, k=k: case.ild(user, k, "cosine") for k in (2, 10)},
        "ILD(coef=jaccard, by=attributes)@10": lambda user: case.ild(user, 10, "jaccard"),
        **{f"Serendipity@{k}": lambda user, k=k: case.serendipity(user, k, "cosine") for k in (3, 50)},
        "Serendipity(coef=jaccard, rel=2)@9": lambda user: case.serendipity(user, 9, "jaccard", 2),
        "UserCoverage": lambda user: float(bool(case.run[user])),
        "UserCoverage@8": lambda user: float(len(case.run[user]) >= 8),
    }
    found = evaluate(case.qrels, case.run, list(expected), **case.tables)
    for text, naive in expected.items():
        place = list(map(str, found.measures)).index(str(parse(text)))
        scores = dict(zip(found.queries, found.raw[place].tolist(), strict=True))
        for user in case.run:
            assert scores[user] == pytest.approx(naive(user), nan_ok=True, abs=1e-12), (text, user)
    # Two of the users have no list.
    assert found.mean("UserCoverage") == sum(map(bool, case.run.values())) / 25


def gini(shares: list[float]) -> float:
    """Mean difference of all pairs / twice the mean, times n / (n - 1)."""
    n = len(shares)
    return sum(abs(a - b) for a in shares for b in shares) / (2 * n * n * (sum(shares) / n)) * n / (n - 1)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("seed", range(3))
def test_systems(seed: int) -> None:
    case, k = Case(seed), 4
    exposure = case.exposure(k)
    found = evaluate(case.qrels, case.run, ["Coverage@4", "Gini@4", "Entropy@4", "Coverage(N=99)@4"], **case.tables)
    shown = [exposure[item] for item in ITEMS]
    assert found["Coverage@4"] == sum(map(bool, shown)) / len(ITEMS)
    assert found["Gini@4"] == pytest.approx(gini([count / sum(shown) for count in shown]), abs=1e-12)
    shares = [count / sum(exposure.values()) for count in exposure.values()]
    assert found["Entropy@4"] == pytest.approx(-sum(share * math.log2(share) for share in shares), abs=1e-12)
    assert found["Coverage(N=99)@4"] == len(exposure) / 99
    # Without a table of items, the catalogue is the training table.
    past = {item for items in case.past.values() for item in items}
    before = evaluate(case.qrels, case.run, "Coverage@4", training=case.past)
    assert before["Coverage@4"] == len(past & set(exposure)) / len(past)


def test_peers_by_hand() -> None:
    """RecTools' example of MeanInvUserFreq, and values by the formulas of recommenders."""
    past, run = {"1": ["1", "2"], "2": ["1"], "3": ["1"]}, {"1": ["3"], "2": ["2", "3"], "3": ["1", "2"]}
    qrels = {user: ["1"] for user in run}
    found = evaluate(qrels, run, ["Novelty@1", "Novelty@3"], training=past)
    assert list(found.by_query("Novelty@1").values()) == pytest.approx([1.5849625, 1.5849625, 0.0])
    assert list(found.by_query("Novelty@3").values()) == pytest.approx([1.5849625, 1.5849625, 0.79248125])
    # catalog_coverage: 3 items shown, 2 in training, 2 of them shown; distributional_coverage: shares 1/5, 2/5, 2/5.
    whole = evaluate(qrels, run, ["Coverage@3", "Entropy@3"], training=past)
    assert whole["Coverage@3"] == 1.0
    assert whole["Entropy@3"] == pytest.approx(1.5219280948873621)


def test_extremes_of_exposure() -> None:
    users = [f"u{i}" for i in range(4)]
    qrels = {user: ["a"] for user in users}
    texts = ["Gini(N=4)@1", "Entropy@1", "Coverage(N=4)@1"]
    equal = evaluate(qrels, {user: [item] for user, item in zip(users, "abcd", strict=True)}, texts)
    one = evaluate(qrels, {user: ["a"] for user in users}, texts)
    nothing = evaluate(qrels, {user: [] for user in users}, texts)
    assert [equal[text] for text in texts] == [0.0, 2.0, 1.0]
    assert [one[text] for text in texts] == [1.0, 0.0, 0.25]
    assert [math.isnan(nothing[text]) for text in texts] == [True, True, False]


def test_systems_of_some_users() -> None:
    """System measures use the lists evaluated; users have no scores, so they are not tested."""
    run = {"u1": ["a", "b"], "u2": ["c", "a"], "u3": ["a"]}
    qrels = {user: ["a"] for user in run}
    kinds = {user: {"kind": "old" if user == "u2" else "new"} for user in run}
    found = evaluate(qrels, run, ["Coverage(N=4)@2", "RR"], queries=kinds)
    assert found["Coverage(N=4)@2"] == 0.75
    assert found.at([0, 2])["Coverage(N=4)@2"] == 0.5
    assert set(found.by_query("Coverage(N=4)@2").values()) == {None}
    assert not found.undefined("Coverage(N=4)@2")
    assert pickle.loads(pickle.dumps(found))["Coverage(N=4)@2"] == 0.75
    whole = "has no per-query scores, only a value of all lists together"
    with pytest.raises(UsageError, match=whole):
        compare(qrels, {"one": run, "other": run}, "Coverage(N=4)@2")
    with pytest.raises(UsageError, match=whole):
        explain("Entropy@2", qrels, run, "u1")
    with pytest.raises(UsageError, match=r"merge: Entropy@2 is a measure of all lists together"):
        evaluate(qrels, run, "Entropy@2").merge(evaluate({"u9": ["a"]}, {"u9": ["a"]}, "Entropy@2"))


def test_users_are_compared() -> None:
    """Comparisons use the same tables as evaluations, which may be frames."""
    case, seen = Case(1), pd.DataFrame({"user": ["u1"], "item": ["i1"]})
    reverse = {user: items[::-1] for user, items in case.run.items()}
    runs, tables = {"one": case.run, "other": reverse}, {"exclude": seen, **case.tables}
    found = compare(case.qrels, runs, "Novelty@3", **tables).pairs["Novelty@3"]
    means = {name: evaluate(case.qrels, run, "Novelty@3", **tables).mean("Novelty@3") for name, run in runs.items()}
    assert found.difference == pytest.approx(means["other"] - means["one"])


def test_help() -> None:
    of_systems = [names for family, names in ALL_FAMILIES.items() if family == "Recommendation: systems"]
    assert of_systems
    for names in of_systems:
        for name in names:
            measure = type(parse(f"{name}@5"))
            assert {"Formula", "Conventions", "Reference", "Example"} <= set(Help.of(measure).sections)
            assert reading(measure).endswith("one value for all lists together.")


def test_names() -> None:
    names = {"HitRate@10": "Success@10", "hit_rate@5": "Success@5", "hr@5": "Success@5"}
    names |= {"catalog_coverage@5": "Coverage@5", "gini_index@5": "Gini@5", "intra_list_diversity@5": "ILD@5"}
    names |= {"novelty@5": "Novelty@5", "coverage@5": "Coverage@5", "user_coverage": "UserCoverage"}
    assert {name: str(parse(name)) for name in names} == names


@pytest.mark.parametrize(
    ("text", "tables", "message"),
    [
        ("Coverage@5", {}, r"Coverage@5: a catalogue of items is required"),
        ("Gini(N=1)@5", {}, r"Gini\(N=1\)@5: the lists have 2 items, more than N"),
        ("ILD@5", {"training": {"u": ["a"]}}, r"ILD@5: a table of items is required"),
        ("Novelty@5", {"items": {"a": "x"}}, r"Novelty@5: a table of training is required"),
        ("ILD(by=genre)@5", {"items": {"a": {"genres": "x"}}}, r"no column 'genre' in items"),
        ("ILD@5", {"items": {"a": ""}}, r"items: no attributes of items, such as genres"),
        ("ILD@5", {"items": {"c": "x"}}, r"no item occurs in items: the run has 'a', items has 'c'"),
        ("Coverage", {}, r"Coverage: a cutoff is required"),
        ("Novelty(share=all)@5", {}, r"Novelty: share: expected users | interactions"),
    ],
)
def test_refusals(text: str, tables: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, InputError), match=message):
        _ = evaluate({"u": ["a"]}, {"u": ["a", "b"]}, text, **tables)[text]


def test_notices_on_tables() -> None:
    tables = {"items": {"a": "x", "c": "y"}, "training": {"u": ["a"], "v": ["a"]}}
    found = evaluate({"u": ["a"]}, {"u": ["a", "b"]}, ["Coverage@5", "RR"], **tables)  # type: ignore[call-overload]
    assert "1 retrieved document not in items: outside the catalogue, without attributes" in " ".join(found.notices)
    line = str(found.signature("RR"))
    assert "|items:2|training:2|" in line
    assert str(Signature.parse(line)) == line


def test_the_mean_of_a_single_value_is_that_value() -> None:
    found = evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["b"]}, "Entropy@1")
    assert found.mean("Entropy@1") == found["Entropy@1"] == 1
