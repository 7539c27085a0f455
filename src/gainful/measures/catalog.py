"""All measures by name: one explicit, ordered table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.errors import UsageError
from gainful.measures import average_precision, counts, cumulated_gain, precision
from gainful.measures.base import Measure
from gainful.notation import nearest


@dataclass(frozen=True)
class Entry:
    """A measure and the parameters that a name sets beforehand."""

    measure: type[Measure]
    preset: Mapping[str, object] = field(default_factory=dict)


FAMILIES: Mapping[str, tuple[type[Measure], ...]] = {
    "Cumulated gain": (cumulated_gain.CG, cumulated_gain.DCG, cumulated_gain.NCG, cumulated_gain.NDCG),
    "Precision and recall": (
        precision.P,
        precision.R,
        precision.F,
        precision.Rprec,
        precision.Success,
        precision.SetP,
        precision.SetR,
        precision.SetF,
        precision.Judged,
    ),
    "By the ranks of relevant documents": (average_precision.AP, average_precision.RR, average_precision.IPrec),
    "Counts": (counts.NumQ, counts.NumRet, counts.NumRel, counts.NumRelRet),
}

MEASURES: Mapping[str, type[Measure]] = {measure.name: measure for family in FAMILIES.values() for measure in family}

#: Short and customary names; the long form is what gets printed.
SHORT_NAMES: Mapping[str, Entry] = {
    "AnCG": Entry(cumulated_gain.NCG, {"average": "ranks"}),
    "AnDCG": Entry(cumulated_gain.NDCG, {"average": "ranks"}),
    "MAP": Entry(average_precision.AP),
    "MRR": Entry(average_precision.RR),
    "NDCG": Entry(cumulated_gain.NDCG),
    "Precision": Entry(precision.P),
    "Recall": Entry(precision.R),
}

#: What ``gainful eval`` computes when nobody says.
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")


def find(name: str) -> Entry:
    """The entry of a name: ours, a short name, or one that an installed package offers."""
    if name in MEASURES:
        return Entry(MEASURES[name])
    if name in SHORT_NAMES:
        return SHORT_NAMES[name]
    offered = _offered(name)
    if offered is not None:
        return Entry(offered)
    raise UsageError(
        f"unknown measure '{name}'", nearest(name, [*MEASURES, *SHORT_NAMES]) or "`gainful measures` lists them"
    )


def _offered(name: str) -> type[Measure] | None:
    """A measure from the entry points ``gainful.measures`` of installed packages; looked up only when needed."""
    from importlib.metadata import entry_points

    for point in entry_points(group="gainful.measures", name=name):
        measure = point.load()
        if not (isinstance(measure, type) and issubclass(measure, Measure)):
            raise UsageError(f"{point.value}: expected a subclass of gainful.Measure, found {measure!r}")
        return measure
    return None
