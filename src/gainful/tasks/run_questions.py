"""Options of the tasks that start from judgments with runs or sessions. Does not import NumPy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gainful.errors import UsageError, option
from gainful.evaluation.beside import Beside
from gainful.frozen import KW_ONLY, dataclass
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.notation import read_number, read_ranks
from gainful.policy import policy_field
from gainful.question import number, setting

if TYPE_CHECKING:
    from gainful.data.exclusion import ExclusionLike
    from gainful.data.judged import Judged
    from gainful.data.qrels import QrelsLike
    from gainful.data.queries import QueriesLike
    from gainful.data.run import RunLike, RunsLike
    from gainful.data.sessions import Sessions, TopicsLike
    from gainful.evaluation.evaluate import MeasuresLike
    from gainful.gains import Gain
    from gainful.io.sources import Source
    from gainful.measures.base import Measure
    from gainful.policy import PolicyLike
    from gainful.tasks.sensitivity.sensitivity_grid import Scenario

#: The kinds of session curves, with a description of each.
SESSION_CURVES = {
    "average": "by system",
    "subset": "all sessions and those with --at-least queries",
    "individual": "every session",
    "positions": "last, earlier and best queries by rank",
}
AVERAGE_NAMES = ("ratios", "means", "both")

_REGION = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)


def _read_regions(text: str, option: str) -> list[tuple[int, int]]:
    found = [_REGION.fullmatch(part) for part in text.split(",")]
    if not all(found):
        raise UsageError(f"{option}: expected ranks like 1-10,11-50, found '{text}'")
    return [(int(match[1]), int(match[2])) for match in found if match]


def _read_levels(text: str, option: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _read_percentage(text: str, option: str) -> float:
    percentage = read_number(text, option)
    if not 1 <= percentage < 100:
        raise UsageError(f"{option}: expected a percentage from 1 to below 100, found {text}", "95 is 95%")
    return percentage / 100


def _read_level(text: str, option: str) -> float:
    percentage = read_number(text, option)
    if not 0 < percentage < 100:
        raise UsageError(f"{option}: expected a percentage between 0 and 100, found {text}", "10 is 10%")
    return percentage / 100


@dataclass(frozen=True)
class _CurvesOfRuns:
    """Options shared by all curves of runs."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    baseline: str | None = setting(None, "Run that the others are compared with; gain: by rank.", metavar="RUN")
    by_query: bool = setting(False, "Also write per-query curves (jsonl and csv).")
    threads: int | None = None


_DRAWS: int = setting(1000, "gain, abstain: resamples for the bands; 0 for none.", kind="whole", least=0, shown="1000")
_SEED: int = setting(0, "gain, abstain: random seed.", kind="whole", least=0, shown="0")
_CONFIDENCE: float = setting(
    0.95, "gain, abstain: level of the bands.", metavar="PERCENT", read=_read_percentage, shown="95"
)


@dataclass(frozen=True)
class GainCurveOptions(_CurvesOfRuns):
    """Options of :func:`gainful.gain_curves`."""

    measures: MeasuresLike = ("CG", "nDCG")
    _: KW_ONLY
    average: str = setting("ratios", "gain: how nCG and nDCG are averaged.", choices=AVERAGE_NAMES, shown="ratios")
    chance: bool = setting(False, "gain: add curves of the documents of each run in random order.")
    draws: int = _DRAWS
    seed: int = _SEED
    confidence: float = _CONFIDENCE


