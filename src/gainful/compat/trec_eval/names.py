"""trec_eval's measures in the order of its output, and what they are called here. Nothing here loads NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gainful.compat.trec_eval.faults import USAGE, RefusedError
from gainful.notation import nearest

VERSIONS = ("9.0.8", "10.0")

_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(i / 10 for i in range(11))
_FIFTHS = tuple(i / 5 for i in range(1, 11))

Takes = Literal["nothing", "ranks", "recalls", "length", "utility", "weight", "points", "gains", "patience"]
Summary = Literal["mean", "sum", "geometric", "topics", "none"]


@dataclass(frozen=True)
class Family:
    """A measure of trec_eval: our text of it (``{}`` is a cutoff), its parameters, and how it is printed."""

    name: str
    ours: str = ""
    takes: Takes = "nothing"
    defaults: tuple[float, ...] = ()
    summary: Summary = "mean"
    has_level: bool = True  # whether -l is for it
    by_topic: bool = True
    since: str = "9.0.8"


#: The order is that of trec_eval's output, whatever the order of the options.
FAMILIES: tuple[Family, ...] = (
    Family("runid", summary="none", by_topic=False),
    Family("num_q", "NumQ", summary="topics", by_topic=False),
    Family("num_ret", "NumRet", summary="sum"),
    Family("num_rel", "NumRel", summary="sum"),
    Family("num_rel_ret", "NumRelRet", summary="sum"),
    Family("map", "AP"),
    Family("gm_map", "AP", summary="geometric", by_topic=False),
    Family("Rprec", "Rprec"),
    Family("bpref", "Bpref"),
    Family("recip_rank", "RR"),
    Family("iprec_at_recall", "IPrec@{}", "recalls", _TENTHS),
    Family("P", "P@{}", "ranks", _RANKS),
    Family("relstring", "", "length", (10,), summary="none"),
    Family("recall", "R@{}", "ranks", _RANKS),
    Family("infAP", "InfAP"),
    Family("gm_bpref", "Bpref", summary="geometric", by_topic=False),
    Family("Rprec_mult", "RprecMult@{}", "recalls", _FIFTHS),
    Family("utility", "Utility", "utility"),
    Family("11pt_avg", "IAP", "points"),
    Family("binG", "binG"),
    Family("G", "G", "gains", has_level=False),
    Family("dcg", "DCG", "gains", has_level=False, since="10.0"),
    Family("ideal_dcg", "idealDCG", "gains", has_level=False, since="10.0"),
    Family("ndcg", "nDCG", "gains", has_level=False),
    Family("ndcg_rel", "nDCGrel", "gains", has_level=False),
    Family("Rndcg", "RnDCG", "gains", has_level=False),
    Family("ndcg_cut", "nDCG@{}", "ranks", _RANKS, has_level=False),
    Family("map_cut", "AP@{}", "ranks", _RANKS),
    Family("relative_P", "RelP@{}", "ranks", _RANKS),
    Family("success", "Success@{}", "ranks", (1, 5, 10)),
    Family("set_P", "SetP"),
    Family("set_relative_P", "SetRelP"),
    Family("set_recall", "SetR"),
    Family("set_map", "SetAP"),
    Family("set_F", "SetF", "weight"),
    Family("num_nonrel_judged_ret", "NumNonRelJudgedRet", summary="sum"),
    Family("rbp", "RBP", "patience", has_level=False, since="10.0"),
    Family("rbp_resid", "RBPResidual", "patience", since="10.0"),
    Family("unj", "Unjudged@{}", "ranks", (5, 10, 20), since="10.0"),
)

_BY_NAME = {family.name: family for family in FAMILIES}

_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")

#: Groups of measures; the versions differ in what they know, not in the groups.
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    "set": (*_COUNTS, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "all_trec": tuple(family.name for family in FAMILIES if family.name not in ("dcg", "ideal_dcg")),
}

#: What trec_eval has and we do not.
_ABSENT = ("yaap", "all_prefs", "prefs", "qrels_jg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg")


def members(name: str, compat: str) -> tuple[str, ...]:
    """The measures that a name stands for in a version; an error where it stands for none."""
    if name in NICKNAMES:
        return tuple(each for each in NICKNAMES[name] if _is_in(_BY_NAME[each], compat))
    if name in _BY_NAME and _is_in(_BY_NAME[name], compat):
        return (name,)
    if name in _BY_NAME:
        raise RefusedError(USAGE, f"illegal measure '{name}': trec_eval {compat} does not have it")
    if name in _ABSENT or name.startswith("prefs_"):
        raise RefusedError(USAGE, f"illegal measure '{name}': gainful does not have it")
    raise RefusedError(USAGE, f"illegal measure '{name}'", nearest(name, [*_BY_NAME, *NICKNAMES]))


def _is_in(family: Family, compat: str) -> bool:
    return VERSIONS.index(family.since) <= VERSIONS.index(compat)
