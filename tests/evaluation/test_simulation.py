"""Simulated collections: reproducible, extensible, pooled as described, and equal to their text."""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from pathlib import Path
from statistics import correlation, mean
from typing import Any

import numpy as np
import pytest

from gainful import evaluate
from gainful.errors import UsageError
from gainful.evaluation.simulation import DEMO_SYSTEMS, Collection, System, _logistic, simulate

SMALL: dict[str, Any] = {"queries": 6, "documents": 300, "depth": 40, "pool_depth": 10}


@pytest.fixture(scope="module")
def demo() -> Collection:
    return simulate()


@pytest.fixture(scope="module")
def small() -> Collection:
    return simulate(**SMALL)


def ndcg(collection: Collection, system: str) -> float:
    return evaluate(collection.qrels, collection.runs[system], "nDCG@10").mean("nDCG@10")


def judged_pairs(collection: Collection) -> set[tuple[str, str, int]]:
    return {
        (query, document, grade) for query, grades in collection.qrels.items() for document, grade in grades.items()
    }


def run_order(collection: Collection) -> list[tuple[str, str, list[tuple[str, float]]]]:
    """Dictionaries compare equal in any order of their keys; this keeps the order."""
    return [
        (system, query, list(scores.items()))
        for system, run in collection.runs.items()
        for query, scores in run.items()
    ]


def exactly(message: str) -> str:
    """The pattern of the whole message and nothing else."""
    return rf"\A{re.escape(message)}\Z"


class TestDeterminism:
    def test_equal_arguments_give_equal_collections_in_equal_order(self, small: Collection) -> None:
        """Whatever the global random state, which is left alone, and whatever kind of integer the seed is."""
        np.random.seed(123)
        before = np.random.get_state()
        again = simulate(**SMALL, seed=np.int64(0))  # type: ignore[arg-type]
        assert again == small and run_order(again) == run_order(small)
        assert all(np.array_equal(x, y) for x, y in zip(before, np.random.get_state(), strict=True))

    # Concatenated into one list of 32-bit words, (2**32, query 1) would read as seed 0 with a longer key.
    @pytest.mark.parametrize("seed", [1, 2**32])
    def test_other_seeds_give_other_runs(self, small: Collection, seed: int) -> None:
        assert simulate(**SMALL, seed=seed).runs != small.runs


class TestExtension:
    def test_more_queries_extend_fewer(self, small: Collection) -> None:
        longer = simulate(**{**SMALL, "queries": 9})
        assert list(longer.qrels.items())[:6] == list(small.qrels.items())
        for system, run in small.runs.items():
            assert list(longer.runs[system].items())[:6] == list(run.items())

    def test_query_ids_have_more_digits_only_where_needed(self) -> None:
        one = (System("only", quality=1.0),)
        collection = simulate(queries=1001, documents=20, depth=1, pool_depth=1, systems=one)
        assert list(collection.runs["only"])[::500] == ["q001", "q501", "q1001"]

    def test_an_appended_system_adds_judgments_and_leaves_the_others_alone(self, small: Collection) -> None:
        extended = simulate(**SMALL, systems=(*DEMO_SYSTEMS, System("another", quality=3.0, family="lexical")))
        assert list(extended.runs) == [*small.runs, "another"]
        assert {name: extended.runs[name] for name in small.runs} == small.runs
        assert judged_pairs(small) < judged_pairs(extended)

    def test_the_order_of_systems_is_only_an_order(self, small: Collection) -> None:
        reverse = simulate(**SMALL, systems=DEMO_SYSTEMS[::-1])
        assert list(reverse.runs) == list(small.runs)[::-1]
        assert reverse == small

    def test_deeper_lists_extend_shallower_ones(self, small: Collection) -> None:
        deeper = simulate(**{**SMALL, "depth": 60})
        assert deeper.qrels == small.qrels
        for system, run in small.runs.items():
            for query, scores in run.items():
                assert list(deeper.runs[system][query].items())[:40] == list(scores.items())


