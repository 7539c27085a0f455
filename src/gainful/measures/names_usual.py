"""Common spellings of measures: any case, with or without ``_`` and ``-``, in words, with the cutoff in the name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gainful.errors import UsageError

#: Our names, and other names of each, folded.
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
    "Success": "hit hr hitratio hitsrate successrate recallany",
    "Complete": "recallall",
    "AP": "avep avgprec aveprec averageprecision meanaverageprecision",
    "RR": "reciprank reciprocalrank meanreciprocalrank",
    "IPrec": "interpolatedprecision",
    "IAP": "interpolatedaverageprecision",
    "GMAP": "geometricmap geometricmeanaverageprecision",
    "ERR": "expectedreciprocalrank",
    "RBP": "rankbiasedprecision",
    "TBG": "timebiasedgain",
    "U": "umeasure",
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
#: Names that also set parameters.
_ALSO_WITH: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "f2": ("F", {"beta": "2"}),
    "f2score": ("F", {"beta": "2"}),
    "ndcgburges": ("nDCG", {"gain": "exp2"}),
    "dcgburges": ("DCG", {"gain": "exp2"}),
}
#: Notes on names that others use for a different number, folded.
NOTES: Mapping[str, str] = dict.fromkeys(
    ("hole", "holes"), "documents unjudged for the query; BEIR counts documents unjudged for all queries"
)
#: Ambiguous names, folded or as written, with their meanings.
_AMBIGUOUS: Mapping[str, tuple[str, ...]] = {
    "accuracy": ("Success@k (any of the first k is relevant)", "P@k (the share of relevant documents)"),
    "e": ("SwetsE", "VanRijsbergenE"),
    "hits": (
        "Success@k (any of the first k is relevant)",
        "k times P@k (the number of relevant documents, as in ranx)",
    ),
    "rbp": ("RBP", "trec_eval:rbp, which is RBP(p=0.9, gain=linear, scale=query)"),
    "SDCG": ("sDCG, for sessions", "ScaledDCG, the SDCG of ir_measures"),
    **{f"nerr{k}": (f"nERR@{k}", f"NERR{k}, nearly ERR in C/W/L") for k in (8, 9, 10, 11)},
}
#: Words in unknown names, and related measures; longer words first.
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
#: Statistics that are not measures of a list, with the nearest alternative.
_NO_MEASURE: Mapping[str, str] = {
    "kappa": "for agreement between judges use gainful judgments A B, between rankings gainful agree",
    "tau": "for agreement between rankings use gainful agree",
    "latency": "gainful does not measure time, only ranked lists",
    "rmse": "rating errors do not measure a ranking; nDCG@k does",
    "mae": "rating errors do not measure a ranking; nDCG@k does",
}
_NAME = re.compile(r"[^\W_]+([_-][^\W_]+|#-?[^\W_]+)*\+?")
_CUTOFF_IN_NAME = re.compile(r"(.+?)(?:at)?(\d+)")


class UsualName(NamedTuple):
    """One of our names, with the parameters and the cutoff set by a common spelling."""

    name: str
    preset: Mapping[str, str]
    at: str | None = None


def folded(name: str) -> str:
    """Fold a name to lower case without ``_`` and ``-``.

    >>> folded("Hit_Rate"), folded("R-precision")
    ('hitrate', 'rprecision')
    """
    return re.sub(r"[_-]", "", name.casefold())


def usual_name(name: str, known: Mapping[str, tuple[str, Mapping[str, str]]]) -> UsualName | None:
    """Look up a common spelling of a measure or of ``known`` names; reject ambiguous ones.

    >>> usual_name("Hit_Ratio", {})
    UsualName(name='Success', preset={}, at=None)
    >>> usual_name("ndcg_at_10", {"nDCG": ("nDCG", {})})
    UsualName(name='nDCG', preset={}, at='10')
    """
    if not _NAME.fullmatch(name):
        return None
    meanings = _AMBIGUOUS.get(name) or _AMBIGUOUS.get(folded(name))
    if meanings:
        raise UsageError(f"measure: '{name}' is ambiguous: {' or '.join(meanings)}", "write the one you mean")
    table = {folded(each): of for each, of in known.items()} | dict(_ALSO_WITH)
    table |= {word: (ours, {}) for ours, words in _ALSO.items() for word in words.split()}
    if folded(name) in table:
        return UsualName(*table[folded(name)])
    match = _CUTOFF_IN_NAME.fullmatch(folded(name))
    return UsualName(*table[match[1]], match[2]) if match and match[1] in table else None


def meant_by(name: str) -> str | None:
    """Return a hint on the measures related to a word of an unknown name.

    >>> meant_by("TopHitShare")
    'did you mean Success?'
    """
    if hint := next((hint for word, hint in _NO_MEASURE.items() if word in folded(name)), None):
        return hint
    return next((f"did you mean {ours}?" for word, ours in _MEANINGS.items() if word in folded(name)), None)
