"""The experiment of dellamea2004 on public runs: against the measures, and against a reading of the files by hand."""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

from gainful import Qrels, evaluate
from gainful.data.judged import Judged
from gainful.errors import InputError
from gainful.kernel.parallel import Progress
from gainful.policy import Policy
from gainful_papers.dellamea2004 import study
from gainful_papers.dellamea2004.adm_experiment import (
    Distances,
    Experiment,
    measure_distances,
    read_lists,
    run_experiment,
)

from .real_collections import SHARED_DATA, judgments, qrels_path, ranked, run_paths, runs

ROBUST, COVID = "robust2005", "trec-covid/round1"

pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no collections beside the checkout")


def judged(collection: str) -> Judged:
    return Judged(Qrels.read(qrels_path(collection)), Policy())


@cache
def experiment(collection: str) -> Experiment:
    return run_experiment(judged(collection), runs(collection), (), None, 5, 0, None, Progress())


@pytest.fixture(scope="module")
def robust() -> Experiment:
    return experiment(ROBUST)


@pytest.fixture(scope="module")
def arrays(robust: Experiment) -> Distances:
    prepared = judged(ROBUST)
    lists, relevant = read_lists(prepared, runs(ROBUST), None, Progress())
    return measure_distances(prepared, lists, relevant, robust.systems, 1, 0, Progress())


def test_every_query_has_what_the_measure_says(robust: Experiment, arrays: Distances) -> None:
    """Sets 0, 6 and 7 of ADM' are ADM over retrieved and relevant, over retrieved, and over relevant documents."""
    names = {"ADM": arrays.whole, "ADM(over=retrieved)": arrays.retrieved, "ADM(over=relevant)": arrays.relevant}
    evaluations = evaluate(qrels_path(ROBUST), runs(ROBUST), list(names))
    for row, found in enumerate(names.values()):
        for column, system in enumerate(robust.systems.kept):
            assert found[0][:, column] == pytest.approx(evaluations[system].raw[row], abs=1e-12)


def test_adm_with_what_systems_say(robust: Experiment, arrays: Distances) -> None:
    """ADM'' of some systems, and of all sets, from the files."""
    grades = judgments(ROBUST)
    paths = run_paths(ROBUST)
    best = [ranked(paths[name]) for name in robust.systems.chosen]
    queries = dict(list(enumerate(sorted(grades)))[::4])
    said: dict[str, dict[str, float]] = {query: defaultdict(float) for query in queries.values()}
    for lists in best:
        for query in queries.values():
            for rank, document in enumerate(lists.get(query, [])):
                said[query][document] += (1 - rank / 1000) / len(best)
    for system in (robust.systems.kept[0], robust.systems.kept[-1]):
        lists, column = ranked(paths[system]), robust.systems.kept.index(system)
        for row, query in queries.items():
            urs = {d: 0.75 * max(grade, 0) / 2 for d, grade in grades[query].items()}
            srs = {d: 1 - rank / 1000 for rank, d in enumerate(lists[query])}
            relevant = {d for d, grade in grades[query].items() if grade > 0}
            off = {d: abs(srs.get(d, 0.0) - urs.get(d, 0.0) - said[query][d] / 4) for d in {*srs, *relevant}}
            for found, documents in (
                (arrays.whole, off),
                (arrays.retrieved, srs),
                (arrays.relevant, relevant),
            ):
                expected = 1 - math.fsum(off[d] for d in documents) / len(documents)
                assert found[1][row, column] == pytest.approx(expected, abs=1e-12)


def test_who_falls_short(robust: Experiment) -> None:
    short = {}
    for name, path in run_paths(ROBUST).items():
        listed = Counter(re.findall(r"^\S+", gzip.decompress(path.read_bytes()).decode(), re.MULTILINE))
        missing = [query for query in robust.queries if listed[query] < 1000]
        if missing:
            short[name] = len(missing)
    assert {each.name: each.queries for each in robust.systems.short} == short
    assert len(short) == 4


def test_drawn_sets_have_their_share(arrays: Distances) -> None:
    """Every part has about its share of the pairs, and all parts together are the whole."""
    count = arrays.drawn_count[0].sum(axis=0)
    assert count.sum(axis=1) == pytest.approx(1000 * 50 + arrays.missed.sum(axis=0))
    shares = count.sum(axis=0) / count.sum()
    assert shares == pytest.approx([0.1, 0.1, 0.3, 0.5], abs=0.01)
    sums = arrays.drawn[0].sum(axis=-1)
    assert 1 - sums / arrays.drawn_count[0].sum(axis=-1) == pytest.approx(arrays.whole, abs=1e-12)


def test_trec_covid_as_a_whole() -> None:
    result = study(judged(COVID), run_paths(COVID), draws=2)
    assert [section.name for section in result.sections] == [
        "Experimental results",
        "Table 3",
        "Figure 7",
        "First hypothesis",
        "Figure 8",
        "Table 4",
        "Figure 9",
    ]
    assert set(result.evaluations) == set(run_paths(COVID))


def test_runs_of_another_collection() -> None:
    with pytest.raises(InputError, match="expected queries that are judged, found none"):
        study(judged(COVID), runs(ROBUST))