@dataclass(frozen=True)
class AbstentionOptions:
    """Options of :func:`gainful.abstention_curves`."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    measures: MeasuresLike = "nDCG@10"
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    level: float = setting(
        0.1, "abstain: most false answers to guarantee.", metavar="PERCENT", read=_read_level, shown="10"
    )
    bar: float = number(0.0, "abstain: highest score of a false answer.", "SCORE", shown="0")
    draws: int = _DRAWS
    seed: int = _SEED
    confidence: float = _CONFIDENCE
    threads: int | None = None


@dataclass(frozen=True)
class SidewaysOptions:
    """Options for comparing the ranks at which gain curves reach the same gain."""

    _: KW_ONLY
    reference: str | None = setting(None, "gain: run that the others must catch up with.", metavar="RUN", shown="ideal")
    at: Sequence[int] | None = setting(
        None, "gain: ranks of the reference to catch up with.", metavar="R,...", read=read_ranks, shown="5,10,20"
    )
    regions: Sequence[tuple[int, int]] | None = setting(
        None,
        "gain: ranks for the distance from the ideal.",
        metavar="R-R,...",
        read=_read_regions,
        shown="1-10, 11-50, 51-100, ...",
    )


@dataclass(frozen=True)
class _RecallOptions(_CurvesOfRuns):
    _: KW_ONLY
    points: int = setting(11, "recall, generalised: recall levels.", kind="whole", least=2, most=1001, shown="11")


@dataclass(frozen=True)
class RecallLevelOptions(_RecallOptions):
    """Options of :func:`gainful.recall_levels`."""

    _: KW_ONLY
    levels: Sequence[float | str] | float | None = setting(
        None, "recall: grade levels.", metavar="G,...", read=_read_levels, shown="all above 0"
    )
    by: str = setting("both", "recall: a level alone, or all from it.", choices=("level", "rel", "both"), shown="both")


@dataclass(frozen=True)
class GeneralisedRecallOptions(_RecallOptions):
    """Options of :func:`gainful.generalised_recall`."""

    measures: str | Measure | Sequence[str | Measure] | None = None
    _: KW_ONLY
    gain: Gain | str | Mapping[float, float] = "scaled"


def read_values(texts: Sequence[str], option: str) -> list[object]:
    """Split texts at the commas outside of braces."""
    parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
    if not parts:
        raise UsageError(f"{option}: value missing")
    if not all(parts):
        raise UsageError(f"{option}: expected values between commas, found '{','.join(texts)}'")
    return list(parts)


def _read_varied(texts: Sequence[str], option: str) -> dict[str, list[object]]:
    """Read NAME=V,V,... as values by name; a part without a name belongs to the name before it."""
    values: dict[str, list[object]] = {}
    name = None
    for part in map(str, read_values(texts, option)):
        key, equals, value = part.partition("=")
        if equals:
            name = key.strip()
        if name is None or not (value.strip() if equals else part):
            raise UsageError(f"{option}: expected NAME=VALUE,VALUE,..., found '{part}'", "such as srs=rank,minmax")
        values.setdefault(name, []).append(value.strip() if equals else part)
    return values


@dataclass(frozen=True, kw_only=True)
class _Varied:
    """Choices that can be varied for runs and sessions."""

    gain: Sequence[object] | None = setting(
        None,
        "Gain functions to try: weights like 0-1-10-100, linear, exp2, binary, or flat, tenfold, top for any scale; "
        "for ADM, values of the categories (urs).",
        metavar="G,...",
        read_all=read_values,
        shown="0-1-1-1, 0-1-2-3, exp2, 0-1-10-100, 0-0-0-1, adapted to the number of levels",
    )
    base: Sequence[object] | None = setting(
        None, "Bases of the discount logarithm to try.", metavar="B,...", read_all=read_values, shown="2, e, 10"
    )
    at: Sequence[object] | None = setting(
        None, "Depths to try.", metavar="K,...", read_all=read_values, shown="10, 30, 100, 200; sessions: 5, 10, 20"
    )
    vary: Mapping[str, Sequence[object]] | None = setting(
        None, "Other parameters: srs=rank,minmax, query_base=2,4.", metavar="NAME=V,...", read_all=_read_varied
    )
    policy: PolicyLike = policy_field()
    threads: int | None = None


@dataclass(frozen=True)
class SessionSensitivityOptions(_Varied):
    """Options of :func:`gainful.assess_session_sensitivity`."""

    qrels: QrelsLike | Judged
    systems: Mapping[str, Sessions | Iterable[Sessions] | Source]
    _: KW_ONLY
    measure: str | Measure = "nsDCG"
    judged_by: str | None = None
    topics: TopicsLike | None = None


@dataclass(frozen=True)
class SensitivityOptions(_Varied):
    """Options of :func:`gainful.assess_sensitivity`."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    _: KW_ONLY
    measure: str | Measure = "nDCG"
    discount: Sequence[str] | None = setting(
        None,
        "Discount functions to try: jarvelin2002, burges2005 (whose base cancels in nDCG), ...",
        metavar="D,...",
        read_all=read_values,
        shown="jarvelin2002, none",
    )
    scenario: Iterable[str | Scenario] | str | None = setting(
        None,
        "Run one named scenario (repeatable): impatient (depth 30, 0-1-10-100, base 2), patient (depth 200, 0-1-2-3, "
        "base 10), or one from --scenarios.",
        metavar="NAME",
        repeatable=True,
    )
    scenarios: str | os.PathLike[str] | None = setting(None, "TOML file of scenarios.", kind="file", metavar="FILE")


