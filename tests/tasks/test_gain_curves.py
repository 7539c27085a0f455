"""Gain curves against plain loops over queries, against scores at every rank, and against a plain bootstrap."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gainful import (
    GainCurves,
    InputError,
    Policy,
    Qrels,
    UsageError,
    assess_sensitivity,
    evaluate,
    gain_curves,
    generalised_recall,
    recall_levels,
)
from gainful.data.judged import Judged
from gainful.kernel.exact_sums import RankSums
from gainful.pages.charts import scales_of
from gainful.stats.repeatable import simultaneous_reach
from gainful.tasks.curves.averages import Resamples, band_ranks, percentile_band
from tests.together import together

DISCOUNTS: dict[str, Callable[[int], float]] = {
    "": lambda rank: math.log2(rank + 1),
    "discount=jarvelin2002": lambda rank: 1.0 if rank < 2 else math.log2(rank),
    "discount=jarvelin2000, base=10": lambda rank: 1.0 if rank < 2 else math.log10(rank),
    "discount=rank": float,
}


def cumulated(gains: list[float], discount: Callable[[int], float], depth: int) -> list[float]:
    """The definition: the sum of discounted gains down to every rank."""
    total, vector = 0.0, []
    for rank in range(1, depth + 1):
        total += (gains[rank - 1] if rank <= len(gains) else 0.0) / discount(rank)
        vector.append(total)
    return vector


def naive_vectors(lists: Any, query: str, discount: Callable[[int], float], depth: int) -> tuple[list[float], ...]:
    """A query's own and its ideal vector, from documents and grades."""
    grades = lists.grades(query)
    gains = [max(grades.get(document, 0.0), 0.0) for document in lists.ranked(query) or []]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return cumulated(gains, discount, depth), cumulated(ideal, discount, depth)


def naive_mean(vectors: list[list[float]]) -> list[float]:
    return [math.fsum(column) / len(vectors) for column in zip(*vectors, strict=True)] if vectors else []


def naive_ratios(lists: Any, discount: Callable[[int], float], depth: int, missing: str, undefined: str) -> list[float]:
    """Normalise every query, then average; missing comes before undefined."""
    counted = []
    for query in lists.qrels:
        run, ideal = naive_vectors(lists, query, discount, depth)
        if query not in lists.run:
            if missing == "zero":
                counted.append([0.0] * depth)
        elif ideal[0] > 0:
            counted.append([own / best for own, best in zip(run, ideal, strict=True)])
        elif undefined == "zero":
            counted.append([0.0] * depth)
    return naive_mean(counted)


def naive_means(lists: Any, discount: Callable[[int], float], depth: int, missing: str) -> list[float]:
    """Average the vectors, then divide by the average ideal."""
    kept = [query for query in lists.qrels if query in lists.run or missing == "zero"]
    both = [naive_vectors(lists, query, discount, depth) for query in kept]
    run, ideal = naive_mean([own for own, _ in both]), naive_mean([best for _, best in both])
    return [own / best for own, best in zip(run, ideal, strict=True)]


def policies() -> Iterator[dict[str, str]]:
    for missing in ("zero", "skip"):
        for undefined in ("zero", "skip"):
            yield {"missing": missing, "undefined": undefined}


