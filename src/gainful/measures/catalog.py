"""All measures by name: one explicit, ordered table. A family's file is loaded when one of its measures is needed."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gainful.errors import UsageError
from gainful.notation import nearest

if TYPE_CHECKING:
    from gainful.measures.base import Measure


class Entry(NamedTuple):
    """A measure and the parameters that a name sets beforehand."""

    measure: type[Measure]
    preset: Mapping[str, object] = {}


#: Family -> name -> where it is defined.
FAMILIES: Mapping[str, Mapping[str, str]] = {
    "Cumulated gain": {
        "CG": "cumulated_gain.CG",
        "DCG": "cumulated_gain.DCG",
        "nCG": "cumulated_gain.NCG",
        "nDCG": "cumulated_gain.NDCG",
        "idealDCG": "relative_gain.IdealDCG",
        "nDCGrel": "relative_gain.NDCGRel",
        "RnDCG": "relative_gain.RNDCG",
        "G": "relative_gain.G",
        "binG": "relative_gain.BinG",
    },
    "Precision and recall": {
        "P": "precision.P",
        "R": "precision.R",
        "F": "precision.F",
        "Rprec": "precision.Rprec",
        "RprecMult": "relative_precision.RprecMult",
        "RelP": "relative_precision.RelP",
        "Success": "precision.Success",
        "SetP": "sets.SetP",
        "SetR": "sets.SetR",
        "SetF": "sets.SetF",
        "SetAP": "sets.SetAP",
        "SetRelP": "relative_precision.SetRelP",
        "Utility": "sets.Utility",
    },
    "By the ranks of relevant documents": {
        "AP": "average_precision.AP",
        "RR": "average_precision.RR",
        "IPrec": "average_precision.IPrec",
        "IAP": "average_precision.IAP",
        "GMAP": "average_precision.GMAP",
    },
    "Incomplete judgments": {
        "Bpref": "incomplete.Bpref",
        "GMBpref": "incomplete.GMBpref",
        "InfAP": "incomplete.InfAP",
        "Judged": "incomplete.Judged",
        "Unjudged": "incomplete.Unjudged",
    },
    "Models of the user": {
        "RBP": "rank_biased.RBP",
        "RBPResidual": "rank_biased.RBPResidual",
        "ERR": "cascade.ERR",
        "nERR": "cascade.NERR",
    },
    "Earlier measures": {
        "ASL": "search_length.ASL",
        "ESL": "search_length.ESL",
        "RankedHalfLife": "search_length.RankedHalfLife",
        "NormRecall": "rank_areas.NormRecall",
        "NormPrecision": "rank_areas.NormPrecision",
        "SlidingRatio": "list_order.SlidingRatio",
        "Satisfaction": "list_order.Satisfaction",
        "Frustration": "list_order.Frustration",
        "SFTotal": "list_order.SFTotal",
        "NDPM": "preference.NDPM",
        "RelativeRelevance": "score_based.RelativeRelevance",
        "SwetsE": "score_based.SwetsE",
        "VanRijsbergenE": "contingency.VanRijsbergenE",
        "Fallout": "contingency.Fallout",
        "Generality": "contingency.Generality",
    },
    "Generalised precision and recall": {
        "gP": "generalised.GP",
        "gR": "generalised.GR",
        "gIPrec": "generalised.GIPrec",
        "gIAP": "generalised.GIAP",
    },
    "Many grades": {
        "muAP": "many_grades.MuAP",
        "NDCNG": "many_grades.NDCNG",
    },
    "Distances on continuous scores": {
        "ADM": "distance.ADM",
        "ADP": "distance.ADP",
        "ADR": "distance.ADR",
        "Pstar": "agreement.Pstar",
        "Rstar": "agreement.Rstar",
        "ThresholdP": "agreement.ThresholdP",
        "ThresholdR": "agreement.ThresholdR",
        "PRmean": "agreement.PRmean",
    },
    "Counts": {
        "NumQ": "counts.NumQ",
        "NumRet": "counts.NumRet",
        "NumRel": "counts.NumRel",
        "NumRelRet": "counts.NumRelRet",
        "NumNonRelJudgedRet": "counts.NumNonRelJudgedRet",
    },
}


#: The same for measures of sessions, which need more than one list.
SESSION_FAMILIES: Mapping[str, Mapping[str, str]] = {
    "Sessions of several queries": {
        "sDCG": "session_gain.SDCG",
        "nsDCG": "session_gain.NSDCG",
        "sRBP": "session_rank_biased.SRBP",
        "InstanceRecall": "session_instances.InstanceRecall",
        "QueriesToFirst": "session_effort.QueriesToFirst",
        "DocumentsToFirst": "session_effort.DocumentsToFirst",
        "QueriesToGain": "session_effort.QueriesToGain",
        "DocumentsToGain": "session_effort.DocumentsToGain",
    },
}


class _Measures(Mapping[str, "type[Measure]"]):
    """The table as a mapping of names to classes, each loaded when it is looked up."""

    def __init__(self, families: Mapping[str, Mapping[str, str]]) -> None:
        self._homes = {name: home for family in families.values() for name, home in family.items()}

    def __getitem__(self, name: str) -> type[Measure]:
        module, _, attribute = self._homes[name].partition(".")
        measure: type[Measure] = getattr(importlib.import_module(f"gainful.measures.{module}"), attribute)
        return measure

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


#: Measures of queries, and measures of sessions.
MEASURES: Mapping[str, type[Measure]] = _Measures(FAMILIES)
SESSION_MEASURES: Mapping[str, type[Measure]] = _Measures(SESSION_FAMILIES)

#: Both, in the order in which they are listed.
ALL_FAMILIES: Mapping[str, Mapping[str, str]] = {**FAMILIES, **SESSION_FAMILIES}
ALL_MEASURES: Mapping[str, type[Measure]] = _Measures(ALL_FAMILIES)

#: Short and customary names, with what they stand for; the long form is what gets printed.
SHORT_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "AnCG": ("nCG", {"average": "ranks"}),
    "AnDCG": ("nDCG", {"average": "ranks"}),
    "MAP": ("AP", {}),
    "MRR": ("RR", {}),
    "NDCG": ("nDCG", {}),
    "Precision": ("P", {}),
    "Recall": ("R", {}),
}

#: What ``gainful eval`` computes when nobody says.
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")

#: What is computed of sessions when nobody says.
DEFAULT_SESSION_MEASURES = ("sDCG@10", "nsDCG@10")


def long_text(short_name: str) -> str:
    """What a short name stands for, as text."""
    name, preset = SHORT_NAMES[short_name]
    parameters = ", ".join(f"{key}={value}" for key, value in preset.items())
    return f"{name}({parameters})" if parameters else name


def is_ours(name: str) -> bool:
    """Whether the catalogue has it, under its name or a short one."""
    return name in ALL_MEASURES or name in SHORT_NAMES


def is_offered(name: str) -> bool:
    """Whether an installed package offers it."""
    return _offered(name) is not None


def find(name: str) -> Entry:
    """The entry of a name: ours, a short name, or one that an installed package offers."""
    if name in ALL_MEASURES:
        return Entry(ALL_MEASURES[name])
    if name in SHORT_NAMES:
        long_name, preset = SHORT_NAMES[name]
        return Entry(MEASURES[long_name], preset)
    offered = _offered(name)
    if offered is not None:
        return Entry(offered)
    raise UsageError(
        f"unknown measure '{name}'",
        nearest(name, [*ALL_MEASURES, *SHORT_NAMES, *offered_names()]) or "`gainful measures` lists them",
    )


def offered_names() -> list[str]:
    """The names of measures that installed packages offer."""
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group="gainful.measures")})


def _offered(name: str) -> type[Measure] | None:
    """A measure from the entry points ``gainful.measures`` of installed packages; looked up only when needed."""
    from importlib.metadata import entry_points

    from gainful.measures.base import Measure

    for point in entry_points(group="gainful.measures", name=name):
        try:
            measure = point.load()
        except Exception as error:  # whatever the other package does wrong
            raise UsageError(f"measure '{name}': {point.value} cannot be loaded ({error})") from error
        if not (isinstance(measure, type) and issubclass(measure, Measure)):
            raise UsageError(f"measure '{name}': expected {point.value} to be a subclass of gainful.Measure")
        if measure.name != name:
            raise UsageError(f"measure '{name}': {point.value} calls itself '{measure.name}'")
        return measure
    return None
