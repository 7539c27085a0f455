"""What people call measures: in any case, with or without ``_`` and ``-``, written out, with the cutoff in the name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gainful.errors import UsageError

#: Our names, and what else each is called, folded.
_ALSO: Mapping[str, str] = {
    "nDCG": "normalizeddcg normaliseddcg normalizeddiscountedcumulativegain normaliseddiscountedcumulativegain",
    "DCG": "discountedcumulativegain discountedcumulatedgain",
    "CG": "cumulativegain cumulatedgain",
    "idealDCG": "idcg",
    "P": "prec",
    "R": "rec",
    "F": "f1 f1score fscore fmeasure f1measure",
    "Rprec": "rprecision",
    "RelP": "rcap recallcap cappedrecall",
    "Unjudged": "hole holes",
    "StRecall": "strec subtopicrecall",
    "Success": "hit hr hitratio hitsrate successrate",
    "AP": "avep avgprec aveprec averageprecision meanaverageprecision",
    "RR": "reciprank reciprocalrank meanreciprocalrank",
    "IPrec": "interpolatedprecision",
    "IAP": "interpolatedaverageprecision",
    "GMAP": "geometricmap geometricmeanaverageprecision",
    "ERR": "expectedreciprocalrank",
    "RBP": "rankbiasedprecision",
    "Q": "qmeasure",
    "O": "omeasure",
    "P+": "pplus",
    "NCU": "normalizedcumulativeutility normalisedcumulativeutility",
    "GAP": "gradedap gradedaverageprecision",
    "Novelty": "meanselfinformation msi miuf meaninvuserfreq",
    "ILD": "intralistdiversity",
    "UserCoverage": "userspacecoverage",
    "Coverage": "cataloguecoverage catalogcoverage itemcoverage",
    "Gini": "giniindex ginicoefficient",
    "Entropy": "shannonentropy distributionalcoverage",
    "ASL": "averagesearchlength",
    "ESL": "expectedsearchlength",
    "NormRecall": "normalizedrecall normalisedrecall",
    "NormPrecision": "normalizedprecision normalisedprecision",
}
#: Those that set parameters, too.
_ALSO_WITH: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "f2": ("F", {"beta": "2"}),
    "f2score": ("F", {"beta": "2"}),
    "ndcgburges": ("nDCG", {"gain": "exp2"}),
    "dcgburges": ("DCG", {"gain": "exp2"}),
}
#: What to know of names that others use for another number, folded.
NOTES: Mapping[str, str] = dict.fromkeys(
    ("hole", "holes"), "documents without a judgment for the query; BEIR counts those without one for any query"
)
#: Names for different numbers, folded or as they are written, and what they may mean.
_AMBIGUOUS: Mapping[str, tuple[str, ...]] = {
    "accuracy": ("Success@k (is one of the first k relevant)", "P@k (how many of them are)"),
    "e": ("SwetsE", "VanRijsbergenE"),
    "hits": ("Success@k (is one of the first k relevant)", "k times P@k (how many of them are, which ranx calls so)"),
    "rbp": ("RBP", "trec_eval:rbp, which is RBP(p=0.9, gain=linear, scale=query)"),
    "SDCG": ("sDCG, of sessions", "ScaledDCG, which ir_measures calls so"),
    **{f"nerr{k}": (f"nERR@{k}", f"NERR{k}, nearly ERR in C/W/L") for k in (8, 9, 10, 11)},
}
#: Words in names that are not known, and the measures that have to do with them; what is longer comes first.
_MEANINGS: Mapping[str, str] = {
    "reciprocal": "RR or ERR",
    "precision": "P, AP or Rprec",
    "accuracy": "Success or P",
    "success": "Success",
    "session": "sDCG or nsDCG",
    "coverage": "Coverage (of a catalogue), UserCoverage or R",
    "diversity": "ILD (of items), alpha-nDCG (of sub-topics) or Entropy",
    "recall": "R",
    "length": "ASL or ESL",
    "click": "ERR or RBP",
    "first": "RR",
    "gain": "nDCG, DCG or CG",
    "hit": "Success",
    "dcg": "nDCG or DCG",
    "auc": "NormRecall, the area under the ROC curve",
    "roc": "NormRecall, the area under the ROC curve",
    "mrr": "RR",
    "map": "AP",
}
#: What is measured elsewhere, but of no single list; with what comes near.
_NO_MEASURE: Mapping[str, str] = {
    "kappa": "kappa is agreement of judges (gainful judgments A B); gainful agree has that of rankings",
    "tau": "tau is agreement of rankings: gainful agree has it",
    "latency": "time is not measured here; gainful goes by ranked lists and judgments",
    "rmse": "errors of predicted ratings say little of a ranking; nDCG@k goes by its order",
    "mae": "errors of predicted ratings say little of a ranking; nDCG@k goes by its order",
}
_NAME = re.compile(r"[^\W_]+([_-][^\W_]+|#-?[^\W_]+)*\+?")
_CUTOFF_IN_NAME = re.compile(r"(.+?)(?:at)?(\d+)")


class UsualName(NamedTuple):
    """One of our names, the parameters that the usual one sets, and the cutoff that stands in it."""

    name: str
    preset: Mapping[str, str]
    at: str | None = None


def folded(name: str) -> str:
    """A name in small letters, without what joins words.

    >>> folded("Hit_Rate"), folded("R-precision")
    ('hitrate', 'rprecision')
    """
    return re.sub(r"[_-]", "", name.casefold())


def usual_name(name: str, known: Mapping[str, tuple[str, Mapping[str, str]]]) -> UsualName | None:
    """What a name stands for beside those that are ``known``; a name for different numbers is refused.

    >>> usual_name("Hit_Ratio", {})
    UsualName(name='Success', preset={}, at=None)
    >>> usual_name("ndcg_at_10", {"nDCG": ("nDCG", {})})
    UsualName(name='nDCG', preset={}, at='10')
    """
    if not _NAME.fullmatch(name):
        return None
    meanings = _AMBIGUOUS.get(name) or _AMBIGUOUS.get(folded(name))
    if meanings:
        raise UsageError(f"measure: '{name}' can be {' or '.join(meanings)}", "write the one that is meant")
    table = {folded(each): of for each, of in known.items()} | dict(_ALSO_WITH)
    table |= {word: (ours, {}) for ours, words in _ALSO.items() for word in words.split()}
    if folded(name) in table:
        return UsualName(*table[folded(name)])
    match = _CUTOFF_IN_NAME.fullmatch(folded(name))
    return UsualName(*table[match[1]], match[2]) if match and match[1] in table else None


def meant_by(name: str) -> str | None:
    """A hint at the measures that a word of an unknown name has to do with.

    >>> meant_by("TopHitShare")
    'did you mean Success?'
    """
    if said := next((said for word, said in _NO_MEASURE.items() if word in folded(name)), None):
        return said
    return next((f"did you mean {ours}?" for word, ours in _MEANINGS.items() if word in folded(name)), None)