class TestAgainstLoops:
    @together("discount", DISCOUNTS)
    @together("seed", range(6))
    def test_random_lists(self, random_lists, seed, discount):
        lists, divisor, depth = random_lists(seed), DISCOUNTS[discount], 30
        inside = f"({discount})" if discount else ""
        measures = [f"CG@{depth}", f"nCG@{depth}", f"DCG{inside}@{depth}", f"nDCG{inside}@{depth}"]
        for choices in policies():
            policy = Policy(**{**lists.policy, **choices})
            found = gain_curves(lists.qrels, {"r": lists.run}, measures, policy=policy, average="both", draws=0)
            for name, share, by in (("CG", "nCG", lambda rank: 1.0), (f"DCG{inside}", f"nDCG{inside}", divisor)):
                kept = [query for query in lists.qrels if query in lists.run or choices["missing"] == "zero"]
                expected = naive_mean([naive_vectors(lists, query, by, depth)[0] for query in kept])
                assert found.curve("r", name).values.tolist() == pytest.approx(expected, rel=1e-12)
                assert found.curve("r", name).count == len(kept)
                best = naive_mean([naive_vectors(lists, query, by, depth)[1] for query in lists.qrels])
                assert found.ideal(name).values.tolist() == pytest.approx(best, rel=1e-12)
                ratios = naive_ratios(lists, by, depth, **choices)
                assert found.curve("r", share, "ratios").values.tolist() == pytest.approx(ratios, rel=1e-12)
                means = naive_means(lists, by, depth, choices["missing"])
                assert found.curve("r", share, "means").values.tolist() == pytest.approx(means, rel=1e-12)

    def test_condensed_lists_by_measure(self, random_lists):
        lists = random_lists(1)
        condensed = lists._replace(policy={**lists.policy, "unjudged": "condensed"})
        found = gain_curves(
            lists.qrels, {"r": lists.run}, ["CG(unjudged=condensed)@20", "CG@20"],
            policy=Policy(**{**lists.policy, "unjudged": "zero"}), draws=0,
        )  # fmt: skip
        plain = lists._replace(policy={**lists.policy, "unjudged": "zero"})
        values = []
        for name, these in (("CG(unjudged=condensed)", condensed), ("CG", plain)):
            expected = naive_mean([naive_vectors(these, query, lambda rank: 1.0, 20)[0] for query in lists.qrels])
            values.append(found.curve("r", name).values.tolist())
            assert values[-1] == pytest.approx(expected, rel=1e-12)
        assert values[0] != values[1]

    def test_every_query(self, random_lists):
        lists = random_lists(3)
        policy = Policy(**{**lists.policy, "missing": "skip", "undefined": "skip"})
        found = gain_curves(lists.qrels, {"r": lists.run}, ["CG@25", "nDCG@25"], policy=policy, by_query=True, draws=0)
        for measure, by in (("CG", lambda rank: 1.0), ("nDCG", DISCOUNTS[""])):
            for query, vector in found.by_query("r", measure).items():
                run, ideal = naive_vectors(lists, query, by, 25)
                if query not in lists.run or (measure == "nDCG" and not ideal[0]):
                    assert np.isnan(vector).all()
                elif measure == "CG":
                    assert vector.tolist() == pytest.approx(run, rel=1e-12)
                else:
                    assert vector.tolist() == pytest.approx([a / b for a, b in zip(run, ideal, strict=True)], rel=1e-12)
        for query, vector in found.by_query(None, "CG").items():
            assert vector.tolist() == pytest.approx(naive_vectors(lists, query, lambda rank: 1.0, 25)[1], rel=1e-12)


class TestScoresAtEveryRank:
    """A curve at rank k equals `evaluate` at k, to the last digit."""

    @together("choices", [*policies(), {"missing": "skip", "unjudged": "condensed", "depth": 7}])
    @together("seed", [0, 4])
    def test_same_numbers(self, random_lists, seed, choices):
        lists = random_lists(seed)
        policy = Policy(**{**lists.policy, **choices})
        names = ("CG", "DCG", "nCG", "nDCG(discount=jarvelin2000, base=10)", "nDCG(gain=exp2, rel=1)")
        found = gain_curves(lists.qrels, {"r": lists.run}, [f"{name}@30" for name in names], policy=policy, draws=0)
        for name in names:
            at_ranks = [f"{name}@{k}" for k in range(1, 31)]
            scores = evaluate(lists.qrels, lists.run, at_ranks, policy=policy)
            assert found.curve("r", name).values.tolist() == [scores.mean(at) for at in at_ranks]
            assert found.curve("r", name).count == scores.count(at_ranks[0])

    def test_refused_by_the_policy(self):
        qrels, run = {"q1": {"d": 1}, "q2": {"d": 0}}, {"q1": ["d"], "q2": ["d"], "q9": ["d"]}
        with pytest.raises(InputError, match="undefined=error"):
            gain_curves(qrels, {"r": run}, "nDCG", policy=Policy(undefined="error"))
        assert gain_curves(qrels, {"r": run}, "CG", policy=Policy(undefined="error")).curve("r").values.tolist() == [
            0.5
        ]
        with pytest.raises(InputError, match="extra=error"):
            gain_curves(qrels, {"r": run}, "CG", policy=Policy(extra="error"))
        with pytest.raises(InputError, match="missing=error"):
            gain_curves(qrels, {"r": {"q1": ["d"]}}, "CG", policy=Policy(missing="error"))

    def test_nothing_counts(self):
        found = gain_curves(
            {"q": {"d": 0}}, {"r": {"q": ["d"]}}, "nCG@2", policy=Policy(undefined="skip"), average="both"
        )
        for average in ("ratios", "means"):
            assert np.isnan(found.curve("r", "nCG", average).values).all()
        zero = gain_curves({"q": {"d": 0}}, {"r": {"q": ["d"]}}, "nCG@2", average="both")
        for average in ("ratios", "means"):
            assert zero.curve("r", "nCG", average).values.tolist() == [0.0, 0.0]


