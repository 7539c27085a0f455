"""Curves compared by rank, against a naive search, and their sentences."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from gainful import Policy, UsageError, gain_curves
from tests.together import together


def one_query(**ranks: list[int]) -> Any:
    """Curves of one query whose gains at ranks 1, 2, ... are given for each run; the ideal has ten of gain 1.

    A run's documents are those of the recall base, as many as it gains, so that CG counts them.
    """
    qrels = {"q": {f"d{i}": 1 for i in range(10)}}
    runs = {}
    for run, gains in ranks.items():
        left = iter(range(10))
        runs[run] = {"q": [f"d{next(left)}" if gain else f"x{i}" for i, gain in enumerate(gains)]}
    return qrels, runs


def every(step: int, depth: int) -> list[int]:
    """One gained document at every n-th rank."""
    return [1 if rank % step == 0 else 0 for rank in range(1, depth + 1)]


class TestAgainstASearch:
    @together("seed", range(8))
    def test_random_curves(self, seed):
        rng = random.Random(seed)
        grades = {f"d{j}": rng.choice([0, 0, 1, 2, 3]) for j in range(60)} | {"d0": 1}
        qrels = {f"q{i}": {**grades, f"d{i}": 2} for i in range(3)}
        runs = {f"r{r}": {query: rng.sample([f"d{j}" for j in range(90)], 80) for query in qrels} for r in range(4)}
        found = gain_curves(qrels, runs, "CG@50", draws=0)
        for reference in (None, "r2"):
            at = sorted(rng.sample(range(1, 51), 4))
            sideways = found.sideways(reference=reference, at=at)
            assert sideways.at == at
            assert sideways.runs == [run for run in runs if run != reference]
            exact = {run: self.exact_curve(qrels, answers) for run, answers in runs.items()}
            ideal = self.exact_curve(qrels, {q: sorted(j, key=j.get, reverse=True) for q, j in qrels.items()})
            goal = ideal if reference is None else exact[reference]
            for reach in sideways.reaches:
                search = [rank for rank in range(1, 51) if exact[reach.run][rank - 1] >= goal[reach.at - 1]]
                assert reach.rank == (search[0] if search else None)
                assert reach.gain == pytest.approx(float(goal[reach.at - 1]), rel=1e-12)
                if search:
                    others = [sideways.rank(run, reach.at) for run in sideways.runs]
                    assert reach.times_reference == search[0] / reach.at
                    assert reach.times_best == search[0] / min(rank for rank in others if rank)
            for area in sideways.areas:
                between = sum((best - own for best, own in zip(ideal, exact[area.run], strict=True)), Fraction(0))
                assert area.area == pytest.approx(float(between), rel=1e-12)
                assert area.share == pytest.approx(float(between / sum(ideal)), rel=1e-12)
            for far in sideways.distances:
                region = range(far.first - 1, far.last)
                points = [ideal[i] - exact[far.run][i] for i in region]
                shares = [(ideal[i] - exact[far.run][i]) / ideal[i] for i in region]
                ends = [float(end) for end in (min(points), max(points), min(shares), max(shares))]
                assert [far.least, far.most, far.least_share, far.most_share] == pytest.approx(ends, abs=1e-12)

    @staticmethod
    def exact_curve(qrels: Any, answers: Any) -> list[Fraction]:
        """The mean over queries as fractions, without rounding."""
        curve = [Fraction(0)] * 50
        for query, judged in qrels.items():
            total = 0
            for i, document in enumerate(answers[query][:50]):
                total += judged.get(document, 0)
                curve[i] += Fraction(total, len(qrels))
            for i in range(len(answers[query]), 50):
                curve[i] += Fraction(total, len(qrels))
        return curve

    def test_equal_but_for_rounding(self):
        # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit.
        qrels = {"q": {"a": 0.1, "b": 0.2, "c": 0.3}}
        found = gain_curves(qrels, {"up": {"q": ["a", "b", "c"]}, "down": {"q": ["c", "b", "a"]}}, "CG@3", draws=0)
        assert found.curve("up").values[2] != found.curve("down").values[2]
        for reference, run in (("up", "down"), ("down", "up"), (None, "up")):
            assert found.sideways(reference=reference, at=[3]).rank(run, 3) == 3
        assert found.sideways(at=[3], regions=[(3, 3)]).distances[0].least == 0


class TestNumbers:
    def test_effort(self):
        qrels, runs = one_query(twice=every(2, 20), thrice=every(3, 20))
        found = gain_curves(qrels, runs, "CG@20", draws=0).sideways(at=[5, 10])
        assert [found.rank("twice", 5), found.rank("thrice", 5)] == [10, 15]
        assert [found.rank("twice", 10), found.rank("thrice", 10)] == [20, None]
        assert found.effort("thrice", "twice", 5) == 1.5
        assert found.effort("thrice", "twice", 10) is None
        assert [(r.times_reference, r.times_best) for r in found.reaches] == [(2, 1), (3, 1.5), (2, 1), (None, None)]
        with pytest.raises(UsageError, match="run 'twice' was not compared at rank 7; there are ranks 5, 10"):
            found.rank("twice", 7)

    def test_where_curves_plateau(self):
        qrels, runs = one_query(twice=every(2, 21), never=[0] * 21)
        found = gain_curves(qrels, runs, "CG@21", draws=0).sideways()
        assert [(rise.run, rise.rank, rise.still_rises) for rise in found.last_rises] == [
            (None, 10, False),
            ("twice", 20, False),
            ("never", None, False),
        ]
        assert found.stopping_rank == 10
        short = gain_curves(qrels, runs, "DCG@8", draws=0).sideways()
        assert short.stopping_rank is None
        assert (short.last_rises[0].rank, short.last_rises[0].still_rises) == (8, True)

    def test_usual_ranks_and_regions(self):
        qrels, runs = one_query(r=every(2, 20))

        def usual(depth: int) -> tuple[list[int], list[tuple[int, int]]]:
            found = gain_curves(qrels, runs, f"CG@{depth}", draws=0).sideways()
            return found.at, [(far.first, far.last) for far in found.distances]

        assert usual(3) == ([3], [(1, 3)])
        assert usual(10) == ([5, 10], [(1, 10)])
        assert usual(60) == ([5, 10, 20], [(1, 10), (11, 50), (51, 60)])
        assert usual(1000)[1] == [(1, 10), (11, 50), (51, 100), (101, 500), (501, 1000)]

    def test_nothing_to_gain(self):
        found = gain_curves({"q": {"d": 0}}, {"r": {"q": ["d"]}}, "CG@2", draws=0).sideways()
        assert math.isnan(found.areas[0].share)
        assert found.sentences() == ["There is nothing to gain: no judged document has a gain above 0."]

    def test_measure_and_average(self):
        qrels, runs = one_query(twice=every(2, 20), thrice=every(3, 20))
        found = gain_curves(qrels, runs, ["nCG@20", "DCG@20"], average="both", draws=0)
        assert str(found.sideways().measure) == "DCG"
        by_run = found.sideways("nCG", reference="thrice", average="means")
        assert (by_run.average, by_run.last_rises, by_run.runs) == ("ratio of means", (), ["twice"])
        # 1/3 at rank 3 of the one, 1/2 at rank 2 of the other; the ideal is 1 at every rank.
        assert by_run.rank("twice", 5) == 2
        assert by_run.areas[0].area == pytest.approx(sum(1 - min(r // 2, 10) / min(r, 10) for r in range(1, 21)))


def said(at: list[int], measure: str = "CG@20", reference: str | None = None, **ranks: list[int]) -> list[str]:
    qrels, runs = one_query(**ranks)
    return gain_curves(qrels, runs, measure, draws=0).sideways(reference=reference, at=at).sentences()


class TestIdealOfTheSameQueries:
    """If the policy omits queries that a run does not answer, the run is compared with the ideal of its own queries."""

    QRELS = {"poor": {"a": 1}, "rich": {"a": 1, "b": 1, "c": 1}}
    RUNS = {"whole": {"poor": ["a"], "rich": ["a", "x", "b", "c"]}, "part": {"rich": ["x", "a", "b", "c"]}}

    def test_reach_area_and_distance(self):
        found = gain_curves(self.QRELS, self.RUNS, "CG@4", policy=Policy(missing="skip"), draws=0)
        assert found.ideal().values.tolist() == [1.0, 1.5, 2.0, 2.0]
        assert found.own_ideals["part", found.measure(None)].tolist() == [1.0, 2.0, 3.0, 3.0]
        assert ("whole", found.measure(None)) not in found.own_ideals
        sideways = found.sideways(at=[2], regions=[(2, 3)])
        assert [(reach.run, reach.gain, reach.rank) for reach in sideways.reaches] == [
            ("whole", 1.5, 3),
            ("part", 2.0, 3),
        ]
        # whole: 1 1 1.5 2 of 1 1.5 2 2; part: 0 1 2 3 of 1 2 3 3.
        assert [(area.area, area.share) for area in sideways.areas] == [(1.0, 1.0 / 6.5), (3.0, 3.0 / 9.0)]
        assert [(each.least, each.most) for each in sideways.distances] == [(0.5, 0.5), (1.0, 1.0)]
        assert "each run is compared with the ideal of its own queries" in str(sideways)

    def test_all_queries_count(self):
        found = gain_curves(self.QRELS, self.RUNS, "CG@4", draws=0)
        assert not found.own_ideals

    def test_nothing_to_catch_up_with(self):
        runs = {"late": {"rich": ["x", "a"]}, "early": {"rich": ["a"]}}
        sideways = gain_curves(self.QRELS, runs, "CG@4", draws=0).sideways(reference="late", at=[1, 2])
        assert [(reach.gain, reach.rank, reach.times_best) for reach in sideways.reaches] == [
            (0.0, 0, None),
            (0.5, 1, 1.0),
        ]


class TestSentences:
    STOP = "The ideal plateaus at rank 10: no query has further documents with gain."

    def test_two_runs(self):
        assert said([5, 10], twice=every(2, 20), thrice=every(3, 20)) == [
            "To gain what the ideal gives in 5 documents, a user reads 10 with twice and 15 with thrice.",
            "With thrice a user reads 1.5 times as far as with twice.",
            "To gain what the ideal gives in 10 documents, a user reads 20 with twice; with thrice 20 documents "
            "are not enough.",
            self.STOP,
        ]

    def test_nearly_equal_effort_has_no_sentence(self):
        texts = said([10], "CG@60", a=every(5, 53), b=every(5, 53))
        assert not any("times as long" in text for text in texts)
        near = said([2], "CG@60", a=[0] * 19 + [1, 1], b=[0] * 20 + [1, 1])  # 21 and 22 documents
        assert near[0] == "To gain what the ideal gives in 2 documents, a user reads 21 with a and 22 with b."
        assert not any("times as long" in text for text in near)

    def test_one_run(self):
        assert said([1, 8], twice=every(2, 20), thrice=every(3, 20), reference="thrice")[:2] == [
            "To gain what thrice gives in 8 documents, a user reads 4 with twice.",
            self.STOP,
        ]  # nothing is gained by rank 1
        assert said([1, 10], thrice=every(3, 20)) == [
            "To gain what the ideal gives in 1 document, a user reads 3 with thrice.",
            "To gain what the ideal gives in 10 documents, 20 documents are not enough with thrice.",
            self.STOP,
        ]

    def test_many_runs(self):
        ranks = {f"r{i}": [0] * i + [1] * 10 for i in range(9)} | {f"s{i}": [0] for i in range(3)}
        assert said([1], **ranks)[:2] == [
            "To gain what the ideal gives in 1 document, a user reads between 1 with r0 and 9 with r8 (9 runs); with "
            "s0, s1 or s2 20 documents are not enough.",
            "With r8 a user reads 9 times as far as with r0.",
        ]
        nobody = {f"r{i}": [0] for i in range(9)}
        assert said([1], **nobody)[0] == (
            "To gain what the ideal gives in 1 document, 20 documents are not enough with any of 9 runs."
        )

    def test_normalised(self):
        assert said([6], "nCG@20", "thrice", twice=every(2, 20), thrice=every(3, 20)) == [
            "To reach the nCG that thrice has at rank 6, a user reads 2 with twice."
        ]

    @pytest.mark.parametrize("average", ["ratios", "means"])
    def test_the_area_to_the_normalised_ideal_needs_no_reference(self, average):
        """G' of TOIS 2002 and a second query, in fractions: 1 - nCG by rank, over all ranks and by region."""
        gains = {"a": (3, 2, 3, 0, 0, 1, 2, 2, 3, 0), "b": (0, 1, 0, 0, 0, 0, 0, 3, 0, 0)}
        missed = {"a": (1, 1, 1), "b": (2,)}
        qrels = {
            query: {f"d{i}": grade for i, grade in enumerate((*of, *missed[query])) if grade}
            for query, of in gains.items()
        }
        runs = {
            "mine": {
                query: [f"d{i}" if grade else f"x{i}" for i, grade in enumerate(of)] for query, of in gains.items()
            }
        }

        def cumulated(values):
            return [Fraction(sum(values[:rank])) for rank in range(1, 11)]

        own = {query: cumulated(of) for query, of in gains.items()}
        best = {query: cumulated(sorted((*of, *missed[query]), reverse=True)) for query, of in gains.items()}
        if average == "ratios":
            shares = [sum(own[query][i] / best[query][i] for query in own) / 2 for i in range(10)]
        else:
            shares = [sum(own[query][i] for query in own) / sum(best[query][i] for query in own) for i in range(10)]
        found = gain_curves(qrels, runs, "nCG@10", draws=0, average=average)
        reading = found.sideways(regions=[(1, 3), (4, 10)])
        assert (reading.reaches, reading.last_rises, reading.sentences()) == ((), (), [])
        [area] = reading.areas
        assert area.area == pytest.approx(float(10 - sum(shares)), rel=1e-12)
        assert area.share == pytest.approx(float(1 - sum(shares) / 10), rel=1e-12)
        for distance, (first, last) in zip(reading.distances, [(1, 3), (4, 10)], strict=True):
            below = [float(1 - share) for share in shares[first - 1 : last]]
            assert (distance.least, distance.most) == pytest.approx((min(below), max(below)), rel=1e-12)
            assert (distance.least_share, distance.most_share) == (distance.least, distance.most)
        shown = [table.title for table in gain_curves(qrels, runs, ["CG@10", "nCG@10"], draws=0).page().tables]
        assert "Area between nCG (mean of ratios) and the ideal, ranks 1-10" in shown
        assert "Distance of nCG (mean of ratios) from the ideal" in shown

    def test_still_rising(self):
        assert said([5], "CG@8", r=every(1, 8))[-1] == "The ideal is still rising at rank 8, the last one computed."


