"""The options of the questions that start from judgments with runs or sessions. Nothing here loads NumPy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gainful.errors import UsageError, option
from gainful.frozen import KW_ONLY, dataclass
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.notation import read_number
from gainful.policy import policy_field
from gainful.question import setting

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

#: The kinds of session curves, and what each shows; cost: what GainPerCost measures, by what it cost.
SESSION_CURVES = {
    "average": "by system",
    "subset": "all sessions and those with --at-least queries",
    "individual": "every session",
    "positions": "last, earlier and best queries by rank",
}
AVERAGE_NAMES = ("ratios", "means", "both")

_REGION = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)


def _read_ranks(text: str, option: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and part.isascii() and int(part) for part in parts):
        raise UsageError(f"{option}: expected ranks like 5,10,20, found '{text}'")
    return [int(part) for part in parts]


def _read_regions(text: str, option: str) -> list[tuple[int, int]]:
    found = [_REGION.fullmatch(part) for part in text.split(",")]
    if not all(found):
        raise UsageError(f"{option}: expected ranks like 1-10,11-50, found '{text}'")
    return [(int(match[1]), int(match[2])) for match in found if match]


def _read_levels(text: str, option: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _read_per_cent(text: str, option: str) -> float:
    per_cent = read_number(text, option)
    if not 1 <= per_cent < 100:
        raise UsageError(f"{option}: expected per cent from 1 to below 100, found {text}", "95 is 95%")
    return per_cent / 100


@dataclass(frozen=True)
class _CurvesOfRuns:
    """Judgments, runs, and what all curves of them have."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    baseline: str | None = setting(None, "The run that others are compared with; gain: by rank.", metavar="RUN")
    by_query: bool = setting(False, "Every query's curve, too (jsonl and csv).")
    threads: int | None = None


@dataclass(frozen=True)
class GainCurveOptions(_CurvesOfRuns):
    """What is asked of :func:`gainful.gain_curves`."""

    measures: MeasuresLike = ("CG", "nDCG")
    _: KW_ONLY
    average: str = setting("ratios", "gain: how nCG and nDCG are averaged.", choices=AVERAGE_NAMES, shown="ratios")
    draws: int = setting(1000, "gain: resamples for the bands, 0 for none.", kind="whole", least=0, shown="1000")
    seed: int = setting(0, "gain: another seed, other resamples.", kind="whole", least=0, shown="0")
    confidence: float = setting(0.95, "gain: what the bands hold.", metavar="PERCENT", read=_read_per_cent, shown="95")


@dataclass(frozen=True)
class SidewaysOptions:
    """How curves of gain are read sideways."""

    _: KW_ONLY
    reference: str | None = setting(
        None, "gain: the run that others have to catch up with.", metavar="RUN", shown="ideal"
    )
    at: Sequence[int] | None = setting(
        None, "gain: the reference's ranks to catch up with.", metavar="R,...", read=_read_ranks, shown="5,10,20"
    )
    regions: Sequence[tuple[int, int]] | None = setting(
        None,
        "gain: ranks for the distance to the ideal.",
        metavar="R-R,...",
        read=_read_regions,
        shown="1-10, 11-50, 51-100, ...",
    )


@dataclass(frozen=True)
class _RecallOptions(_CurvesOfRuns):
    _: KW_ONLY
    points: int = setting(
        11, "recall, generalised: how many recall levels.", kind="whole", least=2, most=1001, shown="11"
    )


@dataclass(frozen=True)
class RecallLevelOptions(_RecallOptions):
    """What is asked of :func:`gainful.recall_levels`."""

    _: KW_ONLY
    levels: Sequence[float | str] | float | None = setting(
        None, "recall: the grade levels.", metavar="G,...", read=_read_levels, shown="all above 0"
    )
    by: str = setting(
        "both", "recall: a level alone, or it and all above.", choices=("level", "rel", "both"), shown="both"
    )


@dataclass(frozen=True)
class GeneralisedRecallOptions(_RecallOptions):
    """What is asked of :func:`gainful.generalised_recall`."""

    measures: str | Measure | Sequence[str | Measure] | None = None
    _: KW_ONLY
    gain: Gain | str | Mapping[float, float] = "scaled"