def test_two_ways_of_averaging_differ() -> None:
    # One query gains 1 of 1, the other 1 of 3: (1 + 1/3)/2 against (1 + 1)/(1 + 3).
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}}
    found = gain_curves(qrels, {"r": {"q1": ["a"], "q2": ["a"]}}, "nCG@2", average="both")
    assert found.averages() == ["mean of ratios", "ratio of means"]
    assert found.curve("r", "nCG", "mean of ratios").values[1] == (1 + 1 / 3) / 2
    assert found.curve("r", "nCG", "ratio of means").values[1] == 0.5
    assert found.curve("r").average == "mean of ratios"


class TestDepth:
    QRELS = {"q": {f"d{i}": 1 for i in range(4)} | {"n1": 0, "n2": 0, "n3": 0}}

    def test_given(self):
        found = gain_curves(self.QRELS, {"r": {"q": ["d1"]}}, ["CG@7", "nDCG@3"])
        assert (found.depth("CG"), found.depth("nDCG")) == (7, 3)
        assert found.curve("r", "CG").values.tolist() == [1.0] * 7

    def test_end_of_lists_and_recall_bases(self):
        assert gain_curves(self.QRELS, {"r": {"q": ["d1", "d2"]}}).depth() == 4
        long = {"r": {"q": [f"d{i}" for i in range(150)]}}
        assert gain_curves(self.QRELS, long).depth() == 100
        assert gain_curves(self.QRELS, long, policy=Policy(depth=6)).depth() == 6
        assert gain_curves(self.QRELS, long, policy=Policy(unjudged="condensed")).depth() == 4

    def test_end_of_the_longest_list(self):
        runs = {"r": {"q": ["d1"]}, "s": {"q": [f"d{i}" for i in range(9)]}}
        found = gain_curves(self.QRELS, runs, draws=10)
        assert found.depth() == 9
        assert found.ideal().values.tolist() == [1, 2, 3, 4, 4, 4, 4, 4, 4]
        assert [str(measure) for measure in found.evaluations["r"].measures] == ["CG@9", "nDCG@9"]

    def test_bands_also_end_there(self):
        rng = random.Random(0)
        qrels = {f"q{i}": {f"d{j}": rng.choice([0, 1, 2]) for j in range(10)} for i in range(6)}
        run = {query: {f"d{j}": rng.random() for j in range(27)} for query in qrels}
        short, given = (gain_curves(qrels, {"r": run}, name).curve("r").band for name in ("CG", "CG@27"))
        assert short.ranks.tolist() == given.ranks.tolist() == [*range(1, 21), 24, 27]
        assert short.low.tolist() == given.low.tolist()
        assert short.high.tolist() == given.high.tolist()