class TestPage:
    def test_tables(self):
        qrels, runs = one_query(twice=every(2, 20), thrice=every(3, 20))
        found = gain_curves(qrels, runs, "CG@20", draws=0).sideways(at=[10], regions=[(1, 4)])
        reach, area, distance = found.page(places=2).tables
        assert [column.name for column in reach.columns] == ["run", "for 10", "10: vs ideal", "10: vs best"]
        assert reach.rows == (("twice", 20, 2.0, 1.0), ("thrice", None, None, None))
        assert "thrice  not within 20             -            -" in str(found)
        assert [(row[0], row[-1]) for row in area.rows] == [("(ideal)", 10), ("twice", None), ("thrice", 18)]
        assert distance.rows == (("twice", "1-4", 1.0, 2.0, 0.5, 1.0), ("thrice", "1-4", 1.0, 3.0, 2 / 3, 1.0))
        assert "order:input | " in str(found).splitlines()[-1]

    @together(
        ("options", "message"),
        [
            ({"at": [5, 21]}, "at: expected ranks up to 20, found 21\nhint: @k is the depth"),
            ({"at": [0]}, "at: expected a whole number"),
            ({"at": []}, "at: at least one rank is required"),
            ({"regions": [(5, 2)]}, "regions: expected ranks from 1 to 20, the first before the last, found 5-2"),
            ({"regions": [(1, 21)]}, "found 1-21\nhint: @k is the depth"),
            ({"reference": "tw"}, "reference: no run is called 'tw'; runs: twice\nhint: did you mean twice?"),
            ({"reference": "twice"}, "reference: no other run to compare with 'twice'"),
            ({"measure": "nCG", "at": [5]}, "nCG: no gain to reach: .*\nhint: use CG or DCG"),
            ({"measure": "DCG"}, "no curve for DCG; there are CG, nCG"),
        ],
    )
    def test_what_cannot_be(self, options, message):
        qrels, runs = one_query(twice=every(2, 20))
        found = gain_curves(qrels, runs, ["CG@20", "nCG@20"], draws=0, policy=Policy())
        with pytest.raises(UsageError, match=message):
            found.sideways(**options)