def read_values(texts: Sequence[str], option: str) -> list[object]:
    """Values between commas, but not those in a map's braces; the option may be repeated."""
    parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
    if not parts:
        raise UsageError(f"{option}: expected a value, found none")
    if not all(parts):
        raise UsageError(f"{option}: expected values between commas, found '{','.join(texts)}'")
    return list(parts)


def _read_varied(texts: Sequence[str], option: str) -> dict[str, list[object]]:
    """NAME=V,V,... as values by name; what has no name belongs to the one before it."""
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
    """What is varied of runs and of sessions alike."""

    gain: Sequence[object] | None = setting(
        None,
        "What grades are worth: weights like 0-1-10-100, linear, exp2, binary, or flat, tenfold, top for any scale; "
        "of ADM the values of the categories (urs).",
        metavar="G,...",
        read_all=read_values,
        shown="0-1-1-1, 0-1-2-3, exp2, 0-1-10-100, 0-0-0-1, for as many levels as there are",
    )
    base: Sequence[object] | None = setting(
        None, "Bases of the discounts' logarithms.", metavar="B,...", read_all=read_values, shown="2, e, 10"
    )
    at: Sequence[object] | None = setting(
        None, "Depths.", metavar="K,...", read_all=read_values, shown="10, 30, 100, 200, of sessions 5, 10, 20"
    )
    vary: Mapping[str, Sequence[object]] | None = setting(
        None, "Another parameter: srs=rank,minmax, query_base=2,4.", metavar="NAME=V,...", read_all=_read_varied
    )
    policy: PolicyLike = policy_field()
    threads: int | None = None


@dataclass(frozen=True)
class SessionSensitivityOptions(_Varied):
    """What is asked of :func:`gainful.assess_session_sensitivity`."""

    qrels: QrelsLike | Judged
    systems: Mapping[str, Sessions | Iterable[Sessions] | Source]
    _: KW_ONLY
    measure: str | Measure = "nsDCG"
    judged_by: str | None = None
    topics: TopicsLike | None = None


