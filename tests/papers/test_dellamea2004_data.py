"""The experiment of dellamea2004 on public runs, against the measures."""

from __future__ import annotations

import pytest

from gainful import Qrels, evaluate
from gainful.data.judged import Judged
from gainful.errors import InputError
from gainful.policy import Policy
from gainful_papers.dellamea2004 import study
from gainful_papers.dellamea2004.adm_experiment import measure_distances, read_lists, run_experiment

from .real_collections import SHARED_DATA, qrels_path, run_paths, runs

ROBUST, COVID = "robust2005", "trec-covid/round1"

pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no collections beside the checkout")


def judged(collection: str) -> Judged:
    return Judged(Qrels.read(qrels_path(collection)), Policy())


def test_every_query_has_what_the_measure_says() -> None:
    """Sets 0, 6 and 7 of ADM' are ADM over retrieved and relevant, over retrieved, and over relevant documents; all
    drawn parts together are the whole, each with about its share of the pairs."""
    prepared = judged(ROBUST)
    systems = run_experiment(prepared, runs(ROBUST), (), None, 1, 0, None).systems
    lists, relevant = read_lists(prepared, runs(ROBUST), None)
    arrays = measure_distances(prepared, lists, relevant, systems, 1, 0)
    names = {"ADM": arrays.whole, "ADM(over=retrieved)": arrays.retrieved, "ADM(over=relevant)": arrays.relevant}
    evaluations = evaluate(qrels_path(ROBUST), runs(ROBUST), list(names))
    for row, found in enumerate(names.values()):
        for column, system in enumerate(systems.kept):
            assert found[0][:, column] == pytest.approx(evaluations[system].raw[row], abs=1e-12)
    count = arrays.drawn_count[0].sum(axis=0)
    assert count.sum(axis=1) == pytest.approx(1000 * 50 + arrays.missed.sum(axis=0))
    assert count.sum(axis=0) / count.sum() == pytest.approx([0.1, 0.1, 0.3, 0.5], abs=0.01)
    sums = arrays.drawn[0].sum(axis=-1)
    assert 1 - sums / arrays.drawn_count[0].sum(axis=-1) == pytest.approx(arrays.whole, abs=1e-12)


def test_trec_covid_as_a_whole() -> None:
    result = study(judged(COVID), run_paths(COVID), draws=2)
    names = ["Experimental results", "Table 3", "Figure 7", "First hypothesis", "Figure 8", "Table 4", "Figure 9"]
    assert [section.name for section in result.sections] == names
    assert set(result.evaluations) == set(run_paths(COVID))


def test_runs_of_another_collection() -> None:
    with pytest.raises(InputError, match="none of its queries is judged"):
        study(judged(COVID), runs(ROBUST))