class TestModel:
    def test_the_demo(self, demo: Collection) -> None:
        """Five systems, better and better, 50 queries with something relevant, and a tenth of the top unjudged."""
        assert list(demo.runs) == ["tfidf", "bm25", "dense", "hybrid", "reranker"]
        assert list(demo.qrels) == [f"q{number:03d}" for number in range(1, 51)]
        for run in demo.runs.values():
            assert list(run) == list(demo.qrels)
            assert {len(scores) for scores in run.values()} == {100}
        assert DEMO_SYSTEMS[0].family == DEMO_SYSTEMS[1].family is not None
        assert 0.30 < ndcg(demo, "tfidf") < 0.42
        assert 0.68 < ndcg(demo, "reranker") < 0.80
        assert all(any(grades.values()) for grades in demo.qrels.values())
        lists = [(query, document) for run in demo.runs.values() for query in run for document in list(run[query])[:10]]
        assert 0.85 < mean(document in demo.qrels[query] for query, document in lists) < 0.95
        counts = Counter(grade for _, _, grade in judged_pairs(demo))
        assert set(counts) == {0, 1, 2, 3} and counts[3] == min(counts.values())
        assert counts[0] > 0.6 * counts.total()

    @pytest.mark.parametrize("seed", range(4))
    def test_mean_ndcg_increases_with_quality(self, seed: int) -> None:
        collection = simulate(seed=seed)
        means = [ndcg(collection, system.name) for system in DEMO_SYSTEMS]
        assert means == sorted(set(means))

    def test_every_level_is_rarer_than_the_one_below(self) -> None:
        # Everything is pooled and judged, so that the judgments are the true grades.
        everything: dict[str, Any] = {"documents": 500, "depth": 500, "pool_depth": 500, "judged_share": 1.0}
        one = (System("only", quality=1.0),)
        counts = Counter(grade for _, _, grade in judged_pairs(simulate(queries=100, systems=one, **everything)))
        assert counts.total() == 100 * 500
        assert counts[0] > counts[1] > counts[2] > counts[3] > 0
        relevant_per_query = (counts.total() - counts[0]) / 100
        assert relevant_per_query == pytest.approx(35, rel=0.1)  # the mean of 10 and 60

    @pytest.mark.parametrize("levels", [2, 3, 6])
    def test_number_of_levels(self, levels: int) -> None:
        grades = {grade for _, _, grade in judged_pairs(simulate(levels=levels))}
        assert grades == set(range(levels))

    def test_a_family_makes_similar_errors(self) -> None:
        # With quality 0 the scores are pure noise: half of the variance is shared within a family, none outside.
        systems = (System("a", 0.0, "f"), System("b", 0.0, "f"), System("c", 0.0, "g"), System("d", 0.0))
        runs = simulate(queries=1, documents=5000, depth=5000, systems=systems).runs
        documents = sorted(runs["a"]["q001"])
        scores = {name: [run["q001"][document] for document in documents] for name, run in runs.items()}
        assert correlation(scores["a"], scores["b"]) == pytest.approx(0.5, abs=0.05)
        assert correlation(scores["a"], scores["c"]) == pytest.approx(0.0, abs=0.05)
        assert correlation(scores["a"], scores["d"]) == pytest.approx(0.0, abs=0.05)

    @pytest.mark.parametrize("family", [None, "f"])
    def test_noise_has_the_variance_of_the_logistic_distribution(self, family: str | None) -> None:
        systems = (System("a", 0.0, family),)
        scores = list(simulate(queries=1, documents=20000, depth=20000, systems=systems).runs["a"]["q001"].values())
        assert np.var(scores) == pytest.approx(math.pi**2 / 3, rel=0.05)

    def test_a_draw_of_zero_gives_a_finite_score(self) -> None:
        noise = _logistic(np.array([0.0, 0.5, 1.0 - 2.0**-53]))
        assert np.all(np.isfinite(noise))
        assert noise[0] < noise[1] == 0.0 < noise[2]

    def test_small_collections_keep_documents_of_grade_zero(self) -> None:
        grades = Counter(grade for _, _, grade in judged_pairs(simulate(documents=10, depth=10, pool_depth=10)))
        assert grades[0] == pytest.approx(0.5 * grades.total(), rel=0.2)

    def test_one_document(self) -> None:
        collection = simulate(queries=1, documents=1, depth=1, pool_depth=1, judged_share=1.0)
        assert all(list(run["q001"]) == ["d000001"] for run in collection.runs.values())
        assert list(collection.qrels["q001"]) == ["d000001"]


