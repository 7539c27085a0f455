"""`gainful papers jarvelin2002`: verdicts on data that cannot decide, and the rules for statements."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.pages.page import Table
from gainful.stats.stability import Leads
from gainful_papers.claims import Study
from gainful_papers.jarvelin2002 import study
from gainful_papers.jarvelin2002.discussion import last_rank_claims

from .paper_sections import claims as claims_of, section, tables as tables_of, text

QUERIES = [f"q{i}" for i in range(6)]
#: Every query has three documents of each grade 0 to 3: a0 to a2, b0 to b2, c0 to c2, d0 to d2.
QRELS = {query: {f"{letter}{i}": g for g, letter in enumerate("abcd") for i in range(3)} for query in QUERIES}


def ranking(seed: int) -> dict[str, list[str]]:
    draw = np.random.default_rng(seed)
    return {query: list(draw.permutation(sorted(QRELS[query]))) for query in QUERIES}


def studied(qrels: dict, runs: dict, policy: Policy | None = None, **more: object) -> Study:
    return study(Judged(Qrels.from_dict(qrels), policy or Policy()), runs, **more)


def claims(found: Study) -> dict[tuple[str, str], tuple[str, str]]:
    """Results and verdicts, by section and subject."""
    return {
        (each.name, what): (row["gainful finds"], row["verdict"])
        for each in found.sections
        for what, row in claims_of(each).items()
    }


def tables(found: Study, name: str) -> list[Table]:
    return tables_of(section(found, name))


# Effect of the last rank: significant pairs of runs (1: the first is better, -1: the second, 0: neither).

SOME, NONE, NOBODY = [1, -1], [0, 0], "no pair differs significantly at 10: not seen"


@pytest.mark.parametrize(
    ("ncg", "ndcg", "expected"),
    [
        # The last pair differs in the other direction.
        (
            ([1, 1, -1, 1], [0, 0, -1, -1]),
            ([1, 1, -1, 1], [1, 1, -1, 0]),
            ["3 of 4: holds", "2 of 3 preserved: holds", "nCG 3, nDCG 1 of 4: holds"],
        ),
        # Half of them is not most of them.
        (
            ([1, 1, 1, 0], [0, 0, 1, 0]),
            ([1, 1, 1, 1], [1, 0, 0, 0]),
            ["2 of 3: holds", "1 of 2 preserved: fails", "nCG 2, nDCG 2 of 3: fails"],
        ),
        # A pair that nDCG tells apart late only is not preserved.
        (([1], [0]), ([0], [1]), ["1 of 1: holds", "0 of 1 preserved: fails", NOBODY]),
        ((SOME, SOME), (SOME, SOME), ["0 of 2: not seen", "nCG loses none: not seen", "nCG 0, nDCG 0 of 2: not seen"]),
        ((NONE, SOME), (NONE, SOME), [NOBODY, "nCG loses none: not seen", NOBODY]),
        (([1], [1]), ([1], [0]), ["0 of 1: not seen", "nCG loses none: not seen", "nCG 0, nDCG 1 of 1: fails"]),
    ],
)
def test_pairs_that_the_last_rank_loses(ncg, ndcg, expected):
    early_and_late = [tuple(Leads(np.array(each) != 0, np.array(each) > 0) for each in of) for of in (ncg, ndcg)]
    claims = list(last_rank_claims("0-1", *early_and_late))
    assert [f"{claim.finds}: {claim.verdict}" for claim in claims] == expected


# Data that decide little.


def test_one_query_has_nothing_to_test():
    found = studied({"q0": QRELS["q0"]}, {"one": ranking(1), "two": ranking(2), "three": ranking(3)})
    overall = next(table for table in tables(found, "Table 2") if table.title == "Overall tests")
    for row in overall.rows:
        assert row[1:] == (None,) * 9
    said = claims(found)
    for what in ("significant by Friedman", "significant by two-way ANOVA", "significant by one-way ANOVA"):
        assert said["Table 2", what] == ("nothing to test", "not seen")


def test_equal_runs():
    found = studied(QRELS, {"one": ranking(1), "two": ranking(1)})
    said = claims(found)
    assert said["Figure 2", "widest gap between two runs, Figures 1 and 2"] == ("no two runs differ", "not seen")
    assert said["Figure 2", "more documents with the worst run"] == ("0%", "other data")
    assert said["Figure 1", "(a) others below the best run, points"] == ("0", "other data")
    assert said["Section 3.3", "bases 2 and 10"] == ("no two runs differ", "not seen")
    assert not [what for what, (_, verdict) in said.items() if verdict == "fails"]
    assert "nan" not in text(found)


@pytest.mark.parametrize("undefined", ["zero", "skip"])
def test_runs_without_judged_documents(undefined):
    runs = {name: {query: [f"u{i}" for i in range(30)] for query in QUERIES} for name in ("one", "two")}
    found = studied(QRELS, runs, Policy(undefined=undefined))
    said = claims(found)
    nothing = "no run gains anything"
    assert said["Figure 1", "rank of the greatest distance from the ideal"] == (nothing, "not seen")
    assert said["Figure 1", "(a) best run below the ideal, points"] == (nothing, "not seen")
    assert said["Figure 2", "more documents with the worst run"] == (nothing, "not seen")
    by_10 = said["Figure 2", "(b) documents for the best run's gain at 10"]
    assert by_10 == (f"{nothing} by rank 10", "not seen")
    assert said["Figure 3", "curves that start lower in (b)"] == (f"{nothing} at rank 1", "not seen")
    assert said["Figure 4", "highest value at ranks 2 to 100"] == (nothing, "not seen")
    # Only recall bases and the ideal, which need no runs, are decided.
    assert [what for what, (_, verdict) in said.items() if verdict in ("holds", "fails")] == [
        ("Figure 1", "(b) ideal at rank 50, share of rank 100")
    ]
    assert "nan" not in text(found)


def test_lists_of_one_document():
    runs = {name: {query: ranked[:1] for query, ranked in ranking(i).items()} for i, name in enumerate(("one", "two"))}
    said = claims(studied(QRELS, runs))
    assert not [what for what, (_, verdict) in said.items() if verdict == "fails"]


def test_a_run_that_has_it_all_at_once_is_not_read_backwards():
    """Level curves: what there is at rank 5 is there at rank 1 by one run and at rank 3 by the other."""
    runs = {"early": {query: ["d0"] for query in QUERIES}, "late": {query: ["a0", "a1", "d0"] for query in QUERIES}}
    said = claims(studied(QRELS, runs))
    # CG: 1 and 3 documents. With a discount the late run never gets there: two of four panels, three readings each.
    assert said["Figure 2", "more documents with the worst run"] == ("200%, 6 of 12 not in 100", "other data")


def test_a_grade_that_no_document_has():
    qrels = {query: {each: g for each, g in judged.items() if g != 2} for query, judged in QRELS.items()}
    found = studied(qrels, {"one": ranking(1), "two": ranking(2)})
    assert "grades up to 3, no document of grade 2." in found.data
    about = next(section.about for section in found.sections if section.name == "Table 2")
    assert "Weights, as in the paper: 0-1-1-1, 0-1-10-100 and 0-0-0-1." in about
    said = claims(found)
    assert said["Section 3.2", "% marginal"] == ("50.0", "other data")
    assert said["Section 3.2", "% fairly relevant"] == ("0.0", "other data")
    assert said["Section 3.2", "documents above level 1 per topic"] == ("3.0", "other data")


def test_rows_of_table_2_count_the_queries_that_they_have():
    qrels = {query: dict(judged) for query, judged in QRELS.items()}
    qrels["q5"] = {each: min(grade, 2) for each, grade in qrels["q5"].items()}  # nothing of the highest level
    runs = {"one": ranking(1), "two": ranking(2)}
    found = studied(qrels, runs, Policy(undefined="skip"))
    means = tables(found, "Table 2")[0]
    assert [column.name for column in means.columns][:2] == ["measure", "queries"]
    rows = {row[0]: row[1:] for row in means.rows}
    assert [row[0] for row in rows.values()] == [6, 6, 6, 6, 5, 5]

    def flat(run: str, query: str) -> float:
        own, best, total = 0, 0, 0.0
        relevant = sum(grade > 0 for grade in qrels[query].values())
        for rank in range(1, 201):
            own += rank <= len(runs[run][query]) and qrels[query][runs[run][query][rank - 1]] > 0
            best += rank <= relevant
            total += own / best
        return total / 200

    expected = [sum(flat(run, query) for query in QUERIES) / 6 for run in runs]
    assert rows["nCG (0-1-1-1)"][1:3] == pytest.approx(expected)
    # Both papers leave out what has no document that counts, whatever undefined is elsewhere.
    assert tables(studied(qrels, runs), "Table 2")[0].rows == means.rows
    assert [column.name for column in tables(studied(QRELS, runs), "Table 2")[0].columns][1] == "one"


def test_many_systems_on_different_numbers_of_queries():
    qrels = {query: dict(judged) for query, judged in QRELS.items()}
    qrels["q5"] = {each: min(grade, 2) for each, grade in qrels["q5"].items()}
    found = studied(qrels, {f"run{i}": ranking(i) for i in range(8)}, Policy(undefined="skip"))
    section = next(section for section in found.sections if section.name == "Table 2")
    assert "queries: nCG (0-1-1-1) 6, " in section.parts[0].notes[1]
    assert section.parts[0].notes[1].endswith("nDCG (0-0-0-1) 5")


# Sources of data.


def test_runs_from_a_pipe(tmp_path):
    lines = {
        name: "".join(
            f"{query} Q0 {each} {i} {100 - i} {name}\n"
            for query, ranked in ranking(seed).items()
            for i, each in enumerate(ranked, 1)
        )
        for name, seed in (("one", 1), ("two", 2))
    }
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(lines["one"]))
    writer.start()
    piped = studied(QRELS, {"one": pipe, "two": lines["two"].encode()})
    writer.join()
    assert claims(piped) == claims(studied(QRELS, {"one": ranking(1), "two": ranking(2)}))


def test_judgments_are_named_without_their_folder(tmp_path):
    path = tmp_path / "graded.qrels"
    path.write_text("".join(f"{q} 0 {each} {g}\n" for q, judged in QRELS.items() for each, g in judged.items()))
    judged = Judged(Qrels.read(path), Policy())
    found = study(judged, {"one": ranking(1), "two": ranking(2)}, other=path)
    assert found.data.startswith("graded.qrels: 6 queries")
    assert tables(found, "Table 1")[0].title == "These judgments (B, graded.qrels) by the other set (A, graded.qrels)"
    assert str(tmp_path) not in text(found)