@dataclass(frozen=True)
class _OfSessions:
    """Options shared by curves and studies of sessions."""

    qrels: QrelsLike | Judged
    systems: Mapping[str, Sessions | Iterable[Sessions] | Source]
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    judged_by: str | None = None
    session: Sequence[str | bytes] = setting((), "Only this session (repeatable).", metavar="ID", repeatable=True)
    topic: Sequence[str | bytes] = setting((), "Only this topic (repeatable).", metavar="ID", repeatable=True)
    at_least: int | None = setting(None, "Only sessions with at least N queries.", kind="whole", least=1, metavar="N")
    average: str | None = setting(None, "How curves of nsDCG are averaged.", choices=AVERAGE_NAMES, shown="ratios")
    queries: int | None = setting(None, "Queries per curve.", kind="whole", least=1, metavar="N", shown="at most 20")
    draws: int | None = setting(None, "Resamples for the bands; 0 for none.", kind="whole", least=0, shown="1000")
    seed: int | None = setting(None, "Random seed.", kind="whole", least=0, shown="0")
    confidence: float | None = setting(
        None, "Level of the bands and --rating intervals.", metavar="PERCENT", read=_read_percentage, shown="95"
    )
    threads: int | None = None


@dataclass(frozen=True)
class SessionCurveOptions(_OfSessions):
    """Options of :func:`gainful.session_curves`."""

    measures: MeasuresLike = "nsDCG@10"
    _: KW_ONLY
    kind: str = setting("average", "Kind of curves.", choices=SESSION_CURVES)


@dataclass(frozen=True)
class SessionStudyOptions(_OfSessions, Beside):
    """Options of :func:`gainful.tasks.sessions.study_sessions`."""

    measures: MeasuresLike = DEFAULT_SESSION_MEASURES
    _: KW_ONLY
    curves: str | None = None
    curve_measures: MeasuresLike | None = None
    cost_query: str | float | None = setting(
        None, "Cost of a query; recorded uses the log's column cost.", metavar="C", shown="0"
    )
    cost_document: str | float | None = setting(None, "Cost of reading a document.", metavar="C", shown="0")
    rating: str | None = setting(
        None, "Correlate with this column of --ratings, or with the ratings in the sessions.", metavar="NAME"
    )
    ratings: Mapping[str, float] | None = None
    topics: TopicsLike | None = None
    by_system: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratings is not None and self.rating is None:
            raise UsageError("ratings: the option rating, their name, is missing")
        if self.curves is not None:
            return
        curves = option("curves")
        for name in ("average", "queries", "draws", "seed"):
            if getattr(self, name) is not None:
                raise UsageError(f"{option(name)} requires {curves}", f"{curves} draws session vectors")
        if self.confidence is not None and self.rating is None:
            message = f"{option('confidence')} requires {curves} or {option('rating')}"
            raise UsageError(message, "it is the level of their intervals")