class TestRanking:
    def test_scores_have_four_decimals_and_equal_ones_put_the_later_document_first(self) -> None:
        # 20 000 scores of 4 decimals have many ties, and with this seed one of them is just below 0.
        collection = simulate(queries=1, documents=20000, depth=20000, systems=(System("only", 0.0),), seed=4)
        ranking = [(score, document) for document, score in collection.runs["only"]["q001"].items()]
        scores = [score for score, _ in ranking]
        assert len(set(scores)) < len(ranking) and ranking == sorted(ranking, reverse=True)
        assert [float(f"{score:.4f}") for score in scores] == scores
        assert "-0.0000" not in {f"{score:.4f}" for score in scores}

    def test_the_list_holds_the_best_documents(self, small: Collection) -> None:
        complete = simulate(**{**SMALL, "depth": 300})
        for system, query, ranking in run_order(small):
            scores = complete.runs[system][query]
            assert len(scores) == 300
            assert [score for _, score in ranking] == sorted(scores.values(), reverse=True)[:40]

    def test_values_are_plain_python_numbers(self, small: Collection) -> None:
        assert {type(score) for _, _, ranking in run_order(small) for _, score in ranking} == {float}
        assert {type(grade) for _, _, grade in judged_pairs(small)} == {int}


class TestPool:
    @staticmethod
    def pool(collection: Collection, query: str, pool_depth: int) -> set[str]:
        return {document for run in collection.runs.values() for document in list(run[query])[:pool_depth]}

    def test_everything_pooled_is_judged_at_share_one(self) -> None:
        collection = simulate(**SMALL, judged_share=1.0)
        for query, grades in collection.qrels.items():
            assert list(grades) == sorted(self.pool(collection, query, 10))

    def test_share_of_the_pool_that_is_judged(self) -> None:
        complete = judged_pairs(simulate(judged_share=1.0))
        half = judged_pairs(simulate(judged_share=0.5))
        most = judged_pairs(simulate(judged_share=0.9))
        assert half < most < complete
        assert len(half) / len(complete) == pytest.approx(0.5, abs=0.03)
        assert len(most) / len(complete) == pytest.approx(0.9, abs=0.03)

    def test_a_deeper_pool_adds_judgments(self, small: Collection) -> None:
        deeper = simulate(**{**SMALL, "pool_depth": 20})
        assert judged_pairs(small) < judged_pairs(deeper)
        assert deeper.runs == small.runs == simulate(**SMALL, judged_share=0.2).runs

    def test_a_query_without_judged_documents_is_absent(self) -> None:
        one = (System("only", quality=5.0),)
        collection = simulate(queries=20, documents=50, depth=5, pool_depth=1, systems=one, judged_share=0.3)
        assert 0 < len(collection.qrels) < len(collection.runs["only"]) == 20
        assert all(collection.qrels.values())


