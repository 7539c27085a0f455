"""Changes between runs: naive computations, enumeration of all orders of ties, and laws."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import pytest

import gainful

Run = dict[str, dict[str, float]]
LIMIT = 1e-12


def random_runs(seed: int, most: int = 6, queries: int = 40) -> tuple[Run, Run]:
    """Two runs with ties, lists of different lengths, empty lists and few common documents."""
    rng = random.Random(seed)
    runs: tuple[Run, Run] = ({}, {})
    for run in runs:
        for query in rng.sample(range(queries + 5), queries):
            documents = rng.sample("abcdefghij", rng.randint(0, most))
            run[f"q{query}"] = {document: float(rng.choice([1, 2, 3])) for document in documents}
    return runs


def ordered(documents: dict[str, float]) -> list[str]:
    """By score, ties by descending ID."""
    return sorted(sorted(documents, reverse=True), key=lambda document: -documents[document])


def orders(documents: dict[str, float]) -> Iterator[list[str]]:
    """All orders of a list that its scores allow."""
    scores = sorted(set(documents.values()), reverse=True)
    groups = [[document for document in documents if documents[document] == score] for score in scores]
    for chosen in itertools.product(*map(itertools.permutations, groups)):
        yield [document for group in chosen for document in group]


def webber(a: list[str], b: list[str], p: float) -> float:
    """RBO_EXT of lists without ties, Webber et al. eq. 32."""
    short, long = sorted((len(a), len(b)))
    if not short:
        return float(not long)
    x = [len(set(a[:d]) & set(b[:d])) for d in range(long + 1)]
    seen = sum(x[d] / d * p**d for d in range(1, long + 1))
    extended = sum(x[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    return (1 - p) / p * (seen + extended) + ((x[long] - x[short]) / long + x[short] / short) * p**long


def equality(a: dict[str, float], b: dict[str, float], p: float) -> float:
    """RBO_EXT^w of Corsi and Urbano: tied documents are at the first rank of their group."""
    short, long = sorted((a, b), key=len)
    if not short:
        return float(not long)

    def seen(documents: dict[str, float], depth: int) -> set[str]:
        return {each for each in documents if sum(score > documents[each] for score in documents.values()) < depth}

    agreement = [0.0]
    for depth in range(1, len(long) + 1):
        both = seen(short, depth) & seen(long, depth)
        if depth <= len(short):
            agreement.append(2 * len(both) / (len(seen(short, depth)) + len(seen(long, depth))))
        else:
            unseen = (depth - len(short)) * agreement[len(short)]
            agreement.append(2 * (len(both) + unseen) / (depth + len(seen(long, depth))))
    terms = (agreement[depth] * p**depth for depth in range(1, len(long) + 1))
    return (1 - p) / p * sum(terms) + agreement[-1] * p ** len(long)


@pytest.mark.parametrize("p", [0.2, 0.9, 0.999])
def test_rbo_with_ties_as_equality(p):
    old, new = random_runs(1, most=9)
    [found] = gainful.diff_runs(old, new, persistence=p).runs
    naive = [equality(old[query], new[query], p) for query in found.queries]
    assert len(naive) >= 35 and found.rbo.tolist() == pytest.approx(naive, abs=LIMIT)


@pytest.mark.parametrize("p", [0.2, 0.9, 0.999])
def test_rbo_with_ties_as_indecision_is_the_mean_over_all_orders(p):
    old, new = random_runs(2, most=5, queries=25)
    [found] = gainful.diff_runs(old, new, persistence=p, rbo_ties="indecision").runs
    for query, value in zip(found.queries, found.rbo.tolist(), strict=True):
        every = [webber(a, b, p) for a in orders(old[query]) for b in orders(new[query])]
        assert value == pytest.approx(math.fsum(every) / len(every), abs=LIMIT), query


def test_treatments_of_ties_differ():
    """Corsi and Urbano: as equality two tied lists are the same, as indecision they may be in another order."""
    tied = {"q": {"a": 1.0, "b": 1.0}}
    values = [gainful.diff_runs(tied, tied, rbo_ties=ties).runs[0].rbo[0] for ties in ("equality", "indecision")]
    assert values == [1.0, pytest.approx(0.1 * 0.5 + 0.9, abs=LIMIT)]


def test_rbo_without_ties_is_that_of_the_measure():
    rng = random.Random(3)
    old, new = ({f"q{i}": rng.sample(range(60), rng.randint(20, 60)) for i in range(20)} for _ in range(2))
    qrels = gainful.Qrels.from_run(old)
    [measure] = gainful.evaluate(qrels, new, "RBO(p=0.9, depth=lists, extrapolate=true)").measures
    scores = gainful.evaluate(qrels, new, measure)
    for ties in ("equality", "indecision"):
        [found] = gainful.diff_runs(old, new, rbo_ties=ties).runs
        assert found.mean(found.rbo) == pytest.approx(scores.mean(measure), abs=LIMIT)


def test_long_lists_end_where_the_weights_do():
    """Beyond some depth weights change no digit, also if a group of equal scores extends over it."""
    rng = random.Random(4)
    for levels in (10_000, 3):
        old, new = ({"q": {f"d{i}": float(rng.randrange(levels)) for i in rng.sample(range(140), 120)}} for _ in "ab")
        [found] = gainful.diff_runs(old, new, persistence=0.5).runs
        assert found.rbo[0] == pytest.approx(equality(old["q"], new["q"], 0.5), abs=LIMIT)


@pytest.mark.parametrize("seed", range(3))
def test_churn_is_that_of_sets_of_documents(seed):
    old, new = random_runs(seed)
    [found] = gainful.diff_runs(old, new, k=[1, 3, 5, 20]).runs
    assert list(found.churn) == [1, 3, 5, 20]
    for k, churn in found.churn.items():
        for i, query in enumerate(found.queries):
            a, b = ordered(old[query])[:k], ordered(new[query])[:k]
            both = set(a) & set(b)
            counts = len(b) - len(both), len(a) - len(both), sum(a.index(each) != b.index(each) for each in both)
            assert (churn.came[i], churn.went[i], churn.moved[i]) == counts
            longer = max(len(a), len(b))
            assert churn.share[i] == ((longer - len(both)) / longer if longer else 0)


def test_documents_and_their_ranks():
    old, new = random_runs(5, most=9)
    [found] = gainful.diff_runs(old, new, k=3).runs
    expected = set()
    for query in found.queries:
        ranks = [{each: rank for rank, each in enumerate(ordered(run[query]), 1)} for run in (old, new)]
        for document in ranks[0].keys() | ranks[1].keys():
            before, after = (by_rank.get(document) for by_rank in ranks)
            inside = [rank is not None and rank <= 3 for rank in (before, after)]
            if any(inside) and before != after:
                change = "moved" if all(inside) else "went" if inside[0] else "came"
                expected.add((query, change, document, before, after))
    table = gainful.diff_runs(old, new, k=3).to_pandas("Documents")
    rows = {
        (query, change, document, *(None if math.isnan(rank) else int(rank) for rank in ranks))
        for _, query, change, document, *ranks in table.itertuples(index=False)
    }
    assert rows == expected and len(table) == len(expected) > 50


def test_a_run_does_not_differ_from_itself():
    run, _ = random_runs(6)
    found = gainful.diff_runs(run, run, k=[2, 10], fail_above=0)
    [change] = found.runs
    assert change.rbo.tolist() == [1.0] * 40 and not found.is_above
    assert all(not churn.changes.any() and not churn.share.any() for churn in change.churn.values())
    assert found.text().startswith("new changes 0.0% of the top 2 (mean over 40 queries); 40 queries did not change.")


@pytest.mark.parametrize("ties", ["equality", "indecision"])
def test_changes_are_symmetric(ties):
    old, new = random_runs(7)
    [one], [other] = (gainful.diff_runs(a, b, rbo_ties=ties).runs for a, b in ((old, new), (new, old)))
    assert one.rbo.tolist() == pytest.approx(other.rbo.tolist(), abs=LIMIT)
    assert one.first.share.tolist() == other.first.share.tolist()
    assert one.first.came.tolist() == other.first.went.tolist()
    assert (one.only_old, one.only_new) == (other.only_new, other.only_old)


def test_the_order_of_rows_and_queries_changes_nothing():
    old, new = random_runs(8)
    turned = {query: dict(reversed(documents.items())) for query, documents in reversed(old.items())}
    assert gainful.diff_runs(old, new).text("csv") == gainful.diff_runs(turned, new).text("csv")


def test_queries_of_one_run_are_reported_and_not_counted():
    old, new = {"a": ["d1"], "b": ["d1"], "c": ["d2"]}, {"b": ["d1"], "c": ["d3"], "d": ["d1"]}
    found = gainful.diff_runs(old, new)
    [change] = found.runs
    assert (change.queries, change.only_old, change.only_new) == (("b", "c"), ("a",), ("d",))
    assert change.mean(change.first.share) == 0.5
    assert "1 query is only in old (a) and not counted." in found.text()


def test_lost_queries_exceed_a_limit():
    """Half of the documents of q1 changed, all of q2, which has twice the weight: 5/6."""
    old, new = {"q1": ["a", "b"], "q2": ["a"]}, {"q1": ["a", "c"], "q3": ["a"]}
    queries = gainful.Queries({"q1": {"n": 1}, "q2": {"n": 2}, "q3": {"n": 9}}, weights="n")
    for table, limit in ((None, 0.75), (queries, 5 / 6)):
        found = gainful.diff_runs(old, new, queries=table, fail_above=limit, k=[2.0], persistence="0.9")
        assert not found.is_above and gainful.diff_runs(old, new, queries=table, fail_above=limit - 0.01).is_above
        changed = f"With lost queries counted as changed, {100 * limit:.4g}% is within the limit of {100 * limit:g}%."
        assert changed in found.text().replace("\n", " ") and "only in old (q2) and not counted." in found.text()
        assert "of the top 2 (" in found.text() and "only in new (q3) and not counted." in found.text()


def test_several_runs_segments_weights_and_selection():
    old, same, other = {"a": ["x"], "b": ["y"], "c": ["z"]}, {"a": ["x"], "b": ["y"]}, {"a": ["u"], "b": ["y"]}
    table = {"a": {"kind": "long", "visits": 3}, "b": {"kind": "short", "visits": 1}, "c": {"kind": "long"}}
    queries = gainful.Queries(table, weights="visits", exclude=["c"])
    found = gainful.diff_runs({"base": old}, {"same": same, "other": other}, by="kind", queries=queries)
    assert [run.mean(run.first.share) for run in found.runs] == [0, 0.75]
    assert found.runs[0].only_old == ()
    rows = [row for part in found.page().tables if part.title == "Changes in the top 10 by kind" for row in part.rows]
    assert [row[:4] for row in rows[2:]] == [("other", "long", 1, 1.0), ("other", "short", 1, 0.0)]
    assert "other changes 75.0% of the top 10 (weighted mean over 2 queries)" in found.text()


def test_policies_order_the_lists():
    old, new = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 1.0}}
    assert gainful.diff_runs(old, new, k=1, ties="docid-asc").runs[0].first.share[0] == 0
    lists = {"q": ["a", "b", "c"]}, {"q": ["c", "b", "a"]}
    assert gainful.diff_runs(*lists, k=1).runs[0].first.share[0] == 1  # without scores
    assert gainful.diff_runs(*lists, depth=1).runs[0].rbo[0] == 0
    close = {"q": {"a": 1.0, "b": 1.00000000001}}, {"q": {"a": 1.00000000001, "b": 1.0}}
    assert gainful.diff_runs(*close).runs[0].rbo[0] < 1
    assert gainful.diff_runs(*close, scores="float32").runs[0].rbo[0] == 1
    chunks = {"q": {"a#1": 2.0, "a#2": 1.0}}, {"q": {"a#3": 2.0}}
    assert gainful.diff_runs(*chunks, parent="(.+)#.*").runs[0].first.share[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k: expected"),
        ({"k": []}, "k: at least one rank is required"),
        ({"persistence": "high"}, "persistence: expected a number, found 'high'"),
        ({"persistence": 1}, "persistence: expected a number between 0 and 1, found 1"),
        ({"fail_above": 30}, "fail_above: expected a share from 0 to 1, found 30"),
        ({"rbo_ties": "a"}, "rbo_ties: "),
        ({"ties": "expected"}, "ties=expected needs judgments"),
        ({"by": "kind"}, "by: requires a table of queries"),
        ({"new": {"q9": ["d1"]}}, "old and new have no common query: old has q1, new has q9"),
        ({"old": {"a": {"q1": ["d1"]}, "b": {"q1": ["d1"]}}}, "old: expected one run, found 2"),
        ({"new": [{"query": "q1", "results": ["d1", "d1"]}]}, "duplicate"),
    ],
)
def test_what_cannot_be_compared(options, message):
    given = {"old": {"q1": ["d1"]}, "new": {"q1": ["d2"]}, **options}
    with pytest.raises(gainful.GainfulError) as raised:
        gainful.diff_runs(**given)
    assert message in str(raised.value)


def test_a_limit_that_is_met_exactly_is_not_exceeded() -> None:
    """Three queries that each change a tenth: their mean is a tenth, but for rounding."""
    old = {f"q{i}": [f"d{j}" for j in range(10)] for i in range(3)}
    new = {query: [f"d{j}" for j in range(1, 11)] for query in old}
    assert not gainful.diff_runs(old, new, fail_above=0.1).is_above
    assert gainful.diff_runs(old, new, fail_above=0.09).is_above
