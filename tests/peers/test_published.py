"""Values published by organisers of evaluations, to the last printed digit."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gainful import Evaluation, Policy, evaluate

Published = dict[str, dict[str, str]]  # run -> our measure -> as printed
Check = Callable[[float | None, str], bool]


@pytest.fixture
def differing(is_printed_as: Check) -> Callable[[dict[str, Evaluation], Published], dict[tuple[str, str], str]]:
    """Where our aggregates are not the published ones: run and measure, with both numbers."""

    def compare(evaluations: dict[str, Evaluation], published: Published) -> dict[tuple[str, str], str]:
        return {
            (run, measure): f"ours {evaluations[run].aggregate(measure):.6f}, published {printed}"
            for run, row in published.items()
            for measure, printed in row.items()
            if not is_printed_as(evaluations[run].aggregate(measure), printed)
        }

    return compare


def test_is_printed_as(is_printed_as: Check) -> None:
    assert is_printed_as(0.17854, "0.1785")
    assert not is_printed_as(0.17856, "0.1785")
    assert is_printed_as(131.0, "131")
    assert not is_printed_as(132.0, "131")
    assert not is_printed_as(None, "0")


# -- TREC 2005 Robust track --------------------------------------------------------------------------------------------

#: The summaries' P_10 is precision at 15.
ROBUST = {"map": "AP", "Rprec": "Rprec", "P_10": "P@15", "P_100": "P@100", "P_1000": "P@1000"}


def robust_summaries(page: str) -> Published:
    """What the page prints of each run, under our names."""
    summaries: Published = {}
    for section in re.split(r"^#### ", page, flags=re.MULTILINE)[1:]:
        run = section.split()[0]
        rows = re.findall(r"^\s*(\w+)\s+all\s+([\d.]+)\s*$", section, flags=re.MULTILINE)
        summaries[run] = {ROBUST[name]: value for name, value in rows if name in ROBUST}
    return summaries


def test_robust_2005(collection: Callable[[str], Any], differing: Callable[..., Any]) -> None:
    data = collection("robust2005")
    summaries = robust_summaries((data.qrels_path.parent / "published_summaries.trec-browser.md").read_text())
    published = {run: summaries[run] for run in data.run_paths if run in summaries}
    assert len(published) == 15
    assert all(row.keys() == set(ROBUST.values()) for row in published.values())

    paths = {run: data.run_paths[run] for run in published}
    evaluations = evaluate(data.qrels_path, paths, ROBUST.values(), policy="trec_eval-9")
    assert differing(evaluations, published) == {}


# -- TREC-COVID, round 1 -----------------------------------------------------------------------------------------------

COVID = {"ndcg@10": "nDCG@10", "p@5": "P@5", "MAP": "AP", "bpref": "Bpref", "RBP(p=.5)": "RBP(p=0.5, gain=scaled)"}


@pytest.fixture(scope="module")
def covid(collection: Callable[[str], Any]) -> tuple[Any, Published]:
    """The collection, and the leaderboard's rows of the runs in it, under our names."""
    data = collection("trec-covid/round1")
    with (data.qrels_path.parent / "published_leaderboard.csv").open(newline="") as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    return data, {run: {ours: rows[run][name] for name, ours in COVID.items()} for run in data.run_paths}


def test_covid_leaderboard(covid: tuple[Any, Published], differing: Callable[..., Any]) -> None:
    data, published = covid
    assert len(published) == 12
    evaluations = evaluate(data.qrels_path, data.run_paths, COVID.values(), policy="trec_eval-9")
    assert differing(evaluations, published) == {}


def test_covid_rank_column_is_not_what_was_evaluated(
    covid: tuple[Any, Published], differing: Callable[..., Any]
) -> None:
    data, published = covid
    by_rank = Policy.like("trec_eval-9", order="rank")
    evaluations = evaluate(data.qrels_path, data.run_paths, COVID.values(), policy=by_rank)
    wrong = {run for run, _ in differing(evaluations, published)}
    assert wrong == {"ERST_QUESTION", "RUIR-doc2vec"}


# -- DL-HARD passages --------------------------------------------------------------------------------------------------


def trec_eval_output(path: Path) -> list[tuple[str, str, str]]:
    """The lines of a trec_eval report: measure, query and value."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return [tuple(line.split(maxsplit=2)) for line in lines]


def test_dl_hard(collection: Callable[[str], Any], our_name: Callable[..., str | None], is_printed_as: Check) -> None:
    data = collection("dl-hard/passage")
    reports = {run: trec_eval_output(path.with_name(f"{run}.eval.gz")) for run, path in data.run_paths.items()}
    names = {name for name, _, _ in reports["bm25.run"]}
    measures = {name: ours for name in names if (ours := our_name(name, level=2))}
    assert len(measures) == 93

    evaluations = evaluate(data.qrels_path, data.run_paths, measures.values(), policy="trec_eval-9")
    for run, lines in reports.items():
        values = {
            name: {**evaluations[run].by_query(ours), "all": evaluations[run].aggregate(ours)}
            for name, ours in measures.items()
        }
        # The summary was made with -c, and trec_eval then forgets -l when it counts: see differences.toml.
        # Rndcg it then forgets where nothing is relevant at that level, although -l does not concern its gains.
        empty = {("Rndcg", query) for name, query, value in lines if name == "num_rel" and value == "0"}
        left_out = {("num_rel", "all"), ("Rndcg", "all"), *empty}
        compared = [line for line in lines if line[0] in measures and line[:2] not in left_out]
        # num_q, gm_map and gm_bpref are in the summary only.
        assert len(compared) == 90 * 50 + 93 - len(left_out) and empty
        for name, query, printed in compared:
            assert is_printed_as(values[name][query], printed), f"{run}: {measures[name]} of {query}"