class TestWrite:
    def test_paths(self, small: Collection, tmp_path: Path) -> None:
        directory = tmp_path / "new" / "demo"
        names = ["qrels.txt", "tfidf.run", "bm25.run", "dense.run.gz", "hybrid.run", "reranker.run"]
        assert small.write(directory, compressed=["dense"]) == [directory / name for name in names]
        assert sorted(path.name for path in directory.iterdir()) == sorted(names)

    def test_text_agrees(self, small: Collection, tmp_path: Path) -> None:
        assert not [path for path in small.write(tmp_path) if b"\r" in path.read_bytes()]
        lines = [line.split(" ") for line in (tmp_path / "qrels.txt").read_text().splitlines()]
        assert {(query, document, int(grade)) for query, _, document, grade in lines} == judged_pairs(small)
        assert {iteration for _, iteration, _, _ in lines} == {"0"}
        for system, query, ranking in run_order(small):
            text = [
                f"{query} Q0 {document} {rank} {score:.4f} {system}"
                for rank, (document, score) in enumerate(ranking, 1)
            ]
            written = (tmp_path / f"{system}.run").read_text().splitlines()
            assert [line for line in written if line.startswith(f"{query} ")] == text

    def test_ranks_follow_scores_whatever_the_order_of_the_dictionary(self, tmp_path: Path) -> None:
        Collection({}, {"own": {"q": {"a": 1.0, "b": 2.0, "c": 2.0}}}).write(tmp_path)
        lines = ["q Q0 c 1 2.0000 own", "q Q0 b 2 2.0000 own", "q Q0 a 3 1.0000 own"]
        assert (tmp_path / "own.run").read_text().splitlines() == lines

    def test_compressed_bytes_are_reproducible(
        self, small: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small.write(tmp_path / "first", compressed=["dense"])
        with monkeypatch.context() as patch:
            patch.setattr("time.time", lambda: 2_000_000_000.0)
            small.write(tmp_path / "second", compressed=["dense"])
        first, second = ((tmp_path / name / "dense.run.gz").read_bytes() for name in ("first", "second"))
        assert first == second
        small.write(tmp_path / "plain")
        assert gzip.decompress(first) == (tmp_path / "plain" / "dense.run").read_bytes()
        # Magic, deflate, no flags (hence no file name), time 0, best compression, unknown operating system.
        assert first[:10] == bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])

    @pytest.mark.parametrize(
        ("compressed", "found"), [(["dense", "sparse", "neural"], "neural, sparse"), ("bm25", "2, 5, b, m")]
    )
    def test_unknown_names_are_refused_before_anything_is_written(
        self, small: Collection, tmp_path: Path, compressed: list[str] | str, found: str
    ) -> None:
        message = f"compressed: expected names among tfidf, bm25, dense, hybrid, reranker, found {found}"
        with pytest.raises(UsageError, match=exactly(message)):
            small.write(tmp_path / "new", compressed=compressed)
        assert not (tmp_path / "new").exists()


TWICE = (System("a", 1.0), System("b", 1.0), System("a", 2.0))


class TestValidation:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"queries": 0}, "queries: expected an integer >= 1, found 0"),
            ({"queries": 2.5}, "queries: expected an integer >= 1, found 2.5"),
            ({"queries": True}, "queries: expected an integer >= 1, found True"),
            ({"queries": "5"}, "queries: expected an integer >= 1, found '5'"),
            ({"documents": 0}, "documents: expected an integer from 1 to 999999, found 0"),
            ({"documents": 10**6}, "documents: expected an integer from 1 to 999999, found 1000000"),
            ({"depth": 0}, "depth: expected an integer from 1 to 2000 (documents), found 0"),
            ({"depth": 60, "documents": 50}, "depth: expected an integer from 1 to 50 (documents), found 60"),
            ({"pool_depth": 0}, "pool_depth: expected an integer from 1 to 100 (depth), found 0"),
            ({"pool_depth": 21, "depth": 20}, "pool_depth: expected an integer from 1 to 20 (depth), found 21"),
            ({"levels": 1}, "levels: expected an integer >= 2, found 1"),
            ({"seed": -1}, "seed: expected an integer >= 0, found -1"),
            ({"seed": None}, "seed: expected an integer >= 0, found None"),
            ({"judged_share": 0.0}, "judged_share: expected a number > 0 and <= 1, found 0.0"),
            ({"judged_share": 1.1}, "judged_share: expected a number > 0 and <= 1, found 1.1"),
            ({"judged_share": math.nan}, "judged_share: expected a number > 0 and <= 1, found nan"),
            ({"systems": ()}, "systems: at least one is needed"),
            ({"systems": TWICE}, "systems: duplicate names: a"),
        ],
    )
    def test_simulate(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError, match=exactly(message)):
            simulate(**arguments)

    @pytest.mark.parametrize("name", ["", "my run", "a/b", "a\\b", "a\n", "a\tb"])
    def test_system_name(self, name: str) -> None:
        message = f"system name: expected one or more of the characters A-Z a-z 0-9 . _ -, found {name!r}"
        with pytest.raises(UsageError, match=exactly(message)):
            System(name, quality=1.0)

    @pytest.mark.parametrize("quality", [-0.5, math.inf, math.nan])
    def test_system_quality(self, quality: float) -> None:
        message = f"quality of system a: expected a finite number >= 0, found {quality!r}"
        with pytest.raises(UsageError, match=exactly(message)):
            System("a", quality=quality)