def collection(seed: int, queries: int = 12, runs: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """Random judgments and runs; some queries are unanswered, one has nothing relevant."""
    rng = random.Random(seed)
    qrels = {f"q{i:02}": {f"d{j}": rng.choice([0, 0, 1, 2, 3]) for j in range(15)} for i in range(queries)}
    qrels["q03"] = {"d1": 0}
    answers = {
        f"run{r}": {
            query: {f"d{j}": rng.random() for j in range(40) if rng.random() < 0.7}
            for query in qrels
            if query != f"q{r:02}"
        }
        for r in range(runs)
    }
    return qrels, answers


def naive_band(found: GainCurves, run: str, measure: str, average: str, weights: Any, confidence: float) -> Any:
    """Resampled averages from per-query vectors, in plain Python, with percentiles between order statistics."""
    by_query = list(found.by_query(run, measure).values())
    ideal = list(found.by_query(None, "CG").values())
    run_cg = list(found.by_query(run, "CG").values())
    ranks = found.curve(run, measure).band.ranks.tolist()
    ends = []
    for rank in ranks:
        values = []
        for counts in weights:
            if average == "means":
                pairs = [(n, a[rank - 1], b[rank - 1]) for n, a, b in zip(counts, run_cg, ideal, strict=True)]
                pairs = [pair for pair in pairs if not math.isnan(pair[1])]
                below = math.fsum(n * b for n, _, b in pairs)
                if below:
                    values.append(math.fsum(n * a for n, a, _ in pairs) / below)
            else:
                kept = [(n, v[rank - 1]) for n, v in zip(counts, by_query, strict=True) if not math.isnan(v[rank - 1])]
                number = sum(n for n, _ in kept)
                if number:
                    values.append(math.fsum(n * value for n, value in kept) / number)
        values.sort()
        tail = (1 - confidence) / 2
        ends.append([np.interp(share * (len(values) - 1), range(len(values)), values) for share in (tail, 1 - tail)])
    return ranks, [low for low, _ in ends], [high for _, high in ends]


class TestBands:
    @together("choices", list(policies()))
    def test_plain_bootstrap(self, choices):
        qrels, runs = collection(5)
        found = gain_curves(
            qrels, runs, ["CG@60", "nCG@60"], policy=Policy(**choices), average="both", draws=60, seed=3,
            confidence=0.8, by_query=True,
        )  # fmt: skip
        weights = np.concatenate(list(Resamples(len(qrels), 60, 3)))
        for run in runs:
            for measure, average in (("CG", None), ("nCG", "ratios"), ("nCG", "means")):
                ranks, low, high = naive_band(found, run, measure, average or "", weights, 0.8)
                band = found.curve(run, measure, average).band
                assert band.ranks.tolist() == ranks
                assert band.low.tolist() == pytest.approx(low, rel=1e-9)
                assert band.high.tolist() == pytest.approx(high, rel=1e-9)
                assert (band.low < band.high).any()

    def test_resamples_are_draws_with_replacement(self):
        weights = np.concatenate(list(Resamples(50, 2000, 0)))
        assert weights.shape == (2000, 50)
        assert (weights.sum(axis=1) == 50).all()
        assert abs(weights.mean() - 1) < 1e-12
        # Counts are binomial (50, 1/50): variance 1 - 1/50; the standard error of the estimate is below 0.01.
        assert weights.var() == pytest.approx(0.98, abs=0.03)

    def test_pieces_are_the_same_draws(self):
        whole = np.concatenate(list(Resamples(7, 11, 0)))
        pieces = list(Resamples(7, 11, 0, cells=20))
        assert len(pieces) == 6
        assert (np.concatenate(pieces) == whole).all()
        again = Resamples(7, 11, 0, cells=20)
        assert all((one == other).all() for one, other in zip(again, again, strict=True))

    def test_seeds(self):
        qrels, runs = collection(1)
        ends = {
            seed: [gain_curves(qrels, runs, "CG@20", seed=seed, draws=50).curve("run0").band.low.tolist() for _ in "ab"]
            for seed in (0, 1)
        }
        assert ends[0][0] == ends[0][1]
        assert ends[1][0] == ends[1][1]
        assert ends[0][0] != ends[1][0]

    def test_draws_in_which_nothing_counts_are_left_out(self):
        qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 0}, "q4": {"d": 0}, "q5": {"d": 0}}
        run = {query: ["d"] for query in qrels}
        policy = Policy(undefined="skip")
        band = gain_curves(qrels, {"r": run}, "nCG@1", policy=policy, draws=200).curve("r").band
        [counts] = Resamples(5, 200, 0)
        assert band.draws == int((counts[:, :2].sum(axis=1) > 0).sum()) < 200
        assert (band.low.tolist(), band.high.tolist()) == ([1.0], [1.0])

    def test_no_band(self):
        assert percentile_band(np.array([1]), np.zeros((1, 0)), 0.9) is None  # no draw counts
        qrels, runs = collection(0)
        assert gain_curves(qrels, runs, draws=0).curve("run0").band is None
        assert gain_curves(qrels, runs, draws=5).ideal("CG").band is None
        one = gain_curves({"q": {"d": 1}}, {"r": {"q": ["d"]}})
        assert one.curve("r").band is None
        assert "no bands: at least 2 queries are needed, found 1" in str(one)

    def test_charts_of_one_query_speak_of_no_average(self):
        qrels, runs = {"q": {"a": 3, "b": 1}}, {"r": {"q": ["b", "c", "a", "d", "e", "f", "g"]}}
        charts = list(gain_curves(qrels, runs, ["CG@7", "nDCG@7"]).page().charts)
        assert [(chart.title, chart.caption) for chart in charts] == [("CG by rank", ""), ("nDCG by rank", "")]
        for chart in charts:
            assert [text for _, text in scales_of(chart)[0].ticks] == list("1234567")

    @together("depth", [1, 2, 19, 20, 21, 22, 100, 1000, 12345])
    def test_ranks(self, depth):
        ranks = band_ranks(depth).tolist()
        assert ranks[: min(depth, 20)] == list(range(1, min(depth, 20) + 1))
        assert ranks[-1] == depth
        assert ranks == sorted(set(ranks))
        beyond = [rank for rank in ranks[:-1] if rank >= 20]
        assert all(1.15 < after / before < 1.3 for before, after in pairwise(beyond))


