"""The reports that come with trec_eval 10 for its own tests, to the last digit they print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gainful import Policy, evaluate
from gainful import Report as Shown


@dataclass(frozen=True)
class Report:
    """An expected output, what it was made of, and how many of its lines have a measure of ours."""

    output: str
    qrels: str
    run: str
    lines: int
    level: int = 1
    policy: dict[str, object] = field(default_factory=dict)


REPORTS = (
    Report("out.test", "qrels.test", "results.test", 27),
    Report("out.test.a", "qrels.test", "results.test", 61),
    Report("out.test.aq", "qrels.test", "results.test", 241),
    Report("out.test.aqc", "qrels.test", "results.trunc", 241, policy={"missing": "zero"}),
    Report("out.test.aqcM", "qrels.test", "results.trunc", 241, policy={"missing": "zero", "depth": 100}),
    Report("out.test.aql", "qrels.rel_level", "results.test", 241, level=2),
    Report("out.test.meas_params", "qrels.test", "results.test", 68),
    Report("out.comment.test", "qrels.comment.test", "results.comment.test", 27),
)

#: Reports of measures with parameters that have a name of their own.
GAIN_TABLE = {"ndcg_1=3,2=9,4=4.5": "nDCG(gain={0:0,1:3,2:9,4:4.5})"}


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
    names = {name for name, _, _ in lines}
    measures = {name: ours for name in names if (ours := GAIN_TABLE.get(name) or our_name(name, report.level))}
    evaluation = evaluate(
        folder / report.qrels,
        # Some lines of the truncated run have words after the sixth column.
        read_run(folder / report.run) if report.run == "results.trunc" else folder / report.run,
        measures.values(),
        policy=Policy.like("trec_eval-10", **report.policy),
    )
    values = {name: {**evaluation.by_query(ours), "all": evaluation.aggregate(ours)} for name, ours in measures.items()}
    return values, [line for line in lines if line[0] in measures]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.output)
def test_report(
    report: Report,
    shared_data: Path,
    our_name: Callable[..., str | None],
    is_printed_as: Callable[[float | None, str], bool],
) -> None:
    values, lines = values_and_lines(report, shared_data / "trec_eval-tests", our_name)
    assert len(lines) == report.lines
    for name, query, printed in lines:
        assert is_printed_as(values[name][query], printed), f"{name} of {query}: ours {values[name][query]}"


def test_reports_are_of_version_10(
    shared_data: Path, our_name: Callable[..., str | None], is_printed_as: Callable[[float | None, str], bool]
) -> None:
    report = Report("out.test", "qrels.test", "results.test", 27, policy={"recall_cut": "ceil0.9"})
    values, lines = values_and_lines(report, shared_data / "trec_eval-tests", our_name)
    differing = {name for name, query, printed in lines if not is_printed_as(values[name][query], printed)}
    assert differing
    assert all(name.startswith("iprec_at_recall") for name in differing)


@pytest.mark.parametrize(("output", "lines"), [("out.test", 27), ("out.test.a", 61), ("out.test.aq", 241)])
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
