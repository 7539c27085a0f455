"""The reports shipped with trec_eval 10 for its own tests, to the last printed digit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gainful import Policy, Report as Shown, evaluate


@dataclass(frozen=True)
class Report:
    """An expected output, and what it was made of."""

    output: str
    qrels: str
    run: str
    level: int = 1
    policy: dict[str, object] = field(default_factory=dict)


REPORTS = (
    Report("out.test", "qrels.test", "results.test"),
    Report("out.test.a", "qrels.test", "results.test"),
    Report("out.test.aq", "qrels.test", "results.test"),
    Report("out.test.aqc", "qrels.test", "results.trunc", policy={"missing": "zero"}),
    Report("out.test.aqcM", "qrels.test", "results.trunc", policy={"missing": "zero", "depth": 100}),
    Report("out.test.aql", "qrels.rel_level", "results.test", level=2),
    Report("out.test.meas_params", "qrels.test", "results.test"),
    Report("out.comment.test", "qrels.comment.test", "results.comment.test"),
)

#: Lines that are texts, not measures.
TEXTS = {"runid", "relstring", "relstring_20"}

#: Reports of measures with parameters that have a name of their own.
WITH_PARAMETERS = {
    "ndcg_1=3,2=9,4=4.5": "nDCG(gain={0:0,1:3,2:9,4:4.5})",
    "11pt_avg_.25,.5,.75": "IAP(points=0.25-0.5-0.75)",
    "utility_2,-1,0,0": "Utility(a=2)",
    # Gains are scaled query by query; nothing is to be done to grades of 0 and 1.
    "rbp": "RBP(p=0.9, gain=linear, scale=query)",
    "rbp_resid": "RBPResidual(p=0.9)",
}
#: A query without an answer: trec_eval has no doubt about it, see differences.toml.
NO_RESIDUAL = {("rbp_resid", "302"), ("rbp_resid", "all")}


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """A run of which only the first six columns count, as trec_eval reads it."""
    lists: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        query, _, document, _, score, *_ = line.split()
        lists.setdefault(query, {})[document] = float(score)
    return lists


Lines = list[tuple[str, str, str]]


def values_and_lines(
    report: Report, folder: Path, our_name: Callable[..., str | None]
) -> tuple[dict[str, dict[str, float | None]], Lines]:
    """Our values by trec_eval's names of measures and by query, and the lines to compare them with."""
    lines = [tuple(line.split(maxsplit=2)) for line in (folder / report.output).read_text().splitlines()]
    names = {name for name, _, _ in lines} - TEXTS
    measures = {name: WITH_PARAMETERS.get(name) or our_name(name, report.level) or name for name in names}
    evaluation = evaluate(
        folder / report.qrels,
        # Some lines of the truncated run have words after the sixth column.
        read_run(folder / report.run) if report.run == "results.trunc" else folder / report.run,
        measures.values(),
        policy=Policy.like("trec_eval-10", **report.policy),
    )
    values = {name: {**evaluation.by_query(ours), "all": evaluation.aggregate(ours)} for name, ours in measures.items()}
    left_out = NO_RESIDUAL if "missing" in report.policy else set()
    return values, [line for line in lines if line[0] in measures and line[:2] not in left_out]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.output)
def test_report(
    report: Report,
    shared_data: Path,
    our_name: Callable[..., str | None],
    is_printed_as: Callable[[float | None, str], bool],
) -> None:
    values, lines = values_and_lines(report, shared_data / "trec_eval-tests", our_name)
    assert len(lines) > 20
    for name, query, printed in lines:
        assert is_printed_as(values[name][query], printed), f"{name} of {query}: ours {values[name][query]}"


def test_reports_are_of_version_10(
    shared_data: Path, our_name: Callable[..., str | None], is_printed_as: Callable[[float | None, str], bool]
) -> None:
    report = Report("out.test", "qrels.test", "results.test", policy={"recall_cut": "ceil0.9"})
    values, lines = values_and_lines(report, shared_data / "trec_eval-tests", our_name)
    differing = {name for name, query, printed in lines if not is_printed_as(values[name][query], printed)}
    assert differing
    assert all(name.startswith("iprec_at_recall") for name in differing)


@pytest.mark.parametrize(("output", "lines"), [("out.test", 29), ("out.test.a", 96), ("out.test.aq", 375)])
def test_trec_format_prints_their_lines(
    output: str, lines: int, shared_data: Path, our_name: Callable[..., str | None]
) -> None:
    folder = shared_data / "trec_eval-tests"
    theirs = [line for line in (folder / output).read_text().splitlines() if our_name(line.split()[0])]
    assert len(theirs) == lines
    measures = dict.fromkeys(our_name(line.split()[0]) for line in theirs)
    policy = Policy.like("trec_eval-10")
    evaluation = evaluate(folder / "qrels.test", folder / "results.test", measures, policy=policy, name="STANDARD")
    first, *ours = Shown(evaluation, by_query=output.endswith("q")).text("trec").splitlines()
    assert first == "runid                 \tall\tSTANDARD"
    assert sorted(ours) == sorted(theirs)