class TestSameNumbersAnyway:
    def test_input_order_and_threads(self):
        qrels, runs = collection(7, queries=30, runs=3)
        first = gain_curves(qrels, runs, ["CG", "DCG", "nCG", "nDCG"], average="both", draws=50, threads=1)
        rng = random.Random(1)

        def shuffled(nested: dict[str, Any]) -> dict[str, Any]:
            keys = rng.sample(list(nested), len(nested))
            return {key: shuffled(nested[key]) if isinstance(nested[key], dict) else nested[key] for key in keys}

        again = gain_curves(
            shuffled(qrels), {name: shuffled(run) for name, run in runs.items()}, ["CG", "DCG", "nCG", "nDCG"],
            average="both", draws=50, threads=4,
        )  # fmt: skip
        assert len(first.curves) == 2 + 3 * 6
        for one, other in zip(first.curves, again.curves, strict=True):
            assert (one.run, one.measure, one.average) == (other.run, other.measure, other.average)
            assert one.values.tolist() == other.values.tolist()
            if one.band is not None:
                assert one.band.low.tolist() == other.band.low.tolist()
                assert one.band.high.tolist() == other.band.high.tolist()

    def test_sums_are_rounded_once(self):
        rng = random.Random(4)
        columns = [[rng.uniform(0, 1) * 10 ** rng.randint(-12, 12) for _ in range(3)] for _ in range(1001)]
        sums = RankSums(5)
        for first in range(0, 1001, 77):
            sums.add(np.array(columns[first : first + 77]))
        exact = [math.fsum(column) for column in zip(*columns, strict=True)]
        assert sums.total.tolist() == [*exact, exact[-1], exact[-1]]


