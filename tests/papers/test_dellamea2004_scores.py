"""dellamea2004 with scores in place of ranks, beside the measures of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from gainful import Qrels, evaluate
from gainful.data.judged import Judged
from gainful.kernel.parallel import Progress
from gainful.pages.charts import Plot
from gainful.policy import Policy
from gainful_papers.dellamea2004.adm_experiment import REFERENCES, run_experiment
from gainful_papers.dellamea2004.adm_scores import WAYS, cross_calibrated, scores_section
from tests.papers.dellamea2004_collection import JUDGMENTS, KEPT, LISTS, SCALE, experiment, rows_of, table_of

#: Every system has scores of its own kind: they fall with the rank, at another pace for each.
SCORED = {
    system: {
        query: {document: 9.0 - (rank / (3 + i)) ** 0.5 for rank, document in enumerate(documents)}
        for query, documents in queries.items()
    }
    for i, (system, queries) in enumerate(LISTS.items())
}
QRELS = Qrels.from_dict(JUDGMENTS, scale=SCALE)


@pytest.fixture(scope="module")
def found():
    return run_experiment(Judged(QRELS, Policy()), SCORED, (), None, 2, 0, 1, Progress())


def test_ranks_and_min_max_are_the_measures(found):
    assert list(found.by_scores) == KEPT
    for name, each in found.by_scores.items():
        for way, srs in (("ranks", "rank"), ("min-max", "minmax")):
            measures = [f"{measure}(srs={srs})@20" for measure in ("ADM", "ADP", "ADR")]
            evaluation = evaluate(QRELS, SCORED[name], measures)
            assert each.distances[way] == pytest.approx([evaluation.mean(measure) for measure in measures], abs=1e-12)
    ranks = [each.distances["ranks"][0] for each in found.by_scores.values()]
    assert ranks == pytest.approx(found.scores["ADM'"].tolist(), abs=1e-12)


def test_calibrated_is_fitted_on_other_queries(found):
    """ADM from its definition, of SRS by a regression on the queries of the four other folds."""
    name = KEPT[3]
    queries = sorted(JUDGMENTS)
    scores, urs, fold = [], [], []
    for i, query in enumerate(queries):
        values = np.array(list(SCORED[name][query].values()))
        scores += ((values - values.min()) / (values.max() - values.min())).tolist()
        urs += [max(JUDGMENTS[query].get(document, 0), 0) / SCALE for document in SCORED[name][query]]
        fold += [i % 5] * values.size
    calibrated = cross_calibrated(np.array(scores), np.array(urs), np.array(fold))
    adm = []
    for i, query in enumerate(queries):
        own = slice(20 * i, 20 * i + 20)
        missed = [grade / SCALE for d, grade in JUDGMENTS[query].items() if grade > 0 and d not in SCORED[name][query]]
        apart = np.abs(calibrated[own] - np.array(urs[own])).sum() + sum(missed)
        adm.append(1 - apart / (20 + len(missed)))
    assert found.by_scores[name].distances["calibrated"][0] == pytest.approx(np.mean(adm), abs=1e-12)


def test_the_section(found):
    section = scores_section(found.by_scores, {name: found.scores[name].tolist() for name in REFERENCES})
    assert [row["system"] for row in rows_of(section, "ADM by ranks and by scores")] == KEPT
    assert f"10 of {len(KEPT)} systems; all in csv and jsonl" in table_of(section, "ADM by ranks and by scores").notes
    ranks, calibrated = (
        [each.distances[way][0] for each in found.by_scores.values()] for way in ("ranks", "calibrated")
    )
    tau = scipy.stats.kendalltau(ranks, calibrated).statistic
    assert any(
        str(part).endswith(f"ADM orders systems differently than with ranks (tau-b {tau:.3f}).")
        for part in section.parts
    )
    [first, *_] = rows_of(section, "Kendall's tau-b with ADP, ADR and scores")
    assert first["measure"] == "ADP, ranks"
    [plot] = [part for part in section.parts if isinstance(part, Plot)]
    assert [line.name for line in plot.lines] == ["", *WAYS]


def test_systems_without_scores_have_no_section_of_them():
    assert experiment().by_scores == {}
    assert scores_section({}, {}).parts == ("There are systems without scores, or one query only.",)