@dataclass(frozen=True)
class ConventionOptions:
    """Options of :func:`gainful.find_conventions`."""

    qrels: QrelsLike
    run: RunLike
    figures: Mapping[str, float | str]
    measure: str | Measure = "nDCG@10"
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    query: str | bytes | int | None = setting(None, "The numbers are for this query.", metavar="ID", shown="means")
    departures: int = setting(
        3, "Conventions that may change at once; those of known tools are always tried.", kind="whole", least=1
    )
    most: int = setting(5, "Explanations to list per number.", kind="whole", least=1)
    threads: int | None = None


@dataclass(frozen=True)
class JudgeOptions:
    """Options of :func:`gainful.compare_judgments`."""

    a: Judged | QrelsLike
    b: Judged | QrelsLike
    _: KW_ONLY
    runs: Mapping[str, RunLike] | None = None
    measures: MeasuresLike | None = None
    policy: PolicyLike = policy_field()
    rel: float | str | None = None
    scale: float | None = None
    draws: int = setting(1000, "Resamples for the intervals.", kind="whole", least=0)
    seed: int = setting(0, "Random seed.", kind="whole", least=0)


@dataclass(frozen=True)
class CalibrationOptions:
    """Options of :func:`gainful.calibrate_judgments`."""

    human: QrelsLike
    model: QrelsLike | tuple[QrelsLike, ...]
    runs: Mapping[str, RunLike]
    measures: MeasuresLike = "nDCG@10"
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    scale: float | None = None
    baseline: str | None = setting(None, "--calibrate: run that the others are compared with.", metavar="RUN")
    threads: int | None = None


@dataclass(frozen=True)
class DiffOptions:
    """Options of :func:`gainful.diff_runs`."""

    old: RunLike | RunsLike
    new: RunLike | RunsLike
    _: KW_ONLY
    k: Sequence[int] = setting((10,), "Ranks to compare; 10,20 gives both.", metavar="K,...", read=read_ranks)
    persistence: float = number(0.9, "RBO persistence, above 0 (top rank only) and below 1.", "P")
    rbo_ties: str = setting(
        "equality",
        "Treatment of ties in RBO; equality: tied documents share a rank, indecision: mean over all orders.",
        choices=("equality", "indecision"),
        shown="equality",
    )
    fail_above: float | None = number(None, "Exit with 1 if a larger share of the top k changed; 0 to 1.", "SHARE")
    by: str | None = None
    queries: QueriesLike | None = None
    policy: PolicyLike = policy_field()
    threads: int | None = None


#: The number of ranks that a report keeps per list.
DEFAULT_RANKS = 100


@dataclass(frozen=True, kw_only=True)
class _PageOptions:
    """Options shared by reports on runs and on sessions."""

    policy: PolicyLike = policy_field()
    baseline: str | None = setting(None, "Run that the others are compared with.", metavar="RUN")
    ranks: int = setting(DEFAULT_RANKS, "Ranks to keep per list.", kind="whole", least=1, most=10_000)
    threads: int | None = None


@dataclass(frozen=True)
class ReportOptions(_PageOptions):
    """Options of :func:`gainful.report`."""

    qrels: QrelsLike | Judged
    runs: RunLike | RunsLike
    measures: MeasuresLike | None = None
    _: KW_ONLY
    exclude: ExclusionLike | None = None
    columns: Mapping[str, str] | None = None
    queries: QueriesLike | None = None
    documents: Any = setting(None, "Table of document IDs with titles or texts.", kind="file")


@dataclass(frozen=True)
class SessionReportOptions(_PageOptions):
    """Options of :func:`gainful.report_sessions`."""

    qrels: QrelsLike | Judged
    sessions: Any
    measures: MeasuresLike | None = None
    _: KW_ONLY
    judged_by: str | None = None
