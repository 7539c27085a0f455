"""pytrec_eval's names of measures, and the measures of ours that give its values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import find
from gainful.notation import nearest

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

#: What becomes of a measure's value: nothing, its logarithm, or 0 where nothing is relevant.
Finish = Literal["as it is", "logarithm", "needs relevant"]


class Column(NamedTuple):
    """One value of every query: its key, the measure (None: always 0), and what is still to be done to it."""

    key: str
    measure: Measure | None
    finish: Finish = "as it is"


class _Asked(NamedTuple):
    """A measure as it was asked for: its name, the texts of its parameters in order, and the relevance level."""

    name: str
    texts: tuple[str, ...]
    level: float

    def refuse(self, expected: str) -> UsageError:
        return UsageError(f"{self.name}: expected {expected}, found {','.join(self.texts)}")


_Columns = Callable[[_Asked], list[Column]]


def _measure(name: str, **parameters: object) -> Measure:
    return find(name).measure.from_parameters(parameters)


def _plain(ours: str, finish: Finish = "as it is", *, binary: bool = True) -> _Columns:
    """A measure without parameters; trec_eval ignores what is given all the same."""

    def columns(asked: _Asked) -> list[Column]:
        measure = _measure(ours, rel=asked.level) if binary else _measure(ours)
        return [Column(asked.name, measure, finish)]

    return columns


def _graded(ours: str, finish: Finish = "as it is") -> _Columns:
    """A measure of gains. Its parameters would be pairs, which no name can hold."""

    def columns(asked: _Asked) -> list[Column]:
        if asked.texts:
            raise asked.refuse("no parameters")
        return [Column(asked.name, _measure(ours), finish)]

    return columns


def _at_cutoffs(ours: str, default: Iterable[int] = CUTOFFS, *, binary: bool = True) -> _Columns:
    def columns(asked: _Asked) -> list[Column]:
        # trec_eval reads whole numbers and leaves what comes after them.
        cutoffs = sorted(int(text.split(".")[0]) for text in asked.texts) or list(default)
        if cutoffs[0] < 1 or len(set(cutoffs)) < len(cutoffs):
            raise asked.refuse("different cutoffs of at least 1")
        level = {"rel": asked.level} if binary else {}
        return [Column(f"{asked.name}_{cutoff}", _measure(ours, **level, cutoff=cutoff)) for cutoff in cutoffs]

    return columns


def _at_shares(ours: str, parameter: str, default: Iterable[float]) -> _Columns:
    def columns(asked: _Asked) -> list[Column]:
        shares = _shares(asked) or list(default)
        # Two that are written alike have one key; the later one stays.
        named = {
            f"{asked.name}_{share:.2f}": _measure(ours, **{"rel": asked.level, parameter: share}) for share in shares
        }
        return [Column(key, measure) for key, measure in named.items()]

    return columns


def _shares(asked: _Asked) -> list[float]:
    shares = sorted(map(float, asked.texts))
    if len(set(shares)) < len(shares):
        raise asked.refuse("different numbers")
    return shares


def _always_zero(asked: _Asked) -> list[Column]:
    """A text in trec_eval, for which pytrec_eval has no value."""
    return [Column(asked.name, None)]


def _interpolated_average(asked: _Asked) -> list[Column]:
    points = {"points": "-".join(map(str, _shares(asked)))} if asked.texts else {}
    return [Column(asked.name, _measure("IAP", rel=asked.level, **points))]


def _set_f(asked: _Asked) -> list[Column]:
    """trec_eval has x where the formula has beta^2, and looks at the first parameter only."""
    x = float(asked.texts[0]) if asked.texts else 1.0
    return [Column(asked.name, _measure("SetF", rel=asked.level, beta=math.sqrt(x)))]


def _utility(asked: _Asked) -> list[Column]:
    if len(asked.texts) not in (0, 4):
        raise asked.refuse("four coefficients that are different and in the order of their texts")
    a, b, c, d = map(float, asked.texts or ("1", "-1", "0", "0"))
    # pytrec_eval knows no collection beyond the documents retrieved or relevant, so that of the rest there are less
    # than none: their coefficient is taken off the others.
    return [Column(asked.name, _measure("Utility", rel=asked.level, a=a - d, b=b - d, c=c - d))]


#: All measures in the order in which trec_eval prints them.
FAMILIES: Mapping[str, _Columns] = {
    "runid": _always_zero,
    "num_q": _plain("NumQ", binary=False),
    "num_ret": _plain("NumRet", binary=False),
    "num_rel": _plain("NumRel"),
    "num_rel_ret": _plain("NumRelRet"),
    "map": _plain("AP"),
    "gm_map": _plain("AP", "logarithm"),
    "Rprec": _plain("Rprec"),
    "bpref": _plain("Bpref"),
    "recip_rank": _plain("RR"),
    "iprec_at_recall": _at_shares("IPrec", "recall", [tenths / 10 for tenths in range(11)]),
    "P": _at_cutoffs("P"),
    "relstring": _always_zero,
    "recall": _at_cutoffs("R"),
    "infAP": _plain("InfAP"),
    "gm_bpref": _plain("Bpref", "logarithm"),
    "Rprec_mult": _at_shares("RprecMult", "multiple", [fifths / 5 for fifths in range(1, 11)]),
    "utility": _utility,
    "11pt_avg": _interpolated_average,
    "binG": _plain("binG"),
    "G": _graded("G"),
    "ndcg": _graded("nDCG"),
    "ndcg_rel": _graded("nDCGrel"),
    "Rndcg": _graded("RnDCG", "needs relevant"),
    "ndcg_cut": _at_cutoffs("nDCG", binary=False),
    "map_cut": _at_cutoffs("AP"),
    "relative_P": _at_cutoffs("RelP"),
    "success": _at_cutoffs("Success", (1, 5, 10)),
    "set_P": _plain("SetP"),
    "set_relative_P": _plain("SetRelP"),
    "set_recall": _plain("SetR"),
    "set_map": _plain("SetAP"),
    "set_F": _set_f,
    "num_nonrel_judged_ret": _plain("NumNonRelJudgedRet"),
}

_PAIRED = {"prefs_simp", "prefs_pair", "prefs_avgjg"}
_PREFERENCES = _PAIRED | {"prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"}
_OTHER_NONRELEVANT = {"prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret"}
_MORE_PREFERENCES = {f"{name}_{more}" for name in _PAIRED for more in ("ret", "imp")} | _OTHER_NONRELEVANT
_ABOUT_THE_RUN = {"runid", "num_q"}
_COUNTS = {*_ABOUT_THE_RUN, "num_ret", "num_rel", "num_rel_ret"}

#: Names of several measures; those of preferences and of several judges hold measures that nobody supports.
NICKNAMES: Mapping[str, frozenset[str]] = {
    "official": frozenset(
        _COUNTS | {"map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"},
    ),
    "set": frozenset(_COUNTS | {"utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"}),
    "all_trec": frozenset(FAMILIES),
    "all_prefs": frozenset(_ABOUT_THE_RUN | _PREFERENCES | _MORE_PREFERENCES),
    "prefs": frozenset(_ABOUT_THE_RUN | _PREFERENCES),
    "qrels_jg": frozenset(_ABOUT_THE_RUN | {"map_avgjg", "P_avgjg", "Rprec_mult_avgjg"}),
}

_NUMBERS = r"[0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*"
_WITH_PARAMETERS = re.compile(f"({'|'.join(map(re.escape, sorted(FAMILIES, reverse=True)))})[._]({_NUMBERS})")


def columns_of(measures: Iterable[str], level: float) -> list[Column]:
    """The columns that measures stand for, in trec_eval's order.

    A measure is given as ``P``, ``P_5``, ``P.5`` or ``P.5,10``, or by the nickname of several. Parameters from several
    places come together; beside them, those that a measure has by default do not count.
    """
    texts_of: dict[str, set[str]] = {}
    for measure in measures:
        for name in NICKNAMES.get(measure, (measure,)):
            family, texts = _split(name)
            texts_of.setdefault(family, set()).update(texts)
    return [
        column
        for name, columns in FAMILIES.items()
        if name in texts_of
        for column in columns(_Asked(name, tuple(sorted(texts_of[name])), level))
    ]


def _split(name: str) -> tuple[str, list[str]]:
    if name in FAMILIES:
        return name, []
    match = _WITH_PARAMETERS.match(name)
    if match is None:
        raise UsageError(f"unsupported measure {name}", nearest(name, [*FAMILIES, *NICKNAMES]))
    return match[1], match[2].split(",")