class TestUse:
    def test_a_part_of_the_queries(self):
        qrels, runs = collection(3)
        part = Qrels.from_dict(qrels).select(["q05", "q07"])
        found = gain_curves(part, runs, "CG@10", policy=Policy(extra="error"))
        expected = evaluate(qrels, runs["run0"], "CG@10").by_query("CG@10")
        assert found.curve("run0").values[-1] == (expected["q05"] + expected["q07"]) / 2
        assert found.evaluations["run0"].facts.extra_ids == ()
        with pytest.raises(InputError, match="'q99'"):
            gain_curves(part, {"r": {**runs["run0"], "q99": ["d1"]}}, policy=Policy(extra="error"))

    def test_names(self):
        qrels, runs = collection(3)
        found = gain_curves(qrels, runs, ["CG@10", "nDCG(gain=exp2)@10"], draws=0)
        assert found.runs == ["run0", "run1"]
        assert list(map(str, found.measures)) == ["CG", "nDCG(gain=exp2)"]
        assert found.curve("run0", "CG@10") is found.curve("run0", "CG") is found.curve("run0")
        assert repr(found) == "<GainCurves of run0, run1: CG to rank 10, nDCG(gain=exp2) to rank 10>"
        assert repr(found.ideal()) == "<Curve of the ideal, all queries: CG (mean) to 10>"
        with pytest.raises(ValueError, match="read-only"):
            found.curve("run0").values[0] = 1

    @together(
        ("ask", "message"),
        [
            (lambda found: found.curve("run2"), "no run is called 'run2'; runs: run0, run1"),
            (lambda found: found.curve("run0", "DCG"), "no curve for DCG; there are CG, nDCG"),
            (lambda found: found.curve("run0", "CG@5"), "no curve for CG@5; there are CG, nDCG"),
            (lambda found: found.ideal("nDCG"), "nDCG: no ideal curve: the ideal of a normalised measure is 1"),
            (lambda found: found.curve("run0", "nDCG", "means"), "nDCG: average: expected mean of ratios"),
            (lambda found: found.by_query("run0"), "per-query vectors were not kept"),
        ],
    )
    def test_unknown_curves(self, ask, message):
        qrels, runs = collection(3)
        found = gain_curves(qrels, runs, ["CG@10", "nDCG@10"], draws=0)
        with pytest.raises(UsageError, match=message):
            ask(found)

    @together(
        ("options", "message"),
        [
            ({"measures": "P@10"}, "expected CG, DCG, nCG or nDCG, found P@10"),
            ({"measures": "idealDCG"}, "expected CG, DCG, nCG or nDCG, found idealDCG"),
            ({"measures": "AnDCG@10"}, "without average, found nDCG\\(average=ranks\\)@10\nhint: write nDCG@10"),
            ({"measures": ["CG@5", "CG"]}, "duplicate measure CG"),
            ({"measures": []}, "measures: at least one is required"),
            ({"average": "queries"}, "average: expected ratios | means | both, found 'queries'"),
            ({"draws": -1}, "draws: expected a whole number from 0, found -1"),
            ({"seed": 0.5}, "seed: expected a whole number from 0, found 0.5"),
            ({"confidence": 95}, "confidence: expected a number between 0 and 1, found 95"),
            ({"measures": "CG(gain=0-1)"}, "grade"),
            ({"runs": {}}, "runs: at least one run is required"),
            ({"runs": [1]}, "runs: expected a dict of names and runs, found list"),
        ],
    )
    def test_what_cannot_be(self, options, message):
        qrels, runs = collection(3)
        with pytest.raises((UsageError, InputError), match=message):
            gain_curves(qrels, **{"runs": runs, **options})


@together(
    "task",
    [partial(gain_curves, measures="nDCG@5"), recall_levels, generalised_recall, partial(assess_sensitivity, at=[5])],
)
def test_prepared_judgments_bring_their_own_policy(task: Callable[..., Any]) -> None:
    qrels, runs = collection(3)
    judged = Judged.of(qrels, Policy(missing="skip"))
    assert judged is Judged.of(judged)
    assert task(judged, runs).text("jsonl") == task(qrels, runs, policy=Policy(missing="skip")).text("jsonl")
    with pytest.raises(UsageError, match="policy: cannot be combined with prepared judgments, which"):
        task(judged, runs, policy=Policy(missing="skip"))


def test_no_band_of_a_chart_is_above_the_ideal():
    """Some resamples exceed the mean ideal of all queries: the chart's bands are cut there."""
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(1 + 9 * (i % 2))} for i in range(10)}
    run = {query: list(documents) for query, documents in qrels.items()}
    curves = gain_curves(qrels, {"perfect": run}, "CG@10")
    chart = next(curves.page().charts)
    ideal = next(line for line in chart.lines if line.role == "ideal")
    [line] = [line for line in chart.lines if line.role == "system"]
    band = curves.curves[0].band if curves.curves[0].run else curves.curves[1].band
    assert band.high[-1] > ideal.y[-1]  # so that there is something to cut
    assert all(high <= ideal.y[int(rank) - 1] for rank, high in zip(line.band.x, line.band.high, strict=True))


