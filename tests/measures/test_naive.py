"""Every measure against its naive definition in conformance/naive.py, on random judgments, lists and policies.

The naive script knows nothing of the package: it takes the rows of judgments and run, orders and joins them itself, and
settles missing and undefined queries itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from gainful import Evaluation, Qrels, evaluate, parse
from gainful.measures.catalog import FAMILIES, MEASURES
from tests.conformance.test_vectors import agree, evaluated, naive
from tests.laws.test_laws import READ

Json = dict[str, Any]

INTEGERS = [-2, -1, 0, 0, 0, 1, 1, 2, 3]
REALS = [-0.5, 0, 0, 0.25, 0.5, 1, 1.5, 3]

#: The measures of queries that have a naive definition.
COMPARED = [name for name in MEASURES if name in naive().MEASURES]


def test_every_measure_has_a_naive_definition() -> None:
    missing = set(MEASURES) - set(COMPARED)
    assert not missing, f"conformance/naive.py has no definition of {', '.join(sorted(missing))}"


def test_naive_definitions_know_the_worst_values() -> None:
    for name in COMPARED:
        worst = READ[name][0].worst
        where = f"conformance/naive.py: WORST needs {name}, whose worst value is {worst}"
        assert naive().WORST.get(name, 0) == worst, where


def random_vector(seed: int) -> Json:
    """Small data with byte-sorted IDs, ties, short lists, unjudged documents and repeated judgments."""
    rng = random.Random(seed)
    grades = rng.choice([INTEGERS, REALS])
    subtopics, several_judges = rng.random() < 0.7, rng.random() < 0.4
    documents = [f"{rng.choice(['D', 'd', 'é', '-'])}{i}" for i in range(14)]
    judgments: dict[str, list[list[Any]]] = {}
    run: dict[str, list[list[Any]]] = {}
    duplicates = rng.random() < 0.3
    for query in ("q0", "q1", "q2", "q3", "unjudged"):
        pool = [0, -1] if query == "q3" else grades  # a query without relevant documents
        if query != "unjudged":
            judgments[query] = []
            for document in rng.sample(documents, rng.randint(1, 8)):
                times = 1 if not several_judges or rng.random() < 0.5 else rng.randint(2, 3)
                for subtopic in ("a", "b") if subtopics and rng.random() < 0.5 else ("a",):
                    judgments[query] += [[document, rng.choice(pool), subtopic] for _ in range(times)]
        if rng.random() < 0.2 and query != "q0":
            continue
        listed = rng.sample(documents, rng.randint(1, 12))
        if duplicates and len(listed) > 2:
            listed.append(listed[0])
        ranks = rng.sample(range(1, 100), len(listed))
        scores = [rng.choice([0.5, 0.25, 1.0, 0.0, rng.random(), 0.5 + rng.randint(1, 3) * 1e-9]) for _ in listed]
        run[query] = [list(row) for row in zip(listed, scores, ranks, strict=True)]
    policy = {
        "order": rng.choice(["score", "score", "score", "rank", "input"]),
        "ties": rng.choice(["docid-desc", "docid-asc", "rank", "input"]),
        "scores": rng.choice(["float64", "float32"]),
        "duplicates": "first" if duplicates else "error",
        "depth": rng.choice(["all", "all", "1", "5"]),
        "unjudged": rng.choice(["zero", "zero", "condensed"]),
        "negative": rng.choice(["judged", "unjudged"]),
        "grade-zero": rng.choice(["0", "0", "0", "1", "0.5"]),
        "judges": rng.choice(["mean", "median", "max", "min"]) if several_judges else "error",
        "subtopics": "yes" if subtopics else "no",
        "missing": rng.choice(["zero", "skip"]),
        "undefined": rng.choice(["zero", "skip"]),
        "recall-cut": rng.choice(["exact", "round", "ceil0.9"]),
    }
    if subtopics is False and not several_judges:
        judgments = {query: [row[:2] for row in rows] for query, rows in judgments.items()}
    items = {
        each: {"genres": "|".join(rng.sample("abcd", rng.randint(0, 3))), "land": rng.choice("xy"), "title": each}
        for each in documents[:9]
    }
    training = {query: rng.choices([*documents, "old"], k=rng.randint(1, 6)) for query in ("q0", "q1", "q3", "other")}
    tables: Json = {"items": items, "training": training}
    if subtopics and rng.random() < 0.5:
        tables["intents"] = {query: {"a": 0.7, "b": 0.25} for query in judgments}
    return {"judgments": judgments, "run": run, "policy": policy, **tables}


def small(text: str) -> str:
    """Return data with a collection small enough to enumerate its orders."""
    return text.replace("N=1000", "N=24")


def compare(vector: Json, texts: list[str]) -> Evaluation | None:
    """Compare gainful with the naive script on all queries, unless the script rejects them."""
    has_tables = "items" in vector
    texts = [text for text in texts if has_tables or "documents" not in parse(text).needed()]
    expected = {text: naive().answer(vector, text) for text in texts}
    known = [text for text, told in expected.items() if "error" not in told]
    if not known:
        return None
    result: Evaluation = evaluated(vector, known)
    for text in known:
        told = expected[text]
        found = {**result.by_query(text), "the aggregate": result.aggregate(text)}
        for query, value in {**told["queries"], "the aggregate": told["aggregate"]}.items():
            where = f"{text} of {query} in {vector}: expected {value}, found {found[query]}"
            assert agree(found[query], value, 1e-9), where
    return result


SEEDS = 12
#: Measures that need the lengths of all documents.
READERS = {"TBG", "U"}


@pytest.mark.parametrize("family", FAMILIES)
def test_random_collections(family: str) -> None:
    """Each measure meets all random collections, each of its variants some."""
    for seed in range(SEEDS):
        texts = []
        for name in set(FAMILIES[family]) & set(COMPARED) - READERS:
            step = min(max(len(READ[name]) // 4, 1), SEEDS)
            texts += [small(str(each)) for each in READ[name][seed % step :: step]]
        compare(random_vector(seed), texts)


@pytest.mark.parametrize("family", FAMILIES)
def test_budgets(family: str) -> None:
    """A budget keeps the documents that fit; the ideal list and the recall base stay whole."""
    for seed in range(SEEDS):
        vector, rng = random_vector(seed), random.Random(seed)
        lengths = {f"{head}{i}": str(rng.choice([0, 10, 20, 25.5, 100])) for head in "Ddé-" for i in range(14)}
        columns = ("tokens", "words", "characters")
        vector["items"] = {
            name: {**vector["items"].get(name, {}), **dict.fromkeys(columns, text)} for name, text in lengths.items()
        }
        texts = [str(each) for name in READERS & set(FAMILIES[family]) for each in READ[name]]
        for name in set(FAMILIES[family]) & set(COMPARED):
            if MEASURES[name].at_parameter() == "cutoff" and not MEASURES[name].why_no_budget():
                one = READ[name][seed % len(READ[name])]
                texts.append(small(str(one.replace(cutoff=f"{rng.choice([5, 30, 65.5, 120, 900])}t"))))
        compare(vector, texts)


def some_of_all(seed: int) -> list[str]:
    """A variant of every measure."""
    return [small(str(READ[name][seed % len(READ[name])])) for name in COMPARED]


def by_dict(vector: Json) -> Json:
    """The same with one judgment per document and no ranks, as in dicts, and with empty lists."""

    def once(rows: list[list[Any]]) -> list[list[Any]]:
        return [[document, value] for document, value in {row[0]: row[1] for row in rows}.items()]

    judgments = {query: once(rows) for query, rows in vector["judgments"].items()}
    run = {query: once(vector["run"].get(query, [])) for query in (*judgments, "unjudged")}
    changed = {name: "input" for name in ("order", "ties") if vector["policy"][name] == "rank"}
    policy = {**vector["policy"], "judges": "error", "subtopics": "no", "duplicates": "error", **changed}
    return {"judgments": judgments, "run": run, "policy": policy}


@pytest.mark.parametrize("seed", range(20, 26))
def test_dicts(seed: int) -> None:
    compare(by_dict(random_vector(seed)), some_of_all(seed))


@pytest.mark.parametrize("seed", range(30, 34))
def test_lists_without_scores(seed: int) -> None:
    vector = by_dict(random_vector(seed))
    run = {query: [[document] for document, _ in rows] for query, rows in vector["run"].items()}
    texts = [text for text in some_of_all(seed) if "scores" not in parse(text).needed()]
    compare({**vector, "run": run, "policy": {**vector["policy"], "order": "input"}}, texts)


@pytest.mark.parametrize("seed", [1, 4])
def test_one_query_at_a_time(seed: int) -> None:
    """A query's value does not depend on the others, apart from the scale of the file."""
    vector = by_dict(random_vector(seed))
    qrels = Qrels.from_dict({query: dict(rows) for query, rows in vector["judgments"].items()})
    run = {query: dict(rows) for query, rows in vector["run"].items()}
    result = compare(vector, some_of_all(seed))
    assert result is not None
    for query in set(result.queries) & set(run):
        alone = evaluate(qrels.select([query]), run, result.measures, policy=result.policy)
        for measure in result.measures:
            one, other = (each.by_query(measure).get(query) for each in (alone, result))
            assert one == other, f"{measure}, {query}"


@pytest.mark.parametrize("negative", ["judged", "unjudged"])
def test_all_grades_negative(negative: str) -> None:
    vector = {
        "judgments": {"q": [["a", -1], ["b", -2]]},
        "run": {"q": [["a", 0.5], ["x", 0.25]]},
        "policy": {"negative": negative},
    }
    compare(vector, some_of_all(0))


def test_nothing_relevant_and_nothing_retrieved() -> None:
    compare({"judgments": {"q": [["a", 0]], "r": [["a", 1]]}, "run": {"q": [], "r": [["a", 1.0]]}}, some_of_all(0))


@pytest.mark.parametrize("name", ["web", "covid", "robust"])
def test_real_lists(name: str, real_lists: Callable[[str], Any]) -> None:
    lists = real_lists(name)
    queries = sorted(set(lists.qrels) & set(lists.run))[::60]
    vector = {
        "judgments": {query: list(map(list, lists.qrels[query].items()))[:150] for query in queries},
        "run": {query: list(map(list, lists.run[query].items()))[:60] for query in queries},
        "policy": {"depth": "40"},
    }
    compare(vector, some_of_all(0))