@dataclass(frozen=True)
class SensitivityOptions(_Varied):
    """What is asked of :func:`gainful.assess_sensitivity`."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    _: KW_ONLY
    measure: str | Measure = "nDCG"
    discount: Sequence[str] | None = setting(
        None,
        "jarvelin2002, burges2005 (no base can change nDCG with it: it cancels), ...",
        metavar="D,...",
        read_all=read_values,
        shown="jarvelin2002, none",
    )
    scenario: Iterable[str | Scenario] | str | None = setting(
        None,
        "Only this: impatient (depth 30, 0-1-10-100, base 2), patient (depth 200, 0-1-2-3, base 10), or one of "
        "--scenarios; may be repeated.",
        metavar="NAME",
        repeatable=True,
    )
    scenarios: str | os.PathLike[str] | None = setting(
        None, "A TOML file that defines scenarios.", kind="file", metavar="FILE"
    )


@dataclass(frozen=True)
class _OfSessions:
    """Judgments, sessions by system, which of them are looked at, and how curves of them are made."""

    qrels: QrelsLike | Judged
    systems: Mapping[str, Sessions | Iterable[Sessions] | Source]
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    judged_by: str | None = None
    session: Sequence[str | bytes] = setting((), "Only this session; may be repeated.", metavar="ID", repeatable=True)
    topic: Sequence[str | bytes] = setting(
        (), "Only sessions of this topic; may be repeated.", metavar="ID", repeatable=True
    )
    at_least: int | None = setting(None, "Only sessions with at least N queries.", kind="whole", least=1, metavar="N")
    average: str | None = setting(None, "How curves of nsDCG are averaged.", choices=AVERAGE_NAMES, shown="ratios")
    queries: int | None = setting(
        None, "Curves over N queries.", kind="whole", least=1, metavar="N", shown="all, at most 20"
    )
    draws: int | None = setting(None, "Resamples for the curves' bands, 0: none.", kind="whole", least=0, shown="1000")
    seed: int | None = setting(None, "Another seed, other resamples.", kind="whole", least=0, shown="0")
    confidence: float | None = setting(
        None, "What bands and the intervals of --rating hold.", metavar="PERCENT", read=_read_per_cent, shown="95"
    )
    threads: int | None = None


@dataclass(frozen=True)
class SessionCurveOptions(_OfSessions):
    """What is asked of :func:`gainful.session_curves`."""

    measures: MeasuresLike = "nsDCG@10"
    _: KW_ONLY
    kind: str = setting("average", "Which curves.", choices=SESSION_CURVES)


@dataclass(frozen=True)
class SessionStudyOptions(_OfSessions):
    """What is asked of :func:`gainful.tasks.sessions.study_sessions`."""

    measures: MeasuresLike = DEFAULT_SESSION_MEASURES
    _: KW_ONLY
    curves: str | None = None
    curve_measures: MeasuresLike | None = None
    cost_query: str | float | None = setting(
        None, "What a query costs; recorded: as the log has it, in its column cost.", metavar="C", shown="0"
    )
    cost_document: str | float | None = setting(None, "What reading a document costs.", metavar="C", shown="0")
    rating: str | None = setting(
        None, "Correlate with this column of --ratings, or with the sessions' own ratings.", metavar="NAME"
    )
    ratings: Mapping[str, float] | None = None
    topics: TopicsLike | None = None
    by_system: bool = False

    def __post_init__(self) -> None:
        """Refuses options without a meaning, before anything is read."""
        if self.ratings is not None and self.rating is None:
            raise UsageError("rating: expected the name of the ratings, found none")
        if self.curves is not None:
            return
        curves = option("curves")
        for name in ("average", "queries", "draws", "seed"):
            if getattr(self, name) is not None:
                raise UsageError(f"{option(name)}: has no meaning without {curves}", f"{curves} draws session vectors")
        if self.confidence is not None and self.rating is None:
            raise UsageError(
                f"{option('confidence')}: has no meaning without {curves} or {option('rating')}",
                "it is of their intervals",
            )


@dataclass(frozen=True)
class ConventionOptions:
    """What is asked of :func:`gainful.find_conventions`."""

    qrels: QrelsLike
    run: RunLike
    figures: Mapping[str, float | str]
    measure: str | Measure = "nDCG@10"
    _: KW_ONLY
    policy: PolicyLike = policy_field()
    query: str | bytes | int | None = setting(None, "The numbers are of this query.", metavar="ID", shown="of all")
    departures: int = setting(
        3,
        "In how many conventions at once a combination may differ from the start; known tools are tried anyway.",
        kind="whole",
        least=1,
    )
    most: int = setting(5, "How many ways to show of a number.", kind="whole", least=1)
    threads: int | None = None


@dataclass(frozen=True)
class JudgeOptions:
    """What is asked of :func:`gainful.compare_judgments`."""

    a: Judged | QrelsLike
    b: Judged | QrelsLike
    _: KW_ONLY
    runs: Mapping[str, RunLike] | None = None
    measures: MeasuresLike | None = None
    policy: PolicyLike = policy_field()
    rel: float | str | None = None
    scale: float | None = None
    draws: int = setting(1000, "Resamples for the intervals.", kind="whole", least=0)
    seed: int = setting(0, "Another seed, other resamples.", kind="whole", least=0)


#: The ranks of every list that a report page keeps.
DEFAULT_RANKS = 100


@dataclass(frozen=True, kw_only=True)
class _PageOptions:
    """What is asked of a page about runs and of one about sessions."""

    policy: PolicyLike = policy_field()
    baseline: str | None = setting(None, "The run that others are compared with.", metavar="RUN")
    ranks: int = setting(
        DEFAULT_RANKS, "How many ranks of every list the page keeps.", kind="whole", least=1, most=10_000
    )
    threads: int | None = None


@dataclass(frozen=True)
class ReportOptions(_PageOptions):
    """What is asked of :func:`gainful.report`."""

    qrels: QrelsLike | Judged
    runs: RunLike | RunsLike
    measures: MeasuresLike | None = None
    _: KW_ONLY
    exclude: ExclusionLike | None = None
    columns: Mapping[str, str] | None = None
    queries: QueriesLike | None = None
    documents: Any = setting(None, "A table of documents: their ids, and titles or texts to show.", kind="file")


@dataclass(frozen=True)
class SessionReportOptions(_PageOptions):
    """What is asked of :func:`gainful.report_sessions`."""

    qrels: QrelsLike | Judged
    sessions: Any
    measures: MeasuresLike | None = None
    _: KW_ONLY
    judged_by: str | None = None