class TestDifferences:
    """Runs compared with a baseline: paired, rank by rank."""

    @staticmethod
    def made(**options):
        """In 12 queries one is ahead by one document for ranks 3 and above; two differs in a single query."""
        qrels = {f"q{i}": {f"d{j}": 1 for j in range(4)} for i in range(12)}
        base = {query: ["x", "d0", "y", "d1"] for query in qrels}
        one = {query: ["x", "d0", "d2" if i else "y", "d1"] for i, query in enumerate(qrels)}
        two = {**base, "q0": ["d0", "d1", "d2", "d3"]}
        return gain_curves(qrels, {"base": base, "one": one, "two": two}, ["CG@4", "nCG@4"], baseline="base", **options)

    def test_at_which_ranks_a_run_is_ahead(self):
        found = {(each.run, str(each.measure)): each for each in self.made().differences}
        assert list(found) == [(run, measure) for measure in ("CG", "nCG") for run in ("one", "two")]
        one, two = found["one", "CG"], found["two", "CG"]
        assert one.values.tolist() == pytest.approx([0, 0, 11 / 12, 11 / 12])
        assert (one.ranks(1), one.ranks(-1), two.ranks(1)) == ([(3, 4)], [], [])
        assert one.sentence("95%") == (
            "CG: one is significantly ahead of base at ranks 3 to 4 (simultaneous 95% band over ranks 1 to 4)."
        )
        assert two.sentence("95%").startswith("CG: no significant difference between two and base at any rank")
        reach = simultaneous_reach(np.array([[0.0, 0, 0, 0], *[[0.0, 0, 1, 1]] * 11]), 1000, 0, 0.95)
        assert (one.band.high - one.values).tolist() == pytest.approx(list(reach))

    def test_the_page_has_them_and_the_vectors_are_not_kept(self):
        found = self.made()
        assert not found.vectors and self.made(by_query=True).vectors
        page = found.page()
        titles = [chart.title for chart in page.charts]
        assert titles[-2:] == ["CG, difference from base, by rank", "nCG, difference from base, by rank"]
        assert any(isinstance(part, str) and "one is significantly ahead of base" in part for part in page.parts)
        [rows] = [table.rows for table in page.tables_for_machines if table.title == "Differences by rank"]
        assert len(rows) == 2 * 2 * 4 and rows[2][:4] == ("one", "base", "CG", 3)

    def test_refused(self):
        with pytest.raises(UsageError, match="baseline: no run is called 'bas'"):
            gain_curves({"q": {"d": 1}}, {"base": {"q": ["d"]}}, "CG@2", baseline="bas")
        with pytest.raises(UsageError, match="baseline: bands of differences need resamples"):
            self.made(draws=0)
        runs = {"base": {"q": ["d"]}, "one": {"q": ["x"]}}
        with pytest.raises(UsageError, match="which average=means does not have"):
            gain_curves({"q": {"d": 1}}, runs, "nCG@2", baseline="base", average="means")
        [alone] = gain_curves({"q": {"d": 1}}, runs, "nCG@2", baseline="base").differences
        assert alone.band is None and "no band for one" in alone.sentence("95%")


def test_chance_is_the_mean_over_all_orders() -> None:
    qrels, run = {"q1": {"a": 3, "b": 1, "z": 2}, "q2": {"c": 2}}, {"q1": ["x", "a", "b", "y"], "q2": ["y", "c", "x"]}
    curves = gain_curves(qrels, {"mine": run}, ["nDCG@4", "DCG@4"], chance=True, draws=0)
    for measure in ("nDCG", "DCG"):
        found = curves.curve("mine, random order", measure).values.tolist()
        for rank, value in enumerate(found, 1):
            means = []
            for query, documents in run.items():
                orders = {str(i): list(order) for i, order in enumerate(itertools.permutations(documents))}
                judged = dict.fromkeys(orders, qrels[query])
                means.append(evaluate(judged, orders, f"{measure}@{rank}").mean(f"{measure}@{rank}"))
            assert value == pytest.approx(sum(means) / 2)
