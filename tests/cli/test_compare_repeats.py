"""Comparisons with several runs of one system, from lists and from files."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gainful import Comparison, UsageError, compare, evaluate
from gainful.stats.anova import system_by_query
from tests.together import together

QRELS = {f"q{i:02d}": {f"d{j}": j % 3 for j in range(9)} for i in range(20)}


def run(seed: int, skill: float) -> dict[str, list[str]]:
    """Lists sorted by noisy grades; the noise depends on the system and the seed."""
    rng = random.Random(seed)
    spread = 1 + rng.random()
    return {
        query: sorted(grades, key=lambda doc: -skill * grades[doc] + rng.gauss(0, spread))
        for query, grades in QRELS.items()
    }


LLM, OLD = [run(seed, 1.5) for seed in (1, 2, 3)], [run(seed, 0.5) for seed in (4, 5)]


def words(found: Comparison) -> str:
    return " ".join(found.text("table").split())


def test_a_list_is_several_runs_of_one_system() -> None:
    found = compare(QRELS, {"old": OLD, "llm": LLM}, "nDCG@5")
    pair = found.pairs["nDCG@5"]
    matrix = found.matrices["nDCG@5"]
    each = [list(evaluate(QRELS, one, "nDCG@5").by_query("nDCG@5").values()) for one in LLM]
    assert matrix.column("llm") == pytest.approx(np.mean(each, axis=0))
    assert np.allclose(matrix.repeats["llm"].T, each)
    assert (pair.runs, pair.test.name, found.scores.systems) == ([3, 2], "t", ("old", "llm"))
    assert "20 queries, 3 and 2 runs" in words(found)
    [table] = [each for each in found.page().tables if each.title == "Runs, nDCG@5"]
    assert [row[:2] for row in table.rows] == [("old", 2), ("llm", 3)]
    assert table.rows[1][5] == pytest.approx(np.std(np.mean(each, axis=1), ddof=1))


def test_a_system_did_not_answer_what_none_of_its_runs_did() -> None:
    def cut(run: dict[str, list[str]], *queries: str) -> dict[str, list[str]]:
        return {query: run[query] for query in run if query not in queries}

    llm = [cut(LLM[0], "q00", "q01"), cut(LLM[1], "q01"), cut(LLM[2], "q01", "q02")]
    found = compare(QRELS, {"old": OLD, "llm": llm}, "nDCG@5")
    assert found.matrices["nDCG@5"].unanswered == {"llm": 1}
    assert "20 queries, 1 of which llm did not answer" in words(found)


def test_one_run_in_a_list_is_a_run() -> None:
    one, other = (compare(QRELS, {"old": OLD[0], "llm": llm}, "nDCG@5") for llm in (LLM[0], [LLM[0]]))
    assert words(one) == words(other) and "Runs" not in words(one)


def test_the_interaction_is_that_of_least_squares() -> None:
    """The F test of the interaction of systems and queries, from two nested models."""
    found = compare(QRELS, {"old": [*OLD, run(6, 0.5)], "llm": LLM}, "nDCG@5")
    matrix = found.matrices["nDCG@5"]
    cells = [
        (value, f"{system}{place}", str(query), f"{system} {query}")
        for system, repeats in matrix.repeats.items()
        for (query, place), value in np.ndenumerate(repeats)
    ]
    values, *factors = (np.array(each) for each in zip(*cells, strict=True))
    run_of, query_of, cell_of = ((each[:, None] == np.unique(each)).astype(float) for each in factors)
    fits = []
    for design in (np.hstack((run_of, query_of)), np.hstack((run_of, cell_of))):
        left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
        fits.append((float(left @ left), int(np.linalg.matrix_rank(design))))
    (without, few), (full, many) = fits
    expected = ((without - full) / (many - few)) / (full / (values.size - many))
    effect, noise = system_by_query(matrix.values, list(matrix.repeats.values())) or (None, None)
    assert effect is not None and noise is not None
    assert (effect.f, effect.df, noise.df) == (pytest.approx(expected), many - few, values.size - many)
    assert f"System-query interaction: F({effect.df}, {noise.df}) = {effect.f:.2f}, p = {effect.p:.2g}" in words(found)


def test_a_single_run_is_assumed_to_be_free_of_noise() -> None:
    text = words(compare(QRELS, {"old": OLD[0], "llm": LLM, "new": [run(7, 1.0), run(8, 1.0)]}, "nDCG@5"))
    assert "Single run, assumed to be free of noise: old." in text and "interaction" not in text


@together("options", [{"sequential": True}, {"test": "bayes", "margin": 0.01}, {"factors": {"old": {"a": "1"}}}])
def test_comparisons_without_noise_refuse_several_runs(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="several runs of one system cannot be used with"):
        compare(QRELS, {"old": OLD, "llm": LLM}, "nDCG@5", **options)


def test_a_margin_of_several_systems_is_refused() -> None:
    runs = {"old": OLD, "llm": LLM, "new": run(7, 1.0)}
    with pytest.raises(
        UsageError, match="margin: cannot be used with several runs of a system; compare two systems at a time"
    ):
        compare(QRELS, runs, "nDCG@5", margin=0.01)
    assert compare(QRELS, {"old": OLD, "llm": LLM}, "nDCG@5", margin=0.01).pairs["nDCG@5"].margin is not None


def test_files_on_the_command_line(command: Any) -> None:
    lines = ((q, 0, d, grade) for q, grades in QRELS.items() for d, grade in grades.items())
    command.write("qrels", "".join(f"{q} {zero} {d} {grade}\n" for q, zero, d, grade in lines))
    for name, lists in (("old", OLD[0]), *((f"s{i}", each) for i, each in enumerate(LLM))):
        rows = ((q, d, place) for q, docs in lists.items() for place, d in enumerate(docs, 1))
        command.write(f"{name}.run", "".join(f"{q} Q0 {d} {place} {100 - place} x\n" for q, d, place in rows))
    result = command("compare", "qrels", "old.run", "llm=s0.run,s1.run,s2.run", "-m", "nDCG@5", "--format", "jsonl")
    [pair] = result.rows("pairs")
    theirs = compare(QRELS, {"old": OLD[0], "llm": LLM}, "nDCG@5").pairs["nDCG@5"]
    assert (pair["system"], pair["test"], pair["p"]) == ("llm", "t", pytest.approx(theirs.p))
    for typed, said in (
        (["llm=s0.run,none.run"], "none.run: no such file"),
        (["llm=s0.run,"], "llm=s0.run,: expected NAME=RUN,RUN"),
        (["old=s0.run"], "with a unique system name"),
        (["llm=s0.run,s1.run", "--name", "a", "--name", "b"], "--name: expected one for each of 1 run, found 2"),
    ):
        refused = command("compare", "qrels", "old.run", *typed)
        assert refused.code and said in refused.err
