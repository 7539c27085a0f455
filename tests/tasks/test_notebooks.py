"""Every public result shows its tables in a notebook, and its charts by ``plot``; each is declared once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import gainful as g
from gainful.render import Showable
from gainful_papers import score_plane

QRELS, RUNS = "qrels.txt", {"bm25": "bm25.run", "hybrid": "hybrid.run", "tfidf": "tfidf.run"}


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_results_show_tables_and_figures(demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shutil.copytree(demo_files, tmp_path / "demo"))
    log = g.Sessions.of([{"session": s, "topic": "q003", "queries": [{"results": ["d000485"]}]} for s in "st"])
    scores, two = g.evaluate(QRELS, RUNS, ["AP", "RR"]), dict(list(RUNS.items())[:2])
    g.freeze_gate(QRELS, "bm25.run", "AP").save("gate.json")
    tables = [
        scores,
        scores["bm25"],
        g.Report(scores, baseline="bm25"),
        g.evaluate_sessions(QRELS, log, "sDCG@2"),
        g.explain("AP"),
        g.describe_judgments(QRELS),
        g.compare_judgments(QRELS, QRELS, draws=20),
        g.examine(QRELS, RUNS),
        g.find_conventions(QRELS, "bm25.run", {"theirs": "0.281"}, "AP"),
        g.check_gate("gate.json", QRELS, "hybrid.run"),
    ]
    figures = [
        g.explain("nDCG@5", QRELS, "bm25.run", "q001"),
        g.compare(scores),
        g.compare(QRELS, two),
        g.compare(QRELS, two, test="bayes", margin=0.01),
        g.compare(QRELS, two, sequential=True),
        g.gain_curves(QRELS, RUNS, "nDCG@10", draws=0),
        g.recall_levels(QRELS, RUNS),
        g.generalised_recall(QRELS, RUNS),
        g.session_curves(QRELS, {"mine": log}, "sDCG@2", draws=0),
        g.assess_agreement(scores, draws=20),
        g.assess_power(scores, pair=("bm25", "hybrid")),
        g.assess_stability(scores, draws=20),
        g.assess_sensitivity(QRELS, RUNS),
        score_plane(QRELS, "bm25.run", "q003", "ADM@100"),
    ]
    for found in [*tables, *figures]:
        assert isinstance(found, Showable) and type(found)._repr_html_ is Showable._repr_html_
        assert "<table>" in found._repr_html_() or "<p>" in found._repr_html_()
    assert all(isinstance(found.plot(), Figure) for found in figures)
    with pytest.raises(g.UsageError, match="has no charts"):
        scores.plot()
